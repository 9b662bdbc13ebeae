//! What classic members say of themselves and are given: plain text, or a consumer's subscription
//! and assignment.

use bytes::{BufMut, Bytes, BytesMut};
use protocol::messages::consumer_protocol_assignment::TopicPartition as Given;
use protocol::messages::consumer_protocol_subscription::TopicPartition as Owned;
use protocol::messages::{
    ConsumerProtocolAssignment, ConsumerProtocolSubscription, Decodable, Encodable, StrBytes,
    TopicName,
};
use std::collections::BTreeMap;

const VERSION: i16 = 3;

fn text(name: &str) -> StrBytes {
    StrBytes::from_string(name.to_owned())
}

fn encoded(message: &impl Encodable) -> Bytes {
    let mut bytes = BytesMut::new();
    bytes.put_i16(VERSION);
    message.encode(&mut bytes, VERSION).unwrap();
    bytes.freeze()
}

/// None: it is something else, which may begin alike.
fn decoded<T: Decodable + Encodable>(bytes: &Bytes) -> Option<T> {
    let rest = bytes.strip_prefix(&VERSION.to_be_bytes())?;
    let message = T::decode(&mut Bytes::copy_from_slice(rest), VERSION).ok()?;
    (encoded(&message) == *bytes).then_some(message)
}

/// `t0` and `t1` are partitions of `t`.
fn by_topic<'a>(partitions: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, Vec<i32>> {
    let mut topics = BTreeMap::<_, Vec<i32>>::new();
    for partition in partitions {
        let topic = partition.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let number = partition.trim_start_matches(topic).parse().unwrap();
        topics.entry(topic).or_default().push(number);
    }
    topics
}

pub(crate) fn subscription(topics: &[&str], owned: &[&str]) -> Bytes {
    let owned = by_topic(owned.iter().copied()).into_iter().map(|(topic, partitions)| {
        Owned::default().with_topic(TopicName(text(topic))).with_partitions(partitions)
    });
    let message = ConsumerProtocolSubscription::default()
        .with_topics(topics.iter().map(|name| text(name)).collect())
        .with_owned_partitions(owned.collect());
    encoded(&message)
}

/// `+t0+t1` for a consumer's assignment, anything else for itself.
pub(crate) fn assignment(said: &str) -> Bytes {
    let Some(partitions) = said.strip_prefix('+') else {
        return Bytes::copy_from_slice(said.as_bytes());
    };
    let given = by_topic(partitions.split('+').filter(|it| !it.is_empty()));
    let given = given.into_iter().map(|(topic, partitions)| {
        Given::default().with_topic(TopicName(text(topic))).with_partitions(partitions)
    });
    encoded(&ConsumerProtocolAssignment::default().with_assigned_partitions(given.collect()))
}

/// `[a, b]` for a subscription, `"x"` for anything else.
pub(crate) fn spell(bytes: &Bytes) -> String {
    let Some(it) = decoded::<ConsumerProtocolSubscription>(bytes) else { return quoted(bytes) };
    let topics: Vec<&str> = it.topics.iter().map(|topic| topic.as_str()).collect();
    format!("[{}]", topics.join(", "))
}

/// `a[0 1] b[0]` for an assignment, `"x"` for anything else.
pub(crate) fn spell_given(bytes: &Bytes) -> String {
    let Some(it) = decoded::<ConsumerProtocolAssignment>(bytes) else { return quoted(bytes) };
    let topic = |it: &Given| {
        let numbers: Vec<_> = it.partitions.iter().map(i32::to_string).collect();
        format!("{}[{}]", it.topic.as_str(), numbers.join(" "))
    };
    let topics: Vec<_> = it.assigned_partitions.iter().map(topic).collect();
    if topics.is_empty() { "nothing".to_owned() } else { topics.join(" ") }
}

/// The partitions of an assignment, whatever their topics.
pub(crate) fn numbers(bytes: &Bytes) -> Vec<i32> {
    let given = decoded::<ConsumerProtocolAssignment>(bytes).unwrap_or_default();
    given.assigned_partitions.into_iter().flat_map(|it| it.partitions).collect()
}

fn quoted(bytes: &Bytes) -> String {
    format!("{:?}", String::from_utf8_lossy(bytes))
}
