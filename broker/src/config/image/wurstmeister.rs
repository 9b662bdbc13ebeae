//! The image `wurstmeister/kafka`.

use super::apache::pass_over;
use super::create_topics::list;
use super::environment::{Environment, SEPARATOR};
use super::names::plain;
use super::said::{Said, Void};
use protocol::config::net::NetConfig;
use protocol::config::start::StartConfig;

/// What the listener of that image speaks when nobody says it.
const PLAINTEXT: &str = "PLAINTEXT";

/// Commands whose output is a value, and the variable that takes it where it is silent.
pub(super) const COMMANDS: [(&str, &str); 4] = [
    ("HOSTNAME_COMMAND", ""),
    ("PORT_COMMAND", ""),
    ("RACK_COMMAND", "KAFKA_BROKER_RACK"),
    ("BROKER_ID_COMMAND", "KAFKA_BROKER_ID"),
];

/// What steers the start script of the image.
const SCRIPT: [&str; 5] = [
    SEPARATOR,
    "KAFKA_ADVERTISED_PROTOCOL_NAME",
    "KAFKA_PROTOCOL_NAME",
    "KAFKA_DEBUG",
    "KAFKA_LOG",
];

/// The environment with the output of its commands in the places that name them. `run` has a shell
/// do a line and says what it printed; None where it may not, or failed.
pub(super) fn with_commands(
    env: Environment,
    run: &dyn Fn(&str) -> Option<String>,
) -> (Environment, Vec<String>) {
    let (mut env, mut notes) = (env, Vec::new());
    for (command, target) in COMMANDS {
        let place = format!("_{{{command}}}");
        let Some(text) = env.get(command).map(str::to_owned) else {
            let asks = env.iter().filter(|(_, value)| value.contains(&place));
            notes.extend(
                asks.map(|(name, _)| format!("{name} asks for {command}, which is not set")),
            );
            continue;
        };
        let output = run(&text).unwrap_or_default();
        if output.is_empty() {
            notes.push(format!("{command} has said nothing, and is taken as empty: {text}"));
        }
        env = env.map(|name, value| match name.starts_with("KAFKA_") {
            true => value.replace(&place, &output),
            false => value.to_owned(),
        });
        if !target.is_empty() && env.get(target).is_none() && !output.is_empty() {
            env = env.with(target, &output);
        }
        let is_bare = ["KAFKA_ADVERTISED_HOST_NAME", "KAFKA_LISTENERS"];
        if command == "HOSTNAME_COMMAND"
            && !output.is_empty()
            && is_bare.iter().all(|name| env.get(name).is_none())
        {
            env = env.with("KAFKA_ADVERTISED_HOST_NAME", &output);
        }
    }
    (env, notes)
}

/// `KAFKA_A_B` says `a.b`, and `KAFKA_CREATE_TOPICS` which topics there must be.
pub(super) fn read(env: &Environment) -> Said {
    let mut said = Said::default();
    said.take_log_levels(env);
    if let Some(topics) = env.get("KAFKA_CREATE_TOPICS") {
        let topics = list(topics, env.get(SEPARATOR).unwrap_or(","));
        said.set(StartConfig::create_topics().name, &topics, "KAFKA_CREATE_TOPICS");
    }
    for (variable, value) in env.iter() {
        let Some(name) = variable.strip_prefix("KAFKA_") else { continue };
        if variable == "KAFKA_CREATE_TOPICS" || pass_over(&mut said, variable, value) {
            continue;
        }
        match SCRIPT.contains(&variable) {
            // It says how the one listener speaks, and what is not plain must not be so.
            true if variable.ends_with("PROTOCOL_NAME")
                && !value.eq_ignore_ascii_case(PLAINTEXT) =>
            {
                said.set(NetConfig::security_inter_broker_protocol().name, value, variable);
            }
            true if variable == SEPARATOR => {}
            true => said.pass_over(variable, Void::Script),
            false => said.set(&plain(name), value, variable),
        }
    }
    if env.get("CUSTOM_INIT_SCRIPT").is_some() {
        said.pass_over("CUSTOM_INIT_SCRIPT", Void::Script);
    }
    said
}
