//! What a reader is told when the log's start moves while it reads.

use super::{dir, leading, opening, rules};
use crate::partition::replica::Partition;
use crate::partition::replica::read::{Ask, Isolation, Read};
use parking_lot::Mutex;
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::records::ControlKind;
use protocol::records::batch::TRANSACTIONAL;
use protocol::records::builder::BatchBuilder;
use protocol::records::control::end_of_transaction;
use std::fmt::{self, Debug, Formatter};
use std::io;
use std::path::Path;
use std::sync::Arc;
use storage::disk::sim::SimDisk;
use storage::disk::{Disk, Entry, File};
use storage::log::{AppendContext, Log, Open, Origin};

type Act = Box<dyn FnOnce() + Send>;

/// A disk on which something happens just before a `.txnindex` is opened.
#[derive(Default)]
struct Meddled {
    disk: SimDisk,
    act: Mutex<Option<Act>>,
}

impl Debug for Meddled {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.disk.fmt(f)
    }
}

impl Disk for Meddled {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        if path.extension().is_some_and(|it| it == "txnindex") {
            let act = self.act.lock().take();
            act.into_iter().for_each(|act| act());
        }
        self.disk.open(path)
    }
    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.disk.create(path)
    }
    fn lock(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.disk.lock(path)
    }
    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.disk.exists(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        self.disk.list(dir)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }
    fn mkdir(&self, dir: &Path) -> io::Result<()> {
        self.disk.mkdir(dir)
    }
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.disk.sync_dir(dir)
    }
    fn free_bytes(&self, dir: &Path) -> io::Result<u64> {
        self.disk.free_bytes(dir)
    }
    fn total_bytes(&self, dir: &Path) -> io::Result<u64> {
        self.disk.total_bytes(dir)
    }
    fn cache_id(&self, dir: &Path) -> io::Result<Option<String>> {
        self.disk.cache_id(dir)
    }
}

/// A transaction that was aborted fills the first segment; its log was opened just now.
fn aborted() -> (Arc<Partition>, Arc<Meddled>) {
    let meddled = Arc::<Meddled>::default();
    let disk: Arc<dyn Disk> = Arc::clone(&meddled) as _;
    let dir = dir(&disk);
    let log = Log::open(opening(&disk, &dir, "t")).unwrap().0;
    let of = |sequence| BatchBuilder::new(0).attributes(TRANSACTIONAL).producer(7, 0, sequence);
    let marker = of(-1).control(0, ControlKind::Abort, &end_of_transaction(0));
    for (batch, origin) in [
        (of(0).key_value(0, b"k", b"v"), Origin::Client),
        (marker, Origin::Coordinator),
        (BatchBuilder::new(0).key_value(0, b"k", b"v"), Origin::Client),
    ] {
        if log.log_end() == 2 {
            log.roll(0).unwrap();
        }
        let context = AppendContext { leader_epoch: 0, now_ms: 0, origin };
        log.append(batch.build().unwrap(), &context).unwrap();
    }
    log.close().unwrap();
    let open = Open { last_stop: storage::last_stop::LastStop::Clean, ..opening(&disk, &dir, "t") };
    let log = Log::open(Open { high_watermark: 3, ..open }).unwrap().0;
    (leading(dir, "t", Uuid([2; 16]), log, rules(false)), meddled)
}

fn committed(partition: &Partition, offset: i64) -> Result<Read, ErrorCode> {
    let ask = Ask {
        offset,
        bytes_max: 1000,
        at_least_one: true,
        isolation: Isolation::LastStable,
        leader_epoch: -1,
        last_epoch: -1,
    };
    partition.read(&ask).map_err(|fault| fault.code)
}

#[test]
fn aborted_records_whose_segment_goes_meanwhile_are_not_served_as_committed() {
    let (partition, _) = aborted();
    assert_eq!(committed(&partition, 0).unwrap().aborted, Some(vec![(7, 0)]));
    let (partition, disk) = aborted();
    let log = Arc::clone(&partition.log);
    *disk.act.lock() = Some(Box::new(move || {
        log.delete_records_before(2).unwrap();
        assert_eq!(log.retain(0).unwrap().doomed.segments, [0]);
    }));
    let got = committed(&partition, 0);
    assert!(disk.act.lock().is_none(), "it went while it was read");
    assert_eq!(got.unwrap_err(), ErrorCode::OffsetOutOfRange);
    assert!(committed(&partition, 2).unwrap().slice.is_some());
}
