//! A consumer group in which only classic members stay becomes a classic group (Kafka's
//! `GroupMetadataManager.convertToClassicGroup`).

use super::assignor::Partitions;
use super::group::ConsumerGroup;
use super::member::Member;
use crate::coordinator::Moment;
use crate::group::classic::migration::{Migrant, immigrated};
use bytes::Bytes;
use kraft::image::Image;
use protocol::coordinator::consumer_protocol::{Assignment, NamedPartitions, version};
use protocol::coordinator::group::{
    ClassicMemberValue, GroupId, GroupRecord, MemberId, MemberValue,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The records of the downgrade, once those members are gone and `joining`, if it is told, has
/// taken the place of one of them; None: the group stays what it is.
pub(super) fn downgrade(
    moment: &Moment<'_>,
    (id, group): (&GroupId, &ConsumerGroup),
    gone: &BTreeSet<MemberId>,
    joining: Option<(&MemberId, &MemberValue)>,
) -> Option<Vec<GroupRecord>> {
    let stays = group.members().iter().filter(|(id, _)| !gone.contains(*id));
    let stays = stays.map(|(id, member)| (id, &member.about)).chain(joining);
    let migrants: Vec<Migrant> = stays.map(migrant).collect::<Option<_>>()?;
    let config = &moment.config.values.coordinator;
    let max = usize::try_from(config.max_size).unwrap_or(usize::MAX);
    let may = config.consumer_migration_policy.allows_downgrade();
    if migrants.is_empty() || !may || max < migrants.len() {
        return None;
    }
    let heir_of = gone.first().filter(|_| joining.is_some());
    let holder = |member: &MemberId| {
        let replaced = heir_of.filter(|_| joining.is_some_and(|(it, _)| it == member));
        group.members().get(replaced.unwrap_or(member))
    };
    // Kafka writes its target here. But should the group be upgraded again before it joins, nobody
    // may be given what it has not given up.
    let assignment = |member: &MemberId, says: &Bytes| {
        let holds = holder(member).map(held).unwrap_or_default();
        assignment(&holds, says, moment.image)
    };
    let classic = immigrated((id, group.epoch()), moment, migrants, assignment)?;
    let mut records = group.tombstones(id);
    records.push(classic);
    Some(records)
}

/// None: it speaks the consumer protocol.
fn migrant((id, about): (&MemberId, &MemberValue)) -> Option<Migrant> {
    let metadata = about.classic.clone()?;
    let value = ClassicMemberValue {
        member_id: Arc::clone(id),
        group_instance_id: about.instance_id.clone(),
        client_id: Arc::clone(&about.client_id),
        client_host: Arc::clone(&about.client_host),
        rebalance_timeout_ms: about.rebalance_timeout_ms,
        session_timeout_ms: metadata.session_timeout_ms,
        subscription: Bytes::new(),
        assignment: Bytes::new(),
    };
    Some(Migrant { value, metadata })
}

/// Partitions in the words of the consumers' protocol, in the version that the member speaks.
pub(super) fn assignment(partitions: &Partitions, says: &[u8], image: &Image) -> Bytes {
    let named = partitions.iter().filter_map(|(topic, numbers)| {
        let topic = image.topic_name(*topic)?.as_str().into();
        Some(NamedPartitions { topic, partitions: numbers.clone() })
    });
    Assignment { version: version(says), partitions: named.collect(), user_data: None }.to_bytes()
}

/// Every partition that nobody else may be given.
fn held(member: &Member) -> Partitions {
    let mut held = Partitions::new();
    for (topic, partition) in member.holds() {
        held.entry(topic).or_default().push(partition);
    }
    held.values_mut().for_each(|numbers| numbers.sort_unstable());
    held
}

/// What a member has, without the epochs.
pub(super) fn partitions(member: &Member) -> Partitions {
    let topics = member.assigned.iter();
    topics.map(|(topic, of)| (*topic, of.keys().copied().collect())).collect()
}
