//! What is done with bytes from outside: under libFuzzer here, and with fixed seeds in
//! `protocol/tests/hostile.rs`.
//!
//! `RUSTC_BOOTSTRAP=1 cargo fuzz run decode_request -s none -- -rss_limit_mb=512` in `protocol/`.

mod memory;

pub use memory::{bounded, counted};

use bytes::Bytes;
use protocol::compression::{Codec, Decompressor, compress};
use protocol::coordinator::group::GroupRecord;
use protocol::messages::{Header, Request, Visit};
use protocol::records::{self, Batch, BatchBuilder, BatchHeader, NewRecord};

/// What may come out of a batch here.
pub const DECOMPRESSED_BYTES_MAX: usize = 1 << 20;

/// What a decoder may hold beside the bytes that go in and come out: the windows of the codecs,
/// of which those of LZ4 are the largest.
const WINDOW_BYTES_MAX: usize = 16 << 20;

/// A frame behind its length, read as a request and as a response.
pub fn decode_request(frame: &[u8]) {
    let mut body = Bytes::copy_from_slice(frame);
    if let Ok(header) = Header::read(&mut body) {
        header.key.visit(Decode { body, version: header.version });
    }
}

/// Reads a body as a request and as a response.
#[derive(Debug)]
pub struct Decode {
    pub body: Bytes,
    pub version: i16,
}

impl Visit for Decode {
    type Output = ();

    fn visit<R: Request>(self) {
        let _response = R::read_response(self.version, self.body.clone());
        if let Ok(request) = R::read(self.body, self.version) {
            // Nothing is said of these bytes: the codec counts tags above `i32::MAX` among those
            // that it writes, and does not write them.
            let _written = request.body(self.version);
        }
    }
}

/// Bytes read as batches of records.
pub fn record_batch(bytes: &[u8]) {
    for batch in records::batches(Bytes::copy_from_slice(bytes)) {
        let Ok(batch) = batch else { return };
        assert_eq!(batch.bytes[..records::HEADER_LEN], batch.header.write());
        let (walked, held) = counted(|| records::walk(&batch.bytes, DECOMPRESSED_BYTES_MAX));
        // A block of snappy grows 22 times; a window holds twice what came out of it.
        let most = 22 * bytes.len() + 2 * DECOMPRESSED_BYTES_MAX + WINDOW_BYTES_MAX;
        assert!(held <= most, "{held} bytes held for {}", bytes.len());
        if !batch.header.is_compressed() {
            assert!(held <= 1024, "{held} bytes held, and there is nothing to decompress");
        }
        if let Ok(walk) = walked {
            assert_eq!(walk.record_count, batch.header.record_count);
            copy(&batch);
        }
    }
}

/// The records of a batch, read and built again, are its records.
fn copy(batch: &Batch) {
    let header = &batch.header;
    let mut builder = BatchBuilder::new(header.base_offset);
    let mut read = records::records(&batch.bytes, DECOMPRESSED_BYTES_MAX).expect("it was walked");
    while let Some(record) = read.next() {
        let record = record.expect("it was walked");
        let headers: Vec<_> = record.headers.collect();
        let timestamp_ms = record.timestamp_ms(header);
        let (key, value) = (record.key, record.value);
        builder.push(NewRecord { timestamp_ms, key, value, headers: &headers });
    }
    let built = builder.build().expect("the offsets rise by one");
    let walk = |bytes| records::walk(bytes, DECOMPRESSED_BYTES_MAX);
    assert_eq!(walk(&built), walk(&batch.bytes));
    assert!(records::crc_matches(&built));
    assert_eq!(BatchHeader::read(&built).map(|header| header.size()), Ok(built.len()));
}

/// Bytes decompressed; the first one names the codec. Then compressed, and back again.
pub fn decompress(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let Some(codec) = Codec::from_attributes((*first).into()) else { return };
    let (out, held) = counted(|| {
        Decompressor::new(codec, rest, DECOMPRESSED_BYTES_MAX).and_then(Decompressor::read_all)
    });
    let most = 22 * rest.len() + 4 * DECOMPRESSED_BYTES_MAX + WINDOW_BYTES_MAX;
    assert!(held <= most, "{held} bytes held for {}", rest.len());
    assert!(out.map_or(0, |out| out.len()) <= DECOMPRESSED_BYTES_MAX);
    let packed = compress(codec, Some((*first / 8).into()), rest).expect("memory suffices");
    let back = Decompressor::new(codec, &packed, rest.len()).and_then(Decompressor::read_all);
    assert!(back.is_ok_and(|back| back == rest), "{codec:?} gives back what went in");
}

/// A key, behind its length in one byte, and a value, read as a record of `__consumer_offsets`.
pub fn group_record(bytes: &[u8]) {
    let Some((len, rest)) = bytes.split_first() else { return };
    let (key, value) = rest.split_at(rest.len().min((*len).into()));
    let (read, held) = counted(|| GroupRecord::read(key, Some(value)));
    // The dearest are lists of empty strings: a pointer and a counted allocation for a byte.
    assert!(held <= 128 * bytes.len() + 4096, "{held} bytes held for {}", bytes.len());
    if let Ok(Some(record)) = read {
        let (key, value) = (record.key().expect("read"), record.value().expect("read"));
        let again = GroupRecord::read(&key, value.as_deref());
        assert!(again.is_ok_and(|again| again.is_some()), "{record:?} comes back");
    }
}
