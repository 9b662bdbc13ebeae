//! Java clients of years ago, as far back as Apache Kafka 4 answers them (KIP-896).

use compat_tests::broker::Broker;
use compat_tests::home::tool;
use compat_tests::process::run;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

fn life(old: &Path, release: &str, bootstrap: &str) -> Command {
    let classes = format!("{}:{}/*", old.join("classes").display(), old.join(release).display());
    let mut command = Command::new("java");
    command.args(["-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", &classes, "Life", bootstrap]);
    command.arg(format!("of-{release}"));
    command
}

#[test]
fn java_clients_since_2018_make_write_share_read_and_delete_a_topic() {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), "group.initial.rebalance.delay.ms=0\n");
    let old = tool("old-java");
    for release in ["1.1.1", "2.1.1", "2.8.2", "3.9.1"] {
        let mut command = life(&old, release, &broker.bootstrap());
        let said = run(&mut command, Duration::from_secs(180)).ok();
        assert!(said.contains("lived"), "{release}: {said}");
    }
}
