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
use std::sync::Arc;
use storage::disk::sim::SimDisk;

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

async fn snapshot(quorum: &Quorum) -> Result<(), Stopped> {
    let end = quorum.next_offset();
    quorum.begin_snapshot().await?;
    quorum.snapshot_stands(end).await?;
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
