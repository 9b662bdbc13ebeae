//! Control records: what brokers and controllers write between the records of clients.

/// The version of the keys, and of the value of an end of a transaction.
const VERSION: i16 = 0;

/// What the key of a control record says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlKind {
    /// A transaction ended, and its records do not count.
    Abort,
    /// A transaction ended, and its records count.
    Commit,
    LeaderChange,
    SnapshotHeader,
    SnapshotFooter,
    KRaftVersion,
    Voters,
    /// One that readers pass over.
    Unknown(i16),
}

impl ControlKind {
    pub const fn code(self) -> i16 {
        match self {
            ControlKind::Abort => 0,
            ControlKind::Commit => 1,
            ControlKind::LeaderChange => 2,
            ControlKind::SnapshotHeader => 3,
            ControlKind::SnapshotFooter => 4,
            ControlKind::KRaftVersion => 5,
            ControlKind::Voters => 6,
            ControlKind::Unknown(code) => code,
        }
    }

    pub const fn from_code(code: i16) -> ControlKind {
        match code {
            0 => ControlKind::Abort,
            1 => ControlKind::Commit,
            2 => ControlKind::LeaderChange,
            3 => ControlKind::SnapshotHeader,
            4 => ControlKind::SnapshotFooter,
            5 => ControlKind::KRaftVersion,
            6 => ControlKind::Voters,
            code => ControlKind::Unknown(code),
        }
    }

    /// Reads a key. `None`: it is none. Keys of later versions may be longer.
    pub fn from_key(key: &[u8]) -> Option<ControlKind> {
        let (version, rest) = key.split_first_chunk()?;
        let code = rest.first_chunk()?;
        let is_known = i16::from_be_bytes(*version) >= VERSION;
        is_known.then(|| ControlKind::from_code(i16::from_be_bytes(*code)))
    }

    /// The key of such a record.
    pub fn key(self) -> [u8; 4] {
        let [a, b] = VERSION.to_be_bytes();
        let [c, d] = self.code().to_be_bytes();
        [a, b, c, d]
    }
}

/// The epoch of the transaction coordinator in the value of an `Abort` or `Commit`.
pub fn coordinator_epoch(value: &[u8]) -> Option<i32> {
    let (version, rest) = value.split_first_chunk()?;
    let epoch = rest.first_chunk()?;
    (i16::from_be_bytes(*version) >= VERSION).then(|| i32::from_be_bytes(*epoch))
}

/// The value of an `Abort` or `Commit`.
pub fn end_of_transaction(coordinator_epoch: i32) -> [u8; 6] {
    let [a, b] = VERSION.to_be_bytes();
    let [c, d, e, f] = coordinator_epoch.to_be_bytes();
    [a, b, c, d, e, f]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_come_back() {
        for code in -1..=8 {
            let kind = ControlKind::from_code(code);
            assert_eq!((kind.code(), ControlKind::from_key(&kind.key())), (code, Some(kind)));
        }
        assert_eq!(ControlKind::Commit.key(), [0, 0, 0, 1]);
        assert_eq!(coordinator_epoch(&end_of_transaction(7)), Some(7));
    }

    #[test]
    fn what_is_cut_or_of_no_version_is_none() {
        for bytes in [&[][..], &[0], &[0, 0, 0], &[0xff, 0xff, 0, 1, 0, 0]] {
            assert_eq!((ControlKind::from_key(bytes), coordinator_epoch(bytes)), (None, None));
        }
    }
}
