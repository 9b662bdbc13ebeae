//! `kafka-features upgrade`, `downgrade` and `disable`.

use super::levels::{MAPPED, level_of, name_and_level, release};
use crate::admin::text;
use crate::args::Args;
use crate::client::{Client, Refused, To};
use crate::failure::Failure;
use crate::output::Output;
use protocol::features::METADATA_VERSION;
use protocol::messages::update_features_request::FeatureUpdateKey;
use protocol::messages::{UpdateFeaturesRequest, UpdateFeaturesResponse};
use std::collections::BTreeMap;

/// The levels that the arguments ask for.
pub(super) fn read(
    action: &str,
    args: &Args,
    output: &mut Output,
) -> Result<BTreeMap<String, i16>, Failure> {
    let mut updates = BTreeMap::new();
    let mut add = |name: &str, level| match updates.insert(name.to_owned(), level) {
        None => Ok(()),
        Some(_) => Err(Failure::Told(format!("Feature {name} was specified more than once."))),
    };
    if let Some(text) = args.one("release-version")? {
        if args.has("metadata") || args.has("feature") {
            return Err(Failure::told(
                "Can not specify `release-version` with other feature flags.",
            ));
        }
        let level = release(text)?;
        add(METADATA_VERSION.name, level)?;
        MAPPED.iter().try_for_each(|name| add(name, level_of(name, level)))?;
    }
    if let Some(text) = args.one("metadata")? {
        output.line(" `metadata` flag is deprecated and may be removed in a future release.")?;
        add(METADATA_VERSION.name, release(text)?)?;
    }
    for text in args.all("feature") {
        let (name, level) = if action == "disable" { (text, 0) } else { name_and_level(text)? };
        add(name, level)?;
    }
    if updates.is_empty() {
        return Err(Failure::Told(format!("You must specify at least one feature to {action}")));
    }
    Ok(updates)
}

pub(super) async fn ask(
    action: &str,
    args: &Args,
    updates: &BTreeMap<String, i16>,
    client: &mut Client,
    output: &mut Output,
) -> Result<(), Failure> {
    let dry_run = args.has("dry-run");
    // Kafka's numbers: raise, lower, lower even if metadata is lost.
    let kind = match (action, args.has("unsafe")) {
        ("upgrade", _) => 1,
        (_, false) => 2,
        (_, true) => 3,
    };
    let wanted = updates.iter().map(|(name, level)| {
        FeatureUpdateKey::default()
            .with_feature(text(name))
            .with_max_version_level(*level)
            .with_upgrade_type(kind)
    });
    let request = UpdateFeaturesRequest::default()
        .with_feature_updates(wanted.collect())
        .with_timeout_ms(client.request_timeout_ms())
        .with_validate_only(dry_run);
    let judge = |it: &UpdateFeaturesResponse| {
        // What else it says is told for each feature.
        Refused::check(it.error_code, it.error_message.as_deref())
            .or_else(|refused| if refused.may_pass() { Err(refused) } else { Ok(()) })
    };
    let answer = client.ask_until(To::Controller, &request, judge).await;
    let whole = answer
        .as_ref()
        .map_err(Clone::clone)
        .and_then(|it| Refused::check(it.error_code, it.error_message.as_deref()));
    let mut failed = 0_usize;
    for (name, level) in updates {
        let own = answer.as_ref().ok().and_then(|it| {
            let of_it = it.results.iter().find(|result| result.feature.as_str() == name)?;
            Some(Refused::check(of_it.error_code, of_it.error_message.as_deref()))
        });
        let done = whole.clone().and(own.unwrap_or(Ok(())));
        let disable = action == "disable";
        output.line(match done {
            Ok(()) => {
                let verb = if dry_run { "can be" } else { "was" };
                let what =
                    if disable { "disabled.".to_owned() } else { format!("{action}d to {level}.") };
                format!("{name} {verb} {what}")
            }
            Err(refused) => {
                failed += 1;
                let verb = if dry_run { "Can not" } else { "Could not" };
                let to = if disable { String::new() } else { format!(" to {level}") };
                format!("{verb} {action} {name}{to}. {refused}")
            }
        })?;
    }
    if failed == 0 {
        return Ok(());
    }
    Err(Failure::Told(format!("{failed} out of {} operation(s) failed.", updates.len())))
}
