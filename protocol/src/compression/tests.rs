//! Every codec: what comes back, what other implementations wrote, and bombs.

use super::*;
use std::io::Read;

fn decompress(codec: Codec, bytes: &[u8], limit: usize) -> std::io::Result<Vec<u8>> {
    Decompressor::new(codec, bytes, limit)?.read_all()
}

/// Text of a fixed seed: it repeats itself, but not everywhere.
fn sample(len: usize) -> Vec<u8> {
    let mut state = 7_u32;
    let mut byte = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24).to_le_bytes()[0] & 0x0f
    };
    (0..len).map(|_| byte()).collect()
}

#[test]
fn what_is_compressed_comes_back_at_every_level() {
    for codec in Codec::ALL {
        for len in [0, 1, 32 * 1024, 64 * 1024 + 1] {
            for level in [None, Some(i32::MIN), Some(-1), Some(1), Some(9), Some(i32::MAX)] {
                let bytes = sample(len);
                let packed = compress(codec, level, &bytes).unwrap();
                assert!(decompress(codec, &packed, len).unwrap() == bytes, "{codec:?} {len}");
            }
        }
    }
}

#[test]
fn frames_of_other_implementations_are_read() {
    let check = |codec, bytes: &[u8]| {
        assert_eq!(decompress(codec, bytes, 100).unwrap(), b"highwater", "{codec:?}");
    };
    // librdkafka: a raw block.
    check(Codec::Snappy, b"\x09\x20highwater");
    // snappy-java: header, then a length before each block.
    let header = b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01";
    let blocks = b"\0\0\0\x06\x04\x0chigh\0\0\0\x07\x05\x10water";
    check(Codec::Snappy, &[&header[..], blocks].concat());
    // The same twice over, as when streams are joined.
    let halves = [&header[..], &blocks[..10], header, &blocks[10..]].concat();
    check(Codec::Snappy, &halves);
    // gzip, in two members.
    let halves = ["high", "water"].map(|half| compress(Codec::Gzip, None, half.as_bytes()));
    check(Codec::Gzip, &halves.map(Result::unwrap).concat());
    // LZ4: a block that is not compressed, without and with a checksum of the content.
    check(Codec::Lz4, b"\x04\x22\x4d\x18\x60\x40\x82\x09\0\0\x80highwater\0\0\0\0");
}

#[test]
fn what_is_written_begins_as_kafka_s_clients_expect() {
    let begin = |codec| compress(codec, None, b"highwater").unwrap()[..4].to_vec();
    assert_eq!(begin(Codec::Gzip)[..3], [0x1f, 0x8b, 8]);
    assert_eq!(begin(Codec::Snappy), *b"\x82SNA");
    assert_eq!(begin(Codec::Lz4), [0x04, 0x22, 0x4d, 0x18]);
    assert_eq!(begin(Codec::Zstd), [0x28, 0xb5, 0x2f, 0xfd]);
    // Blocks of 64 KiB that do not refer to each other, no checksums.
    assert_eq!(compress(Codec::Lz4, None, b"highwater").unwrap()[4..7], [0x60, 0x40, 0x82]);
}

#[test]
fn a_stream_ends_at_its_limit() {
    let bomb = vec![0; 4 << 20];
    for codec in [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        let packed = compress(codec, None, &bomb).unwrap();
        let mut stream = Decompressor::new(codec, &packed, 1 << 20).unwrap();
        let mut out = vec![0; 2 << 20];
        let error = loop {
            match stream.read(&mut out) {
                Ok(count) => assert!(0 < count && count <= 1 << 20, "{codec:?}"),
                Err(error) => break error,
            }
        };
        assert!(is_limit(&error), "{codec:?}: {error}");
    }
}

#[test]
fn a_snappy_block_that_claims_more_than_it_can_hold_is_refused() {
    // Four gigabytes out of three bytes, raw and framed.
    let raw = b"\xff\xff\xff\xff\x0f\0\0\0";
    let framed = [&b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01\0\0\0\x08"[..], raw].concat();
    for bytes in [&raw[..], &framed] {
        let error = decompress(Codec::Snappy, bytes, usize::MAX).unwrap_err();
        assert!(error.to_string().contains("claims more"), "{error}");
    }
}

#[test]
fn what_no_codec_wrote_is_an_error() {
    for codec in [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        for bytes in [&[0xff; 40][..], b"no codec wrote this", &[0x82], b"\x82SNAPPY\0\0"] {
            assert!(decompress(codec, bytes, 1 << 20).is_err(), "{codec:?} {bytes:x?}");
        }
    }
}

#[test]
fn names_and_numbers_come_back() {
    for codec in Codec::ALL {
        assert_eq!(Codec::from_name(codec.name()), Some(codec));
        assert_eq!(Codec::from_attributes(codec.attributes() | 0x78), Some(codec));
    }
    assert_eq!([5, 6, 7, -1].map(Codec::from_attributes), [None; 4]);
}

#[test]
fn kept_contexts_say_what_new_ones_say() {
    let mut contexts = Contexts::default();
    let (mut packed, mut out) = (Vec::new(), Vec::new());
    for len in [0, 1, 300, 64 * 1024 + 1, 2000, 1] {
        for codec in Codec::ALL {
            let bytes = sample(len);
            contexts.compress(codec, &bytes, &mut packed).unwrap();
            assert!(decompress(codec, &packed, len).unwrap() == bytes, "{codec:?} {len}");
            contexts.decompress(codec, &packed, len, &mut out).unwrap();
            assert!(out == bytes, "{codec:?} {len}");
            if codec == Codec::Lz4 {
                continue; // As in Kafka's clients, what stands behind the first frame is not read.
            }
            let twice = [&packed[..], &packed].concat();
            contexts.decompress(codec, &twice, 2 * len, &mut out).unwrap();
            assert!(out == [&bytes[..], &bytes].concat(), "{codec:?} {len}");
        }
    }
}

#[test]
fn kept_contexts_are_sound_again_after_an_error() {
    let mut contexts = Contexts::default();
    let (mut packed, mut out) = (Vec::new(), Vec::new());
    let bytes = sample(100_000);
    for codec in [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        contexts.compress(codec, &bytes, &mut packed).unwrap();
        for len in (1..packed.len()).step_by(9973) {
            let cut = contexts.decompress(codec, &packed[..len], 1 << 20, &mut out);
            // LZ4's reader, here as in the stream, takes blocks without an end for all there is.
            assert!(cut.is_err() || codec == Codec::Lz4, "{codec:?} {len}");
            let error = contexts.decompress(codec, &packed, 99_999, &mut out).unwrap_err();
            assert!(is_limit(&error), "{codec:?}: {error}");
            contexts.decompress(codec, &packed, 100_000, &mut out).unwrap();
            assert!(out == bytes, "{codec:?} {len}");
        }
        assert!(contexts.decompress(codec, &[0xff; 40], 1 << 20, &mut out).is_err(), "{codec:?}");
    }
    let error = contexts.decompress(Codec::None, &bytes, 99_999, &mut out).unwrap_err();
    assert!(is_limit(&error), "{error}");
}
