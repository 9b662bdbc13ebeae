//! Kafka's `RequestMetrics`: how many requests, what they were answered, how long they took.

use super::family::{Family, counter, gauge, summary};
use super::samples::{Labels, Samples};
use super::scene::Shot;
use crate::metrics::requests::{Seen, Stage};
use protocol::error::ErrorCode;
use protocol::messages::ApiKey;

/// Every API that was asked, under its name; Fetch also as that of consumers, since no replica
/// fetches here.
fn each(shot: &Shot, mut see: impl FnMut(&'static str, &Seen)) {
    for (key, seen) in &shot.requests {
        see(key.name(), seen);
        if *key == ApiKey::Fetch {
            see("FetchConsumer", seen);
        }
    }
}

fn times(shot: &Shot, samples: &mut Samples, stage: Stage) {
    each(shot, |request, seen| {
        let labels = Labels::of("request", &[&request]);
        samples.summary(&labels, seen.requests(), |share| seen.quantile_ms(stage, share));
    });
}

/// `UnknownTopicOrPartition` as Kafka writes it: in capitals, with a line between words.
fn spelt(code: i16) -> String {
    let name = ErrorCode::from_code(code).unwrap_or(ErrorCode::UnknownServerError).name();
    let mut spelt = String::with_capacity(name.len() + 8);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !spelt.is_empty() {
            spelt.push('_');
        }
        spelt.push(letter.to_ascii_uppercase());
    }
    spelt
}

pub(super) const FAMILIES: &[Family] = &[
    counter(
        "kafka_network_requestmetrics_requests_total",
        "request version",
        "kafka.network:type=RequestMetrics,name=RequestsPerSec Count",
        "Requests, by their API and version.",
        |shot, out| {
            each(shot, |request, seen| {
                for (version, count) in &seen.versions {
                    out.put(&Labels::of("request version", &[&request, version]), count);
                }
            });
        },
    ),
    counter(
        "kafka_network_requestmetrics_errors_total",
        "request error",
        "kafka.network:type=RequestMetrics,name=ErrorsPerSec Count",
        "Results by their code, NONE for success; most answers have one for each partition.",
        |shot, out| {
            each(shot, |request, seen| {
                for (code, count) in &seen.errors {
                    out.put(&Labels::of("request error", &[&request, &spelt(*code)]), count);
                }
            });
        },
    ),
    summary(
        "kafka_network_requestmetrics_totaltimems",
        "request quantile",
        "kafka.network:type=RequestMetrics,name=TotalTimeMs",
        "Milliseconds from a request's last byte to its answer's, over the last minutes.",
        |shot, out| times(shot, out, Stage::Total),
    ),
    summary(
        "kafka_network_requestmetrics_requestqueuetimems",
        "request quantile",
        "kafka.network:type=RequestMetrics,name=RequestQueueTimeMs",
        "Milliseconds that a request waited for the answers to earlier ones of its connection.",
        |shot, out| times(shot, out, Stage::RequestQueue),
    ),
    summary(
        "kafka_network_requestmetrics_localtimems",
        "request quantile",
        "kafka.network:type=RequestMetrics,name=LocalTimeMs",
        "Milliseconds that a request was worked on.",
        |shot, out| times(shot, out, Stage::Local),
    ),
    summary(
        "kafka_network_requestmetrics_remotetimems",
        "request quantile",
        "kafka.network:type=RequestMetrics,name=RemoteTimeMs",
        "Milliseconds that a request waited for others: bytes, members of a group, the controller.",
        |shot, out| times(shot, out, Stage::Remote),
    ),
    summary(
        "kafka_network_requestmetrics_responsequeuetimems",
        "request quantile",
        "kafka.network:type=RequestMetrics,name=ResponseQueueTimeMs",
        "Milliseconds that an answer waited for earlier ones of its connection.",
        |shot, out| times(shot, out, Stage::ResponseQueue),
    ),
    summary(
        "kafka_network_requestmetrics_responsesendtimems",
        "request quantile",
        "kafka.network:type=RequestMetrics,name=ResponseSendTimeMs",
        "Milliseconds until the socket had taken an answer.",
        |shot, out| times(shot, out, Stage::ResponseSend),
    ),
    summary(
        "kafka_network_requestmetrics_throttletimems",
        "request quantile",
        "kafka.network:type=RequestMetrics,name=ThrottleTimeMs",
        "Milliseconds that a quota held an answer back: there are no quotas.",
        |shot, out| {
            each(shot, |request, seen| {
                out.summary(&Labels::of("request", &[&request]), seen.requests(), |_| 0.0);
            });
        },
    ),
    gauge(
        "kafka_network_requestchannel_requestqueuesize",
        "",
        "kafka.network:type=RequestChannel,name=RequestQueueSize Value",
        "Requests that are read and wait for the answers to earlier ones of their connections.",
        |shot, out| out.one(shot.ctx.metrics.parked.get()),
    ),
    gauge(
        "kafka_network_requestchannel_responsequeuesize",
        "",
        "kafka.network:type=RequestChannel,name=ResponseQueueSize Value",
        "Answers that are there and wait for earlier ones of their connections.",
        |shot, out| out.one(shot.ctx.metrics.early_answers.get()),
    ),
    gauge(
        "kafka_network_socketserver_networkprocessoravgidle_percent",
        "",
        "kafka.network:type=SocketServer,name=NetworkProcessorAvgIdlePercent Value",
        "Share of the last minute, 0 to 1, that the worker threads had nothing to do.",
        |shot, out| out.one(shot.means.idle),
    ),
    gauge(
        "kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent",
        "",
        "kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent OneMinuteRate",
        "The same: the threads that read requests are those that serve them.",
        |shot, out| out.one(shot.means.idle),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_spelt_as_kafka_spells_them() {
        assert_eq!(spelt(0), "NONE");
        assert_eq!(spelt(3), "UNKNOWN_TOPIC_OR_PARTITION");
        assert_eq!(spelt(-1), "UNKNOWN_SERVER_ERROR");
    }
}
