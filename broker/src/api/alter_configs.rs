//! AlterConfigs (key 33): the configs of resources, each replaced as a whole.

use super::config_edits::{Edit, Edits, Refusal, Resource, edit, refused};
use super::context::{Ctx, RequestContext};
use super::handler::Handler;
use super::reply::Handled;
use protocol::config::alter::Operation;
use protocol::error::ErrorCode;
use protocol::messages::alter_configs_request::AlterConfigsResource;
use protocol::messages::alter_configs_response::AlterConfigsResourceResponse;
use protocol::messages::{AlterConfigsRequest, AlterConfigsResponse, StrBytes, Versions};

pub(super) struct AlterConfigs;

impl Handler for AlterConfigs {
    type Request = AlterConfigsRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 2 };

    fn handle(
        ctx: &Ctx,
        from: &RequestContext,
        request: AlterConfigsRequest,
        _version: i16,
    ) -> Handled<AlterConfigsRequest> {
        edit::<AlterConfigs>(ctx, from, request)
    }

    fn refuse(request: &AlterConfigsRequest, code: ErrorCode) -> AlterConfigsResponse {
        refused(request, code)
    }
}

impl Edits for AlterConfigsRequest {
    type Said = AlterConfigsResourceResponse;

    fn resources(&self) -> Vec<Resource<'_>> {
        self.resources.iter().map(resource).collect()
    }

    fn retain(&mut self, mut keep: impl FnMut() -> bool) {
        self.resources.retain(|_| keep());
    }

    fn refused(&self, index: usize, (code, why): Refusal) -> Option<AlterConfigsResourceResponse> {
        let resource = self.resources.get(index)?;
        let said = AlterConfigsResourceResponse::default()
            .with_resource_type(resource.resource_type)
            .with_resource_name(resource.resource_name.clone())
            .with_error_code(code.code())
            .with_error_message(Some(StrBytes::from_string(why)));
        Some(said)
    }

    fn response(said: Vec<AlterConfigsResourceResponse>) -> AlterConfigsResponse {
        AlterConfigsResponse::default().with_responses(said)
    }

    fn said(response: AlterConfigsResponse) -> Vec<AlterConfigsResourceResponse> {
        response.responses
    }
}

fn resource(resource: &AlterConfigsResource) -> Resource<'_> {
    let edits = resource.configs.iter().map(|config| Edit {
        name: &config.name,
        operation: Operation::Set as i8,
        value: config.value.as_deref(),
    });
    Resource {
        kind: resource.resource_type,
        name: &resource.resource_name,
        edits: edits.collect(),
        is_whole: true,
    }
}
