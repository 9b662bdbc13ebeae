//! Environment variables: where they come from, and which of them nobody meant for a broker.

use std::collections::BTreeMap;

/// The one variable that says something by a blank or an end of line.
pub(super) const SEPARATOR: &str = "KAFKA_CREATE_TOPICS_SEPARATOR";

/// Variables by their names. Of a process they may bear names that no shell could set, such as
/// `KAFKA_LISTENER_NAME_X_SCRAM-SHA-256_SASL_JAAS_CONFIG`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<String, String>,
}

impl Environment {
    /// Those of this process. What is no UTF-8 cannot be a setting and is left out.
    pub fn of_process() -> Environment {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Environment::of(std::env::vars_os().filter_map(text))
    }

    /// These, without what says nothing: an empty value, `null`, and the addresses of services
    /// that Kubernetes and container links hand to everybody.
    pub fn of(pairs: impl IntoIterator<Item = (String, String)>) -> Environment {
        let says = |(name, value): &(String, String)| {
            let said = if name == SEPARATOR { value } else { value.trim() };
            !matches!(said, "" | "null") && !is_service_link(name, value)
        };
        Environment { variables: pairs.into_iter().filter(says).collect() }
    }

    /// The value of a variable, if it says something.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The same with other values.
    pub(super) fn map(&self, value: impl Fn(&str, &str) -> String) -> Environment {
        Environment::of(self.iter().map(|(name, text)| (name.to_owned(), value(name, text))))
    }

    /// The same with one variable more, or another value of it.
    pub(super) fn with(mut self, name: &str, value: &str) -> Environment {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The same with one variable less.
    pub(super) fn without(mut self, name: &str) -> Environment {
        self.variables.remove(name);
        self
    }
}

/// A service called `kafka` gives its neighbours `KAFKA_PORT=tcp://10.0.0.1:9092` and its like.
fn is_service_link(name: &str, value: &str) -> bool {
    let is_port = |part: &str| {
        let digits = part.trim_start_matches(|it: char| it.is_ascii_digit());
        digits != part && (digits.starts_with("_TCP") || digits.starts_with("_UDP"))
    };
    value.starts_with("tcp://")
        || value.starts_with("udp://")
        || name.ends_with("_SERVICE_HOST")
        || name.contains("_SERVICE_PORT")
        || name.split("_PORT_").skip(1).any(is_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, want: &[(&str, &str)]) {
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        let found = Environment::of(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(found.iter().collect::<Vec<_>>(), want, "{text}");
    }

    #[test]
    fn what_says_nothing_is_left_out() {
        check("A=\nB=null\nC= \nD=0", &[("D", "0")]);
        check("KAFKA_CREATE_TOPICS_SEPARATOR= ", &[("KAFKA_CREATE_TOPICS_SEPARATOR", " ")]);
        check("KAFKA_CREATE_TOPICS_SEPARATOR=", &[]);
        check(
            "KAFKA_PORT=tcp://10.0.0.1:9092\nKAFKA_SERVICE_HOST=10.0.0.1\nKAFKA_SERVICE_PORT=9092\n\
             KAFKA_SERVICE_PORT_CLIENT=9092\nKAFKA_PORT_9092_TCP_ADDR=10.0.0.1\n\
             KAFKA_PORT_9092_UDP_PORT=9092\nKAFKA_PORT_X=1",
            &[("KAFKA_PORT_X", "1")],
        );
    }
}
