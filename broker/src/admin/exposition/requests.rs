//! Kafka's `RequestMetrics`: how many requests, what they were answered, how long they took.

use super::family::{Family, Kind, Read, Samples};
use super::scene::Shot;
use crate::metrics::requests::{Seen, Stage};
use protocol::error::ErrorCode;
use protocol::messages::ApiKey;

/// As the JMX exporter spells Kafka's percentiles.
const SHARES: [(&str, f64); 6] = [
    ("0.50", 0.5),
    ("0.75", 0.75),
    ("0.95", 0.95),
    ("0.98", 0.98),
    ("0.99", 0.99),
    ("0.999", 0.999),
];

const fn summary(
    name: &'static str,
    mbean: &'static str,
    help: &'static str,
    read: Read,
) -> Family {
    Family { name, kind: Kind::Summary, labels: "request quantile", mbean, help, read }
}

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
        for (name, share) in SHARES {
            samples.quantile(&[("request", &request)], name, seen.quantile_ms(stage, share));
        }
        samples.count(&[("request", &request)], seen.requests());
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
    Family {
        name: "kafka_network_requestmetrics_requests_total",
        kind: Kind::Counter,
        labels: "request version",
        mbean: "kafka.network:type=RequestMetrics,name=RequestsPerSec Count",
        help: "Requests, by their API and version.",
        read: Read::Broker(|shot, out| {
            each(shot, |request, seen| {
                for (version, count) in &seen.versions {
                    out.put(&[("request", &request), ("version", version)], count);
                }
            });
        }),
    },
    Family {
        name: "kafka_network_requestmetrics_errors_total",
        kind: Kind::Counter,
        labels: "request error",
        mbean: "kafka.network:type=RequestMetrics,name=ErrorsPerSec Count",
        help: "Results by their code, NONE for success; most answers have one for each partition.",
        read: Read::Broker(|shot, out| {
            each(shot, |request, seen| {
                for (code, count) in &seen.errors {
                    out.put(&[("request", &request), ("error", &spelt(*code))], count);
                }
            });
        }),
    },
    summary(
        "kafka_network_requestmetrics_totaltimems",
        "kafka.network:type=RequestMetrics,name=TotalTimeMs",
        "Milliseconds from a request's last byte to its answer's, over the last minutes.",
        Read::Broker(|shot, out| times(shot, out, Stage::Total)),
    ),
    summary(
        "kafka_network_requestmetrics_requestqueuetimems",
        "kafka.network:type=RequestMetrics,name=RequestQueueTimeMs",
        "Milliseconds that a request waited for the answers to earlier ones of its connection.",
        Read::Broker(|shot, out| times(shot, out, Stage::RequestQueue)),
    ),
    summary(
        "kafka_network_requestmetrics_localtimems",
        "kafka.network:type=RequestMetrics,name=LocalTimeMs",
        "Milliseconds that a request was worked on.",
        Read::Broker(|shot, out| times(shot, out, Stage::Local)),
    ),
    summary(
        "kafka_network_requestmetrics_remotetimems",
        "kafka.network:type=RequestMetrics,name=RemoteTimeMs",
        "Milliseconds that a request waited for others: bytes, members of a group, the controller.",
        Read::Broker(|shot, out| times(shot, out, Stage::Remote)),
    ),
    summary(
        "kafka_network_requestmetrics_responsequeuetimems",
        "kafka.network:type=RequestMetrics,name=ResponseQueueTimeMs",
        "Milliseconds that an answer waited for earlier ones of its connection.",
        Read::Broker(|shot, out| times(shot, out, Stage::ResponseQueue)),
    ),
    summary(
        "kafka_network_requestmetrics_responsesendtimems",
        "kafka.network:type=RequestMetrics,name=ResponseSendTimeMs",
        "Milliseconds until the socket had taken an answer.",
        Read::Broker(|shot, out| times(shot, out, Stage::ResponseSend)),
    ),
    Family {
        name: "kafka_network_requestchannel_requestqueuesize",
        kind: Kind::Gauge,
        labels: "",
        mbean: "kafka.network:type=RequestChannel,name=RequestQueueSize Value",
        help: "Requests that are read and wait for the answers to earlier ones of their connections.",
        read: Read::Broker(|shot, out| out.put(&[], shot.ctx.metrics.parked.get())),
    },
    Family {
        name: "kafka_network_socketserver_networkprocessoravgidle_percent",
        kind: Kind::Gauge,
        labels: "",
        mbean: "kafka.network:type=SocketServer,name=NetworkProcessorAvgIdlePercent Value",
        help: "Share of the last minute, 0 to 1, that the worker threads had nothing to do.",
        read: Read::Broker(|shot, out| out.put(&[], shot.means.idle)),
    },
    Family {
        name: "kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent",
        kind: Kind::Gauge,
        labels: "",
        mbean: "kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent OneMinuteRate",
        help: "The same: the threads that read requests are those that serve them.",
        read: Read::Broker(|shot, out| out.put(&[], shot.means.idle)),
    },
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
