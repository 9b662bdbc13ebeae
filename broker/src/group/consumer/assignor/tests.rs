//! Assignors: what they promise, on groups of any shape.

use super::*;
use proptest::prelude::*;
use protocol::coordinator::group::MemberId;
use protocol::ids::Uuid;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Partitions by topic, and the topics that each member wants, by their places.
type Group = (Vec<i32>, Vec<Vec<usize>>);

const ASSIGNORS: [Assignor; 2] = [Assignor::Uniform, Assignor::Range];

fn topic(place: usize) -> Uuid {
    Uuid(u128::try_from(place + 100).unwrap().to_be_bytes())
}

fn member(place: usize) -> MemberId {
    format!("member-{place:04}").into()
}

fn assign(assignor: Assignor, (counts, wants): &Group, before: &Assignment) -> Assignment {
    let nothing = Partitions::new();
    let subscriber = |(place, topics): (usize, &Vec<usize>)| {
        let topics = Arc::new(topics.iter().map(|it| topic(*it)).collect());
        let target = before.get(&member(place)).unwrap_or(&nothing);
        (member(place), Subscriber { instance_id: None, topics, target })
    };
    assignor.assign(&Spec {
        topics: counts.iter().enumerate().map(|(place, count)| (topic(place), *count)).collect(),
        members: wants.iter().enumerate().map(subscriber).collect(),
    })
}

fn count(partitions: &Partitions) -> usize {
    partitions.values().map(Vec::len).sum()
}

fn pairs(assignment: &Assignment) -> BTreeMap<(Uuid, i32), MemberId> {
    let each = |(member, partitions): (&MemberId, &Partitions)| {
        let member = member.clone();
        let numbers = partitions.iter().flat_map(|(id, them)| them.iter().map(|it| (*id, *it)));
        numbers.map(move |it| (it, member.clone())).collect::<Vec<_>>()
    };
    let all: Vec<_> = assignment.iter().flat_map(each).collect();
    let map: BTreeMap<_, _> = all.iter().cloned().collect();
    assert_eq!(all.len(), map.len(), "a partition has two owners: {assignment:?}");
    map
}

fn moves(before: &Assignment, after: &Assignment) -> usize {
    let before = pairs(before);
    pairs(after).iter().filter(|(it, owner)| before.get(it).is_some_and(|it| it != *owner)).count()
}

/// Counts, and who wants what: `alike` where all want the same.
fn groups(alike: bool) -> impl Strategy<Value = Group> {
    (prop::collection::vec(0..9_i32, 1..6)).prop_flat_map(move |counts| {
        let wants =
            prop::sample::subsequence((0..counts.len()).collect::<Vec<_>>(), 0..=counts.len());
        let members = if alike {
            (wants, 1..8_usize).prop_map(|(wants, members)| vec![wants; members]).boxed()
        } else {
            prop::collection::vec(wants, 1..8).boxed()
        };
        (Just(counts), members)
    })
}

fn counts_differ_by_one_at_most(assignment: &Assignment) {
    let counts: BTreeSet<_> = assignment.values().map(count).collect();
    assert!(counts.last().unwrap() - counts.first().unwrap() <= 1, "{assignment:?}");
}

proptest! {
    #[test]
    fn what_is_wanted_has_one_owner_and_one_that_wants_it(group in groups(false)) {
        for assignor in ASSIGNORS {
            let owners = pairs(&assign(assignor, &group, &Assignment::new()));
            for (place, partitions) in group.0.iter().enumerate() {
                let is_wanted = group.1.iter().any(|topics| topics.contains(&place));
                for number in 0..*partitions {
                    let owner = owners.get(&(topic(place), number));
                    prop_assert_eq!(owner.is_some(), is_wanted);
                    let wants = |owner: &MemberId| {
                        let wants = |it: &usize| *owner == member(*it) && group.1[*it].contains(&place);
                        (0..group.1.len()).any(|it| wants(&it))
                    };
                    prop_assert!(owner.is_none_or(wants));
                }
            }
        }
    }

    #[test]
    fn members_with_one_taste_have_counts_that_differ_by_one_at_most(
        (mut group, more, grown) in (groups(true), 1..8_usize, 0..9_i32)
    ) {
        let first = assign(Assignor::Uniform, &group, &Assignment::new());
        counts_differ_by_one_at_most(&first);
        group.0[0] += grown;
        group.1 = vec![group.1[0].clone(); more];
        counts_differ_by_one_at_most(&assign(Assignor::Uniform, &group, &first));
    }

    #[test]
    fn a_member_that_joins_is_given_its_share_and_nothing_else_moves(group in groups(true)) {
        let first = assign(Assignor::Uniform, &group, &Assignment::new());
        let mut grown = group;
        grown.1.push(grown.1[0].clone());
        let second = assign(Assignor::Uniform, &grown, &first);
        prop_assert_eq!(moves(&first, &second), count(&second[&member(grown.1.len() - 1)]));
    }

    #[test]
    fn a_member_that_leaves_moves_only_what_it_had(group in groups(true)) {
        prop_assume!(1 < group.1.len());
        let first = assign(Assignor::Uniform, &group, &Assignment::new());
        let mut shrunk = group;
        shrunk.1.pop();
        let second = assign(Assignor::Uniform, &shrunk, &first);
        prop_assert_eq!(moves(&first, &second), count(&first[&member(shrunk.1.len())]));
    }

    #[test]
    fn what_is_balanced_stays(group in groups(false)) {
        for assignor in ASSIGNORS {
            let first = assign(assignor, &group, &Assignment::new());
            prop_assert_eq!(assign(assignor, &group, &first), first);
        }
    }

    #[test]
    fn members_of_many_tastes_cannot_be_made_more_even_by_one_move(
        (group, other) in groups(false).prop_flat_map(|it| (Just(it), groups(false)))
    ) {
        // What they had comes from another group, so some of it is gone, not wanted, or too much.
        let before = assign(Assignor::Uniform, &other, &Assignment::new());
        let assignment = assign(Assignor::Uniform, &group, &before);
        for ((id, _), owner) in pairs(&assignment) {
            for (place, topics) in group.1.iter().enumerate() {
                let (mine, others) = (count(&assignment[&owner]), count(&assignment[&member(place)]));
                prop_assert!(!topics.iter().any(|it| topic(*it) == id) || mine <= others + 1);
            }
        }
    }

    #[test]
    fn topics_of_one_size_are_co_partitioned_by_range(members in 1..9_usize, size in 0..20_i32) {
        let group = (vec![size, size], vec![vec![0, 1]; members]);
        for partitions in assign(Assignor::Range, &group, &Assignment::new()).values() {
            prop_assert_eq!(partitions.get(&topic(0)), partitions.get(&topic(1)));
        }
    }
}

#[test]
fn range_deals_runs_and_the_first_get_one_more() {
    let dealt =
        assign(Assignor::Range, &(vec![5, 1], vec![vec![0, 1], vec![0]]), &Assignment::new());
    let want = [
        (member(0), Partitions::from([(topic(0), vec![0, 1, 2]), (topic(1), vec![0])])),
        (member(1), Partitions::from([(topic(0), vec![3, 4])])),
    ];
    assert_eq!(dealt, Assignment::from(want));
}

#[test]
fn range_serves_static_members_first_by_their_instances() {
    let nothing = Partitions::new();
    let wants = Arc::new(BTreeSet::from([topic(0)]));
    let subscriber =
        |instance_id| Subscriber { instance_id, topics: Arc::clone(&wants), target: &nothing };
    let members = [("a", None), ("b", Some("2")), ("c", Some("1"))];
    let spec = Spec {
        topics: BTreeMap::from([(topic(0), 3)]),
        members: members.map(|(id, instance)| (id.into(), subscriber(instance))).into(),
    };
    let dealt = Assignor::Range.assign(&spec);
    let order: Vec<_> = dealt.iter().map(|(id, it)| (&**id, it[&topic(0)][0])).collect();
    assert_eq!(order, [("a", 2), ("b", 1), ("c", 0)]);
}

#[test]
fn assignors_go_by_their_names() {
    assert_eq!(ASSIGNORS.map(|it| Assignor::named(it.name())), ASSIGNORS.map(Some));
    assert_eq!(Assignor::named("sticky"), None);
}
