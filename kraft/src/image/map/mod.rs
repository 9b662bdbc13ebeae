//! A sorted map whose clones share what neither of them changed.
//!
//! Readers hold an image for as long as they like while the next one is made of it, so a map of
//! ten thousand topics must not be copied to change one. Entries lie in sorted chunks behind
//! reference counts: a change copies one chunk and the list of chunks, and a comparison of two
//! maps skips the chunks that they share.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// Entries in a chunk, at most.
const CHUNK_LEN_MAX: usize = 64;

type Chunk<K, V> = Arc<Vec<(K, V)>>;

/// See the module. No chunk is empty.
pub struct Map<K, V> {
    chunks: Arc<Vec<Chunk<K, V>>>,
    len: usize,
}

/// What became of one key between two maps.
#[derive(Debug, PartialEq, Eq)]
pub enum Change<'a, K, V> {
    Added(&'a K, &'a V),
    Removed(&'a K, &'a V),
    /// The key, the old value and the new one.
    Changed(&'a K, &'a V, &'a V),
}

impl<K, V> Map<K, V> {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// In order of the keys.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> + Clone {
        self.chunks.iter().flat_map(|chunk| chunk.iter()).map(|(key, value)| (key, value))
    }

    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + Clone {
        self.iter().map(|(key, _)| key)
    }

    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + Clone {
        self.iter().map(|(_, value)| value)
    }
}

impl<K: Ord, V> Map<K, V> {
    /// The chunk that holds `key`, if any does.
    fn chunk_of<Q: Ord + ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        let begins_before =
            |chunk: &Chunk<K, V>| chunk.first().is_some_and(|(k, _)| k.borrow() <= key);
        self.chunks.partition_point(begins_before).checked_sub(1)
    }

    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.get_key_value(key).map(|(_, value)| value)
    }

    pub fn get_key_value<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        let chunk = self.chunks.get(self.chunk_of(key)?)?;
        let at = chunk.binary_search_by(|(k, _)| k.borrow().cmp(key)).ok()?;
        chunk.get(at).map(|(key, value)| (key, value))
    }

    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.get(key).is_some()
    }

    /// The entries from `key` on, in order.
    pub fn from<Q: Ord + ?Sized>(&self, key: &Q) -> impl Iterator<Item = (&K, &V)>
    where
        K: Borrow<Q>,
    {
        let chunk = self.chunk_of(key).unwrap_or(0);
        let chunks = self.chunks.get(chunk..).unwrap_or_default().iter();
        let before = (self.chunks.get(chunk))
            .map_or(0, |chunk| chunk.partition_point(|(k, _)| k.borrow() < key));
        chunks.flat_map(|chunk| chunk.iter()).skip(before).map(|(key, value)| (key, value))
    }
}

impl<K: Ord + Clone, V: Clone> Map<K, V> {
    /// The value, to be changed in place.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let chunk = self.chunk_of(key)?;
        let at = self.chunks.get(chunk)?.binary_search_by(|(k, _)| k.borrow().cmp(key)).ok()?;
        let chunk = Arc::make_mut(&mut self.chunks).get_mut(chunk)?;
        Arc::make_mut(chunk).get_mut(at).map(|(_, value)| value)
    }

    /// The value that stood there before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        if let Some(old) = self.get_mut(&key) {
            return Some(std::mem::replace(old, value));
        }
        self.len += 1;
        let at = self.chunk_of(&key).unwrap_or(0);
        let chunks = Arc::make_mut(&mut self.chunks);
        let is_last = at + 1 == chunks.len();
        let Some(chunk) = chunks.get_mut(at) else {
            chunks.push(Arc::new(vec![(key, value)]));
            return None;
        };
        let chunk = Arc::make_mut(chunk);
        let slot = chunk.partition_point(|(k, _)| *k < key);
        if chunk.len() < CHUNK_LEN_MAX {
            chunk.insert(slot, (key, value));
        } else if is_last && slot == chunk.len() {
            // Keys that come in order fill their chunks.
            chunks.push(Arc::new(vec![(key, value)]));
        } else {
            chunk.insert(slot, (key, value));
            let upper = chunk.split_off(CHUNK_LEN_MAX / 2);
            chunks.insert(at + 1, Arc::new(upper));
        }
        None
    }

    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let at = self.chunk_of(key)?;
        let slot = self.chunks.get(at)?.binary_search_by(|(k, _)| k.borrow().cmp(key)).ok()?;
        let chunks = Arc::make_mut(&mut self.chunks);
        let chunk = Arc::make_mut(chunks.get_mut(at)?);
        let (_, value) = chunk.remove(slot);
        self.len -= 1;
        if chunk.is_empty() {
            chunks.remove(at);
        }
        // Neighbours that are nearly empty become one, so that a map that shrank is small.
        for lower in [at, at.saturating_sub(1)] {
            if let Some([one, next]) = chunks.get(lower..lower + 2)
                && one.len() + next.len() <= CHUNK_LEN_MAX / 2
            {
                let next = Arc::unwrap_or_clone(chunks.remove(lower + 1));
                Arc::make_mut(chunks.get_mut(lower)?).extend(next);
            }
        }
        Some(value)
    }
}

impl<K: Ord, V: PartialEq> Map<K, V> {
    /// What must change in `self` to make it `new`, in order of the keys. Costs what differs.
    pub fn changes_to<'a>(&'a self, new: &'a Map<K, V>) -> Vec<Change<'a, K, V>> {
        let mut changes = Vec::new();
        if Arc::ptr_eq(&self.chunks, &new.chunks) {
            return changes;
        }
        let (mut olds, mut news) = (Cursor::at(&self.chunks), Cursor::at(&new.chunks));
        loop {
            if let (Some(old), Some(new)) = (olds.whole_chunk(), news.whole_chunk())
                && Arc::ptr_eq(old, new)
            {
                olds.skip_chunk();
                news.skip_chunk();
                continue;
            }
            let order = match (olds.entry(), news.entry()) {
                (None, None) => return changes,
                (Some((key, value)), None) => {
                    changes.push(Change::Removed(key, value));
                    Ordering::Less
                }
                (None, Some((key, value))) => {
                    changes.push(Change::Added(key, value));
                    Ordering::Greater
                }
                (Some((old_key, old)), Some((new_key, new))) => {
                    let order = old_key.cmp(new_key);
                    match order {
                        Ordering::Less => changes.push(Change::Removed(old_key, old)),
                        Ordering::Greater => changes.push(Change::Added(new_key, new)),
                        Ordering::Equal if old != new => {
                            changes.push(Change::Changed(new_key, old, new));
                        }
                        Ordering::Equal => {}
                    }
                    order
                }
            };
            if order.is_le() {
                olds.step();
            }
            if order.is_ge() {
                news.step();
            }
        }
    }
}

/// A place between two entries.
struct Cursor<'a, K, V> {
    chunks: &'a [Chunk<K, V>],
    /// In the first of `chunks`.
    slot: usize,
}

impl<'a, K, V> Cursor<'a, K, V> {
    fn at(chunks: &'a [Chunk<K, V>]) -> Cursor<'a, K, V> {
        Cursor { chunks, slot: 0 }
    }

    /// The chunk that begins here.
    fn whole_chunk(&self) -> Option<&'a Chunk<K, V>> {
        self.chunks.first().filter(|_| self.slot == 0)
    }

    fn entry(&self) -> Option<(&'a K, &'a V)> {
        self.chunks.first()?.get(self.slot).map(|(key, value)| (key, value))
    }

    fn step(&mut self) {
        self.slot += 1;
        if self.chunks.first().is_some_and(|chunk| chunk.len() <= self.slot) {
            self.skip_chunk();
        }
    }

    fn skip_chunk(&mut self) {
        self.chunks = self.chunks.get(1..).unwrap_or_default();
        self.slot = 0;
    }
}

impl<K, V> Clone for Map<K, V> {
    fn clone(&self) -> Map<K, V> {
        Map { chunks: Arc::clone(&self.chunks), len: self.len }
    }
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Map<K, V> {
        Map { chunks: Arc::default(), len: 0 }
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for Map<K, V> {
    fn eq(&self, other: &Map<K, V>) -> bool {
        Arc::ptr_eq(&self.chunks, &other.chunks)
            || (self.len == other.len && self.iter().eq(other.iter()))
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Map<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests;
