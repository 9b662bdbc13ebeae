//! An index answers the same from memory, from its file and from a map of it.

use super::*;
use crate::disk::sim::{Operation, SimDisk};

fn entry(number: u32) -> OffsetEntry {
    OffsetEntry { relative: number * 10, position: number * 100 }
}

fn with<R>(disk: &SimDisk, work: impl Fn(Place<'_>) -> R) -> R {
    work(Place { disk, dir: Path::new("/"), base: 7, names_unsynced: &AtomicBool::new(false) })
}

/// An index of that many entries, the first of them in the file.
fn filled(disk: &SimDisk, count: u32) -> Index<OffsetEntry> {
    with(disk, |place| {
        let index = Index::empty();
        (1..=count).for_each(|number| index.push(place, entry(number)).unwrap());
        index
    })
}

fn check(disk: &SimDisk, index: &Index<OffsetEntry>, count: u32) {
    with(disk, |place| {
        for target in 0..count * 10 + 20 {
            let want = (target / 10).min(count);
            let holds = |it: OffsetEntry| it.relative <= target;
            let got = index.floor(place, holds).unwrap();
            assert_eq!(got, (0 < want).then(|| entry(want)), "floor of {target} in {count}");
            let got = index.ceiling(place, holds).unwrap();
            assert_eq!(got, (want < count).then(|| entry(want + 1)), "ceiling of {target}");
        }
        assert_eq!((index.len(), index.last()), (count, (0 < count).then(|| entry(count))));
    });
}

#[test]
fn look_ups_are_the_same_in_memory_in_the_file_and_in_a_map() {
    for count in [0, 1, 2, 62, 63, 64, 65, 66, 126, 127, 128, 129, 130, 200, 500] {
        let disk = SimDisk::default();
        let index = filled(&disk, count);
        check(&disk, &index, count);
        with(&disk, |place| index.write_out(place).unwrap());
        check(&disk, &index, count);
        with(&disk, |place| index.seal(place).unwrap());
        check(&disk, &index, count);
        let opened = with(&disk, |place| Index::open(place, true).unwrap().unwrap());
        check(&disk, &opened, count);
    }
}

#[test]
fn who_reads_on_reads_a_block_at_a_time() {
    let disk = SimDisk::default();
    let index = filled(&disk, 2000);
    let before = disk.bytes_read();
    with(&disk, |place| {
        for target in 0..20_000 {
            index.floor(place, |it| it.relative <= target).unwrap();
        }
    });
    let read = disk.bytes_read() - before;
    assert!(read < 2 * 2000 * 8, "{read} bytes of an index of 16,000");
}

/// Looks for the last few entries each time that one is added.
fn check_while_it_grows<E: Entry>(entry: impl Fn(u32) -> E) {
    let disk = SimDisk::default();
    with(&disk, |place| {
        let index = Index::empty();
        for last in 1..=300 {
            index.push(place, entry(last)).unwrap();
            for back in [0, 1, 2, 40, 64, 65, 66, 130] {
                let Some(wanted) = last.checked_sub(back).filter(|it| 0 < *it) else { continue };
                let holds = |it: E| it.key() <= entry(wanted).key();
                let behind = (wanted < last).then(|| entry(wanted + 1));
                let at = format!("{back} before {last}");
                assert_eq!(index.floor(place, holds).unwrap(), Some(entry(wanted)), "{at}");
                assert_eq!(index.ceiling(place, holds).unwrap(), behind, "{at}");
            }
        }
    });
}

#[test]
fn what_was_read_before_more_came_is_no_answer_for_that() {
    check_while_it_grows(entry);
    check_while_it_grows(|number| TimeEntry { timestamp: i64::from(number), relative: number });
}

#[test]
fn there_is_no_file_before_there_is_something_to_write() {
    let disk = SimDisk::default();
    let names_unsynced = AtomicBool::new(false);
    let place =
        Place { disk: &disk, dir: Path::new("/"), base: 7, names_unsynced: &names_unsynced };
    let is_there = || place.open::<OffsetEntry>().is_ok();
    let index = Index::empty();
    index.push(place, entry(1)).unwrap();
    assert!(!is_there());
    index.write_out(place).unwrap();
    assert!(is_there() && names_unsynced.swap(false, Ordering::AcqRel));
    // What stands there is none of it.
    let index = Index::<OffsetEntry>::empty();
    index.write_out(place).unwrap();
    assert!(!names_unsynced.load(Ordering::Acquire));
    index.close(place).unwrap();
    let opened = Index::<OffsetEntry>::open(place, true).unwrap().unwrap();
    assert_eq!((opened.len(), names_unsynced.load(Ordering::Acquire)), (0, true));
}

#[test]
fn what_is_kept_ends_where_it_should_and_goes_on() {
    for (count, kept) in [(0, 0), (10, 0), (10, 3), (10, 10), (200, 64), (200, 70), (200, 199)] {
        let disk = SimDisk::default();
        let index = filled(&disk, count);
        with(&disk, |place| {
            index.close(place).unwrap();
            let index = Index::salvage(place, |it: OffsetEntry| it.relative <= kept * 10);
            let index = index.unwrap().unwrap();
            check(&disk, &index, kept);
            index.push(place, entry(kept + 1)).unwrap();
            index.write_out(place).unwrap();
            let opened = Index::<OffsetEntry>::open(place, false).unwrap().unwrap();
            check(&disk, &opened, kept + 1);
        });
    }
}

#[test]
fn what_was_just_opened_knows_its_end_without_the_file() {
    let counts =
        |disk: &SimDisk| [Operation::Open, Operation::Read].map(|operation| disk.count(operation));
    for count in [1, 63, 64, 65, 500] {
        let disk = SimDisk::default();
        let index = filled(&disk, count);
        with(&disk, |place| {
            index.close(place).unwrap();
            let kept = Index::salvage(place, |_: OffsetEntry| true).unwrap().unwrap();
            let before = counts(&disk);
            for target in count.saturating_sub(62).max(1)..=count {
                let got = kept.floor(place, |it| it.relative <= target * 10).unwrap();
                assert_eq!(got, Some(entry(target)), "{target} of {count}");
            }
            assert_eq!(counts(&disk), before, "salvaged, {count}");
            for sealed in [false, true] {
                let opened = Index::<OffsetEntry>::open(place, sealed).unwrap().unwrap();
                let before = counts(&disk);
                assert_eq!(opened.floor(place, |_| true).unwrap(), Some(entry(count)));
                assert_eq!(opened.ceiling(place, |_| true).unwrap(), None);
                assert_eq!(counts(&disk), before, "opened, {count}");
            }
        });
    }
}

#[test]
fn of_a_file_the_part_that_makes_sense_is_kept() {
    let check = |bytes: &[u8], is_index: bool, want: u32| {
        let disk = SimDisk::default();
        with(&disk, |place| {
            let file = place.fresh::<OffsetEntry>().unwrap();
            file.write_all_at(0, bytes).unwrap();
            let opened = Index::<OffsetEntry>::open(place, false).unwrap();
            assert_eq!(opened.is_some(), is_index, "{bytes:?}");
            let index = Index::salvage(place, |it: OffsetEntry| it.position < 1000);
            assert_eq!(index.unwrap().unwrap().len(), want, "{bytes:?}");
            let size = place.open::<OffsetEntry>().unwrap().size().unwrap();
            assert_eq!(size, u64::from(want) * 8);
        });
    };
    check(&[], true, 0);
    check(&[0; 7], false, 0);
    check(&[0, 0, 0, 1, 0, 0, 0, 9, 0], false, 1);
    check(&[0, 0, 0, 1, 0, 0, 0, 9], true, 1);
    check(&[0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 2, 0, 0, 0, 10], true, 2);
    check(&[0; 16], true, 1);
    check(&[0, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 10], true, 1);
    check(&[0, 0, 0, 1, 0, 1, 0, 0], true, 0);
    let disk = SimDisk::default();
    assert!(with(&disk, |place| Index::<TimeEntry>::salvage(place, |_| true)).unwrap().is_none());
}
