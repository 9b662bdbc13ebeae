//! When the leader epochs are put on the disk.
//!
//! Not with the append that begins one: a batch carries its epoch, so a start finds again what
//! stands behind the last snapshot of the producers. All before it must be in the file. Nor with a
//! move of the log's start, which a start makes again.

use super::Log;
use crate::error::{Error, is_shortage};
use std::sync::atomic::Ordering;

impl Log {
    /// Notes that an epoch begins with the batch at `start_offset`, unless it has begun.
    pub(super) fn assign_epoch(&self, epoch: i32, start_offset: i64) {
        if self.epochs.read().latest().is_some_and(|(latest, _)| epoch <= latest) || epoch < 0 {
            return;
        }
        if self.epochs.write().assign(epoch, start_offset) {
            self.epochs_unsaved.store(true, Ordering::Release);
        }
    }

    /// Writes what is not written, durably, and makes the folder's names durable with it. False:
    /// there is no room; no later snapshot of the producers may stand before it is done.
    pub(super) fn save_epochs(&self) -> Result<bool, Error> {
        // One at a time, and none who only asks for an epoch waits for it.
        let _saving = self.saving_epochs.lock();
        if !self.epochs_unsaved.swap(false, Ordering::AcqRel) {
            return Ok(true);
        }
        let epochs = self.epochs.read().clone();
        let saved = epochs.save(&*self.home.disk, &self.home.dir());
        match saved.inspect_err(|_| self.epochs_unsaved.store(true, Ordering::Release)) {
            Ok(()) => Ok(true),
            Err(error) if is_shortage(&error) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
