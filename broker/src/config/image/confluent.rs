//! The images `confluentinc/cp-kafka`, `cp-server` and `confluent-local`.

use super::apache::pass_over;
use super::environment::Environment;
use super::names::escaped;
use super::said::{Said, Void};
use protocol::config::start::StartConfig;

/// The one key that keeps its capitals.
const CAPITALS: (&str, &str) = ("KAFKA_ZOOKEEPER_CLIENT_CNXN_SOCKET", "zookeeper.clientCnxnSocket");

/// As in `apache/kafka`; and `CONFLUENT_A_B` says `confluent.a.b`.
pub(super) fn read(env: &Environment) -> Said {
    let mut said = Said::default();
    said.take(env, "CLUSTER_ID", StartConfig::cluster_id());
    said.take_log_levels(env);
    for (variable, value) in env.iter() {
        let name = match variable.strip_prefix("KAFKA_") {
            Some(name) => name,
            None if variable.starts_with("CONFLUENT_") => variable,
            None => continue,
        };
        if pass_over(&mut said, variable, value) {
            continue;
        }
        if name.starts_with("REST_") {
            said.pass_over(variable, Void::OtherProgram);
        } else if variable == CAPITALS.0 {
            said.set(CAPITALS.1, value, variable);
        } else {
            said.set(&escaped(name), value, variable);
        }
    }
    said
}
