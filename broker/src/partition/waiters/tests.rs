//! Who is woken, and when.

use super::super::leader::ACKS_LEADER;
use super::*;
use std::pin::pin;
use std::task::{Context, Waker};

/// The watermark of a leader alone in sync is `end` now, and readers see `bytes` more.
fn advance(waiters: &Waiters, end: i64, bytes: i64) {
    let effects = Effects { watermark: Some(end), kept: Some(end), wants_sync: false };
    waiters.advanced(effects, bytes);
}

fn is_woken(wakeup: &Wakeup) -> bool {
    let mut woken = pin!(wakeup.woken());
    woken.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

#[test]
fn a_fetch_is_woken_by_the_bytes_it_lacks() {
    let (waiters, fetch) = (Waiters::default(), Wakeup::for_bytes());
    waiters.add_reader(&fetch);
    fetch.arm();
    assert!(fetch.lack(100));
    advance(&waiters, 1, 60);
    assert!(!is_woken(&fetch));
    advance(&waiters, 2, 40);
    assert!(is_woken(&fetch));
}

#[test]
fn bytes_that_arrive_during_the_read_are_not_lost() {
    let (waiters, fetch) = (Waiters::default(), Wakeup::for_bytes());
    waiters.add_reader(&fetch);
    fetch.arm();
    advance(&waiters, 1, 100);
    assert!(!fetch.lack(100));
}

#[test]
fn one_fetch_waits_for_several_partitions() {
    let (a, b, fetch) = (Waiters::default(), Waiters::default(), Wakeup::for_bytes());
    a.add_reader(&fetch);
    b.add_reader(&fetch);
    fetch.arm();
    assert!(fetch.lack(2));
    advance(&a, 1, 1);
    advance(&b, 1, 1);
    assert!(is_woken(&fetch));
}

#[test]
fn a_produce_is_woken_when_all_its_partitions_are_there() {
    let (a, b, produce) = (Waiters::default(), Waiters::default(), Wakeup::for_partitions(2));
    a.add_writer(ACKS_ALL, 5, &produce);
    b.add_writer(ACKS_ALL, 9, &produce);
    advance(&a, 7, 1);
    advance(&a, 8, 1);
    advance(&b, 8, 1);
    assert!(!is_woken(&produce), "once for each partition, however often it moves");
    advance(&b, 9, 1);
    assert!(is_woken(&produce));
}

#[test]
fn produces_are_woken_in_the_order_of_their_offsets() {
    let waiters = Waiters::default();
    let (late, early) = (Wakeup::for_partitions(1), Wakeup::for_partitions(1));
    waiters.add_writer(ACKS_ALL, 9, &late);
    waiters.add_writer(ACKS_ALL, 5, &early);
    advance(&waiters, 5, 1);
    assert!(is_woken(&early) && !is_woken(&late));
}

#[test]
fn a_produce_waits_for_nobody_but_the_leader_if_it_said_so() {
    let waiters = Waiters::default();
    let (all, one) = (Wakeup::for_partitions(1), Wakeup::for_partitions(1));
    waiters.add_writer(ACKS_ALL, 5, &all);
    waiters.add_writer(ACKS_LEADER, 5, &one);
    waiters.advanced(Effects { kept: Some(4), ..Effects::default() }, 0);
    assert!(!is_woken(&one));
    waiters.advanced(Effects { kept: Some(5), ..Effects::default() }, 0);
    assert!(is_woken(&one) && !is_woken(&all));
    waiters.wake_readers();
    assert!(!is_woken(&all), "it does not read");
}

#[test]
fn a_change_of_state_wakes_everybody() {
    let waiters = Waiters::default();
    let (fetch, produce) = (Wakeup::for_bytes(), Wakeup::for_partitions(1));
    waiters.add_reader(&fetch);
    waiters.add_writer(ACKS_ALL, i64::MAX, &produce);
    fetch.arm();
    assert!(fetch.lack(i64::from(i32::MAX)));
    waiters.wake_all();
    assert!(is_woken(&fetch) && is_woken(&produce));
}

#[test]
fn who_has_gone_is_not_counted() {
    let (waiters, fetch) = (Waiters::default(), Wakeup::for_bytes());
    waiters.add_reader(&fetch);
    assert!(!waiters.nobody());
    waiters.remove(&fetch);
    assert!(waiters.nobody());
}
