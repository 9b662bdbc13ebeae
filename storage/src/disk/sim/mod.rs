//! A disk in memory that loses, when the power fails, whatever was not synced: bytes, and names.
//!
//! It is harsher than a file system has to be: unsynced writes are kept, lost or torn by sectors,
//! out of order; unsynced names are kept up to some point only, folder by folder. All that it
//! draws comes from a seed, so a failure replays.

mod content;
mod power;
mod tree;

pub use power::{Fault, Operation};

use super::{Disk, Entry, File, Map};
use content::Node;
use parking_lot::Mutex;
use power::{Power, Verdict, power_is_off};
use std::io::{self, ErrorKind, IoSlice};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tree::Tree;

/// A simulated disk. Clones are the same disk.
#[derive(Clone, Debug)]
pub struct SimDisk {
    tree: Arc<Mutex<Tree>>,
    power: Arc<Power>,
}

impl Default for SimDisk {
    fn default() -> SimDisk {
        SimDisk::new(0)
    }
}

impl SimDisk {
    /// An empty disk. The seed decides what a failing operation leaves behind.
    pub fn new(seed: u64) -> SimDisk {
        SimDisk { tree: Arc::default(), power: Arc::new(Power::new(seed)) }
    }

    /// How many operations changed something so far: every point at which a crash differs.
    pub fn operations(&self) -> u64 {
        self.power.operations()
    }

    /// How often one kind of operation was asked for.
    pub fn count(&self, operation: Operation) -> u64 {
        self.power.count(operation)
    }

    /// Bytes read so far: the cost of a recovery.
    pub fn bytes_read(&self) -> u64 {
        self.power.bytes_read.load(Ordering::Relaxed)
    }

    /// The power fails during changing operation number `n` (from 0): it has begun, nobody hears
    /// of its success, and every later one fails. Then [`SimDisk::crash`] gives what is left.
    pub fn crash_at(&self, n: u64) {
        self.power.plan.lock().crash_at = Some(n);
    }

    /// Whether the power has failed.
    pub fn is_off(&self) -> bool {
        self.power.plan.lock().is_off
    }

    /// What another start finds if the power failed now: a new disk, all of it durable. `seed`
    /// draws what of the unsynced is kept. This disk is as it was, so many outcomes can be drawn.
    pub fn crash(&self, seed: u64) -> SimDisk {
        let power = Arc::new(self.power.after_crash(seed));
        let tree = self.tree.lock().after_crash(&power, &mut power::draws(seed));
        SimDisk { tree: Arc::new(Mutex::new(tree)), power }
    }

    /// What another process finds, or another start after a clean stop of the machine: a new disk
    /// with everything.
    pub fn fork(&self) -> SimDisk {
        let power = Arc::new(self.power.restarted(0));
        let tree = self.tree.lock().as_seen(&power);
        SimDisk { tree: Arc::new(Mutex::new(tree)), power }
    }

    /// Lets a chosen operation fail.
    pub fn fail(&self, fault: Fault) {
        self.power.plan.lock().faults.push(fault);
    }

    /// From now on everything below `dir` fails with EIO, as on a disk that died.
    pub fn break_dir(&self, dir: &Path) {
        self.power.plan.lock().broken.push(dir.to_owned());
    }

    /// Undoes [`SimDisk::break_dir`] and every fault that has not struck yet.
    pub fn mend(&self) {
        let mut plan = self.power.plan.lock();
        plan.broken.clear();
        plan.faults.clear();
    }

    /// Limits what files may hold together; beyond it writes fail with `StorageFull`, part done.
    pub fn set_capacity(&self, bytes: u64) {
        self.power.capacity.store(bytes, Ordering::Relaxed);
    }

    /// Lets [`File::reserve`] fail with `Unsupported`, as some file systems do.
    pub fn set_reserve_supported(&self, supported: bool) {
        self.power.plan.lock().cannot_reserve = !supported;
    }

    /// Lets every page look as if it had to come from the device, or none.
    pub fn set_cold(&self, cold: bool) {
        self.power.plan.lock().is_cold = cold;
    }

    /// Flips the bits of `mask` in one byte, as media that rot.
    pub fn rot(&self, path: &Path, offset: u64, mask: u8) -> io::Result<()> {
        let node = self.tree.lock().file(path)?;
        node.rot(offset, mask)
    }

    /// Runs one change of names: `apply` records it, and whether anybody hears of it is up to the power.
    fn change(
        &self,
        operation: Operation,
        path: &Path,
        apply: impl FnOnce(&mut Tree) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut tree = self.tree.lock();
        match self.power.step(operation, path)? {
            Verdict::Go => apply(&mut tree),
            Verdict::LastAct => {
                apply(&mut tree)?;
                Err(power_is_off())
            }
            Verdict::Fail(error) => Err(error),
        }
    }

    fn handle(&self, path: &Path, node: Arc<Node>) -> SimFile {
        SimFile { node, path: path.to_owned(), power: self.power.clone(), holds: false }
    }
}

impl Disk for SimDisk {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        let tree = self.tree.lock();
        self.power.look(Operation::Open, path)?;
        Ok(Arc::new(self.handle(path, tree.file(path)?)))
    }
    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        let node = Arc::new(Node::new(self.power.clone(), Vec::new()));
        self.change(Operation::Create, path, |tree| tree.link_file(path, node.clone()))?;
        Ok(Arc::new(self.handle(path, node)))
    }
    fn lock(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        if !self.exists(path)? {
            self.create(path)?;
        }
        let mut file = self.handle(path, self.tree.lock().file(path)?);
        if file.node.is_held.swap(true, Ordering::AcqRel) {
            return Err(ErrorKind::WouldBlock.into());
        }
        file.holds = true;
        Ok(Arc::new(file))
    }
    fn exists(&self, path: &Path) -> io::Result<bool> {
        let tree = self.tree.lock();
        self.power.look(Operation::Open, path)?;
        Ok(tree.exists(path))
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        let tree = self.tree.lock();
        self.power.look(Operation::List, dir)?;
        tree.list(dir)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(Operation::Rename, from, |tree| tree.rename(from, to))
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.change(Operation::Remove, path, |tree| tree.remove(path))
    }
    fn mkdir(&self, dir: &Path) -> io::Result<()> {
        self.change(Operation::Mkdir, dir, |tree| tree.mkdir(dir))
    }
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut tree = self.tree.lock();
        match self.power.step(Operation::SyncDir, dir)? {
            Verdict::Go => tree.sync_dir(dir),
            Verdict::LastAct => Err(power_is_off()),
            Verdict::Fail(error) => Err(error),
        }
    }
    fn free_bytes(&self, dir: &Path) -> io::Result<u64> {
        self.power.look(Operation::List, dir)?;
        Ok(self.power.free())
    }
    fn total_bytes(&self, dir: &Path) -> io::Result<u64> {
        self.power.look(Operation::List, dir)?;
        Ok(self.power.capacity.load(Ordering::Relaxed))
    }
    fn cache_id(&self, dir: &Path) -> io::Result<Option<String>> {
        self.power.look(Operation::CacheId, dir)?;
        Ok(Some(format!("after {} failures", self.power.failures)))
    }
}

/// An open file. It stays usable after its name is gone, as on Unix.
#[derive(Debug)]
struct SimFile {
    node: Arc<Node>,
    /// Where it was opened, for faults that strike below a folder.
    path: PathBuf,
    power: Arc<Power>,
    holds: bool,
}

impl Drop for SimFile {
    fn drop(&mut self) {
        if self.holds {
            self.node.is_held.store(false, Ordering::Release);
        }
    }
}

impl File for SimFile {
    fn size(&self) -> io::Result<u64> {
        self.power.look(Operation::Open, &self.path)?;
        Ok(self.node.size())
    }
    fn truncate(&self, size: u64) -> io::Result<()> {
        match self.power.step(Operation::Truncate, &self.path)? {
            Verdict::Go => self.node.truncate(size),
            Verdict::LastAct => {
                self.node.truncate(size)?;
                Err(power_is_off())
            }
            Verdict::Fail(error) => Err(error),
        }
    }
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        self.power.look(Operation::Read, &self.path)?;
        let count = self.node.read_at(offset, into);
        self.power.bytes_read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
    fn write_at(&self, offset: u64, parts: &mut [IoSlice<'_>]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(parts.iter().map(|part| part.len()).sum());
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        match self.power.step(Operation::Write, &self.path)? {
            Verdict::Go => self.node.write(offset, bytes),
            Verdict::LastAct => {
                self.node.write(offset, bytes)?;
                Err(power_is_off())
            }
            // A write that fails part-way leaves its beginning.
            Verdict::Fail(error) => {
                let half = bytes.len() / 2;
                self.node.write(offset, bytes.into_iter().take(half).collect())?;
                Err(error)
            }
        }
    }
    fn reserve(&self, offset: u64, len: u64) -> io::Result<()> {
        if self.power.plan.lock().cannot_reserve {
            return Err(ErrorKind::Unsupported.into());
        }
        match self.power.step(Operation::Reserve, &self.path)? {
            Verdict::Go => self.node.reserve(offset.saturating_add(len)),
            Verdict::LastAct => Err(power_is_off()),
            Verdict::Fail(error) => Err(error),
        }
    }
    fn sync(&self) -> io::Result<()> {
        match self.power.step(Operation::Sync, &self.path)? {
            Verdict::Go => self.node.sync(),
            Verdict::LastAct => return Err(power_is_off()),
            // The kernel marks the pages clean: what did not reach the media never will.
            Verdict::Fail(error) => {
                self.node.settle(&mut || self.power.draw());
                return Err(error);
            }
        }
        Ok(())
    }
    fn write_out(&self, _offset: u64, _len: u64) -> io::Result<()> {
        self.power.look(Operation::WriteOut, &self.path)
    }
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }
    fn is_hot(&self, _offset: u64) -> io::Result<bool> {
        Ok(!self.power.plan.lock().is_cold)
    }
    fn warm(&self, _offset: u64, _len: u64) -> io::Result<()> {
        self.power.look(Operation::Read, &self.path)
    }
    fn cool(&self, _offset: u64, _len: u64) -> io::Result<()> {
        Ok(())
    }
    fn map(&self, len: u64) -> io::Result<Map> {
        let len = usize::try_from(len).map_err(|_| ErrorKind::FileTooLarge)?;
        if self.size()? < len as u64 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = vec![0; len];
        self.read_exact_at(0, &mut bytes)?;
        Ok(Map::Read(bytes.into()))
    }
}
