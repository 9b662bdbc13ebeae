//! Power failures at every write and sync of a log's life: nothing synced is lost, nothing is twice.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![expect(
    clippy::panic_in_result_fn,
    reason = "a power failure is a result, a broken promise is not"
)]

mod model;
mod verify;
mod world;

use model::Rng;
use std::path::Path;
use std::sync::Arc;
use storage::disk::Disk;
use storage::disk::sim::{Fault, Operation, SimDisk};
use storage::last_stop::LastStop;
use storage::log::LogConfig;
use verify::Lost::{Power, Process};
use world::World;

/// Small enough that a short life has many segments, index entries and snapshots.
fn config() -> LogConfig {
    LogConfig {
        segment_bytes: 2000,
        index_interval_bytes: 300,
        segment_index_bytes: 800,
        retention_bytes: 5000,
        retention_ms: -1,
        ..LogConfig::default()
    }
}

fn durable() -> LogConfig {
    LogConfig { flush_messages: 1, ..config() }
}

/// How many changing operations a life has when nothing happens to it.
fn operations(seed: u64, steps: usize, config: &LogConfig) -> (u64, u64) {
    let mut world = World::fresh(&SimDisk::new(seed), Arc::new(config.clone()));
    let before = world.disk.operations();
    let lived = world.live(&mut Rng(seed), steps);
    assert!(lived.is_ok(), "without a fault nothing fails: {lived:?}");
    verify::whole(&world);
    (before, world.disk.operations())
}

/// Lives the same life again and again, each time up to a later power failure, and looks at what
/// several draws of that failure leave.
fn crash_everywhere(seed: u64, steps: usize, config: &LogConfig) {
    let (from, to) = operations(seed, steps, config);
    assert!(from + 100 < to, "a life of {} operations proves little", to - from);
    let mut killed = 0;
    for n in from..to {
        let disk = SimDisk::new(seed);
        let mut world = World::fresh(&disk, Arc::new(config.clone()));
        disk.crash_at(n);
        world.live(&mut Rng(seed), steps).unwrap_err();
        let context = format!("life {seed}, killed at operation {n}");
        let taken_for =
            verify::after(&world.model, (Process, &disk.fork()), &world.config, &context);
        killed += u64::from(taken_for == LastStop::Killed);
        for draw in 0..2 {
            let context = format!("life {seed}, operation {n}, draw {draw}");
            verify::after(
                &world.model,
                (Power, &disk.crash(n ^ draw << 32)),
                &world.config,
                &context,
            );
        }
    }
    // The others are at a start or a stop.
    assert!((to - from) * 2 < killed * 3, "{killed} of {}", to - from);
}

#[test]
fn a_crash_at_every_operation_loses_nothing_synced_and_doubles_nothing() {
    for seed in 100..103 {
        crash_everywhere(seed, 80, &config());
    }
}

#[test]
fn a_crash_at_every_operation_of_the_durable_mode_loses_nothing_acknowledged() {
    for seed in 10..11 {
        crash_everywhere(seed, 60, &durable());
    }
}

#[test]
fn a_crash_while_recovering_from_a_crash_changes_nothing_of_that() {
    let (seed, steps) = (20, 60);
    let (from, to) = operations(seed, steps, &config());
    for n in (from..to).step_by(9) {
        let disk = SimDisk::new(seed);
        let mut world = World::fresh(&disk, Arc::new(config()));
        disk.crash_at(n);
        world.live(&mut Rng(seed), steps).unwrap_err();
        for again in 0.. {
            let left = disk.crash(n);
            left.crash_at(again);
            let context = format!("operation {n}, then operation {again} of the recovery");
            match World::open(&left, world.config.clone()) {
                Ok(_) => break, // It has fewer of them.
                Err(error) => assert!(left.is_off(), "{context}: {error}"),
            }
            verify::after(&world.model, (Power, &left.crash(again)), &world.config, &context);
        }
    }
}

#[test]
fn an_error_of_any_write_or_sync_stops_the_log_and_loses_nothing_synced() {
    for operation in [
        Operation::Write,
        Operation::Sync,
        Operation::SyncDir,
        Operation::Create,
        Operation::Rename,
        Operation::Truncate,
    ] {
        let (seed, steps) = (300, 60);
        for after in 0.. {
            let disk = SimDisk::new(seed);
            let mut world = World::fresh(&disk, Arc::new(config()));
            disk.fail(Fault { after, ..Fault::eio(operation) });
            if world.live(&mut Rng(seed), steps).is_ok() {
                break; // It has fewer of them.
            }
            // Without a power failure first: the process goes on, and must not pretend.
            world.must_not_pretend();
            for draw in 0..2 {
                let context = format!("{operation:?} {after} fails, draw {draw}");
                verify::after(&world.model, (Power, &disk.crash(draw)), &world.config, &context);
            }
        }
    }
}

#[test]
fn a_full_disk_refuses_and_takes_appends_again_when_there_is_room() {
    for seed in 40..44 {
        let disk = SimDisk::new(seed);
        let mut world = World::fresh(&disk, Arc::new(config()));
        let mut rng = Rng(seed);
        world.live(&mut rng, 20).unwrap();
        let mut refused = 0;
        for round in 0..20 {
            let used = u64::MAX - disk.free_bytes(Path::new("/")).unwrap();
            disk.set_capacity(used + rng.below(400));
            refused += world.appends_until_full(&mut rng);
            disk.set_capacity(u64::MAX);
            world.live(&mut rng, 3).unwrap_or_else(|error| panic!("round {round}: {error}"));
        }
        assert!(0 < refused, "it was never full");
        verify::whole(&world);
        let context = format!("life {seed} on a disk that was full");
        verify::after(&world.model, (Power, &disk.crash(seed)), &world.config, &context);
    }
}

#[test]
fn rot_below_the_recovery_point_is_never_cut() {
    let (seed, steps) = (50, 40);
    let disk = SimDisk::new(seed);
    let mut world = World::fresh(&disk, Arc::new(LogConfig { retention_bytes: -1, ..config() }));
    world.live_appending(&mut Rng(seed), steps).unwrap();
    world.flush().unwrap();
    world.checkpoint().unwrap();
    let sizes = verify::log_sizes(&disk);
    assert!(3 < sizes.len());
    for (path, size) in &sizes {
        for at in (0..*size).step_by(9) {
            let mask = if at % 2 == 0 { 0x55 } else { 1 };
            let context = format!("{path} rots at {at} by {mask}");
            let (batch, byte) = verify::byte_at(&disk, path, at);
            let rotten = disk.crash(at);
            rotten.rot(Path::new(path), at, mask).unwrap();
            let (opened, _) = World::open(&rotten, world.config.clone())
                .unwrap_or_else(|error| panic!("{context}: {error}"));
            assert_eq!(opened.log.log_end(), world.model.end(), "{context}");
            let bad = verify::unreadable(&opened, &world.model, &context);
            let is_it = bad.iter().all(|base| *base == batch.header.base_offset);
            // One that lies about its offsets, and is still possible, stands before its neighbours.
            let lies = matches!(byte, 0..12 | 23..27) && bad.len() <= 3;
            assert!(is_it || lies, "{context}, which is {byte} of {:?}: no {bad:?}", batch.header);
            assert_eq!(verify::log_sizes(&rotten), sizes, "{context}");
        }
    }
}
