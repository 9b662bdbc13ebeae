//! Kafka's `GroupMetadataManager`: groups by their state.

use super::family::{Family, gauge};
use super::samples::Samples;
use super::scene::Shot;

/// Nothing is said while a coordinator is loading.
fn in_state(shot: &Shot, samples: &mut Samples, state: &str) {
    if let Some(groups) = &shot.groups {
        samples.one(groups.iter().filter(|(listed, _)| listed.state == state).count());
    }
}

pub(super) const FAMILIES: &[Family] = &[
    gauge(
        "kafka_coordinator_group_groupmetadatamanager_numgroups",
        "",
        "kafka.coordinator.group:type=GroupMetadataManager,name=NumGroups Value",
        "Groups of both protocols.",
        |shot, out| {
            if let Some(groups) = &shot.groups {
                out.one(groups.len());
            }
        },
    ),
    gauge(
        "kafka_coordinator_group_groupmetadatamanager_numgroupsstable",
        "",
        "kafka.coordinator.group:type=GroupMetadataManager,name=NumGroupsStable Value",
        "Groups of both protocols whose members have what they shall have.",
        |shot, out| in_state(shot, out, "Stable"),
    ),
    gauge(
        "kafka_coordinator_group_groupmetadatamanager_numgroupsempty",
        "",
        "kafka.coordinator.group:type=GroupMetadataManager,name=NumGroupsEmpty Value",
        "Groups of both protocols without members.",
        |shot, out| in_state(shot, out, "Empty"),
    ),
    gauge(
        "kafka_coordinator_group_groupmetadatamanager_numgroupspreparingrebalance",
        "",
        "kafka.coordinator.group:type=GroupMetadataManager,name=NumGroupsPreparingRebalance Value",
        "Classic groups whose members are joining.",
        |shot, out| in_state(shot, out, "PreparingRebalance"),
    ),
    gauge(
        "kafka_coordinator_group_groupmetadatamanager_numgroupscompletingrebalance",
        "",
        "kafka.coordinator.group:type=GroupMetadataManager,name=NumGroupsCompletingRebalance Value",
        "Classic groups whose members wait for their assignment.",
        |shot, out| in_state(shot, out, "CompletingRebalance"),
    ),
    gauge(
        "kafka_coordinator_group_groupmetadatamanager_numgroupsdead",
        "",
        "kafka.coordinator.group:type=GroupMetadataManager,name=NumGroupsDead Value",
        "Groups that are about to go; here they are gone at once.",
        |shot, out| in_state(shot, out, "Dead"),
    ),
    gauge(
        "kafka_coordinator_group_groupmetadatamanager_numoffsets",
        "",
        "kafka.coordinator.group:type=GroupMetadataManager,name=NumOffsets Value",
        "Committed offsets of all groups.",
        |shot, out| {
            if let Some(groups) = &shot.groups {
                let committed = groups.iter().flat_map(|(_, group)| group.committed.values());
                out.one(committed.map(|partitions| partitions.len()).sum::<usize>());
            }
        },
    ),
];
