//! What a ConsumerGroupHeartbeat must look like, whatever the group is (Kafka's
//! `GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid`).

use super::member::{AWAY, LEFT};
use crate::config::BrokerConfig;
use protocol::error::ErrorCode;
use protocol::messages::{ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, StrBytes};

/// Members make up their own ids from this version on.
pub(super) const OWN_IDS_SINCE: i16 = 1;
/// In place of an epoch: the member joins.
pub(super) const JOINING: i32 = 0;

/// Why a request is turned down: the code, and what a person should know beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::group) struct Refusal {
    pub(in crate::group) code: ErrorCode,
    pub(in crate::group) why: String,
}

impl Refusal {
    pub(in crate::group) fn new(code: ErrorCode, why: impl Into<String>) -> Refusal {
        Refusal { code, why: why.into() }
    }
}

/// Code alone, with its own text.
impl From<ErrorCode> for Refusal {
    fn from(code: ErrorCode) -> Refusal {
        Refusal::new(code, code.message())
    }
}

/// The answer to a request that is wrong whatever the group is; None: nothing is wrong so far.
pub fn fault(
    request: &ConsumerGroupHeartbeatRequest,
    version: i16,
    config: &BrokerConfig,
) -> Option<ConsumerGroupHeartbeatResponse> {
    let assignors = &config.values.coordinator.consumer_assignors;
    check(request, version, assignors).err().map(ConsumerGroupHeartbeatResponse::from)
}

impl From<Refusal> for ConsumerGroupHeartbeatResponse {
    fn from(refusal: Refusal) -> ConsumerGroupHeartbeatResponse {
        ConsumerGroupHeartbeatResponse::default()
            .with_error_code(refusal.code.code())
            .with_error_message(Some(StrBytes::from_string(refusal.why)))
    }
}

/// INVALID_REQUEST for what contradicts itself, UNSUPPORTED_ASSIGNOR for an assignor that is not
/// among `assignors`.
pub(super) fn check(
    request: &ConsumerGroupHeartbeatRequest,
    version: i16,
    assignors: &[String],
) -> Result<(), Refusal> {
    let epoch = request.member_epoch;
    let must_name_itself = OWN_IDS_SINCE <= version || JOINING < epoch || epoch == LEFT;
    let is_blank = |text: &StrBytes| text.trim().is_empty();
    let is_some_blank = |text: &Option<StrBytes>| text.as_ref().is_some_and(is_blank);
    let faults = [
        (must_name_itself && is_blank(&request.member_id), "a member id is missing"),
        (is_blank(&request.group_id), "a group id is missing"),
        (is_some_blank(&request.instance_id), "an instance id may be absent, not empty"),
        (is_some_blank(&request.rack_id), "a rack id may be absent, not empty"),
        (
            epoch == JOINING && request.rebalance_timeout_ms == -1,
            "who joins says a rebalance time-out",
        ),
        (epoch == JOINING && !owns_nothing(request), "who joins owns no partitions, and says so"),
        (epoch == JOINING && subscribes_to_nothing(request), "who joins subscribes to something"),
        (epoch == AWAY && request.instance_id.is_none(), "only a static member may come back"),
        (epoch < AWAY, "there is no such member epoch"),
    ];
    if let Some((_, why)) = faults.into_iter().find(|(is_faulty, _)| *is_faulty) {
        return Err(Refusal::new(ErrorCode::InvalidRequest, why));
    }
    match &request.server_assignor {
        Some(name) if !assignors.iter().any(|it| it.as_str() == name.as_str()) => {
            let why = format!("there are the assignors {}", assignors.join(", "));
            Err(Refusal::new(ErrorCode::UnsupportedAssignor, why))
        }
        _ => Ok(()),
    }
}

fn owns_nothing(request: &ConsumerGroupHeartbeatRequest) -> bool {
    request.topic_partitions.as_ref().is_some_and(Vec::is_empty)
}

fn subscribes_to_nothing(request: &ConsumerGroupHeartbeatRequest) -> bool {
    request.subscribed_topic_names.is_none() && request.subscribed_topic_regex.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::messages::GroupId;

    fn joining() -> ConsumerGroupHeartbeatRequest {
        ConsumerGroupHeartbeatRequest::default()
            .with_group_id(GroupId("g".into()))
            .with_member_id("m".into())
            .with_rebalance_timeout_ms(1)
            .with_subscribed_topic_names(Some(vec![]))
            .with_topic_partitions(Some(vec![]))
    }

    #[track_caller]
    fn check_code(request: ConsumerGroupHeartbeatRequest, version: i16, want: ErrorCode) {
        let got = check(&request, version, &["uniform".to_owned()]);
        assert_eq!(got.map_or_else(|it| it.code, |()| ErrorCode::None), want, "{request:?}");
    }

    #[test]
    fn a_request_that_contradicts_itself_is_refused() {
        let bad = |request| check_code(request, 1, ErrorCode::InvalidRequest);
        bad(joining().with_group_id(GroupId("".into())));
        bad(joining().with_member_id("".into()));
        bad(joining().with_instance_id(Some("".into())));
        bad(joining().with_rack_id(Some(" ".into())));
        bad(joining().with_rebalance_timeout_ms(-1));
        bad(joining().with_topic_partitions(None));
        bad(joining().with_topic_partitions(Some(vec![Default::default()])));
        bad(joining().with_subscribed_topic_names(None));
        bad(joining().with_member_epoch(-2));
        bad(joining().with_member_epoch(-3));
    }

    #[test]
    fn what_a_member_may_leave_out_depends_on_version_and_epoch() {
        check_code(joining(), 1, ErrorCode::None);
        check_code(joining().with_member_id("".into()), 0, ErrorCode::None);
        let nameless = joining().with_member_id("".into());
        check_code(nameless.clone().with_member_epoch(3), 0, ErrorCode::InvalidRequest);
        check_code(nameless.with_member_epoch(-1), 0, ErrorCode::InvalidRequest);
        let running = ConsumerGroupHeartbeatRequest::default()
            .with_group_id(GroupId("g".into()))
            .with_member_id("m".into())
            .with_member_epoch(3);
        check_code(running.clone(), 1, ErrorCode::None);
        let pattern = joining().with_subscribed_topic_names(None);
        check_code(pattern.with_subscribed_topic_regex(Some("a.*".into())), 1, ErrorCode::None);
        check_code(
            running.with_member_epoch(-2).with_instance_id(Some("i".into())),
            1,
            ErrorCode::None,
        );
    }

    #[test]
    fn an_assignor_is_one_that_the_broker_offers() {
        let named = |name: &'static str| joining().with_server_assignor(Some(name.into()));
        check_code(named("uniform"), 1, ErrorCode::None);
        check_code(named("range"), 1, ErrorCode::UnsupportedAssignor);
    }
}
