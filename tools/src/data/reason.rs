//! What librdkafka says went wrong, in the words of Kafka's tools.

use crate::client::Refused;
use protocol::error::ErrorCode;
use rdkafka::error::KafkaError;

/// An error of librdkafka in the words that are about the case.
pub(super) fn reason(error: &KafkaError) -> String {
    if let KafkaError::ClientConfig(_, why, name, value) = error
        && !name.is_empty()
    {
        return format!("Invalid value {value} for configuration {name}: {why}");
    }
    let Some(code) = error.rdkafka_error_code() else { return error.to_string() };
    // What a broker says has Kafka's number; librdkafka's own are below zero.
    let of_kafka = i16::try_from(code as i32).ok().and_then(ErrorCode::from_code);
    match of_kafka.and_then(|it| Refused::check(it.code(), None).err()) {
        Some(refused) => format!("{}: {refused}", refused.exception()),
        None => code.to_string(),
    }
}
