//! What reconciling needs, and does not own.

use crate::config::DynamicConfig;
use crate::partition::upkeep::Doomed;
use crate::partition::{Dir, Table};
use kraft::env::Env;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Parts {
    pub node_id: i32,
    pub env: Env,
    pub table: Arc<Table>,
    pub dirs: Arc<[Arc<Dir>]>,
    pub doomed: Arc<Doomed>,
    pub config: DynamicConfig,
}
