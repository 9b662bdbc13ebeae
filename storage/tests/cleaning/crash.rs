//! A power failure at every step of a pass, and at every step of the start behind it.

use crate::world::{World, names, open};
use protocol::compression::Codec;
use storage::disk::sim::SimDisk;
use storage::log::Log;

/// A log with all that a pass has to deal with, most of it in more than one segment.
fn filled(seed: u64) -> World {
    let mut world = World::new(seed);
    for round in 0..5_u8 {
        world.send(0, Codec::None, &[(round % 5, Some(40)), (7, Some(50)), (8, Some(9))]);
        world.send(2, Codec::Zstd, &[(round % 3, Some(60)), (6, Some(60))]);
        world.send(3, Codec::None, &[(9, Some(40)), (10, Some(40))]);
        world.end_txn(3, false);
        world.send(-1, Codec::Lz4, &[(round, Some(30)), (round % 4, None)]);
        world.end_txn(2, round % 3 != 0);
    }
    world.send(1, Codec::None, &[(11, Some(4))]);
    world.end_all();
    world.log.roll(world.now_ms).unwrap();
    world.send(0, Codec::None, &[(1, Some(20))]);
    world
}

/// The same, cleaned before, and then grown again.
fn cleaned_before(seed: u64) -> World {
    let mut world = filled(seed);
    world.clean(1 << 16).unwrap();
    world.now_ms += 5000;
    world.send(3, Codec::None, &[(2, None), (5, Some(3))]);
    world.end_txn(3, false);
    world.send(1, Codec::Snappy, &[(3, Some(30)), (3, Some(31))]);
    world.log.roll(world.now_ms).unwrap();
    world
}

fn check(world: &World, left: &SimDisk, recovery_point: i64, context: &str) -> Log {
    let (log, recovery) = open(left, recovery_point).unwrap();
    assert_eq!((recovery.cut, recovery.damaged), (None, Vec::new()), "{context}");
    assert_eq!(log.log_end(), world.log.log_end(), "{context}");
    for part in [".cleaned", ".swap", ".deleted"] {
        assert_eq!(names(left, part), [""; 0], "{context}");
    }
    world.check(&log);
    log
}

fn crash_everywhere(life: impl Fn(u64) -> World, recovery_point: impl Fn(i64) -> i64) {
    let mut whole = life(5);
    let point = recovery_point(whole.log.flush(whole.log.log_end()).unwrap());
    let from = whole.disk.operations();
    whole.clean(1 << 16).unwrap();
    let to = whole.disk.operations();
    assert!(from + 30 < to, "{from} {to}");
    for n in from..to {
        let mut world = life(5);
        world.log.flush(world.log.log_end()).unwrap();
        world.disk.crash_at(n);
        let was = world.clean_to;
        if world.clean(1 << 16).is_ok() {
            world.clean_to = was; // Only what was replaced was still to be unlinked.
        }
        let context = format!("at operation {n}");
        let disk = world.disk.clone();
        check(&world, &disk.fork(), point, &context);
        for draw in 0..2 {
            let left = disk.crash(n ^ draw << 32);
            world.log = check(&world, &left, point, &format!("{context}, draw {draw}"));
            // It goes on.
            world.disk = left;
            world.clean_to = was;
            world.clean(1 << 16).unwrap();
            world.check(&world.log);
            world.check_clean();
        }
    }
}

#[test]
fn a_crash_at_every_operation_of_a_pass_loses_nothing() {
    crash_everywhere(filled, |end| end);
}

#[test]
fn so_it_is_where_nothing_was_checkpointed_and_with_what_was_cleaned_before() {
    crash_everywhere(cleaned_before, |_| 0);
}

#[test]
fn a_crash_of_the_start_behind_a_crash_loses_nothing_either() {
    let whole = {
        let mut world = cleaned_before(6);
        world.log.flush(world.log.log_end()).unwrap();
        let from = world.disk.operations();
        world.clean(1 << 16).unwrap();
        from..world.disk.operations()
    };
    for n in whole.step_by(2) {
        let mut world = cleaned_before(6);
        let point = world.log.flush(world.log.log_end()).unwrap();
        world.disk.crash_at(n);
        drop(world.clean(1 << 16));
        for again in 0..100 {
            let left = world.disk.crash(n);
            left.crash_at(again);
            if open(&left, point).is_ok() {
                break; // It has fewer of them.
            }
            let context = format!("operation {n}, then {again} of the start");
            check(&world, &left.crash(again), point, &context);
        }
    }
}
