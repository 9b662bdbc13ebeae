//! A family of metrics: a line of the table.

use super::samples::Samples;
use super::scene::{Scene, Shot};

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

/// See the module.
#[derive(Clone, Copy)]
pub(super) struct Family {
    /// Most often one. With spaces between them: it stands under each.
    names: &'static str,
    pub(super) kind: Kind,
    /// Their names, with spaces between them.
    pub(super) labels: &'static str,
    /// The MBean of Apache Kafka and its attribute; empty where it has none.
    pub(super) mbean: &'static str,
    /// One sentence.
    pub(super) help: &'static str,
    pub(super) read: Read,
}

type OfBroker = fn(&Shot, &mut Samples);

pub(super) const fn gauge(
    names: &'static str,
    labels: &'static str,
    mbean: &'static str,
    help: &'static str,
    read: OfBroker,
) -> Family {
    Family { names, kind: Kind::Gauge, labels, mbean, help, read: Read::Broker(read) }
}

pub(super) const fn counter(
    names: &'static str,
    labels: &'static str,
    mbean: &'static str,
    help: &'static str,
    read: OfBroker,
) -> Family {
    Family { kind: Kind::Counter, ..gauge(names, labels, mbean, help, read) }
}

pub(super) const fn summary(
    names: &'static str,
    labels: &'static str,
    mbean: &'static str,
    help: &'static str,
    read: OfBroker,
) -> Family {
    Family { kind: Kind::Summary, ..gauge(names, labels, mbean, help, read) }
}

/// What there is while the broker starts, too.
pub(super) const fn of_process(
    names: &'static str,
    kind: Kind,
    mbean: &'static str,
    help: &'static str,
    read: fn(&Scene, &mut Samples),
) -> Family {
    Family { names, kind, labels: "", mbean, help, read: Read::Process(read) }
}

impl Family {
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.split(' ')
    }

    /// Its samples under one of its names, before there is any.
    pub(super) fn begin(&self, name: &'static str) -> Samples {
        let kind = self.kind.name();
        let of = if self.mbean.is_empty() { String::new() } else { format!(" {}", self.mbean) };
        let head = format!("# HELP {name} {}{of}\n# TYPE {name} {kind}\n", self.help);
        Samples::new(name, self.labels, head)
    }
}
