//! The codecs with the memory that they work in, kept from one batch to the next.
//!
//! That memory is up to hundreds of kilobytes, and a batch often has a few thousand bytes. Who goes
//! through many batches would spend more time on getting it than on the codec's work.

use super::codec::Codec;
use super::read::{ZSTD_WINDOW_LOG_MAX, over};
use super::write::{CompressionError, failed, lz4_frame};
use super::{gzip, snappy};
use flate2::{Compress, Decompress};
use lz4_flex::frame::{FrameDecoder, FrameEncoder};
use std::fmt;
use std::io::{self, Cursor, Read, Write};
use zstd::zstd_safe::{
    CCtx, CParameter, DCtx, DParameter, InBuffer, OutBuffer, compress_bound, get_error_name,
};

/// A context of zstd that has grown beyond this, for a frame that looks back far, is not kept.
const KEPT_BYTES_MAX: usize = 8 << 20;
/// The room that is made for what comes out, at least.
const ROOM: usize = 16 << 10;

/// See the module. Each part is made when it is needed first, and anew after an error.
#[derive(Default)]
pub struct Contexts {
    inflate: Option<Decompress>,
    lz4_reader: Option<Lz4Reader>,
    zstd_reader: Option<DCtx<'static>>,
    deflate: Option<Compress>,
    snappy_writer: Option<snappy::Writer>,
    lz4_writer: Option<FrameEncoder<Vec<u8>>>,
    zstd_writer: Option<CCtx<'static>>,
}

/// A reader's buffers are as its frames' first bytes behind the magic ask for.
struct Lz4Reader {
    shape: [u8; 2],
    frames: FrameDecoder<Cursor<Vec<u8>>>,
}

impl Contexts {
    /// Puts all that comes out of `bytes` into `into`, in place of what was there. More than
    /// `limit` bytes are an error, see [`super::is_limit`].
    pub fn decompress(
        &mut self,
        codec: Codec,
        bytes: &[u8],
        limit: usize,
        into: &mut Vec<u8>,
    ) -> io::Result<()> {
        into.clear();
        match codec {
            Codec::None if limit < bytes.len() => return Err(over(limit)),
            Codec::None => into.extend_from_slice(bytes),
            Codec::Gzip => {
                let mut inflate = self.inflate.take().unwrap_or_else(|| Decompress::new(false));
                gzip::decompress(&mut inflate, bytes, limit, into)?;
                self.inflate = Some(inflate);
            }
            Codec::Snappy => snappy::decompress(bytes, limit, into)?,
            Codec::Lz4 => self.read_lz4(bytes, limit, into)?,
            Codec::Zstd => self.read_zstd(bytes, limit, into)?,
        }
        if limit < into.len() { Err(over(limit)) } else { Ok(()) }
    }

    fn read_lz4(&mut self, bytes: &[u8], limit: usize, into: &mut Vec<u8>) -> io::Result<()> {
        let shape = [4, 5].map(|at| bytes.get(at).copied().unwrap_or(0));
        let kept = self.lz4_reader.take().filter(|it| it.shape == shape);
        let mut reader = kept
            .unwrap_or_else(|| Lz4Reader { shape, frames: FrameDecoder::new(Cursor::default()) });
        let source = reader.frames.get_mut();
        source.set_position(0);
        source.get_mut().clear();
        source.get_mut().extend_from_slice(bytes);
        let limit = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        reader.frames.by_ref().take(limit).read_to_end(into)?;
        // Where the limit was met, it stands within a frame.
        let is_through = u64::try_from(into.len()).is_ok_and(|len| len < limit);
        self.lz4_reader = is_through.then_some(reader);
        Ok(())
    }

    fn read_zstd(&mut self, bytes: &[u8], limit: usize, into: &mut Vec<u8>) -> io::Result<()> {
        let mut context = match self.zstd_reader.take() {
            Some(context) => context,
            None => {
                let mut context = DCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?;
                let window = DParameter::WindowLogMax(ZSTD_WINDOW_LOG_MAX);
                context.set_parameter(window).map_err(bad_zstd)?;
                context
            }
        };
        let mut input = InBuffer::around(bytes);
        let mut is_within = false;
        // One frame may stand behind the other.
        while (is_within || input.pos() < bytes.len()) && into.len() <= limit {
            if into.len() == into.capacity() {
                into.reserve(ROOM);
            }
            let (made, taken) = (into.len(), input.pos());
            let mut output = OutBuffer::around_pos(into, made);
            let left = context.decompress_stream(&mut output, &mut input).map_err(bad_zstd)?;
            is_within = left != 0;
            if is_within && (made, taken) == (into.len(), input.pos()) {
                let why = "the zstd stream ends within a frame";
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, why));
            }
        }
        if !is_within && context.sizeof() <= KEPT_BYTES_MAX {
            self.zstd_reader = Some(context);
        }
        Ok(())
    }

    /// Puts `bytes` into `into`, compressed at Kafka's default level, in place of what was there.
    pub fn compress(
        &mut self,
        codec: Codec,
        bytes: &[u8],
        into: &mut Vec<u8>,
    ) -> Result<(), CompressionError> {
        into.clear();
        match codec {
            Codec::None => into.extend_from_slice(bytes),
            Codec::Gzip => {
                let deflate = self.deflate.get_or_insert_with(gzip::deflate);
                gzip::compress(deflate, bytes, into).map_err(failed)?;
            }
            Codec::Snappy => {
                let writer = self.snappy_writer.get_or_insert_with(snappy::Writer::new);
                writer.compress(bytes, into).map_err(failed)?;
            }
            Codec::Lz4 => {
                let mut writer = (self.lz4_writer.take())
                    .unwrap_or_else(|| FrameEncoder::with_frame_info(lz4_frame(), Vec::new()));
                std::mem::swap(writer.get_mut(), into);
                writer.write_all(bytes).map_err(failed)?;
                writer.try_finish().map_err(failed)?;
                std::mem::swap(writer.get_mut(), into);
                self.lz4_writer = Some(writer);
            }
            Codec::Zstd => self.write_zstd(bytes, into)?,
        }
        Ok(())
    }

    fn write_zstd(&mut self, bytes: &[u8], into: &mut Vec<u8>) -> Result<(), CompressionError> {
        let failed = |code| failed(get_error_name(code));
        let mut context = match self.zstd_writer.take() {
            Some(context) => context,
            None => {
                let made = CCtx::try_create();
                let mut context = made.ok_or_else(|| CompressionError("out of memory".into()))?;
                let level = CParameter::CompressionLevel(zstd::DEFAULT_COMPRESSION_LEVEL);
                context.set_parameter(level).map_err(failed)?;
                context
            }
        };
        into.reserve(compress_bound(bytes.len()));
        context.compress2(into, bytes).map_err(failed)?;
        if context.sizeof() <= KEPT_BYTES_MAX {
            self.zstd_writer = Some(context);
        }
        Ok(())
    }
}

fn bad_zstd(code: usize) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("zstd: {}", get_error_name(code)))
}

impl fmt::Debug for Contexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contexts").finish_non_exhaustive()
    }
}
