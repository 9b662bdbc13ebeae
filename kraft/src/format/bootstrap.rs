//! The records that a new cluster begins with: the levels of its features.

use crate::record::{FeatureLevelRecord, Record};
use protocol::features::{
    self, ELIGIBLE_LEADER_REPLICAS_VERSION, FEATURES, GROUP_VERSION, METADATA_VERSION,
    SHARE_VERSION, STREAMS_VERSION, TRANSACTION_VERSION,
};
use std::collections::BTreeMap;

/// From which level of `metadata.version` on a new cluster has which level of another feature.
const SINCE: [(i16, &str, i16); 6] = [
    (22, GROUP_VERSION.name, 1),
    (24, TRANSACTION_VERSION.name, 2),
    (26, ELIGIBLE_LEADER_REPLICAS_VERSION.name, 1),
    (28, SHARE_VERSION.name, 1),
    (29, STREAMS_VERSION.name, 1),
    (31, SHARE_VERSION.name, 2),
];

/// The levels of a new cluster at a level of `metadata.version`, where `chosen` does not say
/// otherwise.
pub fn levels(metadata_version: i16, chosen: &BTreeMap<String, i16>) -> BTreeMap<String, i16> {
    let due = SINCE.iter().filter(|(since, ..)| *since <= metadata_version);
    let mut levels: BTreeMap<String, i16> =
        due.map(|(_, name, level)| ((*name).to_owned(), *level)).collect();
    levels.extend(chosen.iter().map(|(name, level)| (name.clone(), *level)));
    levels.insert(METADATA_VERSION.name.to_owned(), metadata_version);
    levels
}

/// The levels that the options of a format ask for; the error is a line for its user.
pub fn chosen(
    release: Option<&str>,
    features: &BTreeMap<String, i16>,
) -> Result<BTreeMap<String, i16>, String> {
    for (name, level) in features {
        let known = features::feature_named(name).ok_or_else(|| {
            let names: Vec<_> = FEATURES.iter().map(|feature| feature.name).collect();
            format!("Unsupported feature: {name}. Supported features are: {}", names.join(", "))
        })?;
        if !(known.min..=known.max).contains(level) {
            let (min, max) = (known.min, known.max);
            return Err(format!("{name} has the levels {min} to {max}, and not {level}."));
        }
    }
    let by_feature = features.get(METADATA_VERSION.name).copied();
    let by_release = release.map(|name| {
        features::metadata_version_level(name)
            .ok_or_else(|| format!("Unknown metadata.version '{name}'."))
    });
    let level = match (by_release.transpose()?, by_feature) {
        (Some(_), Some(_)) => {
            return Err("Use --release-version or --feature metadata.version, not both.".to_owned());
        }
        (by_release, by_feature) => by_release.or(by_feature).unwrap_or(METADATA_VERSION.max),
    };
    Ok(levels(level, features))
}

/// The levels as records: `metadata.version` first, then by name. What is off is not said, and
/// `kraft.version` is not said here.
pub fn records(levels: &BTreeMap<String, i16>) -> Vec<Record> {
    let rank = |name: &str| name != METADATA_VERSION.name;
    let mut levels: Vec<_> = levels
        .iter()
        .filter(|(name, level)| **level != 0 && name.as_str() != features::KRAFT_VERSION.name)
        .collect();
    levels.sort_by_key(|(name, _)| (rank(name), name.as_str()));
    let record = |(name, level): (&String, &i16)| {
        FeatureLevelRecord {
            name: name.clone(),
            feature_level: *level,
            ..FeatureLevelRecord::default()
        }
        .into()
    };
    levels.into_iter().map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(levels: &BTreeMap<String, i16>) -> String {
        let text = |record: &Record| {
            let Record::FeatureLevel(it) = record else { return record.kind().to_owned() };
            format!("{}={}", it.name, it.feature_level)
        };
        records(levels).iter().map(text).collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    fn check(release: Option<&str>, features: &[(&str, i16)], want: &str) {
        let features = features.iter().map(|(name, level)| ((*name).to_owned(), *level)).collect();
        let got = chosen(release, &features).map(|levels| texts(&levels));
        assert_eq!(got.unwrap_or_else(|error| error), want);
    }

    #[test]
    fn a_new_cluster_has_the_levels_of_its_release() {
        let all = "metadata.version=33 eligible.leader.replicas.version=1 group.version=1 \
                   share.version=2 streams.version=1 transaction.version=2";
        check(None, &[], all);
        check(Some("4.4"), &[], all);
        check(Some("3.9"), &[], "metadata.version=21");
        check(Some("4.0-IV1"), &[], "metadata.version=23 group.version=1");
        check(Some("4.0"), &[], "metadata.version=25 group.version=1 transaction.version=2");
        check(
            None,
            &[("metadata.version", 25), ("group.version", 0), ("kraft.version", 1)],
            "metadata.version=25 transaction.version=2",
        );
    }

    #[test]
    fn what_cannot_be_is_said() {
        check(Some("9.9"), &[], "Unknown metadata.version '9.9'.");
        check(None, &[("share.version", 3)], "share.version has the levels 0 to 2, and not 3.");
        check(
            Some("4.4"),
            &[("metadata.version", 25)],
            "Use --release-version or --feature metadata.version, not both.",
        );
        let unknown = chosen(None, &BTreeMap::from([("x.version".to_owned(), 1)])).unwrap_err();
        assert!(unknown.starts_with("Unsupported feature: x.version."), "{unknown}");
    }
}
