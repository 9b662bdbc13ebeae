//! The image `bitnami/kafka`, and its heirs `bitnamilegacy/kafka` and `soldevelo/kafka`.

use super::apache::pass_over;
use super::environment::Environment;
use super::names::plain;
use super::said::{Said, Void};
use super::wurstmeister;
use protocol::config::start::StartConfig;

/// Keys that may be said without `CFG`, as in images before 2020.
const ALIASES: [&str; 34] = [
    "ADVERTISED_LISTENERS",
    "AUTO_CREATE_TOPICS_ENABLE",
    "BROKER_ID",
    "CONTROLLER_LISTENER_NAMES",
    "CONTROLLER_QUORUM_VOTERS",
    "DEFAULT_REPLICATION_FACTOR",
    "DELETE_TOPIC_ENABLE",
    "INTER_BROKER_LISTENER_NAME",
    "LISTENERS",
    "LISTENER_SECURITY_PROTOCOL_MAP",
    "LOG_DIRS",
    "LOG_FLUSH_INTERVAL_MESSAGES",
    "LOG_FLUSH_INTERVAL_MS",
    "LOG_MESSAGE_FORMAT_VERSION",
    "LOG_RETENTION_BYTES",
    "LOG_RETENTION_CHECK_INTERVALS_MS",
    "LOG_RETENTION_HOURS",
    "LOG_SEGMENT_BYTES",
    "MESSAGE_MAX_BYTES",
    "NODE_ID",
    "NUM_IO_THREADS",
    "NUM_NETWORK_THREADS",
    "NUM_PARTITIONS",
    "NUM_RECOVERY_THREADS_PER_DATA_DIR",
    "OFFSETS_TOPIC_REPLICATION_FACTOR",
    "PROCESS_ROLES",
    "SOCKET_RECEIVE_BUFFER_BYTES",
    "SOCKET_REQUEST_MAX_BYTES",
    "SOCKET_SEND_BUFFER_BYTES",
    "SSL_ENDPOINT_IDENTIFICATION_ALGORITHM",
    "TRANSACTION_STATE_LOG_MIN_ISR",
    "TRANSACTION_STATE_LOG_REPLICATION_FACTOR",
    "ZOOKEEPER_CONNECT",
    "ZOOKEEPER_CONNECTION_TIMEOUT_MS",
];

/// Aliases of other words than their keys.
const OLDER: [(&str, &str); 4] = [
    ("LOG_RETENTION_CHECK_INTERVALS_MS", "log.retention.check.interval.ms"),
    ("MAX_MESSAGE_BYTES", "message.max.bytes"),
    ("SEGMENT_BYTES", "log.segment.bytes"),
    ("PORT", "port"),
];

/// Users, passwords and stores of TLS and SASL.
const SECURITY: [&str; 8] = [
    "KAFKA_CLIENT_",
    "KAFKA_INTER_BROKER_USER",
    "KAFKA_INTER_BROKER_PASSWORD",
    "KAFKA_CONTROLLER_USER",
    "KAFKA_CONTROLLER_PASSWORD",
    "KAFKA_CERTIFICATE_PASSWORD",
    "KAFKA_TLS_",
    "KAFKA_ZOOKEEPER_TLS_",
];

/// What steers the start script of the image.
const SCRIPT: [&str; 9] = [
    "BITNAMI_DEBUG",
    "KAFKA_ENABLE_KRAFT",
    "KAFKA_SKIP_KRAFT_STORAGE_INIT",
    "KAFKA_INITIAL_CONTROLLERS",
    "KAFKA_MOUNTED_CONF_DIR",
    "KAFKA_DAEMON_USER",
    "KAFKA_DAEMON_GROUP",
    "KAFKA_BASE_DIR",
    "KAFKA_VOLUME_DIR",
];

/// `KAFKA_CFG_A_B` says `a.b`.
pub(super) fn read(env: &Environment) -> Said {
    let mut said = Said::default();
    said.take(env, "KAFKA_CLUSTER_ID", StartConfig::cluster_id());
    said.take(env, "KAFKA_KRAFT_CLUSTER_ID", StartConfig::cluster_id());
    said.take_log_levels(env);
    for (variable, value) in env.iter() {
        let Some(name) = variable.strip_prefix("KAFKA_") else { continue };
        if !name.starts_with("CFG_") && !take_alias(&mut said, variable, name, value) {
            take_other(&mut said, variable, value);
        }
    }
    let commands = wurstmeister::COMMANDS.into_iter().map(|(name, _)| name);
    for name in commands.filter(|name| env.get(name).is_some()) {
        said.pass_over(name, Void::Script);
    }
    // The newer name counts where both stand.
    for (variable, value) in env.iter() {
        if let Some(name) = variable.strip_prefix("KAFKA_CFG_") {
            said.set(&key(name), value, variable);
        }
    }
    said
}

/// Names of listeners that are protocols keep their underscore.
fn key(name: &str) -> String {
    plain(name).replace("sasl.ssl", "sasl_ssl").replace("sasl.plaintext", "sasl_plaintext")
}

fn take_alias(said: &mut Said, variable: &str, name: &str, value: &str) -> bool {
    if let Some((_, key)) = OLDER.iter().find(|(alias, _)| *alias == name) {
        said.set(key, value, variable);
        return true;
    }
    let is_alias = ALIASES.contains(&name);
    if is_alias {
        said.set(&key(name), value, variable);
    }
    is_alias
}

fn take_other(said: &mut Said, variable: &str, value: &str) {
    let is_id = matches!(variable, "KAFKA_CLUSTER_ID" | "KAFKA_KRAFT_CLUSTER_ID");
    if is_id || pass_over(said, variable, value) {
        return;
    }
    let void = if SECURITY.iter().any(|front| variable.starts_with(front)) {
        Void::Security
    } else if variable.starts_with("KAFKA_ZOOKEEPER_") {
        Void::ZooKeeper
    } else if SCRIPT.contains(&variable) {
        Void::Script
    } else {
        Void::Unmapped
    };
    said.pass_over(variable, void);
}
