//! `highwater doctor` at brokers that tell the wrong thing, Highwater's and Apache Kafka's, and at
//! what is no broker.

use compat_tests::broker::{Broker, free_port};
use compat_tests::home::highwater;
use compat_tests::kafka::{Kafka, Quorum};
use compat_tests::process::run;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// Whether all is well, and the words for what is not.
fn examine(bootstrap: &str) -> (bool, Vec<String>) {
    let mut command = Command::new(highwater());
    command.args(["doctor", bootstrap, "-o", "json", "--timeout", "5"]);
    let output = run(&mut command, Duration::from_secs(60));
    let report: serde_json::Value = serde_json::from_str(&output.out).expect(&output.err);
    assert_eq!(report["is_well"].as_bool(), Some(output.status.success()), "{report:#}");
    let findings = report["findings"].as_array().unwrap();
    let word = |it: &serde_json::Value| it["code"].as_str().unwrap().to_owned();
    (output.status.success(), findings.iter().map(word).collect())
}

#[track_caller]
fn finds(bootstrap: &str, want: &[&str]) {
    let (is_well, found) = examine(bootstrap);
    assert_eq!(found, want, "{bootstrap}");
    assert_eq!(is_well, want.is_empty(), "{bootstrap}");
}

#[test]
fn a_broker_that_is_well_is_found_so() {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), "");
    finds(&broker.bootstrap(), &[]);
    let mut command = Command::new(highwater());
    let said = run(command.args(["doctor", &broker.bootstrap()]), Duration::from_secs(60)).ok();
    assert!(said.contains("All is well"), "{said}");
    let text = std::fs::read_to_string(dir.path().join("server.properties")).unwrap();
    let controller = text.lines().find_map(|line| line.split_once("CONTROLLER://")).unwrap().1;
    finds(controller, &["CONTROLLER"]);
}

#[test]
fn what_a_broker_tells_wrongly_is_named() {
    let (dir, other_dir) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let closed = free_port();
    let other = Broker::start(other_dir.path(), "");
    for (told, want) in [
        ("kafka.invalid:9092".to_owned(), "NAME_UNKNOWN"),
        (format!("127.0.0.1:{closed}"), "PORT"),
        (other.bootstrap(), "OTHER_CLUSTER"),
    ] {
        let dir = dir.path().join(want);
        std::fs::create_dir(&dir).unwrap();
        let broker = Broker::start(&dir, &format!("advertised.listeners=PLAINTEXT://{told}\n"));
        finds(&broker.bootstrap(), &[want]);
    }
}

#[test]
fn apache_kafka_is_examined_too() {
    let dir = TempDir::new().unwrap();
    let more = "advertised.listeners=PLAINTEXT://kafka.invalid:9092\n";
    let kafka = Kafka::start_with(dir.path(), Quorum::Dynamic, more);
    finds(&kafka.bootstrap(), &["NAME_UNKNOWN"]);
    let text = std::fs::read_to_string(dir.path().join("kafka.properties")).unwrap();
    let controller = text.lines().find_map(|line| line.split_once("CONTROLLER://")).unwrap().1;
    finds(controller, &["CONTROLLER"]);
}

#[test]
fn what_is_no_broker_is_named() {
    finds(&format!("127.0.0.1:{}", free_port()), &["NOTHING_LISTENS"]);
    finds("kafka.invalid:9092", &["NAME_UNKNOWN"]);
    // Without a port it is Kafka's usual one.
    finds("kafka.invalid", &["NAME_UNKNOWN"]);
    for (answer, want) in [
        (&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], "HTTP"),
        (&b"\x15\x03\x03\x00\x02\x02\x46"[..], "TLS"),
        (&b""[..], "CLOSED_AT_ONCE"),
        (&b"SSH-2.0-OpenSSH\r\n"[..], "NOT_KAFKA"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        // It serves until the test process ends.
        std::thread::spawn(move || {
            while let Ok((mut client, _)) = listener.accept() {
                let mut bytes = [0; 4096];
                let read = client.read(&mut bytes);
                drop(read.and_then(|_| client.write_all(answer)));
            }
        });
        finds(&address, &[want]);
    }
}
