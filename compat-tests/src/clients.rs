//! The clients that people have, each as a command that produces or consumes a file of lines.

use crate::home::{root, tool};
use crate::kafka::java;
use crate::member::Mode;
use std::path::Path;
use std::process::Command;

/// A client library, or a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    Java,
    JavaConsole,
    Kcat,
    KafkaJs,
    ConfluentPython,
    KafkaPython,
    AioKafka,
    FranzGo,
    Sarama,
    KafkaGo,
}

/// Which codec a producer is told to compress with.
pub const CODECS: [&str; 5] = ["none", "gzip", "snappy", "lz4", "zstd"];

/// Every client that reads from assigned partitions.
pub const CONSUMERS: [Client; 7] = [
    Client::Java,
    Client::ConfluentPython,
    Client::KafkaPython,
    Client::AioKafka,
    Client::FranzGo,
    Client::Sarama,
    Client::KafkaGo,
];

impl Client {
    /// The command that sends each line of `file`, `key TAB value`, to `topic`, with acks=all.
    pub fn produce(self, bootstrap: &str, topic: &str, file: &Path, codec: &str) -> Command {
        match self {
            Client::Kcat => {
                tool("kcat");
                let mut command = Command::new("kcat");
                command.args(["-b", bootstrap, "-P", "-t", topic, "-K", "\t", "-l"]).arg(file);
                command.args(["-X", &format!("compression.codec={codec}"), "-X", "acks=all"]);
                command.args(["-X", "linger.ms=5"]);
                command
            }
            Client::JavaConsole => {
                // It reads its standard input, so a shell opens the file.
                let java = java();
                let mut command = Command::new("sh");
                let script = "file=$1; shift; exec \"$@\" < \"$file\"";
                command.args(["-c", script, "sh"]).arg(file);
                command.arg(java.get_program()).args(java.get_args());
                command.arg("org.apache.kafka.tools.ConsoleProducer");
                command.args(["--bootstrap-server", bootstrap, "--topic", topic]);
                command.args(["--compression-codec", codec, "--producer-property", "acks=all"]);
                command.args(["--property", "parse.key=true", "--property", "key.separator=\t"]);
                command
            }
            Client::Java
            | Client::KafkaJs
            | Client::ConfluentPython
            | Client::KafkaPython
            | Client::AioKafka
            | Client::FranzGo
            | Client::Sarama
            | Client::KafkaGo => self.lines(["produce", bootstrap, topic], file, Some(codec)),
        }
    }

    /// The command that writes `out.<partition>` for each partition of `topic`, from its beginning
    /// to the end that stands when it starts.
    pub fn consume(self, bootstrap: &str, topic: &str, out: &Path) -> Command {
        self.lines(["consume", bootstrap, topic], out, None)
    }

    /// The command of a member of `group` that reads `topic` until it is told to end; see
    /// [`crate::member`].
    pub fn member(self, bootstrap: &str, group: &str, topic: &str, mode: Mode) -> Command {
        let mut command = self.program("Member", "member");
        command.args([bootstrap, group, topic, mode.name()]);
        command
    }

    /// The command of a process with `count` members through the Java client, which come and go
    /// until `calm` (milliseconds since 1970) and then stay; see [`crate::member::stories`].
    /// `more` are configs of the client, `key=value`.
    pub fn pool(
        [bootstrap, group, topic, name]: [&str; 4],
        mode: Mode,
        count: usize,
        calm: u64,
        more: &[&str],
    ) -> Command {
        let mut command = java();
        command.args(["Pool", bootstrap, group, topic, mode.name(), name]);
        command.args([count.to_string(), calm.to_string()]).args(more);
        command
    }

    fn lines(self, words: [&str; 3], file: &Path, codec: Option<&str>) -> Command {
        let mut command = self.program("Lines", "lines");
        command.args(words).arg(file).args(codec);
        command
    }

    /// One of our programs, by the name of its Java class and by that of the others' file.
    fn program(self, class: &str, name: &str) -> Command {
        let clients = root().join("compat-tests/clients");
        let python = |client: &str| {
            let mut command = Command::new(tool("python").join("bin/python"));
            command.arg(clients.join(format!("python/{name}.py"))).arg(client);
            command
        };
        let go = |client: &str| {
            let mut command = Command::new(tool("go").join("clients"));
            command.args([name, client]);
            command
        };
        match self {
            Client::Java | Client::JavaConsole | Client::Kcat => {
                let mut command = java();
                command.arg(class);
                command
            }
            Client::KafkaJs => {
                let mut command = Command::new("node");
                command.env("NODE_MODULES", tool("node").join("node_modules"));
                command.arg(clients.join(format!("node/{name}.js")));
                command
            }
            Client::ConfluentPython => python("confluent"),
            Client::KafkaPython => python("kafka-python"),
            Client::AioKafka => python("aiokafka"),
            Client::FranzGo => go("franz"),
            Client::Sarama => go("sarama"),
            Client::KafkaGo => go("segment"),
        }
    }
}
