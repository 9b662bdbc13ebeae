//! A file that is read anew while the broker runs: what of it may change, changes.

use super::given::Given;
use super::snapshot::BrokerConfig;
use protocol::config::alter::{Target, check_broker};
use protocol::config::describe::Settings;
use protocol::config::key::Invalid;
use protocol::config::{BROKER, find};
use std::collections::BTreeSet;

/// What has become of a file that was read anew.
#[derive(Clone, Debug, PartialEq)]
pub struct Reread {
    /// The configuration from now on.
    pub config: BrokerConfig,
    /// Keys that have another value now.
    pub changed: Vec<String>,
    /// Keys that will have another value after a restart.
    pub waiting: Vec<String>,
    /// Values that are not taken; the old ones stay.
    pub refused: Vec<Invalid>,
}

impl Reread {
    /// Whether a value of that key was refused.
    pub fn refuses(&self, key: &str) -> bool {
        self.refused.iter().any(|invalid| invalid.key == key)
    }
}

impl BrokerConfig {
    /// What `next` changes in this configuration. Of keys without effect only values that cannot be
    /// are told.
    pub fn reread(&self, next: &Given) -> Reread {
        let now = self.layers().fixed;
        let mut reread = Reread {
            config: self.clone(),
            changed: Vec::new(),
            waiting: Vec::new(),
            refused: Vec::new(),
        };
        let mut changes = Vec::new();
        let names: BTreeSet<&String> = now.keys().chain(next.settings().keys()).collect();
        for name in names {
            let (old, new) = (now.get(name), next.settings().get(name));
            let Some(key) = find(BROKER, name).filter(|_| old != new) else {
                continue;
            };
            let checked = new.map_or(Ok(()), |text| key.check(text));
            let some = new.or(old).map(String::as_str).unwrap_or_default();
            match checked {
                Err(invalid) => reread.refused.push(Invalid { key: name.clone(), ..invalid }),
                Ok(()) if !key.has_effect => {}
                Ok(()) if check_broker(Target::Broker, name, some).is_err() => {
                    reread.waiting.push(name.clone());
                }
                Ok(()) => changes.push((name.clone(), new.cloned())),
            }
        }
        reread.take(changes);
        reread
    }
}

impl Reread {
    /// Takes all changes together, since some are right only together; else those that are right.
    fn take(&mut self, changes: Vec<(String, Option<String>)>) {
        let fixed = changes.iter().fold(self.config.layers().fixed.clone(), with);
        if let Ok(config) = self.config.with_fixed(fixed) {
            self.config = config;
            self.changed = changes.into_iter().map(|(name, _)| name).collect();
            return;
        }
        for change in changes {
            let fixed = with(self.config.layers().fixed.clone(), &change);
            match self.config.with_fixed(fixed) {
                Ok(config) => {
                    self.config = config;
                    self.changed.push(change.0);
                }
                Err(invalid) => self.refused.push(invalid),
            }
        }
    }
}

fn with(mut fixed: Settings, (name, value): &(String, Option<String>)) -> Settings {
    match value {
        Some(value) => fixed.insert(name.clone(), value.clone()),
        None => fixed.remove(name),
    };
    fixed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::load::settled;

    fn given(text: &str) -> Given {
        settled(Given::parse("f", text.replace("; ", "\n").as_bytes()).unwrap())
    }

    /// What was changed, what waits, what is refused.
    #[track_caller]
    fn check(old: &str, new: &str, want: (&[&str], &[&str], &[&str])) -> BrokerConfig {
        let config = BrokerConfig::of(given(old), "box").unwrap();
        let reread = config.reread(&given(new));
        let refused: Vec<String> = reread.refused.iter().map(ToString::to_string).collect();
        let got = (reread.changed, reread.waiting, refused);
        let owned = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        assert_eq!(got, (owned(want.0), owned(want.1), owned(want.2)), "{old} {new}");
        reread.config
    }

    #[test]
    fn what_may_change_changes_and_the_rest_waits() {
        check("log.retention.ms=5", "log.retention.ms=5; some.plugin=1", (&[], &[], &[]));
        let config = check(
            "log.retention.ms=5; num.partitions=1; message.max.bytes=7",
            "log.retention.ms=6; num.partitions=2; listeners=PLAINTEXT://:1",
            (&["log.retention.ms", "message.max.bytes"], &["listeners", "num.partitions"], &[]),
        );
        assert_eq!(config.values.topic.retention_ms, 6);
        assert_eq!(config.values.topic.max_message_bytes, 1_048_588);
        assert_eq!(config.values.creation.num_partitions, 1);
    }

    #[test]
    fn a_bad_value_leaves_the_old_one_and_takes_nothing_with_it() {
        let config = check(
            "log.retention.ms=5",
            "log.retention.ms=x; message.max.bytes=9",
            (&["message.max.bytes"], &[], &["log.retention.ms=x: must be a 64-bit number"]),
        );
        assert_eq!(config.values.topic.retention_ms, 5);
        // Of a key without effect, too: the next start would be refused.
        check("num.io.threads=3; log.retention.ms=5", "num.io.threads=x; log.retention.ms=5", {
            (&[], &[], &["num.io.threads=x: must be a 32-bit number"])
        });
        // Not bad by itself.
        let config = check("log.retention.ms=5", "log.retention.ms=0; message.max.bytes=9", {
            (&["message.max.bytes"], &[], &["log.retention.ms=0: must be -1, or at least 1"])
        });
        assert_eq!(config.values.topic.retention_ms, 5);
    }
}
