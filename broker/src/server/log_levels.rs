//! How much is logged: by all, and by single loggers under the names that Apache Kafka gives them.

use protocol::config::start::StartConfig;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;

/// Apache Kafka's loggers, and what does their work here; the longer names stand first.
const LOGGERS: [(&str, &[&str]); 17] = [
    ("kafka.cluster", &["broker::partition"]),
    ("kafka.controller", &["kraft::controller", "kraft::node"]),
    ("kafka.coordinator.group", &["broker::coordinator", "broker::group"]),
    ("kafka.coordinator", &["broker::coordinator", "broker::group"]),
    ("kafka.log.LogCleaner", &["broker::partition::upkeep::cleaner", "storage::log::clean"]),
    ("kafka.log", &["storage", "broker::partition::upkeep"]),
    ("kafka.network", &["broker::net"]),
    ("kafka.raft", &["kraft::raft"]),
    ("kafka.request.logger", &["broker::api"]),
    ("kafka.server", &["broker"]),
    ("kafka", &["broker", "kraft", "storage"]),
    ("org.apache.kafka.controller", &["kraft::controller", "kraft::node"]),
    ("org.apache.kafka.coordinator", &["broker::coordinator", "broker::group"]),
    ("org.apache.kafka.image", &["kraft::image", "broker::reconcile"]),
    ("org.apache.kafka.raft", &["kraft::raft"]),
    ("org.apache.kafka", &["broker", "kraft", "storage"]),
    ("state.change.logger", &["broker::reconcile"]),
];

/// Levels by target, for all that is logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    least: LevelFilter,
    /// A target and what lies below it; of two that fit the longer counts.
    targets: Vec<(String, LevelFilter)>,
}

impl Levels {
    /// Those of a configuration; `least` counts more than what it says of all.
    pub fn of(config: &StartConfig, least: Option<LevelFilter>) -> Levels {
        let said = config.log_level.as_deref().map(level);
        let mut targets = Vec::new();
        for item in &config.log_levels {
            let Some((logger, word)) = item.rsplit_once('=') else { continue };
            let (logger, level) = (logger.trim(), level(word));
            targets.push((logger.to_owned(), level));
            let known = LOGGERS.iter().find(|(name, _)| is_at_or_below(logger, name));
            for target in known.into_iter().flat_map(|(_, targets)| *targets) {
                targets.push(((*target).to_owned(), level));
            }
        }
        Levels { least: least.or(said).unwrap_or(LevelFilter::INFO), targets }
    }

    pub(super) fn targets(self) -> Targets {
        // The consensus library tells every step; what matters of it, our own lines say.
        let all = Targets::new().with_default(self.least).with_target("openraft", LevelFilter::OFF);
        all.with_targets(self.targets)
    }
}

/// A logger that is known counts for its own name and for the classes below it.
fn is_at_or_below(logger: &str, name: &str) -> bool {
    logger.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn level(word: &str) -> LevelFilter {
    match word.trim().to_ascii_uppercase().as_str() {
        "OFF" => LevelFilter::OFF,
        "FATAL" | "ERROR" => LevelFilter::ERROR,
        "WARN" => LevelFilter::WARN,
        "DEBUG" => LevelFilter::DEBUG,
        "TRACE" | "ALL" => LevelFilter::TRACE,
        _ => LevelFilter::INFO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    fn levels(root: Option<&str>, loggers: &[&str], least: Option<LevelFilter>) -> Targets {
        let config = StartConfig {
            cluster_id: None,
            log_level: root.map(str::to_owned),
            log_levels: loggers.iter().map(|it| (*it).to_owned()).collect(),
            create_topics: Vec::new(),
            config_providers: Vec::new(),
        };
        Levels::of(&config, least).targets()
    }

    #[test]
    fn loggers_of_kafka_are_those_that_do_their_work_here() {
        let targets = levels(Some("warn"), &["kafka.controller=DEBUG", "kafka.log=OFF"], None);
        for (target, level, want) in [
            ("broker::api", Level::INFO, false),
            ("broker::api", Level::WARN, true),
            ("kraft::controller::configs", Level::DEBUG, true),
            ("kafka.controller.X", Level::DEBUG, true),
            ("storage::log", Level::ERROR, false),
            ("openraft::core", Level::ERROR, false),
        ] {
            assert_eq!(targets.would_enable(target, &level), want, "{target} {level}");
        }
        assert!(
            !levels(Some("DEBUG"), &[], Some(LevelFilter::ERROR)).would_enable("x", &Level::WARN)
        );
        assert!(
            levels(None, &["kafka.producer.async.DefaultEventHandler=INFO"], None)
                .would_enable("x", &Level::INFO)
        );
    }
}
