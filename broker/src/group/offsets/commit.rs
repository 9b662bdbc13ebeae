//! OffsetCommit: a group remembers how far it has come.

use super::store::{NO_EXPIRY, key};
use crate::coordinator::{Effects, Moment, Token};
use crate::group::consumer::commits::MayCommit;
use crate::group::request::{Client, GROUP_ID_LEN_MAX};
use crate::group::state::{Decision, Group, State};
use protocol::coordinator::group::{GroupId, GroupRecord, OffsetKey, OffsetValue};
use protocol::error::ErrorCode;
use protocol::messages::offset_commit_request::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use protocol::messages::offset_commit_response::{
    OffsetCommitResponsePartition, OffsetCommitResponseTopic,
};
use protocol::messages::{OffsetCommitRequest, OffsetCommitResponse};
use std::sync::Arc;

/// From this version on a group that is not there is called that.
const GROUP_ID_NOT_FOUND_SINCE: i16 = 9;
/// For `retention_time_ms`: the retention of the broker decides.
const RETENTION_OF_BROKER: i64 = -1;

impl State {
    /// Judges as Kafka's `OffsetMetadataManager.commitOffset`. The request names topics that there
    /// are, with their ids.
    pub(in crate::group) fn commit(
        &mut self,
        moment: &Moment<'_>,
        token: Token,
        client: &Client,
        request: &OffsetCommitRequest,
    ) -> Decision {
        let decided = self.judge_commit(client, request);
        match decided.and_then(|may| commit(self, moment, request, may)) {
            Ok((records, response)) => {
                self.wait_for_strange_topics(moment, request);
                self.hear_of_classic_commit(moment, &request.group_id, &request.member_id);
                Effects { records, replies: vec![(token, response.into())] }
            }
            Err(code) => Effects::reply(token, every_partition(request, |_| code).into()),
        }
    }

    fn judge_commit(
        &self,
        client: &Client,
        request: &OffsetCommitRequest,
    ) -> Result<MayCommit<'_>, ErrorCode> {
        let name = request.group_id.as_str();
        if GROUP_ID_LEN_MAX < name.len() {
            return Err(ErrorCode::InvalidGroupId);
        }
        let epoch = request.generation_id_or_member_epoch;
        let (member, instance) = (request.member_id.as_str(), request.group_instance_id.as_deref());
        match self.groups.get(name) {
            Some(Group::Classic(group)) => {
                group.may_commit(member, instance, epoch, false).map(|()| MayCommit::All)
            }
            Some(Group::Consumer(group)) => {
                group.may_commit(member, instance, epoch, Some(client.version))
            }
            // A tool, or a consumer that assigns itself its partitions: there is a group from now.
            None if epoch < 0 => Ok(MayCommit::All),
            None if GROUP_ID_NOT_FOUND_SINCE <= client.version => Err(ErrorCode::GroupIdNotFound),
            None => Err(ErrorCode::IllegalGeneration),
        }
    }

    /// The name of a group, as it is held here already.
    pub(super) fn group_name(&self, name: &str) -> GroupId {
        self.groups.get_key_value(name).map_or_else(|| name.into(), |(name, _)| Arc::clone(name))
    }
}

type Committed = (Vec<GroupRecord>, OffsetCommitResponse);

fn commit(
    state: &State,
    moment: &Moment<'_>,
    request: &OffsetCommitRequest,
    may: MayCommit<'_>,
) -> Result<Committed, ErrorCode> {
    let group = state.group_name(request.group_id.as_str());
    let mut records = Vec::new();
    for topic in &request.topics {
        let name = state.offsets.topic_name(topic.name.as_str());
        for partition in topic.partitions.iter().filter(|it| !is_too_large(moment, it)) {
            may.allows(topic.topic_id.into(), partition.partition_index)?;
            let key = key(&group, &name, partition.partition_index);
            records.push(record(moment, request, topic, partition, key));
        }
    }
    let response = every_partition(request, |partition| match is_too_large(moment, partition) {
        true => ErrorCode::OffsetMetadataTooLarge,
        false => ErrorCode::None,
    });
    Ok((records, response))
}

fn record(
    moment: &Moment<'_>,
    request: &OffsetCommitRequest,
    topic: &OffsetCommitRequestTopic,
    partition: &OffsetCommitRequestPartition,
    key: OffsetKey,
) -> GroupRecord {
    let expire_timestamp_ms = match request.retention_time_ms {
        RETENTION_OF_BROKER => NO_EXPIRY,
        retention_ms => moment.wall_ms.saturating_add(retention_ms),
    };
    let metadata = partition.committed_metadata.as_deref().unwrap_or_default();
    let value = OffsetValue {
        offset: partition.committed_offset,
        leader_epoch: partition.committed_leader_epoch,
        // Most have none, and share it.
        metadata: if metadata.is_empty() { Arc::default() } else { metadata.into() },
        commit_timestamp_ms: moment.wall_ms,
        expire_timestamp_ms,
        topic_id: topic.topic_id.into(),
    };
    GroupRecord::Offset(key, Some(value))
}

/// Counted as Java counts a string's length: in units of UTF-16.
fn is_too_large(moment: &Moment<'_>, partition: &OffsetCommitRequestPartition) -> bool {
    let max = moment.config.values.coordinator.offset_metadata_max_bytes;
    let max = usize::try_from(max).unwrap_or(0);
    let metadata = partition.committed_metadata.as_deref().unwrap_or_default();
    max < metadata.len() && max < metadata.encode_utf16().count()
}

/// An answer about each partition of a request.
fn every_partition(
    request: &OffsetCommitRequest,
    code: impl Fn(&OffsetCommitRequestPartition) -> ErrorCode,
) -> OffsetCommitResponse {
    let partition = |it: &OffsetCommitRequestPartition| {
        OffsetCommitResponsePartition::default()
            .with_partition_index(it.partition_index)
            .with_error_code(code(it).code())
    };
    let topic = |it: &OffsetCommitRequestTopic| {
        OffsetCommitResponseTopic::default()
            .with_name(it.name.clone())
            .with_partitions(it.partitions.iter().map(partition).collect())
    };
    OffsetCommitResponse::default().with_topics(request.topics.iter().map(topic).collect())
}
