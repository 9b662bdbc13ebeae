//! What must hold of a group by what its members say: one owner a partition, nothing skipped,
//! nothing read again that was committed.

use crate::member::{Event, Said, Story};
use std::collections::{BTreeMap, BTreeSet};

/// A time in which a member held a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Held {
    partition: i32,
    from: u64,
    to: u64,
    by: String,
}

/// Whether the shares are all of `0..partitions`, disjoint, and differ by one at most.
pub fn is_fair(shares: &[BTreeSet<i32>], partitions: usize) -> bool {
    let all: BTreeSet<i32> = shares.iter().flatten().copied().collect();
    let sizes: Vec<usize> = shares.iter().map(BTreeSet::len).collect();
    let apart = sizes.iter().max() <= sizes.iter().min().map(|min| min + 1).as_ref();
    all.len() == partitions && sizes.iter().sum::<usize>() == partitions && apart
}

/// Two members that held a partition at the same moment. A member that crashed held what it had
/// until its last word; one that was told late that it lost a partition, until its last commit.
pub fn overlaps(story: &Story) -> Vec<String> {
    let mut held: Vec<Held> = story.iter().flat_map(|(name, said)| times(name, said)).collect();
    held.sort_by_key(|it| (it.partition, it.from, it.to));
    let clash = |pair: &[Held]| match pair {
        [one, two] if one.partition == two.partition && one.by != two.by && two.from < one.to => {
            Some(format!("{one:?} and {two:?}"))
        }
        _ => None,
    };
    held.windows(2).filter_map(clash).collect()
}

fn times(name: &str, said: &[Said]) -> Vec<Held> {
    let mut since: BTreeMap<i32, (u64, u64)> = BTreeMap::new();
    let mut found = Vec::new();
    let mut end = |partition: i32, (from, to): (u64, u64)| {
        found.push(Held { partition, from, to, by: name.to_owned() });
    };
    for Said { at, event } in said {
        match event {
            Event::Own(more) => more.iter().for_each(|&it| {
                since.entry(it).or_insert((*at, *at));
            }),
            Event::Give(less) => {
                for it in less {
                    since.remove(it).into_iter().for_each(|(from, _)| end(*it, (from, *at)));
                }
            }
            Event::Lost(less) => {
                for it in less {
                    since.remove(it).into_iter().for_each(|held| end(*it, held));
                }
            }
            Event::Kept(partition, _) => {
                since.entry(*partition).and_modify(|(_, last)| *last = *at);
            }
            Event::Join | Event::Epoch(_) | Event::Got(..) | Event::Refused | Event::Closed => {}
        }
    }
    let last = said.last().map_or(0, |it| it.at);
    since.into_iter().for_each(|(partition, (from, _))| end(partition, (from, last)));
    found
}

/// What was read, of one partition: times of each offset, and what was wrong on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// How often each offset was read.
    pub times: BTreeMap<i64, usize>,
    /// Reads of what had been committed before, and commits that went back.
    pub wrong: Vec<String>,
}

/// What all members read, by partition.
pub fn readings(story: &Story) -> BTreeMap<i32, Reading> {
    let mut all: Vec<(&Said, &str)> = Vec::new();
    for (name, said) in story {
        all.extend(said.iter().map(|it| (it, name.as_str())));
    }
    // Stable: the events of one member stay in their order.
    all.sort_by_key(|(said, _)| said.at);
    let mut found: BTreeMap<i32, Reading> = BTreeMap::new();
    let mut kept: BTreeMap<i32, (i64, u64)> = BTreeMap::new();
    for (Said { at, event }, name) in all {
        match event {
            Event::Got(partition, from, to) => {
                let reading = found.entry(*partition).or_default();
                let (below, when) = kept.get(partition).copied().unwrap_or_default();
                if *from < below && when < *at {
                    let text = format!(
                        "{name} read {partition}@{from} at {at}, {below} was committed at {when}"
                    );
                    reading.wrong.push(text);
                }
                (*from..*to).for_each(|it| *reading.times.entry(it).or_default() += 1);
            }
            Event::Kept(partition, offset) => {
                let last = kept.entry(*partition).or_default();
                if *offset < last.0 {
                    let text = format!("{name} committed {partition}@{offset} after {last:?}");
                    found.entry(*partition).or_default().wrong.push(text);
                }
                *last = (*offset, *at);
            }
            Event::Join
            | Event::Epoch(_)
            | Event::Own(_)
            | Event::Give(_)
            | Event::Lost(_)
            | Event::Refused
            | Event::Closed => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &[(u64, Event)]) -> Vec<Said> {
        text.iter().map(|(at, event)| Said { at: *at, event: event.clone() }).collect()
    }

    fn own(it: i32) -> Event {
        Event::Own(BTreeSet::from([it]))
    }

    fn give(it: i32) -> Event {
        Event::Give(BTreeSet::from([it]))
    }

    #[test]
    fn a_partition_that_two_hold_at_once_is_found() {
        let a = said(&[(1, own(0)), (5, give(0))]);
        let check = |b: Vec<Said>, want: usize| {
            let story = Story::from([("a".to_owned(), a.clone()), ("b".to_owned(), b)]);
            assert_eq!(overlaps(&story).len(), want, "{:?}", overlaps(&story));
        };
        check(said(&[(5, own(0)), (9, give(0))]), 0);
        check(said(&[(4, own(0)), (9, give(0))]), 1);
        check(said(&[(2, own(1)), (3, give(1))]), 0);
    }

    #[test]
    fn what_was_lost_counts_until_the_last_commit() {
        let lost = Event::Lost(BTreeSet::from([0]));
        let a = said(&[(1, own(0)), (3, Event::Kept(0, 7)), (9, lost)]);
        let check = |from: u64, want: usize| {
            let b = said(&[(from, own(0)), (20, give(0))]);
            let story = Story::from([("a".to_owned(), a.clone()), ("b".to_owned(), b)]);
            assert_eq!(overlaps(&story).len(), want);
        };
        check(4, 0);
        check(2, 1);
    }

    #[test]
    fn what_is_read_again_after_its_commit_is_found() {
        let a = said(&[(1, Event::Got(0, 0, 5)), (2, Event::Kept(0, 5)), (3, Event::Got(0, 4, 6))]);
        let readings = readings(&Story::from([("a".to_owned(), a)]));
        assert_eq!(readings[&0].wrong.len(), 1);
        assert_eq!(readings[&0].times[&4], 2);
    }
}
