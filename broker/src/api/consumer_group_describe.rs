//! ConsumerGroupDescribe (key 69, KIP-848): consumer groups, their members, and what these have.

use super::consumer_group_heartbeat::offers_consumer_groups;
use super::context::{Ctx, RequestContext};
use super::grouped::{check_named, client, gathered};
use super::handler::Handler;
use super::operations;
use super::reply::{Handled, Reply};
use crate::coordinator::Asked;
use crate::group;
use protocol::error::ErrorCode;
use protocol::messages::consumer_group_describe_response::DescribedGroup;
use protocol::messages::{
    ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, GroupId, Versions,
};

pub(super) struct ConsumerGroupDescribe;

impl Handler for ConsumerGroupDescribe {
    type Request = ConsumerGroupDescribeRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 1 };

    /// Every group is asked for where it is kept.
    fn handle(
        ctx: &Ctx,
        from: &RequestContext,
        request: ConsumerGroupDescribeRequest,
        version: i16,
    ) -> Handled<ConsumerGroupDescribeRequest> {
        if !offers_consumer_groups(ctx) {
            return Ok(Reply::Now(Self::refuse(&request, ErrorCode::UnsupportedVersion).into()));
        }
        check_named(&request.group_ids)?;
        let client = client(from, version);
        let ask = |id: &GroupId| {
            if id.is_empty() {
                return Asked::Now(Err(ErrorCode::InvalidGroupId));
            }
            let one = ConsumerGroupDescribeRequest::default().with_group_ids(vec![id.clone()]);
            ctx.groups.ask(id, (client.clone(), one).into())
        };
        let asked = request.group_ids.iter().map(ask).collect();
        Ok(gathered(asked, move |said| {
            let groups =
                request.group_ids.iter().zip(said).flat_map(|(id, said)| described(id, said));
            let mut response =
                ConsumerGroupDescribeResponse::default().with_groups(groups.collect());
            if request.include_authorized_operations {
                let found = response.groups.iter_mut().filter(|it| it.error_code == 0);
                found.for_each(|group| group.authorized_operations = operations::GROUP);
            }
            response
        }))
    }

    fn refuse(
        request: &ConsumerGroupDescribeRequest,
        code: ErrorCode,
    ) -> ConsumerGroupDescribeResponse {
        let groups = request.group_ids.iter().map(|id| refused(id, code));
        ConsumerGroupDescribeResponse::default().with_groups(groups.collect())
    }
}

fn described(id: &GroupId, said: Result<group::Reply, ErrorCode>) -> Vec<DescribedGroup> {
    match said {
        Ok(group::Reply::ConsumerDescribe(response)) => response.groups,
        Ok(_) => vec![refused(id, ErrorCode::UnknownServerError)],
        Err(code) => vec![refused(id, code)],
    }
}

fn refused(id: &GroupId, code: ErrorCode) -> DescribedGroup {
    DescribedGroup::default().with_group_id(id.clone()).with_error_code(code.code())
}
