//! What whoever watches a broker is told of a disk that has no room.

use super::http::{LISTENER, get};
use super::pages::{fetch, page};
use crate::world::{World, batch, offset};
use broker::partition::upkeep::Chore;
use protocol::error::ErrorCode;
use serde_json::json;
use storage::disk::sim::SimDisk;

const ROOM: u64 = 1 << 30;

/// What is full is found by the write itself, or by the look at the room that is there.
async fn check(reserve: &str, capacity: u64) {
    let disk = SimDisk::default();
    disk.set_capacity(ROOM);
    let reserve = format!("highwater.log.dir.reserve.bytes={reserve}");
    let world = World::on(&disk, &[LISTENER, &reserve, "log.preallocate=false"]).await;
    let mut client = world.connect().await;
    client.create("t").await;
    assert_eq!(offset(&client.produce("t", batch(100)).await), Ok(0));
    assert_eq!(get(world.admin(), "/health/ready").await.status, 200);

    disk.set_capacity(capacity);
    world.broker.ctx.upkeep.run(Chore::Space);
    let refused = offset(&client.produce("t", batch(100_000)).await);
    assert_eq!(refused, Err(ErrorCode::KafkaStorageError.code()));
    let ready = get(world.admin(), "/health/ready").await;
    let reason = "/data is full: produce and commits are refused, reads are served";
    assert_eq!((ready.status, &ready.json()["reason"]), (503, &json!(reason)));
    assert_eq!(get(world.admin(), "/v1/status/ready").await.status, 503);
    assert_eq!(get(world.admin(), "/health/live").await.status, 200);
    assert_eq!(page(&world, "/api/brokers").await["logDirs"][0]["full"], true);
    fetch(&mut client, "t").await;

    disk.set_capacity(ROOM);
    world.broker.ctx.upkeep.run(Chore::Space);
    assert_eq!(offset(&client.produce("t", batch(100_000)).await), Ok(1));
    assert_eq!(get(world.admin(), "/health/ready").await.status, 200);
    assert_eq!(page(&world, "/api/brokers").await["logDirs"][0]["full"], false);
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_below_its_reserve_is_told_until_there_is_room() {
    check("100000000", 50_000_000).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_takes_no_more_is_told_without_a_reserve_too() {
    check("0", 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_is_full_at_the_start_is_told_from_the_first_answer_on() {
    let disk = SimDisk::default();
    disk.set_capacity(50_000_000);
    let world = World::on(&disk, &[LISTENER, "highwater.log.dir.reserve.bytes=100000000"]).await;
    assert_eq!(get(world.admin(), "/health/ready").await.status, 503);
    let mut client = world.connect().await;
    client.create("t").await;
    let refused = offset(&client.produce("t", batch(1)).await);
    assert_eq!(refused, Err(ErrorCode::KafkaStorageError.code()));
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_is_ready_while_one_of_its_directories_takes_records() {
    let disk = SimDisk::default();
    let world = World::on(&disk, &[LISTENER, "log.dirs=/a,/b"]).await;
    let ready = get(world.admin(), "/health/ready").await;
    assert_eq!((ready.status, &ready.json()["warnings"]), (200, &json!([])));
    world.broker.ctx.dirs[0].fail("its cable is out");
    let ready = get(world.admin(), "/health/ready").await;
    let warnings = json!(["/a is offline: its cable is out"]);
    assert_eq!((ready.status, &ready.json()["warnings"]), (200, &warnings));
    world.broker.stop().await;
}
