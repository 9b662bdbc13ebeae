//! Snappy as Kafka's clients write it: one raw block, or snappy-java's framing of many.
//!
//! snappy-java writes a header of 16 bytes and then blocks, each behind its length. librdkafka
//! writes the raw block alone. (Snappy's own framing format is not used in Kafka.)

use std::io::{self, Read};

/// What the framing begins with; no raw block does, as its first byte would be a length without
/// end.
const MAGIC: [u8; 8] = *b"\x82SNAPPY\0";
/// Behind the magic: the version, and the oldest version that can read it.
const VERSIONS: [u8; 8] = [0, 0, 0, 1, 0, 0, 0, 1];
/// How much goes into one block when written.
const BLOCK_LEN: usize = 32 * 1024;
/// More than a block can grow: its densest element makes 64 bytes out of 3.
const RATIO_MAX: usize = 22;

/// A stream of the blocks.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    is_framed: bool,
    /// The block that is being read, and how much of it has been.
    block: Vec<u8>,
    read: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        let is_framed = bytes.starts_with(&MAGIC);
        Reader { rest: bytes, is_framed, block: Vec::new(), read: 0 }
    }

    /// The next compressed block; `None` at the end.
    fn next_block(&mut self) -> io::Result<Option<&'a [u8]>> {
        if !self.is_framed {
            let block = std::mem::take(&mut self.rest);
            return Ok((!block.is_empty()).then_some(block));
        }
        // Streams may stand one behind the other, each with its header.
        while let Some(rest) = self.rest.strip_prefix(&MAGIC) {
            let (_versions, rest) = rest.split_first_chunk::<8>().ok_or_else(cut)?;
            self.rest = rest;
        }
        if self.rest.is_empty() {
            return Ok(None);
        }
        let (len, rest) = self.rest.split_first_chunk().ok_or_else(cut)?;
        let len = usize::try_from(i32::from_be_bytes(*len)).map_err(|_| bad("negative length"))?;
        let (block, rest) = rest.split_at_checked(len).ok_or_else(cut)?;
        self.rest = rest;
        Ok(Some(block))
    }
}

impl Read for Reader<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.read == self.block.len() {
            let Some(block) = self.next_block()? else { return Ok(0) };
            let len = len_of(block)?;
            self.read = 0;
            self.block.clear();
            self.block.resize(len, 0);
            snap::raw::Decoder::new().decompress(block, &mut self.block).map_err(bad)?;
        }
        let count = self.block.get(self.read..).unwrap_or_default().read(to)?;
        self.read += count;
        Ok(count)
    }
}

/// Appends the blocks of `bytes`, until `into` is longer than `len_max`.
pub(super) fn decompress(bytes: &[u8], len_max: usize, into: &mut Vec<u8>) -> io::Result<()> {
    let mut reader = Reader::new(bytes);
    while let Some(block) = reader.next_block()?.filter(|_| into.len() <= len_max) {
        let start = into.len();
        into.resize(start + len_of(block)?, 0);
        let out = into.get_mut(start..).unwrap_or_default();
        snap::raw::Decoder::new().decompress(block, out).map_err(bad)?;
    }
    Ok(())
}

/// What a block will be; an error where that cannot be.
fn len_of(block: &[u8]) -> io::Result<usize> {
    let len = snap::raw::decompress_len(block).map_err(bad)?;
    if len / RATIO_MAX > block.len() {
        return Err(bad("a block claims more than it can hold"));
    }
    Ok(len)
}

fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the snappy stream ends within a block")
}

fn bad(cause: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("snappy: {}", cause.to_string()))
}

/// Compresses `bytes` in snappy-java's framing.
pub(super) fn compress(bytes: &[u8]) -> Result<Vec<u8>, snap::Error> {
    let mut out = Vec::new();
    Writer::new().compress(bytes, &mut out)?;
    Ok(out)
}

/// What compression works with.
pub(super) struct Writer {
    encoder: snap::raw::Encoder,
    block: Vec<u8>,
}

impl Writer {
    pub(super) fn new() -> Writer {
        let block = vec![0; snap::raw::max_compress_len(BLOCK_LEN)];
        Writer { encoder: snap::raw::Encoder::new(), block }
    }

    /// Appends `bytes` to `out` in snappy-java's framing.
    pub(super) fn compress(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), snap::Error> {
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&VERSIONS);
        for chunk in bytes.chunks(BLOCK_LEN) {
            let len = self.encoder.compress(chunk, &mut self.block)?;
            // A block of 32 KiB is at most a few bytes longer when compressed.
            out.extend_from_slice(&u32::try_from(len).unwrap_or(0).to_be_bytes());
            out.extend_from_slice(self.block.get(..len).unwrap_or_default());
        }
        Ok(())
    }
}
