//! Questions that several tools put to a cluster.

pub(crate) mod api_versions;
pub(crate) mod configs;
pub(crate) mod filter;
pub(crate) mod groups;
pub(crate) mod offsets;
pub(crate) mod table;
pub(crate) mod topic_changes;
pub(crate) mod topics;

use protocol::messages::StrBytes;

/// A text of a message.
pub(crate) fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

/// Numbers with commas between.
pub(crate) fn joined<T: ToString>(numbers: impl IntoIterator<Item = T>) -> String {
    numbers.into_iter().map(|it| it.to_string()).collect::<Vec<_>>().join(",")
}
