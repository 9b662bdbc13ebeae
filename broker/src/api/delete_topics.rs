//! DeleteTopics (key 20): topics go, by name or id.

use super::context::{Ctx, RequestContext};
use super::forward::{forwarded_within, words};
use super::handler::Handler;
use super::reply::Handled;
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::delete_topics_response::DeletableTopicResult;
use protocol::messages::{DeleteTopicsRequest, DeleteTopicsResponse, TopicName, Versions};

/// Before it, clients do not know TOPIC_DELETION_DISABLED.
const DISABLED_SINCE: i16 = 3;

pub(super) struct DeleteTopics;

impl Handler for DeleteTopics {
    type Request = DeleteTopicsRequest;
    const VERSIONS: Versions = Versions { min: 1, max: 6 };

    fn handle(
        ctx: &Ctx,
        _from: &RequestContext,
        request: DeleteTopicsRequest,
        version: i16,
    ) -> Handled<DeleteTopicsRequest> {
        let timeout_ms = request.timeout_ms;
        let reply = forwarded_within::<DeleteTopics>(ctx, request, timeout_ms)?;
        reply.and_then(move |mut response| {
            response.message = known_in(version, response.message);
            Ok(response)
        })
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

/// The same with codes that a client of that version knows.
fn known_in(version: i16, mut response: DeleteTopicsResponse) -> DeleteTopicsResponse {
    if version < DISABLED_SINCE {
        let is_disabled = |it: &&mut DeletableTopicResult| {
            it.error_code == ErrorCode::TopicDeletionDisabled.code()
        };
        let disabled = response.responses.iter_mut().filter(is_disabled);
        disabled.for_each(|it| it.error_code = ErrorCode::InvalidRequest.code());
    }
    response
}
