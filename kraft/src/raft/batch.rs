//! The batches of the metadata log: records in, bytes out, and back.

use super::types::{Endpoint, ReplicaKey, VoterNode, Voters};
use crate::error::Error;
use crate::record::control::{
    Control, KRaftVersionFeature, KRaftVersionRecord, LeaderChangeMessage, LeaderChangeVoter,
    Voter, VoterEndpoint, VotersRecord,
};
use crate::record::{Malformed, Record, RecordError};
use bytes::Bytes;
use protocol::records::batch::CONTROL;
use protocol::records::builder::{BatchBuilder, NewRecord};
use protocol::records::{BatchHeader, record};
use std::collections::{BTreeMap, BTreeSet};

/// What one batch may hold, as Apache Kafka's controller limits it, in bytes of its records.
pub const BATCH_BYTES_MAX: usize = 8 << 20;
/// The same, in records.
pub const BATCH_RECORDS_MAX: usize = 10_000;
/// What a compressed batch of another writer may unpack to, in bytes.
const UNPACKED_BYTES_MAX: usize = 256 << 20;

fn build<'a>(
    attributes: i16,
    timestamp_ms: i64,
    records: impl Iterator<Item = (Option<[u8; 4]>, &'a [u8])>,
) -> Result<Bytes, String> {
    let mut batch = BatchBuilder::new(0).attributes(attributes);
    for (key, value) in records {
        let (key, value) = (key.as_ref().map(<[u8; 4]>::as_slice), Some(value));
        batch.push(NewRecord { timestamp_ms, key, value, headers: &[] });
    }
    batch.build().map_err(|error| error.to_string())
}

/// A batch of metadata records, already in bytes.
pub fn data(values: &[Vec<u8>], timestamp_ms: i64) -> Result<Bytes, String> {
    build(0, timestamp_ms, values.iter().map(|value| (None, value.as_slice())))
}

/// A batch of control records.
pub fn control(records: &[Control], timestamp_ms: i64) -> Result<Bytes, String> {
    let records: Vec<_> = records.iter().map(Control::write).collect();
    let records = records.iter().map(|(key, value)| (Some(*key), value.as_slice()));
    build(CONTROL, timestamp_ms, records)
}

/// The batch with which a term begins.
pub(super) fn leader_change(leader: i32, voters: &[i32], index: u64) -> Control {
    let voter = |id: i32| LeaderChangeVoter { voter_id: id, ..LeaderChangeVoter::default() };
    Control::LeaderChange(LeaderChangeMessage {
        leader_id: leader,
        voters: voters.iter().copied().map(voter).collect(),
        granting_voters: vec![voter(leader)],
        raft_index: i64::try_from(index).unwrap_or(-1),
        ..LeaderChangeMessage::default()
    })
}

/// What a membership is in the log: that the log names the voters, and their names.
pub fn membership(voters: &Voters) -> [Control; 2] {
    let record = |ids: Vec<ReplicaKey>| {
        let voter = |key: ReplicaKey| voter_record(key, voters.get_node(&key));
        ids.into_iter().map(voter).collect::<Vec<_>>()
    };
    let version = KRaftVersionRecord { k_raft_version: 1, ..KRaftVersionRecord::default() };
    let all = VotersRecord {
        voters: record(voters.voter_ids().collect()),
        learners: record(voters.learner_ids().collect()),
        ..VotersRecord::default()
    };
    [Control::KRaftVersion(version), Control::Voters(all)]
}

fn voter_record(key: ReplicaKey, node: Option<&VoterNode>) -> Voter {
    let node = node.cloned().unwrap_or_default();
    let endpoint = |it: Endpoint| VoterEndpoint {
        name: it.name,
        host: it.host,
        port: it.port,
        ..VoterEndpoint::default()
    };
    Voter {
        voter_id: key.id,
        voter_directory_id: key.directory,
        endpoints: node.endpoints.into_iter().map(endpoint).collect(),
        k_raft_version_feature: KRaftVersionFeature {
            min_supported_version: node.kraft_version_min,
            max_supported_version: node.kraft_version_max,
            ..KRaftVersionFeature::default()
        },
        ..Voter::default()
    }
}

/// The membership that a Voters record states.
pub fn membership_of(record: &VotersRecord) -> Result<Voters, String> {
    let key = |it: &Voter| ReplicaKey { id: it.voter_id, directory: it.voter_directory_id };
    let node = |it: &Voter| VoterNode {
        endpoints: (it.endpoints.iter())
            .map(|it| Endpoint { name: it.name.clone(), host: it.host.clone(), port: it.port })
            .collect(),
        kraft_version_min: it.k_raft_version_feature.min_supported_version,
        kraft_version_max: it.k_raft_version_feature.max_supported_version,
    };
    let voters: BTreeSet<_> = record.voters.iter().map(key).collect();
    let nodes: BTreeMap<_, _> =
        record.voters.iter().chain(&record.learners).map(|it| (key(it), node(it))).collect();
    Voters::new(vec![voters], nodes).map_err(|error| error.to_string())
}

fn each(
    batch: &[u8],
    mut take: impl FnMut(i64, Option<&[u8]>, &[u8]) -> Result<(), RecordError>,
) -> Result<(), Error> {
    let unreadable = |offset: i64, why: String| {
        let error = RecordError::Malformed { kind: "the batch", why: Malformed(why) };
        Error::Unreadable { offset, error }
    };
    let header = BatchHeader::read(batch).map_err(|error| unreadable(-1, error.to_string()))?;
    let mut records = record::records(batch, UNPACKED_BYTES_MAX)
        .map_err(|error| unreadable(header.base_offset, error.to_string()))?;
    while let Some(next) = records.next() {
        let next = next.map_err(|error| unreadable(header.base_offset, error.to_string()))?;
        let offset = next.offset(&header);
        take(offset, next.key, next.value.unwrap_or_default())
            .map_err(|error| Error::Unreadable { offset, error })?;
    }
    Ok(())
}

/// The metadata records of a data batch, each with its offset.
pub fn read_data(batch: &[u8]) -> Result<Vec<(i64, Record)>, Error> {
    let mut records = Vec::new();
    each(batch, |offset, _, value| {
        records.push((offset, Record::read(value)?));
        Ok(())
    })?;
    Ok(records)
}

/// The records of a control batch.
pub fn read_control(batch: &[u8]) -> Result<Vec<Control>, Error> {
    let mut records = Vec::new();
    each(batch, |_, key, value| {
        let malformed = |why| RecordError::Malformed { kind: "a control record", why };
        records.push(Control::read(key.unwrap_or_default(), value).map_err(malformed)?);
        Ok(())
    })?;
    Ok(records)
}
