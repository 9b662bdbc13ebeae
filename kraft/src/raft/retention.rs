//! Which snapshots of the metadata are old enough to go, with the log before them. Pure.

/// A snapshot, as far as it counts here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    /// The raft index of the last entry that it covers.
    pub(super) index: u64,
    pub(super) size_bytes: u64,
    /// Bytes of the log's segments that lie wholly before its end.
    pub(super) log_bytes_before: u64,
    pub(super) timestamp_ms: i64,
}

/// The index of the oldest of `snapshots` (ascending) that stays; None: all stay. They go while the
/// rest and the log, of `log_bytes`, take more than `bytes_max`, or are of before `before_ms`; the
/// last one never goes.
pub(super) fn oldest_kept(
    snapshots: &[Kept],
    log_bytes: u64,
    (bytes_max, before_ms): (u64, i64),
) -> Option<u64> {
    let mut left: u64 = snapshots.iter().map(|it| it.size_bytes).sum();
    let (mut log_left, mut oldest) = (log_bytes, None);
    for (elder, next) in snapshots.iter().zip(snapshots.iter().skip(1)) {
        if left.saturating_add(log_left) <= bytes_max && before_ms <= elder.timestamp_ms {
            break;
        }
        left = left.saturating_sub(elder.size_bytes);
        log_left = log_bytes.saturating_sub(next.log_bytes_before);
        oldest = Some(next.index);
    }
    oldest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four snapshots of 10 bytes, each behind 100 bytes more of a log of 400.
    #[track_caller]
    fn check(bytes_max: u64, before_ms: i64, want: Option<u64>) {
        let snapshot = |n: u16| Kept {
            index: u64::from(n),
            size_bytes: 10,
            log_bytes_before: 100 * u64::from(n),
            timestamp_ms: i64::from(n),
        };
        let snapshots = [1, 2, 3, 4].map(snapshot);
        assert_eq!(oldest_kept(&snapshots, 400, (bytes_max, before_ms)), want);
    }

    #[test]
    fn what_takes_more_than_it_may_goes_until_it_does_not() {
        check(440, 0, None);
        check(439, 0, Some(2));
        check(230, 0, Some(2));
        check(229, 0, Some(3));
        check(120, 0, Some(3));
        check(119, 0, Some(4));
        check(0, 0, Some(4));
    }

    #[test]
    fn what_is_too_old_goes_whatever_room_there_is() {
        check(u64::MAX, 1, None);
        check(u64::MAX, 3, Some(3));
        check(u64::MAX, 99, Some(4));
    }
}
