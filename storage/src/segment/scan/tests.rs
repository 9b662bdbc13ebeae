//! A walk finds every batch, says why it cannot go on, and finds what lies behind.

use super::*;
use crate::disk::Disk;
use crate::disk::sim::SimDisk;
use protocol::records::BatchBuilder;
use std::path::Path;
use std::sync::Arc;

fn batch(base: i64, size: usize) -> Vec<u8> {
    let builder = BatchBuilder::new(base).key_value(5, b"k", &vec![b'v'; size]);
    builder.key_value(7, b"k", b"").build().unwrap().to_vec()
}

fn file(bytes: &[u8]) -> Arc<dyn File> {
    let file = SimDisk::default().create(Path::new("/log")).unwrap();
    file.write_all_at(0, bytes).unwrap();
    file
}

/// Base offsets up to the first flaw, and it.
fn walk(bytes: &[u8], block: usize) -> (Vec<i64>, Option<Flaw>) {
    let file = file(bytes);
    let mut scan = Scan::new(&*file, 0, bytes.len() as u64, block);
    let mut found = Vec::new();
    loop {
        match scan.next() {
            Ok(Some(batch)) => {
                if !scan.is_intact(&batch).unwrap() {
                    return (found, Some(Flaw::Checksum));
                }
                found.push(batch.base_offset);
            }
            Ok(None) => return (found, None),
            Err(ScanError::Flawed(flaw)) => return (found, Some(flaw)),
            Err(ScanError::Disk(error)) => panic!("{error}"),
        }
    }
}

#[test]
fn a_walk_ends_where_the_batches_do_whatever_is_read_at_once() {
    let small = [batch(0, 10), batch(2, 3000), batch(9, 100_000), batch(11, 1)].concat();
    let flip = |at: usize| {
        let mut bytes = small.clone();
        bytes[at] ^= 0x40;
        bytes
    };
    let second = batch(0, 10).len();
    for block in [HEADER, HEADERS, WHOLE] {
        let check = |bytes: &[u8], bases: &[i64], flaw: Option<Flaw>| {
            assert_eq!(walk(bytes, block), (bases.to_vec(), flaw), "block {block}");
        };
        check(&[], &[], None);
        check(&small, &[0, 2, 9, 11], None);
        check(&small[..small.len() - 1], &[0, 2, 9], Some(Flaw::Torn));
        check(&small[..second + 5], &[0], Some(Flaw::Torn));
        check(&small[..second + 60], &[0], Some(Flaw::Torn));
        check(&flip(second + 2000), &[0], Some(Flaw::Checksum));
        check(&flip(second + 16), &[0], Some(Flaw::Header)); // Magic.
        check(&flip(second + 8), &[0], Some(Flaw::Torn)); // A length beyond the end.
        check(&flip(second), &[0, 0x4000_0000_0000_0002], Some(Flaw::Order));
        check(&[small.clone(), vec![0; 100]].concat(), &[0, 2, 9, 11], Some(Flaw::Header));
        check(&[batch(5, 1), batch(6, 1)].concat(), &[5], Some(Flaw::Order));
    }
}

#[test]
fn messages_of_older_formats_are_walked_over() {
    let mut old = Vec::new();
    for (offset, magic) in [(3_i64, 0_u8), (4, 1)] {
        let length = if magic == 0 { 14_i32 } else { 22 };
        let mut body = vec![magic, 0];
        body.extend(vec![7; usize::try_from(length).unwrap() - 6]);
        old.extend(offset.to_be_bytes());
        old.extend(length.to_be_bytes());
        let mut crc = Checksum::crc32();
        crc.update(&body);
        old.extend(crc.value().to_be_bytes());
        old.extend(body);
    }
    let bytes = [old, batch(5, 10)].concat();
    assert_eq!(walk(&bytes, HEADERS), (vec![3, 4, 5], None));
}

#[test]
fn behind_a_flaw_the_next_whole_batch_is_found() {
    let parts = [batch(0, 10), batch(2, 300_000), batch(4, 500), batch(6, 10)];
    let starts: Vec<usize> =
        (0..=4).map(|count| parts[..count].iter().map(Vec::len).sum()).collect();
    let check = |damage: &[usize], want: Option<i64>| {
        let mut bytes = parts.concat();
        damage.iter().for_each(|at| bytes[*at] ^= 0x21);
        let file = file(&bytes);
        let mut scan = Scan::new(&*file, 0, bytes.len() as u64, HEADERS);
        scan.next().unwrap();
        let before = scan.position();
        let found = scan.resync().unwrap();
        assert_eq!(found.map(|it| it.base_offset), want, "{damage:?}");
        assert_eq!(scan.position(), before);
    };
    check(&[starts[1] + 16], Some(4));
    check(&[starts[1] + 9], Some(4));
    check(&[starts[1] + 16, starts[2] + 100], Some(6));
    check(&[starts[1] + 16, starts[2] + 16, starts[3] + 70], None);
}
