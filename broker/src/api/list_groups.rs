//! ListGroups (key 16): the groups that this broker keeps.

use super::context::{Ctx, RequestContext};
use super::grouped::client;
use super::handler::Handler;
use super::reply::{Handled, Reply};
use crate::group::Reply as Said;
use protocol::error::ErrorCode;
use protocol::messages::{ListGroupsRequest, ListGroupsResponse, Versions};
use std::sync::Arc;

pub(super) struct ListGroups;

impl Handler for ListGroups {
    type Request = ListGroupsRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 5 };

    fn handle(
        ctx: &Ctx,
        from: &RequestContext,
        request: ListGroupsRequest,
        version: i16,
    ) -> Handled<ListGroupsRequest> {
        let (groups, client) = (Arc::clone(&ctx.groups), client(from, version));
        Ok(Reply::later(async move {
            let said = groups.ask_all(|| (client.clone(), request.clone()).into()).await;
            let response = said.map_or_else(|code| Self::refuse(&request, code), listed);
            Ok(response.into())
        }))
    }

    fn refuse(_request: &ListGroupsRequest, code: ErrorCode) -> ListGroupsResponse {
        ListGroupsResponse::default().with_error_code(code.code())
    }
}

fn listed(said: Vec<Said>) -> ListGroupsResponse {
    let said = said.into_iter().filter_map(|said| ListGroupsResponse::try_from(said).ok());
    let groups = said.flat_map(|said| said.groups).collect();
    ListGroupsResponse::default().with_groups(groups)
}
