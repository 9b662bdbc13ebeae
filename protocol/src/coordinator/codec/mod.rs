//! Keys and values of `__consumer_offsets` as bytes. A key begins with its type, a value with its
//! version.

use super::group::{GroupRecord, OffsetKey};
use super::wire::{Field, Malformed, Reader, TooLong, Writer};
use bytes::Bytes;
use std::sync::Arc;

/// Kafka's `CoordinatorRecordType`.
mod kind {
    pub(super) const LEGACY_OFFSET: i16 = 0;
    pub(super) const OFFSET: i16 = 1;
    pub(super) const CLASSIC: i16 = 2;
    pub(super) const CONSUMER: i16 = 3;
    pub(super) const PARTITION_METADATA: i16 = 4;
    pub(super) const MEMBER: i16 = 5;
    pub(super) const TARGET: i16 = 6;
    pub(super) const MEMBER_TARGET: i16 = 7;
    pub(super) const CURRENT: i16 = 8;
    pub(super) const REGEX: i16 = 16;
}

/// Which versions of a value are known, and the first that is flexible.
#[derive(Clone, Copy)]
struct Versions {
    max: i16,
    flexible: i16,
}

const OFFSET: Versions = Versions { max: 4, flexible: 4 };
const CLASSIC: Versions = Versions { max: 4, flexible: 4 };
/// Of all that came with KIP-848.
const MODERN: Versions = Versions { max: 0, flexible: 0 };

/// What Kafka writes since 4.1; version 1 only where a commit says itself when it expires.
const OFFSET_VERSION: i16 = 4;
const OFFSET_VERSION_THAT_EXPIRES: i16 = 1;
const CLASSIC_VERSION: i16 = 3;

impl GroupRecord {
    /// The key, as Kafka writes it.
    ///
    /// # Errors
    /// A group, topic, member or pattern with a name that no key can hold.
    pub fn key(&self) -> Result<Vec<u8>, TooLong> {
        match self {
            GroupRecord::Offset(key, _) => key_of(kind::OFFSET, key),
            GroupRecord::Classic(group, _) => key_of(kind::CLASSIC, group),
            GroupRecord::Consumer(group, _) => key_of(kind::CONSUMER, group),
            GroupRecord::PartitionMetadata(group, _) => key_of(kind::PARTITION_METADATA, group),
            GroupRecord::Member(group, member, _) => pair_of(kind::MEMBER, group, member),
            GroupRecord::Target(group, _) => key_of(kind::TARGET, group),
            GroupRecord::MemberTarget(group, member, _) => {
                pair_of(kind::MEMBER_TARGET, group, member)
            }
            GroupRecord::Current(group, member, _) => pair_of(kind::CURRENT, group, member),
            GroupRecord::Regex(group, regex, _) => pair_of(kind::REGEX, group, regex),
        }
    }

    /// The value, in the version that Kafka writes; `None`: a tombstone.
    ///
    /// # Errors
    /// A string that the value cannot hold.
    pub fn value(&self) -> Result<Option<Vec<u8>>, TooLong> {
        match self {
            GroupRecord::Offset(_, value) => {
                let expires = value.as_ref().is_some_and(|value| 0 <= value.expire_timestamp_ms);
                let version = if expires { OFFSET_VERSION_THAT_EXPIRES } else { OFFSET_VERSION };
                value_of(version, OFFSET, value)
            }
            GroupRecord::Classic(_, value) => value_of(CLASSIC_VERSION, CLASSIC, value),
            GroupRecord::Consumer(_, value) => value_of(0, MODERN, value),
            GroupRecord::PartitionMetadata(_, value) => Ok(value.as_ref().map(|it| it.to_vec())),
            GroupRecord::Member(_, _, value) => value_of(0, MODERN, value),
            GroupRecord::Target(_, value) => value_of(0, MODERN, value),
            GroupRecord::MemberTarget(_, _, value) => value_of(0, MODERN, value),
            GroupRecord::Current(_, _, value) => value_of(0, MODERN, value),
            GroupRecord::Regex(_, _, value) => value_of(0, MODERN, value),
        }
    }

    /// Reads a record of any version that Kafka 4.4 reads. `None`: its key is of a type that is
    /// not known here, as those of share and streams groups, and of later brokers.
    ///
    /// # Errors
    /// [`Malformed`], for a value of an unknown version too: what it says cannot be told, and to
    /// pass it over would forget a group.
    pub fn read(key: &[u8], value: Option<&[u8]>) -> Result<Option<GroupRecord>, Malformed> {
        let (kind, rest) = split(key).map_err(|error| error.inside("key"))?;
        let name = |error: Malformed| error.inside(&format!("key of type {kind}"));
        let group = || only(rest).map_err(name);
        let pair = || two(rest).map_err(name);
        Ok(Some(match kind {
            kind::LEGACY_OFFSET | kind::OFFSET => {
                let key: OffsetKey = read_all(Reader::new(rest, 0, false)).map_err(name)?;
                GroupRecord::Offset(key, read_value("offset", value, OFFSET)?)
            }
            kind::CLASSIC => {
                GroupRecord::Classic(group()?, read_value("classic group", value, CLASSIC)?)
            }
            kind::CONSUMER => {
                GroupRecord::Consumer(group()?, read_value("consumer group", value, MODERN)?)
            }
            kind::PARTITION_METADATA => {
                GroupRecord::PartitionMetadata(group()?, value.map(Bytes::copy_from_slice))
            }
            kind::MEMBER => {
                let (group, member) = pair()?;
                GroupRecord::Member(group, member, read_value("member", value, MODERN)?)
            }
            kind::TARGET => GroupRecord::Target(group()?, read_value("target", value, MODERN)?),
            kind::MEMBER_TARGET => {
                let (group, member) = pair()?;
                let value = read_value("target of a member", value, MODERN)?;
                GroupRecord::MemberTarget(group, member, value)
            }
            kind::CURRENT => {
                let (group, member) = pair()?;
                let value = read_value("assignment of a member", value, MODERN)?;
                GroupRecord::Current(group, member, value)
            }
            kind::REGEX => {
                let (group, regex) = pair()?;
                GroupRecord::Regex(group, regex, read_value("pattern", value, MODERN)?)
            }
            _ => return Ok(None),
        }))
    }
}

/// Keys are of version 0, which is not flexible and not written.
fn key_of(kind: i16, key: &impl Field) -> Result<Vec<u8>, TooLong> {
    let mut out = Writer::new(kind, 0, false);
    key.write(&mut out);
    out.finish()
}

fn pair_of(kind: i16, group: &Arc<str>, of_group: &Arc<str>) -> Result<Vec<u8>, TooLong> {
    let mut out = Writer::new(kind, 0, false);
    group.write(&mut out);
    of_group.write(&mut out);
    out.finish()
}

fn value_of(
    version: i16,
    versions: Versions,
    value: &Option<impl Field>,
) -> Result<Option<Vec<u8>>, TooLong> {
    let Some(value) = value else { return Ok(None) };
    let mut out = Writer::new(version, version, versions.flexible <= version);
    value.write(&mut out);
    out.finish().map(Some)
}

/// The number in front, and what follows.
fn split(bytes: &[u8]) -> Result<(i16, &[u8]), Malformed> {
    let none = || Malformed(format!("ends after {} bytes", bytes.len()));
    let (number, rest) = bytes.split_first_chunk().ok_or_else(none)?;
    Ok((i16::from_be_bytes(*number), rest))
}

fn only(key: &[u8]) -> Result<Arc<str>, Malformed> {
    read_all(Reader::new(key, 0, false))
}

fn two(key: &[u8]) -> Result<(Arc<str>, Arc<str>), Malformed> {
    let mut reader = Reader::new(key, 0, false);
    let group = Field::read(&mut reader)?;
    Ok((group, read_all(reader)?))
}

fn read_all<T: Field>(mut reader: Reader<'_>) -> Result<T, Malformed> {
    let value = T::read(&mut reader)?;
    reader.finish()?;
    Ok(value)
}

fn read_value<T: Field>(
    name: &str,
    value: Option<&[u8]>,
    versions: Versions,
) -> Result<Option<T>, Malformed> {
    let Some(bytes) = value else { return Ok(None) };
    let read = || {
        let (version, rest) = split(bytes)?;
        if !(0..=versions.max).contains(&version) {
            return Err(Malformed(format!("version {version} is unknown")));
        }
        read_all(Reader::new(rest, version, versions.flexible <= version))
    };
    read().map(Some).map_err(|error| error.inside(name))
}

#[cfg(test)]
mod tests;
