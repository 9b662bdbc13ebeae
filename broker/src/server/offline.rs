//! What can be done with log directories while no broker runs on them.

use super::directories::{self, places, plan};
use super::error::StartError;
use crate::config::BrokerConfig;
use kraft::env::Env;
use kraft::format::{Plan, bootstrap, format};
use protocol::features::metadata_version_name;
use protocol::ids::Uuid;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use storage::log_dir::{Claim, Found, OpenError, look, scan};

/// What `highwater format` is told.
#[derive(Clone, Debug, Default)]
pub struct Formatting {
    pub cluster_id: Option<String>,
    pub release_version: Option<String>,
    /// `NAME=LEVEL`, as given.
    pub features: Vec<String>,
    pub ignore_formatted: bool,
    /// The id of the directory with the metadata log; None: a new one.
    pub directory_id: Option<Uuid>,
}

/// Whether a start with `config` would take its directories as they are now, and what it would say
/// of them, a line each. Nothing changes.
pub fn check(env: &Env, config: &BrokerConfig) -> Result<Vec<String>, StartError> {
    directories::check(env, config)
}

/// Formats the directories of `config`; what it did, a line each. The error is one line.
pub fn format_dirs(
    env: &Env,
    config: &BrokerConfig,
    wanted: Formatting,
) -> Result<Vec<String>, String> {
    let mut features = BTreeMap::new();
    for text in &wanted.features {
        let parsed = text
            .split_once('=')
            .and_then(|(name, level)| Some((name.to_owned(), level.parse::<i16>().ok()?)));
        let (name, level) =
            parsed.ok_or_else(|| format!("--feature {text}: must be a name, `=` and a level"))?;
        features.insert(name, level);
    }
    let levels = bootstrap::chosen(wanted.release_version.as_deref(), &features)?;
    let level = levels.get("metadata.version").copied().unwrap_or_default();
    let version = metadata_version_name(level).unwrap_or("?");
    let mut claims = Vec::new();
    let mut lines = Vec::new();
    for path in places(config) {
        let claim = Claim::take(Arc::clone(&env.disk), path).map_err(|error| error.to_string())?;
        match claim.found() {
            Found::Formatted(_) if !wanted.ignore_formatted => {
                return Err(OpenError::Formatted { dir: path.to_owned() }.to_string());
            }
            Found::Formatted(_) | Found::Foreign(_) => {}
            Found::Empty => lines.push(format!(
                "Formatting {} {} with metadata.version {version}.",
                kind(config, path),
                path.display()
            )),
        }
        claims.push(claim);
    }
    let cluster_id = wanted.cluster_id.or_else(|| config.values.start.cluster_id.clone());
    let found = claims.iter().map(|claim| (claim.path(), claim.found()));
    directories::check_found(config, cluster_id.as_deref(), found)
        .map_err(|error| error.to_string())?;
    let plan = Plan { directory_id: wanted.directory_id, ..plan(config, cluster_id, levels) };
    format(env, claims, &plan).map_err(|error| StartError::Format(error).to_string())?;
    if lines.is_empty() {
        lines.push("All of the log directories are already formatted.".to_owned());
    }
    Ok(lines)
}

/// What Kafka calls a directory, by what is in it.
fn kind(config: &BrokerConfig, path: &Path) -> &'static str {
    match (path == config.metadata_log_dir, config.membership.voters.is_empty()) {
        (false, _) => "data directory",
        (true, true) => "dynamic metadata voter directory",
        (true, false) => "metadata directory",
    }
}

/// What `kafka-storage info` says of the directories of `config`, and whether all is well.
pub fn storage_info(env: &Env, config: &BrokerConfig) -> (Vec<String>, bool) {
    let (mut there, mut problems) = (Vec::new(), Vec::new());
    let mut metadata: Option<(String, String)> = None;
    for path in places(config) {
        let shown = path.display().to_string();
        if !env.disk.exists(path).unwrap_or(false) {
            problems.push(format!("{shown} does not exist"));
            continue;
        }
        there.push(shown.clone());
        let meta = match look(&*env.disk, path) {
            Err(error) => {
                problems.push(error.to_string());
                continue;
            }
            Ok(Found::Empty | Found::Foreign(_)) => {
                problems.push(format!("{shown} is not formatted."));
                continue;
            }
            Ok(Found::Formatted(meta)) => meta,
        };
        let cluster = meta.cluster_id.clone().unwrap_or_default();
        let directory = meta.directory_id.map(|id| format!("directory.id={id}, "));
        let directory = directory.unwrap_or_default();
        let whose = format!("cluster.id={cluster}, node.id={}", meta.node_id);
        let told =
            format!("{{cluster.id={cluster}, {directory}node.id={}, version=1}}", meta.node_id);
        match &metadata {
            None => metadata = Some((whose, told)),
            Some((first, _)) if *first == whose => {}
            Some((_, first)) => problems.push(format!(
                "Metadata for {shown} was {told}, but other directories featured {first}"
            )),
        }
    }
    let mut lines = listed("Found log director", ["y:", "ies:"], &there);
    if let Some((_, told)) = metadata {
        lines.extend([format!("Found metadata: {told}"), String::new()]);
    }
    lines.extend(listed("Found problem", [":", "s:"], &problems));
    (lines, problems.is_empty())
}

/// A heading, in its form for one and for several, what it heads, and an empty line.
fn listed(heading: &str, endings: [&str; 2], what: &[String]) -> Vec<String> {
    let [one, several] = endings;
    let ending = match what.len() {
        0 => return Vec::new(),
        1 => one,
        _ => several,
    };
    let rows = what.iter().map(|row| format!("  {row}"));
    std::iter::once(format!("{heading}{ending}")).chain(rows).chain([String::new()]).collect()
}

/// What stands in the directories of `config`, and what is wrong with it.
pub fn info(env: &Env, config: &BrokerConfig) -> (Vec<String>, Vec<String>) {
    let (mut lines, mut problems) = (vec!["Found log directories:".to_owned()], Vec::new());
    let mut cluster: Option<(String, i32)> = None;
    for path in places(config) {
        let shown = path.display();
        lines.push(format!("  {shown}"));
        let meta = match look(&*env.disk, path) {
            Err(error) => {
                problems.push(error.to_string());
                continue;
            }
            Ok(Found::Empty) => {
                problems.push(OpenError::NotFormatted { dir: path.to_owned() }.to_string());
                continue;
            }
            Ok(Found::Foreign(found)) => {
                problems.push(OpenError::Foreign { dir: path.to_owned(), found }.to_string());
                continue;
            }
            Ok(Found::Formatted(meta)) => meta,
        };
        let id = meta.cluster_id.clone().unwrap_or_default();
        let directory = meta.directory_id.map_or("none".to_owned(), |id| id.to_string());
        lines.push(format!(
            "    cluster.id {id}, node.id {}, directory.id {directory}",
            meta.node_id
        ));
        match scan(&*env.disk, path) {
            Ok(found) => lines.push(format!(
                "    {} partitions{}",
                found.partitions.len(),
                if found.has_metadata { ", and the metadata log" } else { "" }
            )),
            Err(error) => problems.push(format!("{shown} cannot be read: {error}")),
        }
        let first = cluster.get_or_insert_with(|| (id.clone(), meta.node_id));
        if *first != (id.clone(), meta.node_id) {
            problems.push(format!(
                "{shown} belongs to node {} of cluster {id}, another one to node {} of {}",
                meta.node_id, first.1, first.0
            ));
        }
    }
    (lines, problems)
}
