//! What goes to the device ahead of a sync.

use super::*;
use crate::disk::sim::Operation;

/// Appends a batch for each of `sizes`, and counts what goes to the device with each.
fn check(sizes: &[usize], want: &[u64]) {
    let (log, disk) = log(LogConfig::default());
    let mut written_out = 0;
    let mut each = Vec::new();
    for size in sizes {
        log.append(batch(1, *size, NOW), &CLIENT).unwrap();
        log.write_back(u64::MAX).unwrap();
        each.push(disk.count(Operation::WriteOut) - written_out);
        written_out = disk.count(Operation::WriteOut);
    }
    assert_eq!(each, want, "{sizes:?}");
    assert_eq!(log.recovery_point(), 0, "nothing is durable by it");
}

#[test]
fn whole_units_go_once_and_the_last_pages_stay() {
    check(&[10, 10], &[0, 0]);
    check(&[200_000, 200_000, 10, 200_000], &[0, 1, 0, 1]);
    check(&[600_000, 10], &[1, 0]);
}

#[test]
fn a_flush_finds_nothing_left_to_hand_on() {
    let (log, disk) = log(LogConfig::default());
    log.append(batch(1, 600_000, NOW), &CLIENT).unwrap();
    log.write_back(u64::MAX).unwrap();
    assert_eq!(log.flush(log.log_end()).unwrap(), log.log_end());
    assert_eq!(disk.count(Operation::WriteOut), 1);
}
