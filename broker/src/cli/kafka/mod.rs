//! The scripts of Apache Kafka that start, stop and format a node: their names and arguments.

mod arguments;
pub mod server;
pub mod storage;

use arguments::parse;
use std::ffi::OsString;
use std::process::ExitCode;
use tools::output::complain;
use tools::run_class;

/// One of those scripts, with what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kafka {
    ServerStart(server::Start),
    ServerStop(server::Stop),
    Storage(storage::Storage),
}

/// The names of those scripts, without `.sh`.
pub const NAMES: [&str; 3] = ["kafka-server-start", "kafka-server-stop", "kafka-storage"];

/// Those of Apache Kafka that are not here, be it as a script or as a tool.
const ABSENT: [&str; 26] = [
    "connect-distributed",
    "connect-mirror-maker",
    "connect-plugin-path",
    "connect-standalone",
    "kafka-acls",
    "kafka-client-metrics",
    "kafka-console-share-consumer",
    "kafka-delegation-tokens",
    "kafka-e2e-latency",
    "kafka-jmx",
    "kafka-leader-election",
    "kafka-metadata-shell",
    "kafka-mirror-maker",
    "kafka-preferred-replica-election",
    "kafka-reassign-partitions",
    "kafka-replica-verification",
    "kafka-share-consumer-perf-test",
    "kafka-share-groups",
    "kafka-streams-application-reset",
    "kafka-streams-groups",
    "kafka-transactions",
    "kafka-verifiable-share-consumer",
    "trogdor",
    "zookeeper-server-start",
    "zookeeper-server-stop",
    "zookeeper-shell",
];

/// What was asked of the script of this name; None when it is none of these. `name` may be a path,
/// and end in `.sh`. One that is not here is refused by its name. The error is the code to exit with, once all is said.
pub fn asked(name: &str, args: &[OsString]) -> Option<Result<Kafka, ExitCode>> {
    let name = name.rsplit('/').next().unwrap_or(name);
    Some(match name.strip_suffix(".sh").unwrap_or(name) {
        "kafka-server-start" => server::Start::of(args).map(Kafka::ServerStart),
        "kafka-server-stop" => parse(args).map(Kafka::ServerStop),
        "kafka-storage" => parse(args).map(Kafka::Storage),
        run_class::RUN_CLASS => return asked_by_class(run_class::asked(args)),
        absent if ABSENT.contains(&absent) => {
            complain(&format!(
                "{absent} is not one of Kafka's tools that this binary is. `highwater tools` \
                 prints those."
            ));
            Err(ExitCode::FAILURE)
        }
        _ => return None,
    })
}

/// What was asked by the name of a Java class; None when it stands for none of these scripts.
fn asked_by_class(asked: run_class::Asked) -> Option<Result<Kafka, ExitCode>> {
    match asked.name() {
        run_class::NODE => {
            let daemon = asked.is_daemon.then(|| OsString::from("-daemon"));
            let args: Vec<_> = daemon.into_iter().chain(asked.args).collect();
            Some(server::Start::of(&args).map(Kafka::ServerStart))
        }
        run_class::STORAGE => Some(parse(&asked.args).map(Kafka::Storage)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::kafka::storage::Storage;
    use std::path::PathBuf;

    fn ask(line: &str) -> Option<Result<Kafka, ExitCode>> {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap();
        asked(name, &words.map(OsString::from).collect::<Vec<_>>())
    }

    fn start(line: &str) -> server::Start {
        match ask(line) {
            Some(Ok(Kafka::ServerStart(start))) => start,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn storage(line: &str) -> Storage {
        match ask(line) {
            Some(Ok(Kafka::Storage(storage))) => storage,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn scripts_are_known_by_their_names_with_a_path_and_an_ending() {
        assert!(ask("/opt/kafka/bin/kafka-server-stop.sh").is_some());
        assert!(ask("kafka-storage random-uuid").is_some());
        assert!(ask("highwater start").is_none());
        assert!(ask("kafka-topics --list").is_none());
    }

    #[test]
    fn what_is_not_here_is_refused_by_its_name() {
        assert!(matches!(ask("/opt/kafka/bin/kafka-acls.sh --list"), Some(Err(_))));
        let here = crate::cli::manual::tools();
        assert!(ABSENT.iter().all(|name| !here.iter().any(|it| it == name)));
    }

    #[test]
    fn each_name_is_that_of_a_script() {
        let known = NAMES.map(|name| asked(name, &["--help".into()]).is_some());
        assert_eq!(known, [true; NAMES.len()]);
    }

    #[test]
    fn a_server_starts_with_a_file_and_overrides_behind_it() {
        let words = "kafka-server-start.sh -daemon a.properties --override k=v --override l=w";
        let start = start(words);
        assert!(start.is_daemon);
        assert_eq!(start.place.file, Some(PathBuf::from("a.properties")));
        assert_eq!(start.place.overrides, ["k=v", "l=w"]);
    }

    #[test]
    fn a_java_class_stands_for_the_script_that_runs_it() {
        let by_class = start("kafka-run-class.sh -name n -daemon -loggc kafka.Kafka a.properties");
        assert_eq!(by_class, start("kafka-server-start -daemon a.properties"));
        let words = "kafka-run-class org.apache.kafka.tools.StorageTool random-uuid";
        assert_eq!(storage(words), Storage::RandomUuid);
        assert!(ask("kafka-run-class kafka.tools.GetOffsetShell --version").is_none());
        assert!(ask("kafka-run-class").is_none());
    }

    #[test]
    fn a_server_without_a_file_is_not_started() {
        assert!(matches!(ask("kafka-server-start"), Some(Err(_))));
        assert!(matches!(ask("kafka-server-start -daemon"), Some(Err(_))));
    }

    #[test]
    fn a_storage_is_formatted_as_every_script_that_is_about_spells_it() {
        for words in [
            "kafka-storage format -t=X -c f.properties",
            "kafka-storage.sh format --cluster-id X --config f.properties",
            "kafka-storage format --cluster-id=X -c f.properties",
        ] {
            let Storage::Format(format) = storage(words) else { panic!("{words}") };
            assert_eq!(format.cluster_id, "X");
            assert_eq!(format.config, PathBuf::from("f.properties"));
            assert!(!format.ignore_formatted);
        }
        let words = "kafka-storage format --ignore-formatted -t X -c f -r 4.2 -f group.version=1 \
                     --standalone";
        let Storage::Format(format) = storage(words) else { panic!("{words}") };
        assert!(format.ignore_formatted && format.standalone);
        assert_eq!(format.feature, ["group.version=1"]);
    }

    #[test]
    fn a_format_says_what_it_lacks() {
        assert!(matches!(ask("kafka-storage format -c f.properties"), Some(Err(_))));
        assert!(matches!(ask("kafka-storage format -t X"), Some(Err(_))));
        assert!(matches!(ask("kafka-storage"), Some(Err(_))));
        let both = "kafka-storage format -t X -c f --standalone --no-initial-controllers";
        assert!(matches!(ask(both), Some(Err(_))));
    }
}
