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
            let listed = said.and_then(listed);
            Ok(listed.unwrap_or_else(|code| Self::refuse(&request, code)).into())
        }))
    }

    fn refuse(_request: &ListGroupsRequest, code: ErrorCode) -> ListGroupsResponse {
        ListGroupsResponse::default().with_error_code(code.code())
    }
}

/// A shard that took back what it said has gone, or cannot tell yet what is so.
fn listed(said: Vec<Said>) -> Result<ListGroupsResponse, ErrorCode> {
    let mut groups = Vec::new();
    for said in said.into_iter().filter_map(|said| ListGroupsResponse::try_from(said).ok()) {
        match ErrorCode::from_code(said.error_code) {
            Some(ErrorCode::None) => groups.extend(said.groups),
            Some(ErrorCode::NotCoordinator) => {}
            code => return Err(code.unwrap_or(ErrorCode::UnknownServerError)),
        }
    }
    Ok(ListGroupsResponse::default().with_groups(groups))
}
