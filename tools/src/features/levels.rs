//! What the levels of features are called, and what a release sets them to.

use crate::failure::Failure;
use protocol::features::{METADATA_VERSION, metadata_version_level, metadata_version_name};

/// The order in which Kafka's tool has them behind `metadata.version`.
pub(super) const MAPPED: [&str; 6] = [
    "kraft.version",
    "transaction.version",
    "group.version",
    "eligible.leader.replicas.version",
    "share.version",
    "streams.version",
];

/// A level as people call it.
pub(super) fn level_text(feature: &str, level: i16) -> String {
    if feature != METADATA_VERSION.name {
        return level.to_string();
    }
    metadata_version_name(level).map_or_else(|| format!("UNKNOWN [{level}]"), str::to_owned)
}

/// What a release sets each feature to, by the level of its `metadata.version`.
pub(super) fn level_of(feature: &str, metadata: i16) -> i16 {
    // The release from which on a level is the default: KIP-853, 890, 848, 966, 932 and 1071.
    let steps: &[(&str, i16)] = match feature {
        "kraft.version" => &[("3.9-IV0", 1)],
        "transaction.version" => &[("4.0-IV2", 2)],
        "group.version" => &[("4.0-IV0", 1)],
        "eligible.leader.replicas.version" => &[("4.1-IV0", 1)],
        "share.version" => &[("4.2-IV0", 1), ("4.4-IV0", 2)],
        "streams.version" => &[("4.2-IV0", 1)],
        _ => &[],
    };
    let passed = steps
        .iter()
        .rev()
        .find(|(release, _)| metadata_version_level(release).is_some_and(|from| from <= metadata));
    passed.map_or(0, |(_, level)| *level)
}

pub(super) fn release(text: &str) -> Result<i16, Failure> {
    metadata_version_level(text).ok_or_else(|| {
        let known = (METADATA_VERSION.min..=METADATA_VERSION.max).filter_map(metadata_version_name);
        Failure::Told(format!(
            "Unknown release version '{text}'. Supported versions are: {}",
            known.collect::<Vec<_>>().join(", ")
        ))
    })
}

/// `name=level`.
pub(super) fn name_and_level(text: &str) -> Result<(&str, i16), Failure> {
    let Some((name, level)) = text.split_once('=') else {
        return Err(Failure::Told(format!(
            "Can't parse feature=level string {text}: equals sign not found."
        )));
    };
    let (name, level) = (name.trim(), level.trim());
    level.parse().map(|level| (name, level)).map_err(|_| {
        Failure::Told(format!(
            "Can't parse feature=level string {text}: unable to parse {level} as a short."
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_has_its_levels() {
        let of = |release: &str| {
            let level = metadata_version_level(release).unwrap();
            MAPPED.map(|feature| level_of(feature, level))
        };
        assert_eq!(of("3.8"), [0; 6]);
        assert_eq!(of("4.0"), [1, 2, 1, 0, 0, 0]);
        assert_eq!(of("4.1"), [1, 2, 1, 1, 0, 0]);
        assert_eq!(of("4.4"), [1, 2, 1, 1, 2, 1]);
        assert_eq!(protocol::features::FEATURES.len(), MAPPED.len() + 1);
        assert!(release("9.9").is_err());
    }

    #[test]
    fn levels_are_read_and_told() {
        assert_eq!(name_and_level("a = 3"), Ok(("a", 3)));
        assert!(name_and_level("a").is_err() && name_and_level("a=b").is_err());
        assert_eq!(level_text("metadata.version", 7), "3.3-IV3");
        assert_eq!(level_text("group.version", 7), "7");
    }
}
