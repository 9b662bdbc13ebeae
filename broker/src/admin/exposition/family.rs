//! A family of metrics, and how its samples are written in Prometheus' text format.

use super::scene::{Scene, Shot};
use std::fmt::{self, Display, Write};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Counter,
    Gauge,
    Summary,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Summary => "summary",
        }
    }
}

/// How a family is read.
#[derive(Clone, Copy)]
pub(super) enum Read {
    /// Also while the broker starts.
    Process(fn(&Scene, &mut Samples)),
    Broker(fn(&Shot, &mut Samples)),
}

/// A line of the table.
#[derive(Clone, Copy)]
pub(super) struct Family {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Names of labels, with spaces between them.
    pub(super) labels: &'static str,
    /// The MBean of Apache Kafka and its attribute; empty where it has none.
    pub(super) mbean: &'static str,
    /// One sentence.
    pub(super) help: &'static str,
    pub(super) read: Read,
}

impl Family {
    pub(super) fn begin(&self) -> Samples {
        let (name, kind) = (self.name, self.kind.name());
        let of = if self.mbean.is_empty() { String::new() } else { format!(" {}", self.mbean) };
        let text = format!("# HELP {name} {}{of}\n# TYPE {name} {kind}\n", self.help);
        Samples { name, labels: self.labels, head: text.len(), text }
    }
}

/// Labels and their values.
pub(super) type Labels<'a> = &'a [(&'static str, &'a dyn Display)];

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
    pub(super) fn put(&mut self, labels: Labels<'_>, value: impl Display) {
        self.line("", labels, value);
    }

    /// One quantile of a summary.
    pub(super) fn quantile(&mut self, labels: Labels<'_>, share: &str, value: f64) {
        let all: Vec<_> = labels.iter().copied().chain([("quantile", &share as _)]).collect();
        self.line("", &all, value);
    }

    /// How many observations a summary has.
    pub(super) fn count(&mut self, labels: Labels<'_>, value: u64) {
        self.line("_count", labels, value);
    }

    fn line(&mut self, suffix: &str, labels: Labels<'_>, value: impl Display) {
        let mut known = self.labels.split(' ').map(|label| label.trim_end_matches('?'));
        debug_assert!(
            labels.iter().all(|(label, _)| known.any(|known| known == *label)),
            "{} has labels that its line of the table does not say",
            self.name
        );
        let written = write_line(&mut self.text, (self.name, suffix), labels, value);
        debug_assert!(written.is_ok(), "a string takes everything");
    }

    /// The text; None where there is no sample.
    pub(super) fn end(self) -> Option<String> {
        (self.head < self.text.len()).then_some(self.text)
    }
}

fn write_line(
    text: &mut String,
    (name, suffix): (&str, &str),
    labels: Labels<'_>,
    value: impl Display,
) -> fmt::Result {
    write!(text, "{name}{suffix}")?;
    for (at, (label, value)) in labels.iter().enumerate() {
        let before = if at == 0 { '{' } else { ',' };
        write!(text, "{before}{label}=\"")?;
        write!(Escaped(text), "{value}")?;
        text.push('"');
    }
    if !labels.is_empty() {
        text.push('}');
    }
    writeln!(text, " {value}")
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

    const FAMILY: Family = Family {
        name: "a_total",
        kind: Kind::Counter,
        labels: "x y quantile",
        mbean: "",
        help: "What.",
        read: Read::Process(|_, _| {}),
    };

    #[test]
    fn a_family_without_samples_is_left_out() {
        assert_eq!(FAMILY.begin().end(), None);
    }

    #[test]
    fn values_of_labels_are_written_so_that_they_are_read_again() {
        let mut samples = FAMILY.begin();
        samples.put(&[("x", &"a\"\\\nb"), ("y", &7)], 1);
        samples.put(&[], f64::NAN);
        samples.quantile(&[], "0.5", 0.25);
        samples.count(&[], 3);
        let want = "# HELP a_total What.\n# TYPE a_total counter\n\
                    a_total{x=\"a\\\"\\\\\\nb\",y=\"7\"} 1\na_total NaN\n\
                    a_total{quantile=\"0.5\"} 0.25\na_total_count 3\n";
        assert_eq!(samples.end().as_deref(), Some(want));
    }
}
