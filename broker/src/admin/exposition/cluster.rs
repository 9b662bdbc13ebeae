//! Partitions of the cluster, and the quorum of its metadata.

use super::family::{Family, gauge};
use super::samples::{Labels, Samples};
use super::scene::Shot;
use super::spot::Spot;

/// A value of each partition that has a replica here.
fn each(shot: &Shot, samples: &mut Samples, of: fn(&Spot) -> usize) {
    for spot in shot.spots.iter().filter(|spot| spot.is_here) {
        samples.put(&spot.labels, of(spot));
    }
}

const STATE: &str = "kafka.server:type=raft-metrics current-state";

fn state(shot: &Shot, samples: &mut Samples, label: &'static str) {
    if let Some(quorum) = &shot.quorum {
        let leads = quorum.leader_id == shot.ctx.node_id;
        let state = if leads { "leader" } else { "candidate" };
        samples.put(&Labels::of(label, &[&state]), 1);
    }
}

impl Shot {
    /// The end of the metadata log of this node.
    fn metadata_end(&self) -> Option<i64> {
        let voters = self.quorum.as_ref()?.voters.iter();
        voters
            .filter(|voter| voter.replica.id == self.ctx.node_id)
            .map(|it| it.log_end_offset)
            .next()
    }
}

/// The quorum's gauges have two names: of the JMX exporter, and of Strimzi's older rules.
pub(super) const FAMILIES: &[Family] = &[
    gauge(
        "kafka_cluster_partition_underreplicated",
        "topic partition",
        "kafka.cluster:type=Partition,name=UnderReplicated Value",
        "1 where a replica is not in sync.",
        |shot, out| each(shot, out, |it| it.is_under_replicated().into()),
    ),
    gauge(
        "kafka_cluster_partition_underminisr",
        "topic partition",
        "kafka.cluster:type=Partition,name=UnderMinIsr Value",
        "1 where fewer replicas are in sync than acks=all asks for.",
        |shot, out| each(shot, out, |it| it.is_under_min_isr().into()),
    ),
    gauge(
        "kafka_cluster_partition_atminisr",
        "topic partition",
        "kafka.cluster:type=Partition,name=AtMinIsr Value",
        "1 where exactly as many replicas are in sync as acks=all asks for.",
        |shot, out| each(shot, out, |it| it.is_at_min_isr().into()),
    ),
    gauge(
        "kafka_cluster_partition_replicascount",
        "topic partition",
        "kafka.cluster:type=Partition,name=ReplicasCount Value",
        "Replicas of a partition.",
        |shot, out| each(shot, out, |it| it.replicas()),
    ),
    gauge(
        "kafka_cluster_partition_insyncreplicascount",
        "topic partition",
        "kafka.cluster:type=Partition,name=InSyncReplicasCount Value",
        "Replicas of a partition that are in sync.",
        |shot, out| each(shot, out, |it| it.in_sync()),
    ),
    gauge(
        "kafka_server_raft_metrics_current_leader kafka_server_raftmetrics_current_leader",
        "",
        "kafka.server:type=raft-metrics current-leader",
        "The controller that decides; -1: none.",
        |shot, out| out.maybe(shot.quorum.as_ref().map(|it| it.leader_id)),
    ),
    gauge(
        "kafka_server_raft_metrics_current_epoch kafka_server_raftmetrics_current_epoch",
        "",
        "kafka.server:type=raft-metrics current-epoch",
        "The term in which it leads.",
        |shot, out| out.maybe(shot.quorum.as_ref().map(|it| it.leader_epoch)),
    ),
    gauge(
        "kafka_server_raft_metrics_high_watermark kafka_server_raftmetrics_high_watermark",
        "",
        "kafka.server:type=raft-metrics high-watermark",
        "How far the metadata log is committed.",
        |shot, out| out.maybe(shot.quorum.as_ref().map(|it| it.high_watermark)),
    ),
    gauge(
        "kafka_server_raft_metrics_log_end_offset kafka_server_raftmetrics_log_end_offset",
        "",
        "kafka.server:type=raft-metrics log-end-offset",
        "The offset of the metadata log's next record.",
        |shot, out| out.maybe(shot.metadata_end()),
    ),
    gauge(
        "kafka_server_raft_metrics_commit_latency_avg kafka_server_raftmetrics_commit_latency_avg",
        "",
        "kafka.server:type=raft-metrics commit-latency-avg",
        "Milliseconds from a decision to its commit, on average over the last minute.",
        |shot, out| out.one(shot.means.commit_ms),
    ),
    gauge(
        "kafka_server_raft_metrics_append_records_rate kafka_server_raftmetrics_append_records_rate",
        "",
        "kafka.server:type=raft-metrics append-records-rate",
        "Metadata records a second, over the last minute.",
        |shot, out| out.one(shot.means.metadata_records_per_second),
    ),
    gauge(
        "kafka_server_raft_metrics_fetch_records_rate kafka_server_raftmetrics_fetch_records_rate",
        "",
        "kafka.server:type=raft-metrics fetch-records-rate",
        "Metadata records a second that this node fetched from its leader: alone, it leads.",
        |_, out| out.one(0),
    ),
    gauge(
        "kafka_server_raft_metrics_current_state_info",
        "state",
        STATE,
        "1 for the state that this voter is in.",
        |shot, out| state(shot, out, "state"),
    ),
    gauge(
        "kafka_server_raftmetrics_current_state",
        "current_state",
        STATE,
        "The same, as Strimzi's older rules spell it.",
        |shot, out| state(shot, out, "current_state"),
    ),
];
