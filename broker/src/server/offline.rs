//! What can be done with log directories while no broker runs on them.

use super::directories::{places, plan};
use super::error::StartError;
use crate::config::BrokerConfig;
use kraft::env::Env;
use kraft::format::{bootstrap, format};
use protocol::features::metadata_version_name;
use std::collections::BTreeMap;
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
                "Formatting metadata directory {} with metadata.version {version}.",
                path.display()
            )),
        }
        claims.push(claim);
    }
    let cluster_id = wanted.cluster_id.or_else(|| config.values.start.cluster_id.clone());
    format(env, claims, &plan(config, cluster_id, levels))
        .map_err(|error| StartError::Format(error).to_string())?;
    if lines.is_empty() {
        lines.push("All of the log directories are already formatted.".to_owned());
    }
    Ok(lines)
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
