//! What an image makes of an environment: settings with their variables, and what it passes over.

use super::environment::Environment;
use crate::config::given::{Given, Origin};
use protocol::config::key::Key;
use protocol::config::start::StartConfig;
use std::collections::BTreeMap;

/// Why a variable that is meant for the image has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Void {
    /// It tunes a Java process.
    Jvm,
    /// It belongs to TLS or to SASL, which are not served.
    Security,
    /// It belongs to ZooKeeper, which is not used.
    ZooKeeper,
    /// It belongs to a program that is not here.
    OtherProgram,
    /// It steers the start script of its image, which is not run here.
    Script,
    /// No key is said by a name like this in its image.
    Unmapped,
}

impl Void {
    fn why(self) -> &'static str {
        match self {
            Void::Jvm => "there is no Java process and no JMX",
            Void::Security => "there is neither TLS nor SASL so far",
            Void::ZooKeeper => "ZooKeeper is not used",
            Void::OtherProgram => "the program that they are for is not here",
            Void::Script => "they steer a start script that is not run here",
            Void::Unmapped => "this image takes no keys from them (it does from KAFKA_CFG_*)",
        }
    }
}

/// Settings by key, each with the variable that says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    settings: BTreeMap<String, (String, String)>,
    void: BTreeMap<Void, Vec<String>>,
}

impl Said {
    /// Has `variable` say `key`. Where two variables say the same key, the later one counts.
    pub(super) fn set(&mut self, key: &str, value: &str, variable: &str) {
        self.settings.insert(key.to_owned(), (value.trim().to_owned(), variable.to_owned()));
    }

    /// Has the variable say the key, if it is there.
    pub(super) fn take(&mut self, env: &Environment, variable: &str, key: Key) {
        if let Some(value) = env.get(variable) {
            self.set(key.name, value, variable);
        }
    }

    /// Passes a variable over, and has that told.
    pub(super) fn pass_over(&mut self, variable: &str, void: Void) {
        self.void.entry(void).or_default().push(variable.to_owned());
    }

    /// What every image reads besides its keys: levels of logging.
    pub(super) fn take_log_levels(&mut self, env: &Environment) {
        self.take(env, "KAFKA_LOG4J_ROOT_LOGLEVEL", StartConfig::log_level());
        self.take(env, "KAFKA_LOG4J_LOGGERS", StartConfig::log_levels());
    }

    /// Key, value and variable of each setting.
    pub fn settings(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.settings
            .iter()
            .map(|(key, (value, name))| (key.as_str(), value.as_str(), name.as_str()))
    }

    /// What was passed over, a line for each reason.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.void.iter().map(|(void, names)| {
            format!("Variables without effect, since {}: {}", void.why(), names.join(", "))
        })
    }

    /// Says all of it over what was said before.
    pub(super) fn say_over(&self, given: &mut Given) {
        for (key, value, variable) in self.settings() {
            given.say(key, value, Origin::Environment { name: variable.to_owned() });
        }
        self.notes().for_each(|line| given.note(line));
    }
}
