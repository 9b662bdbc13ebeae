//! A segment finds offsets and times, from whatever state it is in.

use super::*;
use crate::disk::Disk;
use crate::disk::sim::SimDisk;
use bytes::Bytes;
use protocol::records::{BatchBuilder, BatchHeader};
use std::path::{Path, PathBuf};

const BASE: i64 = 100;

fn home(disk: &SimDisk) -> Home {
    Home::new(Arc::new(disk.clone()), PathBuf::from("/"), 200)
}

fn batch(base: i64, count: i64, time: i64) -> Bytes {
    let mut builder = BatchBuilder::new(base);
    for _ in 0..count {
        builder = builder.key_value(time, b"key", &[b'v'; 20]);
    }
    builder.build().unwrap()
}

fn add(home: &Home, segment: &Segment, bytes: &[u8]) {
    let header = BatchHeader::read(bytes).unwrap();
    let position = segment.size();
    segment.file().write_all_at(position, bytes).unwrap();
    let found = Found {
        position,
        size: bytes.len() as u64,
        base_offset: header.base_offset,
        last_offset: header.last_offset(),
        max_timestamp: header.max_timestamp,
        header: Some(header),
    };
    segment.note(home, &found).unwrap();
    segment.extend(header.next_offset(), found.end());
}

/// Forty batches of three records, with a gap of two offsets before each; times go up and down.
fn filled(disk: &SimDisk) -> (Segment, Vec<(i64, i64, u64)>) {
    let home = home(disk);
    let segment = Segment::create(&home, BASE, 0).unwrap();
    let mut batches = Vec::new();
    for number in 0..40 {
        let (base, time) = (BASE + number * 5 + 2, 1000 + number * 10 + (number % 3) * 100);
        batches.push((base, time, segment.size()));
        add(&home, &segment, &batch(base, 3, time));
    }
    (segment, batches)
}

fn check(disk: &SimDisk, segment: &Segment, batches: &[(i64, i64, u64)]) {
    let home = home(disk);
    let at = |located: Located| match located {
        Located::At { position, .. } => Some(position),
        Located::Behind => None,
        Located::Damaged(damage) => panic!("{damage:?}"),
    };
    for offset in BASE - 1..=BASE + 202 {
        let want = batches.iter().find(|(base, ..)| offset < base + 3).map(|it| it.2);
        assert_eq!(at(segment.locate(&home, offset).unwrap()), want, "offset {offset}");
    }
    for time in 990..1700 {
        for from in [BASE, BASE + 77] {
            let first = |it: &&(i64, i64, u64)| time <= it.1 && from < it.0 + 3;
            let want = batches.iter().find(first).map(|it| it.2);
            let got = at(segment.locate_time(&home, time, from).unwrap());
            assert_eq!(got, want, "time {time} from {from}");
        }
    }
    let (base, time, _) = batches.iter().rev().max_by_key(|it| it.1).unwrap();
    assert_eq!(segment.largest_timestamp(&home).unwrap(), Some((*time, base + 2)));
}

fn reopened(disk: &SimDisk, segment: &Segment) -> Segment {
    let file = disk.open(&home(disk).path(Kind::Log, BASE)).unwrap();
    Segment::open(BASE, file, segment.recent.end(), 0)
}

fn index_bytes(disk: &SimDisk, kind: Kind) -> Vec<u8> {
    let file = disk.open(&home(disk).path(kind, BASE)).unwrap();
    crate::disk::read_whole(&*file, usize::MAX).unwrap()
}

#[test]
fn offsets_and_times_are_found_while_it_grows_once_sealed_and_opened_again() {
    let disk = SimDisk::default();
    let (segment, batches) = filled(&disk);
    check(&disk, &segment, &batches);
    segment.seal(&home(&disk)).unwrap();
    check(&disk, &segment, &batches);
    check(&disk, &reopened(&disk, &segment), &batches);
    let mut active = reopened(&disk, &segment);
    active.activate(&home(&disk)).unwrap();
    check(&disk, &active, &batches);
    let mut recovered = reopened(&disk, &segment);
    let found = recovered.recover(&home(&disk), (BASE + 60, BASE + 60), Trust::Offsets).unwrap();
    assert_eq!((found.flaw, found.next_offset, found.cut_bytes), (None, BASE + 200, 0));
    check(&disk, &recovered, &batches);
}

#[test]
fn indexes_made_anew_are_those_that_were_lost() {
    let disk = SimDisk::default();
    let (segment, batches) = filled(&disk);
    segment.seal(&home(&disk)).unwrap();
    let kinds = [Kind::OffsetIndex, Kind::TimeIndex];
    let want = kinds.map(|kind| index_bytes(&disk, kind));
    assert!(want.iter().all(|bytes| 40 < bytes.len()));
    let spoiled = |spoil: &dyn Fn(&Path)| {
        for kind in kinds {
            spoil(&home(&disk).path(kind, BASE));
            let again = reopened(&disk, &segment);
            check(&disk, &again, &batches);
            assert_eq!(kinds.map(|kind| index_bytes(&disk, kind)), want, "{kind:?}");
        }
    };
    spoiled(&|path| disk.remove(path).unwrap());
    spoiled(&|path| disk.open(path).unwrap().write_all_at(0, &[7; 5000]).unwrap());
    spoiled(&|path| disk.open(path).unwrap().truncate(7).unwrap());
}

#[test]
fn damage_is_told_and_the_rest_is_found() {
    let disk = SimDisk::default();
    let (segment, batches) = filled(&disk);
    segment.seal(&home(&disk)).unwrap();
    let (base, _, position) = batches[30];
    disk.rot(&home(&disk).path(Kind::Log, BASE), position + 16, 0xff).unwrap();
    let again = reopened(&disk, &segment);
    let home = home(&disk);
    for offset in batches[27].0..BASE + 200 {
        let got = again.locate(&home, offset).unwrap();
        if ((batches[29].0 + 3)..batches[31].0).contains(&offset) {
            let Located::Damaged(damage) = got else { panic!("{offset}: {got:?}") };
            assert_eq!((damage.position, damage.end_position), (position, batches[31].2));
            assert_eq!(damage.next_offset, batches[31].0);
        } else {
            assert!(matches!(got, Located::At { .. }), "{offset} beside {base}: {got:?}");
        }
    }
    assert_eq!(again.damages().len(), 1);
    assert_eq!(again.damage_from(0).map(|it| it.position), Some(position));
}

#[test]
fn it_says_when_an_index_is_full_and_what_it_reaches() {
    let disk = SimDisk::default();
    let (segment, _) = filled(&disk);
    let entries = segment.indexes.get().unwrap().offsets.len();
    assert!(!segment.is_index_full((entries + 1) * 12));
    assert!(segment.is_index_full(entries * 8));
    let reaches = [BASE - 1, BASE, BASE + i64::from(i32::MAX), BASE + (1 << 31)];
    assert_eq!(reaches.map(|offset| segment.reaches(offset)), [true, true, true, false]);
}
