//! Kafka's variable-length numbers: seven bits a byte, signed ones in zig-zag.

/// Takes an unsigned number off the front; `None` if the bytes end, or no number of 32 bits has
/// them.
#[inline]
pub fn take_unsigned(bytes: &mut &[u8]) -> Option<u32> {
    if let Some(value) = take_short(bytes) {
        return Some(value.into());
    }
    u32::try_from(take_long(bytes, 5)?).ok()
}

/// Takes a signed number of 32 bits off the front.
#[inline]
pub fn take(bytes: &mut &[u8]) -> Option<i32> {
    let raw = take_unsigned(bytes)?;
    Some((raw >> 1).cast_signed() ^ -(raw & 1).cast_signed())
}

/// Takes a signed number of 64 bits off the front.
#[inline]
pub fn take_i64(bytes: &mut &[u8]) -> Option<i64> {
    let raw = match take_short(bytes) {
        Some(value) => u64::from(value),
        None => take_long(bytes, 10)?,
    };
    Some((raw >> 1).cast_signed() ^ -(raw & 1).cast_signed())
}

/// Takes a number of one or two bytes, as most are; `None` if it has more.
#[inline]
fn take_short(bytes: &mut &[u8]) -> Option<u16> {
    match *bytes {
        [first @ ..0x80, rest @ ..] => {
            *bytes = rest;
            Some(u16::from(*first))
        }
        [first, second @ ..0x80, rest @ ..] => {
            *bytes = rest;
            Some(u16::from(*first & 0x7f) | u16::from(*second) << 7)
        }
        _ => None,
    }
}

/// Takes a number of at most `len_max` bytes, 10 of which may hold 64 bits.
fn take_long(bytes: &mut &[u8], len_max: usize) -> Option<u64> {
    let mut value = 0_u64;
    let mut shift = 0_u32;
    for (at, &byte) in bytes.iter().take(len_max).enumerate() {
        let bits = u64::from(byte & 0x7f);
        // Of the tenth byte, one bit is left.
        if shift == 63 && bits > 1 {
            return None;
        }
        value |= bits << shift;
        if byte < 0x80 {
            *bytes = bytes.get(at + 1..)?;
            return Some(value);
        }
        shift += 7;
    }
    None
}

/// Appends an unsigned number.
pub fn put_unsigned(to: &mut Vec<u8>, value: u32) {
    put_u64(to, value.into());
}

/// Appends a signed number of 32 bits.
pub fn put(to: &mut Vec<u8>, value: i32) {
    put_i64(to, value.into());
}

/// Appends a signed number of 64 bits.
pub fn put_i64(to: &mut Vec<u8>, value: i64) {
    put_u64(to, (value << 1 ^ value >> 63).cast_unsigned());
}

fn put_u64(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        let [low, ..] = value.to_le_bytes();
        to.push(low | 0x80);
        value >>= 7;
    }
    let [low, ..] = value.to_le_bytes();
    to.push(low);
}

/// How many bytes a signed number of 64 bits takes.
pub fn len_i64(value: i64) -> usize {
    let raw = (value << 1 ^ value >> 63).cast_unsigned();
    let bits = usize::try_from(64 - raw.leading_zeros()).unwrap_or(64);
    bits.div_ceil(7).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_numbers_have_known_bytes() {
        let check = |value: i64, bytes: &[u8]| {
            let mut to = Vec::new();
            put_i64(&mut to, value);
            assert_eq!((to.as_slice(), len_i64(value)), (bytes, bytes.len()));
            assert_eq!(take_i64(&mut &to[..]), Some(value));
            assert_eq!(take(&mut &to[..]), i32::try_from(value).ok());
        };
        check(0, &[0]);
        check(-1, &[1]);
        check(63, &[0x7e]);
        check(-65, &[0x81, 0x01]);
        check(i32::MAX.into(), &[0xfe, 0xff, 0xff, 0xff, 0x0f]);
        check(i32::MIN.into(), &[0xff, 0xff, 0xff, 0xff, 0x0f]);
        check(i64::MIN, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
    }

    #[test]
    fn numbers_without_end_or_of_too_many_bits_are_refused() {
        for bytes in [&[][..], &[0x80], &[0x80; 5], &[0xff, 0xff, 0xff, 0xff, 0x1f], &[0xff; 20]] {
            assert_eq!(take_unsigned(&mut &bytes[..]), None, "{bytes:x?}");
        }
        assert_eq!(take_i64(&mut &[0x80; 11][..]), None);
        assert_eq!(take_i64(&mut &[255, 255, 255, 255, 255, 255, 255, 255, 255, 2][..]), None);
    }

    proptest! {
        #[test]
        fn every_number_comes_back(value: i64, small: i32, behind: u8) {
            let mut to = Vec::new();
            put_i64(&mut to, value);
            put(&mut to, small);
            put_unsigned(&mut to, small.cast_unsigned());
            to.push(behind);
            let mut from = &to[..];
            prop_assert_eq!(take_i64(&mut from), Some(value));
            prop_assert_eq!(take(&mut from), Some(small));
            prop_assert_eq!(take_unsigned(&mut from), Some(small.cast_unsigned()));
            prop_assert_eq!(from, &[behind]);
        }
    }
}
