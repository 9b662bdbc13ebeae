//! Who leads a partition, and who may, when brokers come and go (KIP-966 among the rules).

use super::state::State;
use crate::image::{
    Broker, ConfigResource, Image, NO_LEADER, Partition, RECOVERED, RECOVERING, Topic,
};
use crate::record::{
    BrokerRegistrationChangeRecord, NO_LEADER_CHANGE, PartitionChangeRecord, Record,
};
use protocol::config::topic::TopicConfig;
use protocol::features::ELIGIBLE_LEADER_REPLICAS_VERSION;
use protocol::ids::Uuid;

/// What happened to one broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event<'a> {
    /// It must lead nothing, and is in sync with nothing, from now on.
    Left(i32),
    /// Its last incarnation ended without a clean stop: what it had acknowledged may be lost, so
    /// it is no eligible replica any more.
    CrashedBefore(i32),
    /// It may lead again.
    CameBack(i32),
    /// These of its directories failed.
    LostDirectories(i32, &'a [Uuid]),
}

impl Event<'_> {
    /// The broker that leaves the partition's ISR.
    fn leaver(self, partition: &Partition) -> Option<i32> {
        match self {
            Event::Left(broker) | Event::CrashedBefore(broker) => Some(broker),
            Event::CameBack(_) => None,
            Event::LostDirectories(broker, lost) => partition
                .directory_of(broker)
                .filter(|directory| lost.contains(directory))
                .map(|_| broker),
        }
    }
}

/// The changes of every partition that the event touches.
pub(super) fn changes(image: &Image, state: &State, event: Event<'_>) -> Vec<Record> {
    let mut records = Vec::new();
    for topic in image.topics().values() {
        let mut rules = None;
        for (number, partition) in topic.partitions.iter() {
            let touched = match event {
                Event::CameBack(_) => partition.leader == NO_LEADER,
                Event::CrashedBefore(broker) => {
                    partition.isr.contains(&broker)
                        || partition.eligible_leader_replicas.contains(&broker)
                }
                Event::Left(_) | Event::LostDirectories(..) => {
                    event.leaver(partition).is_some_and(|broker| partition.isr.contains(&broker))
                }
            };
            if touched {
                let rules = rules.get_or_insert_with(|| Rules::of(image, state, topic));
                records.extend(rules.change(event, topic.id, *number, partition).map(Record::from));
            }
        }
    }
    records
}

/// A broker lost its session, or asked to be fenced.
pub(super) fn fence(image: &Image, state: &State, broker: &Broker) -> Vec<Record> {
    let mut records = changes(image, state, Event::Left(broker.broker_id));
    records.push(registration_change(broker, 1, 0));
    records
}

/// A broker caught up: it leads what waited for it.
pub(super) fn unfence(image: &Image, state: &State, broker: &Broker) -> Vec<Record> {
    let mut records = vec![registration_change(broker, -1, 0)];
    records.extend(changes(image, state, Event::CameBack(broker.broker_id)));
    records
}

/// A broker asked to stop: others take over what it leads.
pub(super) fn begin_shutdown(image: &Image, state: &State, broker: &Broker) -> Vec<Record> {
    let mut records = vec![registration_change(broker, 0, 1)];
    records.extend(changes(image, state, Event::Left(broker.broker_id)));
    records
}

fn registration_change(broker: &Broker, fenced: i8, in_controlled_shutdown: i8) -> Record {
    Record::from(BrokerRegistrationChangeRecord {
        broker_id: broker.broker_id,
        broker_epoch: broker.broker_epoch,
        fenced,
        in_controlled_shutdown,
        ..BrokerRegistrationChangeRecord::default()
    })
}

/// What holds for all partitions of a topic.
struct Rules<'a> {
    image: &'a Image,
    min_insync_replicas: usize,
    allows_unclean: bool,
    has_eligible_replicas: bool,
}

/// A partition in the making.
struct Target {
    isr: Vec<i32>,
    eligible: Vec<i32>,
    last_known: Vec<i32>,
    /// The leader may lack something that was acknowledged.
    unclean: bool,
}

impl Rules<'_> {
    fn of<'a>(image: &'a Image, state: &State, topic: &Topic) -> Rules<'a> {
        let resource = ConfigResource::topic(topic.name.as_str());
        let overrides = image.config(&resource);
        let own = |name: &str| overrides?.get(name).map(String::as_str);
        let layers = state.layers(image);
        let config = TopicConfig::of(&own, &|name| layers.get(name)).unwrap_or_default();
        Rules {
            image,
            min_insync_replicas: usize::try_from(config.min_insync_replicas).unwrap_or(1),
            allows_unclean: config.unclean_leader_election_enable,
            has_eligible_replicas: 0 < image.feature(ELIGIBLE_LEADER_REPLICAS_VERSION.name),
        }
    }

    /// What becomes of one partition; None where nothing does.
    fn change(
        &self,
        event: Event<'_>,
        topic_id: Uuid,
        partition_id: i32,
        partition: &Partition,
    ) -> Option<PartitionChangeRecord> {
        let leaver = event.leaver(partition);
        let mut target = Target {
            isr: without(&partition.isr, leaver),
            eligible: partition.eligible_leader_replicas.to_vec(),
            last_known: partition.last_known_elr.to_vec(),
            unclean: false,
        };
        if self.has_eligible_replicas {
            self.update_eligible(partition, &mut target, event);
        }
        let may_lead = |broker: i32| {
            Some(broker) != leaver
                && (event == Event::CameBack(broker) || self.image.is_active(broker))
                && self.is_online(partition, broker)
        };
        let leader = self.elect(partition, &mut target, &may_lead);

        let mut change =
            PartitionChangeRecord { partition_id, topic_id, ..PartitionChangeRecord::default() };
        if leader != partition.leader {
            change.leader = leader;
            if target.unclean && partition.leader_recovery_state == RECOVERED {
                change.leader_recovery_state = RECOVERING;
            }
        }
        // Without eligible replicas the last in sync stays in the ISR, for it alone may lead.
        if target.isr != *partition.isr && (self.has_eligible_replicas || !target.isr.is_empty()) {
            change.isr = Some(target.isr.clone());
        }
        if self.has_eligible_replicas {
            remember_last_leader(partition, &change, &mut target);
            let changed = |new: Vec<i32>, old: &[i32]| (new != old).then_some(new);
            change.eligible_leader_replicas =
                changed(target.eligible, &partition.eligible_leader_replicas);
            change.last_known_elr = changed(target.last_known, &partition.last_known_elr);
        }
        let nothing =
            PartitionChangeRecord { partition_id, topic_id, ..PartitionChangeRecord::default() };
        (change != nothing).then_some(change)
    }

    /// While the ISR is below its minimum no acknowledgement is given, so whoever leaves it then
    /// still has all that was acknowledged, unless it crashed.
    fn update_eligible(&self, partition: &Partition, target: &mut Target, event: Event<'_>) {
        if self.min_insync_replicas.min(partition.replicas.len()) <= target.isr.len() {
            target.eligible.clear();
            return;
        }
        let crashed = |broker| event == Event::CrashedBefore(broker);
        target.eligible.extend(partition.isr.iter());
        target.eligible.sort_unstable();
        target.eligible.dedup();
        target.eligible.retain(|broker| !target.isr.contains(broker) && !crashed(*broker));
    }

    fn elect(
        &self,
        partition: &Partition,
        target: &mut Target,
        may_lead: &dyn Fn(i32) -> bool,
    ) -> i32 {
        let is_valid = |broker: i32| {
            let has_all = target.isr.contains(&broker)
                || (self.has_eligible_replicas && target.eligible.contains(&broker));
            has_all && may_lead(broker)
        };
        if is_valid(partition.leader) {
            return partition.leader;
        }
        if let Some(leader) = partition.replicas.iter().copied().find(|it| is_valid(*it)) {
            if !target.isr.contains(&leader) {
                target.isr = vec![leader];
                target.eligible.retain(|broker| *broker != leader);
            }
            return leader;
        }
        let Some(leader) = self.elect_uncleanly(partition, target, may_lead) else {
            return NO_LEADER;
        };
        target.unclean = true;
        target.isr = vec![leader];
        target.eligible.clear();
        leader
    }

    /// Who leads although records may be missing: where nobody else can, the last leader; where
    /// the topic asks for it, anybody.
    fn elect_uncleanly(
        &self,
        partition: &Partition,
        target: &Target,
        may_lead: &dyn Fn(i32) -> bool,
    ) -> Option<i32> {
        let is_last_resort =
            self.has_eligible_replicas && target.isr.is_empty() && target.eligible.is_empty();
        if let [last] = *partition.last_known_elr
            && is_last_resort
            && may_lead(last)
        {
            return Some(last);
        }
        let anybody = partition.replicas.iter().copied().filter(|_| self.allows_unclean);
        anybody.into_iter().find(|broker| may_lead(*broker))
    }

    /// Whether the directory that holds a broker's replica is one of those it has.
    fn is_online(&self, partition: &Partition, broker: i32) -> bool {
        let (Some(directory), Some(registered)) =
            (partition.directory_of(broker), self.image.broker(broker))
        else {
            return false;
        };
        // Unassigned and migrating are for the broker to settle; lost is lost.
        directory == Uuid::ZERO
            || directory == Uuid::MIGRATING
            || registered.log_dirs.contains(&directory)
            || (registered.log_dirs.is_empty() && directory != LOST)
    }
}

/// A partition that loses its last in-sync replica remembers who led it; one that has a
/// leader has nothing to remember.
fn remember_last_leader(
    partition: &Partition,
    change: &PartitionChangeRecord,
    target: &mut Target,
) {
    let leader = partition.leader;
    if change.isr.as_ref().is_some_and(Vec::is_empty) {
        if *partition.last_known_elr != [leader] {
            target.last_known = vec![leader];
        }
    } else if 0 <= change.leader || (leader != NO_LEADER && change.leader == NO_LEADER_CHANGE) {
        target.last_known.clear();
    }
}

/// In place of a directory's id: the log is in one that failed.
const LOST: Uuid = Uuid::METADATA_TOPIC;

fn without(list: &[i32], leaver: Option<i32>) -> Vec<i32> {
    list.iter().copied().filter(|broker| Some(*broker) != leaver).collect()
}
