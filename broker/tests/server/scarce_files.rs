//! A process that may open few files: what is too much is refused, and nothing is broken by it.

use crate::world::{Client, batch, offset};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use protocol::messages::{CreateTopicsRequest, StrBytes};
use std::io::{BufRead, BufReader, Lines};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};
use tempfile::TempDir;
use tokio::net::TcpStream;

/// The program, in a process of its own.
struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    address: SocketAddr,
}

impl Process {
    fn start(dir: &TempDir, files_max: u32) -> Process {
        let script = format!(
            "ulimit -n {files_max}; exec {} start --override listeners=PLAINTEXT://127.0.0.1:0 \
             --override highwater.admin.listener= \
             --override log.dirs={} --override replica.high.watermark.checkpoint.interval.ms=50",
            env!("CARGO_BIN_EXE_highwater"),
            dir.path().join("data").display()
        );
        let mut child =
            Command::new("sh").args(["-c", &script]).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let said = "Awaiting socket connections on ";
        let address = lines.find_map(|line| {
            let line = line.unwrap();
            let (_, rest) = line.split_once(said)?;
            rest.split_once(". ").unwrap().0.parse().ok()
        });
        Process { child, lines, address: address.unwrap() }
    }

    /// Its exit status, and what it said since its start.
    fn stop(mut self) -> (bool, Vec<String>) {
        let pid = i32::try_from(self.child.id()).unwrap();
        kill(Pid::from_raw(pid), Signal::SIGTERM).unwrap();
        let said = self.lines.by_ref().map(Result::unwrap).collect();
        (self.child.wait().unwrap().success(), said)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It is gone already where the test came to its end.
        drop(self.child.kill());
    }
}

/// The error code of the answer.
async fn create(client: &mut Client, topic: &str, partitions: i32, policy: &str) -> i16 {
    let config = CreatableTopicConfig::default()
        .with_name(StrBytes::from_static_str("cleanup.policy"))
        .with_value(Some(StrBytes::from(policy.to_owned())));
    let topic = CreatableTopic::default()
        .with_name(StrBytes::from(topic.to_owned()).into())
        .with_num_partitions(partitions)
        .with_replication_factor(1)
        .with_configs(vec![config]);
    let request = CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(10_000);
    client.ask(&request, 4).await.topics[0].error_code
}

#[tokio::test(flavor = "multi_thread")]
async fn partitions_and_connections_beyond_the_files_do_not_stop_the_others() {
    let dir = TempDir::new().unwrap();
    let process = Process::start(&dir, 100);
    let mut client = Client::connect(process.address).await;
    assert_eq!(create(&mut client, "t", 1, "delete").await, 0);
    assert_eq!(offset(&client.produce("t", batch(10)).await), Ok(0));

    // Some are served, and some wait in the queue of the socket: together more than the files.
    let mut silent = Vec::new();
    for _ in 0..95 {
        silent.push(TcpStream::connect(process.address).await.unwrap());
    }
    assert_eq!(offset(&client.produce("t", batch(10)).await), Ok(1));
    drop(silent);

    assert_eq!(create(&mut client, "many", 150, "delete").await, 0);
    assert_eq!(offset(&client.produce("t", batch(10)).await), Ok(2));

    let (succeeded, said) = process.stop();
    assert!(succeeded, "{said:#?}");
}
