//! A consumer: records out, one by one.

use super::handed::{Handed, Holding};
use super::producer::tell_unknown;
use super::reason::reason;
use super::settings::{Role, map};
use super::voice::Voice;
use crate::failure::Failure;
use crate::output::{Output, complain};
use crate::properties::Properties;
use parking_lot::Mutex;
use rdkafka::bindings::{
    rd_kafka_header_get_all, rd_kafka_headers_t, rd_kafka_message_headers,
    rd_kafka_message_leader_epoch,
};
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{BorrowedMessage, Message};
use rdkafka::{Offset, Timestamp, TopicPartitionList};
use std::ffi::CStr;
use std::sync::Arc;
use std::time::Duration;

/// How long a broker may take to say whether a topic is there, which a group can do without.
const LOOK: Duration = Duration::from_secs(2);
/// How long to wait before it is looked again for a topic that is being made, and how often.
const MADE: (Duration, u32) = (Duration::from_millis(50), 10);

/// Records that are printed before they are written and may be committed, if more are at hand.
const PRINTED_AT_ONCE: usize = 500;

/// Where to begin in a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    Earliest,
    Latest,
    At(i64),
}

/// The time of a record, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stamp {
    None,
    Create(i64),
    LogAppend(i64),
}

/// A header: its name, and its value.
pub(crate) type Header = (Vec<u8>, Option<Vec<u8>>);

/// A record that was read.
#[derive(Debug)]
pub(crate) struct Received<'a>(BorrowedMessage<'a>);

impl Received<'_> {
    pub(crate) fn topic(&self) -> &str {
        self.0.topic()
    }

    pub(crate) fn partition(&self) -> i32 {
        self.0.partition()
    }

    pub(crate) fn offset(&self) -> i64 {
        self.0.offset()
    }

    pub(crate) fn key(&self) -> Option<&[u8]> {
        self.0.key()
    }

    pub(crate) fn value(&self) -> Option<&[u8]> {
        self.0.payload()
    }

    pub(crate) fn stamp(&self) -> Stamp {
        match self.0.timestamp() {
            Timestamp::NotAvailable => Stamp::None,
            Timestamp::CreateTime(ms) => Stamp::Create(ms),
            Timestamp::LogAppendTime(ms) => Stamp::LogAppend(ms),
        }
    }

    /// The epoch of the leader that took it; None: it is not known.
    pub(crate) fn epoch(&self) -> Option<i32> {
        #[expect(unsafe_code, reason = "rdkafka has no word for the epoch of a record")]
        // SAFETY: the message lives as long as `self`, and the call only reads it.
        let epoch = unsafe { rd_kafka_message_leader_epoch(self.0.ptr()) };
        Some(epoch).filter(|epoch| 0 <= *epoch)
    }

    /// The headers, in their order. Names need not be UTF-8, which rdkafka insists on.
    pub(crate) fn headers(&self) -> Vec<Header> {
        let mut found = Vec::new();
        let mut list: *mut rd_kafka_headers_t = std::ptr::null_mut();
        #[expect(unsafe_code, reason = "rdkafka panics at a name that is not UTF-8")]
        // SAFETY: the message lives as long as `self`, and the list belongs to the message. Each
        // call says whether it has set what its pointers lead to; a name ends with a zero, and a
        // value is null or has the length that is said. All is copied before the next call.
        unsafe {
            let none = rd_kafka_message_headers(self.0.ptr(), &raw mut list);
            if list.is_null() || none as i32 != 0 {
                return found;
            }
            loop {
                let (mut name, mut value, mut len) = (std::ptr::null(), std::ptr::null(), 0);
                let at = found.len();
                let end =
                    rd_kafka_header_get_all(list, at, &raw mut name, &raw mut value, &raw mut len);
                if end as i32 != 0 || name.is_null() {
                    return found;
                }
                let name = CStr::from_ptr(name).to_bytes().to_vec();
                let value: *const u8 = value.cast();
                let value =
                    (!value.is_null()).then(|| std::slice::from_raw_parts(value, len).to_vec());
                found.push((name, value));
            }
        }
    }
}

/// A client that reads.
pub(crate) struct Consumer {
    inner: BaseConsumer<Voice>,
    /// `allow.auto.create.topics`
    makes_topics: bool,
    /// What was complained of since the last record: librdkafka says it many times a second.
    complaint: Mutex<String>,
    handed: Arc<Handed>,
}

impl std::fmt::Debug for Consumer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Consumer").finish_non_exhaustive()
    }
}

fn told(error: &KafkaError) -> Failure {
    Failure::Told(reason(error))
}

impl Consumer {
    /// One that connects as `properties`, Java's, say, and whose records are printed to `out`. What
    /// it commits by itself is what is [`Consumer::used`] and written. Its end leaves the group.
    ///
    /// # Errors
    /// There is none with these properties, and why.
    pub(crate) fn new(
        properties: &Properties,
        voice: Voice,
        out: &Output,
    ) -> Result<Consumer, Failure> {
        let mut mapped = map(Role::Consumer, properties)?;
        tell_unknown(&mapped.unknown);
        mapped.config.set_log_level(RDKafkaLogLevel::Warning);
        // What is fetched, or handed out, is not printed yet.
        mapped.config.set("enable.auto.offset.store", "false");
        let makes_topics = mapped.config.get("allow.auto.create.topics") == Some("true");
        let handed = Arc::new(Handed::new(out));
        voice.settles(handed.clone());
        let inner = mapped.config.create_with_context(voice).map_err(|error| told(&error))?;
        Ok(Consumer { inner, makes_topics, complaint: Mutex::default(), handed })
    }

    /// Reads these topics as a member of the group.
    ///
    /// # Errors
    /// One is no name of a topic.
    pub(crate) fn subscribe(&self, topics: &[&str]) -> Result<(), Failure> {
        self.inner.subscribe(topics).map_err(|error| told(&error))
    }

    /// As [`Consumer::subscribe`], to a topic that was named: where it is missing, the cluster makes
    /// it, unless the cluster or `allow.auto.create.topics` says otherwise.
    ///
    /// # Errors
    /// It is no name of a topic.
    pub(crate) fn subscribe_to(&self, topic: &str) -> Result<(), Failure> {
        if self.makes_topics {
            self.have_made(topic);
        }
        self.subscribe(&[topic])
    }

    /// Asks for the topic by itself: librdkafka never has one made that is only subscribed to. What
    /// goes wrong here, the subscription tells of.
    fn have_made(&self, topic: &str) {
        let (pause, tries) = MADE;
        for _ in 0..tries {
            let Ok(metadata) = self.inner.fetch_metadata(Some(topic), LOOK) else { return };
            let found = metadata.topics().iter().find(|it| it.name() == topic);
            let passes =
                [RDKafkaErrorCode::UnknownTopicOrPartition, RDKafkaErrorCode::LeaderNotAvailable];
            match found.and_then(|it| it.error()) {
                // Nothing is subscribed to yet, so no record is lost.
                Some(code) if passes.contains(&code.into()) => drop(self.inner.poll(pause)),
                Some(_) | None => return,
            }
        }
    }

    /// Reads these partitions beside those that it reads already, without a group.
    ///
    /// # Errors
    /// One of them cannot be a partition.
    pub(crate) fn add(&self, topic: &str, partitions: &[i32], start: Start) -> Result<(), Failure> {
        let offset = match start {
            Start::Earliest => Offset::Beginning,
            Start::Latest => Offset::End,
            Start::At(offset) => Offset::Offset(offset),
        };
        let mut list = TopicPartitionList::new();
        for partition in partitions {
            list.add_partition_offset(topic, *partition, offset).map_err(|error| told(&error))?;
        }
        self.inner.incremental_assign(&list).map_err(|error| told(&error))
    }

    /// The partitions of a topic.
    ///
    /// # Errors
    /// No broker answers in time, or there is no such topic.
    pub(crate) fn partitions(&self, topic: &str, wait: Duration) -> Result<Vec<i32>, Failure> {
        let metadata =
            self.inner.fetch_metadata(Some(topic), wait).map_err(|error| told(&error))?;
        let found = metadata.topics().iter().find(|it| it.name() == topic);
        if let Some(code) = found.and_then(|it| it.error()) {
            return Err(told(&KafkaError::MetadataFetch(code.into())));
        }
        Ok(found.map_or([].as_slice(), |it| it.partitions()).iter().map(|it| it.id()).collect())
    }

    /// The names of all topics.
    ///
    /// # Errors
    /// No broker answers in time.
    pub(crate) fn topics(&self, wait: Duration) -> Result<Vec<String>, Failure> {
        let metadata = self.inner.fetch_metadata(None, wait).map_err(|error| told(&error))?;
        Ok(metadata.topics().iter().map(|topic| topic.name().to_owned()).collect())
    }

    /// The next record; None where none comes in time. What a client goes on after by itself is
    /// told of on standard error.
    ///
    /// # Errors
    /// Nothing more will come.
    pub(crate) fn next(&self, wait: Duration) -> Result<Option<Received<'_>>, Failure> {
        match self.inner.poll(wait) {
            None => Ok(None),
            Some(Ok(message)) => {
                self.complaint.lock().clear();
                Ok(Some(Received(message)))
            }
            Some(Err(error)) if ends(&error) => Err(told(&error)),
            Some(Err(error)) => {
                let (why, mut complaint) = (reason(&error), self.complaint.lock());
                if *complaint != why {
                    complain(&format!("WARN {why}"));
                    *complaint = why;
                }
                Ok(None)
            }
        }
    }

    /// As [`Consumer::next`], for who prints what it gets: before it waits, and now and then
    /// anyway, what was printed is let be seen.
    ///
    /// # Errors
    /// Also where stdout takes no more.
    pub(crate) fn next_to_print(&self, wait: Duration) -> Result<Option<Received<'_>>, Failure> {
        if self.handed.count() < PRINTED_AT_ONCE
            && let Some(record) = self.next(Duration::ZERO)?
        {
            return Ok(Some(record));
        }
        self.settle()?;
        self.next(wait)
    }

    /// What can be done also within a poll.
    pub(crate) fn holding(&self) -> Holding<'_, Voice> {
        Holding { inner: &self.inner, handed: &self.handed }
    }

    /// As [`Holding::used`].
    pub(crate) fn used(&self, record: &Received<'_>) {
        let of = (record.topic(), record.partition());
        self.holding().used(of, record.offset(), record.epoch());
    }

    /// As [`Holding::settle`].
    ///
    /// # Errors
    /// Stdout takes no more, and nothing more is committed.
    pub(crate) fn settle(&self) -> Result<(), Failure> {
        self.holding().settle()
    }
}

/// Whether an error is one that no retry gets over.
fn ends(error: &KafkaError) -> bool {
    if matches!(error, KafkaError::MessageConsumptionFatal(_)) {
        return true;
    }
    let ends = [
        RDKafkaErrorCode::Fatal,
        RDKafkaErrorCode::AutoOffsetReset,
        RDKafkaErrorCode::Authentication,
        RDKafkaErrorCode::SaslAuthenticationFailed,
        RDKafkaErrorCode::TopicAuthorizationFailed,
        RDKafkaErrorCode::GroupAuthorizationFailed,
        RDKafkaErrorCode::ClusterAuthorizationFailed,
        RDKafkaErrorCode::InvalidTopic,
        RDKafkaErrorCode::InvalidGroupId,
        RDKafkaErrorCode::FencedInstanceId,
        RDKafkaErrorCode::InconsistentGroupProtocol,
    ];
    error.rdkafka_error_code().is_some_and(|code| ends.contains(&code))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::producer::{Listener, Outcome, Producer, ToSend};
    use super::*;
    use crate::output::tests::Refusing;
    use rdkafka::consumer::{CommitMode, ConsumerContext, Rebalance};
    use rdkafka::mocking::MockCluster;
    use rdkafka::producer::DefaultProducerContext;
    use std::io::ErrorKind;

    #[test]
    fn who_names_a_missing_topic_has_it_made() {
        let cluster = MockCluster::new(1).unwrap();
        let consumer = |more: &[(&str, &str)]| {
            let servers = cluster.bootstrap_servers();
            let all = [&[("bootstrap.servers", &*servers), ("group.id", "g")], more].concat();
            let all = all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            Consumer::new(&all.collect(), Voice::alone(), &Output::to(std::io::sink())).unwrap()
        };
        let looking = consumer(&[("allow.auto.create.topics", "false")]);
        let is_there = |topic| looking.partitions(topic, LOOK).is_ok_and(|all| !all.is_empty());
        looking.subscribe_to("unmade").unwrap();
        assert!(!is_there("unmade"));
        for protocol in ["classic", "consumer"] {
            consumer(&[("group.protocol", protocol)]).subscribe_to(protocol).unwrap();
            assert!(is_there(protocol), "{protocol}");
        }
    }

    /// A cluster, with three records in a partition of topic `t`, and what its clients have to know.
    pub(crate) fn three_records() -> (MockCluster<'static, DefaultProducerContext>, Properties) {
        let cluster = MockCluster::new(1).unwrap();
        cluster.create_topic("t", 1, 1).unwrap();
        let all = [("bootstrap.servers", &*cluster.bootstrap_servers()), ("group.id", "g")];
        let all = all.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let producer = Producer::new(&all, Arc::new(Nobody)).unwrap();
        for value in ["one", "two", "three"] {
            let record = ToSend { value: Some(value.as_bytes()), ..ToSend::default() };
            producer.send("t", &record, ()).unwrap();
        }
        producer.flush();
        (cluster, all)
    }

    impl Consumer {
        /// The next record of the cluster's partition, from its first on.
        pub(crate) fn await_next(&self) -> Received<'_> {
            loop {
                if let Some(record) = self.next(LOOK).unwrap() {
                    break record;
                }
            }
        }

        /// What a poll does when the partition is about to go to another member.
        pub(crate) fn lose(&self) {
            let mut list = TopicPartitionList::new();
            list.add_partition("t", 0);
            self.inner.context().pre_rebalance(&self.inner, &Rebalance::Revoke(&list));
        }

        /// Commits what may be, and returns where the group goes on.
        pub(crate) fn committed(&self) -> Offset {
            // There may be nothing to commit.
            drop(self.inner.commit_consumer_state(CommitMode::Sync));
            self.inner.committed(LOOK).unwrap().find_partition("t", 0).unwrap().offset()
        }
    }

    #[test]
    fn what_is_not_printed_is_not_committed() {
        let (_cluster, all) = three_records();
        let check = |mut out: Output, used: usize, want: Offset| {
            let consumer = Consumer::new(&all, Voice::alone(), &out).unwrap();
            consumer.add("t", &[0], Start::Earliest).unwrap();
            for at in 0..3 {
                let record = consumer.await_next();
                if at < used {
                    drop(out.bytes(record.value().unwrap()));
                    consumer.used(&record);
                }
            }
            drop(consumer.settle());
            assert_eq!(consumer.committed(), want);
        };
        check(Output::to(Refusing(ErrorKind::StorageFull)), 2, Offset::Invalid);
        check(Output::to(std::io::sink()), 2, Offset::Offset(2));
        // Nothing is committed behind what could not be printed.
        check(Output::to(Refusing(ErrorKind::BrokenPipe)), 3, Offset::Offset(2));
    }

    struct Nobody;

    impl Listener<()> for Nobody {
        fn outcome(&self, _: Outcome<'_, ()>) {}
    }
}
