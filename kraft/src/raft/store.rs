//! The log store that openraft asks: entries are batches of the metadata log, the vote is
//! `quorum-state`. Writes happen at once, syncs aside, many of them together.

use super::log::Border;
use super::shared::Shared;
use super::types::{Entry, LogId, TypeConfig, Vote};
use openraft::storage::{IOFlushed, LogState, RaftLogReader, RaftLogStorage};
use protocol::records::BatchHeader;
use std::fmt::Debug;
use std::future::ready;
use std::io;
use std::ops::{Bound, RangeBounds, RangeInclusive};
use std::sync::Arc;
use std::time::Duration;
use storage::error::is_shortage;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// What a peer is sent at once, in bytes.
const READ_BYTES_MAX: usize = 1 << 20;

/// What waits for a sync. As many as openraft has entries in flight, which `node` bounds.
enum Waiting {
    Append(IOFlushed<TypeConfig>),
    Vote,
}

/// The write side; openraft's core owns it.
#[derive(Debug)]
pub(super) struct LogStore {
    shared: Arc<Shared>,
    flusher: mpsc::UnboundedSender<Waiting>,
}

impl LogStore {
    /// The store, and the task that syncs, which ends when the store is dropped.
    pub(super) fn new(shared: Arc<Shared>) -> (LogStore, JoinHandle<()>) {
        let (flusher, waiting) = mpsc::unbounded_channel();
        let task = tokio::spawn(flush(shared.clone(), waiting));
        (LogStore { shared, flusher }, task)
    }

    fn border(&self, id: LogId) -> Option<Border> {
        let log = self.shared.log.lock();
        let snapshots = self.shared.snapshots.lock();
        let snapshot = snapshots.iter().find(|(index, _)| *index == id.index);
        log.border_after(id.index).or_else(|| snapshot.map(|(index, file)| file.border(*index)))
    }

    fn append_one(&self, entry: &mut Entry) -> io::Result<()> {
        let term = entry.log_id.leader_id.term;
        if entry.payload.batch.is_empty() {
            let vote = *self.shared.vote.lock();
            let leader = vote.map_or(-1, |vote| vote.leader_id.voted_for.id);
            entry.payload.batch =
                self.shared.make_batch(entry, leader).map_err(io::Error::other)?;
        }
        let header = BatchHeader::read(&entry.payload.batch).map_err(io::Error::other)?;
        let mut log = self.shared.log.lock();
        if log.last().id.index + 1 != entry.log_id.index {
            let (index, last) = (entry.log_id.index, log.last().id.index);
            return Err(io::Error::other(format!("entry {index} would follow entry {last}")));
        }
        log.append(term, &entry.payload.batch, header.is_control())?;
        if let Some(voters) = entry.payload.membership.take() {
            self.shared.memberships.lock().0.push((entry.log_id, voters));
        }
        Ok(())
    }
}

/// How long an election that was won stays unwritten while batches of its term come: they do not
/// need it, and somebody waits for them.
const VOTE_DELAY: Duration = Duration::from_millis(100);

const WRITING_VOTE: &str = "writing quorum-state";

/// Syncs for whoever waits, all of them at once.
async fn flush(shared: Arc<Shared>, mut waiting: mpsc::UnboundedReceiver<Waiting>) {
    let (mut together, mut owes_vote) = (Vec::new(), false);
    loop {
        let next = waiting.recv_many(&mut together, usize::MAX);
        let count = if owes_vote { timeout(VOTE_DELAY, next).await } else { Ok(next.await) };
        if owes_vote && matches!(count, Err(_) | Ok(0)) {
            let work = shared.clone();
            let written = shared.sync_on.run(move || work.write_vote()).await;
            // Nobody waits for it, so for want of room it is tried again later. Another failure is
            // kept, and told to whoever comes next.
            owes_vote = written.as_ref().is_err_and(is_shortage);
            if !owes_vote {
                drop(shared.fail_on(WRITING_VOTE, written));
            }
        }
        if matches!(count, Ok(0)) {
            return;
        }
        let mut callbacks = Vec::new();
        for one in together.drain(..) {
            match one {
                Waiting::Append(callback) => callbacks.push(callback),
                Waiting::Vote => owes_vote = true,
            }
        }
        if callbacks.is_empty() {
            continue;
        }
        let sync = || {
            let work = shared.clone();
            shared.sync_on.run(move || work.sync())
        };
        let result = shared.with_room("a sync of the metadata log", sync).await;
        for callback in callbacks {
            callback.io_completed(match &result {
                Ok(()) => Ok(()),
                Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
            });
        }
    }
}

impl RaftLogStorage<TypeConfig> for LogStore {
    type LogReader = Reader;

    async fn get_log_state(&mut self) -> io::Result<LogState<TypeConfig>> {
        let log = self.shared.log.lock();
        let (purged, last) = (log.start().id, log.last().id);
        Ok(LogState { last_purged_log_id: Some(purged), last_log_id: Some(last) })
    }

    async fn get_log_reader(&mut self) -> Reader {
        Reader(self.shared.clone())
    }

    async fn save_vote(&mut self, vote: &Vote) -> io::Result<()> {
        self.shared.check()?;
        let before = self.shared.vote.lock().replace(*vote);
        // Once this node's vote for a leader is durable, that the leader was elected may follow
        // later: a crash in between leaves a vote that forbids just as much.
        if vote.committed && before.is_some_and(|before| before.leader_id == vote.leader_id) {
            let sent = self.flusher.send(Waiting::Vote);
            return sent.map_err(|_| io::Error::other("the log store is closed"));
        }
        let write = || {
            let shared = self.shared.clone();
            self.shared.sync_on.run(move || shared.write_vote())
        };
        self.shared.with_room(WRITING_VOTE, write).await
    }

    async fn append<I>(&mut self, entries: I, callback: IOFlushed<TypeConfig>) -> io::Result<()>
    where
        I: IntoIterator<Item = Entry> + Send,
        I::IntoIter: Send,
    {
        self.shared.check()?;
        for mut entry in entries {
            let append = || ready(self.append_one(&mut entry));
            self.shared.with_room("an append to the metadata log", append).await?;
        }
        let sent = self.flusher.send(Waiting::Append(callback));
        sent.map_err(|_| io::Error::other("the log store is closed"))
    }

    async fn truncate_after(&mut self, last: Option<LogId>) -> io::Result<()> {
        self.shared.check()?;
        let index = last.map_or(0, |id| id.index);
        let result = self.shared.log.lock().truncate_after(index);
        self.shared.fail_on("cutting the metadata log", result)?;
        self.shared.memberships.lock().truncate_after(index);
        Ok(())
    }

    async fn purge(&mut self, id: LogId) -> io::Result<()> {
        self.shared.check()?;
        let Some(border) = self.border(id) else {
            return Err(io::Error::other(format!("{id} is in no log and no snapshot")));
        };
        let shared = self.shared.clone();
        let purged = self.shared.sync_on.run(move || shared.log.lock().purge(border)).await;
        self.shared.fail_on("dropping old segments of the metadata log", purged)
    }
}

/// The read side; one for each that openraft sends entries to, and one to apply them.
#[derive(Debug)]
pub(super) struct Reader(Arc<Shared>);

impl RaftLogReader<TypeConfig> for Reader {
    async fn try_get_log_entries<RB: RangeBounds<u64> + Clone + Debug + Send>(
        &mut self,
        range: RB,
    ) -> io::Result<Vec<Entry>> {
        let from = match range.start_bound() {
            Bound::Included(index) => *index,
            Bound::Excluded(index) => index + 1,
            Bound::Unbounded => 0,
        };
        let to = match range.end_bound() {
            Bound::Included(index) => index + 1,
            Bound::Excluded(index) => *index,
            Bound::Unbounded => u64::MAX,
        };
        self.0.entries(from, to, usize::MAX)
    }

    async fn read_vote(&mut self) -> io::Result<Option<Vote>> {
        Ok(*self.0.vote.lock())
    }

    async fn limited_get_log_entries(&mut self, start: u64, end: u64) -> io::Result<Vec<Entry>> {
        self.0.entries(start, end, READ_BYTES_MAX)
    }

    async fn get_key_log_ids(&mut self, range: RangeInclusive<LogId>) -> io::Result<Vec<LogId>> {
        Ok(self.0.log.lock().first_of_terms(range.start().index, range.end().index))
    }
}
