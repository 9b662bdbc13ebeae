//! Partitions of the cluster, and the quorum of its metadata.

use super::family::{Family, Kind, Read, Samples};
use super::scene::{Shot, Spot};

const fn of_partition(
    name: &'static str,
    mbean: &'static str,
    help: &'static str,
    read: Read,
) -> Family {
    Family { name, kind: Kind::Gauge, labels: "topic partition", mbean, help, read }
}

fn each(shot: &Shot, samples: &mut Samples, of: fn(&Spot<'_>) -> usize) {
    let node = shot.ctx.node_id;
    shot.spots(|spot| {
        if spot.placed.has_replica(node) {
            samples.put(&[("topic", spot.topic), ("partition", &spot.number)], of(&spot));
        }
    });
}

/// The quorum's gauges have two spellings: of the JMX exporter, and of Strimzi's older rules.
const fn of_raft(
    name: &'static str,
    mbean: &'static str,
    help: &'static str,
    read: Read,
) -> Family {
    Family { name, kind: Kind::Gauge, labels: "", mbean, help, read }
}

const LEADER: Read = Read::Broker(|shot, out| {
    if let Some(quorum) = &shot.quorum {
        out.put(&[], quorum.leader_id);
    }
});
const EPOCH: Read = Read::Broker(|shot, out| {
    if let Some(quorum) = &shot.quorum {
        out.put(&[], quorum.leader_epoch);
    }
});
const WATERMARK: Read = Read::Broker(|shot, out| {
    if let Some(quorum) = &shot.quorum {
        out.put(&[], quorum.high_watermark);
    }
});
const END: Read = Read::Broker(|shot, out| {
    if let Some(end) = shot.metadata_end() {
        out.put(&[], end);
    }
});
const LATENCY: Read = Read::Broker(|shot, out| out.put(&[], shot.means.commit_ms));
const APPENDED: Read =
    Read::Broker(|shot, out| out.put(&[], shot.means.metadata_records_per_second));
const FETCHED: Read = Read::Broker(|_, out| out.put(&[], 0));
const STATE: &str = "kafka.server:type=raft-metrics current-state";

fn state(shot: &Shot, samples: &mut Samples, label: &'static str) {
    if let Some(quorum) = &shot.quorum {
        let leads = quorum.leader_id == shot.ctx.node_id;
        samples.put(&[(label, &if leads { "leader" } else { "candidate" })], 1);
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

pub(super) const FAMILIES: &[Family] = &[
    of_partition(
        "kafka_cluster_partition_underreplicated",
        "kafka.cluster:type=Partition,name=UnderReplicated Value",
        "1 where a replica is not in sync.",
        Read::Broker(|shot, out| each(shot, out, |it| it.is_under_replicated().into())),
    ),
    of_partition(
        "kafka_cluster_partition_underminisr",
        "kafka.cluster:type=Partition,name=UnderMinIsr Value",
        "1 where fewer replicas are in sync than acks=all asks for.",
        Read::Broker(|shot, out| each(shot, out, |it| it.is_under_min_isr().into())),
    ),
    of_partition(
        "kafka_cluster_partition_atminisr",
        "kafka.cluster:type=Partition,name=AtMinIsr Value",
        "1 where exactly as many replicas are in sync as acks=all asks for.",
        Read::Broker(|shot, out| each(shot, out, |it| it.is_at_min_isr().into())),
    ),
    of_partition(
        "kafka_cluster_partition_replicascount",
        "kafka.cluster:type=Partition,name=ReplicasCount Value",
        "Replicas of a partition.",
        Read::Broker(|shot, out| each(shot, out, |it| it.placed.replicas.len())),
    ),
    of_partition(
        "kafka_cluster_partition_insyncreplicascount",
        "kafka.cluster:type=Partition,name=InSyncReplicasCount Value",
        "Replicas of a partition that are in sync.",
        Read::Broker(|shot, out| each(shot, out, |it| it.placed.isr.len())),
    ),
    of_raft(
        "kafka_server_raft_metrics_current_leader",
        "kafka.server:type=raft-metrics current-leader",
        "The controller that decides; -1: none.",
        LEADER,
    ),
    of_raft(
        "kafka_server_raft_metrics_current_epoch",
        "kafka.server:type=raft-metrics current-epoch",
        "The term in which it leads.",
        EPOCH,
    ),
    of_raft(
        "kafka_server_raft_metrics_high_watermark",
        "kafka.server:type=raft-metrics high-watermark",
        "How far the metadata log is committed.",
        WATERMARK,
    ),
    of_raft(
        "kafka_server_raft_metrics_log_end_offset",
        "kafka.server:type=raft-metrics log-end-offset",
        "The offset of the metadata log's next record.",
        END,
    ),
    of_raft(
        "kafka_server_raft_metrics_commit_latency_avg",
        "kafka.server:type=raft-metrics commit-latency-avg",
        "Milliseconds from a decision to its commit, on average over the last minute.",
        LATENCY,
    ),
    of_raft(
        "kafka_server_raft_metrics_append_records_rate",
        "kafka.server:type=raft-metrics append-records-rate",
        "Metadata records a second, over the last minute.",
        APPENDED,
    ),
    of_raft(
        "kafka_server_raft_metrics_fetch_records_rate",
        "kafka.server:type=raft-metrics fetch-records-rate",
        "Metadata records a second that this node fetched from its leader: alone, it leads.",
        FETCHED,
    ),
    Family {
        name: "kafka_server_raft_metrics_current_state_info",
        kind: Kind::Gauge,
        labels: "state",
        mbean: STATE,
        help: "1 for the state that this voter is in.",
        read: Read::Broker(|shot, out| state(shot, out, "state")),
    },
    of_raft(
        "kafka_server_raftmetrics_current_leader",
        "kafka.server:type=raft-metrics current-leader",
        "The same, as Strimzi's older rules spell it.",
        LEADER,
    ),
    of_raft(
        "kafka_server_raftmetrics_current_epoch",
        "kafka.server:type=raft-metrics current-epoch",
        "The same, as Strimzi's older rules spell it.",
        EPOCH,
    ),
    of_raft(
        "kafka_server_raftmetrics_high_watermark",
        "kafka.server:type=raft-metrics high-watermark",
        "The same, as Strimzi's older rules spell it.",
        WATERMARK,
    ),
    of_raft(
        "kafka_server_raftmetrics_log_end_offset",
        "kafka.server:type=raft-metrics log-end-offset",
        "The same, as Strimzi's older rules spell it.",
        END,
    ),
    of_raft(
        "kafka_server_raftmetrics_commit_latency_avg",
        "kafka.server:type=raft-metrics commit-latency-avg",
        "The same, as Strimzi's older rules spell it.",
        LATENCY,
    ),
    of_raft(
        "kafka_server_raftmetrics_append_records_rate",
        "kafka.server:type=raft-metrics append-records-rate",
        "The same, as Strimzi's older rules spell it.",
        APPENDED,
    ),
    of_raft(
        "kafka_server_raftmetrics_fetch_records_rate",
        "kafka.server:type=raft-metrics fetch-records-rate",
        "The same, as Strimzi's older rules spell it.",
        FETCHED,
    ),
    Family {
        name: "kafka_server_raftmetrics_current_state",
        kind: Kind::Gauge,
        labels: "current_state",
        mbean: STATE,
        help: "The same, as Strimzi's older rules spell it.",
        read: Read::Broker(|shot, out| state(shot, out, "current_state")),
    },
];
