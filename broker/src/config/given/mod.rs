//! What a broker is told at its start, and who said it.

pub mod file;
pub mod origin;
pub mod refused;

pub use origin::Origin;
pub use refused::Refused;

use protocol::config::describe::Settings;
use protocol::config::key::{Invalid, Key};
use protocol::config::log::LogConfig;
use protocol::config::net::NetConfig;
use protocol::config::node::NodeConfig;
use protocol::config::{BROKER, find};
use std::collections::BTreeMap;
use std::path::Path;
use storage::disk::Disk;
use storage::properties;

/// All that was said, the later over the earlier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    settings: Settings,
    origins: BTreeMap<String, Origin>,
    /// What the operator should know of how this came about, a line each.
    notes: Vec<String>,
    /// What the operator must not overlook: records would get lost to whoever looks for them.
    alarm: Option<String>,
}

impl Given {
    /// A broker and controller in one, for this machine alone, its data beside where it started.
    pub fn standalone() -> Given {
        let mut given = Given::default();
        let mut say = |key: Key, value: &str| given.say(key.name, value, Origin::Standalone);
        say(NodeConfig::process_roles(), "broker,controller");
        say(NodeConfig::node_id(), "1");
        say(NetConfig::listeners(), "PLAINTEXT://localhost:9092");
        say(LogConfig::dirs(), "./data");
        given
    }

    /// What stands in the file at `path`.
    pub fn read(disk: &dyn Disk, path: &Path) -> Result<Given, Refused> {
        Given::parse(&path.display().to_string(), &file::read(disk, path)?)
    }

    /// What a file of this name says.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Given, Refused> {
        let properties = properties::parse(bytes).map_err(|malformed| {
            let (line, why) = (malformed.line, malformed.why);
            Refused::Malformed { file: file.to_owned(), line, why }
        })?;
        let mut given = Given::default();
        for property in properties {
            let origin = Origin::File { name: file.to_owned(), line: property.line };
            given.say(&property.name, &property.value, origin);
        }
        Ok(given)
    }

    /// The same with `key=value` said over it.
    pub fn with_override(mut self, text: &str) -> Result<Given, Refused> {
        match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => {
                self.say(name.trim(), value.trim(), Origin::Override);
                Ok(self)
            }
            Some(_) | None => Err(Refused::NoOverride { text: text.to_owned() }),
        }
    }

    /// Says a value over whatever was said before.
    pub(super) fn say(&mut self, name: &str, value: &str, origin: Origin) {
        self.settings.insert(name.to_owned(), value.to_owned());
        self.origins.insert(name.to_owned(), origin);
    }

    /// Says a value where there is none.
    pub(super) fn otherwise(&mut self, key: Key, value: &str, origin: Origin) {
        if self.get(key.name).is_none() {
            self.say(key.name, value, origin);
        }
    }

    /// Unsays a key, as if nobody had named it.
    pub(super) fn unsay(&mut self, name: &str) {
        self.settings.remove(name);
        self.origins.remove(name);
    }

    /// Gives a key another value, and leaves who said it.
    pub(super) fn change(&mut self, name: &str, value: &str) {
        self.settings.insert(name.to_owned(), value.to_owned());
    }

    /// Has the operator told, once.
    pub(super) fn note(&mut self, line: String) {
        if !self.notes.contains(&line) {
            self.notes.push(line);
        }
    }

    /// Has the operator warned of a loss. The first one stays.
    pub(super) fn warn_of(&mut self, loss: String) {
        self.alarm.get_or_insert(loss);
    }

    /// What the operator must not overlook, if there is such a thing.
    pub fn alarm(&self) -> Option<&str> {
        self.alarm.as_deref()
    }

    /// What was noted, in its order.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The text that was said for `name`.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(String::as_str)
    }

    /// Who said `name`, if anybody did.
    pub fn origin(&self, name: &str) -> Option<&Origin> {
        self.origins.get(name)
    }

    /// Whether somebody says `key` for this broker.
    pub fn says(&self, key: Key) -> bool {
        self.origin(key.name).is_some_and(Origin::is_said)
    }

    /// Says a key once more under its other name, where only one of both stands.
    pub(super) fn mirror(&mut self, one: Key, other: Key) {
        for (from, to) in [(one, other), (other, one)] {
            if let (Some(value), None) = (self.get(from.name), self.get(to.name)) {
                let (value, origin) = (value.to_owned(), self.origins.get(from.name).cloned());
                self.say(to.name, &value, origin.unwrap_or(Origin::Standalone));
            }
        }
    }

    /// The refusal of a value, with the place where it stands.
    pub fn refuse(&self, invalid: Invalid) -> Refused {
        Refused::Value { origin: self.origins.get(&invalid.key).cloned(), invalid }
    }

    /// Whether each value alone is valid.
    pub fn check(&self) -> Result<(), Refused> {
        for (name, value) in &self.settings {
            let Some(key) = find(BROKER, name) else { continue };
            key.check(value)
                .map_err(|invalid| self.refuse(Invalid { key: name.clone(), ..invalid }))?;
        }
        Ok(())
    }
}
