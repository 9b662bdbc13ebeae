//! Formatting: what is made, what is left alone, what is refused.

use super::{FormatError, Plan, bootstrap, format};
use crate::env::{Env, os};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use storage::disk::sim::SimDisk;
use storage::disk::{Disk, mkdir_all, remove_tree};
use storage::log_dir::{Claim, LogDir};

fn make(
    disk: &SimDisk,
    dirs: &[&str],
    cluster_id: Option<&str>,
) -> Result<Vec<LogDir>, FormatError> {
    let env = Env { disk: Arc::new(disk.clone()), ..os::env() };
    let claims = dirs.iter().map(|dir| Claim::take(env.disk.clone(), Path::new(dir)));
    let claims = claims.collect::<Result<Vec<_>, _>>()?;
    let plan = Plan {
        cluster_id: cluster_id.map(str::to_owned),
        node_id: 1,
        metadata_log_dir: PathBuf::from(dirs[0]),
        directory_id: None,
        controller_listeners: Vec::new(),
        levels: bootstrap::levels(33, &BTreeMap::new()),
    };
    format(&env, claims, &plan)
}

fn ids(dirs: &[LogDir]) -> Vec<(String, String)> {
    let id = |dir: &LogDir| (dir.meta().cluster_id.unwrap(), dir.id().unwrap().to_string());
    dirs.iter().map(id).collect()
}

const CHECKPOINT: &str = "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint";

#[test]
fn every_directory_gets_an_id_of_its_own_and_the_first_the_metadata() {
    let disk = SimDisk::new(1);
    let made = ids(&make(&disk, &["/a", "/b"], None).unwrap());
    assert_eq!(made[0].0, made[1].0);
    assert_ne!(made[0].1, made[1].1);
    let has = |dir: &str| disk.exists(&Path::new(dir).join(CHECKPOINT)).unwrap();
    assert_eq!((has("/a"), has("/b")), (true, false));
    // A disk that is added later joins the cluster; what is formatted stays as it is.
    let more = ids(&make(&disk, &["/a", "/b", "/c"], None).unwrap());
    assert_eq!((&more[..2], &more[2].0), (&made[..], &made[0].0));
}

#[test]
fn a_cluster_id_may_be_chosen() {
    let made = ids(&make(&SimDisk::new(1), &["/a"], Some("my-cluster")).unwrap());
    assert_eq!(made[0].0, "my-cluster");
}

#[test]
fn metadata_does_not_begin_anew_beside_data() {
    let disk = SimDisk::new(1);
    make(&disk, &["/a", "/b"], None).unwrap();
    remove_tree(&disk, Path::new("/a")).unwrap();
    let refused = make(&disk, &["/a", "/b"], None).unwrap_err().to_string();
    assert!(refused.starts_with("/b belongs to a cluster, but /a, which should"), "{refused}");
}

#[test]
fn a_format_that_was_interrupted_is_begun_again() {
    let whole = SimDisk::new(1);
    mkdir_all(&whole, Path::new("/")).unwrap();
    make(&whole, &["/a", "/b"], None).unwrap();
    for at in 0..whole.operations() {
        let disk = SimDisk::new(at);
        disk.crash_at(at);
        assert!(make(&disk, &["/a", "/b"], None).is_err(), "{at}");
        let after = disk.crash(at);
        let made = ids(&make(&after, &["/a", "/b"], None).unwrap());
        assert_eq!(made[0].0, made[1].0, "{at}");
    }
}
