//! A file that nobody writes any more, as memory: mapped from the real disk, read from a simulated one.

use bytes::Bytes;
use std::ops::Deref;

/// The bytes of a sealed file. Mapped ones cost address space, and memory only where touched.
#[derive(Debug)]
pub enum Map {
    Mapped(memmap2::Mmap),
    Read(Bytes),
}

impl Map {
    /// Maps the first `len` bytes of a real file.
    ///
    /// The size is checked first: touching a page behind the end of a file is a SIGBUS.
    pub(super) fn of(file: &std::fs::File, len: u64) -> std::io::Result<Map> {
        if file.metadata()?.len() < len {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let len = usize::try_from(len).map_err(|_| std::io::ErrorKind::FileTooLarge)?;
        if len == 0 {
            return Ok(Map::Read(Bytes::new())); // An empty range cannot be mapped.
        }
        #[expect(unsafe_code, reason = "a map is the only cheap way to search many index files")]
        // SAFETY: the memory is read only, and `File::map` is for sealed files of a log directory
        // that this process holds by lock: their segments are dropped by unlinking, which keeps the
        // pages, and are neither written nor cut while a map of them is held.
        let map = unsafe { memmap2::MmapOptions::new().len(len).map(file) }?;
        Ok(Map::Mapped(map))
    }
}

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Map::Mapped(map) => map,
            Map::Read(bytes) => bytes,
        }
    }
}
