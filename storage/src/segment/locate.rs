//! Where in a segment an offset or a time is.

use super::outcome::Located;
use super::scan::{Found, HEADERS, Scan, ScanError};
use super::{Home, Segment};

impl Segment {
    /// Where the first batch is that ends at `offset` or behind it.
    pub fn locate(&self, home: &Home, offset: i64) -> Result<Located, ScanError> {
        let relative = self.relative(offset.max(self.base)).unwrap_or(u32::MAX);
        let end = self.recent.end();
        if end.relative <= relative {
            return Ok(Located::Behind);
        }
        let from = match self.recent.floor(relative) {
            Some((mark, next)) if mark.relative == relative => {
                let (position, next) = (u64::from(mark.position), u64::from(next));
                return Ok(Located::At { position, next });
            }
            Some((mark, _)) => mark.position,
            None => self.indexed_position(home, relative)?,
        };
        self.walk(u64::from(from), u64::from(end.position), |found| offset <= found.last_offset)
    }

    /// Whether finding `offset` may have to wait for the disk.
    pub fn is_cold(&self, home: &Home, offset: i64) -> Result<bool, ScanError> {
        let relative = self.relative(offset.max(self.base)).unwrap_or(u32::MAX);
        if self.recent.end().relative <= relative || self.recent.floor(relative).is_some() {
            return Ok(false);
        }
        if self.indexes.get().is_none() {
            return Ok(true);
        }
        let from = self.indexed_position(home, relative)?;
        Ok(!self.file.is_hot(u64::from(from))?)
    }

    fn indexed_position(&self, home: &Home, relative: u32) -> Result<u32, ScanError> {
        let dir = home.dir();
        let place = self.place(home, &dir);
        let entry = self.indexes(home)?.offsets.floor(place, |it| it.relative <= relative)?;
        Ok(entry.map_or(0, |entry| entry.position))
    }

    /// The first batch from `from` on that `wanted` is true of.
    fn walk(
        &self,
        from: u64,
        to: u64,
        wanted: impl Fn(&Found) -> bool,
    ) -> Result<Located, ScanError> {
        let mut scan = Scan::new(&*self.file, from, to, HEADERS).at_or_above(self.base);
        let (segment_end, _) = self.end();
        loop {
            let floor = scan.floor();
            match scan.next() {
                Ok(Some(found)) if found.last_offset < segment_end => {
                    if wanted(&found) {
                        return Ok(Located::At { position: found.position, next: found.end() });
                    }
                }
                Ok(None) => return Ok(Located::Behind),
                beyond @ (Ok(Some(_)) | Err(ScanError::Flawed(_))) => {
                    if let Ok(Some(found)) = beyond {
                        scan.jump(found.position, floor); // What it says of its offsets is wrong.
                    }
                    let damage = self.damage_at(&mut scan)?;
                    let behind = Found {
                        position: damage.position,
                        size: damage.end_position - damage.position,
                        base_offset: damage.offset,
                        last_offset: damage.next_offset - 1,
                        max_timestamp: -1,
                        header: None,
                    };
                    if wanted(&behind) {
                        return Ok(Located::Damaged(damage));
                    }
                    scan.jump(damage.end_position, damage.next_offset);
                }
                Err(error @ ScanError::Disk(_)) => return Err(error),
            }
        }
    }

    /// The first batch, at or behind the one that the time index names, whose greatest timestamp
    /// is `timestamp` or above and that ends at `from_offset` or behind it.
    pub fn locate_time(
        &self,
        home: &Home,
        timestamp: i64,
        from_offset: i64,
    ) -> Result<Located, ScanError> {
        let dir = home.dir();
        let place = self.place(home, &dir);
        let times = &self.indexes(home)?.times;
        // All up to that entry's offset is below the timestamp.
        let before = times.floor(place, |it| it.timestamp < timestamp)?;
        let relative = before.map_or(0, |it| it.relative);
        let relative = relative.max(self.relative(from_offset).unwrap_or(0));
        let from = self.indexed_position(home, relative)?;
        let end = u64::from(self.recent.end().position);
        self.walk(u64::from(from), end, |found| {
            timestamp <= found.max_timestamp && from_offset <= found.last_offset
        })
    }
}
