//! DescribeAcls (key 29): who may do what. Nobody is told to leave anything.

use super::acls::{CODE, check_kinds, words};
use super::context::{Ctx, RequestContext};
use super::handler::Handler;
use super::reply::{Handled, Reply};
use protocol::error::ErrorCode;
use protocol::messages::{DescribeAclsRequest, DescribeAclsResponse, Versions};

pub(super) struct DescribeAcls;

impl Handler for DescribeAcls {
    type Request = DescribeAclsRequest;
    const VERSIONS: Versions = Versions { min: 1, max: 3 };

    fn handle(
        _ctx: &Ctx,
        _from: &RequestContext,
        request: DescribeAclsRequest,
        _version: i16,
    ) -> Handled<DescribeAclsRequest> {
        let DescribeAclsRequest { resource_type_filter, pattern_type_filter, .. } = request;
        let kinds = [resource_type_filter, pattern_type_filter];
        check_kinds(kinds.into_iter().chain([request.operation, request.permission_type]))?;
        Ok(Reply::Now(DescribeAcls::refuse(&request, CODE).into()))
    }

    fn refuse(_request: &DescribeAclsRequest, code: ErrorCode) -> DescribeAclsResponse {
        DescribeAclsResponse::default().with_error_code(code.code()).with_error_message(words(code))
    }
}
