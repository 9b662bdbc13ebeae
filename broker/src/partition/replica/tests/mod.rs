//! What a partition tells those who wait for it, on a disk in memory.

mod meanwhile;

use super::*;
use crate::partition::dir::Syncs;
use crate::partition::leader::ACKS_LEADER;
use crate::partition::waiters::Wakeup;
use bytes::Bytes;
use protocol::records::builder::BatchBuilder;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Waker};
use storage::disk::Disk;
use storage::disk::sim::SimDisk;
use storage::last_stop::LastStop;
use storage::log::{AppendContext, Open, Origin};
use storage::log_dir::{Claim, MetaProperties};

const NODE: i32 = 1;

pub(in crate::partition) fn partition(rules: Rules) -> Arc<Partition> {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::default());
    let dir = dir(&disk);
    let log = Log::open(opening(&disk, &dir, "t")).unwrap().0;
    leading(dir, "t", Uuid([2; 16]), log, rules)
}

pub(in crate::partition) fn dir(disk: &Arc<dyn Disk>) -> Arc<Dir> {
    let claim = Claim::take(Arc::clone(disk), Path::new("/data")).unwrap();
    let log_dir = claim.format(MetaProperties::new("cluster", NODE, Uuid([1; 16]))).unwrap();
    Arc::new(Dir::new(Arc::new(log_dir), LastStop::Clean, 0))
}

/// How the log of a topic's partition is opened in `dir`.
pub(in crate::partition) fn opening(disk: &Arc<dyn Disk>, dir: &Dir, topic: &str) -> Open {
    let path = dir.log_dir().unwrap().partition_path(&TopicPartition::new(topic, 0));
    Open::new(Arc::clone(disk), path, Arc::default(), 0)
}

pub(in crate::partition) fn leading(
    dir: Arc<Dir>,
    topic: &str,
    id: Uuid,
    log: Log,
    rules: Rules,
) -> Arc<Partition> {
    let at = TopicPartition::new(topic, 0);
    let partition = Arc::new(Partition::new(at, id, dir, Arc::new(log)));
    partition.lead(term(), rules);
    partition
}

fn term() -> Term {
    Term { epoch: 0, replicas: [NODE].into(), isr: [NODE].into() }
}

fn batch() -> Bytes {
    BatchBuilder::new(0).key_value(0, b"k", b"v").build().unwrap()
}

pub(in crate::partition) fn rules(durable: bool) -> Rules {
    Rules { min_insync_replicas: 1, durable }
}

fn is_woken(wakeup: &Wakeup) -> bool {
    let mut woken = pin!(wakeup.woken());
    woken.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

#[test]
fn bytes_are_counted_whoever_raises_the_watermark_past_them() {
    let partition = partition(rules(false));
    let size = batch().len() as u64;
    let fetch = Wakeup::for_bytes();
    partition.await_bytes(&fetch);
    fetch.arm();
    assert!(fetch.lack(i64::try_from(2 * size).unwrap()));
    // One append is overtaken by another before it can tell that the log has grown.
    let context = AppendContext { leader_epoch: 0, now_ms: 0, origin: Origin::Client };
    let overtaken = partition.log().append(batch(), &context).unwrap();
    partition.append(batch(), ACKS_LEADER, 0).unwrap();
    assert!(!is_woken(&fetch));
    partition.moved(size, overtaken.last_offset + 1);
    assert!(is_woken(&fetch), "both are there");
}

#[test]
fn what_is_gone_leads_no_more_and_owes_nothing() {
    let partition = partition(rules(true));
    partition.append(batch(), ACKS_LEADER, 0).unwrap();
    partition.retire();
    partition.lead(term(), rules(true));
    partition.leave();
    partition.resign();
    assert!(partition.is_gone());
    assert_eq!(partition.leader_epoch(-1), Err(ErrorCode::NotLeaderOrFollower));
    // An append that had begun before.
    partition.moved(100, 2);
    assert_eq!(partition.behind_bytes(), 0);
    assert!(partition.sync() && partition.dir.failure().is_none());
}

#[test]
fn who_leaves_does_not_lead_again() {
    let partition = partition(rules(false));
    partition.leave();
    partition.lead(term(), rules(false));
    assert_eq!(partition.leader_epoch(-1), Err(ErrorCode::NotLeaderOrFollower));
    assert!(!partition.is_gone());
}

fn durable() -> Arc<LogConfig> {
    Arc::new(LogConfig { flush_messages: 1, ..LogConfig::default() })
}

#[test]
fn what_came_before_the_durable_mode_is_synced_and_then_seen() {
    let partition = partition(rules(false));
    partition.append(batch(), ACKS_LEADER, 0).unwrap();
    partition.configure(durable(), rules(true));
    let fetch = Wakeup::for_bytes();
    partition.await_bytes(&fetch);
    fetch.arm();
    assert_eq!(partition.log().readable_end(), 0);
    assert!(fetch.lack(1) && !is_woken(&fetch));
    let asked = partition.dir.take_urgent();
    assert_eq!(asked.len(), 1);
    assert!(asked.iter().all(|log| log.sync()));
    assert!(is_woken(&fetch), "readers may go on");
    assert_eq!(partition.log().readable_end(), 1);
}

#[test]
fn what_the_log_held_back_while_the_durable_mode_began_is_seen_once_it_is_synced() {
    let partition = partition(rules(false));
    // An append is reported when the log knows of the mode and the leader does not.
    partition.log().update_config(durable());
    partition.append(batch(), ACKS_LEADER, 0).unwrap();
    assert_eq!(partition.log().high_watermark(), 0);
    partition.configure(durable(), rules(true));
    let asked = partition.dir.take_urgent();
    assert!(!asked.is_empty() && asked.iter().all(|log| log.sync()));
    assert_eq!(partition.log().high_watermark(), 1);
}
