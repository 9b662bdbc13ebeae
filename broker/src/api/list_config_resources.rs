//! ListConfigResources (key 74, KIP-1142): what there is that configs may be kept for.

use super::context::{Ctx, RequestContext};
use super::handler::Handler;
use super::reply::{Handled, Reply};
use kraft::image::{ConfigResource, Image};
use protocol::error::ErrorCode;
use protocol::messages::list_config_resources_response::ConfigResource as Listed;
use protocol::messages::{
    ListConfigResourcesRequest, ListConfigResourcesResponse, StrBytes, Versions,
};

/// Every kind, in the order of the answer.
const KINDS: [i8; 5] = [
    ConfigResource::GROUP,
    ConfigResource::CLIENT_METRICS,
    ConfigResource::BROKER_LOGGER,
    ConfigResource::BROKER,
    ConfigResource::TOPIC,
];

pub(super) struct ListConfigResources;

impl Handler for ListConfigResources {
    type Request = ListConfigResourcesRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 1 };

    fn handle(
        ctx: &Ctx,
        _from: &RequestContext,
        request: ListConfigResourcesRequest,
        version: i16,
    ) -> Handled<ListConfigResourcesRequest> {
        let asked = match version {
            // It was made to list client metrics, and can say nothing else.
            0 => vec![ConfigResource::CLIENT_METRICS],
            _ if request.resource_types.is_empty() => KINDS.to_vec(),
            _ => request.resource_types.clone(),
        };
        if !asked.iter().all(|kind| KINDS.contains(kind)) {
            let refusal = ListConfigResources::refuse(&request, ErrorCode::UnsupportedVersion);
            return Ok(Reply::Now(refusal.into()));
        }
        let image = ctx.image();
        let kinds = KINDS.into_iter().filter(|kind| asked.contains(kind));
        let listed = kinds.flat_map(|kind| {
            names(&image, kind).into_iter().map(move |name| {
                Listed::default().with_resource_name(name).with_resource_type(kind)
            })
        });
        let response = ListConfigResourcesResponse::default();
        Ok(Reply::Now(response.with_config_resources(listed.collect()).into()))
    }

    fn refuse(_: &ListConfigResourcesRequest, code: ErrorCode) -> ListConfigResourcesResponse {
        ListConfigResourcesResponse::default().with_error_code(code.code())
    }
}

/// Topics and brokers are there without configs; of the others only those that have some.
fn names(image: &Image, kind: i8) -> Vec<StrBytes> {
    let text = |name: &str| StrBytes::from_string(name.to_owned());
    match kind {
        ConfigResource::TOPIC => image.topics().values().map(|topic| text(&topic.name)).collect(),
        ConfigResource::BROKER | ConfigResource::BROKER_LOGGER => {
            image.brokers().values().map(|broker| text(&broker.broker_id.to_string())).collect()
        }
        _ => {
            let configured = image.configs().iter().map(|(resource, _)| resource);
            configured.filter(|it| it.kind == kind).map(|it| text(&it.name)).collect()
        }
    }
}
