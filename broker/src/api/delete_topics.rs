//! DeleteTopics (key 20): topics go, by name or id.

use super::context::{Ctx, RequestContext};
use super::forward::{forwarded_within, words};
use super::handler::Handler;
use super::reply::Handled;
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::delete_topics_response::DeletableTopicResult;
use protocol::messages::{DeleteTopicsRequest, DeleteTopicsResponse, TopicName, Versions};

pub(super) struct DeleteTopics;

impl Handler for DeleteTopics {
    type Request = DeleteTopicsRequest;
    const VERSIONS: Versions = Versions { min: 1, max: 6 };

    fn handle(
        ctx: &Ctx,
        _from: &RequestContext,
        request: DeleteTopicsRequest,
        _version: i16,
    ) -> Handled<DeleteTopicsRequest> {
        let timeout_ms = request.timeout_ms;
        forwarded_within::<DeleteTopics>(ctx, request, timeout_ms)
    }

    fn refuse(request: &DeleteTopicsRequest, code: ErrorCode) -> DeleteTopicsResponse {
        let refused = |name: Option<TopicName>, id| {
            DeletableTopicResult::default()
                .with_name(name)
                .with_topic_id(id)
                .with_error_code(code.code())
                .with_error_message(words(code))
        };
        // Up to version 5 the names stand in a list of their own.
        let named = request.topic_names.iter();
        let named = named.map(|name| refused(Some(name.clone()), Uuid::ZERO.into()));
        let states = request.topics.iter().map(|it| refused(it.name.clone(), it.topic_id));
        DeleteTopicsResponse::default().with_responses(named.chain(states).collect())
    }
}
