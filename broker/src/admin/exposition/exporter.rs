//! What kafka_exporter tells beside a broker: brokers, partitions, and how far groups are behind.

use super::family::{Family, Kind, Read, Samples};
use super::scene::{Shot, Spot};
use kraft::image::NO_LEADER;
use std::fmt::Display;

const fn gauge(name: &'static str, labels: &'static str, help: &'static str, read: Read) -> Family {
    Family { name, kind: Kind::Gauge, labels, mbean: "", help, read }
}

/// A value of each partition that has one.
fn each<T: Display>(shot: &Shot, samples: &mut Samples, of: fn(&Spot<'_>) -> Option<T>) {
    shot.spots(|spot| {
        if let Some(value) = of(&spot) {
            samples.put(&[("topic", spot.topic), ("partition", &spot.number)], value);
        }
    });
}

/// In place of an offset, and of a lag: nothing is committed.
const NONE: i64 = -1;

/// Each partition of the topics of which a group has committed anything: what is committed, and
/// where the partition ends.
fn each_committed(shot: &Shot, mut see: impl FnMut(&str, &str, i32, (Option<i64>, i64))) {
    for (listed, group) in shot.groups.iter().flatten() {
        for (topic, committed) in &group.committed {
            for (number, end) in shot.ends.get(topic).into_iter().flatten() {
                see(&listed.id, topic, *number, (committed.get(number).copied(), *end));
            }
        }
    }
}

/// A sum of each group and topic, over the partitions of which anything is committed.
fn sums(shot: &Shot, samples: &mut Samples, of: fn(i64, i64) -> i64) {
    for (listed, group) in shot.groups.iter().flatten() {
        for (topic, committed) in &group.committed {
            let Some(ends) = shot.ends.get(topic) else { continue };
            let known =
                committed.iter().filter_map(|(number, offset)| Some((offset, ends.get(number)?)));
            let sum = known.fold(0_i64, |sum, (offset, end)| sum.saturating_add(of(*offset, *end)));
            samples.put(&[("consumergroup", &listed.id), ("topic", topic)], sum);
        }
    }
}

pub(super) const FAMILIES: &[Family] = &[
    gauge(
        "kafka_brokers",
        "",
        "Brokers of the cluster.",
        Read::Broker(|shot, out| out.put(&[], shot.image.brokers().len())),
    ),
    gauge(
        "kafka_broker_info",
        "id address",
        "1 for each broker; the address is what clients are told first.",
        Read::Broker(|shot, out| {
            for broker in shot.image.brokers().values() {
                let Some(at) = broker.end_points.first() else { continue };
                let address = format!("{}:{}", at.host, at.port);
                out.put(&[("id", &broker.broker_id), ("address", &address)], 1);
            }
        }),
    ),
    gauge(
        "kafka_topic_partitions",
        "topic",
        "Partitions of a topic.",
        Read::Broker(|shot, out| {
            for topic in shot.image.topics().values() {
                out.put(&[("topic", &topic.name)], topic.partitions.len());
            }
        }),
    ),
    gauge(
        "kafka_topic_partition_current_offset",
        "topic partition",
        "The end of a partition, as consumers see it.",
        Read::Broker(|shot, out| each(shot, out, |it| Some(it.open?.log().high_watermark()))),
    ),
    gauge(
        "kafka_topic_partition_oldest_offset",
        "topic partition",
        "The start of a partition.",
        Read::Broker(|shot, out| each(shot, out, |it| Some(it.open?.log().log_start()))),
    ),
    gauge(
        "kafka_topic_partition_leader",
        "topic partition",
        "The broker that leads a partition.",
        Read::Broker(|shot, out| {
            each(shot, out, |it| Some(it.placed.leader).filter(|leader| *leader != NO_LEADER));
        }),
    ),
    gauge(
        "kafka_topic_partition_replicas",
        "topic partition",
        "Replicas of a partition.",
        Read::Broker(|shot, out| each(shot, out, |it| Some(it.placed.replicas.len()))),
    ),
    gauge(
        "kafka_topic_partition_in_sync_replica",
        "topic partition",
        "Replicas of a partition that are in sync.",
        Read::Broker(|shot, out| each(shot, out, |it| Some(it.placed.isr.len()))),
    ),
    gauge(
        "kafka_topic_partition_leader_is_preferred",
        "topic partition",
        "1 where the first replica leads a partition.",
        Read::Broker(|shot, out| each(shot, out, |it| Some(u8::from(it.leader_is_preferred())))),
    ),
    gauge(
        "kafka_topic_partition_under_replicated_partition",
        "topic partition",
        "1 where a replica of a partition is not in sync.",
        Read::Broker(|shot, out| each(shot, out, |it| Some(u8::from(it.is_under_replicated())))),
    ),
    gauge(
        "kafka_consumergroup_current_offset",
        "consumergroup topic partition",
        "What a group has committed; -1: nothing of this partition, but of others of the topic.",
        Read::Broker(|shot, out| {
            each_committed(shot, |group, topic, number, (offset, _)| {
                let labels: [(_, &dyn Display); 3] =
                    [("consumergroup", &group), ("topic", &topic), ("partition", &number)];
                out.put(&labels, offset.unwrap_or(NONE));
            });
        }),
    ),
    gauge(
        "kafka_consumergroup_current_offset_sum",
        "consumergroup topic",
        "What a group has committed, over all partitions of a topic.",
        Read::Broker(|shot, out| sums(shot, out, |offset, _| offset)),
    ),
    gauge(
        "kafka_consumergroup_lag",
        "consumergroup topic partition",
        "How far a group is behind the end of a partition; -1: nothing is committed.",
        Read::Broker(|shot, out| {
            each_committed(shot, |group, topic, number, (offset, end)| {
                let labels: [(_, &dyn Display); 3] =
                    [("consumergroup", &group), ("topic", &topic), ("partition", &number)];
                out.put(&labels, offset.map_or(NONE, |offset| end.saturating_sub(offset)));
            });
        }),
    ),
    gauge(
        "kafka_consumergroup_lag_sum",
        "consumergroup topic",
        "How far a group is behind the end of a topic, over its partitions.",
        Read::Broker(|shot, out| sums(shot, out, |offset, end| end.saturating_sub(offset))),
    ),
    gauge(
        "kafka_consumergroup_members",
        "consumergroup",
        "Members of a group.",
        Read::Broker(|shot, out| {
            for (listed, group) in shot.groups.iter().flatten() {
                out.put(&[("consumergroup", &listed.id)], group.members.len());
            }
        }),
    ),
];
