//! DescribeCluster (key 60): the brokers, or, on a controller's listener, the controllers.

use super::context::{Ctx, ListenerKind, RequestContext};
use super::handler::Handler;
use super::operations;
use super::reply::{Handled, Reply};
use crate::metadata::{Reached, any_live};
use protocol::error::ErrorCode;
use protocol::messages::describe_cluster_response::DescribeClusterBroker;
use protocol::messages::{
    BrokerId, DescribeClusterRequest, DescribeClusterResponse, StrBytes, Versions,
};

/// The kinds of nodes that a client may ask for.
const BROKERS: i8 = 1;
const CONTROLLERS: i8 = 2;

pub(super) struct DescribeCluster;

impl Handler for DescribeCluster {
    type Request = DescribeClusterRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 2 };

    fn handle(
        ctx: &Ctx,
        from: &RequestContext,
        request: DescribeClusterRequest,
        version: i16,
    ) -> Handled<DescribeClusterRequest> {
        let here = match from.listener_kind {
            ListenerKind::Client => BROKERS,
            ListenerKind::Controller => CONTROLLERS,
        };
        if let Err((code, why)) = check(request.endpoint_type, here) {
            // Version 0 could not ask for a kind, and does not know these codes.
            let code = if version == 0 { ErrorCode::InvalidRequest } else { code };
            let response = DescribeCluster::refuse(&request, code)
                .with_error_message(Some(StrBytes::from_string(why)));
            return Ok(Reply::Now(response.into()));
        }
        let image = ctx.image();
        let view = ctx.view(&image, from);
        let (nodes, controller): (Vec<Reached<'_>>, _) = match from.listener_kind {
            ListenerKind::Client => {
                let all =
                    view.brokers().filter(|it| !it.is_fenced || request.include_fenced_brokers);
                (all.collect(), any_live(&image, ctx.env.rng.next_u64()))
            }
            ListenerKind::Controller => {
                let leader =
                    ctx.controller.as_ref().map(|controller| controller.quorum().leader_id);
                (view.controllers().collect(), leader)
            }
        };
        let controller = controller.filter(|id| nodes.iter().any(|node| node.id == *id));
        let nodes = nodes.iter().map(|node| {
            DescribeClusterBroker::default()
                .with_broker_id(BrokerId(node.id))
                .with_host(node.host())
                .with_port(i32::from(node.port))
                .with_rack(node.rack())
                .with_is_fenced(node.is_fenced)
        });
        let mut response = DescribeClusterResponse::default()
            .with_cluster_id(StrBytes::from_string(ctx.cluster_id.as_ref().to_owned()))
            .with_controller_id(BrokerId(controller.unwrap_or(-1)))
            .with_brokers(nodes.collect());
        if 0 < version {
            response.endpoint_type = here;
        }
        if request.include_cluster_authorized_operations {
            response.cluster_authorized_operations = operations::CLUSTER;
        }
        Ok(Reply::Now(response.into()))
    }

    fn refuse(_request: &DescribeClusterRequest, code: ErrorCode) -> DescribeClusterResponse {
        DescribeClusterResponse::default()
            .with_error_code(code.code())
            .with_error_message(Some(code.message().into()))
    }
}

/// Whether nodes of the kind that is asked for are told of here.
fn check(asked: i8, here: i8) -> Result<(), (ErrorCode, String)> {
    let name = |kind| if kind == BROKERS { "brokers" } else { "controllers" };
    if asked != BROKERS && asked != CONTROLLERS {
        let why = format!("{asked} is no kind of endpoint: 1 are brokers, 2 are controllers");
        return Err((ErrorCode::UnsupportedEndpointType, why));
    }
    if asked != here {
        let why = format!("this listener tells of {}, not of {}", name(here), name(asked));
        return Err((ErrorCode::MismatchedEndpointType, why));
    }
    Ok(())
}
