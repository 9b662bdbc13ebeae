//! OffsetFetch (key 9): how far a group has come, or many.

use super::context::{Ctx, RequestContext};
use super::grouped::{Said, check_named, client, gathered};
use super::handler::Handler;
use super::reply::Handled;
use protocol::error::ErrorCode;
use protocol::messages::offset_fetch_request::{OffsetFetchRequestGroup, OffsetFetchRequestTopics};
use protocol::messages::offset_fetch_response::{
    OffsetFetchResponseGroup, OffsetFetchResponsePartition, OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic, OffsetFetchResponseTopics,
};
use protocol::messages::{OffsetFetchRequest, OffsetFetchResponse, Versions};

/// From this version on a request asks of many groups, in fields of their own.
const BATCH_SINCE: i16 = 8;
/// Before this version an error can only be said of each partition, and nobody asks for all.
const GROUP_ERROR_SINCE: i16 = 2;
const NO_OFFSET: i64 = -1;

pub(super) struct OffsetFetch;

impl Handler for OffsetFetch {
    type Request = OffsetFetchRequest;
    const VERSIONS: Versions = Versions { min: 1, max: 9 };

    fn handle(
        ctx: &Ctx,
        from: &RequestContext,
        request: OffsetFetchRequest,
        version: i16,
    ) -> Handled<OffsetFetchRequest> {
        check_named(&request.groups)?;
        let groups = groups(request.clone(), version);
        let ask = |group: &OffsetFetchRequestGroup| {
            let one = OffsetFetchRequest::default()
                .with_groups(vec![group.clone()])
                .with_require_stable(request.require_stable);
            ctx.groups.ask(group.group_id.as_str(), (client(from, version), one).into())
        };
        let asked = groups.iter().map(ask).collect();
        Ok(gathered(asked, move |said| {
            let said = groups.iter().zip(said).map(|(group, said)| answer(group, said, version));
            in_version(said.collect(), version)
        }))
    }

    fn refuse(request: &OffsetFetchRequest, code: ErrorCode) -> OffsetFetchResponse {
        let is_batch = !request.groups.is_empty();
        let version = if is_batch { BATCH_SINCE } else { GROUP_ERROR_SINCE };
        let groups = groups(request.clone(), version);
        let refused = groups.iter().map(|group| group_error(group, code, version));
        in_version(refused.collect(), version)
    }
}

/// What is asked, as the newest versions ask it.
fn groups(request: OffsetFetchRequest, version: i16) -> Vec<OffsetFetchRequestGroup> {
    if BATCH_SINCE <= version {
        return request.groups;
    }
    let topics = request.topics.map(|topics| {
        let topic = |it: protocol::messages::offset_fetch_request::OffsetFetchRequestTopic| {
            OffsetFetchRequestTopics::default()
                .with_name(it.name)
                .with_partition_indexes(it.partition_indexes)
        };
        topics.into_iter().map(topic).collect()
    });
    let group = OffsetFetchRequestGroup::default();
    vec![group.with_group_id(request.group_id).with_topics(topics)]
}

/// What the group's shard said of it.
fn answer(group: &OffsetFetchRequestGroup, said: Said, version: i16) -> OffsetFetchResponseGroup {
    // A shard that answers another question than it was asked has a bug.
    let bug = ErrorCode::UnknownServerError;
    let said = said.and_then(|said| OffsetFetchResponse::try_from(said).map_err(|_| bug));
    match said.and_then(|mut said| said.groups.pop().ok_or(bug)) {
        Ok(said) => match ErrorCode::from_code(said.error_code) {
            Some(ErrorCode::None) => said,
            code => group_error(group, code.unwrap_or(bug), version),
        },
        Err(code) => group_error(group, code, version),
    }
}

fn group_error(
    group: &OffsetFetchRequestGroup,
    code: ErrorCode,
    version: i16,
) -> OffsetFetchResponseGroup {
    let said = OffsetFetchResponseGroup::default().with_group_id(group.group_id.clone());
    if GROUP_ERROR_SINCE <= version {
        return said.with_error_code(code.code());
    }
    let partition = |number: &i32| {
        OffsetFetchResponsePartitions::default()
            .with_partition_index(*number)
            .with_committed_offset(NO_OFFSET)
            .with_error_code(code.code())
    };
    let topic = |it: &OffsetFetchRequestTopics| {
        OffsetFetchResponseTopics::default()
            .with_name(it.name.clone())
            .with_partitions(it.partition_indexes.iter().map(partition).collect())
    };
    said.with_topics(group.topics.iter().flatten().map(topic).collect())
}

/// Before batches there is one group, whose answer is the response.
fn in_version(groups: Vec<OffsetFetchResponseGroup>, version: i16) -> OffsetFetchResponse {
    let response = OffsetFetchResponse::default();
    if BATCH_SINCE <= version {
        return response.with_groups(groups);
    }
    let partition = |it: OffsetFetchResponsePartitions| {
        OffsetFetchResponsePartition::default()
            .with_partition_index(it.partition_index)
            .with_committed_offset(it.committed_offset)
            .with_committed_leader_epoch(it.committed_leader_epoch)
            .with_metadata(it.metadata)
            .with_error_code(it.error_code)
    };
    let topic = |it: OffsetFetchResponseTopics| {
        OffsetFetchResponseTopic::default()
            .with_name(it.name)
            .with_partitions(it.partitions.into_iter().map(partition).collect())
    };
    groups.into_iter().next().map_or(response.clone(), |group| {
        response
            .with_error_code(group.error_code)
            .with_topics(group.topics.into_iter().map(topic).collect())
    })
}
