//! Bytes read as batches of records.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| protocol_fuzz::bounded(
    bytes,
    protocol_fuzz::record_batch
));
