//! How ids are told: members by their client and a number, topics by their names.

use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(crate) struct Names {
    short_by_full: BTreeMap<String, String>,
    /// Of the newest topic of each name.
    topics: BTreeMap<String, String>,
    /// How many ids each client was given.
    given: BTreeMap<String, usize>,
}

impl Names {
    pub(crate) fn member(&mut self, caller: &str, id: &str) {
        if !self.short_by_full.contains_key(id) {
            let number = self.given.entry(caller.to_owned()).or_default();
            *number += 1;
            self.short_by_full.insert(id.to_owned(), format!("{caller}{number}"));
        }
    }

    pub(crate) fn topic(&mut self, name: &str, id: &str) {
        self.short_by_full.insert(id.to_owned(), name.to_owned());
        self.topics.insert(name.to_owned(), id.to_owned());
    }

    /// The id that is told as `short`, or else that word itself.
    pub(crate) fn full(&self, short: &str) -> String {
        let member = || self.short_by_full.iter().find(|(_, told)| *told == short);
        let found = self.topics.get(short).or_else(|| member().map(|(full, _)| full));
        found.map_or(short, |full| full).to_owned()
    }

    pub(crate) fn short(&self, text: &str) -> String {
        // The longest first: an id may be the beginning of another.
        let mut names: Vec<_> = self.short_by_full.iter().collect();
        names.sort_by_key(|(full, _)| std::cmp::Reverse(full.len()));
        names.into_iter().fold(text.to_owned(), |text, (full, short)| text.replace(full, short))
    }
}
