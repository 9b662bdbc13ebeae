//! A compacted topic is cleaned while producers write and a reader reads.

use crate::world::{Client, World, offset};
use protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use protocol::messages::{CreateTopicsRequest, FetchRequest, StrBytes};
use protocol::records::builder::BatchBuilder;
use protocol::records::{batches, records};
use std::collections::BTreeMap;

const KEYS: u32 = 50;

async fn create(client: &mut Client) {
    let configs = [("cleanup.policy", "compact"), ("segment.bytes", "1048576")];
    let configs = configs.map(|(name, value)| {
        CreatableTopicConfig::default().with_name(name.into()).with_value(Some(value.into()))
    });
    let topic = CreatableTopic::default()
        .with_name(StrBytes::from_static_str("t").into())
        .with_num_partitions(1)
        .with_replication_factor(1)
        .with_configs(configs.to_vec());
    let request = CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(10_000);
    assert_eq!(client.ask(&request, 4).await.topics[0].error_code, 0);
}

/// From offset 0 to the end: the last value of each key, and how many records there were.
async fn consume(client: &mut Client, end: i64) -> (BTreeMap<Vec<u8>, Vec<u8>>, usize) {
    let (mut at, mut last, mut count) = (0, BTreeMap::new(), 0);
    while at < end {
        let partition =
            FetchPartition::default().with_fetch_offset(at).with_partition_max_bytes(300_000);
        let topic = FetchTopic::default()
            .with_topic(StrBytes::from_static_str("t").into())
            .with_partitions(vec![partition]);
        let request = FetchRequest::default().with_max_bytes(1 << 20).with_topics(vec![topic]);
        let response = client.ask(&request, 11).await;
        let said = &response.responses[0].partitions[0];
        assert_eq!(said.error_code, 0);
        let before = at;
        for batch in batches(said.records.clone().unwrap()).map_while(Result::ok) {
            batch.check_crc().unwrap();
            assert!(at <= batch.header.last_offset());
            let mut walk = records(&batch.bytes, 1 << 20).unwrap();
            while let Some(record) = walk.next() {
                let record = record.unwrap();
                last.insert(record.key.unwrap().to_vec(), record.value.unwrap().to_vec());
                count += 1;
            }
            at = batch.header.next_offset();
        }
        assert!(before < at, "nothing at {before} of {end}");
    }
    (last, count)
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_see_every_key_while_the_log_shrinks_under_them() {
    let world = World::new(&[
        "log.cleaner.backoff.ms=10",
        "log.cleaner.threads=2",
        "log.segment.delete.delay.ms=0",
        "log.cleaner.min.cleanable.ratio=0.01",
    ])
    .await;
    let (mut producer, mut reader) = (world.connect().await, world.connect().await);
    create(&mut producer).await;
    let (mut end, mut least) = (0, usize::MAX);
    // 6 MB in segments of 1 MB; the reader looks again and again, until most of it is gone.
    for round in 0_u32.. {
        if round < 600 {
            let mut batch = BatchBuilder::new(0);
            for number in 0..10_u32 {
                let key = ((round * 10 + number) % KEYS).to_be_bytes();
                batch = batch.key_value(1_700_000_000_000, &key, &round.to_be_bytes().repeat(250));
            }
            let produced = producer.produce("t", batch.build().unwrap()).await;
            end = offset(&produced).unwrap() + 10;
        }
        if round % 50 == 0 || 600 <= round {
            let (last, count) = consume(&mut reader, end).await;
            assert_eq!(last.len(), usize::try_from(KEYS.min((round + 1) * 10)).unwrap());
            least = count;
        }
        if 600 <= round && least < 2000 {
            break;
        }
        assert!(round < 20_000, "{least} of {end} records are still there");
    }
    let (last, _) = consume(&mut reader, end).await;
    for (key, value) in last {
        let round = u32::from_be_bytes(value[..4].try_into().unwrap());
        let key = u32::from_be_bytes(key[..].try_into().unwrap());
        assert_eq!(round, 595 + key / 10);
    }
    world.broker.stop().await;
}
