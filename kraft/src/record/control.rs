//! The records of the metadata log that are the quorum's own: who leads, and who votes.
//!
//! They stand in batches marked as control, keyed by their type. Kafka reads every one of them at
//! version 0, whatever their first field says. What raft must know beyond them travels in tagged
//! fields far from those that Kafka numbers; it skips them.

use super::message::{fields, messages};
use super::shown::Shown;
use super::wire::{Field, Malformed, Message, Reader, Unknown, write_tags};
use protocol::ids::Uuid;

messages! {
    /// A voter, by node.
    LeaderChangeVoter {
        voter_id: i32;
    }

    /// A term begins.
    LeaderChangeMessage {
        version: i16;
        leader_id: i32, = -1;
        voters: Vec<LeaderChangeVoter>;
        granting_voters: Vec<LeaderChangeVoter>;
    } tags {
        0x6877 raft_index: i64, = -1;
    }

    /// What a snapshot begins with.
    SnapshotHeaderRecord {
        version: i16;
        last_contained_log_timestamp: i64;
    } tags {
        0x6877 raft_index: i64, = -1;
    }

    /// What a snapshot ends with.
    SnapshotFooterRecord {
        version: i16;
    }

    /// From here on voters are named by the log (1) or by the properties (0).
    KRaftVersionRecord {
        version: i16;
        k_raft_version: i16;
    }

    /// Where a voter is reached.
    VoterEndpoint {
        name: String;
        host: String;
        port: u16;
    }

    /// The levels of kraft.version that a voter can work at.
    KRaftVersionFeature {
        min_supported_version: i16;
        max_supported_version: i16;
    }

    /// A voter, by node and disk.
    Voter {
        voter_id: i32;
        voter_directory_id: Uuid;
        endpoints: Vec<VoterEndpoint>;
        k_raft_version_feature: KRaftVersionFeature;
    }

    /// All voters.
    VotersRecord {
        version: i16;
        voters: Vec<Voter>;
    } tags {
        0x6877 learners: Vec<Voter>;
    }
}

fields!(LeaderChangeVoter VoterEndpoint KRaftVersionFeature Voter);

/// A control record of the metadata log.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    LeaderChange(LeaderChangeMessage),
    SnapshotHeader(SnapshotHeaderRecord),
    SnapshotFooter(SnapshotFooterRecord),
    KRaftVersion(KRaftVersionRecord),
    Voters(VotersRecord),
}

impl Control {
    /// Reads a record of a control batch.
    pub fn read(key: &[u8], value: &[u8]) -> Result<Control, Malformed> {
        fn message<T: Message>(value: &[u8]) -> Result<T, Malformed> {
            let mut reader = Reader::new(value);
            let message = T::read(&mut reader, 0)?;
            reader.finish()?;
            Ok(message)
        }
        let [_, _, high, low] = key else {
            return Err(Malformed(format!("a control record has a key of {} bytes", key.len())));
        };
        match i16::from_be_bytes([*high, *low]) {
            2 => message(value).map(Control::LeaderChange),
            3 => message(value).map(Control::SnapshotHeader),
            4 => message(value).map(Control::SnapshotFooter),
            5 => message(value).map(Control::KRaftVersion),
            6 => message(value).map(Control::Voters),
            other => Err(Malformed(format!("control record of unknown type {other}"))),
        }
    }

    /// Its fields by name. Those far beyond Kafka's, which are raft's, are not shown.
    pub fn shown(&self) -> Vec<(&'static str, Shown)> {
        let mut fields = match self {
            Control::LeaderChange(it) => it.shown(0),
            Control::SnapshotHeader(it) => it.shown(0),
            Control::SnapshotFooter(it) => it.shown(0),
            Control::KRaftVersion(it) => it.shown(0),
            Control::Voters(it) => it.shown(0),
        };
        fields.retain(|(name, _)| !["raft_index", "learners"].contains(name));
        fields
    }

    /// Key and value.
    pub fn write(&self) -> ([u8; 4], Vec<u8>) {
        let mut value = Vec::new();
        let kind = match self {
            Control::LeaderChange(it) => {
                it.write(&mut value, 0);
                2
            }
            Control::SnapshotHeader(it) => {
                it.write(&mut value, 0);
                3
            }
            Control::SnapshotFooter(it) => {
                it.write(&mut value, 0);
                4
            }
            Control::KRaftVersion(it) => {
                it.write(&mut value, 0);
                5
            }
            Control::Voters(it) => {
                it.write(&mut value, 0);
                6
            }
        };
        ([0, 0, 0, kind], value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leader_change_stands_as_kafka_writes_it() {
        let voters = vec![LeaderChangeVoter { voter_id: 1, ..Default::default() }];
        let mut it = LeaderChangeMessage {
            leader_id: 1,
            voters: voters.clone(),
            granting_voters: voters,
            ..Default::default()
        };
        let (key, value) = Control::LeaderChange(it.clone()).write();
        assert_eq!(key, [0, 0, 0, 2]);
        assert_eq!(value, [0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 0, 2, 0, 0, 0, 1, 0, 0]);
        assert_eq!(Control::read(&key, &value), Ok(Control::LeaderChange(it.clone())));
        it.raft_index = 7;
        let (key, tagged) = Control::LeaderChange(it.clone()).write();
        assert_eq!(tagged[..18], value[..18]);
        assert_eq!(tagged[18..], [1, 0xf7, 0xd0, 1, 8, 0, 0, 0, 0, 0, 0, 0, 7]);
        assert_eq!(Control::read(&key, &tagged), Ok(Control::LeaderChange(it)));
    }

    #[test]
    fn what_is_no_control_record_is_refused() {
        for (key, value) in [(&[][..], &[][..]), (&[0, 0, 0, 7], &[0, 0]), (&[0, 0, 0, 5], &[0])] {
            assert!(Control::read(key, value).is_err(), "{key:?} {value:?}");
        }
    }
}
