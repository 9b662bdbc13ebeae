//! Decompression of the records of a batch, as a stream that ends at a limit.

use super::codec::Codec;
use super::snappy;
use flate2::bufread::MultiGzDecoder;
use lz4_flex::frame::FrameDecoder;
use std::fmt;
use std::io::{self, Read};

/// What a frame of zstd may ask to look back on, as a power of two: 128 MiB, the limit of every
/// decoder that is not told otherwise. It is address space, touched only as bytes come out.
pub(super) const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// The records of a batch as they come out of their codec.
///
/// Holds at most a window of the codec, never the whole: for gzip 64 KiB, for LZ4 a few blocks of
/// at most 4 MiB, for snappy a block (at most 22 times its compressed size), for zstd what its
/// frame asks for, at most 128 MiB.
pub struct Decompressor<'a> {
    stream: Stream<'a>,
    limit: usize,
    left: usize,
}

enum Stream<'a> {
    None(&'a [u8]),
    Gzip(Box<MultiGzDecoder<&'a [u8]>>),
    Snappy(snappy::Reader<'a>),
    Lz4(Box<FrameDecoder<&'a [u8]>>),
    Zstd(Box<zstd::stream::read::Decoder<'a, &'a [u8]>>),
}

impl<'a> Decompressor<'a> {
    /// A stream of at most `limit` bytes; the one after that is an error, see [`is_limit`].
    pub fn new(codec: Codec, bytes: &'a [u8], limit: usize) -> io::Result<Decompressor<'a>> {
        let stream = match codec {
            Codec::None => Stream::None(bytes),
            Codec::Gzip => Stream::Gzip(Box::new(MultiGzDecoder::new(bytes))),
            Codec::Snappy => Stream::Snappy(snappy::Reader::new(bytes)),
            Codec::Lz4 => Stream::Lz4(Box::new(FrameDecoder::new(bytes))),
            Codec::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(bytes)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Stream::Zstd(Box::new(decoder))
            }
        };
        Ok(Decompressor { stream, limit, left: limit })
    }

    /// How many bytes have come out.
    pub fn bytes_out(&self) -> usize {
        self.limit - self.left
    }

    /// Everything that comes out.
    pub fn read_all(mut self) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        self.read_to_end(&mut out)?;
        Ok(out)
    }
}

impl Read for Decompressor<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        // One byte more than may come, so that the end and the limit can be told apart.
        let room = to.len().min(self.left.saturating_add(1));
        let to = to.split_at_mut(room).0;
        let count = match &mut self.stream {
            Stream::None(bytes) => bytes.read(to),
            Stream::Gzip(stream) => stream.read(to),
            Stream::Snappy(stream) => stream.read(to),
            Stream::Lz4(stream) => stream.read(to),
            Stream::Zstd(stream) => stream.read(to),
        }?;
        self.left = self.left.checked_sub(count).ok_or_else(|| over(self.limit))?;
        Ok(count)
    }
}

impl fmt::Debug for Decompressor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decompressor").field("left", &self.left).finish_non_exhaustive()
    }
}

/// What says that a limit was met, inside an `io::Error`.
#[derive(Debug)]
struct Limit(usize);

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "more than {} bytes come out", self.0)
    }
}

impl std::error::Error for Limit {}

pub(super) fn over(limit: usize) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, Limit(limit))
}

/// Whether a read failed because more came out than the limit, so not because of bad bytes.
pub fn is_limit(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|cause| cause.is::<Limit>())
}
