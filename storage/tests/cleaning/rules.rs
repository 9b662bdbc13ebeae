//! One rule of compaction a test.

use crate::consumer::{all_batches, consume};
use crate::world::{RETENTION_MS, Unlinks, World, config, dir, names};
use protocol::compression::Codec;
use protocol::records::batch::BatchHeader;
use std::path::Path;
use std::sync::Arc;
use storage::disk::sim::{Fault, Operation};
use storage::log::clean::{CleanError, CleanOptions, Supervisor};
use storage::log::{Doomed, LogConfig};

const LARGE: usize = 1 << 16;

fn offsets(world: &World) -> Vec<i64> {
    consume(&world.log, 0).into_keys().collect()
}

/// Closes the segment, so that all is below the active one.
fn roll(world: &mut World) {
    world.log.roll(world.now_ms).unwrap();
}

fn headers(world: &World) -> Vec<BatchHeader> {
    all_batches(&world.log, 0).iter().map(|batch| batch.header).collect()
}

#[test]
fn a_batch_keeps_its_codec_its_offsets_and_its_headers() {
    for codec in Codec::ALL {
        let mut world = World::new(1);
        world.send(1, codec, &[(1, Some(20)), (2, Some(20)), (1, Some(30)), (4, Some(20))]);
        world.send(1, Codec::None, &[(4, Some(1))]);
        roll(&mut world);
        world.clean(LARGE).unwrap();
        assert_eq!(offsets(&world), [1, 2, 4]);
        let header = headers(&world)[0];
        assert_eq!(header.compression(), Some(codec));
        let ends = (header.base_offset, header.last_offset(), header.last_sequence());
        assert_eq!((ends, header.record_count, header.leader_epoch), ((0, 3, 3), 2, 3));
        world.check(&world.log);
        // What has nothing to lose is not written anew.
        let before = names(&world.disk, "");
        let renames = world.disk.count(Operation::Rename);
        let again = world.clean(LARGE).unwrap();
        assert_eq!((again.keys, names(&world.disk, "")), (0, before));
        assert_eq!(world.disk.count(Operation::Rename), renames);
    }
}

#[test]
fn a_tombstone_stays_until_its_horizon_and_the_batch_says_when_that_is() {
    let mut world = World::new(1);
    world.send(-1, Codec::Zstd, &[(1, Some(9)), (2, Some(9))]);
    world.send(-1, Codec::Gzip, &[(2, None), (3, Some(9))]);
    world.send(-1, Codec::None, &[(4, Some(1))]);
    roll(&mut world);
    let first_pass_ms = world.now_ms;
    world.clean(LARGE).unwrap();
    let check = |world: &World, want: &[i64]| {
        assert_eq!(offsets(world), want, "at {}", world.now_ms - first_pass_ms);
        let header = headers(world)[1];
        assert!(header.has_delete_horizon());
        assert_eq!(header.base_timestamp, first_pass_ms + RETENTION_MS);
        world.check(&world.log);
    };
    check(&world, &[0, 2, 3, 4]);
    world.now_ms = first_pass_ms + RETENTION_MS - 1;
    world.clean(LARGE).unwrap();
    check(&world, &[0, 2, 3, 4]);
    world.now_ms += 1;
    world.clean(LARGE).unwrap();
    check(&world, &[0, 3, 4]);
}

#[test]
fn nothing_of_an_aborted_transaction_stays_and_its_marker_goes_late() {
    let mut world = World::new(1);
    world.send(3, Codec::None, &[(1, Some(9)), (2, Some(9))]);
    world.send(-1, Codec::None, &[(3, Some(9))]);
    world.end_txn(3, false);
    world.send(3, Codec::None, &[(5, Some(9))]);
    world.end_txn(3, true);
    world.send(-1, Codec::None, &[(4, Some(9))]);
    roll(&mut world);
    let bases = |world: &World| headers(world).iter().map(|it| it.base_offset).collect::<Vec<_>>();
    assert_eq!(bases(&world), [0, 2, 3, 4, 5, 6]);
    assert_eq!(names(&world.disk, ".txnindex").len(), 1);
    world.clean(LARGE).unwrap();
    // The marker of what was found in this pass.
    assert_eq!(bases(&world), [2, 3, 4, 5, 6]);
    world.clean(LARGE).unwrap();
    assert_eq!(
        (bases(&world), headers(&world)[1].has_delete_horizon()),
        (vec![2, 3, 4, 5, 6], true)
    );
    world.now_ms += RETENTION_MS;
    world.clean(LARGE).unwrap();
    assert_eq!((bases(&world), offsets(&world)), (vec![2, 4, 5, 6], vec![2, 4, 6]));
    assert_eq!(names(&world.disk, ".txnindex"), [""; 0]);
    world.check(&world.log);
}

#[test]
fn what_is_above_an_open_transaction_is_not_touched() {
    let mut world = World::new(1);
    world.send(-1, Codec::None, &[(1, Some(9)), (1, Some(9))]);
    world.send(3, Codec::None, &[(1, Some(9))]);
    world.send(-1, Codec::None, &[(1, Some(9)), (1, Some(9))]);
    roll(&mut world);
    world.clean(LARGE).unwrap();
    assert_eq!((world.clean_to, offsets(&world)), (2, vec![1, 2, 3, 4]));
    world.end_txn(3, false);
    roll(&mut world);
    world.clean(LARGE).unwrap();
    assert_eq!((world.clean_to, offsets(&world)), (6, vec![4]));
}

#[test]
fn the_last_batch_of_a_producer_stays_if_need_be_empty() {
    let mut world = World::new(1);
    world.send(0, Codec::Lz4, &[(1, Some(9)), (2, Some(9))]);
    world.send(1, Codec::None, &[(1, Some(9)), (2, Some(9))]);
    world.send(-1, Codec::None, &[(3, Some(9))]);
    world.send(1, Codec::None, &[(1, Some(9)), (2, Some(9))]);
    world.send(-1, Codec::None, &[(9, Some(9))]);
    roll(&mut world);
    world.clean(LARGE).unwrap();
    let found: Vec<_> = headers(&world)
        .iter()
        .map(|it| (it.base_offset, it.producer_id, it.record_count, it.last_sequence()))
        .collect();
    assert_eq!(found, [(0, 0, 0, 1), (4, -1, 1, -1), (5, 1, 2, 3), (7, -1, 1, -1)]);
    world.restart(true);
    world.check_producers();
}

#[test]
fn a_small_map_takes_several_passes() {
    let mut world = World::new(1);
    for key in 0..40_u8 {
        world.send(-1, Codec::None, &[(key % 20, Some(9))]);
    }
    roll(&mut world);
    let mut ends = Vec::new();
    while world.clean_to < 40 {
        // Eight slots, seven of which may be taken.
        ends.push(world.clean(8 * 24).unwrap().end);
    }
    assert_eq!(ends, [7, 14, 21, 28, 35, 40]);
    assert_eq!(offsets(&world), (20..40).collect::<Vec<_>>());
}

#[test]
fn small_segments_become_one_as_long_as_it_fits() {
    let mut world = World::new(1);
    for round in 0..30 {
        world.send(-1, Codec::None, &[(round % 3, Some(200))]);
    }
    let before = world.log.segment_count();
    roll(&mut world);
    world.clean(LARGE).unwrap();
    assert_eq!(offsets(&world), [27, 28, 29]);
    world.clean(LARGE).unwrap();
    assert!((3..10).contains(&before) && world.log.segment_count() <= 3, "{before}");
    assert_eq!(names(&world.disk, ".log").len(), world.log.segment_count());
    world.restart(false);
    assert_eq!(offsets(&world), [27, 28, 29]);
}

#[test]
fn a_reader_of_a_replaced_segment_finds_what_it_had() {
    let mut world = World::new(1);
    for round in 0..30 {
        world.send(-1, Codec::None, &[(round % 3, Some(200))]);
    }
    roll(&mut world);
    let slice = world.log.read(0, 1 << 20, 30, true).unwrap();
    let before = slice.read().unwrap();
    world.clean(LARGE).unwrap();
    assert_eq!(slice.read().unwrap(), before);
    let found = world.log.offset_for_timestamp(0).unwrap();
    assert_eq!(found.map(|it| it.offset), Some(27));
}

#[test]
fn what_can_be_cleaned_ends_where_something_holds_it_back() {
    let mut world = World::new(1);
    let start = world.now_ms;
    for round in 0..30 {
        world.send(-1, Codec::None, &[(round % 3, Some(200))]);
    }
    let log = &world.log;
    let bases: Vec<i64> = (names(&world.disk, ".log").iter())
        .map(|name| name.trim_end_matches(".log").parse().unwrap())
        .collect();
    let active = *bases.last().unwrap();
    let check =
        |change: LogConfig, checkpoint: Option<i64>, now_ms: i64, want: (i64, i64, bool)| {
            log.update_config(Arc::new(change));
            let got = log.cleanable(checkpoint, now_ms).unwrap();
            let config = log.config();
            assert_eq!((got.first_dirty, got.upto, got.is_due(&config)), want);
        };
    let now_ms = world.now_ms;
    check(config(), None, now_ms, (0, 0, false));
    log.set_high_watermark(30);
    check(config(), None, now_ms, (0, active, true));
    check(config(), Some(31), now_ms, (0, active, true));
    check(config(), Some(-1), now_ms, (0, active, true));
    check(config(), Some(active), now_ms, (active, active, false));
    check(config(), Some(bases[1]), now_ms, (bases[1], active, true));
    let last = bases[bases.len() - 2];
    check(config(), Some(last), now_ms, (last, active, false));
    let at_once = LogConfig { min_cleanable_dirty_ratio: 0.0, ..config() };
    check(at_once, Some(last), now_ms, (last, active, true));
    let lag = |ms| LogConfig { max_compaction_lag_ms: ms, ..config() };
    check(lag(1 << 40), Some(last), now_ms, (last, active, false));
    check(lag(1), Some(last), now_ms, (last, active, true));
    let young = |ms| LogConfig { min_compaction_lag_ms: ms, ..config() };
    check(young(1 << 40), None, now_ms, (0, 0, false));
    check(young(now_ms - start - 3 * bases[1]), None, now_ms, (0, bases[1], true));
    log.set_high_watermark(bases[1] + 1);
    check(config(), None, now_ms, (0, bases[1] + 1, true));
}

#[test]
fn a_segment_is_closed_in_time_for_its_records_to_be_compacted() {
    let mut world = World::new(1);
    let check = |world: &mut World, wait_ms: i64, lag_ms: i64, want: usize| {
        let config = LogConfig { max_compaction_lag_ms: lag_ms, ..config() };
        world.log.update_config(Arc::new(config));
        world.now_ms += wait_ms;
        world.send(-1, Codec::None, &[(0, Some(1))]);
        assert_eq!(world.log.segment_count(), want, "{wait_ms} {lag_ms}");
    };
    check(&mut world, 0, 1000, 1);
    check(&mut world, 900, 1000, 1);
    check(&mut world, 900, i64::MAX, 1);
    check(&mut world, 0, 1000, 2);
}

/// Says no when it is asked.
#[derive(Debug)]
struct No;

impl Supervisor for No {
    fn may_go_on(&mut self, _bytes: u64) -> bool {
        false
    }

    fn replaced(&mut self, doomed: Doomed) {
        panic!("{doomed:?}");
    }
}

#[test]
fn a_pass_that_is_stopped_or_meets_damage_changes_nothing() {
    let mut world = World::new(1);
    for _ in 0..3000 {
        world.send(-1, Codec::None, &[(1, Some(200))]);
    }
    roll(&mut world);
    world.log.set_high_watermark(3000);
    let before = names(&world.disk, "");
    let options = CleanOptions {
        now_ms: world.now_ms,
        map_bytes: LARGE,
        load_factor: 0.9,
        buffer_bytes: 1000,
        secret: [1, 2],
    };
    let cleanable = world.log.cleanable(None, world.now_ms).unwrap();
    let stopped = world.log.clean(&cleanable, &options, &mut No);
    assert!(matches!(stopped, Err(CleanError::Stopped)), "{stopped:?}");
    assert_eq!(names(&world.disk, ""), before);
    let path = dir().join("00000000000000000000.log");
    world.disk.rot(Path::new(&path), 200, 1).unwrap();
    let found = world.log.clean(&cleanable, &options, &mut Unlinks(world.disk.clone()));
    assert!(matches!(found, Err(CleanError::Unreadable { offset: 0, .. })), "{found:?}");
    assert_eq!(names(&world.disk, ""), before);
    world.log.fail("it goes");
    assert!(world.log.clean(&cleanable, &options, &mut No).is_err());
}

#[test]
fn too_many_open_files_end_a_pass_and_nothing_else() {
    for operation in [Operation::Create, Operation::Open, Operation::SyncDir] {
        for after in 0.. {
            let mut world = World::new(1);
            for value in 0..5 {
                world.send(-1, Codec::None, &[(1, Some(value)), (2, Some(700))]);
            }
            roll(&mut world);
            world.disk.fail(Fault { os_error: 24, after, ..Fault::eio(operation) });
            let asked = world.disk.count(operation);
            let cleaned = world.clean(LARGE);
            let was_struck = asked + after < world.disk.count(operation);
            world.disk.mend();
            assert_eq!(world.log.failure(), None, "{operation:?} {after}: {cleaned:?}");
            world.clean(LARGE).unwrap();
            world.check(&world.log);
            world.check_clean();
            world.log.flush(world.log.log_end()).unwrap();
            if !was_struck {
                break;
            }
        }
    }
}
