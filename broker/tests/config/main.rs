//! Broker services of public Compose files, each put to `highwater config check` as it stands: what
//! would start, what would not and why, and what is told on the way.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test")]

mod check;
mod hangup;
mod process;

use broker::config::image::Image;
use std::fmt::Write;
use std::process::Command;

const CASES: &str = include_str!("cases.env");
const OUTCOMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/config/outcomes.txt");

/// A service: what it is called, its image, and its environment.
struct Case {
    title: String,
    image: String,
    environment: String,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::<Case>::new();
    for line in CASES.lines() {
        if line.starts_with('[') {
            let image = line.split(' ').nth(1).unwrap().to_owned();
            cases.push(Case { title: line.to_owned(), image, environment: String::new() });
        } else if let Some(case) = cases.last_mut() {
            writeln!(case.environment, "{line}").unwrap();
        }
    }
    cases
}

/// What the program says beside the settings, and whether that was a yes.
fn outcome(case: &Case) -> String {
    if Image::find(&case.image).is_none() {
        return "another product\n".to_owned();
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("env");
    std::fs::write(&file, &case.environment).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_highwater"));
    command.args(["config", "check", "--image", &case.image, "--env-file"]).arg(&file);
    let output = process::run(&mut command);
    let (printed, why) = (String::from_utf8(output.stdout).unwrap(), output.stderr);
    let why = String::from_utf8(why).unwrap();
    let starts = printed.ends_with("A broker would start with this.\n");
    assert_eq!(starts, output.status.success(), "{}: {printed}{why}", case.title);
    let mut text = match starts {
        true => "starts\n".to_owned(),
        false => format!("refused: {why}"),
    };
    let told = |line: &&str| line.starts_with("WARN ") || line.starts_with("ERROR ");
    for line in printed.lines().filter(told) {
        writeln!(text, "  {line}").unwrap();
    }
    text
}

#[test]
fn every_service_starts_or_is_refused_for_the_reason_that_is_written_down() {
    let mut found = String::new();
    for case in cases() {
        write!(found, "{}\n{}\n", case.title, outcome(&case)).unwrap();
    }
    let old = std::fs::read_to_string(OUTCOMES).unwrap_or_default();
    if old != found {
        std::fs::write(OUTCOMES, &found).unwrap();
    }
    assert!(old == found, "tests/config/outcomes.txt is written anew: see what changed, and why");
}

#[test]
fn nothing_is_told_twice() {
    let outcomes = std::fs::read_to_string(OUTCOMES).unwrap();
    for block in outcomes.split("\n\n") {
        let words = block.lines().filter_map(|line| line.strip_prefix("  WARN "));
        let names = words.flat_map(|line| line.rsplit(": ").next().unwrap_or("").split(", "));
        let mut names: Vec<&str> = names.collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "{block}");
    }
}
