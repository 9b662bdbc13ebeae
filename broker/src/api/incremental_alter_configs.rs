//! IncrementalAlterConfigs (key 44): some keys of resources, each set, unset or edited.

use super::config_edits::{Edit, Refusal, Resource, check, joined};
use super::context::{Ctx, RequestContext};
use super::forward;
use super::handler::Handler;
use super::reply::{Handled, Reply};
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
        let resources: Vec<_> = request.resources.iter().map(resource).collect();
        let checked = check(ctx, from, &resources);
        let mut asked = request.clone();
        let mut faultless = checked.iter().map(Result::is_ok);
        asked.resources.retain(|_| faultless.next().unwrap_or(false));
        if asked.resources.is_empty() {
            return Ok(Reply::Now(respond(&request, checked, Vec::new()).into()));
        }
        let ctx = ctx.clone();
        Ok(Reply::later(async move {
            let answer = forward::ask(&ctx, asked.clone()).await;
            let answer =
                answer.unwrap_or_else(|code| IncrementalAlterConfigs::refuse(&asked, code));
            Ok(respond(&request, checked, answer.responses).into())
        }))
    }

    fn refuse(
        request: &IncrementalAlterConfigsRequest,
        code: ErrorCode,
    ) -> IncrementalAlterConfigsResponse {
        let responses = request.resources.iter();
        let responses = responses.map(|it| refused(it, (code, code.message().to_owned())));
        IncrementalAlterConfigsResponse::default().with_responses(responses.collect())
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

fn respond(
    request: &IncrementalAlterConfigsRequest,
    checked: Vec<Result<(), Refusal>>,
    answered: Vec<AlterConfigsResourceResponse>,
) -> IncrementalAlterConfigsResponse {
    let refuse = |index, refusal| Some(refused(request.resources.get(index)?, refusal));
    IncrementalAlterConfigsResponse::default().with_responses(joined(checked, answered, refuse))
}

fn refused(resource: &AlterConfigsResource, (code, why): Refusal) -> AlterConfigsResourceResponse {
    AlterConfigsResourceResponse::default()
        .with_resource_type(resource.resource_type)
        .with_resource_name(resource.resource_name.clone())
        .with_error_code(code.code())
        .with_error_message(Some(StrBytes::from_string(why)))
}
