//! Golden bytes, the ranges of a fetch, and hostile files.

use super::*;
use crate::disk::sim::SimDisk;

fn path() -> &'static Path {
    Path::new("/00000000000000000000.txnindex")
}

fn aborted(producer_id: i64, first: i64, last: i64, stable: i64) -> AbortedTxn {
    AbortedTxn { producer_id, first_offset: first, last_offset: last, last_stable_offset: stable }
}

fn some() -> SimDisk {
    let disk = SimDisk::default();
    for entry in [aborted(1, 0, 10, 5), aborted(2, 5, 20, 21), aborted(1, 25, 30, 31)] {
        append(&disk, path(), &entry).unwrap();
    }
    disk
}

#[test]
fn an_entry_is_kafkas() {
    let bytes = aborted(1, 2, 258, -1).encode();
    let want = [
        &[0, 0][..],
        &[0, 0, 0, 0, 0, 0, 0, 1],
        &[0, 0, 0, 0, 0, 0, 0, 2],
        &[0, 0, 0, 0, 0, 0, 1, 2],
        &[255; 8],
    ];
    assert_eq!(bytes.as_slice(), want.concat());
    assert_eq!(AbortedTxn::decode(&bytes), Some(aborted(1, 2, 258, -1)));
}

#[test]
fn a_fetch_is_told_of_what_overlaps_it_and_whether_to_look_on() {
    let disk = some();
    for (from, to, producers, is_complete) in [
        (0, 5, &[1][..], true),
        (0, 6, &[1, 2], true),
        (11, 12, &[2], true),
        (21, 25, &[], true),
        (21, 31, &[1], true),
        (21, 32, &[1], false),
        (31, 40, &[], false),
    ] {
        let found = collect(&read(&disk, path()).unwrap(), from, to);
        let who: Vec<i64> = found.aborted.iter().map(|it| it.producer_id).collect();
        assert_eq!((who.as_slice(), found.is_complete), (producers, is_complete), "{from}..{to}");
    }
    let absent = read(&disk, Path::new("/absent")).unwrap();
    assert_eq!(collect(&absent, 0, 9), Found::default());
}

#[test]
fn a_cut_log_forgets_the_markers_it_lost() {
    for (offset, left) in [(31, 3), (30, 2), (11, 1), (0, 0)] {
        let disk = some();
        truncate(&disk, path(), offset).unwrap();
        assert_eq!(read(&disk, path()).unwrap().len(), left, "cut at {offset}");
    }
    truncate(&some(), Path::new("/absent"), 0).unwrap();
}

#[test]
fn a_torn_or_foreign_file_is_malformed_and_appending_heals_its_tail() {
    let disk = some();
    let file = disk.open(path()).unwrap();
    file.truncate(2 * ENTRY_LEN as u64 + 7).unwrap();
    assert!(matches!(read(&disk, path()), Err(Error::Malformed { .. })));
    append(&disk, path(), &aborted(9, 40, 50, 51)).unwrap();
    assert_eq!(read(&disk, path()).unwrap().len(), 3);
    file.write_all_at(0, &[0, 9]).unwrap();
    assert!(matches!(read(&disk, path()), Err(Error::Malformed { .. })), "version 9");
    file.truncate(0).unwrap();
    append(&disk, path(), &aborted(1, 5, 10, 11)).unwrap();
    append(&disk, path(), &aborted(1, 1, 9, 11)).unwrap();
    assert!(matches!(read(&disk, path()), Err(Error::Malformed { .. })), "offsets go back");
}

#[test]
fn a_crash_leaves_what_can_have_been_written() {
    let entry = |bytes: [u8; ENTRY_LEN]| bytes.to_vec();
    let good = || [aborted(1, 0, 10, 5), aborted(2, 5, 20, 21)].map(|it| it.encode()).concat();
    for (tail, within, left, next) in [
        (vec![], 0..30, 2, 21),
        (vec![], 0..20, 1, 11),
        (vec![], 10..21, 2, 21),
        (vec![], 11..30, 0, 11),
        (vec![0; 7], 0..30, 2, 21),
        (entry([0; ENTRY_LEN]), 0..30, 2, 21),
        (entry([9; ENTRY_LEN]), 0..30, 2, 21),
        (entry(aborted(3, 15, 20, 21).encode()), 0..30, 2, 21),
        (entry(aborted(3, 25, 25, 26).encode()), 0..30, 2, 21),
        (entry(aborted(3, 24, 25, 26).encode()), 0..30, 3, 26),
    ] {
        let disk = SimDisk::default();
        let bytes = [good(), tail].concat();
        disk.create(path()).unwrap().write_all_at(0, &bytes).unwrap();
        assert_eq!(mend(&disk, path(), within.clone()).unwrap(), next, "{bytes:?} {within:?}");
        assert_eq!(read(&disk, path()).unwrap().len(), left, "{bytes:?} {within:?}");
    }
    assert_eq!(mend(&SimDisk::default(), path(), 3..9).unwrap(), 3);
}
