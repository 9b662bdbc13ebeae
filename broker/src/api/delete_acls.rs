//! DeleteAcls (key 31): what was said of who may do what holds no more.

use super::acls::{CODE, check_kinds, words};
use super::context::{Ctx, RequestContext};
use super::handler::Handler;
use super::reply::{Handled, Reply};
use protocol::error::ErrorCode;
use protocol::messages::delete_acls_response::DeleteAclsFilterResult;
use protocol::messages::{DeleteAclsRequest, DeleteAclsResponse, Versions};

pub(super) struct DeleteAcls;

impl Handler for DeleteAcls {
    type Request = DeleteAclsRequest;
    const VERSIONS: Versions = Versions { min: 1, max: 3 };

    fn handle(
        _ctx: &Ctx,
        _from: &RequestContext,
        request: DeleteAclsRequest,
        _version: i16,
    ) -> Handled<DeleteAclsRequest> {
        check_kinds(request.filters.iter().flat_map(|it| {
            [it.resource_type_filter, it.pattern_type_filter, it.operation, it.permission_type]
        }))?;
        Ok(Reply::Now(DeleteAcls::refuse(&request, CODE).into()))
    }

    fn refuse(request: &DeleteAclsRequest, code: ErrorCode) -> DeleteAclsResponse {
        let result = DeleteAclsFilterResult::default()
            .with_error_code(code.code())
            .with_error_message(words(code));
        DeleteAclsResponse::default().with_filter_results(vec![result; request.filters.len()])
    }
}
