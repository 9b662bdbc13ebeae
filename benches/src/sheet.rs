//! What has been measured in this sitting, and what failed.

use crate::Outcome;
use crate::figures::FIGURES;
use crate::machine::{Spent, cores};
use crate::options::System;
use std::collections::BTreeMap;

/// Named values of one step.
pub(crate) type Values = Vec<(&'static str, f64)>;

#[derive(Debug, Default)]
pub(crate) struct Sheet {
    rows: Vec<String>,
    values: BTreeMap<(&'static str, &'static str, System), Vec<f64>>,
    failures: Vec<String>,
    others_cpu_seconds: f64,
    core_seconds: f64,
}

impl Sheet {
    pub(crate) fn new(rows: &[String]) -> Sheet {
        Sheet { rows: rows.to_vec(), ..Sheet::default() }
    }

    /// Whether the operator asked for that step.
    pub(crate) fn wants(&self, step: &str) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|row| step.starts_with(row.as_str()))
    }

    pub(crate) fn wants_any(&self, prefix: &str) -> bool {
        FIGURES.iter().any(|figure| figure.step.starts_with(prefix) && self.wants(figure.step))
    }

    /// Measures a step, if it is wanted. A failure is noted, and the next step is tried.
    pub(crate) fn step(
        &mut self,
        system: System,
        step: &'static str,
        measure: impl FnOnce(&mut Sheet) -> Outcome<Values>,
    ) {
        if !self.wants(step) {
            return;
        }
        match measure(self) {
            Ok(values) => {
                let said: Vec<String> =
                    values.iter().map(|(what, value)| format!("{what} {value:.3}")).collect();
                eprintln!("{} {step}: {}", system.name(), said.join(", "));
                for (what, value) in values {
                    self.values.entry((step, what, system)).or_default().push(value);
                }
            }
            Err(error) => self.fail(&format!("{} {step}: {error}", system.name())),
        }
    }

    pub(crate) fn fail(&mut self, what: &str) {
        eprintln!("failed: {what}");
        self.failures.push(what.to_owned());
    }

    /// Notes how busy others kept the machine.
    pub(crate) fn note(&mut self, spent: Spent) {
        self.others_cpu_seconds += spent.others;
        self.core_seconds += spent.seconds * cores();
    }

    /// Part of the machine that neither broker nor driver used while CPU was measured, if it was.
    pub(crate) fn others(&self) -> Option<f64> {
        (0.0 < self.core_seconds).then(|| self.others_cpu_seconds / self.core_seconds)
    }

    pub(crate) fn values(&self, step: &str, what: &str, system: System) -> &[f64] {
        let found = self
            .values
            .iter()
            .find(|((of, name, whose), _)| *of == step && *name == what && *whose == system);
        found.map_or(&[], |(_, values)| values)
    }

    /// The median of what was measured.
    pub(crate) fn median(&self, step: &str, what: &str, system: System) -> Option<f64> {
        let mut values = self.values(step, what, system).to_vec();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    }

    pub(crate) fn failures(&self) -> &[String] {
        &self.failures
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_fails_leaves_no_value_and_is_said() {
        let mut sheet = Sheet::new(&["produce".to_owned()]);
        sheet.step(System::Kafka, "produce_60k", |_| Ok(vec![("cpu", 2.0)]));
        sheet.step(System::Kafka, "produce_60k", |_| Ok(vec![("cpu", 4.0)]));
        sheet.step(System::Kafka, "produce_60k", |_| Ok(vec![("cpu", 3.0)]));
        sheet.step(System::Highwater, "produce_60k", |_| Err("gone".into()));
        sheet.step(System::Kafka, "fetch_1m", |_| Err("not asked for".into()));
        assert_eq!(sheet.median("produce_60k", "cpu", System::Kafka), Some(3.0));
        assert_eq!(sheet.median("produce_60k", "cpu", System::Highwater), None);
        assert_eq!(sheet.failures(), ["highwater produce_60k: gone"]);
    }
}
