//! ListPartitionReassignments (key 46): partitions on their way to other brokers.

use super::context::{Ctx, RequestContext};
use super::forward::forwarded;
use super::handler::Handler;
use super::reply::Handled;
use protocol::error::ErrorCode;
use protocol::messages::{
    ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse, Versions,
};

pub(super) struct ListPartitionReassignments;

impl Handler for ListPartitionReassignments {
    type Request = ListPartitionReassignmentsRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 0 };

    fn handle(
        ctx: &Ctx,
        _from: &RequestContext,
        request: ListPartitionReassignmentsRequest,
        _version: i16,
    ) -> Handled<ListPartitionReassignmentsRequest> {
        forwarded::<ListPartitionReassignments>(ctx, request)
    }

    fn refuse(
        _request: &ListPartitionReassignmentsRequest,
        code: ErrorCode,
    ) -> ListPartitionReassignmentsResponse {
        ListPartitionReassignmentsResponse::default()
            .with_error_code(code.code())
            .with_error_message(Some(code.message().into()))
    }
}
