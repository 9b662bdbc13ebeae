//! Which aborted transactions a reader is told of, and what it costs to know.

use super::*;
use crate::disk::sim::Operation;
use crate::log::clean::{CleanOptions, Supervisor};
use crate::segment::name::Kind;
use crate::txn_index;
use protocol::records::ControlKind;
use protocol::records::batch::TRANSACTIONAL;
use protocol::records::control::end_of_transaction;
use std::path::Path;

fn send(log: &Log, builder: BatchBuilder, origin: Origin) -> i64 {
    let context = AppendContext { origin, ..CLIENT };
    log.append(builder.build().unwrap(), &context).unwrap().base_offset
}

fn of(id: i64, sequence: i32) -> BatchBuilder {
    BatchBuilder::new(0).attributes(TRANSACTIONAL).producer(id, 0, sequence)
}

fn write(log: &Log, id: i64, sequence: i32) -> i64 {
    send(log, of(id, sequence).key_value(NOW, b"k", b"v"), Origin::Client)
}

fn end(log: &Log, id: i64, kind: ControlKind) -> i64 {
    send(log, of(id, -1).control(NOW, kind, &end_of_transaction(0)), Origin::Coordinator)
}

fn told(log: &Log, from: i64, to: i64) -> Vec<(i64, i64, i64)> {
    let found = log.aborted_transactions(from, to).unwrap();
    found.iter().map(|it| (it.producer_id, it.first_offset, it.last_offset)).collect()
}

/// How many files are opened or read for an answer.
fn cost(disk: &SimDisk, ask: impl Fn()) -> (u64, u64) {
    let counts = || (disk.count(Operation::Open), disk.count(Operation::Read));
    let before = counts();
    ask();
    let after = counts();
    (after.0 - before.0, after.1 - before.1)
}

fn opened_after(last_stop: LastStop, disk: &SimDisk) -> Log {
    Log::open(Open { last_stop, ..open_with(disk, LogConfig::default()) }).unwrap().0
}

fn path(base: i64) -> PathBuf {
    Kind::TxnIndex.path(Path::new("/t-0"), base)
}

/// Of four segments the third has markers: of a transaction that was aborted, begun in the first,
/// and of one that was committed.
fn spanning() -> (Log, SimDisk) {
    let (log, disk) = log(LogConfig::default());
    assert_eq!([write(&log, 1, 0), write(&log, 2, 0)], [0, 1]);
    log.roll(NOW).unwrap();
    assert_eq!(append(&log, 1), 2);
    log.roll(NOW).unwrap();
    let kinds = [(1, ControlKind::Abort), (2, ControlKind::Commit)];
    assert_eq!(kinds.map(|(id, kind)| end(&log, id, kind)), [3, 4]);
    log.roll(NOW).unwrap();
    assert_eq!(append(&log, 1), 5);
    log.set_high_watermark(6);
    (log, disk)
}

#[test]
fn where_there_are_none_no_file_is_asked() {
    let (log, disk) = log(LogConfig::default());
    for _ in 0..3 {
        append(&log, 2);
        log.roll(NOW).unwrap();
    }
    let asks = |log: &Log| {
        (0..6).for_each(|from| assert_eq!(told(log, from, 6), []));
    };
    assert_eq!(cost(&disk, || asks(&log)), (0, 0));
    log.flush(6).unwrap();
    for last_stop in [LastStop::Clean, LastStop::Killed, LastStop::Crashed] {
        let disk = disk.fork();
        let log = opened_after(last_stop, &disk);
        assert_eq!(cost(&disk, || asks(&log)), (0, 0), "{last_stop:?}");
    }
}

#[test]
fn a_marker_in_a_later_segment_is_found_and_its_file_is_read_once() {
    let check = |log: &Log| {
        for (from, to, want) in [
            (0, 1, &[(1, 0, 3)][..]),
            (0, 6, &[(1, 0, 3)]),
            (2, 3, &[(1, 0, 3)]),
            (3, 4, &[(1, 0, 3)]),
            (4, 6, &[]),
        ] {
            assert_eq!(told(log, from, to), want, "{from}..{to}");
        }
    };
    let (log, disk) = spanning();
    assert_eq!(cost(&disk, || check(&log)), (0, 0), "it was written by this process");
    log.close().unwrap();
    for last_stop in [LastStop::Clean, LastStop::Killed, LastStop::Crashed] {
        let disk = disk.fork();
        let log = opened_after(last_stop, &disk);
        // Opened, asked for its size, and read.
        let first = cost(&disk, || assert_eq!(told(&log, 0, 1), [(1, 0, 3)]));
        assert!(first.0 <= 2 && first.1 <= 1, "{first:?} after {last_stop:?}");
        assert_eq!(cost(&disk, || check(&log)), (0, 0), "{last_stop:?}");
    }
}

#[test]
fn what_comes_after_a_first_answer_is_told_by_the_next() {
    let (log, disk) = spanning();
    log.close().unwrap();
    let log = opened_after(LastStop::Clean, &disk.fork());
    assert_eq!(told(&log, 0, 6), [(1, 0, 3)]);
    for sequence in 1..4 {
        let first = write(&log, 1, sequence);
        assert_eq!(end(&log, 1, ControlKind::Abort), first + 1);
        log.set_high_watermark(first + 2);
        assert_eq!(told(&log, first, first + 2), [(1, first, first + 1)]);
        assert_eq!(told(&log, 0, first + 2).len(), usize::try_from(sequence).unwrap() + 1);
    }
}

#[test]
fn a_cut_forgets_what_lost_its_marker() {
    let (log, disk) = log(LogConfig::default());
    for id in [1, 2] {
        write(&log, id, 0);
        end(&log, id, ControlKind::Abort);
    }
    log.set_high_watermark(4);
    log.flush(4).unwrap();
    assert_eq!(told(&log, 0, 4), [(1, 0, 1), (2, 2, 3)]);
    log.truncate_to(3).unwrap();
    assert_eq!(told(&log, 0, 3), [(1, 0, 1)]);
    assert_eq!(end(&log, 2, ControlKind::Commit), 3);
    assert_eq!((write(&log, 2, 1), end(&log, 2, ControlKind::Abort)), (4, 5));
    log.set_high_watermark(6);
    for log in [&log, &opened_after(LastStop::Killed, &disk.fork())] {
        assert_eq!(told(log, 0, 6), [(1, 0, 1), (2, 4, 5)]);
    }
    log.truncate_to(0).unwrap();
    assert_eq!((append(&log, 2), told(&log, 0, 2)), (0, vec![]));
}

#[derive(Debug)]
struct LetsGo;

impl Supervisor for LetsGo {
    fn may_go_on(&mut self, _bytes: u64) -> bool {
        true
    }

    fn replaced(&mut self, _doomed: Doomed) {}
}

#[test]
fn a_cleaned_segment_says_what_is_left_of_them() {
    let config = || LogConfig { compact: true, delete_retention_ms: 1, ..LogConfig::default() };
    let (log, disk) = log(config());
    write(&log, 1, 0);
    end(&log, 1, ControlKind::Abort);
    log.roll(NOW).unwrap();
    // The last batch of a producer stays, and the markers of its transaction with it.
    assert_eq!((write(&log, 1, 1), end(&log, 1, ControlKind::Commit)), (2, 3));
    log.roll(NOW).unwrap();
    append(&log, 1);
    log.set_high_watermark(5);
    let mut seen = vec![told(&log, 0, 5)];
    let mut clean_to = None;
    for pass in 1..4 {
        let now_ms = NOW + pass * 10_000_000;
        let cleanable = log.cleanable(clean_to, now_ms).unwrap();
        let (map_bytes, load_factor, buffer_bytes, secret) = (1 << 16, 0.9, 4096, [7, 8]);
        let options = CleanOptions { now_ms, map_bytes, load_factor, buffer_bytes, secret };
        clean_to = Some(log.clean(&cleanable, &options, &mut LetsGo).unwrap().end);
        seen.push(told(&log, 0, 5));
        let disk = disk.fork();
        let again = Log::open(Open { last_stop: LastStop::Clean, ..open_with(&disk, config()) });
        assert_eq!(seen.last(), Some(&told(&again.unwrap().0, 0, 5)), "pass {pass}");
    }
    assert_eq!(seen.first(), Some(&vec![(1, 0, 1)]));
    assert_eq!(seen.last(), Some(&vec![]));
}

#[test]
fn files_that_apache_kafka_left_are_taken_as_they_are() {
    let (log, disk) = spanning();
    log.close().unwrap();
    disk.remove(&path(3)).unwrap();
    // Kafka makes the file when a segment is opened, too.
    for base in [0, 2, 5] {
        disk.create(&path(base)).unwrap();
    }
    let fields = [1_i64, 0, 3, 1];
    let entry: Vec<u8> =
        [0, 0].into_iter().chain(fields.iter().flat_map(|it| it.to_be_bytes())).collect();
    disk.create(&path(3)).unwrap().write_all_at(0, &entry).unwrap();
    for last_stop in [LastStop::Clean, LastStop::Crashed] {
        let disk = disk.fork();
        let log = opened_after(last_stop, &disk);
        assert_eq!(told(&log, 0, 2), [(1, 0, 3)]);
        assert_eq!(told(&log, 4, 6), []);
        assert_eq!(cost(&disk, || assert_eq!(told(&log, 2, 6), [(1, 0, 3)])), (0, 0));
        assert_eq!((write(&log, 2, 1), end(&log, 2, ControlKind::Abort)), (6, 7));
        assert_eq!(told(&log, 2, 8), [(1, 0, 3), (2, 6, 7)]);
        log.flush(8).unwrap();
        assert_eq!(told(&opened_after(LastStop::Clean, &disk.fork()), 2, 8).len(), 2);
    }
}

#[test]
fn a_file_that_says_nothing_sensible_is_an_error_until_it_does() {
    let (log, disk) = spanning();
    log.close().unwrap();
    let log = opened_after(LastStop::Clean, &disk);
    let file = disk.open(&path(3)).unwrap();
    file.write_all_at(0, &[9]).unwrap();
    for _ in 0..2 {
        assert!(matches!(
            log.aborted_transactions(0, 6),
            Err(crate::error::Error::Malformed { .. })
        ));
    }
    assert_eq!(told(&log, 5, 6).len(), 0, "it is not asked for what stands behind it");
    file.write_all_at(0, &[0]).unwrap();
    assert_eq!(told(&log, 0, 6), [(1, 0, 3)]);
}

#[test]
fn who_reads_while_one_is_noted_does_not_hide_it() {
    let (log, disk) = log(LogConfig::default());
    assert_eq!((write(&log, 1, 0), end(&log, 1, ControlKind::Abort)), (0, 1));
    log.close().unwrap();
    for _ in 0..300 {
        let log = opened_after(LastStop::Clean, &disk.fork());
        assert_eq!(write(&log, 2, 0), 2);
        std::thread::scope(|scope| {
            scope.spawn(|| (0..20).for_each(|_| drop(log.aborted_transactions(0, 3))));
            assert_eq!(end(&log, 2, ControlKind::Abort), 3);
        });
        assert_eq!(told(&log, 2, 4), [(2, 2, 3)]);
    }
}

/// Behind an entry that is durable the file has grown, and a power cut left zeros there.
#[test]
fn entries_that_a_power_cut_left_as_zeros_are_noted_again() {
    let entry = txn_index::ENTRY_LEN as u64;
    // How many batches come first and are durable, of how many transactions so many entries are
    // whole, and how many there seem to be in the file.
    for (before, whole, seeming) in
        [(0, 1, 2), (0, 1, 5), (0, 0, 1), (0, 0, 2), (1, 0, 2), (1, 1, 3)]
    {
        let (log, disk) = log(LogConfig::default());
        (0..before).for_each(|offset| assert_eq!(append(&log, 1), offset));
        let mut recovery_point = log.log_end();
        for id in [1, 2] {
            write(&log, id, 0);
            end(&log, id, ControlKind::Abort);
            if id == whole {
                recovery_point = log.log_end();
            }
        }
        let file = disk.open(&path(0)).unwrap();
        let kept = u64::try_from(whole).unwrap() * entry;
        file.truncate(kept).unwrap();
        file.truncate(seeming * entry).unwrap();
        let case = (before, whole, seeming);
        for _ in 0..2 {
            let open = Open { recovery_point, ..open_with(&disk, LogConfig::default()) };
            let log = Log::open(open).expect("a start makes the entries anew").0;
            log.set_high_watermark(log.log_end());
            let want = [(1, before, before + 1), (2, before + 2, before + 3)];
            assert_eq!(told(&log, 0, before + 4), want, "{case:?}");
            assert_eq!(file.size().unwrap(), 2 * entry, "{case:?}");
        }
    }
}

/// What the disk lost below the recovery point is made anew as far as the batches are walked over.
#[test]
fn an_entry_that_rotted_below_the_recovery_point_is_noted_again() {
    let (log, disk) = log(LogConfig::default());
    for id in [1, 2] {
        write(&log, id, 0);
        end(&log, id, ControlKind::Abort);
    }
    disk.open(&path(0)).unwrap().write_all_at(0, &[9]).unwrap();
    append(&log, 1);
    let open = Open { recovery_point: 4, ..open_with(&disk, LogConfig::default()) };
    let log = Log::open(open).unwrap().0;
    log.set_high_watermark(5);
    assert_eq!(told(&log, 0, 5), [(1, 0, 1), (2, 2, 3)]);
}
