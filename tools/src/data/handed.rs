//! Records that were handed out and are done with: what a commit may cover.

use super::reason::reason;
use crate::failure::Failure;
use crate::output::Output;
use parking_lot::Mutex;
use rdkafka::bindings::{
    rd_kafka_topic_partition_list_find, rd_kafka_topic_partition_set_leader_epoch,
};
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer as _, ConsumerContext};
use rdkafka::error::KafkaError;
use rdkafka::{Offset, TopicPartitionList};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::fmt;

/// Where to go on behind a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Next {
    offset: i64,
    /// Of the leader that took the record.
    epoch: Option<i32>,
}

#[derive(Debug, Default)]
struct Used {
    /// By topic and partition.
    next: BTreeMap<String, BTreeMap<i32, Next>>,
    count: usize,
}

/// What was done with records since their offsets were last handed over to be committed. They are
/// only once all that was printed is written: until then the records would be lost to their group
/// with the process.
#[derive(Debug)]
pub(super) struct Handed {
    out: Output,
    used: Mutex<Used>,
}

impl Handed {
    /// Of records that are printed to `out`.
    pub(super) fn new(out: &Output) -> Handed {
        Handed { out: out.clone(), used: Mutex::default() }
    }

    /// This record is printed, or passed over.
    pub(super) fn used(&self, (topic, partition): (&str, i32), offset: i64, epoch: Option<i32>) {
        let used = &mut *self.used.lock();
        used.count += 1;
        let next = Next { offset: offset.saturating_add(1), epoch };
        match used.next.get_mut(topic) {
            Some(partitions) => drop(partitions.insert(partition, next)),
            None => drop(used.next.insert(topic.to_owned(), BTreeMap::from([(partition, next)]))),
        }
    }

    /// How many records that were since the last time.
    pub(super) fn count(&self) -> usize {
        self.used.lock().count
    }

    /// Writes what was printed, and says that it may be committed.
    ///
    /// # Errors
    /// It cannot be written, and nothing more is committed.
    pub(super) fn settle<C: ConsumerContext>(
        &self,
        consumer: &BaseConsumer<C>,
    ) -> Result<(), Failure> {
        self.out.clone().flush()?;
        let used = std::mem::take(&mut *self.used.lock());
        if !used.next.is_empty() {
            // Who lost a partition meanwhile commits nothing of it.
            drop(consumer.store_offsets(&list(&used.next)));
        }
        Ok(())
    }
}

/// What can be done for records of a consumer also within a poll, before partitions are taken.
pub(crate) struct Holding<'a, C: ConsumerContext> {
    pub(super) inner: &'a BaseConsumer<C>,
    pub(super) handed: &'a Handed,
}

impl<C: ConsumerContext> Clone for Holding<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: ConsumerContext> Copy for Holding<'_, C> {}

impl<C: ConsumerContext> fmt::Debug for Holding<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Holding").finish_non_exhaustive()
    }
}

impl<C: ConsumerContext> Holding<'_, C> {
    /// All that is printed of this record is printed: from the next time on that stdout is written,
    /// a commit covers it, and those before it.
    pub(crate) fn used(&self, of: (&str, i32), offset: i64, epoch: Option<i32>) {
        self.handed.used(of, offset, epoch);
    }

    /// Lets what was printed be seen, and be committed.
    ///
    /// # Errors
    /// Stdout takes no more, and nothing more is committed.
    pub(crate) fn settle(&self) -> Result<(), Failure> {
        self.handed.settle(self.inner)
    }

    /// Commits, for each partition, where to go on, and waits for the answer.
    ///
    /// # Errors
    /// They are not known to be committed.
    pub(crate) fn commit(&self, offsets: &[(String, i32, i64)]) -> Result<(), Failure> {
        let told = |error: KafkaError| Failure::Told(reason(&error));
        let mut list = TopicPartitionList::new();
        for (topic, partition, offset) in offsets {
            list.add_partition_offset(topic, *partition, Offset::Offset(*offset)).map_err(told)?;
        }
        self.inner.commit(&list, CommitMode::Sync).map_err(told)
    }
}

fn list(next: &BTreeMap<String, BTreeMap<i32, Next>>) -> TopicPartitionList {
    let mut list = TopicPartitionList::new();
    for (topic, partitions) in next {
        for (partition, next) in partitions {
            // An offset of a record is one that can be stored.
            drop(list.add_partition_offset(topic, *partition, Offset::Offset(next.offset)));
            if let Some(epoch) = next.epoch {
                set_epoch(&list, topic, *partition, epoch);
            }
        }
    }
    list
}

fn set_epoch(list: &TopicPartitionList, topic: &str, partition: i32, epoch: i32) {
    let Ok(name) = CString::new(topic) else { return };
    #[expect(unsafe_code, reason = "rdkafka has no word for the epoch of an offset")]
    // SAFETY: the list and the name live as long as the calls, and what is found is a part of the
    // list, which nobody else knows.
    unsafe {
        let found = rd_kafka_topic_partition_list_find(list.ptr(), name.as_ptr(), partition);
        if !found.is_null() {
            rd_kafka_topic_partition_set_leader_epoch(found, epoch);
        }
    }
}
