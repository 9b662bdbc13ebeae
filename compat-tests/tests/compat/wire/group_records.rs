//! What the two brokers have written of the same classic groups, as `kafka-dump-log` reads it.

use super::{Pair, Side};
use compat_tests::kafka::dump;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The names that the groups of `membership` begin with.
const GROUPS: [&str; 2] = ["dynamic-", "static-"];

/// Notes each group of which the brokers whose data is there wrote different records.
pub(super) fn compare(pair: &mut Pair, their_dir: &Path, our_dir: &Path) {
    let theirs = by_group(&mut pair.theirs, their_dir);
    let ours = by_group(&mut pair.ours, our_dir);
    assert!(!theirs.is_empty() && theirs.keys().eq(ours.keys()), "{theirs:?} {ours:?}");
    for ((group, theirs), ours) in theirs.iter().zip(ours.values()) {
        pair.compare(&format!("SyncGroup\trecords of {group}"), theirs, ours);
    }
}

/// The records of each group, in their order.
fn by_group(side: &mut Side, dir: &Path) -> BTreeMap<String, String> {
    let mut records: BTreeMap<String, String> = BTreeMap::new();
    for line in dump(&logs(dir), &["--offsets-decoder"]).lines() {
        let Some((_, record)) = line.split_once("key: ") else { continue };
        let Some((key, payload)) = record.split_once(" payload: ") else { continue };
        let key: Value = serde_json::from_str(key).unwrap();
        let group = key["data"]["group"].as_str().unwrap();
        if key["type"] == "2" && GROUPS.iter().any(|front| group.starts_with(front)) {
            let told = told(side, payload);
            records.entry(group.to_owned()).or_default().push_str(&format!("\n    {told}"));
        }
    }
    records
}

/// The value, ids and times blank, its members sorted: Apache Kafka has them in a hash map.
fn told(side: &mut Side, payload: &str) -> String {
    let mut value: Value = serde_json::from_str(payload).unwrap();
    if let Some(members) = value["data"]["members"].as_array_mut() {
        members.sort_by_cached_key(|member| side.normal.text(&member.to_string()));
    }
    side.normal.text(&value.to_string())
}

/// The logs of the partitions of groups that have any records.
fn logs(dir: &Path) -> Vec<PathBuf> {
    let entries = |dir: &Path| std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let is_of_groups = |path: &PathBuf| path.to_string_lossy().contains("__consumer_offsets-");
    let partitions = entries(&dir.join("data")).filter(is_of_groups);
    let files = partitions.flat_map(|partition| entries(&partition).collect::<Vec<_>>());
    let is_log = |path: &PathBuf| {
        path.extension().is_some_and(|it| it == "log") && 0 < path.metadata().unwrap().len()
    };
    files.filter(is_log).collect()
}
