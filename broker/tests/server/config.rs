//! What the configuration has done at a start, and what it changes while the broker runs.

use crate::world::{World, batch, offset, start};
use broker::config::Given;
use protocol::messages::create_topics_request::CreatableTopic;
use protocol::messages::{
    CreateTopicsRequest, MetadataRequest, MetadataResponse, StrBytes, TopicName,
};

async fn metadata(world: &World) -> MetadataResponse {
    let all = MetadataRequest::default().with_topics(None);
    world.connect().await.ask(&all, 9).await
}

#[tokio::test(flavor = "multi_thread")]
async fn topics_that_are_wanted_are_there_when_it_serves_and_stay_as_they_are() {
    let wanted = "highwater.create.topics=raw:3:1:compact, plain.x:1:2";
    let world = World::new(&[wanted]).await;
    let topics = async |world: &World| {
        let told = metadata(world).await;
        let mut topics: Vec<_> = (told.topics.iter())
            .map(|topic| (topic.name.as_ref().unwrap().to_string(), topic.partitions.len()))
            .collect();
        topics.sort_unstable();
        topics
    };
    let owned = |name: &str, count: usize| (name.to_owned(), count);
    assert_eq!(topics(&world).await, [owned("plain.x", 1), owned("raw", 3)]);
    let World { broker, dir } = world;
    broker.stop().await;
    // One that cannot be beside what is there takes none of the others with it.
    let wanted = "highwater.create.topics=raw:9:1,plain_x:1:1,new:2:1";
    let broker = start(dir.path(), &[wanted]).await.unwrap();
    let world = World { broker, dir };
    let want = [owned("new", 2), owned("plain.x", 1), owned("raw", 3)];
    assert_eq!(topics(&world).await, want);
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_has_the_id_that_it_is_given_and_is_taken_for_no_other() {
    let world = World::new(&["highwater.cluster.id=test_kafka_cluster_id"]).await;
    let told = metadata(&world).await;
    assert_eq!(told.cluster_id.unwrap().as_str(), "test_kafka_cluster_id");
    let World { broker, dir } = world;
    broker.stop().await;
    let refused = start(dir.path(), &["highwater.cluster.id=other"]).await.err().unwrap();
    assert!(
        refused.to_string().contains("belongs to cluster 'test_kafka_cluster_id', not 'other'")
    );
    start(dir.path(), &[]).await.unwrap().stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_file_says_anew_is_told_to_what_is_open() {
    let world = World::new(&[]).await;
    let mut client = world.connect().await;
    client.create("t").await;
    assert_eq!(offset(&client.produce("t", batch(2000)).await), Ok(0));
    let given = Given::standalone().with_override("message.max.bytes=1000").unwrap();
    world.broker.reread(&given, "localhost");
    // Partitions are told one after the other, behind the broker's back.
    let mut next = 1;
    let code = loop {
        match offset(&client.produce("t", batch(2000)).await) {
            Ok(found) => assert_eq!(found, next),
            Err(code) => break code,
        }
        next += 1;
    };
    assert_eq!(code, 10); // MESSAGE_TOO_LARGE
    assert_eq!(offset(&client.produce("t", batch(100)).await), Ok(next));
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_file_says_anew_is_told_to_the_controller() {
    let world = World::new(&[]).await;
    let mut client = world.connect().await;
    let topic = CreatableTopic::default()
        .with_name(TopicName(StrBytes::from_static_str("t")))
        .with_num_partitions(1)
        .with_replication_factor(1);
    let tried = CreateTopicsRequest::default().with_topics(vec![topic]).with_validate_only(true);
    let mut retention = async || {
        let told = client.ask(&tried, 7).await;
        let configs = told.topics[0].configs.clone().unwrap();
        let told = configs.into_iter().find(|it| it.name.as_str() == "retention.ms").unwrap();
        told.value.unwrap().to_string()
    };
    assert_eq!(retention().await, "604800000");
    let given = Given::standalone().with_override("log.retention.ms=5000").unwrap();
    world.broker.reread(&given, "localhost");
    assert_eq!(retention().await, "5000");
    world.broker.stop().await;
}
