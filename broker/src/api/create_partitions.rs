//! CreatePartitions (key 37): a topic gets more partitions.

use super::context::{Ctx, RequestContext};
use super::forward::{forwarded_within, words};
use super::handler::Handler;
use super::reply::Handled;
use protocol::error::ErrorCode;
use protocol::messages::create_partitions_request::CreatePartitionsTopic;
use protocol::messages::create_partitions_response::CreatePartitionsTopicResult;
use protocol::messages::{CreatePartitionsRequest, CreatePartitionsResponse, Versions};

pub(super) struct CreatePartitions;

impl Handler for CreatePartitions {
    type Request = CreatePartitionsRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 3 };

    fn handle(
        ctx: &Ctx,
        _from: &RequestContext,
        request: CreatePartitionsRequest,
        _version: i16,
    ) -> Handled<CreatePartitionsRequest> {
        let timeout_ms = request.timeout_ms;
        forwarded_within::<CreatePartitions>(ctx, request, timeout_ms)
    }

    fn refuse(request: &CreatePartitionsRequest, code: ErrorCode) -> CreatePartitionsResponse {
        let result = |topic: &CreatePartitionsTopic| {
            CreatePartitionsTopicResult::default()
                .with_name(topic.name.clone())
                .with_error_code(code.code())
                .with_error_message(words(code))
        };
        let results = request.topics.iter().map(result).collect();
        CreatePartitionsResponse::default().with_results(results)
    }
}
