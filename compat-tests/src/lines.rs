//! The real input of the main job: the text of Debian's package index, a numbered line a record.

use crate::process::run;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Writes a file of at least `bytes` bytes, each line `number TAB text`; returns its lines.
///
/// # Panics
/// When the machine has no package index.
pub fn input(path: &Path, bytes: usize) -> Vec<String> {
    let text = index();
    assert!(!text.is_empty(), "apt has no package index: run apt-get update");
    let mut lines = Vec::new();
    let mut size = 0;
    while size < bytes {
        for line in text.lines() {
            let line = format!("{}\t{line}", lines.len());
            size += line.len() + 1;
            lines.push(line);
            if bytes <= size {
                break;
            }
        }
    }
    let mut whole = String::with_capacity(size);
    for line in &lines {
        writeln!(whole, "{line}").expect("a string grows");
    }
    std::fs::write(path, whole).expect("the input is written");
    lines
}

fn index() -> String {
    let script = "set -- $(ls -S /var/lib/apt/lists/*_Packages* 2>/dev/null); \
                  [ -n \"$1\" ] || { apt-get update -qq; set -- $(ls -S /var/lib/apt/lists/*_Packages*); }; \
                  /usr/lib/apt/apt-helper cat-file \"$1\"";
    run(Command::new("sh").args(["-c", script]), Duration::from_secs(300)).ok()
}

/// What a consumer wrote: the bytes of each partition, by number.
///
/// # Panics
/// When it wrote nothing.
pub fn partitions(out: &Path, count: usize) -> BTreeMap<usize, Vec<u8>> {
    let file = |partition: usize| PathBuf::from(format!("{}.{partition}", out.display()));
    (0..count)
        .map(|partition| (partition, std::fs::read(file(partition)).expect("a partition's file")))
        .collect()
}

/// Checks that the partitions hold exactly `lines`, each once, and in order within a partition.
///
/// # Panics
/// When they do not.
#[track_caller]
pub fn check(partitions: &BTreeMap<usize, Vec<u8>>, lines: &[String]) {
    let mut found = vec![false; lines.len()];
    for (partition, bytes) in partitions {
        let text = std::str::from_utf8(bytes).expect("the input is text");
        let mut last = None;
        for line in text.lines() {
            let (number, _) = line.split_once('\t').expect("a key");
            let number: usize = number.parse().expect("a number");
            assert!(last < Some(number), "partition {partition}: {number} after {last:?}");
            last = Some(number);
            assert_eq!(Some(line), lines.get(number).map(String::as_str), "line {number}");
            let seen = found.get_mut(number).expect("a line of the input");
            assert!(!std::mem::replace(seen, true), "line {number} twice");
        }
    }
    let missing = found.iter().position(|seen| !seen);
    assert_eq!(missing, None, "a line that was sent is not there");
}
