//! Samples of metrics and their labels, as Prometheus' text format has them.

use crate::metrics::Timer;
use crate::metrics::histogram::Counts;
use std::fmt::{self, Display, Write};

/// The shares of all observations that a summary tells, as the JMX exporter spells Kafka's
/// percentiles.
const SHARES: [(&str, f64); 6] = [
    ("0.50", 0.5),
    ("0.75", 0.75),
    ("0.95", 0.95),
    ("0.98", 0.98),
    ("0.99", 0.99),
    ("0.999", 0.999),
];

/// Labels as they stand between the braces: written once for all families that have them.
#[derive(Clone, Debug)]
pub(super) struct Labels {
    /// With spaces between them.
    names: &'static str,
    text: String,
}

impl Labels {
    pub(super) const NONE: Labels = Labels { names: "", text: String::new() };

    /// A value for each of the names.
    pub(super) fn of(names: &'static str, values: &[&dyn Display]) -> Labels {
        debug_assert_eq!(names.split(' ').count(), values.len(), "a value for each of {names}");
        let mut text = String::new();
        for (name, value) in names.split(' ').zip(values) {
            let before = if text.is_empty() { "" } else { "," };
            [before, name, "=\""].into_iter().for_each(|part| text.push_str(part));
            let written = write!(Escaped(&mut text), "{value}");
            debug_assert!(written.is_ok(), "a string takes everything");
            text.push('"');
        }
        Labels { names, text }
    }
}

/// The samples of one family.
#[derive(Debug)]
pub(super) struct Samples {
    name: &'static str,
    /// What the table says they are.
    labels: &'static str,
    /// Bytes before the first sample.
    head: usize,
    text: String,
}

impl Samples {
    /// None yet. `labels` is what the table says they have.
    pub(super) fn new(name: &'static str, labels: &'static str, head: String) -> Samples {
        Samples { name, labels, head: head.len(), text: head }
    }

    pub(super) fn put(&mut self, labels: &Labels, value: impl Display) {
        self.line("", labels, "", value);
    }

    /// The only sample of a family.
    pub(super) fn one(&mut self, value: impl Display) {
        self.put(&Labels::NONE, value);
    }

    /// The same, if there is one now.
    pub(super) fn maybe(&mut self, value: Option<impl Display>) {
        if let Some(value) = value {
            self.one(value);
        }
    }

    /// A summary: the value of each share, and how many observations there were.
    pub(super) fn summary(&mut self, labels: &Labels, count: u64, quantile: impl Fn(f64) -> f64) {
        let before = if labels.text.is_empty() { "" } else { "," };
        for (name, share) in SHARES {
            let one = format!("{before}quantile=\"{name}\"");
            self.line("", labels, &one, quantile(share));
        }
        self.line("_count", labels, "", count);
    }

    /// The summary of what `timers` have counted together.
    pub(super) fn timed<'a>(&mut self, timers: impl Iterator<Item = &'a Timer>) {
        let (mut counts, mut count) = (Counts::default(), 0);
        for timer in timers {
            timer.add_to(&mut counts);
            count += timer.count();
        }
        self.summary(&Labels::NONE, count, |share| counts.quantile_ms(share));
    }

    fn line(&mut self, suffix: &str, labels: &Labels, more: &str, value: impl Display) {
        debug_assert!(
            self.labels.starts_with(labels.names),
            "{} has labels that its line of the table does not say",
            self.name
        );
        let text = &mut self.text;
        let braces = if labels.text.is_empty() && more.is_empty() { ("", "") } else { ("{", "}") };
        for part in [self.name, suffix, braces.0, &labels.text, more, braces.1, " "] {
            text.push_str(part);
        }
        let written = writeln!(text, "{value}");
        debug_assert!(written.is_ok(), "a string takes everything");
    }

    /// The text; None where there is no sample.
    pub(super) fn end(self) -> Option<String> {
        (self.head < self.text.len()).then_some(self.text)
    }
}

/// A label's value may hold anything, but three characters in disguise.
struct Escaped<'a>(&'a mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        for letter in part.chars() {
            match letter {
                '\\' => self.0.push_str("\\\\"),
                '"' => self.0.push_str("\\\""),
                '\n' => self.0.push_str("\\n"),
                letter => self.0.push(letter),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(labels: &'static str) -> Samples {
        Samples::new("a", labels, "# TYPE a gauge\n".to_owned())
    }

    #[test]
    fn a_family_without_samples_is_left_out() {
        assert_eq!(samples("").end(), None);
    }

    #[test]
    fn values_of_labels_are_written_so_that_they_are_read_again() {
        let mut samples = samples("x y");
        samples.put(&Labels::of("x y", &[&"a\"\\\nb", &7]), 1);
        samples.put(&Labels::NONE, f64::NAN);
        let want = "# TYPE a gauge\na{x=\"a\\\"\\\\\\nb\",y=\"7\"} 1\na NaN\n";
        assert_eq!(samples.end().as_deref(), Some(want));
    }

    #[test]
    fn a_summary_has_each_share_and_a_count() {
        let mut samples = samples("x quantile");
        samples.summary(&Labels::of("x", &[&1]), 3, |share| share * 2.0);
        let text = samples.end().unwrap();
        assert!(text.contains("\na{x=\"1\",quantile=\"0.75\"} 1.5\n"), "{text}");
        assert!(text.ends_with("\na_count{x=\"1\"} 3\n"), "{text}");
    }
}
