//! From a text to a broker, or to the one line that says why not.

use super::BrokerConfig;
use crate::config::given::Given;
use protocol::config::alter::Target;
use protocol::config::describe::{Settings, Source};
use protocol::config::net::NetConfig;

fn settings(pairs: &[(&str, &str)]) -> Settings {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn load(text: &str) -> Result<BrokerConfig, String> {
    let given = Given::parse("server.properties", text.as_bytes()).map_err(|it| it.to_string())?;
    BrokerConfig::of(given, "box").map_err(|refused| refused.to_string())
}

#[track_caller]
fn refused(text: &str, want: &str) {
    assert_eq!(load(text).unwrap_err(), want);
}

#[test]
fn without_a_file_it_runs_alone_on_this_machine() {
    let config = BrokerConfig::of(Given::standalone(), "box").unwrap();
    let [listener] = &config.listeners.all[..] else { panic!("{:?}", config.listeners) };
    assert_eq!((listener.name.as_str(), listener.bind.to_string()), {
        ("PLAINTEXT", "localhost:9092".to_owned())
    });
    assert_eq!(listener.advertised.as_ref().unwrap().to_string(), "localhost:9092");
    assert!(!listener.is_controller);
    assert_eq!((config.membership.node_id, config.listeners.inter_broker.as_str()), {
        (1, "PLAINTEXT")
    });
    assert_eq!(config.log_dirs, ["./data"].map(std::path::PathBuf::from));
    assert_eq!(config.metadata_log_dir, config.log_dirs[0]);
    assert_eq!(config.request_memory_bytes(), 134_217_728);
    assert_eq!(Given::standalone().warnings(), Vec::<String>::new());
}

/// As Apache Kafka's own sample has it, but for the directories.
const SAMPLE: &str = "process.roles=broker,controller\nnode.id=7\n\
    controller.quorum.bootstrap.servers=localhost:9093\n\
    listeners=PLAINTEXT://:9092,CONTROLLER://:9093\n\
    inter.broker.listener.name=PLAINTEXT\n\
    advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093\n\
    controller.listener.names=CONTROLLER\n\
    listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL\n\
    num.network.threads=3\nlog.dirs=/a, /b,\noffsets.topic.replication.factor=1\n\
    log.retention.hours=168\nsome.plugin=x\n";

#[test]
fn the_sample_file_of_kafka_is_read_whole() {
    let config = load(SAMPLE).unwrap();
    let doors: Vec<_> = (config.listeners.all.iter())
        .map(|it| (it.name.as_str(), it.bind.port, it.is_controller, it.is_everywhere()))
        .collect();
    assert_eq!(doors, [("PLAINTEXT", 9092, false, true), ("CONTROLLER", 9093, true, true)]);
    assert_eq!(config.membership.node_id, 7);
    assert_eq!(config.log_dirs.len(), 2);
    let given = Given::parse("f", SAMPLE.as_bytes()).unwrap();
    assert_eq!(
        given.warnings(),
        [
            "Unknown keys are ignored: some.plugin",
            "These keys have no effect here: num.network.threads",
        ]
    );
    let id = |name: &str| config.describe().into_iter().find(|it| it.name == name).unwrap();
    assert_eq!(id("broker.id").value.as_deref(), Some("7"));
    assert_eq!(id("node.id").source, Source::StaticBroker);
}

#[test]
fn an_old_file_without_roles_makes_a_node_that_is_both() {
    let config = load("broker.id=0\nlog.dir=/a\nzookeeper.connect=x:2181\n").unwrap();
    assert_eq!(config.membership.node_id, 0);
    assert_eq!(config.listeners.all[0].advertised.as_ref().unwrap().to_string(), "box:9092");
}

#[test]
fn a_bad_value_is_refused_in_one_line_that_says_where_it_stands() {
    let why = "server.properties:2: log.segment.bytes=1g: must be a 32-bit number";
    refused("# x\nlog.segment.bytes=1g\n", why);
    refused("listener.name.x.ssl.client.auth=no\n", {
        "server.properties:1: listener.name.x.ssl.client.auth=no: must be of required, requested, none"
    });
    refused("a=\\u1", "server.properties:1: `\\u` wants four hex digits behind it");
    let given = Given::standalone().with_override("num.partitions=0").unwrap();
    let line = BrokerConfig::of(given, "box").unwrap_err().to_string();
    assert_eq!(line, "--override: num.partitions=0: must be at least 1");
    let line = Given::standalone().with_override("num.partitions").unwrap_err().to_string();
    assert_eq!(line, "--override num.partitions: must be a key, `=` and a value");
    refused("authorizer.class.name=A\n", {
        "server.properties:1: authorizer.class.name=A: there is no authorizer so far: leave it out \
         where everybody may do everything"
    });
}

#[test]
fn keys_are_checked_against_each_other() {
    refused("log.retention.ms=0", {
        "server.properties:1: log.retention.ms=0: must be -1, or at least 1"
    });
    refused("log.roll.ms=0", "server.properties:1: log.roll.ms=0: must be at least 1");
    refused("queued.max.request.bytes=5", {
        "server.properties:1: queued.max.request.bytes=5: must hold one request of 104857600 \
         bytes, or be -1"
    });
    refused("max.connections.per.ip=0", {
        "server.properties:1: max.connections.per.ip=0: would refuse everybody: give \
         max.connections.per.ip.overrides too"
    });
    refused("max.connections.per.ip.overrides=a:b", {
        "server.properties:1: max.connections.per.ip.overrides=a:b: must be `host:count`, comma-separated"
    });
    refused("broker.session.timeout.ms=1000", {
        "broker.heartbeat.interval.ms=2000: must be at most half of the session timeout, 1000"
    });
    refused("log.cleaner.threads=200", {
        "log.cleaner.dedupe.buffer.size=134217728: must be above 1048576 for each of \
         log.cleaner.threads"
    });
    refused("log.dirs=", "server.properties:1: log.dirs=: must name a directory");
    for twice in ["/a,/a", "/b,/a,/b/../c,/a/", "./a,b,a"] {
        let same = twice.rsplit(',').next().unwrap();
        let why = format!("server.properties:1: log.dirs={same}: must name each directory once");
        refused(&format!("log.dirs={twice}"), &why);
    }
}

#[test]
fn a_directory_of_logs_may_have_the_metadata_by_another_spelling() {
    let config = load("log.dirs=/b,data\nmetadata.log.dir=./data/").unwrap();
    assert_eq!(config.metadata_log_dir, config.log_dirs[1]);
}

#[test]
fn a_node_must_know_who_it_is() {
    refused("process.roles=broker,controller\nnode.id=1", {
        "controller.listener.names=: must name a listener, since process.roles is set"
    });
    refused("node.id=1\nbroker.id=2", {
        "server.properties:2: broker.id=2: must equal node.id, or stand alone"
    });
    let quorum = |voters: &str| {
        format!(
            "process.roles=broker,controller\nnode.id=1\ncontroller.listener.names=C\n\
             listeners=PLAINTEXT://:9092,C://:9093\ncontroller.quorum.voters={voters}"
        )
    };
    assert_eq!(load(&quorum("1@localhost:9093")).unwrap().membership.voters[0].id, 1);
    refused(&quorum("2@localhost:9093"), {
        "server.properties:5: controller.quorum.voters=2: must name this node, 1, since it is a \
         controller"
    });
    refused(&quorum("1@a:1,2@b:2"), {
        "server.properties:5: controller.quorum.voters=1,2: only a quorum of one is served so \
         far: name this node alone"
    });
    refused(&quorum("localhost:9093"), {
        "server.properties:5: controller.quorum.voters=localhost:9093: must be `id@host:port`, \
         comma-separated"
    });
    let why =
        "is not served so far: write broker,controller, with a name in controller.listener.names";
    for more in ["", "\nnode.id=1\ncontroller.listener.names=C\ncontroller.quorum.voters=2@a:1"] {
        refused(
            &format!("process.roles=broker{more}"),
            &format!(
                "server.properties:1: process.roles=broker: a broker that follows the controller of \
             another node {why}"
            ),
        );
    }
    refused(
        "process.roles=controller",
        &format!(
            "server.properties:1: process.roles=controller: a controller that is no broker {why}"
        ),
    );
}

#[test]
fn a_change_takes_effect_and_a_bad_one_does_not() {
    let config = load("log.retention.hours=2\nlistener.name.x.max.connections=4").unwrap();
    assert_eq!(config.values.topic.retention_ms, 7_200_000);
    assert_eq!(config.of_listener("X", NetConfig::max_connections()), Some(4));
    assert_eq!(config.of_listener("Y", NetConfig::max_connections()), None);
    let (next, refused) = config.with_dynamic(
        &settings(&[("log.retention.ms", "5"), ("log.retention.hours", "1")]),
        &settings(&[("message.max.bytes", "9"), ("max.connections", "x")]),
    );
    let refused: Vec<_> = refused.iter().map(ToString::to_string).collect();
    assert_eq!(
        refused,
        [
            "log.retention.hours=1: cannot change while the broker runs",
            "max.connections=x: must be a 32-bit number",
        ]
    );
    assert_eq!((next.values.topic.retention_ms, next.values.topic.max_message_bytes), (5, 9));
    assert_eq!(next.topic(&settings(&[("retention.ms", "6")])).retention_ms, 6);
    assert_eq!(next.topic(&settings(&[("retention.ms", "x")])).retention_ms, 5);
    let (back, _) = next.with_dynamic(&Settings::new(), &Settings::new());
    assert_eq!(back.values, config.values);
    let zero = settings(&[("log.retention.ms", "0")]);
    assert!(config.told(Target::AllBrokers, &zero).is_err());
    let (same, refused) = next.with_dynamic(&zero, &Settings::new());
    assert_eq!((same.values.topic.retention_ms, refused.len()), (5, 1));
}
