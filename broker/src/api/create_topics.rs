//! CreateTopics (key 19): new topics, which take records as soon as it is answered.

use super::context::{Ctx, RequestContext};
use super::forward::{forwarded_within, words};
use super::handler::Handler;
use super::reply::Handled;
use protocol::error::ErrorCode;
use protocol::messages::create_topics_request::CreatableTopic;
use protocol::messages::create_topics_response::CreatableTopicResult;
use protocol::messages::{CreateTopicsRequest, CreateTopicsResponse, Versions};

pub(super) struct CreateTopics;

impl Handler for CreateTopics {
    type Request = CreateTopicsRequest;
    const VERSIONS: Versions = Versions { min: 2, max: 7 };

    fn handle(
        ctx: &Ctx,
        _from: &RequestContext,
        request: CreateTopicsRequest,
        _version: i16,
    ) -> Handled<CreateTopicsRequest> {
        let timeout_ms = request.timeout_ms;
        forwarded_within::<CreateTopics>(ctx, request, timeout_ms)
    }

    fn refuse(request: &CreateTopicsRequest, code: ErrorCode) -> CreateTopicsResponse {
        let topic = |topic: &CreatableTopic| {
            CreatableTopicResult::default()
                .with_name(topic.name.clone())
                .with_error_code(code.code())
                .with_error_message(words(code))
                .with_num_partitions(-1)
                .with_replication_factor(-1)
                .with_configs(Some(Vec::new()))
        };
        let topics = request.topics.iter().map(topic).collect();
        CreateTopicsResponse::default().with_topics(topics)
    }
}
