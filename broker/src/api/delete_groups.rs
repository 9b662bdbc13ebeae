//! DeleteGroups (key 42): groups that nobody is in go, with their offsets.

use super::context::{Ctx, RequestContext};
use super::grouped::{Said, check_named, client, gathered};
use super::handler::Handler;
use super::reply::Handled;
use protocol::error::ErrorCode;
use protocol::messages::delete_groups_response::DeletableGroupResult;
use protocol::messages::{DeleteGroupsRequest, DeleteGroupsResponse, GroupId, Versions};

pub(super) struct DeleteGroups;

impl Handler for DeleteGroups {
    type Request = DeleteGroupsRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 2 };

    fn handle(
        ctx: &Ctx,
        from: &RequestContext,
        request: DeleteGroupsRequest,
        version: i16,
    ) -> Handled<DeleteGroupsRequest> {
        check_named(&request.groups_names)?;
        let ids = once_each(&request.groups_names);
        let ask = |id: &GroupId| {
            let one = DeleteGroupsRequest::default().with_groups_names(vec![id.clone()]);
            ctx.groups.ask(id.as_str(), (client(from, version), one).into())
        };
        let asked = ids.iter().map(ask).collect();
        Ok(gathered(asked, move |said| {
            let results = ids.iter().zip(said);
            let results =
                results.map(|(id, said)| result(said).unwrap_or_else(|code| refused(id, code)));
            DeleteGroupsResponse::default().with_results(results.collect())
        }))
    }

    fn refuse(request: &DeleteGroupsRequest, code: ErrorCode) -> DeleteGroupsResponse {
        let ids = once_each(&request.groups_names);
        let results = ids.iter().map(|id| refused(id, code)).collect();
        DeleteGroupsResponse::default().with_results(results)
    }
}

fn once_each(ids: &[GroupId]) -> Vec<GroupId> {
    let mut seen = std::collections::BTreeSet::new();
    ids.iter().filter(|id| seen.insert(id.as_str())).cloned().collect()
}

fn result(said: Said) -> Result<DeletableGroupResult, ErrorCode> {
    // A shard that answers another question than it was asked has a bug.
    let bug = ErrorCode::UnknownServerError;
    DeleteGroupsResponse::try_from(said?).map_err(|_| bug)?.results.pop().ok_or(bug)
}

fn refused(id: &GroupId, code: ErrorCode) -> DeletableGroupResult {
    DeletableGroupResult::default().with_group_id(id.clone()).with_error_code(code.code())
}
