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
            let len = snap::raw::decompress_len(block).map_err(bad)?;
            if len / RATIO_MAX > block.len() {
                return Err(bad("a block claims more than it can hold"));
            }
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

fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the snappy stream ends within a block")
}

fn bad(cause: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("snappy: {}", cause.to_string()))
}

/// Compresses `bytes` in snappy-java's framing.
pub(super) fn compress(bytes: &[u8]) -> Result<Vec<u8>, snap::Error> {
    let mut out = [MAGIC, VERSIONS].concat();
    let mut encoder = snap::raw::Encoder::new();
    let mut block = vec![0; snap::raw::max_compress_len(BLOCK_LEN)];
    for chunk in bytes.chunks(BLOCK_LEN) {
        let len = encoder.compress(chunk, &mut block)?;
        // A block of 32 KiB is at most a few bytes longer when compressed.
        out.extend_from_slice(&u32::try_from(len).unwrap_or(0).to_be_bytes());
        out.extend_from_slice(block.get(..len).unwrap_or_default());
    }
    Ok(out)
}
