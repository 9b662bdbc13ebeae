//! The checksums of Kafka's formats: CRC-32C of all that is written today, CRC-32 of what was written
//! before Kafka 0.11.

use crc_fast::{CrcAlgorithm, Digest};
use std::fmt;

/// The CRC-32C of `bytes`.
pub fn crc32c(bytes: &[u8]) -> u32 {
    crc_fast::crc32_iscsi(bytes)
}

/// The checksum of bytes that come in parts.
pub struct Checksum(Digest);

impl Checksum {
    /// CRC-32C, of Castagnoli's polynomial.
    #[must_use]
    pub fn crc32c() -> Checksum {
        Checksum(Digest::new(CrcAlgorithm::Crc32Iscsi))
    }

    /// CRC-32, as gzip has it.
    #[must_use]
    pub fn crc32() -> Checksum {
        Checksum(Digest::new(CrcAlgorithm::Crc32IsoHdlc))
    }

    /// Takes the bytes that come next.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// That of all bytes so far.
    #[must_use]
    pub fn value(&self) -> u32 {
        u32::try_from(self.0.finalize()).unwrap_or(u32::MAX) // 32 bits, by the algorithm.
    }
}

impl fmt::Debug for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Checksum").field(&self.value()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check values of the two algorithms, as every catalogue of them gives them.
    #[test]
    fn in_parts_and_whole_they_are_what_the_algorithms_say() {
        let digits = b"123456789";
        assert_eq!(crc32c(digits), 0xe306_9283);
        for at in 0..=digits.len() {
            let (first, second) = digits.split_at(at);
            for (mut checksum, want) in
                [(Checksum::crc32c(), 0xe306_9283), (Checksum::crc32(), 0xcbf4_3926)]
            {
                checksum.update(first);
                checksum.update(second);
                assert_eq!(checksum.value(), want, "cut at {at}");
            }
        }
        assert_eq!((Checksum::crc32c().value(), crc32c(b"")), (0, 0));
    }

    /// Long ones go other ways through the library than short ones do.
    #[test]
    fn long_ones_are_right_wherever_they_begin_and_are_cut() {
        let bitwise = |polynomial: u32, bytes: &[u8]| {
            !bytes.iter().fold(u32::MAX, |crc, byte| {
                (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
                    (crc >> 1) ^ if crc & 1 == 1 { polynomial } else { 0 }
                })
            })
        };
        let bytes: Vec<u8> = (0..5000_u32).map(|at| (at * at / 7).to_le_bytes()[0]).collect();
        for from in [0, 1, 7, 15, 63] {
            for len in [1, 15, 16, 17, 127, 128, 129, 255, 256, 1000, 4096, 4900] {
                let bytes = &bytes[from..from + len];
                let at = format!("{len} bytes from {from} on");
                let want = bitwise(0x82f6_3b78, bytes);
                assert_eq!(crc32c(bytes), want, "{at}");
                let (first, second) = bytes.split_at(len / 3);
                for (mut checksum, want) in
                    [(Checksum::crc32c(), want), (Checksum::crc32(), bitwise(0xedb8_8320, bytes))]
                {
                    checksum.update(first);
                    checksum.update(second);
                    assert_eq!(checksum.value(), want, "{at}");
                }
            }
        }
    }
}
