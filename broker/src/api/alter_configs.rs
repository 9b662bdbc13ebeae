//! AlterConfigs (key 33): the configs of resources, each replaced as a whole.

use super::config_edits::{Edit, Refusal, Resource, check, joined};
use super::context::{Ctx, RequestContext};
use super::forward;
use super::handler::Handler;
use super::reply::{Handled, Reply};
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
            let answer = answer.unwrap_or_else(|code| AlterConfigs::refuse(&asked, code));
            Ok(respond(&request, checked, answer.responses).into())
        }))
    }

    fn refuse(request: &AlterConfigsRequest, code: ErrorCode) -> AlterConfigsResponse {
        let responses = request.resources.iter();
        let responses = responses.map(|it| refused(it, (code, code.message().to_owned())));
        AlterConfigsResponse::default().with_responses(responses.collect())
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

fn respond(
    request: &AlterConfigsRequest,
    checked: Vec<Result<(), Refusal>>,
    answered: Vec<AlterConfigsResourceResponse>,
) -> AlterConfigsResponse {
    let refuse = |index, refusal| Some(refused(request.resources.get(index)?, refusal));
    AlterConfigsResponse::default().with_responses(joined(checked, answered, refuse))
}

fn refused(resource: &AlterConfigsResource, (code, why): Refusal) -> AlterConfigsResourceResponse {
    AlterConfigsResourceResponse::default()
        .with_resource_type(resource.resource_type)
        .with_resource_name(resource.resource_name.clone())
        .with_error_code(code.code())
        .with_error_message(Some(StrBytes::from_string(why)))
}
