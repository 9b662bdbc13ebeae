//! The JSON pages for whoever shows the broker to people.

use super::http::{Answer, get};
use crate::world::{Client, World, batch, offset};
use bytes::Bytes;
use protocol::compression::Codec;
use protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use protocol::messages::offset_commit_request::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use protocol::messages::{FetchRequest, FindCoordinatorRequest, OffsetCommitRequest, StrBytes};
use protocol::records::builder::{BatchBuilder, NewRecord};
use serde_json::{Value, json};

pub(super) async fn page(world: &World, path: &str) -> Value {
    let Answer { status, head, body } = get(world.admin(), path).await;
    assert_eq!(status, 200, "{path}: {body}");
    assert!(head.contains("content-type: application/json"), "{head}");
    serde_json::from_str(&body).unwrap()
}

pub(super) async fn commit(client: &mut Client, group: &str, offset: i64) {
    let find = FindCoordinatorRequest::default()
        .with_key_type(0)
        .with_coordinator_keys(vec![StrBytes::from(group.to_owned())]);
    assert_eq!(client.ask(&find, 4).await.coordinators[0].error_code, 0);
    let partition = OffsetCommitRequestPartition::default().with_committed_offset(offset);
    let topic = OffsetCommitRequestTopic::default()
        .with_name(StrBytes::from("t").into())
        .with_partitions(vec![partition]);
    let commit = OffsetCommitRequest::default()
        .with_group_id(StrBytes::from(group.to_owned()).into())
        .with_generation_id_or_member_epoch(-1)
        .with_topics(vec![topic]);
    let response = client.ask(&commit, 8).await;
    assert_eq!(response.topics[0].partitions[0].error_code, 0);
}

pub(super) async fn fetch(client: &mut Client, topic: &str) {
    let partition = FetchPartition::default().with_partition_max_bytes(1 << 20);
    let topic = FetchTopic::default()
        .with_topic(StrBytes::from(topic.to_owned()).into())
        .with_partitions(vec![partition]);
    let fetch = FetchRequest::default().with_max_bytes(1 << 20).with_topics(vec![topic]);
    assert_eq!(client.ask(&fetch, 4).await.responses[0].partitions[0].error_code, 0);
}

/// Three records in one packed batch: text, bytes, and none.
pub(super) fn packed() -> Bytes {
    let mut builder = BatchBuilder::new(0).codec(Codec::Zstd, None);
    let long = "é".repeat(5000);
    for (key, value) in [
        (Some(&b"ada"[..]), Some(long.as_bytes())),
        (Some(&b"\xff\x00"[..]), Some(&b"{\"a\":\"<b>\"}"[..])),
        (None, None),
    ] {
        let headers = &[(&b"h"[..], Some(&b"1"[..])), (&b"n"[..], None)];
        builder.push(NewRecord { timestamp_ms: 1_700_000_000_123, key, value, headers });
    }
    builder.build().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cluster_and_its_topics_are_told() {
    let world = World::with_admin(&["num.partitions=1"]).await;
    let mut client = world.connect().await;
    client.create("t").await;
    client.produce("t", batch(100)).await;

    let brokers = page(&world, "/api/brokers").await;
    assert_eq!((&brokers["nodeId"], &brokers["controllerId"]), (&json!(1), &json!(1)));
    assert_eq!((&brokers["state"], &brokers["readsMessages"]), (&json!("RUNNING"), &json!(true)));
    assert_eq!(brokers["brokers"][0]["listeners"][0]["port"], world.address().port());
    assert_eq!(brokers["brokers"][0]["fenced"], false);
    assert_eq!(brokers["logDirs"][0]["failure"], Value::Null);
    assert!(0 < brokers["logDirs"][0]["freeBytes"].as_u64().unwrap());

    let topics = page(&world, "/api/topics").await;
    let topic = &topics["topics"][0];
    assert_eq!((&topic["name"], &topic["messages"]), (&json!("t"), &json!(1)));
    assert!(100 < topic["bytes"].as_u64().unwrap());

    let topic = page(&world, "/api/topics/t").await;
    let partition = &topic["partitions"][0];
    assert_eq!((&partition["startOffset"], &partition["endOffset"]), (&json!(0), &json!(1)));
    assert_eq!((&partition["leader"], &partition["isr"]), (&json!(1), &json!([1])));
    assert_eq!(topic["configs"], json!([]));
    assert_eq!(get(world.admin(), "/api/topics/none").await.status, 404);
    assert_eq!(get(world.admin(), "/api/none").await.status, 404);
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_shown_from_any_offset() {
    let world = World::with_admin(&[]).await;
    let mut client = world.connect().await;
    client.create("t").await;
    client.produce("t", packed()).await;
    client.produce("t", batch(3)).await;

    let all = page(&world, "/api/topics/t/messages?offset=earliest").await;
    assert_eq!(
        (&all["startOffset"], &all["endOffset"], &all["nextOffset"]),
        (&json!(0), &json!(4), &json!(4))
    );
    let [first, second, third, fourth] = all["messages"].as_array().unwrap().as_slice() else {
        panic!("{all}")
    };
    assert_eq!(first["key"], json!({ "bytes": 3, "text": "ada" }));
    assert_eq!(first["value"]["bytes"], 10_000);
    assert_eq!(first["value"]["text"], "é".repeat(2048));
    assert_eq!(first["timestampMs"], 1_700_000_000_123_i64);
    assert_eq!(second["key"], json!({ "bytes": 2, "base64": "/wA=" }));
    assert_eq!(
        second["headers"],
        json!([
            { "key": "h", "value": { "bytes": 1, "text": "1" } },
            { "key": "n", "value": null },
        ])
    );
    assert_eq!((&third["key"], &third["value"]), (&Value::Null, &Value::Null));
    assert_eq!((&fourth["offset"], &fourth["value"]["text"]), (&json!(3), &json!("vvv")));

    // From the middle of a batch; a page ends where it was asked to, and says where to go on.
    let some = page(&world, "/api/topics/t/messages?offset=1&count=2&bytes=1").await;
    let offsets: Vec<_> =
        some["messages"].as_array().unwrap().iter().map(|it| &it["offset"]).collect();
    assert_eq!((offsets, &some["nextOffset"]), (vec![&json!(1), &json!(2)], &json!(3)));
    assert_eq!(some["messages"][0]["value"], json!({ "bytes": 11, "text": "{" }));
    for (query, first) in [("count=1", 3), ("offset=latest&count=2", 2), ("timestamp=0", 0)] {
        let page = page(&world, &format!("/api/topics/t/messages?{query}")).await;
        assert_eq!(page["messages"][0]["offset"], first, "{query}");
    }
    let none = page(&world, "/api/topics/t/messages?offset=99").await;
    assert_eq!((&none["messages"], &none["nextOffset"]), (&json!([]), &json!(4)));
    for (query, status) in [("partition=7", 404), ("offset=x", 400), ("offest=1", 400)] {
        let path = format!("/api/topics/t/messages?{query}");
        assert_eq!(get(world.admin(), &path).await.status, status, "{query}");
    }
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_of_ten_megabytes_is_shown_by_its_beginning() {
    let world = World::with_admin(&["message.max.bytes=20000000"]).await;
    let mut client = world.connect().await;
    client.create("t").await;
    let packed = |bytes: usize| {
        let mut builder = BatchBuilder::new(0).codec(Codec::Zstd, None);
        builder.push(NewRecord {
            timestamp_ms: 1_700_000_000_000,
            key: None,
            value: Some(&vec![b'v'; bytes]),
            headers: &[],
        });
        builder.build().unwrap()
    };
    for (at, records) in [batch(10 << 20), packed(10 << 20), batch(3)].into_iter().enumerate() {
        let said = offset(&client.produce("t", records).await);
        assert_eq!(said, Ok(i64::try_from(at).unwrap()));
    }
    let all = page(&world, "/api/topics/t/messages?offset=0&bytes=8").await;
    for (at, bytes) in [(0, 10 << 20), (1, 10 << 20), (2, 3)] {
        let value = &all["messages"][at]["value"];
        assert_eq!(
            (&value["bytes"], &value["text"]),
            (&json!(bytes), &json!("v".repeat(bytes.min(8))))
        );
    }
    assert_eq!(all["nextOffset"], 3);
    let one = get(world.admin(), "/api/topics/t/messages?offset=0&bytes=99999999").await;
    assert!(one.body.len() < 200_000, "{}", one.body.len());

    // What unpacks to more than is kept for it is told, and passed over.
    client.produce("t", packed(40 << 20)).await;
    client.produce("t", batch(5)).await;
    let two = page(&world, "/api/topics/t/messages?offset=3").await;
    let error = "the records are of more than 33554432 bytes";
    assert_eq!(
        (&two["messages"][0]["offset"], &two["messages"][0]["error"]),
        (&json!(3), &json!(error))
    );
    assert_eq!(two["messages"][1]["value"]["text"], "vvvvv");
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_header_is_shown_by_its_beginning_too() {
    let world = World::with_admin(&[]).await;
    let mut client = world.connect().await;
    client.create("t").await;
    let mut builder = BatchBuilder::new(0).codec(Codec::Zstd, None);
    for _ in 0..10 {
        let headers = &[(&[b'n'; 100_000][..], Some(&[b'v'; 100_000][..]))];
        let (timestamp_ms, key, value) = (1_700_000_000_000, None, None);
        builder.push(NewRecord { timestamp_ms, key, value, headers });
    }
    assert_eq!(offset(&client.produce("t", builder.build().unwrap()).await), Ok(0));
    let all = page(&world, "/api/topics/t/messages?offset=0&bytes=8").await;
    let header =
        json!({ "key": "n".repeat(8), "value": { "bytes": 100_000, "text": "v".repeat(8) } });
    assert_eq!(all["messages"][9]["headers"], json!([header]));
    let all = get(world.admin(), "/api/topics/t/messages?offset=0").await;
    assert!(all.body.len() < 100_000, "{}", all.body.len());
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_not_shown_where_that_is_off() {
    let world = World::with_admin(&["highwater.admin.read.messages=false"]).await;
    world.connect().await.create("t").await;
    let answer = get(world.admin(), "/api/topics/t/messages").await;
    assert_eq!(answer.status, 403);
    assert!(answer.body.contains("highwater.admin.read.messages"), "{}", answer.body);
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_are_told_with_their_lag() {
    let world = World::with_admin(&["offsets.topic.num.partitions=3"]).await;
    let mut client = world.connect().await;
    client.create("t").await;
    for _ in 0..5 {
        client.produce("t", batch(1)).await;
    }
    assert_eq!(page(&world, "/api/groups").await, json!({ "groups": [] }));
    for (group, offset) in [("readers", 2), ("a b/c", 5), ("..", 4)] {
        commit(&mut client, group, offset).await;
    }
    let groups = page(&world, "/api/groups").await;
    let told: Vec<_> =
        groups["groups"].as_array().unwrap().iter().map(|it| (&it["id"], &it["lag"])).collect();
    let odd = (&json!(".."), &json!(1));
    assert_eq!(told, [odd, (&json!("a b/c"), &json!(0)), (&json!("readers"), &json!(3))]);

    let group = page(&world, "/api/groups/readers").await;
    assert_eq!((&group["type"], &group["state"]), (&json!("classic"), &json!("Empty")));
    let row = json!({
        "topic": "t", "partition": 0, "committed": 2, "end": 5, "lag": 3, "memberId": null,
    });
    assert_eq!(group["offsets"], json!([row]));
    assert_eq!(page(&world, "/api/groups/a%20b%2Fc").await["lag"], 0);
    assert_eq!(page(&world, "/api/groups?id=..").await["lag"], 1);
    assert_eq!(get(world.admin(), "/api/groups?id=").await.status, 404);
    assert_eq!(get(world.admin(), "/api/groups/none").await.status, 404);
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rates_count_what_comes_and_goes() {
    let world = World::with_admin(&[]).await;
    let mut client = world.connect().await;
    client.create("t").await;
    let before = page(&world, "/api/rates").await;
    assert_eq!((&before["messagesIn"], &before["connections"]), (&json!(0), &json!(1)));
    client.produce("t", packed()).await;
    fetch(&mut client, "t").await;
    let bytes = packed().len();
    let counted = json!({ "messagesIn": 3, "bytesIn": bytes, "bytesOut": bytes });
    let after = page(&world, "/api/rates").await;
    assert_eq!(after["topics"]["t"], counted);
    for count in ["messagesIn", "bytesIn", "bytesOut"] {
        assert_eq!(after[count], counted[count], "{count}");
    }
    assert!(before["requests"].as_u64() < after["requests"].as_u64());
    world.broker.stop().await;
}
