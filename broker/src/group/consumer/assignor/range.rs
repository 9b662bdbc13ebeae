//! The range assignor: a run of partitions of each topic, in an order of the members that topics
//! share. Topics with as many partitions and the same subscribers are so co-partitioned: who has
//! number 3 of the one has number 3 of the other.
//!
//! As Kafka's `RangeAssignor` of the group coordinator: static members come first, by instance id,
//! which holds their runs in place while they restart; the others follow by member id. What members
//! had before does not count.

use super::spec::{Assignment, Partitions, Spec, Subscriber};
use protocol::coordinator::group::MemberId;
use protocol::ids::Uuid;
use std::collections::BTreeMap;

/// One topic while it is dealt out.
#[derive(Debug, Default)]
struct Run {
    subscribers: i32,
    /// The first partition that nobody has yet.
    next: i32,
    /// Members that were served.
    served: i32,
}

pub(super) fn assign(spec: &Spec<'_>) -> Assignment {
    let mut runs = BTreeMap::<Uuid, Run>::new();
    for topic in spec.members.values().flat_map(|member| member.topics.iter()) {
        runs.entry(*topic).or_default().subscribers += 1;
    }
    let mut members: Vec<(&MemberId, &Subscriber<'_>)> = spec.members.iter().collect();
    members.sort_by_key(|(id, member)| (member.instance_id.is_none(), member.instance_id, *id));
    let deal = |(id, member): (&MemberId, &Subscriber<'_>)| {
        let mut partitions = Partitions::new();
        for topic in member.topics.iter() {
            if let (Some(count), Some(run)) = (spec.topics.get(topic), runs.get_mut(topic)) {
                let run = run.take(*count);
                if !run.is_empty() {
                    partitions.insert(*topic, run.collect());
                }
            }
        }
        (MemberId::clone(id), partitions)
    };
    members.into_iter().map(deal).collect()
}

impl Run {
    /// The next member's: an equal share, and one more for each of the first few.
    fn take(&mut self, count: i32) -> std::ops::Range<i32> {
        let (share, more) = (count / self.subscribers, count % self.subscribers);
        let len = share + i32::from(self.served < more);
        let run = self.next..self.next + len;
        self.served += 1;
        self.next = run.end;
        run
    }
}
