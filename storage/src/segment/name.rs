//! The names of a partition's files: twenty digits of offset, a kind, and at times a fate.

use std::path::{Path, PathBuf};

/// What a file of a partition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Log,
    OffsetIndex,
    TimeIndex,
    TxnIndex,
    Snapshot,
}

/// What is to become of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is in use.
    Live,
    /// It is to be unlinked.
    Deleted,
    /// A cleaner was writing it.
    Cleaned,
    /// A cleaner had finished it and was putting it in its place.
    Swap,
}

/// A file name, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    pub offset: i64,
    pub kind: Kind,
    pub fate: Fate,
}

/// With more of them a file would be found under another name than its own.
const DIGITS: usize = 20;

const KINDS: [(Kind, &str); 5] = [
    (Kind::Log, "log"),
    (Kind::OffsetIndex, "index"),
    (Kind::TimeIndex, "timeindex"),
    (Kind::TxnIndex, "txnindex"),
    (Kind::Snapshot, "snapshot"),
];

const FATES: [(Fate, &str); 4] = [
    (Fate::Live, ""),
    (Fate::Deleted, ".deleted"),
    (Fate::Cleaned, ".cleaned"),
    (Fate::Swap, ".swap"),
];

/// The four that make a segment; a snapshot stands for itself.
pub const OF_A_SEGMENT: [Kind; 4] = [Kind::Log, Kind::OffsetIndex, Kind::TimeIndex, Kind::TxnIndex];

/// The same in the order in which they change their fate together: where the log stands, the others
/// have been before.
pub const LOG_LAST: [Kind; 4] = [Kind::OffsetIndex, Kind::TimeIndex, Kind::TxnIndex, Kind::Log];

impl Kind {
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Kind::Log => "log",
            Kind::OffsetIndex => "index",
            Kind::TimeIndex => "timeindex",
            Kind::TxnIndex => "txnindex",
            Kind::Snapshot => "snapshot",
        }
    }

    /// Where the live file of this kind stands.
    #[must_use]
    pub fn path(self, dir: &Path, offset: i64) -> PathBuf {
        dir.join(format!("{offset:020}.{}", self.extension()))
    }
}

impl Fate {
    /// Where a file stands whose live path is `path`.
    #[must_use]
    pub fn path(self, path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(match self {
            Fate::Live => "",
            Fate::Deleted => ".deleted",
            Fate::Cleaned => ".cleaned",
            Fate::Swap => ".swap",
        });
        PathBuf::from(name)
    }
}

impl Name {
    /// None: it is not a file of a segment.
    #[must_use]
    pub fn parse(name: &str) -> Option<Name> {
        let (digits, rest) = name.split_once('.')?;
        if digits.len() != DIGITS || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let offset = digits.parse().ok()?;
        let (kind, rest) = KINDS.into_iter().find_map(|(kind, text)| {
            let rest = rest.strip_prefix(text)?;
            (rest.is_empty() || rest.starts_with('.')).then_some((kind, rest))
        })?;
        let (fate, _) = FATES.into_iter().find(|(_, text)| *text == rest)?;
        Some(Name { offset, kind, fate })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_offset_kind_and_fate() {
        let check = |text: &str, want: Option<(i64, Kind, Fate)>| {
            let got = Name::parse(text).map(|name| (name.offset, name.kind, name.fate));
            assert_eq!(got, want, "{text}");
        };
        check("00000000000000000000.log", Some((0, Kind::Log, Fate::Live)));
        check("00000000000000000042.index", Some((42, Kind::OffsetIndex, Fate::Live)));
        check("00000000000000000042.timeindex.deleted", Some((42, Kind::TimeIndex, Fate::Deleted)));
        check("00000000000000000042.txnindex.swap", Some((42, Kind::TxnIndex, Fate::Swap)));
        check("00000000000000000042.log.cleaned", Some((42, Kind::Log, Fate::Cleaned)));
        check("09223372036854775807.snapshot", Some((i64::MAX, Kind::Snapshot, Fate::Live)));
        check("99999999999999999999.log", None);
        check("00000000000000000000-0000000000.checkpoint", None);
        check("42.log", None);
        check("000000000000000000042.log", None);
        check("00000000000000000042.logs", None);
        check("00000000000000000042.log.other", None);
        check("partition.metadata", None);
        let path = Kind::TimeIndex.path(Path::new("/t-0"), 42);
        assert_eq!(path, Path::new("/t-0/00000000000000000042.timeindex"));
    }
}
