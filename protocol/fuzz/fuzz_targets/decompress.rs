//! Bytes decompressed; the first one names the codec.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| protocol_fuzz::bounded(
    bytes,
    protocol_fuzz::decompress
));
