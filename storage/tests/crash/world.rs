//! One log directory with one log, the steps of its life, and what each step promises.

use crate::model::{Model, Rng, Sent};
use protocol::ids::{TopicPartition, Uuid};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use storage::checkpoint::{LOG_START, Offsets, RECOVERY_POINT, REPLICATION};
use storage::disk::Disk;
use storage::disk::sim::SimDisk;
use storage::last_stop::LastStop;
use storage::log::{AppendContext, AppendError, Log, LogConfig, Open, Origin, Recovery};
use storage::log_dir::{Claim, LogDir, MetaProperties};

const DIR: &str = "/data";
const NOW_MS: i64 = 2000;

/// Something failed, in words for a failing test.
pub(crate) type Failed = String;

fn failed(error: impl std::fmt::Debug) -> Failed {
    format!("{error:?}")
}

pub(crate) fn partition() -> TopicPartition {
    TopicPartition::new("t", 0)
}

fn id() -> Uuid {
    Uuid::from_random(1, 2)
}

#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) dir: LogDir,
    pub(crate) log: Log,
    /// The recovery point that was found.
    pub(crate) recovery_point: i64,
    pub(crate) last_stop: LastStop,
}

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) disk: SimDisk,
    pub(crate) config: Arc<LogConfig>,
    pub(crate) model: Model,
    /// None only while it restarts.
    opened: Option<Opened>,
    epoch: i32,
}

impl World {
    /// A formatted directory with an empty log.
    pub(crate) fn fresh(disk: &SimDisk, config: Arc<LogConfig>) -> World {
        let claim = Claim::take(Arc::new(disk.clone()), Path::new(DIR)).unwrap();
        let dir = claim.format(MetaProperties::new("cluster", 1, id())).unwrap();
        drop(dir);
        let (opened, _) = World::open(disk, config.clone()).unwrap();
        World {
            disk: disk.clone(),
            config,
            model: Model::default(),
            opened: Some(opened),
            epoch: 0,
        }
    }

    /// As a broker opens it at its start.
    pub(crate) fn open(
        disk: &SimDisk,
        config: Arc<LogConfig>,
    ) -> Result<(Opened, Recovery), Failed> {
        let dir = LogDir::open(Arc::new(disk.clone()), Path::new(DIR)).map_err(failed)?;
        let (last_stop, _) = dir.take_last_stop().map_err(failed)?;
        let read = |name: &str| -> Result<i64, Failed> {
            let offsets = dir.read_offsets(name).map_err(failed)?;
            Ok(offsets.get(&partition()).copied().unwrap_or(0))
        };
        let recovery_point = read(RECOVERY_POINT)?;
        let (path, is_new) = dir.create_partition(&partition(), id()).map_err(failed)?;
        let new = Open::new(dir.disk().clone(), path, config, NOW_MS);
        let (log, recovery) = if is_new {
            (Log::create(new).map_err(failed)?, Recovery::default())
        } else {
            Log::open(Open {
                last_stop,
                recovery_point,
                log_start_offset: read(LOG_START)?,
                high_watermark: read(REPLICATION)?,
                ..new
            })
            .map_err(failed)?
        };
        dir.sync_names().map_err(failed)?;
        dir.mark_running().map_err(failed)?;
        Ok((Opened { dir, log, recovery_point, last_stop }, recovery))
    }

    pub(crate) fn log(&self) -> &Log {
        &self.opened.as_ref().unwrap().log
    }

    fn dir(&self) -> &LogDir {
        &self.opened.as_ref().unwrap().dir
    }

    /// Takes steps until one fails.
    pub(crate) fn live(&mut self, rng: &mut Rng, steps: usize) -> Result<(), Failed> {
        for _ in 0..steps {
            match rng.below(100) {
                0..55 => self.append(rng)?,
                55..62 => self.send_again(rng)?,
                62..74 => self.flush()?,
                74..82 => self.checkpoint()?,
                82..85 => self.log().roll(NOW_MS).map_err(failed)?,
                85..88 => self.delete_records(rng)?,
                88..92 => self.retain()?,
                92..96 => self.cut(rng)?,
                96..97 => self.restart()?,
                97..99 => self.be_killed()?,
                _ => self.epoch += 1,
            }
        }
        Ok(())
    }

    /// Appends, rolls and epochs only.
    pub(crate) fn live_appending(&mut self, rng: &mut Rng, steps: usize) -> Result<(), Failed> {
        (0..steps).try_for_each(|_| self.append(rng))
    }

    fn send(&self, sent: &Sent) -> Result<(i64, bool), AppendError> {
        let context =
            AppendContext { leader_epoch: self.epoch, now_ms: NOW_MS, origin: Origin::Client };
        let appended = self.log().append(sent.bytes.clone(), &context)?;
        assert_eq!(appended.last_offset, appended.base_offset + i64::from(sent.count) - 1);
        Ok((appended.base_offset, appended.duplicate))
    }

    fn draw(&self, rng: &mut Rng) -> Sent {
        let producer_id = rng.within(-1, 3);
        let count = i32::try_from(1 + rng.below(4)).unwrap();
        Sent::new(producer_id, self.model.next_sequence(producer_id), count, rng)
    }

    fn append(&mut self, rng: &mut Rng) -> Result<(), Failed> {
        let sent = self.draw(rng);
        self.model.in_flight = Some(sent.clone());
        let (base, duplicate) = self.send(&sent).map_err(failed)?;
        assert_eq!((base, duplicate), (self.model.end(), false));
        self.model.in_flight = None;
        self.model.batches.push(Sent { base, ..sent });
        if self.config.is_durable() {
            self.flush()?;
        }
        Ok(())
    }

    /// A batch that a producer sends again is answered as it was.
    fn send_again(&mut self, rng: &mut Rng) -> Result<(), Failed> {
        let producer_id = rng.within(0, 3);
        let of_it = |sent: &&Sent| sent.producer_id == producer_id;
        if let Some(last) = self.model.batches.iter().rev().find(of_it)
            && self.model.log_start.1 <= last.base
        {
            assert_eq!(self.send(last).map_err(failed)?, (last.base, true));
        }
        Ok(())
    }

    pub(crate) fn flush(&mut self) -> Result<(), Failed> {
        let end = self.model.end();
        let synced = self.log().flush(end).map_err(failed)?;
        assert!(end <= synced, "it said {synced}");
        self.model.synced = end;
        Ok(())
    }

    /// What upkeep writes: where recovery and the log begin.
    pub(crate) fn checkpoint(&mut self) -> Result<(), Failed> {
        let (dir, log) = (self.dir(), self.log());
        let recovery_point = log.recovery_point();
        assert!(recovery_point <= self.model.synced, "{recovery_point}");
        let of = |offset| Offsets::from([(partition(), offset)]);
        dir.write_offsets(RECOVERY_POINT, &of(recovery_point)).map_err(failed)?;
        dir.write_offsets(REPLICATION, &of(log.high_watermark())).map_err(failed)?;
        self.checkpoint_start()
    }

    fn checkpoint_start(&mut self) -> Result<(), Failed> {
        let log_start = self.log().log_start();
        let of = Offsets::from([(partition(), log_start)]);
        self.dir().write_offsets(LOG_START, &of).map_err(failed)?;
        self.model.log_start = (log_start, log_start);
        Ok(())
    }

    fn delete_records(&mut self, rng: &mut Rng) -> Result<(), Failed> {
        let (log, end) = (self.log(), self.model.end());
        log.set_high_watermark(end);
        let before = rng.within(log.log_start(), log.readable_end().min(log.high_watermark()));
        self.model.log_start.1 = before;
        self.log().delete_records_before(before).map_err(failed)?;
        self.checkpoint_start()
    }

    fn retain(&mut self) -> Result<(), Failed> {
        self.log().set_high_watermark(self.model.end());
        self.model.log_start.1 = self.model.end();
        let retained = self.log().retain(NOW_MS).map_err(failed)?;
        self.checkpoint_start()?;
        for path in retained.doomed.paths {
            self.disk.remove(&path).map_err(failed)?;
        }
        Ok(())
    }

    /// As a follower cuts what its new leader does not have.
    fn cut(&mut self, rng: &mut Rng) -> Result<(), Failed> {
        let (start, end) = (self.log().log_start(), self.model.end());
        let depth = if rng.below(3) == 0 { 30 } else { 6 };
        let asked = rng.within((end - depth).max(start), end);
        // The whole batch goes that holds the offset.
        let kept = self.model.batches.partition_point(|sent| sent.end() <= asked);
        let to = self.model.batches.get(kept).map_or(asked, |sent| sent.base.max(start));
        self.model.cutting_to = Some(to);
        self.model.synced = self.model.synced.min(to);
        assert_eq!(self.log().truncate_to(asked).map_err(failed)?, to);
        self.model.batches.truncate(kept);
        self.model.cut_to = to;
        self.model.cutting_to = None;
        if to == start {
            self.model.synced = to; // Nothing is left that could be lost.
        }
        // Before anything is appended: below the recovery point nothing may be cut, and it has
        // moved back. If that cannot be said, the directory goes offline.
        self.checkpoint().inspect_err(|error| self.log().fail(error.as_str()))
    }

    /// The process ends, and another opens what it has written.
    fn be_killed(&mut self) -> Result<(), Failed> {
        self.start_again(LastStop::Killed)
    }

    fn start_again(&mut self, last_stop: LastStop) -> Result<(), Failed> {
        drop(self.opened.take());
        let (opened, recovery) = World::open(&self.disk, self.config.clone())?;
        assert_eq!((recovery.cut, opened.log.log_end()), (None, self.model.end()));
        assert_eq!((opened.last_stop, recovery.damaged), (last_stop, Vec::new()));
        self.opened = Some(opened);
        Ok(())
    }

    fn restart(&mut self) -> Result<(), Failed> {
        self.log().close().map_err(failed)?;
        self.model.synced = self.model.end();
        self.checkpoint()?;
        self.dir().mark_clean_shutdown(7).map_err(failed)?;
        self.start_again(LastStop::Clean)
    }

    /// Appends until the disk is full; says how many were refused. What was refused is not there.
    pub(crate) fn appends_until_full(&mut self, rng: &mut Rng) -> u32 {
        for _ in 0..100 {
            let sent = self.draw(rng);
            match self.send(&sent) {
                Ok((base, duplicate)) => {
                    assert_eq!((base, duplicate), (self.model.end(), false));
                    self.model.batches.push(Sent { base, ..sent });
                }
                Err(AppendError::DiskFull(_)) => return 1,
                Err(other) => panic!("a full disk is no failure: {other:?}"),
            }
        }
        0
    }

    /// After an error: either the step can be repeated, or the log takes nothing any more.
    pub(crate) fn must_not_pretend(&mut self) {
        let Some(opened) = &self.opened else { return };
        let end = opened.log.log_end();
        let sent = Sent::new(-1, -1, 1, &mut Rng(99));
        match self.send(&sent) {
            // The failure did not concern the log's bytes.
            Ok((base, false)) if base == end && self.model.in_flight.is_none() => {
                let cutting = self.model.cutting_to.take();
                assert_eq!(cutting, None, "a cut failed half-way, and yet it appends");
                self.model.in_flight = Some(sent);
            }
            Ok(other) => panic!("{other:?} at {end}, model {:?}", self.model.in_flight),
            Err(_) => {}
        }
    }
}

/// The partition's folder.
pub(crate) fn folder() -> PathBuf {
    Path::new(DIR).join(partition().to_string())
}
