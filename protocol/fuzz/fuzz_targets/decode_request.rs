//! A frame behind its length, read as a request and as a response.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| protocol_fuzz::bounded(
    bytes,
    protocol_fuzz::decode_request
));
