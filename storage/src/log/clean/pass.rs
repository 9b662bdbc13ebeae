//! A pass of the cleaner: what it may cost, who may stop it, and what it did.

use super::buffers::Buffers;
use super::error::CleanError;
use crate::log::{Doomed, Log};
use std::fmt::Debug;

/// The supervisor is asked after so many bytes.
const ASK_EVERY_BYTES: u64 = 256 << 10;

/// What a pass may cost, and what time it is.
#[derive(Clone, Copy, Debug)]
pub struct CleanOptions {
    /// Wall clock, in milliseconds.
    pub now_ms: i64,
    /// Bytes of the offset map.
    pub map_bytes: usize,
    /// How full it may get, from 0 to 1.
    pub load_factor: f64,
    /// Bytes that are read at once, and written at once.
    pub buffer_bytes: usize,
    /// What nobody can guess who chooses keys.
    pub secret: [u64; 2],
}

/// Who lets a log be cleaned.
pub trait Supervisor: Debug {
    /// So many bytes were read or written: waits as long as that must take. False: stop.
    fn may_go_on(&mut self, bytes: u64) -> bool;
    /// Segments were replaced: their files are to be unlinked after `file.delete.delay.ms`.
    fn replaced(&mut self, doomed: Doomed);
}

/// What a pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Up to here the log is clean now: the next pass begins there.
    pub end: i64,
    /// Bytes that were read to fill the map, read again, and written.
    pub mapped_bytes: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// Keys in the map.
    pub keys: usize,
}

/// A pass under way.
#[derive(Debug)]
pub(super) struct Pass<'a> {
    pub(super) log: &'a Log,
    pub(super) options: &'a CleanOptions,
    pub(super) supervisor: &'a mut dyn Supervisor,
    /// Bytes that the supervisor was not told of.
    unspent: u64,
    pub(super) done: Cleaned,
    pub(super) buffers: Buffers,
}

impl<'a> Pass<'a> {
    pub(super) fn new(
        log: &'a Log,
        options: &'a CleanOptions,
        supervisor: &'a mut dyn Supervisor,
    ) -> Pass<'a> {
        Pass {
            log,
            options,
            supervisor,
            unspent: 0,
            done: Cleaned::default(),
            buffers: Buffers::default(),
        }
    }

    /// So many bytes were read or written.
    pub(super) fn spend(&mut self, bytes: u64) -> Result<(), CleanError> {
        self.unspent += bytes;
        if self.unspent < ASK_EVERY_BYTES {
            return Ok(());
        }
        let may_go_on = self.supervisor.may_go_on(std::mem::take(&mut self.unspent));
        if may_go_on && self.log.failure().is_none() { Ok(()) } else { Err(CleanError::Stopped) }
    }
}
