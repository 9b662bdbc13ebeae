//! Board: every partition with its owner, and every member with its load, while an assignor deals.

use super::spec::{Assignment, Partitions, Spec, Subscriber};
use protocol::coordinator::group::MemberId;
use protocol::ids::Uuid;

/// Members and topics go by their places in the spec's order.
#[derive(Debug)]
pub(super) struct Board<'a> {
    members: Vec<(&'a MemberId, &'a Subscriber<'a>)>,
    loads: Vec<usize>,
    topics: Vec<(Uuid, Vec<Option<usize>>)>,
}

impl<'a> Board<'a> {
    /// The topics that anybody wants; nobody owns anything.
    pub(super) fn new(spec: &'a Spec<'_>) -> Board<'a> {
        let is_wanted = |id| spec.members.values().any(|member| member.topics.contains(id));
        let topic = |(id, count): (&Uuid, &i32)| {
            (*id, vec![None; usize::try_from(*count).unwrap_or_default()])
        };
        Board {
            members: spec.members.iter().collect(),
            loads: vec![0; spec.members.len()],
            topics: spec.topics.iter().filter(|(id, _)| is_wanted(id)).map(topic).collect(),
        }
    }

    pub(super) fn members(&self) -> std::ops::Range<usize> {
        0..self.members.len()
    }

    pub(super) fn topics(&self) -> std::ops::Range<usize> {
        0..self.topics.len()
    }

    /// All partitions, owned or not.
    pub(super) fn count(&self) -> usize {
        self.topics.iter().map(|(_, owners)| owners.len()).sum()
    }

    pub(super) fn load(&self, member: usize) -> usize {
        self.loads.get(member).copied().unwrap_or_default()
    }

    /// The members that want a topic.
    pub(super) fn subscribers(&self, topic: usize) -> Vec<usize> {
        let Some((id, _)) = self.topics.get(topic) else { return Vec::new() };
        let wants = |(_, (_, member)): &(usize, &(_, &Subscriber<'_>))| member.topics.contains(id);
        self.members.iter().enumerate().filter(wants).map(|(member, _)| member).collect()
    }

    /// The owner of each partition of a topic.
    pub(super) fn owners(&self, topic: usize) -> &[Option<usize>] {
        self.topics.get(topic).map_or(&[], |(_, owners)| owners)
    }

    /// What a member had that it still may have: the topic is there and wanted, and nobody before
    /// it on the board had it too.
    pub(super) fn may_keep(&self, member: usize) -> Vec<(usize, usize)> {
        let Some((_, it)) = self.members.get(member) else { return Vec::new() };
        let wanted = it.target.iter().filter(|(id, _)| it.topics.contains(*id));
        let placed = wanted.filter_map(|(id, numbers)| {
            let topic = self.topics.binary_search_by_key(id, |(id, _)| *id).ok()?;
            Some(numbers.iter().filter_map(move |it| Some((topic, usize::try_from(*it).ok()?))))
        });
        placed.flatten().filter(|(topic, it)| self.owners(*topic).get(*it) == Some(&None)).collect()
    }

    /// The partitions that nobody owns, topic by topic.
    pub(super) fn free(&self) -> Vec<(usize, usize)> {
        let of_topic = |(topic, (_, owners)): (usize, &(Uuid, Vec<Option<usize>>))| {
            let free = owners.iter().enumerate().filter(|(_, owner)| owner.is_none());
            free.map(|(partition, _)| (topic, partition)).collect::<Vec<_>>()
        };
        self.topics.iter().enumerate().flat_map(of_topic).collect()
    }

    /// Makes `member` the owner, whoever was it before.
    pub(super) fn give(&mut self, topic: usize, partition: usize, member: usize) {
        let owner = self.topics.get_mut(topic).and_then(|(_, owners)| owners.get_mut(partition));
        let Some(owner) = owner else { return };
        let before = owner.replace(member);
        if let Some(load) = before.and_then(|before| self.loads.get_mut(before)) {
            *load -= 1;
        }
        if let Some(load) = self.loads.get_mut(member) {
            *load += 1;
        }
    }

    pub(super) fn into_assignment(self) -> Assignment {
        let mut dealt = vec![Partitions::new(); self.members.len()];
        for (id, owners) in self.topics {
            for (number, owner) in (0..).zip(owners) {
                if let Some(partitions) = owner.and_then(|owner| dealt.get_mut(owner)) {
                    partitions.entry(id).or_default().push(number);
                }
            }
        }
        self.members.into_iter().map(|(id, _)| MemberId::clone(id)).zip(dealt).collect()
    }
}
