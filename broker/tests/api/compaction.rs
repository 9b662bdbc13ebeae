//! Compaction as the broker does it: which log comes next, what is remembered of it, what stops it.

use crate::broker::{Broker, NOW_MS};
use crate::fetch::{append, of, said};
use protocol::records::builder::BatchBuilder;
use protocol::records::{batches, records};
use std::path::Path;
use std::sync::Arc;
use storage::checkpoint::{CLEANER, Offsets, RECOVERY_POINT, read_offsets, write_offsets};
use storage::disk::Disk;
use storage::disk::sim::{Fault, Operation};

const COMPACT: &[(&str, &str)] =
    &[("cleanup.policy", "compact"), ("internal.segment.bytes", "1000")];

/// That many batches of a record each, of three keys in turn, in segments of their own.
fn fill(broker: &Broker, topic: &str, count: u8) {
    for number in 0..count {
        let batch = BatchBuilder::new(0).key_value(NOW_MS, &[number % 3], &[number; 300]);
        append(broker, topic, 0, batch.build().unwrap());
    }
}

/// The offsets that a consumer is given.
fn offsets(broker: &Broker, topic: &str) -> Vec<i64> {
    let log = broker.partition(topic, 0);
    let (mut offset, end) = (log.log().log_start(), log.log().log_end());
    let mut offsets = Vec::new();
    while offset < end {
        let response = broker.ask_slowly(&of(topic, 0, offset), 12);
        let records_of = said(&response).records.clone().unwrap();
        for batch in batches(records_of).map_while(Result::ok) {
            let mut walk = records(&batch.bytes, 1 << 20).unwrap();
            while let Some(record) = walk.next() {
                offsets.push(record.unwrap().offset(&batch.header));
            }
            offset = batch.header.next_offset();
        }
    }
    offsets
}

fn checkpoint(broker: &Broker) -> Vec<(String, i64)> {
    let read: Offsets = read_offsets(&*broker.disk, &Path::new("/data").join(CLEANER)).unwrap();
    read.into_iter().map(|(at, offset)| (at.to_string(), offset)).collect()
}

#[test]
fn the_dirtiest_log_is_cleaned_and_how_far_is_remembered() {
    let mut broker = Broker::new();
    for (topic, config) in [("a", COMPACT), ("b", COMPACT), ("kept", &[])] {
        broker.create(topic, 1, config);
        fill(&broker, topic, 30);
    }
    assert!(broker.ctx.upkeep.clean_next());
    let first = checkpoint(&broker);
    assert!(broker.ctx.upkeep.clean_next());
    fill(&broker, "a", 30);
    fill(&broker, "b", 6);
    assert_eq!((first.len(), offsets(&broker, "kept").len()), (1, 30));
    let (a, b) = (offsets(&broker, "a").len(), offsets(&broker, "b").len());
    assert!(broker.ctx.upkeep.clean_next());
    assert!(offsets(&broker, "a").len() < a && offsets(&broker, "b").len() == b);
    while broker.ctx.upkeep.clean_next() {}
    let after = checkpoint(&broker);
    assert_eq!(after.iter().map(|(at, _)| at.as_str()).collect::<Vec<_>>(), ["a-0", "b-0"]);
    let found = ["a", "b"].map(|topic| offsets(&broker, topic));
    assert_eq!(found[0][found[0].len() - 3..], [57, 58, 59]);
    let disk = Arc::new(broker.disk.fork());
    let broker = broker.restart(disk);
    assert!(!broker.ctx.upkeep.clean_next(), "all is clean");
    assert_eq!(["a", "b"].map(|topic| offsets(&broker, topic)), found);
    assert_eq!(checkpoint(&broker), after);
}

#[test]
fn what_was_compacted_is_whole_after_a_crash_that_left_no_recovery_point() {
    let path = Path::new("/data").join(RECOVERY_POINT);
    let forget: [fn(&dyn Disk, &Path); 3] = [
        |disk, path| disk.remove(path).unwrap(),
        |disk, path| write_offsets(disk, path, &Offsets::new()).unwrap(),
        |disk, path| disk.open(path).unwrap().write_all_at(0, b"rot").unwrap(),
    ];
    for (which, forget) in forget.iter().enumerate() {
        let mut broker = Broker::new();
        broker.create("a", 1, COMPACT);
        fill(&broker, "a", 30);
        assert!(broker.ctx.upkeep.clean_next());
        // It is no longer compacted: what a cleaner left must not be taken for a loss.
        broker.configure("a", "cleanup.policy", "delete");
        let kept = offsets(&broker, "a");
        assert!(kept.len() < 9, "{kept:?}");
        let disk = broker.disk.fork();
        forget(&disk, &path);
        let broker = broker.restart(Arc::new(disk));
        assert_eq!(offsets(&broker, "a"), kept, "{which}");
        let end = broker.partition("a", 0).log().log_end();
        assert_eq!(end, 30);
    }
}

#[test]
fn a_pass_waits_until_the_recovery_point_is_written_down() {
    let mut broker = Broker::new();
    broker.create("a", 1, COMPACT);
    fill(&broker, "a", 30);
    let below = Path::new("/data").join(format!("{RECOVERY_POINT}.tmp"));
    broker.disk.fail(Fault { operation: Operation::Create, below, after: 0, os_error: 24 });
    assert!(!broker.ctx.upkeep.clean_next(), "there is no file to be had");
    assert_eq!(offsets(&broker, "a").len(), 30);
    assert!(broker.ctx.upkeep.clean_next());
    assert!(offsets(&broker, "a").len() < 9);
}

#[test]
fn a_topic_made_again_is_cleaned_from_its_start() {
    let mut broker = Broker::new();
    let id = broker.create("a", 1, COMPACT);
    fill(&broker, "a", 30);
    assert!(broker.ctx.upkeep.clean_next());
    broker.delete(id);
    assert!(!broker.ctx.upkeep.clean_next());
    assert_eq!(checkpoint(&broker), []);
    broker.create("a", 1, COMPACT);
    fill(&broker, "a", 40);
    assert!(broker.ctx.upkeep.clean_next());
    assert!(offsets(&broker, "a").len() < 9);
}

#[test]
fn a_damaged_log_is_given_up_and_the_others_are_not() {
    let mut broker = Broker::new();
    for topic in ["a", "b"] {
        broker.create(topic, 1, COMPACT);
        fill(&broker, topic, 30);
    }
    let path = Path::new("/data/a-0/00000000000000000000.log");
    broker.disk.rot(path, 200, 1).unwrap();
    let mut done = 0;
    for _ in 0..4 {
        done += i32::from(broker.ctx.upkeep.clean_next());
    }
    assert_eq!((done, checkpoint(&broker).len()), (1, 1));
    assert!(offsets(&broker, "b").len() < 9);
    assert_eq!(broker.ctx.dirs[0].failure(), None);
    fill(&broker, "a", 3);
}

#[test]
fn a_disk_without_room_for_a_segment_waits() {
    let mut broker = Broker::new();
    broker.create("a", 1, COMPACT);
    fill(&broker, "a", 30);
    let used = u64::MAX - broker.disk.free_bytes(Path::new("/")).unwrap();
    broker.disk.set_capacity(used + 500);
    assert!(!broker.ctx.upkeep.clean_next());
    assert_eq!(broker.ctx.dirs[0].failure(), None);
    broker.disk.set_capacity(u64::MAX);
    assert!(broker.ctx.upkeep.clean_next());
}
