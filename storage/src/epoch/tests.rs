//! The rules of KIP-101 and KIP-320, row by row.

use super::*;
use crate::disk::sim::SimDisk;
use proptest::prelude::*;

fn of(entries: &[(i32, i64)]) -> LeaderEpochs {
    let mut epochs = LeaderEpochs::default();
    for (epoch, start) in entries {
        epochs.assign(*epoch, *start);
    }
    epochs
}

#[test]
fn a_newer_entry_outlives_those_it_contradicts() {
    for (entries, want) in [
        (&[(0, 0), (1, 5), (3, 9)][..], &[(0, 0), (1, 5), (3, 9)][..]),
        (&[(1, 5), (1, 7)], &[(1, 5)]),
        (&[(1, 5), (1, 3)], &[(1, 3)]),
        (&[(0, 0), (2, 5), (1, 8)], &[(0, 0), (1, 8)]),
        (&[(0, 0), (1, 5), (2, 9), (3, 5)], &[(0, 0), (3, 5)]),
        (&[(0, 0), (1, 0)], &[(1, 0)]),
        (&[(-1, 0), (0, -1)], &[]),
    ] {
        assert_eq!(of(entries).entries(), want, "{entries:?}");
    }
    let mut epochs = of(&[(1, 5)]);
    assert!(!epochs.assign(1, 9));
    assert!(epochs.assign(2, 9));
}

#[test]
fn the_end_of_an_epoch_is_the_start_of_the_next() {
    let epochs = of(&[(2, 10), (4, 20), (7, 30)]);
    for (asked, want) in [
        (-1, (-1, -1)),
        (0, (0, 10)), // Older than all: ends where the first begins.
        (1, (1, 10)),
        (2, (2, 20)),
        (3, (2, 20)),
        (4, (4, 30)),
        (6, (4, 30)),
        (7, (7, 99)),
        (8, (-1, -1)),
    ] {
        assert_eq!(epochs.end_offset_for(asked, 99), want, "epoch {asked}");
    }
    assert_eq!(LeaderEpochs::default().end_offset_for(0, 99), (-1, -1));
    for (offset, want) in [(9, None), (10, Some(2)), (19, Some(2)), (20, Some(4)), (99, Some(7))] {
        assert_eq!(epochs.epoch_of(offset), want, "offset {offset}");
    }
}

#[test]
fn cuts_at_both_ends_keep_the_epochs_of_what_is_left() {
    let all = [(2, 10), (4, 20), (7, 30)];
    for (end, want) in [(31, 3), (30, 2), (20, 1), (11, 1), (10, 0)] {
        let mut epochs = of(&all);
        assert_eq!(epochs.truncate_from_end(end), want < 3);
        assert_eq!(epochs.entries(), &all[..want], "end {end}");
    }
    for (start, want) in [
        (5, &all[..]),
        (10, &all[..]),
        (15, &[(2, 15), (4, 20), (7, 30)]),
        (20, &[(4, 20), (7, 30)]),
        (29, &[(4, 29), (7, 30)]),
        (99, &[(7, 99)]),
    ] {
        let mut epochs = of(&all);
        assert_eq!(epochs.truncate_from_start(start), want != all);
        assert_eq!(epochs.entries(), want, "start {start}");
    }
}

proptest! {
    #[test]
    fn epochs_and_offsets_always_grow_and_survive_a_restart(
        entries in prop::collection::vec((-1..20_i32, -1..40_i64), 0..30),
        start in 0..40_i64,
        end in 0..40_i64,
    ) {
        let mut epochs = of(&entries);
        epochs.truncate_from_start(start);
        epochs.truncate_from_end(end);
        let grows = |pair: &[(i32, i64)]| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1;
        prop_assert!(epochs.entries().windows(2).all(grows));
        let (disk, dir) = (SimDisk::default(), Path::new("/"));
        prop_assert_eq!(LeaderEpochs::load(&disk, dir).unwrap(), None);
        epochs.save(&disk, dir).unwrap();
        prop_assert_eq!(LeaderEpochs::load(&disk, dir).unwrap(), Some(epochs));
    }
}
