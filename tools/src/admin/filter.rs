//! Which topics and partitions a pattern means.

use crate::failure::Failure;
use regex::Regex;

/// Topics that the brokers keep for themselves.
const INTERNAL: [&str; 3] = ["__consumer_offsets", "__transaction_state", "__share_group_state"];

pub(crate) fn is_internal(topic: &str) -> bool {
    INTERNAL.contains(&topic)
}

/// A list of names or regular expressions, any of which is to match the whole name.
#[derive(Debug)]
pub(crate) enum Pattern {
    Name(String),
    Regex(Regex),
}

impl Pattern {
    /// Reads it as Kafka does: a comma is an "or", spaces and quotes around go.
    ///
    /// # Errors
    /// It is no regular expression.
    pub(crate) fn read(text: &str) -> Result<Pattern, Failure> {
        let alternatives = text.trim().replace(',', "|").replace(' ', "");
        let bare = alternatives.trim_matches(['"', '\'']);
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        if !bare.is_empty() && bare.chars().all(is_plain) {
            return Ok(Pattern::Name(bare.to_owned()));
        }
        Regex::new(&format!("^(?:{bare})$")).map(Pattern::Regex).map_err(|_| {
            let looks_around = ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|it| bare.contains(it));
            let hint =
                if looks_around { " None that looks around itself is known here." } else { "" };
            Failure::Told(format!("{text} is an invalid regex.{hint}"))
        })
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        match self {
            Pattern::Name(it) => it == name,
            Pattern::Regex(it) => it.is_match(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_whole_names() {
        let matches = |pattern, name| Pattern::read(pattern).unwrap().matches(name);
        for (pattern, name) in [
            ("one", "one"),
            ("o.*", "one"),
            ("two, one", "one"),
            ("'one'", "one"),
            ("a.b", "a.b"),
            ("a.b", "axb"),
            (".*", "any"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("one", "ones"), ("on", "one"), ("o|n", "on"), ("two,on", "one")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
        assert!(Pattern::read("[").is_err());
        assert!(is_internal("__consumer_offsets") && !is_internal("__mine"));
    }
}
