//! The broker is killed in the middle of commits and rebalances, and comes back.

use super::{Group, LIMIT, QUICK};
use compat_tests::admin::{await_coordinator, commit, committed, create_topic};
use compat_tests::broker::Broker;
use compat_tests::clients::Client;
use compat_tests::member::Mode;
use compat_tests::ownership::readings;
use compat_tests::process::until;
use compat_tests::wire::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread::{JoinHandle, spawn};
use tempfile::TempDir;

const GROUPS: usize = 8;
const PARTITIONS: usize = 4;

/// Commits ever higher offsets of its own partition, one after the other.
struct Committer {
    group: String,
    partition: i32,
    /// The last offset that it sent, and the last that was acknowledged.
    sent: AtomicI64,
    acknowledged: AtomicI64,
    ended: AtomicBool,
}

impl Committer {
    fn run(&self, port: u16) {
        let is_over = || self.ended.load(Ordering::SeqCst);
        // None: there is nothing left to commit.
        let connect = || match Connection::open(port) {
            Ok(connection) => Some(Some(connection)),
            Err(_) => is_over().then_some(None),
        };
        while !is_over()
            && let Some(mut connection) = until("a broker to commit to", LIMIT, connect)
        {
            while !is_over() && self.once(&mut connection) {}
        }
    }

    fn once(&self, connection: &mut Connection) -> bool {
        let offset = self.sent.fetch_add(1, Ordering::SeqCst) + 1;
        let kept = commit(connection, &self.group, "one", self.partition, offset).is_ok();
        if kept {
            self.acknowledged.store(offset, Ordering::SeqCst);
        }
        kept
    }
}

fn committers(port: u16) -> Vec<(Arc<Committer>, JoinHandle<()>)> {
    let each = |number: usize| {
        let committer = Arc::new(Committer {
            group: format!("group-{}", number % GROUPS),
            partition: i32::try_from(number / GROUPS).unwrap(),
            sent: AtomicI64::new(0),
            acknowledged: AtomicI64::new(0),
            ended: AtomicBool::new(false),
        });
        let own = committer.clone();
        (committer, spawn(move || own.run(port)))
    };
    (0..GROUPS * PARTITIONS).map(each).collect()
}

#[test]
fn a_commit_that_was_acknowledged_survives_a_kill() {
    let dir = TempDir::new().unwrap();
    let mut broker = Broker::start(dir.path(), "");
    create_topic(broker.port, "one", PARTITIONS);
    await_coordinator(broker.port, "group-0");
    let committers = committers(broker.port);
    for round in 1..=3 {
        let before: Vec<i64> =
            committers.iter().map(|(it, _)| it.acknowledged.load(Ordering::SeqCst)).collect();
        until("commits go on", LIMIT, || {
            let mut pairs = committers.iter().zip(&before);
            let all =
                pairs.all(|((it, _), before)| before + 20 < it.acknowledged.load(Ordering::SeqCst));
            all.then_some(())
        });
        broker.kill();
        let acknowledged: Vec<i64> =
            committers.iter().map(|(it, _)| it.acknowledged.load(Ordering::SeqCst)).collect();
        broker.start_again();
        for ((it, _), acknowledged) in committers.iter().zip(acknowledged) {
            let key = ("one".to_owned(), it.partition);
            let found = committed(broker.port, &it.group).get(&key).copied().unwrap_or_default();
            // Others may have been kept besides: commits that were on their way, or came since.
            let sent = it.sent.load(Ordering::SeqCst);
            assert!(
                (acknowledged..=sent).contains(&found),
                "round {round}: {} {} has {found}, of {acknowledged} acknowledged and {sent} sent",
                it.group,
                it.partition
            );
        }
    }
    for (committer, thread) in committers {
        committer.ended.store(true, Ordering::SeqCst);
        thread.join().unwrap();
    }
}

/// The broker is killed twice while the members read; they go on where their commits were.
#[track_caller]
fn go_on(name: &str, members: &[(Client, Mode)]) {
    let dir = TempDir::new().unwrap();
    let mut broker = Broker::start(dir.path(), QUICK);
    let mut group = Group::new(broker.port, name, 6);
    for &(client, mode) in members {
        group.join(client, mode);
    }
    group.settle();
    for _ in 0..2 {
        group.send(200);
        until("some is read", LIMIT, || (!readings(&group.story()).is_empty()).then_some(()));
        broker.kill();
        broker.start_again();
        group.send(50);
        group.catch_up();
    }
    group.settle();
    group.check();
    while !group.members.is_empty() {
        group.leave(0);
    }
    group.check();
}

#[test]
fn a_classic_group_goes_on_after_a_kill() {
    let java = (Client::Java, Mode::Eager);
    let all = [java, (Client::ConfluentPython, Mode::Eager), (Client::FranzGo, Mode::Eager)];
    go_on("classic", &all);
}

#[test]
fn a_consumer_group_goes_on_after_a_kill() {
    let (java, python) =
        ((Client::Java, Mode::Consumer), (Client::ConfluentPython, Mode::Consumer));
    go_on("consumer", &[java, python, java]);
}
