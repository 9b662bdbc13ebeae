//! Bytes that mean harm: every decoder answers them with an error, at once and in little memory.
//!
//! What is done with them stands in `protocol/fuzz`, where libFuzzer makes them up.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test")]

use bytes::Bytes;
use protocol::compression::Codec;
use protocol::messages::{ApiKey, Request, Visit};
use protocol::records::{BatchBuilder, NewRecord};
use std::sync::{MutexGuard, PoisonError};

#[path = "../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "there, it is a crate")]
mod fuzz;

/// What the process touches is counted for all its threads, so one test runs at a time.
#[expect(clippy::disallowed_types, reason = "the tests of this crate have no other lock")]
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Random numbers of a fixed seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }

    /// Bytes that decoders find interesting.
    fn bytes(&mut self, len: usize) -> Vec<u8> {
        const OFTEN: [u8; 12] = [0, 0, 0, 0, 1, 1, 2, 2, 3, 0x7f, 0x80, 0xff];
        let mut byte = || match self.below(4) {
            0 => self.next().to_le_bytes()[3],
            _ => OFTEN[self.below(OFTEN.len())],
        };
        (0..len).map(|_| byte()).collect()
    }

    /// `bytes`, with one thing wrong.
    fn spoilt(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        let at = self.below(bytes.len() + 1);
        match self.below(5) {
            0 => bytes.truncate(at),
            1 => bytes.splice(at..(at + 4).min(bytes.len()), MANY).for_each(drop),
            2 => bytes.splice(at..(at + 1).min(bytes.len()), MANY_COMPACT).for_each(drop),
            3 => {
                let len = self.below(8);
                bytes.splice(at..at, self.bytes(len)).for_each(drop);
            }
            _ => {
                let bit = self.below(8);
                bytes.get_mut(at).into_iter().for_each(|byte| *byte ^= 1 << bit);
            }
        }
        bytes
    }
}

/// `i32::MAX`, as classic and as compact versions write a count.
const MANY: [u8; 4] = [0x7f, 0xff, 0xff, 0xff];
const MANY_COMPACT: [u8; 5] = [0xff, 0xff, 0xff, 0xff, 0x0f];

/// A frame without its length.
struct Frame {
    version: i16,
}

impl Visit for Frame {
    type Output = Vec<u8>;

    fn visit<R: Request>(self) -> Vec<u8> {
        R::default().frame(self.version, 1, "client").unwrap()[4..].to_vec()
    }
}

fn every_version() -> impl Iterator<Item = (ApiKey, i16)> {
    let versions = |key: &ApiKey| (key.codec().min..=key.codec().max, *key);
    ApiKey::ALL.iter().map(versions).flat_map(|(range, key)| range.map(move |v| (key, v)))
}

#[test]
fn every_request_with_a_wrong_byte_is_an_answer() {
    let _alone = alone();
    let mut random = Random(1);
    for (key, version) in every_version() {
        let frame = key.visit(Frame { version });
        fuzz::bounded(&frame, fuzz::decode_request);
        for len in 0..frame.len() {
            fuzz::bounded(&frame[..len], fuzz::decode_request);
        }
        for _ in 0..100 {
            fuzz::bounded(&random.spoilt(&frame), fuzz::decode_request);
        }
    }
}

#[test]
fn every_request_that_claims_too_much_is_an_answer() {
    let _alone = alone();
    let mut random = Random(2);
    for (key, version) in every_version() {
        // A claim right behind the header, and behind up to 12 bytes that may be fields.
        for claim in [&MANY[..], &MANY_COMPACT, &[0xff; 16], &[0x80; 16]] {
            for len in 0..12 {
                for body in [vec![0; len], vec![1; len], random.bytes(len)] {
                    let body = Bytes::from([&body, claim].concat());
                    key.visit(fuzz::Decode { body, version });
                }
            }
        }
    }
}

#[test]
fn every_request_of_random_bytes_is_an_answer() {
    let _alone = alone();
    let mut random = Random(3);
    for (key, version) in every_version() {
        for _ in 0..100 {
            let len = random.below(200);
            let body = Bytes::from(random.bytes(len));
            key.visit(fuzz::Decode { body, version });
        }
    }
}

#[test]
fn a_frame_of_nothing_but_empty_things_costs_a_bounded_multiple() {
    let _alone = alone();
    // Metadata v0 of empty topic names: valid, and the dearest known frame for its length.
    let count = 100_000_u32;
    let mut frame = b"\0\x03\0\0\0\0\0\x01\xff\xff".to_vec();
    frame.extend(count.to_be_bytes());
    frame.resize(frame.len() + 2 * usize::try_from(count).unwrap(), 0);
    fuzz::bounded(&frame, fuzz::decode_request);
}

/// A batch of each codec.
fn batches() -> Vec<Bytes> {
    let build = |codec| {
        let mut builder = BatchBuilder::new(7).codec(codec, None).producer(1, 2, 3);
        for n in 0..8 {
            let value = [b'v'; 100];
            builder.push(NewRecord {
                timestamp_ms: 1_600_000_000_000 + n,
                key: (n % 2 == 0).then_some(b"key"),
                value: Some(&value),
                headers: &[(b"h", Some(b"1")), (b"h", None)],
            });
        }
        builder.build().unwrap()
    };
    Codec::ALL.map(build).to_vec()
}

#[test]
fn every_batch_with_a_wrong_byte_is_an_answer() {
    let _alone = alone();
    let mut random = Random(4);
    for batch in batches() {
        for len in 0..batch.len() {
            fuzz::bounded(&batch[..len], fuzz::record_batch);
        }
        for _ in 0..2000 {
            let mut spoilt = random.spoilt(&batch);
            if random.below(2) == 0 {
                // So that what is spoilt is not just cut off by the length of the batch.
                let len = i32::try_from(spoilt.len()).unwrap() - 12;
                spoilt
                    .get_mut(8..12)
                    .into_iter()
                    .for_each(|to| to.copy_from_slice(&len.to_be_bytes()));
            }
            fuzz::bounded(&spoilt, fuzz::record_batch);
        }
    }
}

#[test]
fn every_compressed_stream_with_a_wrong_byte_is_an_answer() {
    let _alone = alone();
    let mut random = Random(5);
    for (batch, codec) in batches().iter().zip(Codec::ALL) {
        let name = u8::try_from(codec.attributes()).unwrap();
        for _ in 0..1000 {
            let spoilt = random.spoilt(&batch[protocol::records::HEADER_LEN..]);
            fuzz::bounded(&[&[name], &spoilt[..]].concat(), fuzz::decompress);
        }
        for _ in 0..200 {
            let len = random.below(300);
            let bytes = [vec![name], random.bytes(len)].concat();
            fuzz::bounded(&bytes, fuzz::decompress);
        }
    }
}

#[test]
fn a_bomb_costs_no_more_than_the_limit() {
    let _alone = alone();
    let value = vec![0; 4 << 20];
    for codec in Codec::ALL {
        let mut builder = BatchBuilder::new(0).codec(codec, None);
        builder.push(NewRecord { value: Some(&value), ..NewRecord::default() });
        let batch = builder.build().unwrap();
        if codec != Codec::None {
            fuzz::bounded(&batch, fuzz::record_batch);
        }
    }
}

#[test]
fn walking_a_batch_that_is_not_compressed_allocates_nothing() {
    let _alone = alone();
    let batch = batches().swap_remove(0);
    let (walk, held) = fuzz::counted(|| protocol::records::walk(&batch, 0));
    assert_eq!((walk.unwrap().record_count, held), (8, 0));
}

/// Keys of every kind, before a value of nothing.
fn group_keys() -> impl Iterator<Item = Vec<u8>> {
    (0..18_u8).map(|kind| match kind {
        0 | 1 => vec![0, kind, 0, 1, b'g', 0, 1, b't', 0, 0, 0, 3],
        5 | 7 | 8 | 16 => vec![0, kind, 0, 1, b'g', 0, 1, b'm'],
        _ => vec![0, kind, 0, 1, b'g'],
    })
}

#[test]
fn every_record_of_a_group_with_a_wrong_byte_is_an_answer() {
    let _alone = alone();
    let mut random = Random(6);
    for key in group_keys() {
        for version in 0..5 {
            for round in 0..500 {
                let len = random.below(120);
                let mut value = [vec![0, version], random.bytes(len)].concat();
                value = if round % 2 == 0 { value } else { random.spoilt(&value) };
                let len = u8::try_from(key.len()).unwrap();
                fuzz::bounded(&[&[len], &key[..], &value].concat(), fuzz::group_record);
            }
        }
    }
}

#[test]
fn a_record_of_a_group_that_is_all_claims_costs_what_it_is() {
    let _alone = alone();
    for key in group_keys() {
        let len = u8::try_from(key.len()).unwrap();
        for value in [[0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f].repeat(20), vec![1; 10_000]] {
            for skipped in 0..40 {
                let value = [&[0, 0], &vec![0; skipped][..], &value].concat();
                fuzz::bounded(&[&[len], &key[..], &value].concat(), fuzz::group_record);
            }
        }
    }
}
