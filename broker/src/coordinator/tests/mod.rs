//! Shards of a toy machine, on a disk in memory: order, refusals, loading, going away.

mod toy;
mod world;

use super::asked::Asked;
use super::load::Failure;
use protocol::error::ErrorCode;
use std::time::Duration;
use tokio::time::Instant;
use toy::{Ask, Said};
use world::World;

type Outcome = Result<Said, ErrorCode>;

#[expect(clippy::panic_in_result_fn, reason = "what is not there at once fails the test")]
fn now(asked: Asked<Said>) -> Outcome {
    match asked {
        Asked::Now(outcome) => outcome,
        Asked::Later(_) => panic!("not at once"),
    }
}

fn said(text: &str) -> Outcome {
    Ok(Said::Values(text.to_owned()))
}

#[tokio::test(start_paused = true)]
async fn what_was_replied_is_there_after_a_restart() {
    let mut world = World::new(2).await;
    assert_eq!(now(world.ask("a", Ask::Add("x"))), said("x"));
    assert_eq!(now(world.ask("a", Ask::Add("y"))), said("x,y"));
    // Another shard knows nothing of it.
    assert_eq!(now(world.ask("b", Ask::Get)), said(""));
    world.restart().await;
    assert_eq!(now(world.ask("a", Ask::Get)), said("x,y"));
    let all = world.coordinator.ask_all(|| Ask::Get).await.unwrap();
    assert_eq!(all, [Said::Values(String::new()), Said::Values("x,y".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn one_decision_is_one_batch() {
    let world = World::new(1).await;
    assert_eq!(now(world.ask("a", Ask::AddAll(&["x", "y", "z"]))), said("x,y,z"));
    assert_eq!(world.batches(0), [3]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_waits_is_answered_by_what_another_does() {
    let world = World::new(1).await;
    let waits = world.ask("a", Ask::Wait);
    assert_eq!(now(world.ask("a", Ask::Add("x"))), said("x"));
    assert_eq!(waits.reply().await, said("x"));
}

#[tokio::test(start_paused = true)]
async fn a_timer_runs_out_once() {
    let world = World::new(1).await;
    assert_eq!(now(world.ask("a", Ask::AddIn("late", Duration::from_secs(7)))), said(""));
    let start = Instant::now();
    tokio::time::advance(Duration::from_millis(6990)).await;
    assert_eq!(now(world.ask("a", Ask::Get)), said(""));
    world.until("a", |answer| *answer == said("late")).await;
    assert!(start.elapsed() <= Duration::from_millis(7010), "{:?}", start.elapsed());
    assert_eq!(world.batches(0), [1]);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_appended_is_refused_and_forgotten() {
    let mut world = World::new(1).await;
    assert_eq!(now(world.ask("a", Ask::Add("x"))), said("x"));
    let waits = world.ask("a", Ask::Wait);
    world.min_in_sync(2);
    let refused = Ok(Said::Refused(ErrorCode::CoordinatorNotAvailable));
    assert_eq!(now(world.ask("a", Ask::Add("y"))), refused);
    assert_eq!(waits.reply().await, refused);
    world.min_in_sync(1);
    assert_eq!(now(world.ask("a", Ask::Get)), said("x"));
}

#[tokio::test(start_paused = true)]
async fn what_is_due_and_cannot_be_appended_is_due_again_until_it_can() {
    let mut world = World::new(1).await;
    world.ask("a", Ask::AddIn("late", Duration::from_secs(1))).reply().await.unwrap();
    let waits = world.ask("a", Ask::Wait);
    world.min_in_sync(2);
    let refused = Ok(Said::Refused(ErrorCode::CoordinatorNotAvailable));
    assert_eq!(waits.reply().await, refused);
    // Meanwhile the others are answered.
    let start = Instant::now();
    let mut looks = tokio::time::interval(Duration::from_secs(1));
    for _ in 0..100 {
        looks.tick().await;
        assert_eq!(now(world.ask("a", Ask::Get)), said(""));
    }
    world.min_in_sync(1);
    world.until("a", |answer| *answer == said("late")).await;
    assert!(start.elapsed() < Duration::from_secs(131), "{:?}", start.elapsed());
    assert_eq!(world.batches(0), [1]);
}

#[tokio::test(start_paused = true)]
async fn what_can_never_be_loaded_in_this_epoch_is_not_tried_again() {
    let mut world = World::new(1).await;
    world.ask("a", Ask::Add("x")).reply().await.unwrap();
    let epoch = world.epoch();
    assert_eq!(world.load(epoch), Ok(1));
    world.lead(0, world::NODE);
    assert!(matches!(world.load(epoch), Err(Failure::Over(_))));
    world.put(0, |epoch| toy::record("malformed", "y", epoch));
    assert!(matches!(world.load(world.epoch()), Err(Failure::Unreadable(_))));
    world.fail_disk();
    assert_eq!(world.load(world.epoch()), Err(Failure::Over(ErrorCode::KafkaStorageError)));
    world.until("a", |answer| *answer == Err(ErrorCode::NotCoordinator)).await;
    world.coordinator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_the_next_attempt_to_load() {
    let mut world = World::new(1).await;
    world.put(0, |epoch| toy::record("malformed", "y", epoch));
    world.reopen().await;
    world.until("a", |answer| *answer == Err(ErrorCode::NotCoordinator)).await;
    let start = Instant::now();
    world.coordinator.stop().await;
    assert_eq!(start.elapsed(), Duration::ZERO);
}

/// Appends in a thread of its own, which is held up while it has the shard.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_next_epoch_is_loaded_when_the_last_append_of_the_one_before_is_in_the_log() {
    let mut world = World::new(1).await;
    world.ask("a", Ask::Add("x")).reply().await.unwrap();
    let (gate, at_gate) = toy::gate();
    let coordinator = std::sync::Arc::clone(&world.coordinator);
    let old = std::thread::spawn(move || coordinator.ask("a", Ask::Hold(gate)));
    at_gate.arrived();
    world.lead(0, world::NODE);
    let loading = Err(ErrorCode::CoordinatorLoadInProgress);
    assert_eq!(world.ask("a", Ask::Get).reply().await, loading);
    // Time enough for a load that waits for nobody.
    for _ in 0..20_000 {
        tokio::task::yield_now().await;
        assert_eq!(world.ask("a", Ask::Get).reply().await, loading);
    }
    at_gate.open();
    let left = old.join().unwrap().reply().await;
    assert_eq!(left, Ok(Said::Refused(ErrorCode::NotCoordinator)));
    while world.ask("a", Ask::Get).reply().await != said("x") {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_decision_larger_than_a_segment_is_refused() {
    let world = World::new(1).await;
    let large = toy::noise(world::SEGMENT_BYTES);
    let refused = Ok(Said::Refused(ErrorCode::UnknownServerError));
    assert_eq!(now(world.ask("a", Ask::Add(large))), refused);
    // What is larger than a client's batch may be is not.
    let less = toy::noise(world::SEGMENT_BYTES / 2);
    assert_eq!(now(world.ask("a", Ask::Add(less))), said(less));
}

#[tokio::test(start_paused = true)]
async fn in_durable_mode_a_reply_waits_for_the_sync() {
    let mut world = World::new(1).await;
    world.configure("flush.messages", "1");
    let first = world.ask("a", Ask::Add("x"));
    // It sees what is not committed yet, so it waits too.
    let second = world.ask("a", Ask::Get);
    assert!(matches!((&first, &second), (Asked::Later(_), Asked::Later(_))));
    world.sync();
    assert_eq!((first.reply().await, second.reply().await), (said("x"), said("x")));
    let never = world.ask("a", Ask::Add("y"));
    let refused = Ok(Said::Refused(ErrorCode::CoordinatorNotAvailable));
    assert_eq!(never.reply().await, refused);
}

#[tokio::test(start_paused = true)]
async fn a_transaction_counts_from_its_marker_on() {
    let mut world = World::new(1).await;
    world.put(0, |epoch| toy::transactional(7, epoch, "seven"));
    world.put(0, |epoch| toy::transactional(8, epoch, "eight"));
    world.put(0, |epoch| toy::transactional(9, epoch, "open"));
    world.ask("a", Ask::Add("plain")).reply().await.unwrap();
    world.put(0, |epoch| toy::marker(8, epoch, false));
    world.put(0, |epoch| toy::marker(7, epoch, true));
    world.restart().await;
    assert_eq!(now(world.ask("a", Ask::Get)), said("plain,seven,open?"));
}

#[tokio::test(start_paused = true)]
async fn what_is_not_known_is_passed_over_and_what_is_damaged_is_not() {
    let mut world = World::new(2).await;
    world.ask("a", Ask::Add("x")).reply().await.unwrap();
    world.ask("b", Ask::Add("x")).reply().await.unwrap();
    world.put(world::shard_of("a"), |epoch| toy::record("unknown", "y", epoch));
    world.put(world::shard_of("b"), |epoch| toy::record("malformed", "y", epoch));
    world.reopen().await;
    world.loaded("a").await;
    assert_eq!(now(world.ask("a", Ask::Get)), said("x"));
    world.until("b", |answer| *answer == Err(ErrorCode::NotCoordinator)).await;
    let all = world.coordinator.ask_all(|| Ask::Get).await;
    assert_eq!(all, Ok(vec![Said::Values("x".to_owned())]));
}

#[tokio::test(start_paused = true)]
async fn while_one_shard_loads_nobody_is_told_of_all() {
    let mut world = World::new(2).await;
    world.ask("a", Ask::Add("x")).reply().await.unwrap();
    let shard = usize::try_from(world::shard_of("a")).unwrap();
    world.lead(shard, 2);
    world.lead(shard, world::NODE);
    let all = world.coordinator.ask_all(|| Ask::Get).await;
    assert_eq!(all, Err(ErrorCode::CoordinatorLoadInProgress));
    world.loaded("a").await;
    assert_eq!(world.coordinator.ask_all(|| Ask::Get).await.map(|all| all.len()), Ok(2));
}

#[tokio::test(start_paused = true)]
async fn who_waits_where_the_leader_goes_is_sent_away() {
    let mut world = World::new(1).await;
    world.ask("a", Ask::Add("x")).reply().await.unwrap();
    let waits = world.ask("a", Ask::Wait);
    world.lead(0, 2);
    assert_eq!(waits.reply().await, Err(ErrorCode::NotCoordinator));
    assert_eq!(now(world.ask("a", Ask::Get)), Err(ErrorCode::NotCoordinator));
    world.lead(0, world::NODE);
    assert_eq!(now(world.ask("a", Ask::Get)), Err(ErrorCode::CoordinatorLoadInProgress));
    world.loaded("a").await;
}

#[tokio::test(start_paused = true)]
async fn without_the_topic_there_is_no_coordinator() {
    let mut world = World::new(1).await;
    let waits = world.ask("a", Ask::Wait);
    world.delete();
    assert_eq!(waits.reply().await, Err(ErrorCode::NotCoordinator));
    assert_eq!(now(world.ask("a", Ask::Get)), Err(ErrorCode::CoordinatorNotAvailable));
}

#[tokio::test(start_paused = true)]
async fn a_bug_takes_one_shard_off_for_a_moment() {
    let world = World::new(2).await;
    world.ask("a", Ask::Add("x")).reply().await.unwrap();
    let (waits, other) = (world.ask("a", Ask::Wait), world.ask("b", Ask::Wait));
    assert_eq!(now(world.ask("a", Ask::Panic)), Err(ErrorCode::UnknownServerError));
    assert_eq!(waits.reply().await, Err(ErrorCode::NotCoordinator));
    assert_eq!(now(world.ask("a", Ask::Get)), Err(ErrorCode::CoordinatorLoadInProgress));
    world.loaded("a").await;
    assert_eq!(now(world.ask("a", Ask::Get)), said("x"));
    world.ask("b", Ask::Add("y")).reply().await.unwrap();
    assert_eq!(other.reply().await, said("y"));
}

#[tokio::test(start_paused = true)]
async fn a_stop_sends_away_who_waits_for_others_and_answers_who_waits_for_the_disk() {
    let mut world = World::new(1).await;
    world.configure("flush.messages", "1");
    let _without_reply = world.ask("a", Ask::AddQuietly("x"));
    let held = world.ask("b", Ask::Get);
    let waits = world.ask("a", Ask::Wait);
    world.coordinator.close();
    assert_eq!(waits.reply().await, Err(ErrorCode::NotCoordinator));
    assert_eq!(now(world.ask("a", Ask::Get)), Err(ErrorCode::CoordinatorNotAvailable));
    world.sync();
    assert_eq!(held.reply().await, said("x"));
    world.coordinator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_change_of_metadata_reaches_every_shard() {
    let mut world = World::new(1).await;
    world.create("other");
    assert_eq!(now(world.ask("a", Ask::Topics)), said("other,toys"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn from_many_threads_no_record_is_lost_and_no_reply_is_out_of_order() {
    let world = std::sync::Arc::new(World::new(1).await);
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let world = std::sync::Arc::clone(&world);
        clients.spawn(async move {
            let mut last = 0;
            for _ in 0..200 {
                let Ok(Said::Count(count)) = world.ask("a", Ask::Count).reply().await else {
                    panic!("not counted")
                };
                assert!(last < count);
                last = count;
            }
            last
        });
    }
    let last = clients.join_all().await.into_iter().max();
    assert_eq!(last, Some(1600));
    assert_eq!(world.batches(0).len(), 1600);
}
