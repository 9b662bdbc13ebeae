//! Where the replicas of a new partition go: which brokers, and which of their log directories.

use super::decision::Now;
use super::refusal::Refusal;
use crate::image::{Image, RECOVERED};
use crate::record::PartitionRecord;
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use std::collections::BTreeMap;

/// Brokers that may get replicas, in an order that spreads racks.
struct Rings {
    /// Those that may lead.
    active: Vec<i32>,
    fenced: Vec<i32>,
}

/// The replicas of `count` new partitions, the leader of each first. Leaders go round the active
/// brokers from a random one on; the other replicas go to as many racks as there are.
pub(super) fn place(
    image: &Image,
    now: &Now<'_>,
    count: usize,
    replication_factor: usize,
) -> Result<Vec<Vec<i32>>, Refusal> {
    let rings = rings(image);
    let registered = rings.active.len() + rings.fenced.len();
    let refuse = |why: String| Err(Refusal::new(ErrorCode::InvalidReplicationFactor, why));
    if rings.active.is_empty() {
        return refuse(format!(
            "no broker can take a new partition: of {registered} registered, none is active"
        ));
    }
    if registered < replication_factor {
        return refuse(format!(
            "replication factor {replication_factor} is out of reach: {registered} broker(s) are \
             registered"
        ));
    }
    let start = now.random_below(rings.active.len());
    let shift = now.random_below(rings.active.len());
    Ok((0..count)
        .map(|at| replicas(image, &rings, (start + at, shift), replication_factor))
        .collect())
}

fn rings(image: &Image) -> Rings {
    let mut rings = Rings { active: Vec::new(), fenced: Vec::new() };
    let mut racks: BTreeMap<Option<&str>, Vec<(i32, bool)>> = BTreeMap::new();
    for broker in image.brokers().values().filter(|broker| !broker.in_controlled_shutdown) {
        let rack = racks.entry(broker.rack.as_deref()).or_default();
        rack.push((broker.broker_id, broker.fenced));
    }
    let longest = racks.values().map(Vec::len).max().unwrap_or(0);
    for at in 0..longest {
        for (broker, fenced) in racks.values().filter_map(|rack| rack.get(at)) {
            if *fenced { rings.fenced.push(*broker) } else { rings.active.push(*broker) }
        }
    }
    rings
}

/// `turn` counts partitions; every time it has gone round the ring, followers shift by one, so
/// that two brokers do not share all their partitions.
fn replicas(
    image: &Image,
    rings: &Rings,
    (turn, shift): (usize, usize),
    replication_factor: usize,
) -> Vec<i32> {
    let active = &rings.active;
    let leader_at = turn % active.len();
    let mut followers: Vec<i32> =
        active.iter().copied().cycle().skip(leader_at + 1).take(active.len() - 1).collect();
    if !followers.is_empty() {
        let by = (shift + turn / active.len()) % followers.len();
        followers.rotate_left(by);
    }
    followers.extend(rings.fenced.iter());
    let mut chosen: Vec<i32> = active.get(leader_at).copied().into_iter().collect();
    let rack = |broker: i32| image.broker(broker).and_then(|broker| broker.rack.as_deref());
    // First a rack each, then what is left.
    for needs_new_rack in [true, false] {
        for broker in &followers {
            let is_new = !chosen.iter().any(|other| rack(*other) == rack(*broker));
            if chosen.len() < replication_factor
                && !chosen.contains(broker)
                && (is_new || !needs_new_rack)
            {
                chosen.push(*broker);
            }
        }
    }
    chosen
}

/// Whether replicas that a request names can be had. All of a topic's must be as many.
pub(super) fn check_manual(
    image: &Image,
    partition: usize,
    replicas: &[i32],
    replication_factor: usize,
) -> Result<(), Refusal> {
    let refuse = |why: String| Err(Refusal::new(ErrorCode::InvalidReplicaAssignment, why));
    if replicas.is_empty() {
        return refuse(format!("partition {partition} is assigned to no broker"));
    }
    for (at, broker) in replicas.iter().enumerate() {
        if image.broker(*broker).is_none() {
            return refuse(format!(
                "partition {partition} is assigned to broker {broker}, which is not registered"
            ));
        }
        if replicas.iter().take(at).any(|before| before == broker) {
            return refuse(format!("partition {partition} is assigned twice to broker {broker}"));
        }
    }
    if replicas.len() != replication_factor {
        return refuse(format!(
            "partition {partition} is assigned to {} broker(s), others of its topic to \
             {replication_factor}",
            replicas.len()
        ));
    }
    Ok(())
}

/// Assigns log directories: of a broker's, the one that holds the fewest partitions. The broker
/// puts the log where the record says, so no request has to tell the controller later.
#[derive(Debug)]
pub(super) struct Directories<'a> {
    image: &'a Image,
    /// Partitions by directory, of the brokers that have several.
    loads: BTreeMap<i32, Vec<(Uuid, usize)>>,
}

impl<'a> Directories<'a> {
    pub(super) fn of(image: &'a Image) -> Directories<'a> {
        Directories { image, loads: BTreeMap::new() }
    }

    /// A directory for one more partition.
    fn assign(&mut self, broker: i32) -> Uuid {
        let Some(registered) = self.image.broker(broker) else { return Uuid::ZERO };
        let cordoned = registered.cordoned_log_dirs.as_deref().unwrap_or(&[]);
        let mut open: Vec<Uuid> = registered.log_dirs.clone();
        open.retain(|directory| !cordoned.contains(directory));
        match (open.as_slice(), registered.log_dirs.as_slice()) {
            ([only], _) | ([], [only]) => *only,
            (_, []) => Uuid::ZERO,
            (open, all) => {
                let candidates = if open.is_empty() { all } else { open };
                let image = self.image;
                let loads =
                    (self.loads.entry(broker)).or_insert_with(|| loads(image, broker, candidates));
                let least = loads.iter_mut().min_by_key(|(_, load)| *load);
                least.map_or(Uuid::ZERO, |(directory, load)| {
                    *load += 1;
                    *directory
                })
            }
        }
    }

    /// The record of a new partition. None where none of its replicas may lead.
    pub(super) fn new_partition(
        &mut self,
        topic_id: Uuid,
        partition_id: i32,
        replicas: Vec<i32>,
    ) -> Option<PartitionRecord> {
        let isr: Vec<i32> =
            replicas.iter().copied().filter(|id| self.image.is_active(*id)).collect();
        let leader = *isr.first()?;
        let directories = replicas.iter().map(|broker| self.assign(*broker)).collect();
        Some(PartitionRecord {
            partition_id,
            topic_id,
            replicas,
            isr,
            leader,
            leader_recovery_state: RECOVERED,
            leader_epoch: 0,
            partition_epoch: 0,
            directories,
            ..PartitionRecord::default()
        })
    }
}

fn loads(image: &Image, broker: i32, directories: &[Uuid]) -> Vec<(Uuid, usize)> {
    let mut loads: Vec<(Uuid, usize)> = directories.iter().map(|id| (*id, 0)).collect();
    for partition in image.topics().values().flat_map(|topic| topic.partitions.values()) {
        let directory = partition.directory_of(broker);
        if let Some((_, load)) = loads.iter_mut().find(|(id, _)| Some(*id) == directory) {
            *load += 1;
        }
    }
    loads
}
