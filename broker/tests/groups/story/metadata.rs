//! What classic members say of themselves: plain text, or a consumer's subscription.

use bytes::{BufMut, Bytes, BytesMut};
use protocol::messages::{ConsumerProtocolSubscription, Decodable, Encodable, StrBytes};

const VERSION: i16 = 3;

pub(crate) fn subscription(topics: &[&str]) -> Bytes {
    let topics = topics.iter().map(|name| StrBytes::from_string((*name).to_owned()));
    let mut bytes = BytesMut::new();
    bytes.put_i16(VERSION);
    ConsumerProtocolSubscription::default()
        .with_topics(topics.collect())
        .encode(&mut bytes, VERSION)
        .unwrap();
    bytes.freeze()
}

/// `[a, b]` for a subscription, `"x"` for anything else.
pub(crate) fn spell(bytes: &Bytes) -> String {
    let subscription = bytes.strip_prefix(&VERSION.to_be_bytes()).and_then(|rest| {
        ConsumerProtocolSubscription::decode(&mut Bytes::copy_from_slice(rest), VERSION).ok()
    });
    match subscription {
        Some(it) => {
            let topics: Vec<&str> = it.topics.iter().map(|topic| topic.as_str()).collect();
            format!("[{}]", topics.join(", "))
        }
        None => format!("{:?}", String::from_utf8_lossy(bytes)),
    }
}
