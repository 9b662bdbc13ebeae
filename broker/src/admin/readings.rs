//! Means over the last minute, from readings that are kept whoever looks.

use crate::api::Ctx;
use kraft::node::Commits;
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use tokio::runtime::Handle;

/// Readings lie so far apart, and are kept until they are older than the minute.
pub(super) const STEP: Duration = Duration::from_secs(5);
const SPAN: Duration = Duration::from_secs(60);

/// Counters at a moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    at: Duration,
    /// All that the worker threads have worked.
    busy: Duration,
    commits: Commits,
    /// Opened and closed, by listener.
    connections: BTreeMap<String, (u64, u64)>,
}

/// The readings of the last minute.
#[derive(Debug, Default)]
pub(super) struct Readings(Mutex<VecDeque<Reading>>);

/// What a pair of readings makes.
#[derive(Clone, Debug)]
pub(super) struct Means {
    /// Share of the time that the worker threads had nothing to do, 0 to 1.
    pub(super) idle: f64,
    /// Milliseconds that a commit of metadata took; 0 where there was none.
    pub(super) commit_ms: f64,
    pub(super) metadata_records_per_second: f64,
    /// By listener.
    pub(super) connections: BTreeMap<String, Rates>,
}

/// Connections a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rates {
    pub(super) opened: f64,
    pub(super) closed: f64,
}

impl Reading {
    /// On a worker thread: they are the ones that are read.
    pub(super) fn of(now: Duration, ctx: &Ctx) -> Reading {
        let runtime = Handle::current().metrics();
        let workers = 0..runtime.num_workers();
        let commits = ctx.controller.as_ref().map(|node| node.commits()).unwrap_or_default();
        let connections = ctx.metrics.connections.all().into_iter();
        let connections = connections.map(|(name, it)| (name, (it.opened.get(), it.closed.get())));
        Reading {
            at: now,
            busy: workers.map(|worker| runtime.worker_total_busy_duration(worker)).sum(),
            commits,
            connections: connections.collect(),
        }
    }
}

impl Readings {
    /// Over the last minute, or as much of it as is known.
    pub(super) fn means(&self, now: Duration, ctx: &Ctx) -> Means {
        let (first, last) = (self.before(now), Reading::of(now, ctx));
        means(
            &first.unwrap_or_else(|| last.clone()),
            &last,
            Handle::current().metrics().num_workers(),
        )
    }

    /// Keeps one, and forgets what is older than a minute needs.
    pub(super) fn keep(&self, reading: Reading) {
        let mut readings = self.0.lock();
        while readings.get(1).is_some_and(|second| SPAN <= reading.at.saturating_sub(second.at)) {
            readings.pop_front();
        }
        readings.push_back(reading);
    }

    /// The newest that is a minute old, else the oldest.
    fn before(&self, now: Duration) -> Option<Reading> {
        let readings = self.0.lock();
        let is_old = |reading: &&Reading| SPAN <= now.saturating_sub(reading.at);
        readings.iter().rev().find(is_old).or(readings.front()).cloned()
    }
}

fn means(first: &Reading, last: &Reading, workers: usize) -> Means {
    let passed = last.at.saturating_sub(first.at).as_secs_f64();
    let workers = f64::from(u32::try_from(workers).unwrap_or(1));
    let busy = last.busy.saturating_sub(first.busy).as_secs_f64();
    let commits = last.commits.since(first.commits);
    let per = |sum: f64, count: f64| if 0.0 < count { sum / count } else { 0.0 };
    let count = |count: u64| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let connections = last.connections.iter().map(|(listener, (opened, closed))| {
        let before = first.connections.get(listener).copied().unwrap_or_default();
        let rate = |now: u64, before: u64| per(count(now.saturating_sub(before)), passed);
        let rates = Rates { opened: rate(*opened, before.0), closed: rate(*closed, before.1) };
        (listener.clone(), rates)
    });
    Means {
        idle: (1.0 - per(busy, passed * workers)).clamp(0.0, 1.0),
        commit_ms: per(commits.took.as_secs_f64() * 1000.0, count(commits.decisions)),
        metadata_records_per_second: per(count(commits.records), passed),
        connections: connections.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(at: u64, busy: u64) -> Reading {
        let seconds = Duration::from_secs;
        let commits = Commits { decisions: at, records: at * 2, took: seconds(at) };
        let connections = BTreeMap::from([("PLAINTEXT".to_owned(), (at * 3, at))]);
        Reading { at: seconds(at), busy: seconds(busy), commits, connections }
    }

    #[test]
    fn means_are_of_the_last_minute_whoever_looks_and_however_late() {
        let readings = Readings::default();
        assert!(readings.before(Duration::from_secs(7)).is_none());
        let first = |now| readings.before(Duration::from_secs(now)).unwrap().at.as_secs();
        readings.keep(reading(10, 0));
        assert_eq!((first(10), first(12)), (10, 10));
        // Nobody has looked before, or many have.
        for (now, looks) in (15..=1000).step_by(5).zip([0, 0, 3].into_iter().cycle()) {
            readings.keep(reading(now, 0));
            for look in 0..looks {
                let first = first(now + look);
                assert!(now < 70 && first == 10 || first + 60 <= now + look, "{now} {first}");
                assert!(now + look < first + 65 + 5, "{now} {first}");
            }
        }
        assert_eq!((first(1000), first(1004), first(1005)), (940, 940, 945));
        assert!(readings.0.lock().len() < 15);
    }

    #[test]
    fn idle_is_what_the_workers_did_not_work() {
        let means = means(&reading(10, 5), &reading(20, 10), 2);
        assert_eq!((means.idle, means.commit_ms), (0.75, 1000.0));
        assert_eq!(means.metadata_records_per_second, 2.0);
        assert_eq!(means.connections["PLAINTEXT"], Rates { opened: 3.0, closed: 1.0 });
        assert_eq!(super::means(&reading(1, 1), &reading(1, 1), 2).idle, 1.0);
    }
}
