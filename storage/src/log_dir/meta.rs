//! `meta.properties`: whose log directory it is.

use crate::properties;
use protocol::ids::Uuid;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The file's name in a log directory. It says that the directory is formatted.
pub(super) const NAME: &str = "meta.properties";

const VERSION: &str = "version";
const CLUSTER_ID: &str = "cluster.id";
const NODE_ID: &str = "node.id";
/// Version 0 called the node so.
const BROKER_ID: &str = "broker.id";
const DIRECTORY_ID: &str = "directory.id";

/// The file's content. Version 0 is read, version 1 written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaProperties {
    /// Only version 0 may lack it.
    pub cluster_id: Option<String>,
    pub node_id: i32,
    /// Files before Kafka 3.7 lack it; the next start makes one.
    pub directory_id: Option<Uuid>,
    /// Keys of others, kept as they were.
    pub other: BTreeMap<String, String>,
}

impl MetaProperties {
    pub fn new(cluster_id: &str, node_id: i32, directory_id: Uuid) -> MetaProperties {
        MetaProperties {
            cluster_id: Some(cluster_id.to_owned()),
            node_id,
            directory_id: Some(directory_id),
            other: BTreeMap::new(),
        }
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<MetaProperties, String> {
        let read =
            properties::parse(bytes).map_err(|it| format!("line {}: {}", it.line, it.why))?;
        let mut keys: BTreeMap<String, String> =
            read.into_iter().map(|property| (property.name, property.value)).collect();
        let version = keys.remove(VERSION).ok_or("it has no version")?;
        let node_key = match version.as_str() {
            "0" => BROKER_ID,
            "1" => NODE_ID,
            other => return Err(format!("version '{other}' is not 0 or 1")),
        };
        let node_id = keys.remove(node_key).ok_or_else(|| format!("it has no {node_key}"))?;
        let node_id = (node_id.parse().ok().filter(|id| 0 <= *id))
            .ok_or_else(|| format!("{node_key} '{node_id}' is no node's id"))?;
        let cluster_id = keys.remove(CLUSTER_ID);
        if cluster_id.is_none() && version == "1" {
            return Err(format!("it has no {CLUSTER_ID}"));
        }
        let directory_id = match keys.remove(DIRECTORY_ID) {
            None => None,
            Some(text) => match text.parse::<Uuid>() {
                Ok(id) if Uuid::RESERVED_END <= id => Some(id),
                _ => return Err(format!("{DIRECTORY_ID} '{text}' is no directory's id")),
            },
        };
        Ok(MetaProperties { cluster_id, node_id, directory_id, other: keys })
    }

    /// All keys with their values, as version 1 has them, by name.
    pub fn to_keys(&self) -> BTreeMap<String, String> {
        let mut keys = self.other.clone();
        keys.insert(VERSION.to_owned(), "1".to_owned());
        keys.insert(NODE_ID.to_owned(), self.node_id.to_string());
        if let Some(id) = &self.cluster_id {
            keys.insert(CLUSTER_ID.to_owned(), id.clone());
        }
        if let Some(id) = self.directory_id {
            keys.insert(DIRECTORY_ID.to_owned(), id.to_string());
        }
        keys
    }

    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        for (key, value) in self.to_keys() {
            escape(&mut text, &key, true);
            text.push('=');
            escape(&mut text, &value, false);
            text.push('\n');
        }
        text
    }
}

/// As Java's `Properties.store`: what would be read as something else gets a backslash, what is
/// not Latin a number.
fn escape(into: &mut String, text: &str, is_key: bool) {
    for (at, unit) in text.encode_utf16().enumerate() {
        let letter = char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER);
        match letter {
            ' ' if is_key || at == 0 => into.push_str("\\ "),
            '\t' => into.push_str("\\t"),
            '\n' => into.push_str("\\n"),
            '\r' => into.push_str("\\r"),
            '\u{c}' => into.push_str("\\f"),
            '\\' | '=' | ':' | '#' | '!' => into.extend(['\\', letter]),
            ' '..='~' => into.push(letter),
            // Writing to a string does not fail.
            _ => {
                let _ = write!(into, "\\u{unit:04X}");
            }
        }
    }
}
