//! The sharing map against the standard one, and what its clones share.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The same entries, by every way of reading them.
fn check(map: &Map<u16, u32>, want: &BTreeMap<u16, u32>) {
    assert_eq!(map.len(), want.len());
    assert!(map.iter().eq(want.iter()));
    assert!(map.iter().rev().eq(want.iter().rev()));
    assert!(map.chunks.iter().all(|chunk| !chunk.is_empty() && chunk.len() <= CHUNK_LEN_MAX));
    for key in [0, 1, 77, 255, 299] {
        assert_eq!(map.get(&key), want.get(&key));
        assert!(map.from(&key).eq(want.range(key..)));
    }
}

/// The changes, as a map that they are applied to.
fn changed(old: &Map<u16, u32>, new: &Map<u16, u32>) -> BTreeMap<u16, u32> {
    let mut result: BTreeMap<u16, u32> = old.iter().map(|(key, value)| (*key, *value)).collect();
    for change in old.changes_to(new) {
        match change {
            Change::Added(key, value) => assert_eq!(result.insert(*key, *value), None),
            Change::Removed(key, value) => assert_eq!(result.remove(key), Some(*value)),
            Change::Changed(key, old, new) => assert_eq!(result.insert(*key, *new), Some(*old)),
        }
    }
    result
}

proptest! {
    #[test]
    fn it_is_the_standard_map_and_a_clone_never_moves(
        steps in prop::collection::vec((0u16..300, prop::option::of(any::<u32>())), 0..600),
        cut in 0usize..600,
    ) {
        let (mut map, mut want) = (Map::default(), BTreeMap::new());
        let mut kept = (map.clone(), want.clone());
        for (at, (key, value)) in steps.into_iter().enumerate() {
            if at == cut {
                kept = (map.clone(), want.clone());
            }
            match value {
                Some(value) => assert_eq!(map.insert(key, value), want.insert(key, value)),
                None => assert_eq!(map.remove(&key), want.remove(&key)),
            }
        }
        check(&map, &want);
        check(&kept.0, &kept.1);
        assert_eq!(changed(&kept.0, &map), want);
        assert_eq!(changed(&map, &kept.0), kept.1);
        assert_eq!(map == kept.0, want == kept.1);
    }
}

#[test]
fn a_change_copies_one_chunk() {
    let mut map = Map::default();
    for key in 0..2000 {
        map.insert(key, key);
    }
    assert_eq!(map.chunks.len(), 2000usize.div_ceil(CHUNK_LEN_MAX), "keys in order fill chunks");
    let old = map.clone();
    *map.get_mut(&1000).unwrap() = 7;
    let shared = old.chunks.iter().zip(map.chunks.iter()).filter(|(a, b)| Arc::ptr_eq(a, b));
    assert_eq!(shared.count(), map.chunks.len() - 1);
    assert_eq!(old.changes_to(&map), [Change::Changed(&1000, &1000, &7)]);
}

#[test]
fn a_map_that_shrank_is_small() {
    let mut map = Map::default();
    for key in 0..2000 {
        map.insert(key, ());
    }
    for key in (0..2000).filter(|key| key % 100 != 0) {
        map.remove(&key);
    }
    assert!(map.chunks.len() <= 2, "{} chunks hold {} entries", map.chunks.len(), map.len());
}
