//! What clients say their software is, of the connections that are open.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Who says nothing, or too much.
const UNKNOWN: &str = "unknown";
/// Bytes of a name, and names of a listener at a time: clients may say anything, and each name is
/// a line of every page.
const NAME_BYTES_MAX: usize = 64;
const NAMES_MAX: usize = 100;

/// A software and its version.
type Named = (String, String);

/// Open connections of a listener, by their software; how many say nothing is always told.
#[derive(Debug)]
pub struct Software(Mutex<BTreeMap<Named, u64>>);

impl Default for Software {
    fn default() -> Software {
        Software(Mutex::new(BTreeMap::from([(unknown(), 0)])))
    }
}

impl Software {
    /// Each software that is connected, and how many connections it has.
    pub fn all(&self) -> Vec<(Named, u64)> {
        self.0.lock().iter().map(|(named, count)| (named.clone(), *count)).collect()
    }

    /// One more of that name, or of none where there are too many; says under which it counts.
    fn enter(&self, named: Named) -> Named {
        let mut all = self.0.lock();
        let is_known = all.contains_key(&named) || all.len() < NAMES_MAX;
        let named = if is_known { named } else { unknown() };
        *all.entry(named.clone()).or_default() += 1;
        named
    }

    fn leave(&self, named: &Named) {
        let mut all = self.0.lock();
        if let Some(count) = all.get_mut(named) {
            *count -= 1;
            if *count == 0 && *named != unknown() {
                all.remove(named);
            }
        }
    }
}

fn unknown() -> Named {
    (UNKNOWN.to_owned(), UNKNOWN.to_owned())
}

/// The software of one connection; counted until its drop.
#[derive(Debug)]
pub struct Said {
    of: Arc<Software>,
    named: Mutex<Named>,
}

impl Said {
    /// Nothing is said yet.
    pub fn nothing(of: &Arc<Software>) -> Said {
        Said { of: Arc::clone(of), named: Mutex::new(of.enter(unknown())) }
    }

    /// What its client says it is.
    pub fn says(&self, name: &str, version: &str) {
        let is_short = name.len().max(version.len()) <= NAME_BYTES_MAX;
        let next = if is_short { (name.to_owned(), version.to_owned()) } else { unknown() };
        let mut named = self.named.lock();
        self.of.leave(&named);
        *named = self.of.enter(next);
    }
}

impl Default for Said {
    /// Of a listener that nobody looks at.
    fn default() -> Said {
        Said::nothing(&Arc::default())
    }
}

impl Drop for Said {
    fn drop(&mut self) {
        self.of.leave(&self.named.lock());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(software: &Software) -> Vec<(String, u64)> {
        let named = |((name, version), count)| (format!("{name} {version}"), count);
        software.all().into_iter().map(named).collect()
    }

    #[test]
    fn each_connection_counts_once_under_what_it_said_last() {
        let software = Arc::default();
        let (one, other) = (Said::nothing(&software), Said::nothing(&software));
        one.says("librdkafka", "2.0");
        one.says("librdkafka", "2.1");
        let all = |all: &[(&str, u64)]| -> Vec<_> {
            all.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
        };
        assert_eq!(told(&software), all(&[("librdkafka 2.1", 1), ("unknown unknown", 1)]));
        other.says(&"x".repeat(65), "1");
        drop(one);
        assert_eq!(told(&software), all(&[("unknown unknown", 1)]));
        drop(other);
        assert_eq!(told(&software), all(&[("unknown unknown", 0)]));
    }

    #[test]
    fn there_are_no_more_names_than_a_page_bears() {
        let software = Arc::default();
        let many: Vec<_> = (0..2 * NAMES_MAX).map(|_| Said::nothing(&software)).collect();
        for (number, said) in many.iter().enumerate() {
            said.says("x", &number.to_string());
        }
        assert!(software.all().len() <= NAMES_MAX);
        let sum: u64 = software.all().iter().map(|(_, count)| count).sum();
        assert_eq!(sum, many.len() as u64);
        drop(many);
        assert_eq!(software.all(), [(unknown(), 0)]);
    }
}
