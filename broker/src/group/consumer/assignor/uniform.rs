//! The uniform assignor: as many partitions for everybody as can be, and as few moves as that needs.
//!
//! Its promises are those of Kafka's `UniformAssignor`, racks aside, which that does not regard
//! either: where all members want the same topics, their counts differ by one at most; where they do
//! not, no single partition could go to another member and make the counts more even.

use super::board::Board;
use super::spec::{Assignment, Spec};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// How often all topics are gone through for a better balance. Each move makes the counts more
/// even, so it would end by itself; this is for groups that are made to take long.
const ROUNDS_MAX: usize = 64;

pub(super) fn assign(spec: &Spec<'_>) -> Assignment {
    let mut board = Board::new(spec);
    if spec.is_homogeneous() {
        deal_evenly(&mut board);
    } else {
        keep_all(&mut board);
        deal_to_the_least_loaded(&mut board);
        balance(&mut board);
    }
    board.into_assignment()
}

/// Everybody wants the same: each keeps what it has up to its share, and what is left fills up those
/// that have less.
fn deal_evenly(board: &mut Board<'_>) {
    let Some(share) = board.count().checked_div(board.members().len()) else { return };
    let mut more = board.count() % board.members().len();
    // The first members that could have one more than the share may.
    let mut has_room = |load: usize| {
        let takes_extra = load == share && 0 < more;
        more -= usize::from(takes_extra);
        load < share || takes_extra
    };
    for member in board.members() {
        for (topic, partition) in board.may_keep(member) {
            if !has_room(board.load(member)) {
                break;
            }
            board.give(topic, partition, member);
        }
    }
    let mut free = board.free().into_iter();
    for member in board.members() {
        while has_room(board.load(member)) {
            let Some((topic, partition)) = free.next() else { return };
            board.give(topic, partition, member);
        }
    }
}

fn keep_all(board: &mut Board<'_>) {
    for member in board.members() {
        for (topic, partition) in board.may_keep(member) {
            board.give(topic, partition, member);
        }
    }
}

/// What nobody has, the topics with the fewest subscribers first: they have the least choice.
fn deal_to_the_least_loaded(board: &mut Board<'_>) {
    let mut topics: Vec<_> = board.topics().map(|it| (board.subscribers(it), it)).collect();
    topics.sort_by_key(|(subscribers, topic)| (subscribers.len(), *topic));
    for (subscribers, topic) in topics {
        let owners = board.owners(topic).iter().enumerate();
        let free: Vec<_> = owners.filter(|(_, it)| it.is_none()).map(|(it, _)| it).collect();
        let mut by_load: BTreeSet<_> =
            subscribers.iter().map(|it| (board.load(*it), *it)).collect();
        for partition in free {
            let Some((load, member)) = by_load.pop_first() else { break };
            board.give(topic, partition, member);
            by_load.insert((load + 1, member));
        }
    }
}

fn balance(board: &mut Board<'_>) {
    let topics: Vec<_> = board.topics().map(|it| (it, board.subscribers(it))).collect();
    for _ in 0..ROUNDS_MAX {
        let moves = topics.iter().map(|(topic, it)| balance_topic(board, *topic, it));
        if moves.sum::<usize>() == 0 {
            break;
        }
    }
}

/// From its most loaded owner to its least loaded subscriber, until no move is a gain. How many
/// moves that took.
fn balance_topic(board: &mut Board<'_>, topic: usize, subscribers: &[usize]) -> usize {
    let most = board.owners(topic).iter().flatten().map(|owner| board.load(*owner)).max();
    let least = subscribers.iter().map(|it| board.load(*it)).min();
    if most <= least.map(|least| least + 1) {
        return 0;
    }
    let mut owned = BTreeMap::<usize, Vec<usize>>::new();
    for (partition, owner) in board.owners(topic).iter().enumerate() {
        owner.iter().for_each(|owner| owned.entry(*owner).or_default().push(partition));
    }
    // Heaps keep what was true once; what is true now is put in beside it.
    let by_load = |member: &usize| (board.load(*member), *member);
    let mut takers: BinaryHeap<_> = subscribers.iter().map(|it| Reverse(by_load(it))).collect();
    let mut givers: BinaryHeap<_> = owned.keys().map(by_load).collect();
    let mut moves = 0;
    while let (Some(&(most, giver)), Some(&Reverse((least, taker)))) =
        (givers.peek(), takers.peek())
    {
        if most != board.load(giver) {
            givers.pop();
        } else if least != board.load(taker) {
            takers.pop();
        } else if most <= least + 1 {
            break;
        } else if let Some(partition) = owned.get_mut(&giver).and_then(Vec::pop) {
            board.give(topic, partition, taker);
            owned.entry(taker).or_default().push(partition);
            moves += 1;
            for (load, member) in [(most - 1, giver), (least + 1, taker)] {
                givers.push((load, member));
                takers.push(Reverse((load, member)));
            }
        } else {
            // It has given all it had of this topic.
            givers.pop();
        }
    }
    moves
}
