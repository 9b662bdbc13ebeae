//! The groups' decisions as stories: `scenarios/*.txt`, read in review as prose.
//!
//! A line that begins with `> ` is a command; what follows it, up to the next one, is the trace of
//! what it did: every record, indented, and every reply, behind `<`. `UPDATE=1 cargo test -p broker
//! --test groups` writes the traces anew. The commands are in `story/mod.rs`.

#![expect(clippy::unwrap_used, reason = "a test ends where it is wrong")]
#![expect(clippy::disallowed_methods, reason = "a test reads and writes its own files")]

mod crowd;
mod large;
mod mixed;
mod story;
mod swarm;

use std::path::{Path, PathBuf};
use story::Story;

fn stories() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/groups/scenarios");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The story, told anew.
fn told(text: &str) -> String {
    let mut story = Story::default();
    let mut told = String::new();
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("> ") {
            told.push_str(&format!("{line}\n{}", story.tell(command)));
        } else if line.starts_with('#') || line.is_empty() {
            told.push_str(&format!("{line}\n"));
        }
    }
    told
}

#[test]
fn every_story_ends_as_it_is_written() {
    let paths = stories();
    assert!(!paths.is_empty());
    let mut other = String::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let told = told(&text);
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, told).unwrap();
        } else if told != text {
            other.push_str(&format!("{}:\n{told}\n", path.display()));
        }
    }
    let hint = "if the new trace is right, run with UPDATE=1 and review the difference";
    assert!(other.is_empty(), "{hint}\n{other}");
}
