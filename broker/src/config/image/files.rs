//! Variables whose value stands in a file: `X_FILE` names the file, and `X` is what it holds.

use super::environment::Environment;
use protocol::config::{BROKER, find};

/// The environment with the contents of the files that it names, and what of them cannot be read.
pub(super) fn with_files(
    env: Environment,
    read: &dyn Fn(&str) -> Result<String, String>,
) -> (Environment, Vec<String>) {
    let named: Vec<(String, String, String)> = (env.iter())
        .filter(|(variable, _)| variable.starts_with("KAFKA_"))
        .filter(|(variable, _)| !is_key(variable))
        .filter_map(|(variable, path)| {
            let name = variable.strip_suffix("_FILE")?;
            Some((variable.to_owned(), name.to_owned(), path.to_owned()))
        })
        .collect();
    let (mut env, mut notes) = (env, Vec::new());
    for (variable, name, path) in named {
        env = env.without(&variable);
        match read(&path) {
            Ok(text) => env = env.with(&name, text.trim_end_matches('\n')),
            Err(why) => notes.push(format!("{variable} is ignored: {why}")),
        }
    }
    (env, notes)
}

/// A key may itself end so.
fn is_key(variable: &str) -> bool {
    let name = variable.strip_prefix("KAFKA_CFG_").unwrap_or_default();
    let is_store = variable == "KAFKA_TLS_TRUSTSTORE_FILE"
        || variable == "KAFKA_ZOOKEEPER_TLS_TRUSTSTORE_FILE";
    is_store || find(BROKER, &super::names::plain(name)).is_some()
}
