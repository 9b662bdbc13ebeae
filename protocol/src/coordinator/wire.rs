//! How a field of a coordinator's record stands in bytes: Kafka's protocol, with lengths of fixed
//! size in older versions, and the flexible encoding (KIP-482) in newer ones.

use crate::ids::Uuid;
use crate::varint;
use bytes::Bytes;
use std::fmt;
use std::sync::Arc;

/// Bytes that are not the key or value that they should be, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Malformed {}

/// A string is longer than the version of the record that Kafka writes can say: 32767 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string of a record has more than 32767 bytes")
    }
}

impl std::error::Error for TooLong {}

impl Malformed {
    /// Names the part in which reading failed.
    pub(super) fn inside(self, part: &str) -> Malformed {
        Malformed(format!("{part}: {}", self.0))
    }
}

/// One field, or fields that stand together.
pub trait Field: Sized {
    /// Whether it is written where it is tagged and has its default.
    const ALWAYS: bool = false;

    /// Takes it off the front.
    ///
    /// # Errors
    /// Another thing stands there.
    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed>;
    fn write(&self, out: &mut Writer);
}

/// What is left to read, of a message of `version`.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    pub(super) version: i16,
    flexible: bool,
}

impl<'a> Reader<'a> {
    #[must_use]
    pub fn new(bytes: &'a [u8], version: i16, flexible: bool) -> Reader<'a> {
        Reader { bytes, version, flexible }
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.bytes.split_at_checked(len).ok_or_else(|| {
            Malformed(format!("{len} bytes are due, and {} are left", self.bytes.len()))
        })?;
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let taken = self.take(N)?;
        Ok(std::array::from_fn(|at| taken.get(at).copied().unwrap_or_default()))
    }

    fn unsigned(&mut self) -> Result<u32, Malformed> {
        let none = || Malformed("no varint of 32 bits stands here".to_owned());
        varint::take_unsigned(&mut self.bytes).ok_or_else(none)
    }

    /// A length; `None` stands for null. A string's has two bytes where it is of fixed size.
    fn len(&mut self, of_string: bool) -> Result<Option<usize>, Malformed> {
        let len = match (self.flexible, of_string) {
            (true, _) => i64::from(self.unsigned()?) - 1,
            (false, true) => i16::read(self)?.into(),
            (false, false) => i32::read(self)?.into(),
        };
        Ok(usize::try_from(len).ok())
    }

    /// A list, its items read by `item`; `None` stands for null.
    ///
    /// # Errors
    /// As of `item`, or no list stands here.
    pub fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Reader<'a>) -> Result<T, Malformed>,
    ) -> Result<Option<Vec<T>>, Malformed> {
        let Some(count) = self.len(false)? else { return Ok(None) };
        // Grown as elements come, not as the count claims: an element may be many times the size
        // of its bytes.
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(item(self)?);
        }
        Ok(Some(items))
    }

    /// Tagged fields, where the version has any: `known` reads those that it knows, each from its
    /// own bytes. Others are passed over.
    ///
    /// # Errors
    /// As of `known`, or no tagged fields stand here.
    pub fn tags(
        &mut self,
        mut known: impl FnMut(u32, &mut Reader<'_>) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        if !self.flexible {
            return Ok(());
        }
        for _ in 0..self.unsigned()? {
            let tag = self.unsigned()?;
            let len = usize::try_from(self.unsigned()?).unwrap_or(usize::MAX);
            let mut inner = Reader { bytes: self.take(len)?, ..*self };
            known(tag, &mut inner)?;
        }
        Ok(())
    }

    /// Everything must have been read.
    pub(super) fn finish(self) -> Result<(), Malformed> {
        match self.bytes.len() {
            0 => Ok(()),
            left => Err(Malformed(format!("{left} bytes are left over"))),
        }
    }
}

/// What is written, in `version`.
#[derive(Debug)]
pub struct Writer {
    pub(super) bytes: Vec<u8>,
    pub(super) version: i16,
    flexible: bool,
    /// A string was longer than its length can say.
    too_long: bool,
}

impl Writer {
    /// Begins with `prefix`: the type of a key, the version of a value.
    pub(super) fn new(prefix: i16, version: i16, flexible: bool) -> Writer {
        let bytes = prefix.to_be_bytes().to_vec();
        Writer { bytes, version, flexible, too_long: false }
    }

    /// What was written.
    pub(super) fn finish(self) -> Result<Vec<u8>, TooLong> {
        if self.too_long { Err(TooLong) } else { Ok(self.bytes) }
    }

    fn len(&mut self, len: Option<usize>, of_string: bool) {
        let max = if of_string { i32::from(i16::MAX) } else { i32::MAX - 1 };
        let len = len.map_or(Ok(-1), i32::try_from).unwrap_or(i32::MAX);
        self.too_long |= max < len && !(of_string && self.flexible);
        match (self.flexible, of_string) {
            (true, _) => varint::put_unsigned(&mut self.bytes, len.wrapping_add(1).cast_unsigned()),
            (false, true) => i16::try_from(len).unwrap_or(i16::MAX).write(self),
            (false, false) => len.write(self),
        }
    }

    /// The end of a message: its tagged field, unless that is its default. None has two.
    pub(super) fn tags<T: Field + Default + PartialEq>(&mut self, field: Option<(u32, &T)>) {
        if !self.flexible {
            return;
        }
        let field = field.filter(|(_, value)| T::ALWAYS || **value != T::default());
        varint::put_unsigned(&mut self.bytes, u32::from(field.is_some()));
        if let Some((tag, value)) = field {
            let mut inner = Writer { bytes: Vec::new(), ..*self };
            value.write(&mut inner);
            self.too_long |= inner.too_long;
            varint::put_unsigned(&mut self.bytes, tag);
            let len = u32::try_from(inner.bytes.len()).unwrap_or(u32::MAX);
            varint::put_unsigned(&mut self.bytes, len);
            self.bytes.extend(inner.bytes);
        }
    }
}

macro_rules! numbers {
    ($($type:ty)*) => { $(
        impl Field for $type {
            fn read(reader: &mut Reader<'_>) -> Result<$type, Malformed> {
                reader.array().map(<$type>::from_be_bytes)
            }
            fn write(&self, out: &mut Writer) {
                out.bytes.extend(self.to_be_bytes());
            }
        }
    )* };
}
numbers!(i8 i16 i32 i64);

impl Field for Uuid {
    fn read(reader: &mut Reader<'_>) -> Result<Uuid, Malformed> {
        reader.array().map(Uuid)
    }
    fn write(&self, out: &mut Writer) {
        out.bytes.extend(self.0);
    }
}

impl Field for Option<Arc<str>> {
    fn read(reader: &mut Reader<'_>) -> Result<Option<Arc<str>>, Malformed> {
        let Some(len) = reader.len(true)? else { return Ok(None) };
        let text = std::str::from_utf8(reader.take(len)?)
            .map_err(|_| Malformed("a string is not UTF-8".to_owned()))?;
        // Most texts beside offsets are empty, and share one.
        Ok(Some(if text.is_empty() { Arc::default() } else { text.into() }))
    }
    fn write(&self, out: &mut Writer) {
        out.len(self.as_ref().map(|text| text.len()), true);
        out.bytes.extend(self.as_deref().unwrap_or_default().as_bytes());
    }
}

impl Field for Arc<str> {
    fn read(reader: &mut Reader<'_>) -> Result<Arc<str>, Malformed> {
        Option::read(reader)?.ok_or_else(null)
    }
    fn write(&self, out: &mut Writer) {
        out.len(Some(self.len()), true);
        out.bytes.extend(self.as_bytes());
    }
}

/// A copy: what was read from may be a whole segment.
impl Field for Option<Bytes> {
    fn read(reader: &mut Reader<'_>) -> Result<Option<Bytes>, Malformed> {
        let Some(len) = reader.len(false)? else { return Ok(None) };
        reader.take(len).map(|bytes| Some(Bytes::copy_from_slice(bytes)))
    }
    fn write(&self, out: &mut Writer) {
        out.len(self.as_ref().map(Bytes::len), false);
        out.bytes.extend(self.as_deref().unwrap_or_default());
    }
}

impl Field for Bytes {
    fn read(reader: &mut Reader<'_>) -> Result<Bytes, Malformed> {
        Option::read(reader)?.ok_or_else(null)
    }
    fn write(&self, out: &mut Writer) {
        out.len(Some(self.len()), false);
        out.bytes.extend(self);
    }
}

impl<T: Field> Field for Vec<T> {
    fn read(reader: &mut Reader<'_>) -> Result<Vec<T>, Malformed> {
        reader.list(T::read)?.ok_or_else(null)
    }
    fn write(&self, out: &mut Writer) {
        out.len(Some(self.len()), false);
        self.iter().for_each(|item| item.write(out));
    }
}

fn null() -> Malformed {
    Malformed("null where a value is due".to_owned())
}
