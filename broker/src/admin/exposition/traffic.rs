//! Kafka's `BrokerTopicMetrics`: of each topic, and without a label of all of them.

use super::family::{Family, Kind, Read, Samples};
use super::scene::Shot;
use crate::metrics::Traffic;

const fn family(name: &'static str, mbean: &'static str, help: &'static str, read: Read) -> Family {
    Family { name, kind: Kind::Counter, labels: "topic?", mbean, help, read }
}

fn each(shot: &Shot, samples: &mut Samples, count: fn(&Traffic) -> u64) {
    samples.put(&[], count(&shot.total()));
    for topic in &shot.hosted {
        let open = topic.partitions().filter_map(|(_, place)| place.open());
        let sum: Traffic = open.map(|partition| partition.traffic.get()).sum();
        samples.put(&[("topic", &topic.name)], count(&sum));
    }
}

/// What one broker alone never does.
fn never(_: &Shot, samples: &mut Samples) {
    samples.put(&[], 0);
}

pub(super) const FAMILIES: &[Family] = &[
    family(
        "kafka_server_brokertopicmetrics_messagesin_total",
        "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec Count",
        "Records that were appended.",
        Read::Broker(|shot, out| each(shot, out, |it| it.messages_in)),
    ),
    family(
        "kafka_server_brokertopicmetrics_bytesin_total",
        "kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec Count",
        "Bytes of batches that were appended.",
        Read::Broker(|shot, out| each(shot, out, |it| it.bytes_in)),
    ),
    family(
        "kafka_server_brokertopicmetrics_bytesout_total",
        "kafka.server:type=BrokerTopicMetrics,name=BytesOutPerSec Count",
        "Bytes of batches that consumers were sent.",
        Read::Broker(|shot, out| each(shot, out, |it| it.bytes_out)),
    ),
    family(
        "kafka_server_brokertopicmetrics_bytesrejected_total",
        "kafka.server:type=BrokerTopicMetrics,name=BytesRejectedPerSec Count",
        "Bytes of batches that were refused because they are too large.",
        Read::Broker(|shot, out| each(shot, out, |it| it.bytes_rejected)),
    ),
    family(
        "kafka_server_brokertopicmetrics_totalproducerequests_total",
        "kafka.server:type=BrokerTopicMetrics,name=TotalProduceRequestsPerSec Count",
        "Batches that were to be appended; a request has one for each of its partitions.",
        Read::Broker(|shot, out| each(shot, out, |it| it.produce_requests)),
    ),
    family(
        "kafka_server_brokertopicmetrics_totalfetchrequests_total",
        "kafka.server:type=BrokerTopicMetrics,name=TotalFetchRequestsPerSec Count",
        "Partitions that fetches asked for.",
        Read::Broker(|shot, out| each(shot, out, |it| it.fetch_requests)),
    ),
    family(
        "kafka_server_brokertopicmetrics_failedproducerequests_total",
        "kafka.server:type=BrokerTopicMetrics,name=FailedProduceRequestsPerSec Count",
        "Batches that were refused for a reason that asking again does not cure.",
        Read::Broker(|shot, out| each(shot, out, |it| it.failed_produce_requests)),
    ),
    family(
        "kafka_server_brokertopicmetrics_failedfetchrequests_total",
        "kafka.server:type=BrokerTopicMetrics,name=FailedFetchRequestsPerSec Count",
        "Partitions that could not be read because a batch is damaged.",
        Read::Broker(|shot, out| each(shot, out, |it| it.failed_fetch_requests)),
    ),
    family(
        "kafka_server_brokertopicmetrics_producemessageconversions_total",
        "kafka.server:type=BrokerTopicMetrics,name=ProduceMessageConversionsPerSec Count",
        "Records that were written in another format than they came in: none ever is.",
        Read::Broker(|shot, out| each(shot, out, |_| 0)),
    ),
    family(
        "kafka_server_brokertopicmetrics_fetchmessageconversions_total",
        "kafka.server:type=BrokerTopicMetrics,name=FetchMessageConversionsPerSec Count",
        "Records that were sent in another format than they lie in: none ever is.",
        Read::Broker(|shot, out| each(shot, out, |_| 0)),
    ),
    family(
        "kafka_server_brokertopicmetrics_replicationbytesin_total",
        "kafka.server:type=BrokerTopicMetrics,name=ReplicationBytesInPerSec Count",
        "Bytes that replicas here fetched from others: one broker has no others.",
        Read::Broker(never),
    ),
    family(
        "kafka_server_brokertopicmetrics_replicationbytesout_total",
        "kafka.server:type=BrokerTopicMetrics,name=ReplicationBytesOutPerSec Count",
        "Bytes that other replicas fetched from here: one broker has no others.",
        Read::Broker(never),
    ),
];
