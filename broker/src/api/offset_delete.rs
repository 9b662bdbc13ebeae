//! OffsetDelete (key 47): a group forgets how far it has come with a partition.

use super::context::{Ctx, RequestContext};
use super::grouped::{client, gathered, merge_topics};
use super::handler::Handler;
use super::reply::{Handled, Reply};
use kraft::image::Image;
use protocol::error::ErrorCode;
use protocol::messages::offset_delete_request::{
    OffsetDeleteRequestPartition, OffsetDeleteRequestTopic,
};
use protocol::messages::offset_delete_response::{
    OffsetDeleteResponsePartition, OffsetDeleteResponseTopic,
};
use protocol::messages::{OffsetDeleteRequest, OffsetDeleteResponse, Versions};

pub(super) struct OffsetDelete;

impl Handler for OffsetDelete {
    type Request = OffsetDeleteRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 0 };

    /// The group is asked even where no partition is left to ask about: it may not be there.
    fn handle(
        ctx: &Ctx,
        from: &RequestContext,
        mut request: OffsetDeleteRequest,
        version: i16,
    ) -> Handled<OffsetDeleteRequest> {
        let refused = take_unknown(&ctx.image(), &mut request);
        if request.group_id.is_empty() {
            let response = Self::refuse(&request, ErrorCode::InvalidGroupId);
            return Ok(Reply::Now(response.into()));
        }
        let asked = (client(from, version), request.clone()).into();
        let asked = ctx.groups.ask(request.group_id.as_str(), asked);
        Ok(gathered(vec![asked], move |said| {
            let mut response = OffsetDeleteResponse::default().with_topics(refused);
            for said in said {
                // A shard that answers another question than it was asked has a bug.
                let bug = ErrorCode::UnknownServerError;
                let said =
                    said.and_then(|said| OffsetDeleteResponse::try_from(said).map_err(|_| bug));
                let said = said.unwrap_or_else(|code| Self::refuse(&request, code));
                if said.error_code != ErrorCode::None.code() {
                    return said;
                }
                let absorb = |there: &mut OffsetDeleteResponseTopic,
                              topic: OffsetDeleteResponseTopic| {
                    there.partitions.extend(topic.partitions);
                };
                merge_topics(&mut response.topics, said.topics, |it| it.name.clone(), absorb);
            }
            response
        }))
    }

    fn refuse(_request: &OffsetDeleteRequest, code: ErrorCode) -> OffsetDeleteResponse {
        OffsetDeleteResponse::default().with_error_code(code.code())
    }
}

/// Takes out what is not there, as refusals.
fn take_unknown(
    image: &Image,
    request: &mut OffsetDeleteRequest,
) -> Vec<OffsetDeleteResponseTopic> {
    let mut unknown = Vec::new();
    for asked in &mut request.topics {
        let is_known = |it: &OffsetDeleteRequestPartition| {
            image.partition(asked.name.as_str(), it.partition_index).is_some()
        };
        let (known, missing): (Vec<_>, Vec<_>) =
            std::mem::take(&mut asked.partitions).into_iter().partition(is_known);
        asked.partitions = known;
        if !missing.is_empty() {
            unknown.push(refused(asked, &missing));
        }
    }
    request.topics.retain(|topic| !topic.partitions.is_empty());
    unknown
}

fn refused(
    topic: &OffsetDeleteRequestTopic,
    partitions: &[OffsetDeleteRequestPartition],
) -> OffsetDeleteResponseTopic {
    let partition = |it: &OffsetDeleteRequestPartition| {
        OffsetDeleteResponsePartition::default()
            .with_partition_index(it.partition_index)
            .with_error_code(ErrorCode::UnknownTopicOrPartition.code())
    };
    OffsetDeleteResponseTopic::default()
        .with_name(topic.name.clone())
        .with_partitions(partitions.iter().map(partition).collect())
}
