//! What librdkafka has to say beside records: warnings, and who has which partitions.

use super::handed::{Handed, Holding};
use crate::output::complain;
use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, ConsumerContext, Rebalance};
use rdkafka::error::KafkaError;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A change of what a member of a group has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// It was given these, topic and partition, beside those that it has.
    Given(Vec<(String, i32)>),
    /// These are taken from it.
    Taken(Vec<(String, i32)>),
}

type BeforeTaken = Box<dyn Fn(Holding<'_, Voice>) + Send + Sync>;

/// Warnings go to standard error, changes to whoever asked for them.
pub(crate) struct Voice {
    on_change: Option<Box<dyn Fn(Change) + Send + Sync>>,
    before_taken: Option<BeforeTaken>,
    /// Of a consumer.
    handed: OnceLock<Arc<Handed>>,
}

impl fmt::Debug for Voice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Voice").finish_non_exhaustive()
    }
}

impl Voice {
    /// Nobody wants to hear of changes.
    #[must_use]
    pub(crate) fn alone() -> Voice {
        Voice { on_change: None, before_taken: None, handed: OnceLock::new() }
    }

    /// `on_change` is called within a poll, or within the end of the consumer.
    pub(crate) fn telling(on_change: impl Fn(Change) + Send + Sync + 'static) -> Voice {
        Voice { on_change: Some(Box::new(on_change)), ..Voice::alone() }
    }

    /// `done` is the last thing that is done while the member still has what is taken from it.
    #[must_use]
    pub(crate) fn before_taken(
        self,
        done: impl Fn(Holding<'_, Voice>) + Send + Sync + 'static,
    ) -> Voice {
        Voice { before_taken: Some(Box::new(done)), ..self }
    }

    /// What is done with by then is settled before a partition goes to another member.
    pub(super) fn settles(&self, handed: Arc<Handed>) {
        // Only its consumer says so, and once.
        drop(self.handed.set(handed));
    }
}

impl ClientContext for Voice {
    fn log(&self, level: RDKafkaLogLevel, fac: &str, text: &str) {
        match level {
            RDKafkaLogLevel::Emerg
            | RDKafkaLogLevel::Alert
            | RDKafkaLogLevel::Critical
            | RDKafkaLogLevel::Error => complain(&format!("ERROR {text} ({fac})")),
            RDKafkaLogLevel::Warning => complain(&format!("WARN {text} ({fac})")),
            RDKafkaLogLevel::Notice | RDKafkaLogLevel::Info | RDKafkaLogLevel::Debug => {}
        }
    }

    /// Each has a line of the log of its own.
    fn error(&self, _: KafkaError, _: &str) {}
}

impl ConsumerContext for Voice {
    fn pre_rebalance(&self, consumer: &BaseConsumer<Voice>, change: &Rebalance<'_>) {
        let Rebalance::Revoke(list) = change else { return };
        if let Some(handed) = self.handed.get() {
            if let Some(done) = &self.before_taken {
                done(Holding { inner: consumer, handed });
            }
            // Whoever prints next is told that it cannot be written.
            drop(handed.settle(consumer));
        }
        if let Some(tell) = &self.on_change {
            tell(Change::Taken(names(list)));
        }
    }

    fn post_rebalance(&self, _: &BaseConsumer<Voice>, change: &Rebalance<'_>) {
        if let (Rebalance::Assign(list), Some(tell)) = (change, &self.on_change) {
            tell(Change::Given(names(list)));
        }
    }
}

fn names(list: &rdkafka::TopicPartitionList) -> Vec<(String, i32)> {
    list.elements().iter().map(|it| (it.topic().to_owned(), it.partition())).collect()
}
