//! The quorum of one voter on a simulated disk: what was promised is there after any crash.

use super::log::RollAt;
use super::open::{Settings, StartError};
use super::quorum::{Quorum, Started, Stopped};
use super::shared::SyncOn;
use super::types::ReplicaKey;
use super::{batch, snapshot as checkpoint};
use crate::env::{Env, os};
use crate::format::bootstrap;
use crate::record::{Record, TopicRecord};
use protocol::ids::Uuid;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use storage::disk::Disk;
use storage::disk::sim::{Fault, Operation, SimDisk};
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

const DIR: &str = "/data/__cluster_metadata-0";
const ME: ReplicaKey = ReplicaKey { id: 1, directory: Uuid([7; 16]) };

fn env(disk: &SimDisk) -> Env {
    Env { disk: Arc::new(disk.clone()), ..os::env() }
}

fn settings() -> Settings {
    Settings {
        dir: PathBuf::from(DIR),
        me: ME,
        node: crate::format::voter_node(&[]),
        static_voters: Vec::new(),
        roll_at: RollAt { segment_bytes: 1 << 20, segment_ms: i64::MAX },
        sync_on: SyncOn::Task,
    }
}

fn levels() -> Vec<Record> {
    bootstrap::records(&bootstrap::levels(33, &BTreeMap::new()))
}

fn formatted(seed: u64) -> SimDisk {
    let disk = SimDisk::new(seed);
    storage::disk::mkdir_all(&disk, Path::new(DIR)).unwrap();
    let voter = (ME, crate::format::voter_node(&[]));
    checkpoint::write_first(&disk, Path::new(DIR), voter, levels(), 5).unwrap();
    disk
}

fn topic(number: u32) -> Record {
    let mut id = [0xee; 16];
    id[..4].copy_from_slice(&number.to_be_bytes());
    TopicRecord { name: format!("t{number}"), topic_id: Uuid(id), ..TopicRecord::default() }.into()
}

fn batch_of(records: &[Record]) -> bytes::Bytes {
    let values: Vec<_> = records.iter().map(|record| record.to_value(33)).collect();
    batch::data(&values, 77).unwrap()
}

async fn start(disk: &SimDisk) -> Result<Started, StartError> {
    Quorum::start(&env(disk), &settings()).await
}

/// Starts, and appends what a new log begins with.
async fn up(disk: &SimDisk) -> Result<Quorum, String> {
    let Started { quorum, bootstrap } = start(disk).await.map_err(|error| error.to_string())?;
    if let Some(image) = bootstrap {
        append(&quorum, &image.to_records().collect::<Vec<_>>()).await?;
    }
    Ok(quorum)
}

async fn append(quorum: &Quorum, records: &[Record]) -> Result<i64, String> {
    let proposed = quorum.propose(batch_of(records)).await.map_err(|error| error.0)?;
    quorum.applied(proposed).await.map_err(|error| error.0)
}

fn topics(quorum: &Quorum) -> usize {
    quorum.image().borrow().topics().len()
}

#[tokio::test]
async fn what_is_appended_is_there_after_a_restart() {
    let disk = formatted(1);
    let quorum = up(&disk).await.unwrap();
    assert_eq!(quorum.image().borrow().metadata_version(), 33);
    let info = quorum.info();
    assert_eq!((info.leader_id, info.leader_epoch, info.voters.len()), (1, 1, 1));
    for number in 0..10 {
        let next = quorum.next_offset();
        assert_eq!(append(&quorum, &[topic(number)]).await, Ok(next));
    }
    quorum.shutdown().await;
    let Started { quorum, bootstrap } = start(&disk).await.unwrap();
    assert!(bootstrap.is_none());
    assert_eq!((topics(&quorum), quorum.info().leader_epoch), (10, 2));
    quorum.shutdown().await;
}

/// Runs until the power fails at some operation; gives how many topics were created for sure.
async fn work(disk: &SimDisk) -> u32 {
    let Ok(quorum) = up(disk).await else { return 0 };
    let mut answered = 0;
    for round in 0..6 {
        // Two decisions in flight, so that they may share a sync.
        let one = quorum.propose(batch_of(&[topic(2 * round)])).await;
        let two = quorum.propose(batch_of(&[topic(2 * round + 1)])).await;
        let (Ok(one), Ok(two)) = (one, two) else { break };
        if quorum.applied(one).await.is_err() || quorum.applied(two).await.is_err() {
            break;
        }
        answered = 2 * (round + 1);
        if round % 3 == 2 && snapshot(&quorum).await.is_err() {
            break;
        }
    }
    quorum.shutdown().await;
    answered
}

/// Its file is there a moment earlier. Who went on by that had nothing purged by it, and the next
/// snapshot left out.
#[tokio::test]
async fn a_snapshot_stands_when_raft_knows_of_it() {
    let disk = formatted(3);
    let quorum = up(&disk).await.unwrap();
    append(&quorum, &[topic(1)]).await.unwrap();
    let index = quorum.shared.log.lock().last().id.index;
    let (_, file) = quorum.shared.snapshots.lock().last().cloned().unwrap();
    quorum.shared.snapshots.lock().push((index, file));
    let mut stands = pin!(quorum.snapshot_stands(index));
    for _ in 0..100 {
        assert!(futures_util::poll!(&mut stands).is_pending());
        yield_now().await;
    }
    assert_eq!(quorum.begin_snapshot().await.unwrap(), index);
    stands.await.unwrap();
    quorum.shutdown().await;
}

async fn snapshot(quorum: &Quorum) -> Result<(), Stopped> {
    let last = quorum.begin_snapshot().await?;
    quorum.snapshot_stands(last).await?;
    quorum.clean(1, 0).await
}

#[tokio::test(start_paused = true)]
async fn an_answered_decision_survives_a_crash_at_any_point() {
    let whole = formatted(1);
    let before = whole.operations();
    let done = work(&whole).await;
    assert_eq!(done, 12);
    let operations = whole.operations() - before;
    assert!(operations > 30, "{operations}");
    for at in 0..operations {
        for seed in 0..2 {
            let disk = formatted(seed);
            disk.crash_at(disk.operations() + at);
            let answered = work(&disk).await;
            let after = disk.crash(seed + at);
            let quorum = up(&after).await.unwrap_or_else(|why| panic!("at {at}/{seed}: {why}"));
            let image = quorum.image().borrow().clone();
            for number in 0..answered {
                let name = format!("t{number}");
                assert!(image.topic(&name).is_some(), "{name} is lost at {at}/{seed}");
            }
            let next = quorum.next_offset();
            assert_eq!(append(&quorum, &[topic(1000)]).await, Ok(next), "at {at}/{seed}");
            quorum.shutdown().await;
        }
    }
}

/// Starts on segments that each decision ends.
async fn up_on_small_segments(disk: &SimDisk) -> Quorum {
    let roll_at = RollAt { segment_bytes: 1, segment_ms: i64::MAX };
    let settings = Settings { roll_at, ..settings() };
    let Started { quorum, bootstrap } = Quorum::start(&env(disk), &settings).await.unwrap();
    if let Some(image) = bootstrap {
        append(&quorum, &image.to_records().collect::<Vec<_>>()).await.unwrap();
    }
    quorum
}

/// No space, quota, too many open files of the process and of the machine.
const SHORTAGES: [i32; 4] = [28, 122, 24, 23];

/// Every such operation fails, until the disk is mended.
fn let_lack(disk: &SimDisk, operation: Operation, os_error: i32) {
    let fault = Fault { os_error, below: PathBuf::from(DIR), ..Fault::eio(operation) };
    (0..1000).for_each(|_| disk.fail(fault.clone()));
}

#[tokio::test(start_paused = true)]
async fn what_finds_no_room_waits_for_it_and_is_neither_lost_nor_done_twice() {
    for os_error in SHORTAGES {
        for operation in [Operation::Create, Operation::Write, Operation::SyncDir] {
            if operation == Operation::SyncDir && [28, 122].contains(&os_error) {
                continue; // A sync that was tried has failed.
            }
            let disk = formatted(1);
            let quorum = up_on_small_segments(&disk).await;
            append(&quorum, &[topic(0)]).await.unwrap();
            let_lack(&disk, operation, os_error);
            let two = [topic(1), topic(2)];
            let decisions = async {
                let both = tokio::join!(append(&quorum, &two[..1]), append(&quorum, &two[1..]));
                both.0.and(both.1)
            };
            let room = async {
                sleep(Duration::from_secs(60)).await;
                assert_eq!(topics(&quorum), 1, "{operation:?} {os_error}");
                disk.mend();
            };
            let (decided, ()) = tokio::join!(decisions, room);
            assert!(decided.is_ok(), "{operation:?} {os_error}: {decided:?}");
            let next = quorum.next_offset();
            quorum.shutdown().await;
            let again = up_on_small_segments(&disk.crash(7)).await;
            assert_eq!(topics(&again), 3, "{operation:?} {os_error}");
            assert!(next < again.next_offset());
            again.shutdown().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_that_finds_no_room_is_written_when_there_is_some() {
    for os_error in SHORTAGES {
        for operation in
            [Operation::Create, Operation::Write, Operation::Rename, Operation::SyncDir]
        {
            if operation == Operation::SyncDir && [28, 122].contains(&os_error) {
                continue; // A sync that was tried has failed.
            }
            let case = format!("{operation:?} {os_error}");
            let disk = formatted(1);
            let quorum = up(&disk).await.unwrap();
            append(&quorum, &[topic(0)]).await.unwrap();
            // Whether the vote is written is not asked here.
            sleep(Duration::from_secs(1)).await;
            let (end, tried) = (quorum.next_offset(), disk.count(operation));
            let_lack(&disk, operation, os_error);
            let room = async {
                sleep(Duration::from_secs(60)).await;
                assert!(quorum.sizes().snapshot_end < end, "{case}");
                assert!(tried + 30 < disk.count(operation), "{case}");
                disk.mend();
            };
            let (stands, ()) = tokio::join!(snapshot(&quorum), room);
            assert!(stands.is_ok(), "{case}");
            assert_eq!(quorum.sizes().snapshot_end, end, "{case}");
            append(&quorum, &[topic(1)]).await.unwrap();
            quorum.shutdown().await;
            let quorum = up(&disk.crash(7)).await.unwrap();
            assert_eq!(topics(&quorum), 2, "{case}");
            quorum.shutdown().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_that_waits_for_room_leaves_what_there_is_to_decisions() {
    let disk = formatted(1);
    let quorum = up(&disk).await.unwrap();
    append(&quorum, &(0..500).map(topic).collect::<Vec<_>>()).await.unwrap();
    let used = u64::MAX - disk.free_bytes(Path::new(DIR)).unwrap();
    // More than a decision takes, and less than the snapshot.
    disk.set_capacity(used + 4_000);
    let decide = async {
        sleep(Duration::from_secs(10)).await;
        let decided = timeout(Duration::from_secs(60), append(&quorum, &[topic(500)])).await;
        disk.set_capacity(u64::MAX);
        decided
    };
    let (stands, decided) = tokio::join!(snapshot(&quorum), decide);
    assert!(matches!(decided, Ok(Ok(_))), "{decided:?}");
    assert!(stands.is_ok());
    quorum.shutdown().await;
    let quorum = up(&disk).await.unwrap();
    assert_eq!(topics(&quorum), 501);
    quorum.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_quorum_that_waits_for_room_can_be_stopped() {
    let disk = formatted(1);
    let quorum = up(&disk).await.unwrap();
    append(&quorum, &[topic(0)]).await.unwrap();
    let_lack(&disk, Operation::Write, 28);
    let topics_asked = [topic(1)];
    let stop = async {
        sleep(Duration::from_secs(60)).await;
        quorum.shutdown().await;
    };
    let (decided, ()) = tokio::join!(append(&quorum, &topics_asked), stop);
    assert!(decided.is_err());
    disk.mend();
    let quorum = up(&disk).await.unwrap();
    assert_eq!(topics(&quorum), 1);
    quorum.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_sync_that_failed_for_want_of_room_is_not_asked_again() {
    let disk = formatted(1);
    let quorum = up(&disk).await.unwrap();
    let_lack(&disk, Operation::Sync, 28);
    assert!(append(&quorum, &[topic(0)]).await.is_err());
    disk.mend();
    assert!(append(&quorum, &[topic(1)]).await.is_err());
    quorum.shutdown().await;
}
