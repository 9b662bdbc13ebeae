//! Config keys of the coordinator of classic and consumer groups.

use super::key::Importance::High;
use super::key::Scope::ClusterWide;
use super::key::Valid::{AtLeast, OneOf};
use super::key::{Invalid, Key, Lookup};
use super::typed::{Kind, Typed, config_keys, inert_keys};

config_keys! {
    /// What a broker is told about groups and their offsets.
    CoordinatorConfig {
        /// Milliseconds that must lie between two assignments of a consumer group.
        consumer_assignment_interval_ms: i32 = "group.consumer.assignment.interval.ms" {
            default: Some("1000"), valid: AtLeast(0.0), scope: ClusterWide,
        }
        /// The server-side assignors that consumer groups may choose from, the first being the
        /// default.
        consumer_assignors: Vec<String> = "group.consumer.assignors" {
            default: Some("uniform,range"), valid: OneOf(&["uniform", "range"]),
        }
        /// Milliseconds between two heartbeats of a consumer group's member.
        consumer_heartbeat_interval_ms: i32 = "group.consumer.heartbeat.interval.ms" { default: Some("5000"), valid: AtLeast(1.0), }
        /// The largest assignment interval that a consumer group may be given.
        consumer_max_assignment_interval_ms: i32 = "group.consumer.max.assignment.interval.ms" {
            default: Some("15000"), valid: AtLeast(0.0),
        }
        /// The largest heartbeat interval that a consumer group may be given.
        consumer_max_heartbeat_interval_ms: i32 = "group.consumer.max.heartbeat.interval.ms" {
            default: Some("15000"), valid: AtLeast(1.0),
        }
        /// The largest session timeout that a consumer group may be given.
        consumer_max_session_timeout_ms: i32 = "group.consumer.max.session.timeout.ms" {
            default: Some("60000"), valid: AtLeast(1.0),
        }
        /// Members that a consumer group may have.
        consumer_max_size: i32 = "group.consumer.max.size" { default: Some("2147483647"), valid: AtLeast(1.0), }
        /// Which way groups may move between the classic and the consumer protocol while they have
        /// members.
        consumer_migration_policy: MigrationPolicy = "group.consumer.migration.policy" {
            default: Some("bidirectional"),
        }
        /// The smallest assignment interval that a consumer group may be given.
        consumer_min_assignment_interval_ms: i32 = "group.consumer.min.assignment.interval.ms" {
            default: Some("0"), valid: AtLeast(0.0),
        }
        /// The smallest heartbeat interval that a consumer group may be given.
        consumer_min_heartbeat_interval_ms: i32 = "group.consumer.min.heartbeat.interval.ms" {
            default: Some("5000"), valid: AtLeast(1.0),
        }
        /// The smallest session timeout that a consumer group may be given.
        consumer_min_session_timeout_ms: i32 = "group.consumer.min.session.timeout.ms" {
            default: Some("45000"), valid: AtLeast(1.0),
        }
        /// Milliseconds after which the topics of a pattern subscription are looked up anew.
        consumer_regex_refresh_interval_ms: i32 = "group.consumer.regex.refresh.interval.ms" {
            default: Some("600000"), valid: AtLeast(10000.0), internal: true,
        }
        /// Milliseconds without a heartbeat after which a member leaves its consumer group.
        consumer_session_timeout_ms: i32 = "group.consumer.session.timeout.ms" { default: Some("45000"), valid: AtLeast(1.0), }
        /// The group protocols that are offered.
        rebalance_protocols: Vec<String> = "group.coordinator.rebalance.protocols" {
            default: Some("classic,consumer,streams"),
            valid: OneOf(&["consumer", "classic", "share", "streams"]),
        }
        /// Milliseconds that a new classic group waits for more members before its first rebalance.
        initial_rebalance_delay_ms: i32 = "group.initial.rebalance.delay.ms" { default: Some("3000"), }
        /// The largest session timeout that a classic group's member may ask for.
        max_session_timeout_ms: i32 = "group.max.session.timeout.ms" { default: Some("1800000"), }
        /// Members that a classic group may have.
        max_size: i32 = "group.max.size" { default: Some("2147483647"), valid: AtLeast(1.0), }
        /// The smallest session timeout that a classic group's member may ask for.
        min_session_timeout_ms: i32 = "group.min.session.timeout.ms" { default: Some("6000"), }
        /// Bytes of the text that may go with a committed offset.
        offset_metadata_max_bytes: i32 = "offset.metadata.max.bytes" { default: Some("4096"), importance: High, }
        /// Milliseconds between two looks for offsets that have expired.
        offsets_retention_check_interval_ms: i64 = "offsets.retention.check.interval.ms" {
            default: Some("600000"), valid: AtLeast(1.0), importance: High,
        }
        /// Minutes that offsets are kept after their group became empty.
        offsets_retention_minutes: i32 = "offsets.retention.minutes" {
            default: Some("10080"), valid: AtLeast(1.0), importance: High,
        }
    }
}

inert_keys! {
    /// What steers threads and buffers that other brokers have.
    COORDINATOR {
        /// Whether consumer groups' assignments are computed off the coordinator's thread.
        bool = "group.consumer.assignor.offload.enable" {
            default: Some("true"), scope: ClusterWide, internal: true,
        }
        /// Milliseconds that the coordinator gathers records before it writes them; -1 adapts to
        /// the load.
        i32 = "group.coordinator.append.linger.ms" { default: Some("-1"), valid: AtLeast(-1.0), }
        /// Threads for a coordinator's work that may be slow, such as resolving patterns.
        i32 = "group.coordinator.background.threads" {
            default: Some("2"), valid: AtLeast(1.0), importance: High,
        }
        /// Bytes of the largest write buffer that the coordinator keeps for the next time.
        i32 = "group.coordinator.cached.buffer.max.bytes" {
            default: Some("1048588"), valid: AtLeast(524_288.0), scope: ClusterWide,
        }
        /// Threads that run the coordinator's shards.
        i32 = "group.coordinator.threads" {
            default: Some("4"), valid: AtLeast(1.0), importance: High,
        }
    }
}

/// Which way groups with members may move between the classic and the consumer protocol (KIP-848).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigrationPolicy {
    Disabled,
    Downgrade,
    Upgrade,
    Bidirectional,
}

impl MigrationPolicy {
    pub const WORDS: [(&str, MigrationPolicy); 4] = [
        ("DISABLED", MigrationPolicy::Disabled),
        ("DOWNGRADE", MigrationPolicy::Downgrade),
        ("UPGRADE", MigrationPolicy::Upgrade),
        ("BIDIRECTIONAL", MigrationPolicy::Bidirectional),
    ];

    /// From classic to consumer.
    pub fn allows_upgrade(self) -> bool {
        matches!(self, MigrationPolicy::Upgrade | MigrationPolicy::Bidirectional)
    }

    /// From consumer to classic.
    pub fn allows_downgrade(self) -> bool {
        matches!(self, MigrationPolicy::Downgrade | MigrationPolicy::Bidirectional)
    }
}

/// In capitals or not.
impl Typed for MigrationPolicy {
    const KIND: Kind = Kind::String;
    fn parse(text: &str) -> Result<MigrationPolicy, String> {
        let mut words = MigrationPolicy::WORDS.into_iter();
        let found = words.find(|(word, _)| word.eq_ignore_ascii_case(text.trim()));
        let words = MigrationPolicy::WORDS.map(|(word, _)| word);
        found.map(|(_, it)| it).ok_or_else(|| format!("must be of {}", words.join(", ")))
    }
}

impl CoordinatorConfig {
    /// What no key can say alone: as `GroupCoordinatorConfig` of Apache Kafka checks it.
    pub fn check(&self) -> Result<(), Invalid> {
        let (heartbeat, session) =
            (self.consumer_heartbeat_interval_ms, self.consumer_session_timeout_ms);
        within(
            (CoordinatorConfig::consumer_heartbeat_interval_ms(), heartbeat),
            (self.consumer_min_heartbeat_interval_ms, self.consumer_max_heartbeat_interval_ms),
        )?;
        within(
            (CoordinatorConfig::consumer_session_timeout_ms(), session),
            (self.consumer_min_session_timeout_ms, self.consumer_max_session_timeout_ms),
        )?;
        within(
            (
                CoordinatorConfig::consumer_assignment_interval_ms(),
                self.consumer_assignment_interval_ms,
            ),
            (self.consumer_min_assignment_interval_ms, self.consumer_max_assignment_interval_ms),
        )?;
        if session <= heartbeat {
            let why = format!("must be less than the session timeout, {session}");
            let key = CoordinatorConfig::consumer_heartbeat_interval_ms();
            return Err(key.invalid(&heartbeat.to_string(), &why));
        }
        if self.consumer_assignors.is_empty() {
            return Err(CoordinatorConfig::consumer_assignors().invalid("", "must name one"));
        }
        Ok(())
    }

    /// What is changed while the broker runs is moved into its bounds and not refused, as in
    /// Apache Kafka.
    #[must_use]
    pub fn clamped(mut self) -> CoordinatorConfig {
        let (min, max) =
            (self.consumer_min_assignment_interval_ms, self.consumer_max_assignment_interval_ms);
        let interval = self.consumer_assignment_interval_ms.min(max).max(min);
        self.consumer_assignment_interval_ms = interval;
        self
    }
}

fn within((key, value): (Key, i32), (min, max): (i32, i32)) -> Result<(), Invalid> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(key.invalid(&value.to_string(), &format!("must be {min} to {max}, as its bounds say")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(settings: &[(&str, &'static str)], want: Result<(), &str>) {
        let lookup = |name: &str| settings.iter().find(|it| it.0 == name).map(|it| it.1);
        let got = CoordinatorConfig::resolve(&lookup).and_then(|config| config.check());
        assert_eq!(got.map_err(|it| it.to_string()), want.map_err(str::to_owned));
    }

    #[test]
    fn intervals_lie_in_their_bounds() {
        check(&[], Ok(()));
        check(&[("group.consumer.heartbeat.interval.ms", "1000")], {
            Err(
                "group.consumer.heartbeat.interval.ms=1000: must be 5000 to 15000, as its bounds say",
            )
        });
        check(&[("group.consumer.min.session.timeout.ms", "60001")], {
            Err(
                "group.consumer.session.timeout.ms=45000: must be 60001 to 60000, as its bounds say",
            )
        });
        check(&[("group.consumer.assignment.interval.ms", "15001")], {
            Err(
                "group.consumer.assignment.interval.ms=15001: must be 0 to 15000, as its bounds say",
            )
        });
    }

    #[test]
    fn a_session_holds_more_than_one_heartbeat() {
        let min = ("group.consumer.min.session.timeout.ms", "1");
        let session = ("group.consumer.session.timeout.ms", "5000");
        check(&[min, session], {
            Err(
                "group.consumer.heartbeat.interval.ms=5000: must be less than the session timeout, 5000",
            )
        });
    }

    #[test]
    fn policies_are_words_in_capitals_or_not() {
        let parse = |text| {
            let policy = MigrationPolicy::parse(text);
            policy.map(|it| (it.allows_upgrade(), it.allows_downgrade()))
        };
        assert_eq!(parse("upgrade"), Ok((true, false)));
        assert_eq!(parse("Downgrade"), Ok((false, true)));
        assert_eq!(parse("BIDIRECTIONAL"), Ok((true, true)));
        assert_eq!(parse("disabled"), Ok((false, false)));
        assert!(parse("sideways").is_err());
    }
}
