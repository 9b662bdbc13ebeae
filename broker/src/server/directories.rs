//! The log directories at the start: held, compared, formatted where they are empty.

use super::error::StartError;
use crate::config::BrokerConfig;
use kraft::env::Env;
use kraft::format::{FormatError, Plan, format};
use kraft::node::Endpoint;
use protocol::ids::Uuid;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use storage::log_dir::{Claim, Found, LogDir, OpenError, look};
use tracing::{error, info};

/// What this process holds from now on.
#[derive(Debug)]
pub(super) struct Directories {
    pub(super) cluster_id: String,
    /// In the order of `log.dirs`; the error of one that cannot be used.
    pub(super) logs: Vec<Result<Arc<LogDir>, (PathBuf, String)>>,
    /// The one with the metadata log; it may be one of those.
    pub(super) metadata: Arc<LogDir>,
}

/// Takes them all. With the metadata and one directory of logs a broker can serve, so that a
/// disk which fails is no reason not to start; everything else is.
pub(super) fn hold(env: &Env, config: &BrokerConfig) -> Result<Directories, StartError> {
    let (claims, lost) = each(config, |path| Claim::take(Arc::clone(&env.disk), path))?;
    lost.iter().for_each(|(path, why)| error!("{}", offline(path, why)));
    let wanted = config.values.start.cluster_id.as_deref();
    let found = claims.iter().map(|claim| (claim.path(), claim.found()));
    check_found(config, wanted, found)?;
    let levels = kraft::format::bootstrap::levels(
        protocol::features::METADATA_VERSION.max,
        &BTreeMap::new(),
    );
    for claim in claims.iter().filter(|claim| *claim.found() == Found::Empty) {
        info!("Formatting {}, which is empty", claim.path().display());
    }
    let dirs = format(env, claims, &plan(config, wanted.map(str::to_owned), levels))?;
    let cluster_id = cluster_id(&dirs, env);
    for dir in &dirs {
        dir.expect(Some(&cluster_id), config.membership.node_id)?;
        let failed = |error| OpenError::Disk { dir: dir.path().to_owned(), error };
        dir.upgrade_if_old(&cluster_id, env).map_err(failed)?;
    }
    together(config, dirs, &lost, cluster_id)
}

/// Whether [`hold`] would take them as they are now, and what of it is to be known, a line each.
/// Nothing is held, and nothing changes.
pub(super) fn check(env: &Env, config: &BrokerConfig) -> Result<Vec<String>, StartError> {
    let look = |path: &Path| match look(&*env.disk, path)? {
        Found::Foreign(found) => Err(OpenError::Foreign { dir: path.to_owned(), found }),
        found @ (Found::Empty | Found::Formatted(_)) => Ok((path.to_owned(), found)),
    };
    let (places, lost) = each(config, look)?;
    let found = places.iter().map(|(path, found)| (path.as_path(), found));
    check_found(config, config.values.start.cluster_id.as_deref(), found)?;
    Ok(lost.iter().map(|(path, why)| offline(path, why)).collect())
}

fn offline(path: &Path, why: &str) -> String {
    format!("Log directory {} is offline: {why}", path.display())
}

/// What `take` has of each place, and why those are lost that can be done without.
fn each<T>(
    config: &BrokerConfig,
    take: impl Fn(&Path) -> Result<T, OpenError>,
) -> Result<(Vec<T>, BTreeMap<PathBuf, String>), StartError> {
    let (mut taken, mut lost) = (Vec::new(), BTreeMap::new());
    for path in places(config) {
        match take(path) {
            Ok(it) => taken.push(it),
            Err(OpenError::Disk { error, .. }) if *path != config.metadata_log_dir => {
                lost.insert(path.to_owned(), error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
    }
    match lost.first_key_value() {
        Some((dir, why)) if taken.is_empty() => {
            Err(OpenError::Disk { dir: dir.clone(), error: io::Error::other(why.clone()) }.into())
        }
        _ => Ok((taken, lost)),
    }
}

/// `log.dirs`, and the directory of the metadata log where it is none of them.
pub(super) fn places(config: &BrokerConfig) -> impl Iterator<Item = &Path> {
    let apart = !config.log_dirs.contains(&config.metadata_log_dir);
    let metadata = apart.then_some(&config.metadata_log_dir);
    config.log_dirs.iter().chain(metadata).map(PathBuf::as_path)
}

/// Refuses what does not belong together, or not to `cluster`, before anything empty is formatted.
pub(super) fn check_found<'a>(
    config: &BrokerConfig,
    mut cluster: Option<&'a str>,
    places: impl Iterator<Item = (&'a Path, &'a Found)>,
) -> Result<(), StartError> {
    let (mut by_id, mut first, mut has_no_metadata) = (BTreeMap::new(), None, false);
    for (path, found) in places {
        let Found::Formatted(meta) = found else {
            has_no_metadata |= path == config.metadata_log_dir;
            continue;
        };
        let (dir, found, expected) = (path.to_owned(), meta.node_id, config.membership.node_id);
        if found != expected {
            return Err(OpenError::OtherNode { dir, found, expected }.into());
        }
        if let Some(other) = by_id.insert(meta.directory_id.ok_or(path), path) {
            return Err(OpenError::SameId { dir, other: other.to_owned() }.into());
        }
        first.get_or_insert(path);
        match (cluster, meta.cluster_id.as_deref()) {
            (Some(expected), Some(found)) if expected != found => {
                let [found, expected] = [found, expected].map(str::to_owned);
                return Err(OpenError::OtherCluster { dir, found, expected }.into());
            }
            (None, found) => cluster = found,
            (Some(_), _) => {}
        }
    }
    match first {
        Some(formatted) if has_no_metadata => Err(StartError::Format(FormatError::NoMetadata {
            formatted: formatted.to_owned(),
            empty: config.metadata_log_dir.clone(),
        })),
        _ => Ok(()),
    }
}

/// What an empty directory is made for.
pub(super) fn plan(
    config: &BrokerConfig,
    cluster_id: Option<String>,
    levels: BTreeMap<String, i16>,
) -> Plan {
    Plan {
        cluster_id,
        node_id: config.membership.node_id,
        metadata_log_dir: config.metadata_log_dir.clone(),
        directory_id: None,
        controller_listeners: controller_listeners(config),
        levels,
    }
}

/// Where this controller is spoken to, as it stands in the metadata.
pub(super) fn controller_listeners(config: &BrokerConfig) -> Vec<Endpoint> {
    let listeners = config.listeners.all.iter().filter(|listener| listener.is_controller);
    let endpoint = |listener: &crate::config::Listener| {
        let at = listener.advertised.as_ref().unwrap_or(&listener.bind);
        let host = if at.host.is_empty() { "localhost" } else { &at.host };
        Endpoint { name: listener.name.clone(), host: host.to_owned(), port: at.port }
    };
    listeners.map(endpoint).collect()
}

fn cluster_id(dirs: &[LogDir], env: &Env) -> String {
    let known = dirs.iter().find_map(|dir| dir.meta().cluster_id);
    known.unwrap_or_else(|| Uuid(env.rng.next_uuid_bytes()).to_string())
}

trait Upgrade {
    fn upgrade_if_old(&self, cluster_id: &str, env: &Env) -> io::Result<()>;
}

impl Upgrade for LogDir {
    /// Gives a directory that is older than such ids one.
    fn upgrade_if_old(&self, cluster_id: &str, env: &Env) -> io::Result<()> {
        match self.id() {
            Some(_) => Ok(()),
            None => self.upgrade(cluster_id, Uuid(env.rng.next_uuid_bytes())),
        }
    }
}

fn together(
    config: &BrokerConfig,
    dirs: Vec<LogDir>,
    lost: &BTreeMap<PathBuf, String>,
    cluster_id: String,
) -> Result<Directories, StartError> {
    let held: BTreeMap<PathBuf, Arc<LogDir>> =
        dirs.into_iter().map(|dir| (dir.path().to_owned(), Arc::new(dir))).collect();
    let of = |path: &PathBuf| match (held.get(path), lost.get(path)) {
        (Some(dir), _) => Ok(Arc::clone(dir)),
        (None, why) => Err((path.clone(), why.cloned().unwrap_or_default())),
    };
    let metadata = of(&config.metadata_log_dir)
        .map_err(|(dir, why)| OpenError::Disk { dir, error: io::Error::other(why) })?;
    Ok(Directories { cluster_id, logs: config.log_dirs.iter().map(of).collect(), metadata })
}
