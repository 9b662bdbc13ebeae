//! The leader's rules, one event after another.

use super::*;

fn term(epoch: i32, replicas: &[i32], isr: &[i32]) -> Term {
    Term { epoch, replicas: replicas.into(), isr: isr.into() }
}

fn leader(min_insync_replicas: usize, durable: bool, isr: &[i32]) -> Leader {
    let rules = Rules { min_insync_replicas, durable };
    Leader::new(term(5, &[1, 2, 3], isr), rules, 10, 10, 10)
}

#[track_caller]
fn check(leader: &mut Leader, event: Event, watermark: Option<i64>, wants_sync: bool) {
    let effects = leader.step(event);
    assert_eq!((effects.watermark, effects.wants_sync), (watermark, wants_sync));
}

#[test]
fn alone_in_sync_the_watermark_is_the_end_of_the_log() {
    let mut it = leader(1, false, &[1]);
    check(&mut it, Event::Appended { end: 12 }, Some(12), false);
    check(&mut it, Event::Appended { end: 11 }, None, false);
    check(&mut it, Event::Synced { upto: 12 }, None, false);
    assert_eq!(it.watermark(), 12);
}

#[test]
fn a_durable_topic_promises_only_what_is_synced() {
    let mut it = leader(1, true, &[1]);
    check(&mut it, Event::Appended { end: 12 }, None, true);
    check(&mut it, Event::Synced { upto: 11 }, Some(11), true);
    check(&mut it, Event::Synced { upto: 12 }, Some(12), false);
}

#[test]
fn a_durable_topic_answers_nobody_before_it_is_synced() {
    let mut it = leader(1, true, &[1]);
    it.step(Event::Appended { end: 12 });
    assert_eq!([-1, 1].map(|acks| it.promised(acks)), [10, 10]);
    it.step(Event::Synced { upto: 12 });
    assert_eq!([-1, 1].map(|acks| it.promised(acks)), [12, 12]);
    let mut it = leader(2, false, &[1]);
    it.step(Event::Appended { end: 12 });
    assert_eq!([-1, 1].map(|acks| it.promised(acks)), [10, 12]);
    assert_eq!(it.accepted(1), Ok(()));
}

#[test]
fn what_the_leader_has_is_told_whoever_else_is_in_sync() {
    let mut it = leader(2, true, &[1]);
    let kept = |it: &mut Leader, event| {
        let effects = it.step(event);
        assert_eq!(effects.watermark, None, "too few are in sync");
        effects.kept
    };
    assert_eq!(kept(&mut it, Event::Appended { end: 12 }), None);
    assert_eq!(kept(&mut it, Event::Synced { upto: 11 }), Some(11));
    assert_eq!(kept(&mut it, Event::Synced { upto: 11 }), None);
    let rules = Rules { min_insync_replicas: 2, durable: false };
    assert_eq!(kept(&mut it, Event::Configured(rules)), Some(12));
    assert_eq!(kept(&mut it, Event::Appended { end: 14 }), Some(14));
}

#[test]
fn a_topic_that_stops_being_durable_shows_what_it_held_back() {
    let mut it = leader(1, true, &[1]);
    check(&mut it, Event::Appended { end: 12 }, None, true);
    let rules = Rules { min_insync_replicas: 1, durable: false };
    check(&mut it, Event::Configured(rules), Some(12), false);
}

#[test]
fn below_the_minimum_the_watermark_rests_and_acks_all_is_refused() {
    let mut it = leader(2, false, &[1]);
    assert_eq!(it.accepts(-1), Err(ErrorCode::NotEnoughReplicas));
    assert_eq!(it.accepts(1), Ok(()));
    check(&mut it, Event::Appended { end: 12 }, None, false);
    assert_eq!(it.accepted(-1), Err(ErrorCode::NotEnoughReplicasAfterAppend));
    let rules = Rules { min_insync_replicas: 2, durable: false };
    check(&mut it, Event::Decided(term(6, &[1, 2, 3], &[1, 2]), rules), Some(12), false);
    assert_eq!((it.accepts(-1), it.epoch()), (Ok(()), 6));
}

#[test]
fn a_minimum_above_the_replicas_counts_as_all_of_them() {
    let rules = Rules { min_insync_replicas: 3, durable: false };
    let it = Leader::new(term(0, &[1], &[1]), rules, 0, 0, 0);
    assert_eq!(it.accepts(-1), Ok(()));
}

#[test]
fn an_epoch_is_older_equal_or_from_the_future() {
    let it = leader(1, false, &[1]);
    let cases = [
        (-1, Ok(())),
        (5, Ok(())),
        (4, Err(ErrorCode::FencedLeaderEpoch)),
        (6, Err(ErrorCode::UnknownLeaderEpoch)),
    ];
    for (claimed, want) in cases {
        assert_eq!(it.check_epoch(claimed), want, "{claimed}");
    }
}
