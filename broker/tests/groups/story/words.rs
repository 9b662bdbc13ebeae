//! The words of a command: plain ones, and `key=value`.

use std::fmt::Debug;
use std::str::FromStr;

#[derive(Clone, Debug)]
pub(crate) struct Words<'a>(Vec<&'a str>);

impl<'a> Words<'a> {
    pub(crate) fn of(line: &'a str) -> Words<'a> {
        Words(line.split_whitespace().collect())
    }

    pub(crate) fn plain(&self, at: usize) -> &'a str {
        self.0.get(at).copied().unwrap_or_else(|| panic!("a word is missing from {:?}", self.0))
    }

    /// The words from `at` on.
    pub(crate) fn plain_from(&self, at: usize) -> impl Iterator<Item = &'a str> {
        self.0.iter().skip(at).copied()
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'a str> {
        self.0.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    }

    pub(crate) fn number_or<N: FromStr<Err: Debug>>(&self, key: &str, other: N) -> N {
        self.get(key).map_or(other, |text| text.parse().unwrap())
    }

    /// The parts of `key=a,b`; none without the key.
    pub(crate) fn list(&self, key: &str) -> Vec<&'a str> {
        self.get(key).into_iter().flat_map(|text| text.split(',')).collect()
    }

    /// Words whose key has a dot: configs.
    pub(crate) fn configs(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let pairs = self.0.iter().filter_map(|word| word.split_once('='));
        pairs.filter(|(key, _)| key.contains('.'))
    }
}
