//! The image of Apache Kafka's own logs, what records do to it, and what tells two images apart.

use super::*;
use crate::record::tests::from_hex;
use crate::record::*;

const LOG: &str = include_str!("../record/golden/log.txt");

/// The two logs that Apache Kafka wrote: offsets and records.
fn kafka_logs() -> Vec<Vec<(i64, Record)>> {
    let mut logs = Vec::new();
    for line in LOG.lines().skip(1) {
        match line.strip_prefix("# ") {
            Some(_) => logs.push(Vec::new()),
            None => {
                let (offset, hex) = line.split_once(' ').unwrap();
                let record = Record::read(&from_hex(hex)).unwrap();
                logs.last_mut().unwrap().push((offset.parse().unwrap(), record));
            }
        }
    }
    logs
}

fn image_of(records: impl IntoIterator<Item = Record>) -> Image {
    let mut image = Image::default();
    for record in records {
        image.apply(&record, 0).unwrap();
    }
    image
}

fn id(number: u8) -> Uuid {
    Uuid([number; 16])
}

fn topic(name: &str, number: u8) -> Record {
    TopicRecord { name: name.to_owned(), topic_id: id(number), ..Default::default() }.into()
}

fn partition(topic: u8, partition_id: i32) -> Record {
    PartitionRecord {
        partition_id,
        topic_id: id(topic),
        replicas: vec![1, 2],
        isr: vec![1, 2],
        leader: 1,
        leader_epoch: 0,
        partition_epoch: 0,
        directories: vec![id(101), id(102)],
        ..Default::default()
    }
    .into()
}

fn leader(topic: u8, partition_id: i32, leader: i32) -> Record {
    PartitionChangeRecord { partition_id, topic_id: id(topic), leader, ..Default::default() }.into()
}

fn config(kind: i8, resource: &str, name: &str, value: Option<&str>) -> Record {
    ConfigRecord {
        resource_type: kind,
        resource_name: resource.to_owned(),
        name: name.to_owned(),
        value: value.map(str::to_owned),
        ..Default::default()
    }
    .into()
}

fn broker(id: i32) -> Record {
    RegisterBrokerRecord { broker_id: id, broker_epoch: 7, ..Default::default() }.into()
}

fn refused(image: &mut Image, record: &Record) -> String {
    image.apply(record, 9).unwrap_err().to_string()
}

#[test]
fn kafkas_logs_apply_and_their_snapshots_give_equal_images() {
    for log in kafka_logs() {
        let mut image = Image::default();
        for (offset, record) in &log {
            image.apply(record, *offset).unwrap();
            if !image.in_transaction() {
                let mut again = image_of(image.to_records());
                again.offset = image.offset;
                assert_eq!(again, image, "after {record:?}");
            }
        }
    }
}

#[test]
fn a_log_of_kafka_says_what_kafka_says() {
    let [first, second]: [Image; 2] = <[_; 2]>::try_from(kafka_logs()).unwrap().map(|log| {
        let mut image = Image::default();
        for (offset, record) in &log {
            image.apply(record, *offset).unwrap();
        }
        image
    });
    assert_eq!((first.offset, first.metadata_version()), (467, 33));
    assert_eq!(first.feature("share.version"), 2);
    assert_eq!(first.topics().len(), 1, "beta was deleted");
    let alpha = first.topic("alpha").unwrap();
    assert_eq!(first.topic_by_id(alpha.id), Some(alpha));
    let overrides = first.config(&ConfigResource::topic("alpha")).unwrap();
    assert_eq!(overrides["cleanup.policy"], "compact,delete");
    let partition = first.partition("alpha", 2).unwrap();
    // Created, left, came back, left.
    assert_eq!((partition.leader, partition.leader_epoch, partition.partition_epoch), (-1, 3, 3));
    assert_eq!((&*partition.isr, &*partition.eligible_leader_replicas), (&[][..], &[1][..]));
    let broker = first.broker(1).unwrap();
    assert_eq!(
        (broker.broker_epoch, broker.fenced, broker.in_controlled_shutdown),
        (258, true, true)
    );
    assert_eq!(broker.cordoned_log_dirs, Some(Vec::new()));
    assert_eq!((first.acls().count(), first.next_producer_id()), (1, 1000));

    assert_eq!((second.scram_credentials().count(), second.quotas().count()), (0, 1));
    let value = |resource: ConfigResource, key| second.config_value(&resource, key);
    assert_eq!(value(ConfigResource::broker_default(), "log.retention.ms"), Some("70000"));
    assert_eq!(value(ConfigResource::broker(1), "log.cleaner.threads"), Some("2"));
    assert_eq!(value(ConfigResource::group("g1"), "consumer.session.timeout.ms"), Some("50000"));
    assert_eq!(value(ConfigResource::topic("alpha"), "retention.ms"), None);
    assert_eq!(value(ConfigResource::topic("alpha"), "min.insync.replicas"), Some("1"));
}

#[test]
fn a_transaction_counts_at_its_end_or_never() {
    let mut image = image_of([BeginTransactionRecord::default().into(), topic("a", 1)]);
    assert!(image.in_transaction() && image.topic("a").is_none());
    assert_eq!(image.to_records().count(), 0, "a snapshot holds what counts");
    image.apply(&EndTransactionRecord::default().into(), 2).unwrap();
    assert!(!image.in_transaction() && image.topic("a").is_some());

    for record in [BeginTransactionRecord::default().into(), topic("b", 2)] {
        image.apply(&record, 3).unwrap();
    }
    image.apply(&AbortTransactionRecord::default().into(), 5).unwrap();
    assert!(!image.in_transaction() && image.topic("b").is_none());
    assert_eq!(
        refused(&mut image, &EndTransactionRecord::default().into()),
        "the metadata log contradicts itself at offset 9: EndTransactionRecord: no transaction is \
         open"
    );
}

#[test]
fn a_record_that_contradicts_the_image_is_refused() {
    let ids = ProducerIdsRecord { next_producer_id: 1000, ..Default::default() };
    let mut image = image_of([topic("a", 1), partition(1, 0), broker(1), ids.into()]);
    let mut check = |record: Record, want: &str| {
        let why = refused(&mut image, &record);
        assert!(why.contains(want), "{why}");
    };
    check(topic("a", 2), "topic a exists already");
    check(topic("b", 1), "is taken");
    check(partition(3, 0), "there is no topic with id");
    check(leader(1, 7, 2), "a has no partition 7");
    check(RemoveTopicRecord { topic_id: id(9), ..Default::default() }.into(), "there is no topic");
    check(FenceBrokerRecord { id: 2, epoch: 7, ..Default::default() }.into(), "not registered");
    check(FenceBrokerRecord { id: 1, epoch: 6, ..Default::default() }.into(), "at epoch 7, not 6");
    let change = BrokerRegistrationChangeRecord {
        broker_id: 1,
        broker_epoch: 7,
        fenced: 2,
        ..Default::default()
    };
    check(change.into(), "2 is no change of a state");
    let ids = ProducerIdsRecord { next_producer_id: 1000, ..Default::default() };
    check(ids.into(), "were given out up to 1000");
    let level = FeatureLevelRecord { name: "metadata.version".to_owned(), ..Default::default() };
    check(level.into(), "cannot be taken away");
}

#[test]
fn a_change_raises_epochs_as_kafka_does() {
    let mut image = image_of([topic("a", 1), partition(1, 0)]);
    let isr = PartitionChangeRecord {
        partition_id: 0,
        topic_id: id(1),
        isr: Some(vec![1]),
        ..Default::default()
    };
    image.apply(&isr.into(), 1).unwrap();
    let epochs = |image: &Image| {
        let partition = image.partition("a", 0).unwrap();
        (partition.leader, partition.leader_epoch, partition.partition_epoch)
    };
    assert_eq!(epochs(&image), (1, 0, 1));
    // The same leader, named, is a new term of it.
    image.apply(&leader(1, 0, 1), 2).unwrap();
    assert_eq!(epochs(&image), (1, 1, 2));
}

#[test]
fn a_replica_of_which_nobody_said_where_it_lies_is_migrating() {
    let older = PartitionRecord { topic_id: id(1), replicas: vec![1, 2], ..Default::default() };
    let image = image_of([topic("a", 1), older.into()]);
    assert_eq!(*image.partition("a", -1).unwrap().directories, [Uuid::MIGRATING; 2]);
}

#[test]
fn eligible_replicas_are_cleared_where_there_are_some() {
    let eligible = PartitionChangeRecord {
        partition_id: 0,
        topic_id: id(1),
        eligible_leader_replicas: Some(vec![2]),
        last_known_elr: Some(vec![1]),
        ..Default::default()
    };
    let records = [topic("a", 1), partition(1, 0), partition(1, 1), eligible.into()];
    for topic_name in ["", "a"].map(str::to_owned) {
        let mut image = image_of(records.clone());
        image.apply(&ClearElrRecord { topic_name, ..Default::default() }.into(), 1).unwrap();
        let epochs = [0, 1].map(|number| image.partition("a", number).unwrap().partition_epoch);
        assert_eq!(epochs, [2, 0]);
        assert!(image.partition("a", 0).unwrap().eligible_leader_replicas.is_empty());
    }
}

#[test]
fn a_delta_names_all_that_differs_and_nothing_else() {
    let old = image_of([
        topic("a", 1),
        partition(1, 0),
        topic("b", 2),
        partition(2, 0),
        topic("same", 3),
        partition(3, 0),
        config(2, "a", "retention.ms", Some("1")),
    ]);
    assert!(old.delta_to(&old.clone()).is_empty());
    let mut new = old.clone();
    for record in [
        leader(1, 0, 2),
        partition(1, 1),
        RemoveTopicRecord { topic_id: id(2), ..Default::default() }.into(),
        topic("b", 12),
        partition(12, 0),
        topic("c", 4),
        config(2, "a", "retention.ms", None),
        config(4, "", "log.retention.ms", Some("1")),
        broker(1),
        FeatureLevelRecord { name: "x".to_owned(), feature_level: 1, ..Default::default() }.into(),
    ] {
        new.apply(&record, 1).unwrap();
    }
    let delta = old.delta_to(&new);
    let name = |name: &str, number| (TopicName::from(name), id(number));
    assert_eq!(delta.topics_deleted, [name("b", 2)]);
    assert_eq!(delta.topics_created, [name("b", 12), name("c", 4)]);
    let partitions: Vec<_> = (delta.partitions.iter())
        .map(|it| (it.topic_id, it.partition, it.old.is_some(), it.new.is_some()))
        .collect();
    let want = [
        (id(1), 0, true, true),
        (id(1), 1, false, true),
        (id(2), 0, true, false),
        (id(12), 0, false, true),
    ];
    assert_eq!(partitions, want);
    assert_eq!(delta.configs, [ConfigResource::topic("a"), ConfigResource::broker_default()]);
    assert_eq!((delta.brokers, delta.controllers), (vec![1], Vec::new()));
    assert_eq!(delta.features, ["x".into()]);
}

#[test]
fn an_old_image_stays_what_it_was() {
    let old = image_of([topic("a", 1), partition(1, 0)]);
    let mut new = old.clone();
    for number in 0..2000 {
        new.apply(&partition(1, number), 1).unwrap();
    }
    assert_eq!(old.topic("a").unwrap().partitions.len(), 1);
    assert_eq!(new.topic("a").unwrap().partitions.len(), 2000);
    assert_eq!(old.delta_to(&new).partitions.len(), 1999);
    let mut again = image_of(new.to_records());
    again.offset = new.offset;
    assert_eq!(again, new);
}

#[test]
fn what_we_do_not_serve_is_kept_for_the_next_snapshot() {
    let token = DelegationTokenRecord { token_id: "t".to_owned(), ..Default::default() };
    let controller = RegisterControllerRecord { controller_id: 3000, ..Default::default() };
    let future = FeatureLevelRecord {
        name: "of.the.future".to_owned(),
        feature_level: 3,
        ..Default::default()
    };
    let image = image_of([token.into(), controller.into(), future.into()]);
    assert_eq!(image_of(image.to_records()), image);
    assert_eq!(image.to_records().count(), 3);
    let gone = RemoveDelegationTokenRecord { token_id: "t".to_owned(), ..Default::default() };
    let mut image = image;
    image.apply(&gone.into(), 1).unwrap();
    assert_eq!(image.delegation_tokens().count(), 0);
}
