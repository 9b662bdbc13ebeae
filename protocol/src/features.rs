//! The features of a cluster: names, levels, and what this broker serves of them.
//!
//! A level is written into the metadata log when a cluster is formatted, so that another program
//! that opens the log finds what it expects. ApiVersions finalises a feature only as far as
//! this broker serves it: clients change what they send by what is finalised.

/// A feature and its levels; 0 is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    pub name: &'static str,
    /// The lowest and the highest level of Apache Kafka 4.4, which the log may hold.
    pub min: i16,
    pub max: i16,
    /// Where the level stands in the metadata log: as a FeatureLevel record, or (`kraft.version`)
    /// in the quorum's own control records.
    pub is_feature_record: bool,
    /// The highest level that is served, hence the highest that is finalised to clients.
    pub served: i16,
}

impl Feature {
    /// The level to finalise to clients when the log holds `level`; `None`: not finalised at all.
    pub fn finalized(&self, level: i16) -> Option<i16> {
        Some(level.min(self.served)).filter(|level| *level > 0)
    }
}

const fn feature(name: &'static str, min: i16, max: i16, served: i16) -> Feature {
    Feature { name, min, max, is_feature_record: true, served }
}

/// The format of the metadata records, and what brokers say to each other.
pub const METADATA_VERSION: Feature = feature("metadata.version", 7, 33, 33);
/// Whether the voters stand in the log (1) or in the configuration (0).
pub const KRAFT_VERSION: Feature =
    Feature { is_feature_record: false, ..feature("kraft.version", 0, 1, 1) };
/// The consumer group protocol of KIP-848.
pub const GROUP_VERSION: Feature = feature("group.version", 0, 1, 1);
/// Transactions whose every end raises the epoch (2), of KIP-890.
pub const TRANSACTION_VERSION: Feature = feature("transaction.version", 0, 2, 0);
/// Replicas that may lead although they have left the ISR, of KIP-966.
pub const ELIGIBLE_LEADER_REPLICAS_VERSION: Feature =
    feature("eligible.leader.replicas.version", 0, 1, 0);
/// Share groups of KIP-932.
pub const SHARE_VERSION: Feature = feature("share.version", 0, 2, 0);
/// The streams group protocol of KIP-1071.
pub const STREAMS_VERSION: Feature = feature("streams.version", 0, 1, 0);

/// Every feature, in the order in which Apache Kafka 4.4 writes the records of a new cluster;
/// `kraft.version`, which is no such record, last.
pub const FEATURES: [Feature; 7] = [
    METADATA_VERSION,
    ELIGIBLE_LEADER_REPLICAS_VERSION,
    GROUP_VERSION,
    SHARE_VERSION,
    STREAMS_VERSION,
    TRANSACTION_VERSION,
    KRAFT_VERSION,
];

/// The feature of that name.
pub fn feature_named(name: &str) -> Option<&'static Feature> {
    FEATURES.iter().find(|feature| feature.name == name)
}

/// Kafka's releases, by the levels of `metadata.version` from 7 on.
const METADATA_VERSIONS: [&str; 27] = [
    "3.3-IV3", "3.4-IV0", "3.5-IV0", "3.5-IV1", "3.5-IV2", "3.6-IV0", "3.6-IV1", "3.6-IV2",
    "3.7-IV0", "3.7-IV1", "3.7-IV2", "3.7-IV3", "3.7-IV4", "3.8-IV0", "3.9-IV0", "4.0-IV0",
    "4.0-IV1", "4.0-IV2", "4.0-IV3", "4.1-IV0", "4.1-IV1", "4.2-IV0", "4.2-IV1", "4.3-IV0",
    "4.4-IV0", "4.4-IV1", "4.4-IV2",
];

/// What Kafka's tools call a level of `metadata.version`.
pub fn metadata_version_name(level: i16) -> Option<&'static str> {
    let at = usize::try_from(level.checked_sub(METADATA_VERSION.min)?).ok()?;
    METADATA_VERSIONS.get(at).copied()
}

/// The level of `metadata.version` that has that name, or that is the last of a release (`4.4`).
pub fn metadata_version_level(name: &str) -> Option<i16> {
    let is_it = |known: &str| {
        known == name || known.split_once("-IV").is_some_and(|(release, _)| release == name)
    };
    let at = METADATA_VERSIONS.iter().rposition(|known| is_it(known))?;
    i16::try_from(at).ok().map(|at| at + METADATA_VERSION.min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_metadata_versions_are_their_levels() {
        for level in METADATA_VERSION.min..=METADATA_VERSION.max {
            let name = metadata_version_name(level).unwrap();
            assert_eq!(metadata_version_level(name), Some(level));
        }
        assert_eq!([6, 34, i16::MIN + 7].map(metadata_version_name), [None; 3]);
        assert_eq!(metadata_version_level("4.0"), Some(25));
        assert_eq!(metadata_version_level("4.4"), Some(33));
        assert_eq!(metadata_version_level("5.0"), None);
    }

    #[test]
    fn nothing_is_finalised_that_is_not_served() {
        assert_eq!(METADATA_VERSION.finalized(33), Some(33));
        assert_eq!(METADATA_VERSION.finalized(20), Some(20));
        assert_eq!(TRANSACTION_VERSION.finalized(2), None);
        assert_eq!(KRAFT_VERSION.finalized(0), None);
        for feature in FEATURES {
            assert!(feature.served <= feature.max, "{}", feature.name);
            assert_eq!(feature_named(feature.name), Some(&feature));
        }
    }
}
