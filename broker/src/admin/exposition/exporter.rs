//! What kafka_exporter tells beside a broker: brokers, partitions, and how far groups are behind.

use super::family::{Family, gauge};
use super::samples::Labels;

/// In place of an offset, and of a lag: nothing is committed.
const NONE: i64 = -1;

pub(super) const FAMILIES: &[Family] = &[
    gauge("kafka_brokers", "", "", "Brokers of the cluster.", |shot, out| {
        out.one(shot.image.brokers().len())
    }),
    gauge(
        "kafka_broker_info",
        "id address",
        "",
        "1 for each broker; the address is what clients are told first.",
        |shot, out| {
            for broker in shot.image.brokers().values() {
                let Some(at) = broker.end_points.first() else { continue };
                let address = format!("{}:{}", at.host, at.port);
                out.put(&Labels::of("id address", &[&broker.broker_id, &address]), 1);
            }
        },
    ),
    gauge("kafka_topic_partitions", "topic", "", "Partitions of a topic.", |shot, out| {
        for topic in shot.image.topics().values() {
            out.put(&Labels::of("topic", &[&topic.name]), topic.partitions.len());
        }
    }),
    gauge(
        "kafka_topic_partition_current_offset",
        "topic partition",
        "",
        "The end of a partition, as consumers see it.",
        |shot, out| shot.each(out, |it| Some(it.open.as_ref()?.log().high_watermark())),
    ),
    gauge(
        "kafka_topic_partition_oldest_offset",
        "topic partition",
        "",
        "The start of a partition.",
        |shot, out| shot.each(out, |it| Some(it.open.as_ref()?.log().log_start())),
    ),
    gauge(
        "kafka_topic_partition_leader",
        "topic partition",
        "",
        "The broker that leads a partition.",
        |shot, out| shot.each(out, |it| it.leader()),
    ),
    gauge(
        "kafka_topic_partition_replicas",
        "topic partition",
        "",
        "Replicas of a partition.",
        |shot, out| shot.each(out, |it| Some(it.replicas())),
    ),
    gauge(
        "kafka_topic_partition_in_sync_replica",
        "topic partition",
        "",
        "Replicas of a partition that are in sync.",
        |shot, out| shot.each(out, |it| Some(it.in_sync())),
    ),
    gauge(
        "kafka_topic_partition_leader_is_preferred",
        "topic partition",
        "",
        "1 where the first replica leads a partition.",
        |shot, out| shot.each(out, |it| Some(u8::from(it.leader_is_preferred()))),
    ),
    gauge(
        "kafka_topic_partition_under_replicated_partition",
        "topic partition",
        "",
        "1 where a replica of a partition is not in sync.",
        |shot, out| shot.each(out, |it| Some(u8::from(it.is_under_replicated()))),
    ),
    gauge(
        "kafka_consumergroup_current_offset",
        "consumergroup topic partition",
        "",
        "What a group has committed; -1: nothing of this partition, but of others of the topic.",
        |shot, out| {
            for lag in &shot.lags.partitions {
                out.put(&lag.labels, lag.committed.unwrap_or(NONE));
            }
        },
    ),
    gauge(
        "kafka_consumergroup_current_offset_sum",
        "consumergroup topic",
        "",
        "What a group has committed, over all partitions of a topic.",
        |shot, out| {
            for sum in &shot.lags.topics {
                out.put(&sum.labels, sum.committed);
            }
        },
    ),
    gauge(
        "kafka_consumergroup_lag",
        "consumergroup topic partition",
        "",
        "How far a group is behind the end of a partition; -1: nothing is committed.",
        |shot, out| {
            for lag in &shot.lags.partitions {
                out.put(&lag.labels, lag.behind.unwrap_or(NONE));
            }
        },
    ),
    gauge(
        "kafka_consumergroup_lag_sum",
        "consumergroup topic",
        "",
        "How far a group is behind the end of a topic, over its partitions.",
        |shot, out| {
            for sum in &shot.lags.topics {
                out.put(&sum.labels, sum.behind);
            }
        },
    ),
    gauge(
        "kafka_consumergroup_members",
        "consumergroup",
        "",
        "Members of a group.",
        |shot, out| {
            for (listed, group) in shot.groups.iter().flatten() {
                out.put(&Labels::of("consumergroup", &[&listed.id]), group.members.len());
            }
        },
    ),
];
