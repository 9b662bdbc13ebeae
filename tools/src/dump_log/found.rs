//! What is wrong with the files, told when all are read.

use std::collections::BTreeMap;
use std::path::Path;

/// The findings of each kind, by file.
#[derive(Debug, Default)]
pub(super) struct Found {
    mismatches: BTreeMap<String, Vec<(i64, i64)>>,
    time_mismatches: BTreeMap<String, Vec<(i64, i64)>>,
    out_of_order: BTreeMap<String, Vec<(i64, i64)>>,
    not_found: BTreeMap<String, Vec<(i64, i64)>>,
    gaps: BTreeMap<String, Vec<(i64, i64)>>,
}

impl Found {
    /// An index leads to a batch that ends elsewhere.
    pub(super) fn mismatch(&mut self, path: &Path, index: i64, log: i64) {
        note(&mut self.mismatches, path, index, log);
    }

    /// An index says another time than the batch it is about.
    pub(super) fn time_mismatch(&mut self, path: &Path, index: i64, log: i64) {
        note(&mut self.time_mismatches, path, index, log);
    }

    /// A time of an index is not above the one before.
    pub(super) fn out_of_order(&mut self, path: &Path, index: i64, before: i64) {
        note(&mut self.out_of_order, path, index, before);
    }

    /// No batch ends at an offset of an index; -1: nor behind it.
    pub(super) fn not_found(&mut self, path: &Path, index: i64, log: i64) {
        note(&mut self.not_found, path, index, log);
    }

    /// A record does not follow the one before.
    pub(super) fn gap(&mut self, path: &Path, before: i64, offset: i64) {
        note(&mut self.gaps, path, before, offset);
    }

    /// As Kafka's tool words them.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (file, pairs) in &self.mismatches {
            lines.push(format!("Mismatches in :{file}"));
            let pairs = pairs.iter().rev();
            lines.extend(pairs.map(|(a, b)| format!("  Index offset: {a}, log offset: {b}")));
        }
        for (file, pairs) in &self.time_mismatches {
            lines.push(format!("Found timestamp mismatch in :{file}"));
            let line = |(a, b): &_| format!("  Index timestamp: {a}, log timestamp: {b}");
            lines.extend(pairs.iter().map(line));
        }
        for (file, pairs) in &self.out_of_order {
            lines.push(format!("Found out of order timestamp in :{file}"));
            let line =
                |(a, b): &_| format!("  Index timestamp: {a}, Previously indexed timestamp: {b}");
            lines.extend(pairs.iter().map(line));
        }
        for pairs in self.not_found.values() {
            lines.push("The following indexed offsets are not found in the log.".to_owned());
            let line = |(a, b): &_| format!("Indexed offset: {a}, found log offset: {b}");
            lines.extend(pairs.iter().map(line));
        }
        for (file, pairs) in &self.gaps {
            lines.push(format!("Non-consecutive offsets in {file}"));
            lines.extend(pairs.iter().map(|(a, b)| format!("  {a} is followed by {b}")));
        }
        lines
    }
}

fn note(found: &mut BTreeMap<String, Vec<(i64, i64)>>, path: &Path, first: i64, second: i64) {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    found.entry(path.display().to_string()).or_default().push((first, second));
}
