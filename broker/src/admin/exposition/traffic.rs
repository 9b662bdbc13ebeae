//! Kafka's `BrokerTopicMetrics`: of each topic, and without a label of all of them.

use super::family::{Family, counter};
use super::samples::Samples;
use super::scene::Shot;
use crate::metrics::Traffic;

fn each(shot: &Shot, samples: &mut Samples, count: fn(&Traffic) -> u64) {
    for (labels, traffic) in &shot.traffic {
        samples.put(labels, count(traffic));
    }
}

pub(super) const FAMILIES: &[Family] = &[
    counter(
        "kafka_server_brokertopicmetrics_messagesin_total",
        "topic?",
        "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec Count",
        "Records that were appended.",
        |shot, out| each(shot, out, |it| it.messages_in),
    ),
    counter(
        "kafka_server_brokertopicmetrics_bytesin_total",
        "topic?",
        "kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec Count",
        "Bytes of batches that were appended.",
        |shot, out| each(shot, out, |it| it.bytes_in),
    ),
    counter(
        "kafka_server_brokertopicmetrics_bytesout_total",
        "topic?",
        "kafka.server:type=BrokerTopicMetrics,name=BytesOutPerSec Count",
        "Bytes of batches that consumers were sent.",
        |shot, out| each(shot, out, |it| it.bytes_out),
    ),
    counter(
        "kafka_server_brokertopicmetrics_bytesrejected_total",
        "topic?",
        "kafka.server:type=BrokerTopicMetrics,name=BytesRejectedPerSec Count",
        "Bytes of batches that were refused because they are too large.",
        |shot, out| each(shot, out, |it| it.bytes_rejected),
    ),
    counter(
        "kafka_server_brokertopicmetrics_totalproducerequests_total",
        "topic?",
        "kafka.server:type=BrokerTopicMetrics,name=TotalProduceRequestsPerSec Count",
        "Batches that were to be appended; a request has one for each of its partitions.",
        |shot, out| each(shot, out, |it| it.produce_requests),
    ),
    counter(
        "kafka_server_brokertopicmetrics_totalfetchrequests_total",
        "topic?",
        "kafka.server:type=BrokerTopicMetrics,name=TotalFetchRequestsPerSec Count",
        "Partitions that fetches asked for.",
        |shot, out| each(shot, out, |it| it.fetch_requests),
    ),
    counter(
        "kafka_server_brokertopicmetrics_failedproducerequests_total",
        "topic?",
        "kafka.server:type=BrokerTopicMetrics,name=FailedProduceRequestsPerSec Count",
        "Batches that were refused for a reason that asking again does not cure.",
        |shot, out| each(shot, out, |it| it.failed_produce_requests),
    ),
    counter(
        "kafka_server_brokertopicmetrics_failedfetchrequests_total",
        "topic?",
        "kafka.server:type=BrokerTopicMetrics,name=FailedFetchRequestsPerSec Count",
        "Partitions that could not be read because a batch is damaged.",
        |shot, out| each(shot, out, |it| it.failed_fetch_requests),
    ),
    counter(
        "kafka_server_brokertopicmetrics_producemessageconversions_total",
        "topic?",
        "kafka.server:type=BrokerTopicMetrics,name=ProduceMessageConversionsPerSec Count",
        "Records that were written in another format than they came in: none ever is.",
        |shot, out| each(shot, out, |_| 0),
    ),
    counter(
        "kafka_server_brokertopicmetrics_fetchmessageconversions_total",
        "topic?",
        "kafka.server:type=BrokerTopicMetrics,name=FetchMessageConversionsPerSec Count",
        "Records that were sent in another format than they lie in: none ever is.",
        |shot, out| each(shot, out, |_| 0),
    ),
    counter(
        "kafka_server_brokertopicmetrics_replicationbytesin_total",
        "topic?",
        "kafka.server:type=BrokerTopicMetrics,name=ReplicationBytesInPerSec Count",
        "Bytes that replicas here fetched from others: one broker has no others.",
        |_, out| out.one(0),
    ),
    counter(
        "kafka_server_brokertopicmetrics_replicationbytesout_total",
        "topic?",
        "kafka.server:type=BrokerTopicMetrics,name=ReplicationBytesOutPerSec Count",
        "Bytes that other replicas fetched from here: one broker has no others.",
        |_, out| out.one(0),
    ),
];
