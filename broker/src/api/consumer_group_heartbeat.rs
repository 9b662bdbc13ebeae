//! ConsumerGroupHeartbeat (key 68, KIP-848): a member of a consumer group joins, stays or leaves,
//! and is told what to work on.

use super::context::{Ctx, RequestContext};
use super::grouped::{client, grouped_briefly};
use super::handler::Handler;
use super::reply::{Handled, Reply};
use crate::group::fault;
use protocol::error::ErrorCode;
use protocol::features::GROUP_VERSION;
use protocol::messages::{ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, Versions};

pub(super) struct ConsumerGroupHeartbeat;

impl Handler for ConsumerGroupHeartbeat {
    type Request = ConsumerGroupHeartbeatRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 1 };

    fn handle(
        ctx: &Ctx,
        from: &RequestContext,
        request: ConsumerGroupHeartbeatRequest,
        version: i16,
    ) -> Handled<ConsumerGroupHeartbeatRequest> {
        if !offers_consumer_groups(ctx) {
            return Ok(Reply::Now(Self::refuse(&request, ErrorCode::UnsupportedVersion).into()));
        }
        // What is wrong whatever the group is, is told without its coordinator.
        if let Some(refusal) = fault(&request, version, &ctx.config.load()) {
            return Ok(Reply::Now(refusal.into()));
        }
        let group = request.group_id.clone();
        grouped_briefly::<Self>(ctx, client(from, version), group.as_str(), request)
    }

    fn refuse(
        _request: &ConsumerGroupHeartbeatRequest,
        code: ErrorCode,
    ) -> ConsumerGroupHeartbeatResponse {
        ConsumerGroupHeartbeatResponse::default()
            .with_error_code(code.code())
            .with_error_message(Some(code.message().into()))
    }
}

/// Whether there are consumer groups: the cluster's features and this broker's configuration must
/// have them.
pub(super) fn offers_consumer_groups(ctx: &Ctx) -> bool {
    let level = GROUP_VERSION.finalized(ctx.image().feature(GROUP_VERSION.name));
    let config = ctx.config.load();
    let protocols = &config.values.coordinator.rebalance_protocols;
    level.is_some() && protocols.iter().any(|it| it == "consumer")
}
