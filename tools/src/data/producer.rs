//! A producer: records in, and a word on each when it is stored or lost.

use super::reason::reason;
use super::settings::{Role, map};
use super::voice::Voice;
use crate::client::Refused;
use crate::failure::Failure;
use crate::output::complain;
use crate::properties::Properties;
use parking_lot::Mutex;
use protocol::error::ErrorCode;
use rdkafka::bindings::rd_kafka_flush;
use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{self, DeliveryResult, Message, OwnedHeaders};
use rdkafka::producer::{BaseRecord, Producer as _, ProducerContext, ThreadedProducer};
use rdkafka::types::RDKafkaRespErr;
use std::sync::Arc;
use std::time::Duration;

/// How long to wait for room at a time.
const ROOM: Duration = Duration::from_millis(50);
/// `max.block.ms` of Java's producer.
const MAX_BLOCK: Duration = Duration::from_secs(60);
/// How long to wait at a time for a topic that is being made.
const STEP: Duration = Duration::from_millis(100);
/// How long to wait for a connection to a broker of a topic that is there. Who cannot have one is
/// told so by what becomes of the records.
const CONNECT: Duration = Duration::from_secs(2);

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
    /// What the brokers last said to records that are sent again; none: nothing, or nobody wants to
    /// hear it.
    refusal: Mutex<Option<RDKafkaErrorCode>>,
}

impl<T: Send + Sync> ClientContext for Context<T> {
    fn log(&self, level: RDKafkaLogLevel, fac: &str, text: &str) {
        match refusal(fac, text) {
            Some(code) => self.hear(code),
            None => self.voice.log(level, fac, text),
        }
    }

    fn error(&self, _: KafkaError, _: &str) {}
}

impl<T> Context<T> {
    /// Tells of an answer once, and not each time that a record is sent in vain.
    fn hear(&self, code: RDKafkaErrorCode) {
        if self.refusal.lock().replace(code) != Some(code) {
            complain(&format!("WARN records are not stored, and sent again: {}", refused(code)));
        }
    }

    /// Why a record is lost. That its time was up says nothing of the cause.
    fn reason(&self, error: &KafkaError) -> String {
        let why = reason(error);
        let is_late = error.rdkafka_error_code() == Some(RDKafkaErrorCode::MessageTimedOut);
        match self.refusal.lock().filter(|_| is_late) {
            Some(code) => format!("{why}; the last refusal of any record: {}", refused(code)),
            None => why,
        }
    }
}

/// A broker's answer, and what to do where that is known.
fn refused(code: RDKafkaErrorCode) -> String {
    let too_few =
        [RDKafkaErrorCode::NotEnoughReplicas, RDKafkaErrorCode::NotEnoughReplicasAfterAppend];
    let hint = if code == RDKafkaErrorCode::KafkaStorageError {
        " (the disk of a broker is full, or has failed: make room there; its log says which)"
    } else if too_few.contains(&code) {
        " (`kafka-topics --describe --under-min-isr-partitions` says where)"
    } else {
        ""
    };
    format!("{}{hint}", reason(&KafkaError::MessageProduction(code)))
}

/// What a broker said to records, of a line in which librdkafka tells of that, and of nothing else
/// that it does not keep to itself.
fn refusal(fac: &str, text: &str) -> Option<RDKafkaErrorCode> {
    let (_, said) = text.split_once("encountered error: ").filter(|_| fac == "MSGSET")?;
    let (words, _) = said.split_once(" (actions ")?;
    let numbers = ErrorCode::ALL.iter().map(|code| i32::from(code.code()));
    let mut codes = numbers.filter_map(|number| RDKafkaRespErr::try_from(number).ok());
    codes.by_ref().map(RDKafkaErrorCode::from).find(|code| {
        code.to_string().strip_suffix(')').is_some_and(|told| told.ends_with(&format!("({words}")))
    })
}

impl<T: Send + Sync + 'static> ProducerContext for Context<T> {
    type DeliveryOpaque = Box<T>;

    fn delivery(&self, result: &DeliveryResult<'_>, ticket: Box<T>) {
        let (message, stored) = match result {
            Ok(message) => (message, Ok((message.partition(), message.offset()))),
            Err((error, message)) => (message, Err(self.reason(error))),
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
    /// Bytes of a record, `max.request.size`.
    max_request: String,
}

impl<T: Send + Sync + 'static> std::fmt::Debug for Producer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Producer").finish_non_exhaustive()
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
        Producer::of(properties, listener, false)
    }

    /// One that also says why records are sent again, which takes librdkafka a line for each batch.
    ///
    /// # Errors
    /// As of [`Producer::new`].
    pub(crate) fn explaining(
        properties: &Properties,
        listener: Arc<dyn Listener<T>>,
    ) -> Result<Producer<T>, Failure> {
        Producer::of(properties, listener, true)
    }

    fn of(
        properties: &Properties,
        listener: Arc<dyn Listener<T>>,
        explains: bool,
    ) -> Result<Producer<T>, Failure> {
        let max_block = crate::properties::millis(properties, "max.block.ms", MAX_BLOCK)?;
        let mut mapped = map(Role::Producer, properties)?;
        tell_unknown(&mapped.unknown);
        mapped.config.set_log_level(RDKafkaLogLevel::Warning);
        if explains {
            mapped.config.set("debug", "msg").set_log_level(RDKafkaLogLevel::Debug);
        }
        let max_request = mapped.config.get("message.max.bytes").unwrap_or_default().to_owned();
        let context = Context { voice: Voice::alone(), listener, refusal: Mutex::default() };
        let inner = mapped.config.create_with_context(context);
        let inner = inner.map_err(|error| Failure::Told(reason(&error)))?;
        Ok(Producer { inner, max_block, max_request })
    }

    /// Waits until the topic is known, and made where the cluster makes topics by itself: as long
    /// as Java's producer waits for that (`max.block.ms`). Then a broker is connected, too.
    ///
    /// # Errors
    /// It is not known by then.
    pub(crate) fn await_topic(&self, topic: &str) -> Result<(), Failure> {
        let client = self.inner.client();
        let max_ms = self.max_block.as_millis();
        let absent = |why: &str| {
            Failure::told(format_args!(
                "Topic {topic} not present in metadata after {max_ms} ms: {why}"
            ))
        };
        let mut left = self.max_block;
        let mut tries = 0;
        loop {
            let metadata = client
                .fetch_metadata(Some(topic), left.max(STEP))
                .map_err(|error| absent(&reason(&error)))?;
            let found = metadata.topics().iter().find(|it| it.name() == topic);
            let why = match found.map(|it| (it.error(), it.partitions().is_empty())) {
                Some((None, false)) => break,
                None | Some((None, true)) => "it has no partitions".to_owned(),
                Some((Some(code), _)) => {
                    let code = RDKafkaErrorCode::from(code);
                    let why = reason(&KafkaError::MetadataFetch(code));
                    if [RDKafkaErrorCode::InvalidTopic, RDKafkaErrorCode::TopicAuthorizationFailed]
                        .contains(&code)
                    {
                        return Err(absent(&why));
                    }
                    why
                }
            };
            if left.is_zero() {
                return Err(absent(&why));
            }
            // What is made for who asks is there the next time.
            if tries == 3 {
                complain(&format!("WARN topic {topic}: {why}; waiting for up to {max_ms} ms"));
            }
            tries += 1;
            self.inner.poll(STEP);
            left = left.saturating_sub(STEP);
        }
        self.connect(topic);
        Ok(())
    }

    /// Waits for a connection to a broker. librdkafka asks for its producer id whenever metadata
    /// comes and a broker is connected, else again half a second later; and the first metadata
    /// comes by the bootstrap connection, which ends with it.
    fn connect(&self, topic: &str) {
        let mut left = CONNECT.min(self.max_block);
        while !left.is_zero() {
            let metadata = self.inner.client().fetch_metadata(Some(topic), left);
            // A bootstrap connection has no id of a broker.
            if metadata.is_ok_and(|it| 0 <= it.orig_broker_id()) {
                return;
            }
            self.inner.poll(ROOM);
            left = left.saturating_sub(ROOM);
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
                Err((
                    KafkaError::MessageProduction(RDKafkaErrorCode::MessageSizeTooLarge),
                    back,
                )) => {
                    let class = Refused::of(ErrorCode::MessageTooLarge, String::new()).exception();
                    let most = &self.max_request;
                    let why = format!("{class}: it is larger than max.request.size, {most} bytes");
                    return Err((why, *back.delivery_opaque));
                }
                Err((error, back)) => return Err((reason(&error), *back.delivery_opaque)),
            }
        }
    }

    /// Sends what waits for company (`linger.ms`), and waits so long at most; whether every record
    /// has its outcome.
    pub(crate) fn flush_for(&self, most: Duration) -> bool {
        let most_ms = i32::try_from(most.as_millis()).unwrap_or(i32::MAX);
        #[expect(
            unsafe_code,
            reason = "rdkafka's own flushes for no time at all, so that records linger on"
        )]
        // SAFETY: the client lives as long as `self`. Outcomes are told of by the thread of
        // `inner`, without which this would only wait longer.
        let end = unsafe { rd_kafka_flush(self.inner.client().native_ptr(), most_ms) };
        end == RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR
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
        while !self.flush_for(Duration::from_secs(60)) {}
    }
}

/// As Java's clients, which say so and go on.
pub(super) fn tell_unknown(names: &[String]) {
    if !names.is_empty() {
        let names = names.join(", ");
        complain(&format!("WARN settings that no client knows have no effect: {names}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_broker_said_is_told_by_kafkas_class_and_with_what_to_do() {
        let line = "t [0]: MessageSet with 1 message(s) (MsgId 1, BaseSeq 0) encountered error: \
                    Broker: Disk error when trying to access log file on disk (actions \
                    Refresh,Retry,MsgNotPersisted)";
        assert_eq!(refusal("MSGSET", line), Some(RDKafkaErrorCode::KafkaStorageError));
        let told = refused(RDKafkaErrorCode::KafkaStorageError);
        assert!(told.contains("KafkaStorageException: ") && told.contains("make room"), "{told}");
        assert_eq!(refusal("MSGSET", "t [0]: MessageSet with 1 message(s) delivered"), None);
        assert_eq!(refusal("PRODUCE", line), None);
    }
}
