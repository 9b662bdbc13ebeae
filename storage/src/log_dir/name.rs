//! The folders of a log directory, by their names.

use protocol::ids::{TopicPartition, Uuid};
use std::fmt::Write as _;

/// The topic of the metadata log.
pub const METADATA_TOPIC: &str = "__cluster_metadata";
/// The folder of the metadata log.
pub const METADATA_DIR: &str = "__cluster_metadata-0";

/// What file systems take for one name, in bytes.
const NAME_BYTES_MAX: usize = 255;
/// A topic's name is no longer, in characters, which are ASCII.
const TOPIC_LEN_MAX: usize = 249;

/// What a partition's folder is waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suffix {
    /// To be unlinked: its topic was deleted.
    Delete,
    /// For the operator: the cluster's metadata does not know it here.
    Stray,
    /// To take the place of the same partition in another log directory.
    Future,
}

impl Suffix {
    fn as_str(self) -> &'static str {
        match self {
            Suffix::Delete => "-delete",
            Suffix::Stray => "-stray",
            Suffix::Future => "-future",
        }
    }
}

/// What a folder's name says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirName {
    Partition(TopicPartition),
    Metadata,
    /// With its suffix; the topic's name may have been shortened to make room for it.
    Waiting(TopicPartition, Suffix),
    /// None of ours.
    Other,
}

impl DirName {
    pub fn parse(name: &str) -> DirName {
        if name == METADATA_DIR {
            return DirName::Metadata;
        }
        for suffix in [Suffix::Delete, Suffix::Stray, Suffix::Future] {
            let inner = name.strip_suffix(suffix.as_str()).and_then(|rest| rest.rsplit_once('.'));
            // A topic's name may itself end so: only `.<unique>` before the suffix makes it one.
            if let Some((partition, unique)) = inner
                && is_unique(unique)
                && let Some(partition) = partition_of(partition)
            {
                return DirName::Waiting(partition, suffix);
            }
        }
        partition_of(name).map_or(DirName::Other, DirName::Partition)
    }
}

/// 32 hex digits, as Kafka makes them, of a random id.
fn is_unique(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Splits at the last dash; a topic's name may hold dashes and dots.
fn partition_of(name: &str) -> Option<TopicPartition> {
    let (topic, number) = name.rsplit_once('-')?;
    let partition: i32 = number.parse().ok()?;
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let is_topic = (1..=TOPIC_LEN_MAX).contains(&topic.len()) && topic.bytes().all(is_legal);
    // `t-01` and `t-+1` are read as 1 but never written so.
    let is_plain = 0 <= partition && partition.to_string() == number;
    (is_topic && is_plain).then(|| TopicPartition::new(topic, partition))
}

/// `<topic>-<n>.<32 hex digits>-delete` and the like, the topic shortened where the whole would be
/// too long for a file system.
pub fn waiting(partition: &TopicPartition, unique: Uuid, suffix: Suffix) -> String {
    let mut behind = format!("-{}.", partition.partition);
    for byte in unique.as_bytes() {
        // Writing to a string does not fail.
        let _ = write!(behind, "{byte:02x}");
    }
    behind.push_str(suffix.as_str());
    let room = NAME_BYTES_MAX.saturating_sub(behind.len());
    let mut name: String = partition.topic.chars().take(room).collect();
    name.push_str(&behind);
    name
}
