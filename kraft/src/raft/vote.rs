//! The vote: Kafka's file `quorum-state`, one line of JSON.

use super::types::{ReplicaKey, Vote};
use protocol::ids::Uuid;
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use storage::disk::{Disk, read_whole, replace};
use storage::error::Error;

pub(super) const FILE: &str = "quorum-state";

/// Larger than any that Kafka writes, with its list of voters in the older form.
const SIZE_MAX: usize = 1 << 20;

/// What the file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QuorumState {
    pub(super) leader_id: i32,
    pub(super) leader_epoch: i32,
    pub(super) voted_id: i32,
    pub(super) voted_directory: Uuid,
}

impl QuorumState {
    /// A vote that a majority has granted names its node twice, so that the directory is kept.
    pub(super) fn of(vote: &Vote) -> QuorumState {
        let ReplicaKey { id, directory } = vote.leader_id.voted_for;
        QuorumState {
            leader_id: if vote.committed { id } else { -1 },
            leader_epoch: i32::try_from(vote.leader_id.term).unwrap_or(i32::MAX),
            voted_id: id,
            voted_directory: directory,
        }
    }

    /// The vote that this is, where it is one: a file may also tell of a term without a vote.
    /// `directory_of` knows the disk of a leader whose file (of a follower) does not say it.
    pub(super) fn vote(&self, directory_of: impl Fn(i32) -> Uuid) -> Option<Vote> {
        let term = u32::try_from(self.leader_epoch).ok()?;
        let (id, committed) =
            if self.leader_id < 0 { (self.voted_id, false) } else { (self.leader_id, true) };
        let known = id == self.voted_id && self.voted_directory != Uuid::ZERO;
        let directory = if known { self.voted_directory } else { directory_of(id) };
        let voter = ReplicaKey { id, directory };
        (0 <= id).then(|| {
            if committed { Vote::new_committed(term, voter) } else { Vote::new(term, voter) }
        })
    }

    /// Reads the file in the metadata log's folder; None where there is none.
    pub(super) fn read(disk: &dyn Disk, dir: &Path) -> Result<Option<QuorumState>, Error> {
        let path = path(dir);
        let file = match disk.open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let bytes = read_whole(&*file, SIZE_MAX)?;
        parse(&bytes).map(Some).ok_or_else(|| {
            Error::malformed(&path, "is not the line of JSON that says whom this voter voted for")
        })
    }

    /// Puts the file there, durably.
    pub(super) fn write(&self, disk: &dyn Disk, dir: &Path) -> std::io::Result<()> {
        let line = json!({
            "leaderId": self.leader_id,
            "leaderEpoch": self.leader_epoch,
            "votedId": self.voted_id,
            "votedDirectoryId": self.voted_directory.to_string(),
            "data_version": 1,
        });
        replace(disk, &path(dir), line.to_string().as_bytes())
    }
}

fn path(dir: &Path) -> PathBuf {
    dir.join(FILE)
}

fn parse(bytes: &[u8]) -> Option<QuorumState> {
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    let state: Value = serde_json::from_slice(line).ok()?;
    let number = |name: &str| i32::try_from(state.get(name)?.as_i64()?).ok();
    if !matches!(number("data_version")?, 0 | 1) {
        return None;
    }
    let directory = match state.get("votedDirectoryId") {
        Some(id) => id.as_str()?.parse().ok()?,
        None => Uuid::ZERO,
    };
    Some(QuorumState {
        leader_id: number("leaderId")?,
        leader_epoch: number("leaderEpoch")?,
        voted_id: number("votedId")?,
        voted_directory: directory,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use storage::disk::sim::SimDisk;

    const D: Uuid = Uuid([7; 16]);

    #[track_caller]
    fn check(text: &str, want: Option<Vote>) {
        let state = parse(text.as_bytes()).expect("it is read");
        assert_eq!(state.vote(|_| Uuid([9; 16])), want, "{text}");
    }

    #[test]
    fn both_forms_of_kafka_are_read() {
        let of = |id, directory| ReplicaKey { id, directory };
        let v0 = r#"{"clusterId":"","leaderId":LEADER,"leaderEpoch":3,"votedId":VOTED,"appliedOffset":0,"currentVoters":[{"voterId":1}],"data_version":0}"#;
        let v0 = |leader: &str, voted: &str| v0.replace("LEADER", leader).replace("VOTED", voted);
        check(&v0("1", "-1"), Some(Vote::new_committed(3, of(1, Uuid([9; 16])))));
        check(&v0("-1", "2"), Some(Vote::new(3, of(2, Uuid([9; 16])))));
        check(&v0("-1", "-1"), None);
        let v1 = format!(
            r#"{{"leaderId":-1,"leaderEpoch":4,"votedId":1,"votedDirectoryId":"{D}","data_version":1}}"#
        );
        check(&v1, Some(Vote::new(4, of(1, D))));
    }

    #[test]
    fn what_is_written_is_read() {
        let disk = SimDisk::new(1);
        for vote in [
            Vote::new(5, ReplicaKey { id: 1, directory: D }),
            Vote::new_committed(6, ReplicaKey { id: 2, directory: D }),
        ] {
            QuorumState::of(&vote).write(&disk, Path::new("/")).unwrap();
            let state = QuorumState::read(&disk, Path::new("/")).unwrap().unwrap();
            assert_eq!(state.vote(|_| Uuid::ZERO), Some(vote));
        }
    }

    #[test]
    fn other_content_is_refused() {
        for text in [
            "",
            "\n",
            "{}",
            "[1]",
            r#"{"leaderId":1,"leaderEpoch":2,"votedId":1,"data_version":2}"#,
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
        assert!(QuorumState::read(&SimDisk::new(1), Path::new("/")).unwrap().is_none());
    }
}
