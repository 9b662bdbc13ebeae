//! Kafka's metadata records: what the value of a record in `__cluster_metadata-0` says.

pub mod control;
mod kinds;
mod message;
mod shown;
mod wire;

#[cfg(test)]
pub(crate) mod tests;

pub use kinds::*;
pub use shown::Shown;
pub use wire::{Malformed, Unknown};

use protocol::varint;
use std::fmt;
use wire::{Message, Reader};

/// The version of the frame around type, version and message.
const FRAME_VERSION: u32 = 1;

/// Why the value of a metadata record cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// The frame is not version 1.
    Frame(u32),
    /// The record is of a type that Apache Kafka 4.4 does not have.
    UnknownType(u32),
    /// The type is known, and this version of it is not.
    UnknownVersion {
        kind: &'static str,
        version: u32,
    },
    Malformed {
        kind: &'static str,
        why: Malformed,
    },
    /// Not even the frame is whole.
    Truncated,
}

impl std::error::Error for RecordError {}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordError::Frame(version) => {
                write!(f, "metadata record in a frame of version {version}; only 1 is known")
            }
            RecordError::UnknownType(number) => write!(
                f,
                "metadata record of unknown type {number}: it was written by a newer program"
            ),
            RecordError::UnknownVersion { kind, version } => {
                write!(f, "{kind} of unknown version {version}: it was written by a newer program")
            }
            RecordError::Malformed { kind, why } => write!(f, "{kind} is malformed: {}", why.0),
            RecordError::Truncated => write!(f, "metadata record ends before its type"),
        }
    }
}

macro_rules! records {
    ($( $number:literal $kind:ident($message:ident) to $last:literal $(at $levels:tt)?; )*) => {
        /// One metadata record.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Record { $( $kind($message), )* }

        $( impl From<$message> for Record {
            fn from(message: $message) -> Record {
                Record::$kind(message)
            }
        } )*

        impl Record {
            /// Reads the value of a record of the metadata log, all of it.
            pub fn read(value: &[u8]) -> Result<Record, RecordError> {
                let mut reader = Reader::new(value);
                let mut next = || reader.uvarint().map_err(|_| RecordError::Truncated);
                let frame = next()?;
                if frame != FRAME_VERSION {
                    return Err(RecordError::Frame(frame));
                }
                let (number, version) = (next()?, next()?);
                match number {
                    $( $number => {
                        let kind = stringify!($message);
                        let known = i16::try_from(version).ok().filter(|v| *v <= $last);
                        let known = known.ok_or(RecordError::UnknownVersion { kind, version })?;
                        $message::read(&mut reader, known)
                            .and_then(|message| reader.finish().map(|()| message.into()))
                            .map_err(|why| RecordError::Malformed { kind, why })
                    } )*
                    _ => Err(RecordError::UnknownType(number)),
                }
            }

            /// The value of a record in the metadata log, of the given version.
            fn write(&self, version: i16) -> Vec<u8> {
                let mut out = Vec::new();
                varint::put_unsigned(&mut out, FRAME_VERSION);
                varint::put_unsigned(&mut out, self.number());
                varint::put_unsigned(&mut out, u32::try_from(version).unwrap_or_default());
                match self { $( Record::$kind(message) => message.write(&mut out, version), )* }
                out
            }

            fn levels(&self) -> &'static Levels {
                match self { $( Record::$kind(_) => records!(@levels $($levels)?), )* }
            }

            fn fields(&self, version: i16) -> Vec<(&'static str, Shown)> {
                match self { $( Record::$kind(message) => message.shown(version), )* }
            }

            /// The number of this type of record.
            pub fn number(&self) -> u32 {
                match self { $( Record::$kind(_) => $number, )* }
            }

            /// What Apache Kafka calls this type of record.
            pub fn kind(&self) -> &'static str {
                match self { $( Record::$kind(_) => stringify!($message), )* }
            }
        }
    };
    (@levels) => { &[] };
    (@levels $levels:tt) => { &$levels };
}

records! {
    0 RegisterBroker(RegisterBrokerRecord) to 4 at [(7, 1), (8, 2), (17, 3), (30, 4)];
    1 UnregisterBroker(UnregisterBrokerRecord) to 0;
    2 Topic(TopicRecord) to 0;
    3 Partition(PartitionRecord) to 2 at [(17, 1), (23, 2)];
    4 Config(ConfigRecord) to 0;
    5 PartitionChange(PartitionChangeRecord) to 2 at [(17, 1), (23, 2)];
    7 FenceBroker(FenceBrokerRecord) to 0;
    8 UnfenceBroker(UnfenceBrokerRecord) to 0;
    9 RemoveTopic(RemoveTopicRecord) to 0;
    10 DelegationToken(DelegationTokenRecord) to 0;
    11 UserScramCredential(UserScramCredentialRecord) to 0;
    12 FeatureLevel(FeatureLevelRecord) to 0;
    14 ClientQuota(ClientQuotaRecord) to 0;
    15 ProducerIds(ProducerIdsRecord) to 0;
    17 BrokerRegistrationChange(BrokerRegistrationChangeRecord) to 3
        at [(7, 1), (17, 2), (30, 3)];
    18 AccessControlEntry(AccessControlEntryRecord) to 0;
    19 RemoveAccessControlEntry(RemoveAccessControlEntryRecord) to 0;
    20 NoOp(NoOpRecord) to 0;
    21 ZkMigrationState(ZkMigrationStateRecord) to 0;
    22 RemoveUserScramCredential(RemoveUserScramCredentialRecord) to 0;
    23 BeginTransaction(BeginTransactionRecord) to 0;
    24 EndTransaction(EndTransactionRecord) to 0;
    25 AbortTransaction(AbortTransactionRecord) to 0;
    26 RemoveDelegationToken(RemoveDelegationTokenRecord) to 0;
    27 RegisterController(RegisterControllerRecord) to 0;
    28 ClearElr(ClearElrRecord) to 0;
    29 UnregisterController(UnregisterControllerRecord) to 0;
}

/// The first level of `metadata.version` at which each version of a record may be written.
type Levels = [(i16, i16)];

impl Record {
    /// The value of a record in the metadata log, in the version that Apache Kafka writes while
    /// the cluster's feature `metadata.version` stands at `metadata_version`. (Until it stands
    /// anywhere only feature levels are written, which have one version.)
    pub fn to_value(&self, metadata_version: i16) -> Vec<u8> {
        let reached = self.levels().iter().rfind(|(level, _)| *level <= metadata_version);
        let version = reached.map_or(0, |(_, version)| *version);
        if let Record::BrokerRegistrationChange(change) = self {
            return self.write(version.min(change.version_needed()));
        }
        self.write(version)
    }
}

impl Record {
    /// In which version the value of a record that could be read is written.
    pub fn version_of(value: &[u8]) -> i16 {
        let mut reader = Reader::new(value);
        let third = reader.uvarint().and(reader.uvarint()).and(reader.uvarint());
        third.ok().and_then(|version| version.try_into().ok()).unwrap_or_default()
    }

    /// The fields of a version by name, in the order in which Apache Kafka declares them; tagged
    /// ones only where they are not their default.
    pub fn shown(&self, version: i16) -> Vec<(&'static str, Shown)> {
        let mut fields = self.fields(version);
        // The only ones that are declared elsewhere than among the last.
        if let Record::Partition(_) = self {
            shown::move_before(&mut fields, "leader_recovery_state", &["leader_epoch"]);
        }
        if let Record::PartitionChange(_) = self {
            let others = ["eligible_leader_replicas", "last_known_elr"];
            shown::move_before(&mut fields, "directories", &others);
        }
        fields
    }
}

impl BrokerRegistrationChangeRecord {
    /// Apache Kafka writes this record in the lowest version that carries the change.
    fn version_needed(&self) -> i16 {
        match self {
            _ if self.cordoned_log_dirs.is_some() => 3,
            _ if !self.log_dirs.is_empty() => 2,
            _ if self.in_controlled_shutdown != 0 => 1,
            _ => 0,
        }
    }
}
