//! IncrementalAlterConfigs (key 44): some keys of resources, each set, unset or edited.

use super::config_edits::{Edit, Edits, Refusal, Resource, edit, refused};
use super::context::{Ctx, RequestContext};
use super::handler::Handler;
use super::reply::Handled;
use protocol::error::ErrorCode;
use protocol::messages::incremental_alter_configs_request::AlterConfigsResource;
use protocol::messages::incremental_alter_configs_response::AlterConfigsResourceResponse;
use protocol::messages::{
    IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse, StrBytes, Versions,
};

pub(super) struct IncrementalAlterConfigs;

impl Handler for IncrementalAlterConfigs {
    type Request = IncrementalAlterConfigsRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 1 };

    fn handle(
        ctx: &Ctx,
        from: &RequestContext,
        request: IncrementalAlterConfigsRequest,
        _version: i16,
    ) -> Handled<IncrementalAlterConfigsRequest> {
        edit::<IncrementalAlterConfigs>(ctx, from, request)
    }

    fn refuse(
        request: &IncrementalAlterConfigsRequest,
        code: ErrorCode,
    ) -> IncrementalAlterConfigsResponse {
        refused(request, code)
    }
}

impl Edits for IncrementalAlterConfigsRequest {
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

    fn response(said: Vec<AlterConfigsResourceResponse>) -> IncrementalAlterConfigsResponse {
        IncrementalAlterConfigsResponse::default().with_responses(said)
    }

    fn said(response: IncrementalAlterConfigsResponse) -> Vec<AlterConfigsResourceResponse> {
        response.responses
    }
}

fn resource(resource: &AlterConfigsResource) -> Resource<'_> {
    let edits = resource.configs.iter().map(|config| Edit {
        name: &config.name,
        operation: config.config_operation,
        value: config.value.as_deref(),
    });
    Resource {
        kind: resource.resource_type,
        name: &resource.resource_name,
        edits: edits.collect(),
        is_whole: false,
    }
}
