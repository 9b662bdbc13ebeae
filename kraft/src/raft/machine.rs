//! The state machine: committed batches become the image, and the image becomes snapshots.

use super::batch;
use super::log::Border;
use super::shared::Shared;
use super::snapshot::{self, Draft, SnapshotFile};
use super::types::{Applied, Entry, LogId, StoredVoters, TypeConfig};
use crate::image::Image;
use futures_util::{Stream, StreamExt};
use openraft::storage::{EntryResponder, RaftSnapshotBuilder, RaftStateMachine};
use openraft::type_config::alias::{SnapshotMetaOf, SnapshotOf};
use openraft::{Snapshot, SnapshotMeta};
use protocol::records::BatchHeader;
use std::io;
use std::sync::Arc;
use tokio::sync::watch;

#[derive(Debug)]
pub(super) struct Machine {
    pub(super) shared: Arc<Shared>,
    pub(super) image: Image,
    pub(super) applied: LogId,
    pub(super) voters: StoredVoters,
    /// The last place that a snapshot may stand for: not within a transaction.
    pub(super) stable: Border,
    pub(super) timestamp_ms: i64,
    pub(super) published: watch::Sender<Arc<Image>>,
}

impl Machine {
    fn apply_one(&mut self, entry: Entry) -> io::Result<Applied> {
        let header = BatchHeader::read(&entry.payload.batch).map_err(io::Error::other)?;
        if header.is_control() {
            self.image.offset = header.last_offset();
            if let Some(voters) = entry.payload.membership {
                self.voters = StoredVoters::new(Some(entry.log_id), voters);
            }
        } else {
            let records = batch::read_data(&entry.payload.batch).map_err(io::Error::other)?;
            for (offset, record) in records {
                self.image.apply(&record, offset).map_err(io::Error::other)?;
            }
        }
        self.image.epoch = header.leader_epoch;
        self.applied = entry.log_id;
        self.timestamp_ms = header.max_timestamp;
        if !self.image.in_transaction() {
            self.stable = Border { id: entry.log_id, end: header.next_offset() };
        }
        Ok(Applied { base_offset: header.base_offset })
    }

    fn publish(&self) {
        self.published.send_replace(Arc::new(self.image.clone()));
    }
}

impl RaftStateMachine<TypeConfig> for Machine {
    type SnapshotData = SnapshotFile;
    type SnapshotBuilder = Builder;

    async fn applied_state(&mut self) -> io::Result<(Option<LogId>, StoredVoters)> {
        Ok((Some(self.applied), self.voters.clone()))
    }

    async fn apply<S>(&mut self, mut entries: S) -> io::Result<()>
    where
        S: Stream<Item = io::Result<EntryResponder<TypeConfig>>> + Unpin + Send,
    {
        let mut is_published = true;
        while let Some(next) = entries.next().await {
            let (entry, responder) = next?;
            let applied = self.apply_one(entry);
            let applied = self.shared.fail_on("applying the metadata log", applied)?;
            is_published = false;
            // Whoever gets an answer finds its effect in the image.
            if let Some(responder) = responder {
                self.publish();
                is_published = true;
                responder.send(applied);
            }
        }
        if !is_published {
            self.publish();
        }
        Ok(())
    }

    async fn try_create_snapshot_builder(&mut self, force: bool) -> Option<Builder> {
        // Within a transaction the last place before it is all that could be stated, which is
        // worth it only to a voter that waits for it.
        (force || !self.image.in_transaction()).then(|| self.builder())
    }

    async fn get_snapshot_builder(&mut self) -> Builder {
        self.builder()
    }

    async fn install_snapshot(
        &mut self,
        meta: &SnapshotMetaOf<TypeConfig>,
        file: SnapshotFile,
    ) -> io::Result<()> {
        let content = snapshot::load(&*self.shared.disk, &file.path).map_err(io::Error::other)?;
        self.image = content.image(&file).map_err(io::Error::other)?;
        let id = meta.last_log_id.ok_or_else(|| io::Error::other("a snapshot of nothing"))?;
        self.applied = id;
        self.stable = file.border(self.applied.index);
        self.voters = meta.last_membership.clone();
        self.timestamp_ms = file.timestamp_ms;
        let mut snapshots = self.shared.snapshots.lock();
        if snapshots.last().is_none_or(|(index, _)| *index < self.applied.index) {
            snapshots.push((self.applied.index, file));
        }
        drop(snapshots);
        self.publish();
        Ok(())
    }

    async fn get_current_snapshot(
        &mut self,
    ) -> io::Result<Option<SnapshotOf<TypeConfig, SnapshotFile>>> {
        let last = self.shared.snapshots.lock().last().cloned();
        Ok(last.map(|(index, file)| {
            let id = file.border(index).id;
            let memberships = self.shared.memberships.lock();
            let before = memberships.0.iter().rev().find(|(at, _)| at.index <= index);
            let voters = before.map(|(at, voters)| StoredVoters::new(Some(*at), voters.clone()));
            let last_membership = voters.unwrap_or_else(|| self.voters.clone());
            Snapshot {
                meta: SnapshotMeta { last_log_id: Some(id), last_membership },
                snapshot: file,
            }
        }))
    }
}

impl Machine {
    fn builder(&self) -> Builder {
        Builder {
            shared: self.shared.clone(),
            image: self.image.clone(),
            voters: self.voters.clone(),
            border: self.stable,
            timestamp_ms: self.timestamp_ms,
        }
    }
}

/// The image as it stood when a snapshot was asked for.
#[derive(Debug)]
pub(super) struct Builder {
    shared: Arc<Shared>,
    image: Image,
    voters: StoredVoters,
    border: Border,
    timestamp_ms: i64,
}

impl RaftSnapshotBuilder<TypeConfig> for Builder {
    type SnapshotData = SnapshotFile;

    async fn build_snapshot(&mut self) -> io::Result<SnapshotOf<TypeConfig, SnapshotFile>> {
        let index = self.border.id.index;
        let voters = self.voters.clone();
        let existing = self.shared.snapshots.lock().last().cloned().filter(|(at, _)| *at == index);
        let file = match existing {
            Some((_, file)) => file,
            None => {
                let write = || {
                    let (shared, image) = (self.shared.clone(), self.image.clone());
                    let (border, timestamp_ms) = (self.border, self.timestamp_ms);
                    let voters = voters.clone();
                    self.shared.sync_on.run(move || {
                        let draft = Draft {
                            border,
                            timestamp_ms,
                            voters: Some(voters.membership()),
                            metadata_version: image.metadata_version(),
                        };
                        snapshot::write(&*shared.disk, &shared.dir, &draft, image.to_records())
                    })
                };
                let what = "a snapshot of the metadata";
                let file = self.shared.with_room(what, write).await?;
                self.shared.snapshots.lock().push((index, file.clone()));
                file
            }
        };
        let last_log_id = Some(self.border.id);
        Ok(Snapshot { meta: SnapshotMeta { last_log_id, last_membership: voters }, snapshot: file })
    }
}
