//! The codecs that a batch may be compressed with.
//!
//! Decompression is a stream with a limit: what a batch claims of itself never sizes memory.

mod codec;
mod contexts;
mod gzip;
mod read;
mod snappy;
mod write;

pub use codec::Codec;
pub use contexts::Contexts;
pub use read::{Decompressor, is_limit};
pub use write::{CompressionError, compress};

#[cfg(test)]
mod tests;
