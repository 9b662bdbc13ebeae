//! gzip with its memory kept from one stream to the next: flate2 keeps that of DEFLATE only, and
//! what gzip puts around it is little (RFC 1952).

use flate2::{Compress, Compression, Crc, Decompress, FlushCompress, FlushDecompress, Status};
use std::io;

const MAGIC: [u8; 2] = [0x1f, 0x8b];
const DEFLATE: u8 = 8;
const HEADER_CRC: u8 = 2;
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;
/// No name, no time, an unknown system: as little as a header can say.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
/// The room that is made for what comes out, at least.
const ROOM: usize = 16 << 10;

/// Appends all that comes out of `bytes`, until `into` is longer than `len_max`.
pub(super) fn decompress(
    inflate: &mut Decompress,
    mut bytes: &[u8],
    len_max: usize,
    into: &mut Vec<u8>,
) -> io::Result<()> {
    // Members may stand one behind the other.
    loop {
        bytes = behind_header(bytes)?;
        let start = into.len();
        bytes = behind_member(inflate, bytes, len_max, into)?;
        if len_max < into.len() {
            return Ok(());
        }
        bytes = behind_trailer(bytes, into.get(start..).unwrap_or_default())?;
        if bytes.is_empty() {
            return Ok(());
        }
    }
}

fn behind_header(bytes: &[u8]) -> io::Result<&[u8]> {
    let (header, mut rest) = bytes.split_first_chunk::<10>().ok_or_else(cut)?;
    let [first, second, method, flags, ..] = *header;
    if [first, second] != MAGIC || method != DEFLATE {
        return Err(bad("this is not gzip"));
    }
    if flags & EXTRA != 0 {
        let (len, behind) = rest.split_first_chunk().ok_or_else(cut)?;
        rest = behind.get(usize::from(u16::from_le_bytes(*len))..).ok_or_else(cut)?;
    }
    for text in [NAME, COMMENT] {
        if flags & text != 0 {
            let end = rest.iter().position(|byte| *byte == 0).ok_or_else(cut)?;
            rest = rest.get(end + 1..).ok_or_else(cut)?;
        }
    }
    let crc_len = if flags & HEADER_CRC == 0 { 0 } else { 2 };
    rest.get(crc_len..).ok_or_else(cut)
}

fn behind_member<'a>(
    inflate: &mut Decompress,
    bytes: &'a [u8],
    len_max: usize,
    into: &mut Vec<u8>,
) -> io::Result<&'a [u8]> {
    inflate.reset(false);
    let mut rest = bytes;
    while into.len() <= len_max {
        if into.len() == into.capacity() {
            into.reserve(ROOM);
        }
        let (taken, made) = (inflate.total_in(), into.len());
        let status = inflate.decompress_vec(rest, into, FlushDecompress::None).map_err(bad)?;
        let taken = usize::try_from(inflate.total_in() - taken).map_err(bad)?;
        rest = rest.get(taken..).unwrap_or_default();
        if status == Status::StreamEnd {
            return Ok(rest);
        }
        if rest.is_empty() && made == into.len() {
            return Err(cut());
        }
    }
    Ok(rest)
}

fn behind_trailer<'a>(bytes: &'a [u8], out: &[u8]) -> io::Result<&'a [u8]> {
    let (crc, rest) = bytes.split_first_chunk().ok_or_else(cut)?;
    let (len, rest) = rest.split_first_chunk().ok_or_else(cut)?;
    if (u32::from_le_bytes(*crc), u32::from_le_bytes(*len)) != (crc_of(out), len_of(out)) {
        return Err(bad("the checksum or the length does not match"));
    }
    Ok(rest)
}

/// Appends `bytes`, compressed at the default level.
pub(super) fn compress(deflate: &mut Compress, bytes: &[u8], into: &mut Vec<u8>) -> io::Result<()> {
    deflate.reset();
    into.extend_from_slice(&HEADER);
    loop {
        let taken = usize::try_from(deflate.total_in()).map_err(bad)?;
        let rest = bytes.get(taken..).unwrap_or_default();
        into.reserve(rest.len() / 2 + 64);
        if deflate.compress_vec(rest, into, FlushCompress::Finish).map_err(bad)?
            == Status::StreamEnd
        {
            break;
        }
    }
    into.extend_from_slice(&crc_of(bytes).to_le_bytes());
    into.extend_from_slice(&len_of(bytes).to_le_bytes());
    Ok(())
}

/// What [`compress`] works with.
pub(super) fn deflate() -> Compress {
    Compress::new(Compression::default(), false)
}

fn crc_of(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// Modulo 2^32, as gzip has it.
#[expect(clippy::cast_possible_truncation, reason = "the format says so")]
fn len_of(bytes: &[u8]) -> u32 {
    bytes.len() as u32
}

fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the gzip stream ends too soon")
}

fn bad(cause: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("gzip: {}", cause.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_a_header_may_hold_is_passed_over() {
        let mut plain = Vec::new();
        compress(&mut deflate(), b"highwater", &mut plain).unwrap();
        let mut full = HEADER.to_vec();
        full[3] = HEADER_CRC | EXTRA | NAME | COMMENT;
        full.extend_from_slice(b"\x03\0xyzname\0comment\0\xab\xcd");
        full.extend_from_slice(&plain[HEADER.len()..]);
        let mut inflate = Decompress::new(false);
        let mut out = Vec::new();
        decompress(&mut inflate, &[full.clone(), plain].concat(), 100, &mut out).unwrap();
        assert_eq!(out, b"highwaterhighwater");
        for len in 0..full.len() {
            let error = decompress(&mut inflate, &full[..len], 100, &mut Vec::new()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{len}");
        }
    }

    #[test]
    fn a_wrong_checksum_or_length_is_told() {
        let mut plain = Vec::new();
        compress(&mut deflate(), b"highwater", &mut plain).unwrap();
        for at in [plain.len() - 8, plain.len() - 1] {
            let mut wrong = plain.clone();
            wrong[at] ^= 1;
            let error = decompress(&mut Decompress::new(false), &wrong, 100, &mut Vec::new());
            assert!(error.unwrap_err().to_string().contains("does not match"), "{at}");
        }
    }
}
