//! A producer: records in, and a word on each when it is stored or lost.

use super::settings::{Role, map};
use super::voice::Voice;
use crate::failure::Failure;
use crate::output::complain;
use crate::properties::Properties;
use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{self, DeliveryResult, Message, OwnedHeaders};
use rdkafka::producer::{BaseRecord, Producer as _, ProducerContext, ThreadedProducer};
use std::sync::Arc;
use std::time::Duration;

/// How long to wait for room at a time.
const ROOM: Duration = Duration::from_millis(50);
/// `max.block.ms` of Java's producer.
const MAX_BLOCK: Duration = Duration::from_secs(60);

/// The name of a header, and its value.
pub(crate) type Header<'a> = (&'a str, Option<&'a [u8]>);

/// A record to be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToSend<'a> {
    pub(crate) key: Option<&'a [u8]>,
    pub(crate) value: Option<&'a [u8]>,
    pub(crate) headers: Vec<Header<'a>>,
    /// None: now.
    pub(crate) timestamp_ms: Option<i64>,
}

/// What became of a record, and the ticket that it was sent with.
#[derive(Debug)]
pub(crate) struct Outcome<'a, T> {
    pub(crate) ticket: T,
    pub(crate) topic: &'a str,
    pub(crate) key: Option<&'a [u8]>,
    pub(crate) value: Option<&'a [u8]>,
    /// Partition and offset, or why it is not known to be stored.
    pub(crate) stored: Result<(i32, i64), String>,
}

/// Whoever is told of outcomes: in a thread of the producer.
pub(crate) trait Listener<T>: Send + Sync {
    fn outcome(&self, outcome: Outcome<'_, T>);
}

struct Context<T> {
    voice: Voice,
    listener: Arc<dyn Listener<T>>,
}

impl<T: Send + Sync> ClientContext for Context<T> {
    fn log(&self, level: RDKafkaLogLevel, fac: &str, text: &str) {
        self.voice.log(level, fac, text);
    }

    fn error(&self, _: KafkaError, _: &str) {}
}

impl<T: Send + Sync + 'static> ProducerContext for Context<T> {
    type DeliveryOpaque = Box<T>;

    fn delivery(&self, result: &DeliveryResult<'_>, ticket: Box<T>) {
        let (message, stored) = match result {
            Ok(message) => (message, Ok((message.partition(), message.offset()))),
            Err((error, message)) => (message, Err(reason(error))),
        };
        self.listener.outcome(Outcome {
            ticket: *ticket,
            topic: message.topic(),
            key: message.key(),
            value: message.payload(),
            stored,
        });
    }
}

/// A client that sends.
pub(crate) struct Producer<T: Send + Sync + 'static> {
    inner: ThreadedProducer<Context<T>>,
    max_block: Duration,
}

impl<T: Send + Sync + 'static> std::fmt::Debug for Producer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Producer").finish_non_exhaustive()
    }
}

/// An error of librdkafka in the words that are about the case.
pub(super) fn reason(error: &KafkaError) -> String {
    if let KafkaError::ClientConfig(_, why, name, value) = error
        && !name.is_empty()
    {
        return format!("Invalid value {value} for configuration {name}: {why}");
    }
    match error.rdkafka_error_code() {
        Some(code) => code.to_string(),
        None => error.to_string(),
    }
}

impl<T: Send + Sync + 'static> Producer<T> {
    /// One that connects as `properties`, Java's, say.
    ///
    /// # Errors
    /// There is none with these properties, and why.
    pub(crate) fn new(
        properties: &Properties,
        listener: Arc<dyn Listener<T>>,
    ) -> Result<Producer<T>, Failure> {
        let max_block = crate::properties::millis(properties, "max.block.ms", MAX_BLOCK)?;
        let mut mapped = map(Role::Producer, properties).map_err(Failure::Told)?;
        tell_unknown(&mapped.unknown);
        mapped.config.set_log_level(RDKafkaLogLevel::Warning);
        let context = Context { voice: Voice::alone(), listener };
        let inner = mapped.config.create_with_context(context);
        let inner = inner.map_err(|error| Failure::Told(reason(&error)))?;
        Ok(Producer { inner, max_block })
    }

    /// Waits until the topic is known, and made where the cluster makes topics by itself: as long
    /// as Java's producer waits for that (`max.block.ms`).
    ///
    /// # Errors
    /// It is not known by then.
    pub(crate) fn await_topic(&self, topic: &str) -> Result<(), Failure> {
        let client = self.inner.client();
        let absent = |why: &str| {
            let ms = self.max_block.as_millis();
            Failure::told(format_args!(
                "Topic {topic} not present in metadata after {ms} ms: {why}"
            ))
        };
        let mut left = self.max_block;
        let step = Duration::from_millis(100);
        loop {
            let metadata = client
                .fetch_metadata(Some(topic), left.max(step))
                .map_err(|error| absent(&reason(&error)))?;
            let found = metadata.topics().iter().find(|it| it.name() == topic);
            let error = found.and_then(|it| it.error()).map(RDKafkaErrorCode::from);
            match error {
                None if found.is_some_and(|it| !it.partitions().is_empty()) => return Ok(()),
                Some(
                    code @ (RDKafkaErrorCode::InvalidTopic
                    | RDKafkaErrorCode::TopicAuthorizationFailed),
                ) => return Err(absent(&code.to_string())),
                Some(code) if left.is_zero() => return Err(absent(&code.to_string())),
                None if left.is_zero() => return Err(absent("it has no partitions")),
                Some(_) | None => {
                    self.inner.poll(step);
                    left = left.saturating_sub(step);
                }
            }
        }
    }

    /// Hands a record over, and waits for room where there is none (`max.block.ms`).
    ///
    /// # Errors
    /// It was not taken; nobody else is told of it. The ticket comes back.
    pub(crate) fn send(
        &self,
        topic: &str,
        record: &ToSend<'_>,
        ticket: T,
    ) -> Result<(), (String, T)> {
        let mut next = BaseRecord::with_opaque_to(topic, Box::new(ticket));
        if let Some(key) = record.key {
            next = next.key(key);
        }
        if let Some(value) = record.value {
            next = next.payload(value);
        }
        if let Some(at) = record.timestamp_ms {
            next = next.timestamp(at);
        }
        if !record.headers.is_empty() {
            let empty = OwnedHeaders::new_with_capacity(record.headers.len());
            next = next.headers(record.headers.iter().fold(empty, |headers, (key, value)| {
                headers.insert(message::Header { key, value: *value })
            }));
        }
        let mut waited = Duration::ZERO;
        loop {
            match self.inner.send(next) {
                Ok(()) => return Ok(()),
                Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), back))
                    if waited < self.max_block =>
                {
                    self.inner.poll(ROOM);
                    waited += ROOM;
                    next = back;
                }
                Err((error, back)) => return Err((reason(&error), *back.delivery_opaque)),
            }
        }
    }

    /// Waits so long at most; whether every record has its outcome.
    pub(crate) fn flush_for(&self, most: Duration) -> bool {
        self.inner.flush(most).is_ok() || self.inner.in_flight_count() == 0
    }

    /// Takes the place of whoever had this `transactional.id`.
    ///
    /// # Errors
    /// The cluster has no transactions, or no coordinator answers.
    pub(crate) fn init_transactions(&self) -> Result<(), Failure> {
        self.inner.init_transactions(self.max_block).map_err(|error| Failure::Told(reason(&error)))
    }

    /// What is sent from now on counts when the transaction is committed.
    ///
    /// # Errors
    /// One is open.
    pub(crate) fn begin_transaction(&self) -> Result<(), Failure> {
        self.inner.begin_transaction().map_err(|error| Failure::Told(reason(&error)))
    }

    /// Waits for what was sent, and ends the transaction.
    ///
    /// # Errors
    /// It is not known to be committed.
    pub(crate) fn commit_transaction(&self) -> Result<(), Failure> {
        self.inner.commit_transaction(self.max_block).map_err(|error| Failure::Told(reason(&error)))
    }

    /// Waits until every record has its outcome.
    pub(crate) fn flush(&self) {
        // What cannot be sent has an outcome by `delivery.timeout.ms`, so this ends.
        while self.inner.flush(Duration::from_secs(60)).is_err() && 0 < self.inner.in_flight_count()
        {
        }
    }
}

/// As Java's clients, which say so and go on.
pub(super) fn tell_unknown(names: &[String]) {
    if !names.is_empty() {
        let names = names.join(", ");
        complain(&format!("WARN settings that no client knows have no effect: {names}"));
    }
}
