//! Opening logs, many at a time: those that a start finds, and those that a change asks for.

use super::parts::Parts;
use super::renamed::Renamed;
use crate::partition::{Dir, Offline, Partition, Place};
use kraft::image::Image;
use protocol::ids::{TopicPartition, Uuid};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;
use storage::checkpoint::{LOG_START, Offsets, RECOVERY_POINT, REPLICATION};
use storage::error::{Error, is_out_of_files};
use storage::last_stop::LastStop;
use storage::log::{Log, LogConfig, Open, Recovery};
use storage::log_dir::{LogDir, Suffix};
use storage::partition_metadata;

/// A folder of a partition that a start found.
#[derive(Debug)]
pub(super) struct Found {
    at: TopicPartition,
    dir: Arc<Dir>,
    /// None: a crash came before the id was written, it is older than ids, or there was no file
    /// left to read it with.
    topic_id: Option<Uuid>,
    /// Why nobody can say which topic it is of.
    damage: Option<String>,
}

/// A log to open, or to make if it is not there.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) at: TopicPartition,
    pub(super) topic_id: Uuid,
    pub(super) dir: Arc<Dir>,
    /// Its folder was found, with the topic's id in it.
    pub(super) is_there: bool,
    /// A start found a folder of its name.
    pub(super) is_found: bool,
    pub(super) config: Arc<LogConfig>,
    /// It was tried before, and that was logged.
    pub(super) is_retry: bool,
}

/// Where a partition was found.
#[derive(Debug)]
pub(super) struct Here {
    pub(super) dir: Arc<Dir>,
    /// The topic's id stands in its folder.
    pub(super) has_id: bool,
    /// Why it is left alone: it may be of another topic.
    pub(super) damage: Option<String>,
}

#[derive(Debug)]
pub(super) struct Opening {
    pub(super) at: TopicPartition,
    pub(super) topic_id: Uuid,
    pub(super) place: Place,
    /// Only room or files lacked, which may come back: what to try again.
    pub(super) again: Option<Wanted>,
}

impl Opening {
    /// `may_come`: what it lacked may come back.
    fn failed(it: Wanted, why: String, may_come: bool) -> Opening {
        let opening = Opening::offline(it.at.clone(), it.topic_id, Some(&it.dir), why);
        Opening { again: may_come.then_some(it), ..opening }
    }

    /// One that is not to be opened.
    pub(super) fn offline(
        at: TopicPartition,
        topic_id: Uuid,
        dir: Option<&Arc<Dir>>,
        why: String,
    ) -> Opening {
        let place = Place::Offline(Arc::new(Offline { dir: dir.cloned(), why }));
        Opening { at, topic_id, place, again: None }
    }
}

/// Looks what stands in the log directories. What an earlier process was to delete goes now.
pub(super) fn scan(parts: &Parts) -> Vec<Found> {
    let mut found = Vec::new();
    for dir in parts.dirs.iter() {
        let Some(log_dir) = dir.log_dir() else { continue };
        let scan = match log_dir.scan() {
            Ok(scan) => scan,
            Err(error) => {
                dir.fail(&format!("listing it: {error}"));
                continue;
            }
        };
        for (_, suffix, path) in scan.waiting {
            if suffix == Suffix::Delete {
                parts.doomed.put(path, parts.env.clock.monotonic());
            }
        }
        let ids = at_once(threads_per_dir(parts), scan.partitions, |at| {
            let path = log_dir.partition_path(&at);
            (partition_metadata::read(&**log_dir.disk(), &path), at)
        });
        for (topic_id, at) in ids {
            let (topic_id, damage) = match topic_id {
                Ok(topic_id) => (topic_id, None),
                // It is read again before anything is opened.
                Err(Error::Full(_) | Error::Missing) => (None, None),
                Err(error @ Error::Disk(_)) => {
                    dir.fail(&format!("reading {at}: {error}"));
                    continue;
                }
                Err(error) => (None, Some(error.to_string())),
            };
            found.push(Found { at, dir: Arc::clone(dir), topic_id, damage });
        }
    }
    found
}

/// Where each partition lies that the metadata puts on this broker; of several folders, the one in
/// the directory that it names, or one that says whose it is. The other folders are strays: they are renamed and kept, for the
/// operator to look at.
pub(super) fn by_partition(
    parts: &Parts,
    image: &Image,
    found: Vec<Found>,
) -> BTreeMap<TopicPartition, Here> {
    let (mut here, mut strays) = (BTreeMap::<TopicPartition, Here>::new(), Vec::new());
    for Found { at, dir, topic_id, damage } in found {
        let topic = image.topic(&at.topic);
        let topic = topic.filter(|topic| topic_id.is_none_or(|id| id == topic.id));
        let state = topic.and_then(|topic| topic.partition(at.partition));
        let Some(assigned) = state.and_then(|state| state.directory_of(parts.node_id)) else {
            strays.push((at, dir));
            continue;
        };
        // What is damaged has no id, and goes behind what is whole.
        let rank = |dir: &Dir, has_id: bool| (dir.id == assigned, has_id);
        let has_id = topic_id.is_some();
        let is_better =
            here.get(&at).is_none_or(|it| rank(&it.dir, it.has_id) < rank(&dir, has_id));
        if !is_better {
            strays.push((at, dir));
            continue;
        }
        let it = Here { dir, has_id, damage };
        if let Some(other) = here.insert(at.clone(), it) {
            strays.push((at, other.dir));
        }
    }
    let mut renamed = Renamed::default();
    for (at, dir) in strays {
        let unique = Uuid(parts.env.rng.next_uuid_bytes());
        let Some(log_dir) = dir.log_dir() else { continue };
        match log_dir.set_aside(&at, unique, Suffix::Stray) {
            Ok(aside) => {
                renamed.add(&dir);
                let aside = aside.display();
                tracing::warn!("{at} is not of this cluster's metadata; it is kept as {aside}");
            }
            Err(error) => dir.fail(&format!("setting {at} aside: {error}")),
        }
    }
    renamed.sync();
    here
}

/// Opens or makes all of them, each directory with its own threads.
pub(super) fn open_all(parts: &Parts, wanted: Vec<Wanted>) -> Vec<Opening> {
    let mut by_dir = parts.dirs.iter().map(|dir| (dir, Vec::new())).collect::<Vec<_>>();
    for it in wanted {
        if let Some((_, of_dir)) = by_dir.iter_mut().find(|(dir, _)| Arc::ptr_eq(dir, &it.dir)) {
            of_dir.push(it);
        }
    }
    by_dir.retain(|(_, wanted)| !wanted.is_empty());
    let opened = at_once(by_dir.len(), by_dir, |(dir, wanted)| open_in(parts, dir, wanted));
    opened.into_iter().flatten().collect()
}

fn threads_per_dir(parts: &Parts) -> usize {
    let threads = parts.config.load().values.log.recovery_threads_per_data_dir;
    usize::try_from(threads).unwrap_or(1).min(THREADS_MAX)
}

/// Threads for one directory, however many are asked for: a device gains nothing from more.
const THREADS_MAX: usize = 256;

/// What the checkpoints of a directory say.
#[derive(Debug, Default)]
struct Known {
    recovery_points: Offsets,
    log_starts: Offsets,
    watermarks: Offsets,
}

fn open_in(parts: &Parts, dir: &Arc<Dir>, wanted: Vec<Wanted>) -> Vec<Opening> {
    let Some(log_dir) = dir.log_dir() else {
        let why = dir.refusal().unwrap_or_default();
        return wanted.into_iter().map(|it| Opening::failed(it, why.clone(), false)).collect();
    };
    let new = match make_way(parts, (dir, log_dir), &wanted) {
        Ok(new) => new,
        Err(error) => return none(dir, wanted, "there is no way for new partitions", &error),
    };
    // Of those that are new the checkpoints say nothing.
    let known = if new == wanted.len() { Ok(Known::default()) } else { known(log_dir) };
    let known = match known {
        Ok(known) => known,
        Err(error) => return none(dir, wanted, "its checkpoints cannot be read", &error),
    };
    let threads = threads_per_dir(parts);
    let mut opened = at_once(threads, wanted, |it| {
        let partition = open(parts, dir, &it, &known);
        (it, partition)
    });
    // Once for all, and before anybody can append: no record may be durable in a folder that is not.
    sync_names(dir, &mut opened);
    opened.into_iter().map(|(it, partition)| opening(dir, it, partition)).collect()
}

/// None of `wanted` could be opened in `dir`, all for one reason.
fn none(dir: &Dir, wanted: Vec<Wanted>, what: &str, error: &Error) -> Vec<Opening> {
    let may_come = matches!(error, Error::Full(_));
    if !may_come {
        dir.fail(&format!("{what}: {error}"));
    }
    let path = dir.path.display();
    let why = dir.refusal().unwrap_or_else(|| format!("{path}: {what}: {error}"));
    if wanted.iter().any(|it| !it.is_retry) {
        tracing::error!("{} partitions could not be opened: {why}{}", wanted.len(), then(may_come));
    }
    wanted.into_iter().map(|it| Opening::failed(it, why.clone(), may_come)).collect()
}

/// What is said behind the reason.
fn then(may_come: bool) -> &'static str {
    if may_come { "; it is tried again" } else { "" }
}

type Opened = Result<Arc<Partition>, Error>;

/// Makes durable which folders are there. That takes a file: where the logs have taken them all,
/// one of them gives its own back.
fn sync_names(dir: &Dir, opened: &mut [(Wanted, Opened)]) {
    let mut ready = opened.iter_mut().rev().filter(|(_, partition)| partition.is_ok());
    while let Some(Err(error)) = dir.log_dir().map(|log_dir| log_dir.sync_names()) {
        if !is_out_of_files(&error) {
            return dir.fail(&format!("syncing the names in it: {error}"));
        }
        let Some((_, last)) = ready.next() else { return };
        *last = Err(error.into());
    }
}

fn opening(dir: &Dir, it: Wanted, partition: Opened) -> Opening {
    match partition {
        Ok(partition) => {
            if it.is_retry {
                tracing::info!("{} could be opened now", it.at);
            }
            partition.note_unsynced();
            let place = Place::Open(partition);
            Opening { at: it.at, topic_id: it.topic_id, place, again: None }
        }
        Err(error) => {
            if matches!(error, Error::Disk(_)) {
                dir.fail(&format!("opening {}: {error}", it.at));
            }
            let may_come = matches!(error, Error::Full(_));
            let path = dir.path.display();
            if !it.is_retry {
                tracing::error!(
                    "{} could not be opened in {path}: {error}{}",
                    it.at,
                    then(may_come)
                );
            }
            Opening::failed(it, format!("{path}: {error}"), may_come)
        }
    }
}

/// What stands in the way of a new partition goes: a folder of another one of its name, which is
/// kept for the operator, and what the checkpoints say of one that was deleted. Says how many are
/// new.
fn make_way(
    parts: &Parts,
    (dir, log_dir): (&Dir, &LogDir),
    wanted: &[Wanted],
) -> Result<usize, Error> {
    let disk = &**log_dir.disk();
    let mut new = BTreeSet::new();
    for it in wanted.iter().filter(|it| !it.is_there) {
        let path = log_dir.partition_path(&it.at);
        let is_anothers = match partition_metadata::read(disk, &path) {
            Ok(id) => id.is_some_and(|id| id != it.topic_id),
            // A start that could read it would have left it alone: so does opening it.
            Err(Error::Malformed { .. }) if it.is_found => continue,
            Err(Error::Malformed { .. }) => true,
            Err(error) => return Err(error),
        };
        if is_anothers {
            let unique = Uuid(parts.env.rng.next_uuid_bytes());
            let aside = log_dir.set_aside(&it.at, unique, Suffix::Stray)?;
            let aside = aside.display();
            tracing::warn!("A folder of {} is of another topic; it is kept as {aside}", it.at);
        } else if disk.exists(&path)? {
            continue; // Older than ids, or begun before.
        }
        new.insert(it.at.clone());
    }
    if !new.is_empty() {
        dir.checkpoints.forget((disk, log_dir.path()), &new)?;
    }
    Ok(new.len())
}

/// A checkpoint that cannot be made sense of counts as none: then more is checked, nothing less.
fn known(log_dir: &LogDir) -> Result<Known, Error> {
    let read = |name| match log_dir.read_offsets(name) {
        Err(error @ Error::Malformed { .. }) => {
            tracing::warn!("{error}; all is checked instead");
            Ok(Offsets::new())
        }
        read => read,
    };
    Ok(Known {
        recovery_points: read(RECOVERY_POINT)?,
        log_starts: read(LOG_START)?,
        watermarks: read(REPLICATION)?,
    })
}

fn open(
    parts: &Parts,
    dir: &Arc<Dir>,
    it: &Wanted,
    known: &Known,
) -> Result<Arc<Partition>, Error> {
    let log_dir = dir.log_dir().ok_or(Error::Missing)?;
    let (path, is_new) = if it.is_there {
        (log_dir.partition_path(&it.at), false)
    } else {
        log_dir.create_partition(&it.at, it.topic_id)?
    };
    let now_ms = parts.env.clock.wall_ms();
    let new = Open {
        producer_id_expiration_ms: i64::from(parts.config.load().values.producer.id_expiration_ms),
        jitter: parts.env.rng.next_u64(),
        ..Open::new(Arc::clone(log_dir.disk()), path, Arc::clone(&it.config), now_ms)
    };
    let log = if is_new {
        Log::create(new)?
    } else {
        let offset = |of: &Offsets| of.get(&it.at).copied().unwrap_or(0);
        let is_named = known.recovery_points.contains_key(&it.at);
        let (log, recovery) = Log::open(Open {
            last_stop: last_stop(dir, log_dir, &new.dir, is_named)?,
            recovery_point: offset(&known.recovery_points),
            may_have_gaps: !is_named,
            log_start_offset: offset(&known.log_starts),
            high_watermark: offset(&known.watermarks),
            ..new
        })?;
        report(&it.at, &recovery);
        log
    };
    Ok(Arc::new(Partition::new(it.at.clone(), it.topic_id, Arc::clone(dir), Arc::new(log))))
}

/// What the directory's mark says holds for a folder that its checkpoint names and that shares its
/// page cache: any other was not there, or not looked at, when the mark was made.
fn last_stop(
    dir: &Dir,
    log_dir: &LogDir,
    folder: &Path,
    is_named: bool,
) -> Result<LastStop, Error> {
    let is_killed = dir.last_stop == LastStop::Killed;
    if is_killed && !(is_named && log_dir.shares_cache_with(folder)?) {
        return Ok(LastStop::Crashed);
    }
    Ok(dir.last_stop)
}

/// Says what a crash took, and what is damaged.
fn report(at: &TopicPartition, recovery: &Recovery) {
    if let Some(cut) = &recovery.cut {
        let seen = cut.last_seen_offset.map_or(String::new(), |offset| format!(" up to {offset}"));
        tracing::warn!(
            "{at} ends at offset {} now: {} bytes behind it{seen} were not whole after the crash",
            cut.log_end,
            cut.bytes
        );
    }
    for damage in &recovery.damaged {
        tracing::error!(
            "{at} is damaged: offsets {} to {} cannot be read; DeleteRecords up to {} heals it",
            damage.offset,
            damage.next_offset - 1,
            damage.next_offset
        );
    }
}

/// Maps `items` on so many threads; the results come in the order of the items.
fn at_once<T: Send, R: Send + Sync>(
    threads: usize,
    items: Vec<T>,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    if threads <= 1 || items.len() <= 1 {
        return items.into_iter().map(work).collect();
    }
    let slots: Vec<_> = items
        .into_iter()
        .map(|item| (parking_lot::Mutex::new(Some(item)), OnceLock::new()))
        .collect();
    let next = AtomicUsize::new(0);
    let serve = || {
        while let Some((item, result)) = slots.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Some(item) = item.lock().take() {
                result.get_or_init(|| work(item));
            }
        }
    };
    std::thread::scope(|scope| {
        // One item is worked on here and now; threads are for many.
        for _ in 1..threads.min(slots.len()) {
            // Where the system has no more threads, those that there are do it all.
            if Builder::new().spawn_scoped(scope, serve).is_err() {
                break;
            }
        }
        serve();
    });
    slots.into_iter().filter_map(|(_, result)| result.into_inner()).collect()
}
