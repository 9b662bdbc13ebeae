//! The topics that a pattern includes, as they come and go.

use crate::data::consumer::Consumer;
use crate::failure::Failure;
use crate::output::complain;
use crate::properties::{Properties, millis};
use kraft::env::Env;
use regex::Regex;
use std::time::Duration;

/// How long a broker may take to name the topics.
const WAIT: Duration = Duration::from_secs(10);
/// How soon to look again while there is none.
const SOON: Duration = Duration::from_secs(1);
const MAX_AGE: Duration = Duration::from_secs(300);

/// Topics that belong to the cluster, which nobody reads who does not name them.
const INTERNAL: [&str; 3] = ["__consumer_offsets", "__share_group_state", "__transaction_state"];

/// A pattern, and what it included when it was last looked at.
#[derive(Debug)]
pub(crate) struct TopicPattern {
    regex: Regex,
    with_internal: bool,
    max_age: Duration,
    found: Vec<String>,
    looked_at: Option<Duration>,
}

impl TopicPattern {
    /// Names are to match from their first letter to their last.
    ///
    /// # Errors
    /// The pattern is none. What looks around itself or refers back to groups is not known here.
    pub(crate) fn of(pattern: &str, properties: &Properties) -> Result<TopicPattern, Failure> {
        let regex = Regex::new(&format!("^(?:{pattern})$")).map_err(|error| {
            Failure::told(format_args!(
                "--include {pattern}: no pattern that is known here: {error}"
            ))
        })?;
        let excludes = properties.get("exclude.internal.topics").map(|it| it.trim());
        Ok(TopicPattern {
            regex,
            with_internal: excludes.is_some_and(|it| it.eq_ignore_ascii_case("false")),
            max_age: millis(properties, "metadata.max.age.ms", MAX_AGE)?,
            found: Vec::new(),
            looked_at: None,
        })
    }

    fn includes(&self, name: &str) -> bool {
        self.regex.is_match(name) && (self.with_internal || !INTERNAL.contains(&name))
    }

    /// Looks again, if it is time, and subscribes to what is included by now.
    pub(crate) fn follow(&mut self, consumer: &Consumer, env: &Env) -> Result<(), Failure> {
        let now = env.clock.monotonic();
        let age = if self.found.is_empty() { SOON } else { self.max_age };
        if self.looked_at.is_some_and(|at| now < at + age) {
            return Ok(());
        }
        let names = match consumer.topics(WAIT) {
            Ok(names) => names,
            Err(why) => {
                complain(&format!("WARN the topics cannot be listed, and will be again: {why:?}"));
                Vec::new()
            }
        };
        self.looked_at = Some(env.clock.monotonic());
        let mut found: Vec<_> = names.into_iter().filter(|name| self.includes(name)).collect();
        found.sort_unstable();
        if !found.is_empty() && found != self.found {
            consumer.subscribe(&found.iter().map(String::as_str).collect::<Vec<_>>())?;
            self.found = found;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_whole_and_internal_ones_only_where_asked_for() {
        let pattern = |text: &str, pairs: &[(&str, &str)]| {
            let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            TopicPattern::of(text, &pairs.iter().map(owned).collect())
        };
        let either = pattern("a|b\\d+", &[]).unwrap();
        for (name, want) in [("a", true), ("ab", false), ("b12", true), ("xb1", false)] {
            assert_eq!(either.includes(name), want, "{name}");
        }
        assert!(!pattern(".*", &[]).unwrap().includes("__consumer_offsets"));
        let all = pattern(".*", &[("exclude.internal.topics", "false")]).unwrap();
        assert!(all.includes("__consumer_offsets"));
        assert!(pattern("(", &[]).is_err());
    }
}
