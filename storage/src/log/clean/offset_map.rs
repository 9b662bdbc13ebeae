//! The offset map: for each key its last offset, in a memory whose size is known before.
//!
//! A key is known by a hash of 128 bits under a secret, as good as the key itself: a billion of
//! them collide with a probability of 10^-21, and nobody can look for two that do. As in Kafka's
//! `SkimpyOffsetMap`, an entry takes 24 bytes; there the hash is an MD5.

use siphasher::sip128::{Hasher128, SipHasher13};
use std::hash::Hasher;

/// Bytes of an entry.
pub(super) const ENTRY_LEN: usize = 24;

/// Keys that are looked up together. A look-up waits for memory, 100 ns and more where the map is
/// large, and does little else; so many wait at once, see [`OffsetMap::hashes`].
pub(super) const TOGETHER: usize = 16;

/// What a key is known by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hash([u64; 2]);

/// Both halves of the hash, and the offset plus one, so that zeros are a free slot.
type Slot = [u64; 3];

#[derive(Debug)]
pub(super) struct OffsetMap {
    /// Open addressing: a key stands in the first free slot from where its hash points to.
    slots: Vec<Slot>,
    len: usize,
    len_max: usize,
    secret: [u64; 2],
}

impl OffsetMap {
    /// At most `bytes` large, filled to at most `load_factor`, and no larger than `keys_max` need.
    pub(super) fn new(bytes: usize, load_factor: f64, keys_max: u64, secret: [u64; 2]) -> Self {
        let load_factor = if load_factor.is_finite() { load_factor.clamp(0.01, 0.99) } else { 0.9 };
        let needed = scaled(keys_max.saturating_add(1), 1.0 / load_factor).saturating_add(1);
        let count = (bytes / ENTRY_LEN).min(needed).max(2);
        let filled = scaled(u64::try_from(count).unwrap_or(u64::MAX), load_factor);
        // Zeros of the allocator: pages that no key falls on are never touched.
        OffsetMap {
            slots: vec![[0; 3]; count],
            len: 0,
            len_max: filled.clamp(1, count - 1),
            secret,
        }
    }

    /// The hashes of some keys, each with what the map has of it on its way from memory.
    pub(super) fn hashes(&self, keys: [&[u8]; TOGETHER]) -> [Hash; TOGETHER] {
        let hashes = keys.map(|key| self.hash(key));
        // None of these reads waits for another one.
        let touched = hashes.map(|hash| {
            let slot = self.slots.get(start(self.slots.len(), hash));
            slot.map_or(0, |slot| slot[0] ^ slot[2])
        });
        std::hint::black_box(touched);
        hashes
    }

    /// Notes that a key stands at `offset`, above all noted before. False: the map is full, and the
    /// key is not in it.
    pub(super) fn put(&mut self, hash: Hash, offset: i64) -> bool {
        let behind = offset.cast_unsigned().wrapping_add(1);
        let is_full = self.len_max <= self.len;
        let at = find(&self.slots, hash);
        let Some(slot) = self.slots.get_mut(at) else { return false };
        if slot[2] == 0 {
            if is_full {
                return false;
            }
            self.len += 1;
        }
        *slot = [hash.0[0], hash.0[1], behind];
        true
    }

    /// The last offset of a key; None: none was noted.
    pub(super) fn get(&self, hash: Hash) -> Option<i64> {
        let [_, _, behind] = self.slots.get(find(&self.slots, hash))?;
        behind.checked_sub(1).map(u64::cast_signed)
    }

    /// Keys in it.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    fn hash(&self, key: &[u8]) -> Hash {
        let mut hasher = SipHasher13::new_with_keys(self.secret[0], self.secret[1]);
        hasher.write(key);
        let hash = hasher.finish128();
        Hash([hash.h1, hash.h2])
    }
}

/// Where the search for a key begins in so many slots.
#[inline]
fn start(count: usize, hash: Hash) -> usize {
    let count = u128::try_from(count).unwrap_or(0);
    usize::try_from((u128::from(hash.0[0]) * count) >> 64).unwrap_or(0)
}

/// Where the key with that hash stands, or would.
#[inline]
fn find(slots: &[Slot], hash: Hash) -> usize {
    let start = start(slots.len(), hash);
    let (before, from) = slots.split_at_checked(start).unwrap_or((slots, &[]));
    let is_it = |slot: &Slot| slot[2] == 0 || [slot[0], slot[1]] == hash.0;
    match from.iter().position(is_it) {
        Some(at) => start + at,
        // One is always free.
        None => before.iter().position(is_it).unwrap_or(0),
    }
}

/// `count * factor`, rounded down. Numbers of records and bytes are far below where an `f64` has
/// gaps; what is too large is as much as there can be.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "floats saturate where they are cast, and both factors are above 0"
)]
fn scaled(count: u64, factor: f64) -> usize {
    (count as f64 * factor) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(bytes: usize, load_factor: f64, keys_max: u64) -> OffsetMap {
        OffsetMap::new(bytes, load_factor, keys_max, [1, 2])
    }

    fn put(map: &mut OffsetMap, key: &[u8], offset: i64) -> bool {
        map.put(map.hash(key), offset)
    }

    fn get(map: &OffsetMap, key: &[u8]) -> Option<i64> {
        map.get(map.hash(key))
    }

    #[test]
    fn the_last_offset_of_each_key_is_known() {
        let mut map = map(1 << 20, 0.9, 1000);
        for offset in 0..3000_i64 {
            assert!(put(&mut map, &(offset % 1000).to_be_bytes(), offset));
        }
        assert_eq!(map.len(), 1000);
        for key in 0..1000_i64 {
            assert_eq!(get(&map, &key.to_be_bytes()), Some(key + 2000));
        }
        assert_eq!((get(&map, b"other"), get(&map, b"")), (None, None));
        let mut keys: [&[u8]; TOGETHER] = [b""; TOGETHER];
        keys[3] = b"key";
        assert_eq!(map.hashes(keys), keys.map(|key| map.hash(key)));
    }

    #[test]
    fn it_is_as_large_as_it_may_be_or_needs_to_be() {
        let check = |bytes: usize, load_factor: f64, keys: u64, want: (usize, usize)| {
            let map = map(bytes, load_factor, keys);
            assert_eq!((map.slots.len(), map.len_max), want, "{bytes} {load_factor} {keys}");
        };
        check(2400, 0.9, u64::MAX, (100, 90));
        check(2400, 0.5, 1000, (100, 50));
        check(2400, 0.5, 10, (23, 11));
        check(0, 0.9, 10, (2, 1));
        check(2400, 7.0, u64::MAX, (100, 99));
        check(2400, f64::NAN, u64::MAX, (100, 90));
        check(2400, -1.0, u64::MAX, (100, 1));
    }

    #[test]
    fn a_full_one_takes_what_it_has_and_nothing_new() {
        let mut map = map(240, 0.5, 1000);
        for key in 0..5_u8 {
            assert!(put(&mut map, &[key], key.into()));
        }
        assert!(!put(&mut map, &[5], 5));
        assert!(put(&mut map, &[2], 6));
        assert_eq!([5, 2, 4].map(|key| get(&map, &[key])), [None, Some(6), Some(4)]);
    }
}
