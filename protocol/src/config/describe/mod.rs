//! What DescribeConfigs answers: each key's value in force, and every place that speaks of it.

use super::key::{Key, Scope};
use super::typed::{Kind, items};
use super::{BROKER, GROUP, TOPIC, find};
use std::collections::BTreeMap;

/// Names and their values, as they were written.
pub type Settings = BTreeMap<String, String>;

/// Where a value comes from, as DescribeConfigs numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i8)]
pub enum Source {
    Topic = 1,
    DynamicBroker = 2,
    DynamicDefaultBroker = 3,
    StaticBroker = 4,
    Default = 5,
    Group = 8,
}

impl Source {
    /// The number on the wire.
    pub const fn code(self) -> i8 {
        self as i8
    }
}

/// What a broker is told, the nearest first: for it alone, for all brokers, at its start.
#[derive(Clone, Copy, Debug)]
pub struct Layers<'a> {
    pub dynamic_broker: &'a Settings,
    pub dynamic_default: &'a Settings,
    pub fixed: &'a Settings,
}

impl<'a> Layers<'a> {
    fn each(self) -> [(Source, &'a Settings); 3] {
        [
            (Source::DynamicBroker, self.dynamic_broker),
            (Source::DynamicDefaultBroker, self.dynamic_default),
            (Source::StaticBroker, self.fixed),
        ]
    }

    /// The nearest setting of exactly this name; no synonym, no default.
    pub fn get(self, name: &str) -> Option<&'a str> {
        self.each().into_iter().find_map(|(_, layer)| layer.get(name)).map(String::as_str)
    }
}

/// One line of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    /// None for null, and for what must not be shown.
    pub value: Option<String>,
    pub source: Source,
    pub read_only: bool,
    pub is_sensitive: bool,
    pub synonyms: Vec<Synonym>,
    /// None for a name that no table has.
    pub kind: Option<Kind>,
    pub doc: &'static str,
}

impl Entry {
    /// Whether nobody said anything.
    pub fn is_default(&self) -> bool {
        self.source == Source::Default
    }
}

/// A place that speaks of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synonym {
    pub name: String,
    pub value: Option<String>,
    pub source: Source,
}

/// A topic with these overrides, on a broker that is told `layers`.
pub fn topic(overrides: &Settings, layers: Layers<'_>) -> Vec<Entry> {
    let own = |name: &str| overrides.get(name).map(String::as_str);
    let entry = |key: &'static Key| {
        let value = key.text_over(&own, &|name| layers.get(name));
        let inherited = key.synonyms.first().map(|(name, _)| *name);
        let inherited =
            inherited.into_iter().flat_map(|name| heard(name, layers, key.is_sensitive()));
        shown(
            key,
            value,
            said(key, overrides, Source::Topic).into_iter().chain(inherited).collect(),
        )
    };
    let foreign = overrides.keys().filter(|name| find(TOPIC, name).is_none());
    let foreign = foreign.map(|name| unknown(name, Source::Topic, false));
    by_name(told(TOPIC, overrides).map(entry).chain(foreign))
}

/// A group with these overrides, on a broker that is told `layers`.
pub fn group(overrides: &Settings, layers: Layers<'_>) -> Vec<Entry> {
    let entry = |key: &'static Key| {
        let same = format!("group.{}", key.name);
        let name = key.synonyms.first().map_or(same.as_str(), |(name, _)| *name);
        let broker = find(BROKER, name);
        let inherited = broker.and_then(|broker| layers.get(broker.name).or(broker.default));
        // Of the brokers' list a group takes the first.
        let first = |text| items(text).next().filter(|_| key.kind == Kind::String).unwrap_or(text);
        let inherited = inherited.or(key.default).map(first);
        let value = overrides.get(key.name).map(String::as_str).or(inherited);
        let mut synonyms: Vec<Synonym> = said(key, overrides, Source::Group).into_iter().collect();
        match (broker, key.default) {
            (Some(broker), _) => synonyms.extend(spoken(vec![broker.name], layers, false)),
            (None, Some(default)) => {
                let (name, value) = (key.name.to_owned(), Some(default.to_owned()));
                synonyms.push(Synonym { name, value, source: Source::Default });
            }
            (None, None) => {}
        }
        shown(key, value.map(str::to_owned), synonyms)
    };
    by_name(told(GROUP, overrides).map(entry))
}

fn by_name(entries: impl Iterator<Item = Entry>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = entries.collect();
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    entries
}

/// One broker.
pub fn broker(layers: Layers<'_>) -> Vec<Entry> {
    let declared = public(BROKER).filter(|key| key.scope != Scope::DynamicOnly).map(|key| key.name);
    let mut names: Vec<&str> = declared.collect();
    for (_, layer) in layers.each() {
        names.extend(layer.keys().map(String::as_str));
    }
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| broker_entry(name, layers)).collect()
}

/// What all brokers are told while they run.
pub fn broker_default(dynamic_default: &Settings) -> Vec<Entry> {
    let none = Settings::new();
    let layers = Layers { dynamic_broker: &none, dynamic_default, fixed: &none };
    let entry = |name: &String| {
        let mut entry = broker_entry(name, layers);
        entry.synonyms.retain(|synonym| synonym.source == Source::DynamicDefaultBroker);
        entry
    };
    dynamic_default.keys().map(entry).collect()
}

fn broker_entry(name: &str, layers: Layers<'_>) -> Entry {
    let Some(key) = find(BROKER, name) else {
        let source = layers.each().into_iter().find(|(_, layer)| layer.contains_key(name));
        return unknown(name, source.map_or(Source::Default, |(source, _)| source), true);
    };
    let hidden = key.is_sensitive();
    if key.name != name {
        let mut synonyms: Vec<_> = spoken(vec![name, key.name], layers, hidden).collect();
        let changes = |it: &Synonym| it.source < Source::StaticBroker;
        synonyms.retain(|it| it.name == name || !changes(it));
        let entry = shown(key, layers.get(name).map(str::to_owned), synonyms);
        return Entry { name: name.to_owned(), read_only: true, ..entry };
    }
    // A finer unit that is set while the broker runs puts the coarser ones back to their defaults.
    let is_replaced = finer(key).any(|finer| {
        layers.dynamic_broker.contains_key(finer) || layers.dynamic_default.contains_key(finer)
    });
    let value = layers.get(name).filter(|_| !is_replaced).or(key.default).map(str::to_owned);
    let entry = shown(key, value, heard(name, layers, hidden).collect());
    Entry { read_only: key.scope == Scope::ReadOnly, ..entry }
}

/// Those who speak when `name` is asked for, itself the first: all of its own synonyms, or of a
/// key that has it for a synonym, those behind it.
fn chain(name: &str) -> Vec<&'static str> {
    let chains = public(BROKER).filter(|key| !key.synonyms_are_hidden && !key.synonyms.is_empty());
    let members =
        |key: &'static Key| [key.name].into_iter().chain(key.synonyms.iter().map(|it| it.0));
    for key in chains {
        let behind: Vec<_> = members(key).skip_while(|it| *it != name).collect();
        if !behind.is_empty() {
            return behind;
        }
    }
    find(BROKER, name).map(|key| key.name).into_iter().collect()
}

/// The keys that are asked before this one.
fn finer(key: &Key) -> impl Iterator<Item = &'static str> {
    let name = key.name;
    let chains = public(BROKER).filter(|key| !key.synonyms_are_hidden);
    chains.filter(move |it| it.synonyms.iter().any(|it| it.0 == name)).map(|key| key.name)
}

fn public(tables: &'static [&'static [Key]]) -> impl Iterator<Item = &'static Key> {
    tables.iter().copied().flatten().filter(|key| !key.internal)
}

/// The keys that are shown of a resource: an internal one only where it is set.
fn told(
    tables: &'static [&'static [Key]],
    overrides: &Settings,
) -> impl Iterator<Item = &'static Key> {
    let all = tables.iter().copied().flatten();
    all.filter(|key| !key.internal || overrides.contains_key(key.name))
}

/// A declared key. Where it comes from is where the nearest of those who speak stands.
fn shown(key: &'static Key, value: Option<String>, synonyms: Vec<Synonym>) -> Entry {
    Entry {
        name: key.name.to_owned(),
        value: value.filter(|_| !key.is_sensitive()).map(|text| key.canonical(&text)),
        source: synonyms.first().map_or(Source::Default, |synonym| synonym.source),
        read_only: false,
        is_sensitive: key.is_sensitive(),
        synonyms,
        kind: Some(key.kind),
        doc: key.doc.trim_ascii(),
    }
}

/// A name of which nothing is known: it might be a secret.
fn unknown(name: &str, source: Source, read_only: bool) -> Entry {
    let own = Synonym { name: name.to_owned(), value: None, source };
    Entry {
        name: name.to_owned(),
        value: None,
        source,
        read_only,
        is_sensitive: true,
        synonyms: vec![own],
        kind: None,
        doc: "",
    }
}

/// What the resource itself says.
fn said(key: &Key, overrides: &Settings, source: Source) -> Option<Synonym> {
    let value = overrides.get(key.name).map(|text| key.canonical(text))?;
    Some(Synonym { name: key.name.to_owned(), value: Some(value), source })
}

/// Those who speak when `name` is asked for, as Kafka tells it: nobody before the first who says it
/// under that very name, be it a default.
fn heard(name: &str, layers: Layers<'_>, hidden: bool) -> impl Iterator<Item = Synonym> {
    spoken(chain(name), layers, hidden).skip_while(move |it| it.name != name)
}

/// What the broker's layers say under `names`, and after them the defaults.
fn spoken(names: Vec<&str>, layers: Layers<'_>, hidden: bool) -> impl Iterator<Item = Synonym> {
    let mut spoken = Vec::new();
    for (source, layer) in layers.each() {
        let set = names.iter().filter_map(|name| Some((*name, layer.get(*name)?.clone())));
        spoken.extend(set.map(|(name, value)| (name.to_owned(), value, source)));
    }
    for name in names {
        let key = find(BROKER, name).filter(|key| key.name == name);
        // What never stands in a file has no default that anyone is told.
        let default = key.filter(|key| key.scope != Scope::DynamicOnly).and_then(|key| key.default);
        let default = default.map(|text| (name.to_owned(), text.to_owned(), Source::Default));
        spoken.extend(default);
    }
    spoken.into_iter().map(move |(name, value, source)| Synonym {
        name,
        value: (!hidden).then_some(value),
        source,
    })
}

#[cfg(test)]
mod tests;
