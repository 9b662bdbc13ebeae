//! What the operator says at the start: a file, overrides, or nothing.

use protocol::config::describe::Settings;
use protocol::config::key::{Invalid, Key};
use protocol::config::log::LogConfig;
use protocol::config::net::NetConfig;
use protocol::config::node::NodeConfig;
use protocol::config::{BROKER, find};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use storage::disk::Disk;
use storage::properties;

/// Bytes of a properties file that are read; a longer one is no properties file.
const FILE_BYTES_MAX: usize = 16 << 20;

/// Where a setting stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody gave a file, and so it runs by itself.
    Standalone,
    File {
        name: String,
        line: usize,
    },
    Override,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Standalone => write!(f, "without a file"),
            Origin::File { name, line } => write!(f, "{name}:{line}"),
            Origin::Override => write!(f, "--override"),
        }
    }
}

/// Why a broker cannot start with this configuration, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    Unreadable { file: String, why: String },
    Malformed { file: String, line: usize, why: &'static str },
    NoOverride { text: String },
    Value { origin: Option<Origin>, invalid: Invalid },
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Unreadable { file, why } => write!(f, "cannot read {file}: {why}"),
            Refused::Malformed { file, line, why } => write!(f, "{file}:{line}: {why}"),
            Refused::NoOverride { text } => {
                write!(f, "--override {text}: must be a key, `=` and a value")
            }
            Refused::Value { origin: Some(origin), invalid } => write!(f, "{origin}: {invalid}"),
            Refused::Value { origin: None, invalid } => write!(f, "{invalid}"),
        }
    }
}

impl std::error::Error for Refused {}

/// All that was said, the later over the earlier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    settings: Settings,
    origins: BTreeMap<String, Origin>,
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
        let file = path.display().to_string();
        let bytes = read(disk, path)
            .map_err(|error| Refused::Unreadable { file: file.clone(), why: error.to_string() })?;
        Given::parse(&file, &bytes)
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

    fn say(&mut self, name: &str, value: &str, origin: Origin) {
        self.settings.insert(name.to_owned(), value.to_owned());
        self.origins.insert(name.to_owned(), origin);
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The text that was said for `name`.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(String::as_str)
    }

    /// Whether a file or an override says `key`.
    pub fn says(&self, key: Key) -> bool {
        self.origins.get(key.name).is_some_and(|origin| *origin != Origin::Standalone)
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

    /// What the operator should know of, a line each.
    pub fn warnings(&self) -> Vec<String> {
        let said = || self.settings.keys().map(String::as_str);
        let unknown: Vec<&str> = said().filter(|name| find(BROKER, name).is_none()).collect();
        let inert = |name: &str| find(BROKER, name).is_some_and(|key| !key.has_effect);
        let inert: Vec<&str> = said().filter(|name| inert(name)).collect();
        let mut lines = Vec::new();
        if !unknown.is_empty() {
            lines.push(format!("Unknown keys are ignored: {}", unknown.join(", ")));
        }
        if !inert.is_empty() {
            lines.push(format!("These keys have no effect here: {}", inert.join(", ")));
        }
        lines
    }
}

fn read(disk: &dyn Disk, path: &Path) -> std::io::Result<Vec<u8>> {
    let file = disk.open(path)?;
    let size = usize::try_from(file.size()?).unwrap_or(usize::MAX);
    if FILE_BYTES_MAX < size {
        return Err(std::io::Error::other("it is too long for a properties file"));
    }
    let mut bytes = vec![0; size];
    file.read_exact_at(0, &mut bytes)?;
    Ok(bytes)
}
