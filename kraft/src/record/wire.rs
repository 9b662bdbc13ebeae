//! How a field of a metadata message stands in bytes: the flexible encoding of Kafka's protocol.

use super::shown::Shown;
use protocol::ids::Uuid;
use protocol::varint;

/// Bytes that are not the message they should be, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

impl Malformed {
    /// Names the field in which reading failed.
    pub(super) fn inside(self, field: &str) -> Malformed {
        Malformed(format!("{field}: {}", self.0))
    }
}

/// A message: fields, then tagged fields.
pub(super) trait Message: Sized {
    fn read(reader: &mut Reader<'_>, version: i16) -> Result<Self, Malformed>;
    fn write(&self, out: &mut Vec<u8>, version: i16);
    /// The fields of a version by name, tagged ones behind the others and only where not default.
    fn shown(&self, version: i16) -> Vec<(&'static str, Shown)>;
}

/// One field of a message. `version` matters to messages inside messages only.
pub(super) trait Field: Sized {
    fn read(reader: &mut Reader<'_>, version: i16) -> Result<Self, Malformed>;
    fn write(&self, out: &mut Vec<u8>, version: i16);
    fn shown(&self, version: i16) -> Shown;

    /// An array of them; one of bytes is shown as what Kafka calls bytes.
    fn shown_all(all: &[Self], version: i16) -> Shown {
        Shown::List(all.iter().map(|one| one.shown(version)).collect())
    }
}

/// What is left to read.
#[derive(Debug)]
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or_else(|| {
            Malformed(format!("{len} bytes are due, and {} are left", self.0.len()))
        })?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let taken = self.take(N)?;
        Ok(std::array::from_fn(|at| taken.get(at).copied().unwrap_or_default()))
    }

    pub(super) fn uvarint(&mut self) -> Result<u32, Malformed> {
        let none = || Malformed("no varint of 32 bits stands here".to_owned());
        varint::take_unsigned(&mut self.0).ok_or_else(none)
    }

    /// A length in bytes.
    pub(super) fn len(&mut self) -> Result<usize, Malformed> {
        self.uvarint().map(|len| usize::try_from(len).unwrap_or(usize::MAX))
    }

    /// A length or count that is null where it is zero, and else one too great.
    fn compact_len(&mut self) -> Result<Option<usize>, Malformed> {
        Ok(self.len()?.checked_sub(1))
    }

    /// Everything must have been read.
    pub(super) fn finish(self) -> Result<(), Malformed> {
        match self.0.len() {
            0 => Ok(()),
            left => Err(Malformed(format!("{left} bytes are left over"))),
        }
    }
}

/// Lengths on the wire have 32 bits, and nothing that fits a metadata record comes near.
pub(super) fn write_len(len: usize, out: &mut Vec<u8>) {
    varint::put_unsigned(out, u32::try_from(len).unwrap_or(u32::MAX));
}

/// Tagged fields, which must ascend.
pub(super) fn write_tags(tags: &[Tagged], out: &mut Vec<u8>) {
    write_len(tags.len(), out);
    for (tag, bytes) in tags {
        varint::put_unsigned(out, *tag);
        write_len(bytes.len(), out);
        out.extend(bytes);
    }
}

/// A tagged field's number, and its bytes.
pub(super) type Tagged = (u32, Vec<u8>);

/// Tagged fields that we do not know, and hand on as they are. Nearly always none, and a word in
/// each of many thousand partitions, so boxed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::box_collection, reason = "one word where there is none")]
pub struct Unknown(Option<Box<Vec<Tagged>>>);

impl Unknown {
    pub(super) fn keep(&mut self, tag: u32, bytes: &[u8]) {
        self.0.get_or_insert_default().push((tag, bytes.to_vec()));
    }

    pub(super) fn to_vec(&self) -> Vec<Tagged> {
        self.0.as_deref().cloned().unwrap_or_default()
    }
}

macro_rules! numbers {
    ($($type:ty: $shown:expr $(, $all:expr)?;)*) => { $(
        impl Field for $type {
            fn read(reader: &mut Reader<'_>, _: i16) -> Result<$type, Malformed> {
                reader.array().map(<$type>::from_be_bytes)
            }
            fn write(&self, out: &mut Vec<u8>, _: i16) {
                out.extend(self.to_be_bytes());
            }
            fn shown(&self, _: i16) -> Shown {
                ($shown)(*self)
            }
            $( fn shown_all(all: &[$type], _: i16) -> Shown {
                ($all)(all)
            } )?
        }
    )* };
}
numbers! {
    i8: |it: i8| Shown::Int(it.into());
    u8: |it: u8| Shown::Int(it.into()), |all: &[u8]| Shown::Bytes(all.to_vec());
    i16: |it: i16| Shown::Int(it.into());
    u16: |it: u16| Shown::Int(it.into());
    i32: |it: i32| Shown::Int(it.into());
    i64: Shown::Int;
    f64: Shown::Float;
}

impl Field for bool {
    fn read(reader: &mut Reader<'_>, version: i16) -> Result<bool, Malformed> {
        i8::read(reader, version).map(|byte| byte != 0)
    }
    fn write(&self, out: &mut Vec<u8>, _: i16) {
        out.push(u8::from(*self));
    }
    fn shown(&self, _: i16) -> Shown {
        Shown::Bool(*self)
    }
}

impl Field for Uuid {
    fn read(reader: &mut Reader<'_>, _: i16) -> Result<Uuid, Malformed> {
        reader.array().map(Uuid)
    }
    fn write(&self, out: &mut Vec<u8>, _: i16) {
        out.extend(self.0);
    }
    fn shown(&self, _: i16) -> Shown {
        Shown::Text(self.to_string())
    }
}

impl Field for Option<String> {
    fn read(reader: &mut Reader<'_>, _: i16) -> Result<Option<String>, Malformed> {
        let Some(len) = reader.compact_len()? else { return Ok(None) };
        let text = std::str::from_utf8(reader.take(len)?)
            .map_err(|_| Malformed("a string is not UTF-8".to_owned()))?;
        Ok(Some(text.to_owned()))
    }
    fn write(&self, out: &mut Vec<u8>, version: i16) {
        match self {
            Some(text) => text.write(out, version),
            None => out.push(0),
        }
    }
    fn shown(&self, _: i16) -> Shown {
        self.clone().map_or(Shown::Null, Shown::Text)
    }
}

impl Field for String {
    fn read(reader: &mut Reader<'_>, version: i16) -> Result<String, Malformed> {
        Option::read(reader, version)?.ok_or_else(null)
    }
    fn write(&self, out: &mut Vec<u8>, _: i16) {
        write_len(self.len() + 1, out);
        out.extend(self.as_bytes());
    }
    fn shown(&self, _: i16) -> Shown {
        Shown::Text(self.clone())
    }
}

/// Arrays; of `u8` they are what Kafka calls bytes.
impl<T: Field> Field for Option<Vec<T>> {
    fn read(reader: &mut Reader<'_>, version: i16) -> Result<Option<Vec<T>>, Malformed> {
        let Some(count) = reader.compact_len()? else { return Ok(None) };
        // Room for what the bytes that are left could be, were they no smaller than in memory; the
        // count is a claim.
        let mut items = Vec::with_capacity(count.min(reader.0.len() / size_of::<T>().max(1)));
        for _ in 0..count {
            items.push(T::read(reader, version)?);
        }
        Ok(Some(items))
    }
    fn write(&self, out: &mut Vec<u8>, version: i16) {
        match self {
            Some(items) => items.write(out, version),
            None => out.push(0),
        }
    }
    fn shown(&self, version: i16) -> Shown {
        self.as_ref().map_or(Shown::Null, |items| items.shown(version))
    }
}

impl<T: Field> Field for Vec<T> {
    fn read(reader: &mut Reader<'_>, version: i16) -> Result<Vec<T>, Malformed> {
        Option::read(reader, version)?.ok_or_else(null)
    }
    fn write(&self, out: &mut Vec<u8>, version: i16) {
        write_len(self.len() + 1, out);
        for item in self {
            item.write(out, version);
        }
    }
    fn shown(&self, version: i16) -> Shown {
        T::shown_all(self, version)
    }
}

fn null() -> Malformed {
    Malformed("null where a value is due".to_owned())
}
