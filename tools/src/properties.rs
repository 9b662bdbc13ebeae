//! The settings of a client: `--command-config FILE`, `--command-property NAME=VALUE`.

use crate::failure::Failure;
use kraft::env::Env;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use storage::disk::read_whole;
use storage::properties;

/// Bytes of a properties file that are read; a longer one is no properties file.
const FILE_BYTES_MAX: usize = 1 << 20;

/// A client's properties, by Kafka's names. Names without effect are kept, and do nothing.
pub type Properties = BTreeMap<String, String>;

/// Reads a file of properties, if one is named, and puts `more`, each `name=value`, over it.
///
/// # Errors
/// The file cannot be read or has a line that is no property, one of `more` has no `=`, or the
/// connection is to be protected, which there is no code for yet.
pub fn read(env: &Env, file: Option<&str>, more: &[&str]) -> Result<Properties, Failure> {
    let mut found = match file {
        Some(file) => read_file(env, file)?,
        None => Properties::new(),
    };
    for text in more {
        // As Kafka: without `=`, or with nothing behind it, the value is empty.
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        found.insert(name.trim().to_owned(), value.trim().to_owned());
    }
    refuse_protection(&found)?;
    Ok(found)
}

/// Reads a file of properties, without the blanks around values, which Kafka's settings pass over.
///
/// # Errors
/// It cannot be read, or has a line that is no property.
pub(crate) fn read_file(env: &Env, file: &str) -> Result<Properties, Failure> {
    let found = read_exact(env, file)?;
    Ok(found.into_iter().map(|(name, value)| (name, value.trim().to_owned())).collect())
}

/// The same, with the blanks around a value that Java keeps: all behind it, and before it those that
/// are escaped.
///
/// # Errors
/// As of [`read_file`].
pub(crate) fn read_exact(env: &Env, file: &str) -> Result<Properties, Failure> {
    let unreadable = |error| Failure::Told(format!("cannot read {file}: {error}"));
    let open = env.disk.open_input(Path::new(file)).map_err(unreadable)?;
    let bytes = read_whole(&*open, FILE_BYTES_MAX).map_err(unreadable)?;
    let lines = properties::parse(&bytes)
        .map_err(|bad| Failure::Told(format!("{file}:{}: {}", bad.line, bad.why)))?;
    Ok(lines.into_iter().map(|line| (line.name, line.value)).collect())
}

/// What asks for TLS or SASL is never sent in plain.
pub(crate) fn refuse_protection(properties: &Properties) -> Result<(), Failure> {
    match properties.get("security.protocol").map(|it| it.to_ascii_uppercase()) {
        None => Ok(()),
        Some(protocol) if protocol == "PLAINTEXT" => Ok(()),
        Some(protocol) => Err(Failure::Told(format!(
            "security.protocol={protocol}: these tools speak PLAINTEXT only so far, and send \
             nothing unprotected that asks for more. Use a PLAINTEXT listener, or Apache Kafka's \
             own tool for this broker."
        ))),
    }
}

/// A property that is a time in milliseconds.
///
/// # Errors
/// It is no number, or below zero.
pub fn millis(properties: &Properties, name: &str, default: Duration) -> Result<Duration, Failure> {
    properties.get(name).map_or(Ok(default), |text| {
        text.parse().map(Duration::from_millis).map_err(|_| {
            Failure::Told(format!("{name}={text}: must be a number of milliseconds, 0 or more"))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kraft::env::os;

    #[test]
    fn properties_come_from_the_file_and_those_given_win() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("client.properties").display().to_string();
        let env = os::env();
        let text = b"client.id = me\nrequest.timeout.ms=500\nsecurity.protocol=PLAINTEXT\n";
        storage::disk::replace(&*env.disk, Path::new(&path), text).unwrap();
        let found = read(&env, Some(&path), &["client.id=you", "empty"]).unwrap();
        assert_eq!(found.get("client.id").map(String::as_str), Some("you"));
        assert_eq!(found.get("empty").map(String::as_str), Some(""));
        let timeout = millis(&found, "request.timeout.ms", Duration::ZERO);
        assert_eq!(timeout, Ok(Duration::from_millis(500)));
        assert!(millis(&found, "client.id", Duration::ZERO).is_err());
        let missing = read(&env, Some("/nowhere/client.properties"), &[]);
        assert!(matches!(missing, Err(Failure::Told(why)) if why.contains("/nowhere")));
    }

    #[test]
    fn what_asks_for_protection_is_not_sent_in_plain() {
        for protocol in ["SSL", "SASL_SSL", "sasl_plaintext"] {
            let told = read(&os::env(), None, &[&format!("security.protocol={protocol}")]);
            assert!(matches!(told, Err(Failure::Told(why)) if why.contains("PLAINTEXT")));
        }
    }
}
