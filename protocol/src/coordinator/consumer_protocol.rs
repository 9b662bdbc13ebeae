//! What classic consumers say to each other in JoinGroup and SyncGroup: ConsumerProtocolSubscription
//! and ConsumerProtocolAssignment, versions 0 to 3.
//!
//! A coordinator reads them only where classic members are in a consumer group (KIP-848), or may
//! come to be.

use super::wire::{Field, Malformed, Reader, Writer};
use bytes::Bytes;
use std::sync::Arc;

/// A newer version is read as this one: none may move the fields of an older.
const LATEST: i16 = 3;

/// What a member says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subscription {
    /// The version that it is said in.
    pub version: i16,
    pub topics: Vec<Arc<str>>,
    /// For assignors other than Kafka's own.
    pub user_data: Option<Bytes>,
    /// What it has; empty before version 1.
    pub owned: Vec<NamedPartitions>,
    /// When it was given that; -1: unknown, as before version 2.
    pub generation: i32,
    /// None before version 3.
    pub rack: Option<Arc<str>>,
}

/// What a member is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    pub version: i16,
    pub partitions: Vec<NamedPartitions>,
    pub user_data: Option<Bytes>,
}

/// Partitions of one topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedPartitions {
    pub topic: Arc<str>,
    pub partitions: Vec<i32>,
}

impl Subscription {
    /// Reads a member's metadata under one protocol.
    ///
    /// Bytes beyond the last field that is known are a newer version's, and left alone.
    pub fn read(bytes: &[u8]) -> Result<Subscription, Malformed> {
        let (version, mut reader) = begun(bytes)?;
        let reader = &mut reader;
        Ok(Subscription {
            version,
            topics: Field::read(reader)?,
            user_data: Field::read(reader)?,
            owned: since(reader, 1, Vec::new())?,
            generation: since(reader, 2, -1)?,
            rack: since(reader, 3, None)?,
        })
    }

    /// Reads the topics only, which every version begins with, as it does the user data behind them.
    pub fn topics(bytes: &[u8]) -> Result<Vec<Arc<str>>, Malformed> {
        let (_, mut reader) = begun(bytes)?;
        let topics = Field::read(&mut reader)?;
        let _user_data: Option<Bytes> = Field::read(&mut reader)?;
        Ok(topics)
    }

    /// In the version that it says.
    pub fn to_bytes(&self) -> Bytes {
        let mut out = Writer::new(self.version, self.version, false);
        self.topics.write(&mut out);
        self.user_data.write(&mut out);
        if 1 <= self.version {
            self.owned.write(&mut out);
        }
        if 2 <= self.version {
            self.generation.write(&mut out);
        }
        if 3 <= self.version {
            self.rack.write(&mut out);
        }
        out.bytes.into()
    }
}

impl Assignment {
    pub fn read(bytes: &[u8]) -> Result<Assignment, Malformed> {
        let (version, mut reader) = begun(bytes)?;
        let reader = &mut reader;
        Ok(Assignment {
            version,
            partitions: Field::read(reader)?,
            user_data: Field::read(reader)?,
        })
    }

    /// In the version that it says.
    pub fn to_bytes(&self) -> Bytes {
        let mut out = Writer::new(self.version, self.version, false);
        self.partitions.write(&mut out);
        self.user_data.write(&mut out);
        out.bytes.into()
    }
}

/// In which version a member speaks, and is to be spoken to; 0 where it does not say.
pub fn version(subscription: &[u8]) -> i16 {
    begun(subscription).map_or(0, |(_, reader)| reader.version)
}

/// The version, and a reader of what follows it.
fn begun(bytes: &[u8]) -> Result<(i16, Reader<'_>), Malformed> {
    let mut reader = Reader::new(bytes, 0, false);
    let version = i16::read(&mut reader)?;
    if version < 0 {
        return Err(Malformed(format!("there is no version {version}")));
    }
    reader.version = version.min(LATEST);
    Ok((version, reader))
}

fn since<T: Field>(reader: &mut Reader<'_>, version: i16, absent: T) -> Result<T, Malformed> {
    if reader.version < version { Ok(absent) } else { T::read(reader) }
}

impl Field for NamedPartitions {
    fn read(reader: &mut Reader<'_>) -> Result<NamedPartitions, Malformed> {
        Ok(NamedPartitions { topic: Field::read(reader)?, partitions: Field::read(reader)? })
    }
    fn write(&self, out: &mut Writer) {
        self.topic.write(out);
        self.partitions.write(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn subscription(version: i16) -> Subscription {
        let owned = NamedPartitions { topic: "a".into(), partitions: vec![0, 7] };
        Subscription {
            version,
            topics: vec!["a".into(), "b".into()],
            user_data: Some(Bytes::from_static(b"x")),
            owned: if 1 <= version { vec![owned] } else { Vec::new() },
            generation: if 2 <= version { 5 } else { -1 },
            rack: (3 <= version).then(|| "r".into()),
        }
    }

    #[test]
    fn a_subscription_is_read_as_it_was_written_in_every_version() {
        for version in 0..=3 {
            let said = subscription(version);
            assert_eq!(Subscription::topics(&said.to_bytes()).as_ref(), Ok(&said.topics));
            assert_eq!(Subscription::read(&said.to_bytes()), Ok(said));
        }
    }

    #[test]
    fn the_bytes_are_those_of_apache_kafka() {
        let said = Subscription { topics: vec!["t".into()], generation: -1, ..Default::default() };
        assert_eq!(said.to_bytes()[..], [0, 0, 0, 0, 0, 1, 0, 1, b't', 255, 255, 255, 255]);
        let partitions = vec![NamedPartitions { topic: "t".into(), partitions: vec![2] }];
        let given = Assignment { version: 1, partitions, user_data: Some(Bytes::new()) };
        let bytes = given.to_bytes();
        let want = [0, 1, 0, 0, 0, 1, 0, 1, b't', 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0];
        assert_eq!(bytes[..], want);
        assert_eq!(Assignment::read(&bytes), Ok(given));
    }

    #[test]
    fn a_newer_version_is_read_as_the_newest_that_is_known() {
        let mut bytes = subscription(3).to_bytes().to_vec();
        bytes[1] = 9;
        bytes.extend([1, 2, 3]);
        let want = Subscription { version: 9, ..subscription(3) };
        assert_eq!(Subscription::read(&bytes), Ok(want));
    }

    #[test]
    fn what_ends_early_or_claims_too_much_is_refused() {
        let whole = subscription(3).to_bytes();
        for len in 0..whole.len() {
            assert!(Subscription::read(&whole[..len]).is_err(), "{len}");
        }
        assert!(Subscription::read(&[0, 0, 127, 255, 255, 255]).is_err());
        assert!(Subscription::read(&[255, 255]).is_err());
        assert!(Subscription::topics(&subscription(0).to_bytes()[..10]).is_err());
        assert!(Subscription::topics(&[0, 3, 127, 255, 255, 255]).is_err());
        assert!(Assignment::read(&[0, 0, 0, 0, 0, 1, 127, 255]).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_value_or_an_error(bytes: Vec<u8>) {
            let read = Subscription::read(&bytes);
            prop_assert!(read.is_err() || read.is_ok_and(|it| it.topics.len() <= bytes.len()));
            drop(Assignment::read(&bytes));
        }
    }
}
