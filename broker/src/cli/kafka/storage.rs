//! `kafka-storage`: what it is asked, what it refuses, and what it knows by itself.

use crate::config::BrokerConfig;
use clap::{Args, Parser};
use kraft::env::Env;
use kraft::format::bootstrap;
use protocol::features::{
    ELIGIBLE_LEADER_REPLICAS_VERSION, GROUP_VERSION, KRAFT_VERSION, METADATA_VERSION,
    SHARE_VERSION, STREAMS_VERSION, TRANSACTION_VERSION, feature_named, metadata_version_name,
};
use protocol::ids::Uuid;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Formats log directories, and tells what stands in them.
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(name = "kafka-storage", max_term_width = 100)]
pub enum Storage {
    /// Say what stands in the log directories of a configuration.
    Info(Config),
    /// Make log directories of those that are empty.
    Format(Format),
    /// Print the levels of the features that a release has.
    VersionMapping {
        /// The release, as `4.4` or `4.4-IV2`; left out, the newest.
        #[arg(long, short = 'r')]
        release_version: Option<String>,
    },
    /// Print which features others need.
    FeatureDependencies {
        /// A feature and its level; may be repeated.
        #[arg(long, short = 'f', value_name = "NAME=LEVEL", required = true)]
        feature: Vec<String>,
    },
    /// Print a new id for a cluster.
    RandomUuid,
}

#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The server.properties file.
    #[arg(long, short = 'c')]
    pub config: PathBuf,
}

#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// The server.properties file.
    #[arg(long, short = 'c')]
    pub config: PathBuf,
    /// The id of the cluster.
    #[arg(long, short = 't')]
    pub cluster_id: String,
    /// A user that the cluster begins with; may be repeated.
    #[arg(long, short = 'S', value_name = "MECHANISM=[..]")]
    pub add_scram: Vec<String>,
    /// Leave directories alone that are formatted, instead of failing.
    #[arg(long, short = 'g')]
    pub ignore_formatted: bool,
    /// Levels of the features are those of this release, as `4.4` or `4.4-IV2`.
    #[arg(long, short = 'r')]
    pub release_version: Option<String>,
    /// The level of one feature; may be repeated.
    #[arg(long, short = 'f', value_name = "NAME=LEVEL")]
    pub feature: Vec<String>,
    /// This node is the whole quorum.
    #[arg(long, short = 's', group = "quorum")]
    pub standalone: bool,
    /// This node joins a quorum that is there.
    #[arg(long, short = 'N', group = "quorum")]
    pub no_initial_controllers: bool,
    /// The quorum, each member `ID@HOST:PORT:DIRECTORY`, with commas.
    #[arg(long, short = 'I', group = "quorum")]
    pub initial_controllers: Option<String>,
}

/// The lines that answer what needs no log directory.
///
/// # Errors
/// The line that says why there is no answer.
pub fn answer(asked: &Storage, env: &Env) -> Result<Vec<String>, String> {
    match asked {
        Storage::RandomUuid => Ok(vec![random_id(env).to_string()]),
        Storage::VersionMapping { release_version } => version_mapping(release_version.as_deref()),
        Storage::FeatureDependencies { feature } => {
            let answers = feature.iter().map(|text| dependencies(text));
            Ok(answers.collect::<Result<Vec<_>, _>>()?.concat())
        }
        Storage::Info(_) | Storage::Format(_) => Ok(Vec::new()),
    }
}

/// An id that begins with no dash, which a command line would take for an option.
fn random_id(env: &Env) -> Uuid {
    loop {
        let id = Uuid(env.rng.next_uuid_bytes());
        if !id.to_string().starts_with('-') {
            return id;
        }
    }
}

impl Format {
    /// Refuses what a node of this configuration cannot be formatted for; the id that is asked for
    /// its metadata directory, if any.
    ///
    /// # Errors
    /// The line that says why.
    pub fn directory_id(&self, config: &BrokerConfig) -> Result<Option<Uuid>, String> {
        if !self.add_scram.is_empty() {
            return Err("--add-scram: Highwater has no SASL yet, so a user could not log in. \
                        Leave it out, and the SASL listeners with it."
                .to_owned());
        }
        if self.no_initial_controllers {
            return Err(
                "--no-initial-controllers: every node is a controller, and could not join \
                        a quorum: Highwater's have one member so far. Use --standalone."
                    .to_owned(),
            );
        }
        let is_dynamic = self.standalone || self.initial_controllers.is_some();
        if is_dynamic && !config.membership.voters.is_empty() {
            return Err("You cannot specify controller.quorum.voters and format the node with \
                        --initial-controllers or --standalone: remove that key, and set \
                        controller.quorum.bootstrap.servers instead."
                .to_owned());
        }
        let initial = self.initial_controllers.as_deref();
        initial.map(|text| sole_controller(text, config)).transpose()
    }
}

/// The directory's id in `ID@HOST:PORT:DIRECTORY`, which must name this node alone.
fn sole_controller(text: &str, config: &BrokerConfig) -> Result<Uuid, String> {
    let refuse = |why: String| Err(format!("--initial-controllers {text}: {why}"));
    let mut parts = text.split(',').filter(|part| !part.trim().is_empty());
    let (first, second) = (parts.next().unwrap_or_default().trim(), parts.next());
    if second.is_some() {
        return refuse("a quorum of several is not served yet; name this node alone".to_owned());
    }
    let wrong = || refuse("must be ID@HOST:PORT:DIRECTORY".to_owned());
    let Some((id, rest)) = first.split_once('@') else { return wrong() };
    let Some((_, directory)) = rest.rsplit_once(':') else { return wrong() };
    let me = config.membership.node_id;
    if id.parse() != Ok(me) {
        return refuse(format!("must name this node, whose node.id is {me}"));
    }
    match directory.parse::<Uuid>() {
        Ok(id) if Uuid::RESERVED_END <= id => Ok(id),
        Ok(_) | Err(_) => refuse(format!("'{directory}' is no id of a directory")),
    }
}

/// The features of a mapping, in Kafka's order.
const MAPPED: [&str; 6] = [
    KRAFT_VERSION.name,
    TRANSACTION_VERSION.name,
    GROUP_VERSION.name,
    ELIGIBLE_LEADER_REPLICAS_VERSION.name,
    SHARE_VERSION.name,
    STREAMS_VERSION.name,
];
/// From which level of `metadata.version` (3.9) on a new quorum can change.
const DYNAMIC_QUORUM_SINCE: i16 = 21;
/// What level of `metadata.version` eligible leader replicas need.
const ELIGIBLE_LEADERS_SINCE: i16 = 23;

fn version_mapping(release: Option<&str>) -> Result<Vec<String>, String> {
    let levels = bootstrap::chosen(release, &BTreeMap::new())?;
    let of = |name: &str| levels.get(name).copied().unwrap_or(0);
    let metadata = of(METADATA_VERSION.name);
    let version = release.or(metadata_version_name(metadata)).unwrap_or("?");
    let mut lines = vec![format!("metadata.version={metadata} ({version})")];
    lines.extend(MAPPED.map(|name| {
        let is_quorum = name == KRAFT_VERSION.name;
        let level = if is_quorum { i16::from(DYNAMIC_QUORUM_SINCE <= metadata) } else { of(name) };
        format!("{name}={level}")
    }));
    Ok(lines)
}

fn dependencies(text: &str) -> Result<Vec<String>, String> {
    let parsed = text.split_once('=').and_then(|(name, level)| Some((name, level.parse().ok()?)));
    let (name, level): (&str, i16) =
        parsed.ok_or_else(|| format!("--feature {text}: must be a name, `=` and a level"))?;
    let known = feature_named(name).ok_or_else(|| format!("Unknown feature: {name}"))?;
    if !(known.min..=known.max).contains(&level) {
        return Err(format!("Feature level {level} is not supported for feature {name}"));
    }
    let named = |level| match metadata_version_name(level) {
        Some(version) => format!("{}={level} ({version})", METADATA_VERSION.name),
        None => format!("{}={level}", METADATA_VERSION.name),
    };
    if name == METADATA_VERSION.name {
        return Ok(vec![format!("{} has no dependencies.", named(level))]);
    }
    if name == ELIGIBLE_LEADER_REPLICAS_VERSION.name && level == 1 {
        let needs = format!("    {}", named(ELIGIBLE_LEADERS_SINCE));
        return Ok(vec![format!("{name}={level} requires:"), needs]);
    }
    Ok(vec![format!("{name}={level} has no dependencies.")])
}
