//! OffsetCommit (key 8): a group remembers how far it has come.

use super::context::{Ctx, RequestContext};
use super::grouped::{client, gathered, merge_topics};
use super::handler::Handler;
use super::reply::{Handled, Reply};
use crate::group::Reply as Said;
use kraft::image::Image;
use protocol::error::ErrorCode;
use protocol::messages::offset_commit_request::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use protocol::messages::offset_commit_response::{
    OffsetCommitResponsePartition, OffsetCommitResponseTopic,
};
use protocol::messages::{OffsetCommitRequest, OffsetCommitResponse, Versions};

pub(super) struct OffsetCommit;

impl Handler for OffsetCommit {
    type Request = OffsetCommitRequest;
    const VERSIONS: Versions = Versions { min: 2, max: 9 };

    /// The group is asked of the partitions that there are; of the others it would keep offsets
    /// that never go with their topic.
    fn handle(
        ctx: &Ctx,
        from: &RequestContext,
        mut request: OffsetCommitRequest,
        version: i16,
    ) -> Handled<OffsetCommitRequest> {
        let refused = take_unknown(&ctx.image(), &mut request);
        if request.topics.is_empty() {
            let response = OffsetCommitResponse::default().with_topics(refused);
            return Ok(Reply::Now(response.into()));
        }
        let asked = (client(from, version), request.clone()).into();
        let asked = ctx.groups.ask(request.group_id.as_str(), asked);
        Ok(gathered(vec![asked], move |said| {
            let mut response = OffsetCommitResponse::default().with_topics(refused);
            for said in said {
                let said = said.and_then(|said| said.try_into().map_err(unexpected));
                let said = said.unwrap_or_else(|code| Self::refuse(&request, code));
                merge(&mut response.topics, said.topics);
            }
            response
        }))
    }

    fn refuse(request: &OffsetCommitRequest, code: ErrorCode) -> OffsetCommitResponse {
        let topics = request.topics.iter().map(|topic| refused(topic, &topic.partitions, code));
        OffsetCommitResponse::default().with_topics(topics.collect())
    }
}

/// A shard that answers another question than it was asked has a bug.
fn unexpected(_: Box<Said>) -> ErrorCode {
    ErrorCode::UnknownServerError
}

/// Takes out what is not there, as refusals, and says the ids of what is.
fn take_unknown(
    image: &Image,
    request: &mut OffsetCommitRequest,
) -> Vec<OffsetCommitResponseTopic> {
    let mut unknown = Vec::new();
    for asked in &mut request.topics {
        let topic = image.topic(asked.name.as_str());
        asked.topic_id = topic.map(|topic| topic.id.into()).unwrap_or_default();
        let is_known = |it: &OffsetCommitRequestPartition| {
            topic.is_some_and(|topic| topic.partition(it.partition_index).is_some())
        };
        if topic.is_none() || !asked.partitions.iter().all(is_known) {
            let (known, missing): (Vec<_>, Vec<_>) =
                std::mem::take(&mut asked.partitions).into_iter().partition(is_known);
            asked.partitions = known;
            unknown.push(refused(asked, &missing, ErrorCode::UnknownTopicOrPartition));
        }
    }
    request.topics.retain(|topic| !topic.partitions.is_empty());
    unknown
}

fn refused(
    topic: &OffsetCommitRequestTopic,
    partitions: &[OffsetCommitRequestPartition],
    code: ErrorCode,
) -> OffsetCommitResponseTopic {
    let partition = |it: &OffsetCommitRequestPartition| {
        OffsetCommitResponsePartition::default()
            .with_partition_index(it.partition_index)
            .with_error_code(code.code())
    };
    OffsetCommitResponseTopic::default()
        .with_name(topic.name.clone())
        .with_partitions(partitions.iter().map(partition).collect())
}

/// Beside refusals a topic stands once; without any, as often as it was named, as in Kafka.
fn merge(into: &mut Vec<OffsetCommitResponseTopic>, from: Vec<OffsetCommitResponseTopic>) {
    if into.is_empty() {
        *into = from;
        return;
    }
    let absorb = |there: &mut OffsetCommitResponseTopic, topic: OffsetCommitResponseTopic| {
        there.partitions.extend(topic.partitions);
    };
    merge_topics(into, from, |it| it.name.clone(), absorb);
}
