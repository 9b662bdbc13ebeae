//! Each of our tools beside Apache Kafka's own, flag by flag, on Highwater and on Apache Kafka:
//! equal output and exit codes but for the rows of `docs/differences.tsv`.

mod dumps;
mod ends;
mod normal;
mod records;
mod world;

use compat_tests::broker::Broker;
use compat_tests::home::{highwater, root};
use compat_tests::java_tools::{JavaTools, Said};
use compat_tests::kafka::{Kafka, Quorum};
use compat_tests::process::run;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// What each tool is called with, in this order; the file says how to read it.
const CASES: &str = include_str!("cases.txt");

/// One line of the cases.
struct Case<'a> {
    tool: &'a str,
    args: Vec<&'a str>,
    how: normal::How,
}

impl Case<'_> {
    /// How a row of the differences names it.
    fn name(&self) -> String {
        self.args.join(" ")
    }
}

fn cases() -> Vec<Case<'static>> {
    let lines = CASES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let case = |line: &'static str| {
        let mut words = line.split_whitespace().peekable();
        let marks = words.next_if(|word| !word.starts_with("kafka-")).unwrap_or("");
        let tool = words.next().unwrap();
        Case { tool, args: words.collect(), how: normal::How::read(marks) }
    };
    lines.map(case).collect()
}

/// A cluster that the tools are pointed to.
struct Target<'a> {
    name: &'a str,
    port: u16,
    server: String,
    controller: String,
    dir: &'a Path,
}

impl Target<'_> {
    /// The arguments as one of the two gets them: each has names of its own.
    fn args(&self, case: &Case<'_>, me: &str) -> Vec<String> {
        let mut args = Vec::new();
        for word in &case.args {
            match *word {
                "@" => args.extend(["--bootstrap-server".to_owned(), self.server.clone()]),
                "@c" => args.extend(["--bootstrap-controller".to_owned(), self.controller.clone()]),
                word => {
                    let dir = self.dir.display().to_string();
                    args.push(word.replace("{me}", me).replace("{dir}", &dir).replace("{_}", " "));
                }
            }
        }
        args
    }
}

/// Names of equal length, so that columns are equally wide.
const JAVA: &str = "jjjj";
const OURS: &str = "rrrr";

/// Runs every case against `target`, and gives those that differ, by tool and case.
fn compare(java: &mut JavaTools, target: &Target<'_>) -> BTreeMap<(String, String), String> {
    write_files(target);
    let _members = world::prepare(target.port, &target.server, &[JAVA, OURS]);
    let mut found = BTreeMap::new();
    for case in cases() {
        let theirs = java.run(case.tool, &target.args(&case, JAVA));
        let mut command = Command::new(highwater());
        let ours = command.arg(case.tool).args(target.args(&case, OURS));
        let ours = run(ours, Duration::from_secs(90));
        let ours = Said { code: ours.status.code().unwrap_or(-1), out: ours.out, err: ours.err };
        let normal = |said: &Said| (said.code, case.how.normal(&said.out, &[JAVA, OURS]));
        if normal(&theirs) != normal(&ours) {
            let show = |said: &Said| {
                let (code, out) = normal(said);
                format!("exit {code}\n{out}({})", said.err.lines().next().unwrap_or(""))
            };
            let answers = format!(
                "on {}\n  Apache Kafka's: {}\n  Highwater's:    {}",
                target.name,
                show(&theirs),
                show(&ours)
            );
            found.insert((case.tool.to_owned(), case.name()), answers);
        }
    }
    found
}

fn write_files(target: &Target<'_>) {
    for me in [JAVA, OURS] {
        let json = |offset: i64, version: i32| {
            format!(
                r#"{{"partitions":[{{"topic":"{me}-one","partition":0,"offset":{offset}}}],"version":{version}}}"#
            )
        };
        let file = |name: &str, text: &str| {
            std::fs::write(target.dir.join(format!("{me}-{name}")), text).unwrap();
        };
        file("offsets.json", &json(0, 1));
        file("beyond.json", &json(7, 1));
        file("version.json", &json(0, 2));
        file("broken.json", "{");
        file("plan.csv", "read,0,4\nread,1,5\n");
        // A controller that might join, with the metadata directory of the one that is there.
        let controller = format!(
            "process.roles=controller\nnode.id=1\nlog.dirs={}\n\
             listeners=CONTROLLER://127.0.0.1:1\ncontroller.listener.names=CONTROLLER\n",
            target.dir.join("data").display()
        );
        file("controller.properties", &controller);
        file("configs.properties", "retention.ms=7200000\nmax.message.bytes=2000000\n");
    }
}

/// A row of `docs/differences.tsv`: the tool and the case (`*` at its end: any rest).
fn covers((tool, case): &(String, String), what: &(String, String)) -> bool {
    let is_case = match case.strip_suffix('*') {
        Some(front) => what.1.starts_with(front),
        None => what.1 == *case,
    };
    *tool == what.0 && is_case
}

#[test]
fn tools_say_what_those_of_apache_kafka_say() {
    let (their_dir, our_dir) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let kafka = Kafka::start(their_dir.path(), Quorum::Dynamic);
    let broker = Broker::start(our_dir.path(), "");
    let controller = |dir: &Path, file: &str| {
        let text = std::fs::read_to_string(dir.join(file)).unwrap();
        let mut lines = text.lines();
        let key = "controller.quorum.bootstrap.servers=";
        lines.find_map(|line| line.strip_prefix(key)).unwrap().to_owned()
    };
    let targets = [
        Target {
            name: "Highwater",
            port: broker.port,
            server: broker.bootstrap(),
            controller: controller(our_dir.path(), "server.properties"),
            dir: our_dir.path(),
        },
        Target {
            name: "Apache Kafka",
            port: kafka.port,
            server: kafka.bootstrap(),
            controller: controller(their_dir.path(), "kafka.properties"),
            dir: their_dir.path(),
        },
    ];
    let mut java = JavaTools::start();
    let mut found: BTreeMap<(String, String), String> = BTreeMap::new();
    for target in &targets {
        found.extend(compare(&mut java, target));
    }
    let text = std::fs::read_to_string(root().join("docs/differences.tsv")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("tool\t")).map(|line| {
        let mut columns = line.split('\t').map(str::to_owned);
        (columns.next().unwrap(), columns.next().unwrap())
    });
    let rows: Vec<(String, String)> = rows.collect();
    let new: Vec<String> = (found.iter())
        .filter(|(what, _)| !rows.iter().any(|row| covers(row, what)))
        .map(|((tool, case), answers)| format!("{tool} {case}\n  {answers}"))
        .collect();
    let (count, news) = (cases().len(), new.join("\n"));
    assert!(new.is_empty(), "of {count} cases {} differ without a row:\n{news}", new.len());
    let stale: Vec<_> =
        rows.iter().filter(|row| !found.keys().any(|what| covers(row, what))).collect();
    assert!(stale.is_empty(), "rows of docs/differences.tsv that no longer differ: {stale:?}");
}
