//! What a simulated disk is told to do badly: the crash point, the faults, the room it has.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What can be asked of a disk, as far as faults and counts tell it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    Open,
    List,
    CacheId,
    Read,
    Create,
    Rename,
    Remove,
    Mkdir,
    SyncDir,
    Write,
    Truncate,
    Reserve,
    WriteOut,
    Sync,
}

/// One failure to come.
#[derive(Clone, Debug)]
pub struct Fault {
    pub operation: Operation,
    /// Only below this path; `/` is everywhere.
    pub below: PathBuf,
    /// How many such operations still succeed before.
    pub after: u64,
    /// The error number that the kernel would give, as 5 for EIO or 28 for ENOSPC.
    pub os_error: i32,
}

impl Fault {
    /// The next such operation anywhere fails with EIO.
    pub fn eio(operation: Operation) -> Fault {
        Fault { operation, below: PathBuf::from("/"), after: 0, os_error: EIO }
    }
}

const EIO: i32 = 5;

/// What comes of a changing operation.
#[derive(Debug)]
pub(super) enum Verdict {
    Go,
    /// It is done, unsynced, and then the power is gone.
    LastAct,
    Fail(io::Error),
}

#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) crash_at: Option<u64>,
    pub(super) is_off: bool,
    pub(super) faults: Vec<Fault>,
    pub(super) broken: Vec<PathBuf>,
    pub(super) cannot_reserve: bool,
    pub(super) is_cold: bool,
    operations: u64,
    counts: BTreeMap<Operation, u64>,
    seed: u64,
}

/// Shared by a disk and its open files.
#[derive(Debug)]
pub(super) struct Power {
    pub(super) plan: Mutex<Plan>,
    pub(super) capacity: AtomicU64,
    pub(super) used: AtomicU64,
    pub(super) bytes_read: AtomicU64,
    /// How often the power has failed.
    pub(super) failures: u64,
}

pub(super) fn power_is_off() -> io::Error {
    io::Error::other("the simulated disk has no power")
}

/// SplitMix64: every seed gives another sequence, and the same seed the same one.
pub(super) fn draws(mut seed: u64) -> impl FnMut() -> u64 {
    move || next_draw(&mut seed)
}

fn next_draw(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *seed;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl Power {
    pub(super) fn new(seed: u64) -> Power {
        Power {
            plan: Mutex::new(Plan { seed, ..Plan::default() }),
            capacity: AtomicU64::new(u64::MAX),
            used: AtomicU64::new(0),
            bytes_read: AtomicU64::new(0),
            failures: 0,
        }
    }

    /// A new start: nothing is planned, the room is the same.
    pub(super) fn restarted(&self, seed: u64) -> Power {
        let power = Power { failures: self.failures, ..Power::new(seed) };
        power.capacity.store(self.capacity.load(Ordering::Relaxed), Ordering::Relaxed);
        power.plan.lock().cannot_reserve = self.plan.lock().cannot_reserve;
        power
    }

    /// The same after a failure.
    pub(super) fn after_crash(&self, seed: u64) -> Power {
        Power { failures: self.failures + 1, ..self.restarted(seed) }
    }

    pub(super) fn operations(&self) -> u64 {
        self.plan.lock().operations
    }

    pub(super) fn count(&self, operation: Operation) -> u64 {
        self.plan.lock().counts.get(&operation).copied().unwrap_or(0)
    }

    pub(super) fn draw(&self) -> u64 {
        next_draw(&mut self.plan.lock().seed)
    }

    pub(super) fn free(&self) -> u64 {
        self.capacity.load(Ordering::Relaxed).saturating_sub(self.used.load(Ordering::Relaxed))
    }

    /// An operation that changes nothing, and so is no point to crash at.
    pub(super) fn look(&self, operation: Operation, path: &Path) -> io::Result<()> {
        match self.plan.lock().begin(operation, path)? {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// An operation that changes something.
    pub(super) fn step(&self, operation: Operation, path: &Path) -> io::Result<Verdict> {
        let mut plan = self.plan.lock();
        let fault = plan.begin(operation, path)?;
        let number = plan.operations;
        plan.operations += 1;
        if plan.crash_at == Some(number) {
            plan.is_off = true;
            return Ok(Verdict::LastAct);
        }
        Ok(fault.map_or(Verdict::Go, Verdict::Fail))
    }
}

impl Plan {
    /// Counts; fails without power or on a broken disk; `Some` is the fault that strikes now.
    fn begin(&mut self, operation: Operation, path: &Path) -> io::Result<Option<io::Error>> {
        if self.is_off {
            return Err(power_is_off());
        }
        *self.counts.entry(operation).or_default() += 1;
        if self.broken.iter().any(|dir| path.starts_with(dir)) {
            return Err(io::Error::from_raw_os_error(EIO));
        }
        let mut struck = None;
        self.faults.retain_mut(|fault| {
            if fault.operation != operation || !path.starts_with(&fault.below) || struck.is_some() {
                return true;
            }
            if fault.after == 0 {
                struck = Some(io::Error::from_raw_os_error(fault.os_error));
                return false;
            }
            fault.after -= 1;
            true
        });
        Ok(struck)
    }
}
