//! Config keys of what a node does once, at its start.

use super::key::Importance::Low;
use super::key::Scope::ClusterWide;
use super::key::Valid::{self, OneOfAnyCase};
use super::key::{Invalid, Key, Lookup};
use super::typed::{config_keys, items};

/// Words for how much is logged, as log4j has them.
pub const LOG_LEVELS: &[&str] = &["OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE", "ALL"];

const LEVELS_BY_NAME: Valid = Valid::Is("`logger=LEVEL`, comma-separated", |text| {
    items(text).all(|item| {
        let level = item.rsplit_once('=').map(|(_, level)| level.trim());
        level.is_some_and(|level| LOG_LEVELS.iter().any(|word| word.eq_ignore_ascii_case(level)))
    })
});

const TOPICS: Valid = Valid::Is("`name:partitions:replicas[:cleanup.policy]`, comma-separated", {
    |text| items(text).all(|item| TopicWanted::parse(item).is_some())
});

config_keys! {
    /// What a node does once.
    StartConfig {
        /// The id of the cluster that empty log directories are formatted for; without it a new
        /// one is made. Directories of another cluster are refused.
        cluster_id: Option<String> = "highwater.cluster.id" {}
        /// The least that is logged; `--log-level` counts more.
        log_level: Option<String> = "highwater.log.level" {
            valid: OneOfAnyCase(LOG_LEVELS), importance: Low,
        }
        /// Levels of single loggers, by the names that Apache Kafka gives them or by the names that
        /// stand at the end of a log line.
        log_levels: Vec<String> = "highwater.log.levels" {
            default: Some(""), valid: LEVELS_BY_NAME, importance: Low,
        }
        /// Topics that are made at the start where they are missing.
        create_topics: Vec<String> = "highwater.create.topics" {
            default: Some(""), valid: TOPICS, importance: Low,
        }
        /// Names of providers, each with its `config.providers.NAME.class`, which say at the start
        /// what stands for `${NAME:path:key}` in a value: EnvVarConfigProvider, FileConfigProvider
        /// and DirectoryConfigProvider of Apache Kafka.
        config_providers: Vec<String> = "config.providers" {
            default: Some(""), scope: ClusterWide, importance: Low,
        }
    }
}

/// A topic that `highwater.create.topics` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicWanted {
    pub name: String,
    pub partitions: i32,
    pub replicas: i16,
    pub cleanup_policy: Option<String>,
}

impl TopicWanted {
    /// Reads `name:partitions:replicas[:cleanup.policy]`; several policies have `+` between them.
    pub fn parse(text: &str) -> Option<TopicWanted> {
        let mut parts = text.split(':').map(str::trim);
        let name = parts.next().filter(|name| !name.is_empty())?.to_owned();
        let partitions = parts.next()?.parse().ok().filter(|count| 0 < *count)?;
        let replicas = parts.next()?.parse().ok().filter(|count| 0 < *count)?;
        let cleanup_policy =
            parts.next().filter(|policy| !policy.is_empty()).map(|policy| policy.replace('+', ","));
        parts.next().is_none().then_some(TopicWanted { name, partitions, replicas, cleanup_policy })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_read_as_the_image_of_wurstmeister_does() {
        let read = |text: &str| TopicWanted::parse(text).map(|it| (it.partitions, it.replicas));
        assert_eq!(read("a:2:1"), Some((2, 1)));
        for (text, policy) in [("a:2:1:compact", "compact"), ("a:2:1:x+y", "x,y")] {
            assert_eq!(TopicWanted::parse(text).unwrap().cleanup_policy.unwrap(), policy);
        }
        for bad in ["", "a", "a:1", "a:0:1", ":1:1", "a:1:1:compact:x", "a:x:1"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn levels_are_words_of_log4j() {
        let check = |text| StartConfig::log_levels().check(text).is_ok();
        assert!(check("kafka.controller=INFO, state.change.logger=warn,"));
        assert!(!check("kafka.controller") && !check("kafka.controller=loud"));
        assert!(StartConfig::log_level().check("warn").is_ok());
        assert!(StartConfig::log_level().check("loud").is_err());
    }
}
