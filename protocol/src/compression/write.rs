//! Compression of the records of a batch, in the frames that every Kafka client reads.

use super::codec::Codec;
use super::snappy;
use flate2::Compression;
use flate2::write::GzEncoder;
use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
use std::fmt;
use std::io::Write;

/// Why bytes could not be compressed: the codec is out of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompressionError(pub String);

impl fmt::Display for CompressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "compression failed: {}", self.0)
    }
}

impl std::error::Error for CompressionError {}

/// Compresses `bytes`. `level` is that of `compression.{gzip,lz4,zstd}.level`, `None` Kafka's
/// default; one outside of a codec's range is the nearest within. Snappy has no levels, and this
/// encoder of LZ4 has one.
pub fn compress(
    codec: Codec,
    level: Option<i32>,
    bytes: &[u8],
) -> Result<Vec<u8>, CompressionError> {
    match codec {
        Codec::None => Ok(bytes.to_vec()),
        Codec::Gzip => {
            let level = level.and_then(|level| u32::try_from(level.min(9)).ok());
            let level = level.map_or(Compression::default(), Compression::new);
            let mut encoder = GzEncoder::new(Vec::new(), level);
            encoder.write_all(bytes).and_then(|()| encoder.finish()).map_err(failed)
        }
        Codec::Snappy => snappy::compress(bytes).map_err(failed),
        Codec::Lz4 => {
            let mut encoder = FrameEncoder::with_frame_info(lz4_frame(), Vec::new());
            encoder.write_all(bytes).map_err(failed)?;
            encoder.finish().map_err(failed)
        }
        Codec::Zstd => {
            let level = level.unwrap_or(zstd::DEFAULT_COMPRESSION_LEVEL);
            let range = zstd::compression_level_range();
            let level = level.clamp(*range.start(), *range.end());
            zstd::bulk::compress(bytes, level).map_err(failed)
        }
    }
}

/// Blocks that do not refer to each other: Java's reader refuses linked ones.
pub(super) fn lz4_frame() -> FrameInfo {
    FrameInfo::new().block_size(BlockSize::Max64KB).block_mode(BlockMode::Independent)
}

pub(super) fn failed(cause: impl ToString) -> CompressionError {
    CompressionError(cause.to_string())
}
