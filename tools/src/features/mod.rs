//! `kafka-features`: the levels of a cluster's features.

mod levels;
mod update;

use crate::args::{Args, Command, switch, value};
use crate::client::{Client, To, block_on};
use crate::entrance::{self, COMMAND_CONFIG, CONTROLLER, SERVER};
use crate::failure::Failure;
use crate::frame;
use crate::output::Output;
use kraft::env::Env;
use levels::{MAPPED, level_of, level_text, name_and_level, release};
use protocol::features::{METADATA_VERSION, feature_named, metadata_version_name};
use protocol::messages::ApiVersionsRequest;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitCode;

const COMMAND: Command = Command {
    name: "kafka-features describe|upgrade|downgrade|disable|version-mapping|feature-dependencies",
    purpose: "Tells and changes the levels of a cluster's features.",
    flags: &[
        SERVER,
        CONTROLLER,
        COMMAND_CONFIG,
        value("feature", "name=level", "A feature and its level; may be repeated."),
        value("release-version", "version", "The levels of this release, as 4.4 or 4.4-IV2."),
        value("metadata", "version", "The level of metadata.version, by the name of a release."),
        value("node-id", "id", "With describe: whom to ask."),
        switch("unsafe", "Lower a level even if metadata is lost by it."),
        switch("dry-run", "Say whether it can be done."),
    ],
};

const ACTIONS: [&str; 6] =
    ["describe", "upgrade", "downgrade", "disable", "version-mapping", "feature-dependencies"];

pub(crate) fn run(args: Vec<OsString>, env: &Env) -> ExitCode {
    frame::run(&COMMAND, args, |args, output| {
        let Some(action) = args.action(&ACTIONS)? else {
            return Err(Failure::usage("kafka-features: error: too few arguments"));
        };
        let mut client = entrance::to_either(args, env)?;
        match action {
            "version-mapping" => mapping(args, output),
            "feature-dependencies" => dependencies(args, output),
            "describe" => block_on(describe(args, &mut client, output)),
            action => {
                let updates = update::read(action, args, output)?;
                block_on(update::ask(action, args, &updates, &mut client, output))
            }
        }
    })
}

async fn describe(args: &Args, client: &mut Client, output: &mut Output) -> Result<(), Failure> {
    let to = args.number("node-id")?.map_or(To::Anyone, To::Node);
    let request = ApiVersionsRequest::default()
        .with_client_software_name(crate::admin::text("highwater"))
        .with_client_software_version(crate::admin::text(env!("CARGO_PKG_VERSION")));
    let answer = client.ask(to, &request).await?;
    let finalized: BTreeMap<&str, i16> = (answer.finalized_features.iter())
        .map(|it| (it.name.as_str(), it.max_version_level))
        .collect();
    let epoch = answer.finalized_features_epoch;
    let epoch = if epoch < 0 { "-".to_owned() } else { epoch.to_string() };
    let mut supported = answer.supported_features.clone();
    supported.sort_by(|low, high| low.name.as_str().cmp(high.name.as_str()));
    for feature in supported {
        let name = feature.name.as_str();
        output.line(format!(
            "Feature: {name:<40}  SupportedMinVersion: {:<15}  SupportedMaxVersion: {:<15}  \
             FinalizedVersionLevel: {:<15}  Epoch: {epoch}",
            level_text(name, feature.min_version),
            level_text(name, feature.max_version),
            // A feature that nobody finalised is at 0.
            match finalized.get(name) {
                Some(level) => level_text(name, *level),
                None => "0".to_owned(),
            }
        ))?;
    }
    Ok(())
}

fn mapping(args: &Args, output: &mut Output) -> Result<(), Failure> {
    let newest = metadata_version_name(METADATA_VERSION.max).unwrap_or_default();
    let text = args.one("release-version")?.unwrap_or(newest);
    let level = release(text)?;
    output.line(format!("metadata.version={level} ({text})"))?;
    MAPPED.iter().try_for_each(|it| output.line(format!("{it}={}", level_of(it, level))))
}

fn dependencies(args: &Args, output: &mut Output) -> Result<(), Failure> {
    let asked = args.all("feature");
    if asked.is_empty() {
        return Err(Failure::usage("kafka-features: error: argument --feature is required"));
    }
    for text in asked {
        let (name, level) = name_and_level(text)?;
        let Some(feature) = feature_named(name) else {
            return Err(Failure::Told(format!("Unknown feature: {name}")));
        };
        if !(feature.min..=feature.max).contains(&level) {
            return Err(Failure::Told(format!(
                "Feature {name} has no version {level}: it has {} to {}",
                feature.min, feature.max
            )));
        }
        let called = metadata_version_name(level).filter(|_| name == METADATA_VERSION.name);
        let called = called.map(|called| format!(" ({called})")).unwrap_or_default();
        // No feature of Apache Kafka 4.4 has any.
        output.line(format!("{name}={level}{called} has no dependencies."))?;
    }
    Ok(())
}
