//! What DescribeConfigs answers: each key's value in force, and every place that speaks of it.

use super::key::{Key, Scope};
use super::typed::Kind;
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
        let names = key.synonyms.iter().map(|(name, _)| *name);
        let inherited = spoken(names, layers, key.is_sensitive());
        shown(key, value, said(key.name, overrides, Source::Topic).chain(inherited).collect())
    };
    let foreign = overrides.iter().filter(|(name, _)| find(TOPIC, name).is_none());
    public(TOPIC)
        .map(entry)
        .chain(foreign.map(|(name, _)| unknown(name, Source::Topic, false)))
        .collect()
}

/// A group with these overrides, on a broker that is told `layers`.
pub fn group(overrides: &Settings, layers: Layers<'_>) -> Vec<Entry> {
    let entry = |key: &'static Key| {
        let broker = find(BROKER, &format!("group.{}", key.name));
        let inherited = || broker.and_then(|broker| layers.get(broker.name));
        let value = overrides.get(key.name).map(String::as_str).or_else(inherited).or(key.default);
        let synonyms = said(key.name, overrides, Source::Group)
            .chain(spoken(broker.iter().map(|key| key.name), layers, false))
            .collect();
        shown(key, value.map(str::to_owned), synonyms)
    };
    public(GROUP).map(entry).collect()
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
    let internal = |name: &str| find(BROKER, name).is_some_and(|key| key.internal);
    names.retain(|name| !internal(name) || layers.get(name).is_some());
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
    let Some(key) = find(BROKER, name).filter(|key| key.scope != Scope::DynamicOnly) else {
        let source = layers.each().into_iter().find(|(_, layer)| layer.contains_key(name));
        return unknown(name, source.map_or(Source::Default, |(source, _)| source), true);
    };
    let plain = key.name == name;
    let value = layers.get(name).or(key.default.filter(|_| plain)).map(str::to_owned);
    let names: Vec<&str> = match head_of_chain(key).filter(|_| plain) {
        // Each of a chain lists them all, in the order in which they are asked.
        Some(head) => [head.name].into_iter().chain(head.synonyms.iter().map(|it| it.0)).collect(),
        None if plain => vec![name],
        None => vec![name, key.name],
    };
    let synonyms = spoken(names.into_iter(), layers, key.is_sensitive()).collect();
    let entry = shown(key, value, synonyms);
    Entry { name: name.to_owned(), read_only: !plain || key.scope == Scope::ReadOnly, ..entry }
}

/// The key that asks `key` when it is silent, or `key` itself if it asks others. Only keys that
/// change while the broker runs have such company in DescribeConfigs.
fn head_of_chain(key: &Key) -> Option<&'static Key> {
    let heads = public(BROKER).filter(|it| it.scope != Scope::ReadOnly && !it.synonyms.is_empty());
    // A synonym in the same unit is only asked, it does not ask back.
    let asks = |it: &Key| it.synonyms.iter().any(|(name, units)| *units != 1 && *name == key.name);
    heads.into_iter().find(|it| it.name == key.name || asks(it))
}

fn public(tables: &'static [&'static [Key]]) -> impl Iterator<Item = &'static Key> {
    tables.iter().copied().flatten().filter(|key| !key.internal)
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
fn said(name: &str, overrides: &Settings, source: Source) -> impl Iterator<Item = Synonym> {
    let value = overrides.get(name).cloned();
    let name = name.to_owned();
    value.map(|value| Synonym { name, value: Some(value), source }).into_iter()
}

/// What the broker's layers say under `names`, and after them the defaults.
fn spoken<'a>(
    names: impl Iterator<Item = &'a str>,
    layers: Layers<'a>,
    hidden: bool,
) -> impl Iterator<Item = Synonym> {
    let names: Vec<&str> = names.collect();
    let default = |name: &str| find(BROKER, name).filter(|key| key.name == name)?.default;
    let mut spoken = Vec::new();
    for (source, layer) in layers.each() {
        let set = names.iter().filter_map(|name| Some((*name, layer.get(*name)?.as_str())));
        spoken.extend(set.map(|(name, value)| (name, value, source)));
    }
    let defaults = names.iter().filter_map(|name| Some((*name, default(name)?, Source::Default)));
    spoken.extend(defaults);
    spoken.into_iter().map(move |(name, value, source)| {
        let value = (!hidden).then(|| value.to_owned());
        Synonym { name: name.to_owned(), value, source }
    })
}

#[cfg(test)]
mod tests;
