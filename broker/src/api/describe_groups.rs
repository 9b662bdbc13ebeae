//! DescribeGroups (key 15): what classic groups are, and who is in them.

use super::context::{Ctx, RequestContext};
use super::grouped::{Said, check_named, client, gathered};
use super::handler::Handler;
use super::operations;
use super::reply::Handled;
use protocol::error::ErrorCode;
use protocol::messages::describe_groups_response::DescribedGroup;
use protocol::messages::{DescribeGroupsRequest, DescribeGroupsResponse, GroupId, Versions};

pub(super) struct DescribeGroups;

impl Handler for DescribeGroups {
    type Request = DescribeGroupsRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 6 };

    fn handle(
        ctx: &Ctx,
        from: &RequestContext,
        request: DescribeGroupsRequest,
        version: i16,
    ) -> Handled<DescribeGroupsRequest> {
        check_named(&request.groups)?;
        let ask = |id: &GroupId| {
            let one = DescribeGroupsRequest::default().with_groups(vec![id.clone()]);
            ctx.groups.ask(id.as_str(), (client(from, version), one).into())
        };
        let asked = request.groups.iter().map(ask).collect();
        Ok(gathered(asked, move |said| {
            let described = request.groups.iter().zip(said).map(|(id, said)| {
                let described = described(said).unwrap_or_else(|code| refused(id, code));
                let may_be_told = described.error_code == ErrorCode::None.code();
                match request.include_authorized_operations && may_be_told {
                    true => described.with_authorized_operations(operations::GROUP),
                    false => described,
                }
            });
            DescribeGroupsResponse::default().with_groups(described.collect())
        }))
    }

    fn refuse(request: &DescribeGroupsRequest, code: ErrorCode) -> DescribeGroupsResponse {
        let groups = request.groups.iter().map(|id| refused(id, code));
        DescribeGroupsResponse::default().with_groups(groups.collect())
    }
}

fn described(said: Said) -> Result<DescribedGroup, ErrorCode> {
    // A shard that answers another question than it was asked has a bug.
    let bug = ErrorCode::UnknownServerError;
    DescribeGroupsResponse::try_from(said?).map_err(|_| bug)?.groups.pop().ok_or(bug)
}

fn refused(id: &GroupId, code: ErrorCode) -> DescribedGroup {
    DescribedGroup::default().with_group_id(id.clone()).with_error_code(code.code())
}
