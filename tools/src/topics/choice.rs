//! Which topics `kafka-topics` is about, and how it tells that there are none.

use crate::admin::{filter, topics};
use crate::args::Args;
use crate::client::{Client, Refused};
use crate::failure::Failure;
use crate::output::Output;
use protocol::error::ErrorCode;

/// Tells on stdout, as Kafka's tool does, why the cluster refuses.
pub(super) fn told(refused: &Refused, output: &mut Output) -> Failure {
    let line = format!("Error while executing topic command : {}", refused.text);
    output.line(line).err().unwrap_or(Failure::Exit(1))
}

/// Kafka's tool tells of whatever goes wrong where it tells of a refusal.
pub(super) fn in_line(why: Failure, output: &mut Output) -> Failure {
    let (Failure::Told(text) | Failure::Usage(text)) = &why else { return why };
    told(&Refused::of(ErrorCode::InvalidRequest, text.clone()), output)
}

/// The names that the arguments mean, in order.
pub(super) async fn matching(
    args: &Args,
    client: &mut Client,
    output: &mut Output,
) -> Result<Vec<String>, Failure> {
    let pattern = args.one("topic")?.map(filter::Pattern::read).transpose()?;
    let leave_out = args.has("exclude-internal");
    let all = topics::list(client).await.map_err(|refused| told(&refused, output))?;
    let is_meant = |topic: &topics::Listed| {
        let is_internal = topic.is_internal || filter::is_internal(&topic.name);
        !(leave_out && is_internal) && pattern.as_ref().is_none_or(|it| it.matches(&topic.name))
    };
    Ok(all.into_iter().filter(is_meant).map(|topic| topic.name).collect())
}

/// Fails where a topic was named and none is there, unless `--if-exists` says that this is well.
pub(super) fn must_exist(
    args: &Args,
    found: &[String],
    output: &mut Output,
) -> Result<(), Failure> {
    match args.one("topic")? {
        Some(topic) if found.is_empty() && !topic.is_empty() && !args.has("if-exists") => {
            let line = format!(
                "Error while executing topic command : Topic '{topic}' does not exist as expected"
            );
            output.line(line)?;
            Err(Failure::Exit(1))
        }
        _ => Ok(()),
    }
}
