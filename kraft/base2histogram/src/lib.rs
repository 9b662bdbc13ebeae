//! The part of `base2histogram` that openraft names, which counts samples and keeps none.

use std::fmt;
use std::marker::PhantomData;

/// How many samples there were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram<T = ()> {
    samples: u64,
    slot: PhantomData<T>,
}

impl<T> Default for Histogram<T> {
    fn default() -> Histogram<T> {
        Histogram::new()
    }
}

impl<T> Histogram<T> {
    pub fn new() -> Histogram<T> {
        Histogram { samples: 0, slot: PhantomData }
    }

    pub fn record(&mut self, value: u64) {
        self.record_n(value, 1);
    }

    pub fn record_n(&mut self, _value: u64, count: u64) {
        self.samples += count;
    }

    pub fn total(&self) -> u64 {
        self.samples
    }

    /// All percentiles are 0: the values were not kept.
    pub fn percentile_stats(&self) -> PercentileStats {
        PercentileStats { samples: self.samples, ..PercentileStats::default() }
    }
}

/// The percentiles of a histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PercentileStats {
    pub samples: u64,
    pub p0_1: u64,
    pub p1: u64,
    pub p5: u64,
    pub p10: u64,
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub p99_9: u64,
}

impl fmt::Display for PercentileStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[samples: {}]", self.samples)
    }
}

/// The names of histograms and how many samples each has.
#[derive(Clone, Debug, Default)]
pub struct AsciiChart(Vec<(&'static str, u64)>);

impl AsciiChart {
    pub fn new() -> AsciiChart {
        AsciiChart::default()
    }

    #[must_use]
    pub fn add(mut self, name: &'static str, histogram: Histogram) -> AsciiChart {
        self.0.push((name, histogram.total()));
        self
    }
}

impl fmt::Display for AsciiChart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(name, samples)| writeln!(f, "{name}: {samples}"))
    }
}
