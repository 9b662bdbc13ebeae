//! What each image makes of an environment.

use super::*;
use crate::config::given::Given;

fn environment(text: &str) -> Environment {
    Environment::of(env_file::EnvFile::parse(text, &Environment::default()).unwrap().variables)
}

/// The settings that an environment amounts to, as `key=value (variable)`, and the notes.
fn read(image: Image, env: &str) -> (Vec<String>, Vec<String>) {
    let said = image.read(&environment(&env.replace("; ", "\n")));
    let row = |(key, value, variable)| format!("{key}={value} ({variable})");
    (said.settings().map(row).collect(), said.notes().collect())
}

#[track_caller]
fn check(image: Image, env: &str, want: &[&str], notes: &[&str]) {
    let (settings, found) = read(image, env);
    assert_eq!(settings, want, "{env}");
    assert_eq!(found, notes, "{env}");
}

const NO_JVM: &str = "Variables without effect, since there is no Java process and no JMX: ";
const NO_SECURITY: &str = "Variables without effect, since there is neither TLS nor SASL so far: ";

#[test]
fn apache_kafka() {
    let check = |env, want: &[&str], notes: &[&str]| check(Image::ApacheKafka, env, want, notes);
    check("KAFKA_NODE_ID=1; PATH=/bin; KAFKA=1", &["node.id=1 (KAFKA_NODE_ID)"], &[]);
    check("CLUSTER_ID=abc", &["highwater.cluster.id=abc (CLUSTER_ID)"], &[]);
    check(
        "KAFKA_LISTENER_NAME_A__B_C___D=x",
        &["listener.name.a_b.c-d=x (KAFKA_LISTENER_NAME_A__B_C___D)"],
        &[],
    );
    check(
        "KAFKA_LISTENER_NAME_S_SCRAM-SHA-256_SASL_JAAS_CONFIG=x",
        &["listener.name.s.scram-sha-256.sasl.jaas.config=x \
         (KAFKA_LISTENER_NAME_S_SCRAM-SHA-256_SASL_JAAS_CONFIG)"],
        &[],
    );
    check(
        "KAFKA_VERSION=4; KAFKA_HEAP_OPTS=-Xmx1g; KAFKA_JMX_PORT=9101",
        &[],
        &[&format!("{NO_JVM}KAFKA_HEAP_OPTS, KAFKA_JMX_PORT")],
    );
    check(
        "KAFKA_OPTS=-Djava.security.auth.login.config=/x",
        &[],
        &[&format!("{NO_SECURITY}KAFKA_OPTS")],
    );
    check(
        "KAFKA_LOG4J_ROOT_LOGLEVEL=WARN; KAFKA_LOG4J_LOGGERS=kafka.log=INFO,",
        &[
            "highwater.log.level=WARN (KAFKA_LOG4J_ROOT_LOGLEVEL)",
            "highwater.log.levels=kafka.log=INFO, (KAFKA_LOG4J_LOGGERS)",
        ],
        &[],
    );
    check(
        "KAFKA_SSL_KEYSTORE_FILENAME=a; KAFKA_SSL_CLIENT_AUTH=none",
        &["ssl.client.auth=none (KAFKA_SSL_CLIENT_AUTH)"],
        &[&format!("{NO_SECURITY}KAFKA_SSL_KEYSTORE_FILENAME")],
    );
    check("KAFKA_PORT=tcp://10.0.0.1:9092; KAFKA_SERVICE_HOST=10.0.0.1", &[], &[]);
}

#[test]
fn cp_kafka_and_confluent_local() {
    let check = |env, want: &[&str], notes: &[&str]| check(Image::CpKafka, env, want, notes);
    check(
        "KAFKA_LOG_DIRS=/x; CONFLUENT_METRICS_ENABLE=false",
        &[
            "confluent.metrics.enable=false (CONFLUENT_METRICS_ENABLE)",
            "log.dirs=/x (KAFKA_LOG_DIRS)",
        ],
        &[],
    );
    check(
        "KAFKA_REST_LISTENERS=http://0.0.0.0:8082",
        &[],
        &["Variables without effect, since the program that they are for is not here: \
         KAFKA_REST_LISTENERS"],
    );
    check(
        "KAFKA_ZOOKEEPER_CLIENT_CNXN_SOCKET=a",
        &["zookeeper.clientCnxnSocket=a (KAFKA_ZOOKEEPER_CLIENT_CNXN_SOCKET)"],
        &[],
    );
    assert_eq!(read(Image::ConfluentLocal, "KAFKA_A=1"), read(Image::CpKafka, "KAFKA_A=1"));
}

#[test]
fn bitnami() {
    let check = |env, want: &[&str], notes: &[&str]| check(Image::Bitnami, env, want, notes);
    check(
        "KAFKA_CFG_NODE_ID=0; KAFKA_KRAFT_CLUSTER_ID=a",
        &["highwater.cluster.id=a (KAFKA_KRAFT_CLUSTER_ID)", "node.id=0 (KAFKA_CFG_NODE_ID)"],
        &[],
    );
    check(
        "KAFKA_LISTENERS=A://:1; KAFKA_CFG_LISTENERS=B://:2; KAFKA_BROKER_ID=4",
        &["broker.id=4 (KAFKA_BROKER_ID)", "listeners=B://:2 (KAFKA_CFG_LISTENERS)"],
        &[],
    );
    check(
        "KAFKA_CFG_LISTENER_NAME_SASL_PLAINTEXT_PLAIN_SASL_JAAS_CONFIG=x",
        &["listener.name.sasl_plaintext.plain.sasl.jaas.config=x \
         (KAFKA_CFG_LISTENER_NAME_SASL_PLAINTEXT_PLAIN_SASL_JAAS_CONFIG)"],
        &[],
    );
    check(
        "ALLOW_PLAINTEXT_LISTENER=yes; KAFKA_LOG_RETENTION_CHECK_INTERVALS_MS=5",
        &["log.retention.check.interval.ms=5 (KAFKA_LOG_RETENTION_CHECK_INTERVALS_MS)"],
        &[],
    );
    check(
        "HOSTNAME_COMMAND=hostname; KAFKA_ID_COMMAND=x",
        &[],
        &[
            "Variables without effect, since they steer a start script that is not run here: \
         HOSTNAME_COMMAND",
            "Variables without effect, since this image takes no keys from them (it does from \
         KAFKA_CFG_*): KAFKA_ID_COMMAND",
        ],
    );
    check(
        "KAFKA_ENABLE_KRAFT=no; KAFKA_CLIENT_USERS=a; KAFKA_FOO=1; KAFKA_ZOOKEEPER_USER=u",
        &[],
        &[
            &format!("{NO_SECURITY}KAFKA_CLIENT_USERS"),
            "Variables without effect, since ZooKeeper is not used: KAFKA_ZOOKEEPER_USER",
            "Variables without effect, since they steer a start script that is not run here: \
         KAFKA_ENABLE_KRAFT",
            "Variables without effect, since this image takes no keys from them (it does from \
         KAFKA_CFG_*): KAFKA_FOO",
        ],
    );
}

#[test]
fn values_that_stand_in_files() {
    let env = "KAFKA_CFG_NODE_ID_FILE=/id; KAFKA_HEAP_OPTS_FILE=/none; \
               KAFKA_CFG_SASL_OAUTHBEARER_ASSERTION_FILE=/x";
    let env = environment(&env.replace("; ", "\n"));
    let (env, notes) = files::with_files(env, &|path| match path {
        "/id" => Ok("7\n".to_owned()),
        path => Err(format!("no {path}")),
    });
    let said = Image::Bitnami.read(&env);
    assert_eq!(
        said.settings().collect::<Vec<_>>(),
        [
            ("node.id", "7", "KAFKA_CFG_NODE_ID"),
            ("sasl.oauthbearer.assertion.file", "/x", "KAFKA_CFG_SASL_OAUTHBEARER_ASSERTION_FILE"),
        ]
    );
    assert_eq!(notes, ["KAFKA_HEAP_OPTS_FILE is ignored: no /none"]);
}

#[test]
fn wurstmeister() {
    let check =
        |env: &str, want: &[&str], notes: &[&str]| check(Image::Wurstmeister, env, want, notes);
    check(
        "KAFKA_ADVERTISED_PORT=9092; KAFKA_A__B=1",
        &["a..b=1 (KAFKA_A__B)", "advertised.port=9092 (KAFKA_ADVERTISED_PORT)"],
        &[],
    );
    check(
        "KAFKA_CREATE_TOPICS=a:1:1| b:2:1:compact; KAFKA_CREATE_TOPICS_SEPARATOR=|",
        &["highwater.create.topics=a:1:1,b:2:1:compact (KAFKA_CREATE_TOPICS)"],
        &[],
    );
    check(
        "KAFKA_CREATE_TOPICS=a:1:1:compact,delete; KAFKA_CREATE_TOPICS_SEPARATOR=|",
        &["highwater.create.topics=a:1:1:compact+delete (KAFKA_CREATE_TOPICS)"],
        &[],
    );
    for separator in ["\"\\n\"", "'\n'", "\"\\$'\\n'\"", "' \n'"] {
        check(
            &format!(
                "KAFKA_CREATE_TOPICS='a:1:1\n b:2:1\n'; KAFKA_CREATE_TOPICS_SEPARATOR={separator}"
            ),
            &["highwater.create.topics=a:1:1,b:2:1 (KAFKA_CREATE_TOPICS)"],
            &[],
        );
    }
    check(
        "KAFKA_PROTOCOL_NAME=SASL_SSL; KAFKA_ADVERTISED_PROTOCOL_NAME=PLAINTEXT",
        &["security.inter.broker.protocol=SASL_SSL (KAFKA_PROTOCOL_NAME)"],
        &["Variables without effect, since they steer a start script that is not run here: \
         KAFKA_ADVERTISED_PROTOCOL_NAME"],
    );
    check(
        "CUSTOM_INIT_SCRIPT=x",
        &[],
        &["Variables without effect, since they steer a start script that is not run here: \
         CUSTOM_INIT_SCRIPT"],
    );
}

#[test]
fn commands_fill_the_places_that_name_them() {
    let env = "HOSTNAME_COMMAND=host; BROKER_ID_COMMAND=id; PORT_COMMAND=port; \
               KAFKA_ADVERTISED_LISTENERS=A://_{HOSTNAME_COMMAND}:_{PORT_COMMAND}; KAFKA_LISTENERS=A://:1";
    let env = environment(&env.replace("; ", "\n"));
    let (env, notes) = wurstmeister::with_commands(env, &|line| match line {
        "host" => Some("example".to_owned()),
        "id" => Some("3".to_owned()),
        _ => None,
    });
    assert_eq!(env.get("KAFKA_ADVERTISED_LISTENERS"), Some("A://example:"));
    assert_eq!(
        (env.get("KAFKA_BROKER_ID"), env.get("KAFKA_ADVERTISED_HOST_NAME")),
        (Some("3"), None)
    );
    assert_eq!(notes, ["PORT_COMMAND has said nothing, and is taken as empty: port"]);
    let place = environment("KAFKA_ADVERTISED_LISTENERS=A://_{HOSTNAME_COMMAND}:1");
    let (env, notes) = wurstmeister::with_commands(place, &|_| None);
    // Nothing is put there: what it says is then refused, as an address.
    assert_eq!(env.get("KAFKA_ADVERTISED_LISTENERS"), Some("A://_{HOSTNAME_COMMAND}:1"));
    assert_eq!(notes, ["KAFKA_ADVERTISED_LISTENERS asks for HOSTNAME_COMMAND, which is not set"]);
}

/// The settings with the image's own below them.
fn whole(image: Image, env: &str, mounts: &str) -> Given {
    let (mut given, mounts) = (Given::default(), Mounts::parse(mounts));
    let around = Around {
        hostname: "box",
        mounts: &mounts,
        read: &|path| Err(format!("no {path}")),
        run: &|_| None,
    };
    image.apply(&mut given, environment(&env.replace("; ", "\n")), around);
    image.lay_below(&mut given, around);
    given
}

#[track_caller]
fn check_whole(image: Image, env: &str, want: &[(&str, &str)]) {
    let given = whole(image, env, "");
    for (key, value) in want {
        assert_eq!(given.get(key).unwrap_or("nothing"), *value, "{key} of {env}");
    }
}

#[test]
fn defaults_of_an_image_lie_below_what_is_said() {
    let both = "PLAINTEXT://:9092,CONTROLLER://:9093";
    check_whole(
        Image::ApacheKafka,
        "",
        &[
            ("process.roles", "broker,controller"),
            ("listeners", both),
            ("advertised.listeners", "nothing"),
            ("log.dirs", "/tmp/kraft-combined-logs"),
        ],
    );
    check_whole(Image::ApacheKafka, "KAFKA_NUM_PARTITIONS=3", &[("listeners", both)]);
    check_whole(
        Image::CpKafka,
        "KAFKA_ZOOKEEPER_CONNECT=z:1",
        &[
            ("process.roles", "nothing"),
            ("listeners", "nothing"),
            ("log.dirs", "/var/lib/kafka/data"),
        ],
    );
    check_whole(
        Image::ConfluentLocal,
        "KAFKA_LISTENERS=PLAINTEXT://b:1,CONTROLLER://b:2",
        &[
            ("listeners", "PLAINTEXT://b:1,CONTROLLER://b:2"),
            ("inter.broker.listener.name", "PLAINTEXT"),
            ("group.initial.rebalance.delay.ms", "0"),
        ],
    );
    check_whole(Image::Wurstmeister, "", &[("log.dirs", "/kafka/kafka-logs-box")]);
    let mounted = whole(Image::ApacheKafka, "", "1 2 8:1 / /var/lib/kafka/data rw - ext4 x rw");
    assert_eq!(mounted.get("log.dirs"), Some("/var/lib/kafka/data"));
    let own = whole(Image::ApacheKafka, "KAFKA_LOG_DIRS=/x", "1 2 8:1 / /kafka rw - ext4 x rw");
    assert_eq!(own.get("log.dirs"), Some("/x"));
}

#[test]
fn who_says_only_what_to_advertise_listens_there() {
    let say = "KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://k:29092, HOST://localhost:9092,";
    check_whole(
        Image::CpKafka,
        say,
        &[("listeners", "PLAINTEXT://0.0.0.0:29092,HOST://0.0.0.0:9092")],
    );
    check_whole(
        Image::CpKafka,
        "KAFKA_ADVERTISED_LISTENERS=x",
        &[("listeners", { "PLAINTEXT://:9092,CONTROLLER://:9093" })],
    );
    check_whole(
        Image::ConfluentLocal,
        "KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://k:5",
        &[(
            "listeners",
            "PLAINTEXT://localhost:29092,CONTROLLER://localhost:29093,PLAINTEXT_HOST://:9092",
        )],
    );
    check_whole(
        Image::Bitnami,
        "KAFKA_CFG_ADVERTISED_LISTENERS=PLAINTEXT://k:29092",
        &[("listeners", "PLAINTEXT://:9092,CONTROLLER://:9093")],
    );
}
