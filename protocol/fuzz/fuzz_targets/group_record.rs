//! A key, behind its length in one byte, and a value of `__consumer_offsets`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| protocol_fuzz::bounded(
    bytes,
    protocol_fuzz::group_record
));
