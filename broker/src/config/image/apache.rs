//! The image `apache/kafka`, and `apache/kafka-native`.

use super::environment::Environment;
use super::names::escaped;
use super::said::{Said, Void};
use protocol::config::start::StartConfig;

/// Variables that are no keys, for a JVM and its logging.
pub(super) const JVM: [&str; 9] = [
    "KAFKA_VERSION",
    "KAFKA_HEAP_OPTS",
    "KAFKA_LOG4J_OPTS",
    "KAFKA_OPTS",
    "KAFKA_JMX_OPTS",
    "KAFKA_JVM_PERFORMANCE_OPTS",
    "KAFKA_GC_LOG_OPTS",
    "KAFKA_TOOLS_LOG4J_LOGLEVEL",
    "KAFKA_HOME",
];

const LOGGING: [&str; 2] = ["KAFKA_LOG4J_ROOT_LOGLEVEL", "KAFKA_LOG4J_LOGGERS"];

/// Variables that name files below `/etc/kafka/secrets`, which the image turns into keys of TLS.
const SECRETS: [&str; 5] = [
    "KAFKA_SSL_KEYSTORE_FILENAME",
    "KAFKA_SSL_KEYSTORE_CREDENTIALS",
    "KAFKA_SSL_KEY_CREDENTIALS",
    "KAFKA_SSL_TRUSTSTORE_FILENAME",
    "KAFKA_SSL_TRUSTSTORE_CREDENTIALS",
];

/// `KAFKA_A_B` says `a.b`, and `CLUSTER_ID` the id of the cluster.
pub(super) fn read(env: &Environment) -> Said {
    let mut said = Said::default();
    said.take(env, "CLUSTER_ID", StartConfig::cluster_id());
    said.take_log_levels(env);
    for (variable, value) in env.iter() {
        let Some(name) = variable.strip_prefix("KAFKA_") else { continue };
        if !pass_over(&mut said, variable, value) {
            said.set(&escaped(name), value, variable);
        }
    }
    said
}

/// Whether a variable is no key; if it is none and has no effect either, that is told.
pub(super) fn pass_over(said: &mut Said, variable: &str, value: &str) -> bool {
    let void = if LOGGING.contains(&variable) {
        return true;
    } else if variable == "KAFKA_VERSION" || variable == "KAFKA_HOME" {
        return true; // Images set these themselves.
    } else if value.contains("java.security.auth.login.config") || SECRETS.contains(&variable) {
        Void::Security
    } else if JVM.contains(&variable) || variable.starts_with("KAFKA_JMX_") {
        Void::Jvm
    } else {
        return false;
    };
    said.pass_over(variable, void);
    true
}
