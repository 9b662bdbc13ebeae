//! CreateAcls (key 30): somebody may do something, or not.

use super::acls::{CODE, check_kinds, words};
use super::context::{Ctx, RequestContext};
use super::handler::Handler;
use super::reply::{Handled, Reply};
use protocol::error::ErrorCode;
use protocol::messages::create_acls_response::AclCreationResult;
use protocol::messages::{CreateAclsRequest, CreateAclsResponse, Versions};

pub(super) struct CreateAcls;

impl Handler for CreateAcls {
    type Request = CreateAclsRequest;
    const VERSIONS: Versions = Versions { min: 1, max: 3 };

    fn handle(
        _ctx: &Ctx,
        _from: &RequestContext,
        request: CreateAclsRequest,
        _version: i16,
    ) -> Handled<CreateAclsRequest> {
        check_kinds(request.creations.iter().flat_map(|it| {
            [it.resource_type, it.resource_pattern_type, it.operation, it.permission_type]
        }))?;
        Ok(Reply::Now(CreateAcls::refuse(&request, CODE).into()))
    }

    fn refuse(request: &CreateAclsRequest, code: ErrorCode) -> CreateAclsResponse {
        let result = AclCreationResult::default()
            .with_error_code(code.code())
            .with_error_message(words(code));
        CreateAclsResponse::default().with_results(vec![result; request.creations.len()])
    }
}
