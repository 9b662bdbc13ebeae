//! Services of public Compose files, brought up by `docker-compose` with nothing changed but the
//! image, and used by the names that they advertise.

use compat_tests::docker::{IMAGE, docker};
use compat_tests::home::{root, tool};
use compat_tests::process::{Output, run, until};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::panic::catch_unwind;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A service: its name in the file, its image and its environment.
#[derive(Debug)]
struct Case {
    name: String,
    image: String,
    environment: Vec<(String, String)>,
}

/// What CI brings up: every image and every manner of saying things. `HIGHWATER_COMPOSE=all` brings
/// up whatever starts as one broker.
const CASES: [&str; 11] = [
    "case-001", "case-002", "case-005", "case-007", "case-011", "case-017", "case-029", "case-033",
    "case-056", "case-079", "case-085",
];

/// Those that start, alone; but for one whose name is what a Docker inside the container says.
fn cases() -> Vec<Case> {
    let dir = root().join("broker/tests/config");
    let cases = std::fs::read_to_string(dir.join("cases.env")).unwrap();
    let outcomes = std::fs::read_to_string(dir.join("outcomes.txt")).unwrap();
    let starts = |name: &str| outcomes.contains(&format!("{name}\nstarts\n"));
    let mut found = Vec::new();
    for block in cases.split("\n\n").filter(|block| block.starts_with('[')) {
        let mut lines = block.lines();
        let head = lines.next().unwrap();
        let (name, about) = head.trim_start_matches('[').split_once("] ").unwrap();
        if !about.contains("brokers=1") || !starts(head) {
            continue;
        }
        let environment = lines.filter_map(|line| line.split_once('='));
        if environment.clone().any(|(_, value)| value.contains("docker info")) {
            continue;
        }
        found.push(Case {
            name: name.to_owned(),
            image: about.split(' ').next().unwrap().to_owned(),
            environment: environment
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        });
    }
    found
}

impl Case {
    fn get(&self, names: &[&str]) -> Option<&str> {
        let of = |name: &&str| self.environment.iter().find(|(it, _)| it == name);
        names.iter().find_map(of).map(|(_, value)| value.as_str())
    }

    /// Where clients are told to connect: host and port of each listener that is not a controller's.
    fn advertised(&self) -> Vec<(String, u16)> {
        let said = self.get(&["KAFKA_ADVERTISED_LISTENERS", "KAFKA_CFG_ADVERTISED_LISTENERS"]);
        let said = said.unwrap_or_default();
        let items = said.split(',').map(str::trim);
        let clients = items.filter(|item| !item.is_empty() && !item.starts_with("CONTROLLER"));
        let mut found: Vec<(String, u16)> = clients
            .filter_map(|item| {
                let (name, endpoint) = item.split_once("://")?;
                let (host, port) = endpoint.rsplit_once(':')?;
                // Nobody in the broker's place reaches what is bound elsewhere; its host does, by a
                // published port.
                let is_out_of_reach = is_local(host) && !self.is_bound_here(name.trim());
                (!is_out_of_reach).then_some((host.to_owned(), port.parse().ok()?))
            })
            .collect();
        if let (true, Some(host)) = (said.is_empty(), self.get(&["KAFKA_ADVERTISED_HOST_NAME"])) {
            let port = self.get(&["KAFKA_ADVERTISED_PORT"]).and_then(|port| port.parse().ok());
            found.push((host.to_owned(), port.unwrap_or(9092)));
        }
        if found.is_empty() {
            // Nobody says it, so it is who asks that decides.
            found.push(("localhost".to_owned(), 9092));
        }
        found
    }
}

impl Case {
    /// Whether the listener of that name is bound where `localhost` leads to.
    fn is_bound_here(&self, name: &str) -> bool {
        let said = self.get(&["KAFKA_LISTENERS", "KAFKA_CFG_LISTENERS"]).unwrap_or_default();
        let mut items = said.split(',').filter_map(|item| item.trim().split_once("://"));
        let host = items.find(|(it, _)| *it == name).and_then(|(_, at)| at.rsplit_once(':'));
        host.is_none_or(|(host, _)| is_local(host))
    }
}

fn is_local(host: &str) -> bool {
    host.is_empty() || host == "localhost" || host.starts_with("127.") || host == "0.0.0.0"
}

/// The file: the broker, and beside it two clients that wait until it is healthy; one is on its
/// network, the other in its place, where `localhost` is the broker.
fn compose(case: &Case) -> String {
    let told = case.advertised();
    let names: BTreeSet<&String> =
        told.iter().map(|(host, _)| host).filter(|host| !is_local(host)).collect();
    let hostname = names.first().map_or("kafka", |name| name.as_str());
    let mut text = format!(
        "version: '2.4'\nservices:\n  broker:\n    image: {IMAGE}\n    hostname: {hostname}\n"
    );
    if !case.environment.is_empty() {
        text.push_str("    environment:\n");
    }
    for (name, value) in &case.environment {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "$$");
        writeln!(text, "      {name}: \"{value}\"").unwrap();
    }
    if !names.is_empty() {
        writeln!(text, "    networks:\n      default:\n        aliases:").unwrap();
        names.iter().for_each(|name| writeln!(text, "        - \"{name}\"").unwrap());
    }
    for (client, place) in [("outside", ""), ("inside", "    network_mode: service:broker\n")] {
        let mine = told.iter().filter(|(host, _)| is_local(host) == (client == "inside"));
        let at: Vec<String> = mine
            .map(|(host, port)| {
                format!("{}:{port}", if host.is_empty() { "localhost" } else { host })
            })
            .collect();
        if at.is_empty() {
            continue;
        }
        writeln!(
            text,
            "  {client}:\n    image: {IMAGE}-client\n{place}    depends_on:\n      broker: {{condition: service_healthy}}\n    command: {at:?}"
        )
        .unwrap();
    }
    text
}

/// An image with kcat, which goes to each address that it is given, makes a topic, and reads back
/// what it has written.
fn build_client() {
    tool("kcat");
    // Cargo names folders of its own libraries, which are not those that kcat is made for.
    let script = r#"set -eu; unset LD_LIBRARY_PATH
        dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
        mkdir -p "$dir/bin"; cp "$(command -v kcat)" /bin/busybox "$dir/bin/"
        ldd "$(command -v kcat)" | awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^\//) print $i }' |
          while read -r file; do mkdir -p "$dir/${file%/*}"; cp -L "$file" "$dir/$file"; done
        for name in sh grep sleep; do ln -s busybox "$dir/bin/$name"; done
        printf '%s\n' '#!/bin/sh' 'set -e' 'n=0' 'for at; do' \
          '  n=$((n + 1))' \
          '  echo "record-$n" | kcat -b "$at" -P -t "$CASE-$n" -X message.timeout.ms=20000' \
          '  kcat -b "$at" -C -t "$CASE-$n" -o beginning -c 1 -e -q | grep -qx "record-$n"' \
          '  echo "$at ok"' 'done' > "$dir/bin/client"
        chmod +x "$dir/bin/client"
        tar -C "$dir" -c . | docker import -c 'ENTRYPOINT ["/bin/sh", "/bin/client"]' -c 'ENV CASE=topic' - "$1""#;
    let mut command = Command::new("sh");
    docker().reach(command.args(["-c", script, "sh", &format!("{IMAGE}-client")]));
    run(&mut command, Duration::from_secs(60)).ok();
}

/// `docker-compose` on a file.
fn on(file: &Path, project: &str, args: &[&str]) -> Output {
    let mut command = Command::new("docker-compose");
    command.args(["-p", project, "-f"]).arg(file).args(args);
    docker().reach(&mut command);
    run(&mut command, Duration::from_secs(120))
}

/// Takes a project down with its owner.
struct Up<'a> {
    file: &'a Path,
    project: String,
}

impl Drop for Up<'_> {
    fn drop(&mut self) {
        drop(on(self.file, &self.project, &["down", "-v", "-t", "5"]));
    }
}

#[track_caller]
fn bring_up(case: &Case) {
    let begun = Instant::now();
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("docker-compose.yml");
    std::fs::write(&file, compose(case)).unwrap();
    let up = Up {
        file: &file,
        project: format!("hw{}{}", std::process::id(), case.name.replace('-', "")),
    };
    let logs = || on(&file, &up.project, &["logs", "--no-color"]).out;
    let came = on(&file, &up.project, &["up", "-d", "broker"]);
    assert!(came.status.success(), "{case:?}\n{came:?}");
    let id = |service: &str| on(&file, &up.project, &["ps", "-q", service]).ok().trim().to_owned();
    if case.get(&["KAFKA_AUTO_CREATE_TOPICS_ENABLE"]) == Some("false") {
        let (host, port) = &case.advertised()[0];
        until("the broker is healthy", Duration::from_secs(60), || {
            let said = docker().run(&["inspect", "-f", "{{.State.Health.Status}}", &id("broker")]);
            (said.out.trim() == "healthy").then_some(())
        });
        let (at, broker) = (format!("{host}:{port}"), id("broker"));
        for topic in ["topic-1", "topic-2"] {
            let create =
                ["kafka-topics.sh", "--bootstrap-server", &at, "--create", "--topic", topic];
            docker().run(&[&["exec", broker.as_str()], &create[..]].concat()).ok();
        }
    }
    let came = on(&file, &up.project, &["up", "-d"]);
    assert!(came.status.success(), "{case:?}\n{came:?}\n{}", logs());
    for client in ["outside", "inside"] {
        if compose(case).contains(&format!("  {client}:\n")) {
            let ended = docker().run(&["wait", &id(client)]).ok();
            assert_eq!(ended.trim(), "0", "{case:?}\n{}", logs());
        }
    }
    eprintln!("{} {}: ok in {:.1} s", case.name, case.image, begun.elapsed().as_secs_f64());
}

#[test]
fn ten_services_of_compose_files_come_up_with_their_clients() {
    build_client();
    let all = std::env::var("HIGHWATER_COMPOSE").is_ok_and(|what| what == "all");
    let chosen: Vec<Case> =
        cases().into_iter().filter(|case| all || CASES.contains(&case.name.as_str())).collect();
    assert!(10 <= chosen.len(), "only {} of {CASES:?} start", chosen.len());
    let (turn, (failed, failures)) = (AtomicUsize::new(0), channel());
    std::thread::scope(|scope| {
        for failed in [failed.clone(), failed.clone(), failed] {
            let (turn, chosen) = (&turn, &chosen);
            scope.spawn(move || {
                while let Some(case) = chosen.get(turn.fetch_add(1, Relaxed)) {
                    // One that fails keeps none of the others from being seen.
                    if catch_unwind(|| bring_up(case)).is_err() {
                        failed.send(&case.name).unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(failures.iter().collect::<Vec<_>>(), Vec::<&String>::new());
}
