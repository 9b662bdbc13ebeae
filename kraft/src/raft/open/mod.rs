//! What a start finds in the folder of the metadata log, whoever wrote it: segments, snapshots,
//! vote. Either it fits together, or the start is refused and nothing is changed.

use super::batch;
use super::log::scan::{Scanned, scan};
use super::log::{Border, Log, RollAt};
use super::machine::Machine;
use super::shared::{Memberships, Shared, SyncOn};
use super::snapshot::{self, Content, SnapshotFile};
use super::types::{ReplicaKey, StoredVoters, Term, Vote, VoterNode, Voters, log_id};
use super::vote::QuorumState;
use crate::env::Env;
use crate::image::Image;
use crate::record::control::{Control, VotersRecord};
use protocol::ids::Uuid;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use storage::error::Error;
use tokio::sync::watch;

/// Why a node does not start, in a line for its operator.
#[derive(Debug)]
pub enum StartError {
    /// The disk, or a file on it.
    Storage(Error),
    /// What stands there does not fit together, or not with the properties.
    Refused(String),
}

impl From<Error> for StartError {
    fn from(error: Error) -> StartError {
        StartError::Storage(error)
    }
}

impl From<std::io::Error> for StartError {
    fn from(error: std::io::Error) -> StartError {
        StartError::Storage(error.into())
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Storage(error) => error.fmt(f),
            StartError::Refused(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for StartError {}

/// Where the metadata log is, and who opens it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder `__cluster_metadata-0`.
    pub dir: PathBuf,
    /// `node.id` and the `directory.id` of the log directory that holds the folder.
    pub me: ReplicaKey,
    /// How this voter is reached: the controller listeners. Empty without one.
    pub node: VoterNode,
    /// The ids in `controller.quorum.voters`; empty where the log names the voters.
    pub static_voters: Vec<i32>,
    pub roll_at: RollAt,
    pub sync_on: SyncOn,
}

/// A metadata log, ready for raft.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) shared: Arc<Shared>,
    pub(super) machine: Machine,
    pub(super) image: watch::Receiver<Arc<Image>>,
    /// Whether the log does not name its voters yet.
    pub(super) is_static: bool,
    /// What the log must begin with: it holds no metadata so far.
    pub(super) bootstrap: Option<Image>,
}

pub(super) fn open(env: &Env, settings: &Settings) -> Result<Opened, StartError> {
    let dir = &settings.dir;
    let mut scanned = scan(&env.disk, dir, settings.roll_at)?;
    let Found { files, newest, garbage } = find(env, settings, &scanned.log)?;
    let snapshots = number(&mut scanned, &files)?;
    let base = snapshots.last().map(|(index, file)| file.border(*index));
    let base = base.unwrap_or(scanned.log.start());
    let (file, content) = newest.unzip();
    let content = content.unwrap_or_default();
    let is_bootstrap = base.end == 0;
    let image = match &file {
        Some(file) if !is_bootstrap => content.image(file)?,
        _ => Image::default(),
    };
    let has_data = !is_bootstrap || scanned.log.has_data_from(0);
    let memberships = memberships(&scanned, &content, base, settings)?;
    let state = QuorumState::read(&*env.disk, dir)?;
    let last = base.id.leader_id.term.max(scanned.log.last().id.leader_id.term);
    let vote = vote(state, last, &memberships, settings.me);
    rehearse(&scanned.log, base, image.clone())?;
    let bootstrap = if has_data { None } else { Some(bootstrap(env, settings, content)?) };
    // Until here nothing was changed, and from here on nothing is refused.
    settle(env, &mut scanned, base, &garbage)?;

    let log = scanned.log;
    let shared =
        Shared::new((env.disk.clone(), env.clock.clone()), (dir.clone(), log), settings.sync_on);
    let is_static = memberships.is_static;
    let (at, voters) = memberships.first;
    *shared.vote.lock() = Some(vote);
    *shared.written.lock() = state;
    *shared.snapshots.lock() = snapshots;
    *shared.memberships.lock() = memberships.all;
    let shared = Arc::new(shared);
    let (published, subscribed) = watch::channel(Arc::new(image.clone()));
    let machine = Machine {
        shared: shared.clone(),
        image,
        applied: base.id,
        voters: StoredVoters::new(Some(at), voters),
        stable: base,
        timestamp_ms: file.map_or(0, |file| file.timestamp_ms),
        published,
    };
    Ok(Opened { shared, machine, image: subscribed, is_static, bootstrap })
}

/// The files beside the log.
struct Found {
    /// The newest snapshot that can be read, and before it all of its elders that the log goes on
    /// from.
    files: Vec<SnapshotFile>,
    newest: Option<(SnapshotFile, Content)>,
    /// What nobody needs.
    garbage: Vec<PathBuf>,
}

fn find(env: &Env, settings: &Settings, log: &Log) -> Result<Found, StartError> {
    let listed = snapshot::list(&*env.disk, &settings.dir)?;
    let (mut bad, mut garbage, log_start) = (listed.bad, listed.parts, log.start().end);
    // Kafka believes this file more than the batches, and rebuilds it where it is missing; ours are
    // in the batches only.
    garbage.push(settings.dir.join("leader-epoch-checkpoint"));
    // Below the start of the log there is nothing to go on with.
    let (old, mut files): (Vec<_>, Vec<_>) =
        listed.files.into_iter().partition(|file| file.end < log_start);
    garbage.extend(old.into_iter().map(|file| file.path));
    let mut newest = None;
    while let (None, Some(file)) = (&newest, files.pop()) {
        match snapshot::load(&*env.disk, &file.path) {
            Ok(content) => newest = Some((file, content)),
            Err(error) => bad.push((file.end, error.to_string())),
        }
    }
    let reached = newest.as_ref().map_or(log.end(), |(file, _)| file.end.max(log.end()));
    if let Some((_, why)) = bad.iter().find(|(end, _)| reached < *end) {
        return Err(StartError::Refused(format!(
            "A snapshot cannot be read, and the log ends before it, at offset {}: {why}",
            log.end()
        )));
    }
    for (_, why) in bad {
        tracing::error!("This snapshot is left aside: {why}");
    }
    if log_start != 0 && newest.is_none() {
        return Err(StartError::Refused(format!(
            "The metadata log begins at offset {log_start}, and no readable snapshot reaches it"
        )));
    }
    files.extend(newest.iter().map(|(file, _)| file.clone()));
    Ok(Found { files, newest, garbage })
}

/// Whether all that follows the snapshot can be read and applied.
fn rehearse(log: &Log, base: Border, mut image: Image) -> Result<(), StartError> {
    let refused = |error: crate::error::Error| StartError::Refused(error.to_string());
    for index in base.id.index + 1..=log.last().id.index {
        if log.batch(index).is_some_and(|batch| !batch.is_control) {
            for (offset, record) in batch::read_data(&log.read(index)?).map_err(refused)? {
                image.apply(&record, offset).map_err(refused)?;
            }
        }
    }
    Ok(())
}

/// What a start changes in the folder.
fn settle(
    env: &Env,
    scanned: &mut Scanned,
    base: Border,
    garbage: &[PathBuf],
) -> Result<(), StartError> {
    if let Some(torn) = &scanned.torn {
        tracing::warn!("{torn}");
    }
    if scanned.log.end() < base.end {
        // What lies before the snapshot is not needed, and the log restarts there.
        scanned.log.purge(base)?;
    } else {
        scanned.log.mend()?;
    }
    for path in garbage {
        match env.disk.remove(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

/// Gives every entry its raft index: by the indexes that we wrote into the log's own control
/// records, or from offset 0, or else from the oldest snapshot. Batches are counted from there.
fn number(
    scanned: &mut Scanned,
    files: &[SnapshotFile],
) -> Result<Vec<(u64, SnapshotFile)>, StartError> {
    let refused = |why: String| StartError::Refused(format!("The metadata log is corrupt: {why}"));
    let Scanned { log, control, .. } = scanned;
    let log_start = log.start().end;
    // The index that the first batch of the log has, as each witness says.
    let mut witness: Option<i64> = (log_start == 0).then_some(1);
    let mut testify = |first: i64, who: String| match witness.replace(first) {
        Some(other) if other != first => {
            Err(refused(format!("by {who} its first entry is number {first}, by others {other}")))
        }
        _ => Ok(()),
    };
    let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    for (batch, bytes) in control.iter() {
        let records = batch::read_control(bytes).map_err(|error| refused(error.to_string()))?;
        for record in records {
            if let Control::LeaderChange(change) = record
                && 0 <= change.raft_index
            {
                let offset = log.base_of(*batch).unwrap_or(-1);
                testify(
                    change.raft_index - signed(*batch),
                    format!("the batch at offset {offset}"),
                )?;
            }
        }
    }
    let mut within = Vec::new();
    for file in files {
        let name = file.path.display().to_string();
        let Some(count) = log.count_before(file.end) else { continue };
        if log.term_before(file.end).is_some_and(|term| term != file.epoch) {
            return Err(refused(format!("{name} is of another epoch than the log before its end")));
        }
        if let Some(index) = file.index {
            testify(signed(index).saturating_add(1) - signed(count), name)?;
        }
        within.push((signed(count), file));
    }
    let oldest = within.first().map_or(0, |(count, _)| *count);
    let first = witness.unwrap_or(1 - oldest);
    let index = |count: i64| u64::try_from(first.saturating_add(count - 1));
    let mut snapshots = Vec::new();
    for (count, file) in within {
        let index = index(count).map_err(|_| refused("an entry before the first".to_owned()))?;
        snapshots.push((index, file.clone()));
    }
    let start = match snapshots.first() {
        Some((index, file)) => file.border(*index),
        None => Border { id: log_id(0, index(0).unwrap_or(0)), end: log_start },
    };
    log.begin_at(start);
    // A snapshot beyond the log: what lies before it is not needed.
    if let Some(file) = files.last().filter(|file| log.end() < file.end) {
        let last = log.last().id.index;
        let index = file.index.unwrap_or(last + 1);
        if index <= last {
            let name = file.path.display();
            return Err(refused(format!("by {name} its entry {index} is behind its end")));
        }
        snapshots = vec![(index, file.clone())];
    } else if files.len() != snapshots.len() {
        return Err(refused("a snapshot ends within a batch".to_owned()));
    }
    Ok(snapshots)
}

/// Who votes, by the snapshot and by every entry behind it.
struct Known {
    first: (super::types::LogId, Voters),
    all: Memberships,
    is_static: bool,
}

impl Known {
    fn directory_of(&self, id: i32) -> Uuid {
        let last = self.all.last();
        let voter = last.and_then(|(_, voters)| voters.voter_ids().find(|voter| voter.id == id));
        voter.map_or(Uuid::ZERO, |voter| voter.directory)
    }
}

fn memberships(
    scanned: &Scanned,
    content: &Content,
    base: Border,
    settings: &Settings,
) -> Result<Known, StartError> {
    let of = |record: &VotersRecord| batch::membership_of(record).map_err(StartError::Refused);
    let mut stated = Vec::new();
    let mut kraft_version = content.kraft_version;
    for (_, bytes) in &scanned.control {
        let header = protocol::records::BatchHeader::read(bytes);
        let offset = header.map_or(-1, |header| header.base_offset);
        let (true, Some(count)) = (base.end <= offset, scanned.log.count_before(offset)) else {
            continue;
        };
        let start = scanned.log.start().id.index;
        let at = scanned.log.border_after(start + count + 1).map(|border| border.id);
        for control in batch::read_control(bytes).unwrap_or_default() {
            match (control, at) {
                (Control::Voters(record), Some(at)) => stated.push((at, of(&record)?)),
                (Control::KRaftVersion(it), _) => kraft_version = it.k_raft_version,
                _ => {}
            }
        }
    }
    let is_static = kraft_version < 1;
    let first = match &content.voters {
        Some(record) => of(record)?,
        // A log that states its voters later on: until then they are those.
        None => match stated.first() {
            Some((_, voters)) => voters.clone(),
            None => from_properties(settings, is_static)?,
        },
    };
    let first = (base.id, first);
    let all = std::iter::once(first.clone()).chain(stated).collect();
    let known = Known { first, all: Memberships(all), is_static };
    is_sole_voter(&known, settings.me)?;
    Ok(known)
}

fn from_properties(settings: &Settings, is_static: bool) -> Result<Voters, StartError> {
    let me = settings.me;
    let refused = |why: String| Err(StartError::Refused(why));
    if !is_static || settings.static_voters.is_empty() {
        return refused(format!(
            "Nobody votes: {} names no voter, and controller.quorum.voters is not set",
            settings.dir.display()
        ));
    }
    let others: Vec<_> = settings.static_voters.iter().filter(|id| **id != me.id).collect();
    if others.len() + 1 != settings.static_voters.len() {
        return refused(format!("controller.quorum.voters does not name node.id {} once", me.id));
    }
    if !others.is_empty() {
        return refused(format!(
            "controller.quorum.voters names {} voters; this version runs with one",
            settings.static_voters.len()
        ));
    }
    let endpoints = &settings.node.endpoints;
    let nodes = BTreeMap::from([(me, crate::format::voter_node(endpoints))]);
    Voters::new(vec![BTreeSet::from([me])], nodes)
        .map_err(|error| StartError::Refused(error.to_string()))
}

fn is_sole_voter(known: &Known, me: ReplicaKey) -> Result<(), StartError> {
    let voters: Vec<_> =
        known.all.last().iter().flat_map(|(_, voters)| voters.voter_ids()).collect();
    if voters == [me] {
        return Ok(());
    }
    let names: Vec<_> = voters.iter().map(ToString::to_string).collect();
    let names = names.join(", ");
    Err(StartError::Refused(if voters.contains(&me) {
        format!("The metadata log names the voters {names}; this version runs with one")
    } else {
        format!(
            "This node is {me} (node.id/directory.id), and the metadata log's voters are {names}"
        )
    }))
}

/// The vote never stands below the last epoch of the log: in that one, somebody led.
fn vote(state: Option<QuorumState>, last: Term, known: &Known, me: ReplicaKey) -> Vote {
    let term = state.and_then(|state| Term::try_from(state.leader_epoch).ok()).unwrap_or(0);
    let vote = state.and_then(|state| state.vote(|id| known.directory_of(id)));
    vote.filter(|vote| last <= vote.leader_id.term).unwrap_or(Vote::new(last.max(term), me))
}

/// What a log without metadata shall begin with: by the snapshot at offset 0, or by the older file
/// in the log directory. Empty where neither says anything.
fn bootstrap(env: &Env, settings: &Settings, content: Content) -> Result<Image, StartError> {
    let older = settings.dir.with_file_name("bootstrap.checkpoint");
    let content = if content.records.is_empty() && env.disk.exists(&older)? {
        snapshot::load(&*env.disk, &older)?
    } else {
        content
    };
    let mut image = Image::default();
    for record in &content.records {
        let applied = image.apply(record, image.offset);
        applied.map_err(|error| StartError::Refused(error.to_string()))?;
    }
    Ok(image)
}

#[cfg(test)]
mod tests;
