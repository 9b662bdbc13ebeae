//! Making log directories: what `highwater format` does, and a first start.

pub mod bootstrap;

use crate::env::Env;
use crate::raft::snapshot;
use crate::raft::types::{Endpoint, ReplicaKey, VoterNode};
use protocol::ids::Uuid;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use storage::disk::mkdir_all;
use storage::error::Error;
use storage::log_dir::{Claim, Found, LogDir, METADATA_DIR, MetaProperties, OpenError};

/// What a node without a controller listener writes in the place of one, because Kafka's voters
/// have addresses. Nothing listens there, and a sole voter is never called.
pub const PLACEHOLDER: (&str, &str, u16) = ("CONTROLLER", "localhost", 9093);

/// What to make.
#[derive(Clone, Debug)]
pub struct Plan {
    /// None: the one that the formatted directories have, or a new one.
    pub cluster_id: Option<String>,
    pub node_id: i32,
    /// The log directory that holds the metadata log.
    pub metadata_log_dir: PathBuf,
    /// The id of that directory; None: a new one.
    pub directory_id: Option<Uuid>,
    /// The controller listeners: name, host, port.
    pub controller_listeners: Vec<Endpoint>,
    /// See [`bootstrap::chosen`].
    pub levels: BTreeMap<String, i16>,
}

/// Why nothing was made.
#[derive(Debug)]
pub enum FormatError {
    Open(OpenError),
    Storage(Error),
    /// The metadata would begin anew beside directories of a cluster that has some.
    NoMetadata {
        formatted: PathBuf,
        empty: PathBuf,
    },
}

impl From<OpenError> for FormatError {
    fn from(error: OpenError) -> FormatError {
        FormatError::Open(error)
    }
}

impl From<std::io::Error> for FormatError {
    fn from(error: std::io::Error) -> FormatError {
        FormatError::Storage(error.into())
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormatError::Open(error) => error.fmt(f),
            FormatError::Storage(error) => error.fmt(f),
            FormatError::NoMetadata { formatted, empty } => write!(
                f,
                "{} belongs to a cluster, but {}, which should hold its metadata, is empty: set \
                 metadata.log.dir to the directory that has {METADATA_DIR}.",
                formatted.display(),
                empty.display()
            ),
        }
    }
}

impl std::error::Error for FormatError {}

/// A voter's addresses in the metadata log.
pub fn voter_node(controller_listeners: &[Endpoint]) -> VoterNode {
    let mut endpoints = controller_listeners.to_vec();
    if endpoints.is_empty() {
        let (name, host, port) = PLACEHOLDER;
        endpoints.push(Endpoint { name: name.to_owned(), host: host.to_owned(), port });
    }
    VoterNode { endpoints, kraft_version_min: 0, kraft_version_max: 1 }
}

/// Makes log directories of all claims that are none yet, and opens all. The directory with the
/// metadata log comes first: after a crash in between the others are still empty and are made by
/// the next try.
pub fn format(env: &Env, claims: Vec<Claim>, plan: &Plan) -> Result<Vec<LogDir>, FormatError> {
    let id_of = |claim: &Claim| match claim.found() {
        Found::Formatted(meta) => Some((claim.path().to_owned(), meta.cluster_id.clone())),
        Found::Empty | Found::Foreign(_) => None,
    };
    let formatted: Vec<_> = claims.iter().filter_map(id_of).collect();
    let existing = formatted.iter().find_map(|(_, id)| id.clone());
    let cluster_id =
        (plan.cluster_id.clone()).or(existing).unwrap_or_else(|| new_id(env).to_string());
    let is_metadata = |claim: &Claim| claim.path() == plan.metadata_log_dir;
    let (mut first, others): (Vec<_>, Vec<_>) =
        claims.into_iter().enumerate().partition(|(_, claim)| is_metadata(claim));
    first.extend(others);
    let mut dirs = Vec::new();
    for (at, claim) in first {
        if !matches!(claim.found(), Found::Empty) {
            dirs.push((at, claim.open()?));
            continue;
        }
        let chosen = plan.directory_id.filter(|_| is_metadata(&claim));
        let directory = chosen.unwrap_or_else(|| new_id(env));
        if is_metadata(&claim) {
            if let Some((formatted, _)) = formatted.first() {
                let (formatted, empty) = (formatted.clone(), claim.path().to_owned());
                return Err(FormatError::NoMetadata { formatted, empty });
            }
            first_snapshot(env, plan, directory)?;
        }
        let meta = MetaProperties::new(&cluster_id, plan.node_id, directory);
        dirs.push((at, claim.format(meta)?));
    }
    dirs.sort_by_key(|(at, _)| *at);
    Ok(dirs.into_iter().map(|(_, dir)| dir).collect())
}

/// An id that is none of the few with a meaning, and begins with no dash, which a command line
/// would take for an option.
fn new_id(env: &Env) -> Uuid {
    loop {
        let id = Uuid(env.rng.next_uuid_bytes());
        if Uuid::RESERVED_END <= id && !id.to_string().starts_with('-') {
            return id;
        }
    }
}

/// The snapshot at offset 0, which names the first voter and the levels of the features.
fn first_snapshot(env: &Env, plan: &Plan, directory: Uuid) -> Result<(), FormatError> {
    let dir = plan.metadata_log_dir.join(METADATA_DIR);
    mkdir_all(&*env.disk, &dir)?;
    let me = ReplicaKey { id: plan.node_id, directory };
    let voter = (me, voter_node(&plan.controller_listeners));
    let records = bootstrap::records(&plan.levels);
    snapshot::write_first(&*env.disk, &dir, voter, records, env.clock.wall_ms())?;
    Ok(())
}

#[cfg(test)]
mod tests;
