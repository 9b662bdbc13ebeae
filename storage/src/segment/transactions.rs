//! The aborted transactions whose markers stand in a segment: its `.txnindex`, read once.

use super::name::Kind;
use super::{Home, Segment};
use crate::disk::File;
use crate::error::Error;
use crate::txn_index::{self, AbortedTxn, Found};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Of more than so many none is kept, and the file is read each time that somebody asks.
const KEPT_MAX: usize = 1024;

impl Segment {
    /// There is no such file.
    pub fn has_no_aborted(&self) {
        self.aborted.0.lock().entries = Some(Vec::new());
    }

    /// Those that a `read_committed` fetch of `from..to` must skip.
    pub fn collect_aborted(&self, home: &Home, from: i64, to: i64) -> Result<Found, Error> {
        let known = self.aborted.0.lock();
        if let Some(entries) = &known.entries {
            return Ok(txn_index::collect(entries, from, to));
        }
        let changes = known.changes;
        drop(known);
        let entries = txn_index::read(&*home.disk, &home.path(Kind::TxnIndex, self.base))?;
        let found = txn_index::collect(&entries, from, to);
        let mut known = self.aborted.0.lock();
        if known.changes == changes && entries.len() <= KEPT_MAX {
            known.entries = Some(entries);
        }
        Ok(found)
    }

    /// Notes one whose marker was appended; returns the file for a later sync.
    pub fn append_aborted(&self, home: &Home, aborted: AbortedTxn) -> io::Result<Arc<dyn File>> {
        let mut known = self.aborted.0.lock();
        known.changes += 1;
        // After a failure the file alone says what stands in it.
        let entries = known.entries.take();
        let path = home.path(Kind::TxnIndex, self.base);
        let file = txn_index::append(&*home.disk, &path, &aborted)?;
        known.entries = entries.filter(|entries| entries.len() < KEPT_MAX);
        if let Some(entries) = &mut known.entries {
            entries.push(aborted);
        }
        Ok(file)
    }

    /// Drops those of markers at or behind `offset`: the log was cut there.
    pub fn cut_aborted(&self, home: &Home, offset: i64) -> Result<(), Error> {
        let cut = self.change_aborted(home, |path| txn_index::truncate(&*home.disk, path, offset));
        cut.map(Option::unwrap_or_default)
    }

    /// The same after a crash, which may have torn the file. Returns the offset of the first marker
    /// that is to be noted again.
    pub fn mend_aborted(&self, home: &Home, offset: i64) -> Result<i64, Error> {
        let within = self.base..offset;
        let mend = |path: &Path| txn_index::mend(&*home.disk, path, within);
        Ok(self.change_aborted(home, mend)?.unwrap_or(self.base))
    }

    /// None: there are none, and no file to change.
    fn change_aborted<T>(
        &self,
        home: &Home,
        change: impl FnOnce(&Path) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let mut known = self.aborted.0.lock();
        if known.entries.as_ref().is_some_and(Vec::is_empty) {
            return Ok(None);
        }
        known.changes += 1;
        known.entries = None;
        change(&home.path(Kind::TxnIndex, self.base)).map(Some)
    }
}
