//! What the controller answers to requests about topics and configs: codes and records.

use super::refusal::text;
use super::*;
use crate::env::Rng;
use crate::image::{ConfigResource, Image};
use crate::record::{FeatureLevelRecord, Record, RegisterBrokerRecord};
use protocol::config::describe::Settings;
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::alter_configs_request as whole;
use protocol::messages::create_partitions_request::{
    CreatePartitionsAssignment, CreatePartitionsTopic,
};
use protocol::messages::create_topics_request::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
};
use protocol::messages::delete_topics_request::DeleteTopicState;
use protocol::messages::incremental_alter_configs_request as incremental;
use protocol::messages::{
    AllocateProducerIdsRequest, AlterConfigsRequest, BrokerId, ControllerRegistrationRequest,
    CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest,
    IncrementalAlterConfigsRequest, ListPartitionReassignmentsRequest, TopicName,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[derive(Debug, Default)]
struct Counting(AtomicU64);

impl Rng for Counting {
    fn next_u64(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// Two brokers that serve, and one that is fenced.
struct Cluster {
    image: Image,
    state: State,
    rng: Counting,
}

impl Cluster {
    fn with(properties: &[(&str, &str)]) -> Cluster {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let properties: Settings = properties.iter().map(owned).collect();
        let mut cluster = Cluster {
            image: Image::default(),
            state: State::new(1, "cluster", properties).unwrap(),
            rng: Counting::default(),
        };
        cluster.apply(&bootstrap_records(&cluster.image, &cluster.state));
        for id in 1..=3 {
            let broker = RegisterBrokerRecord {
                broker_id: id,
                broker_epoch: 8 + i64::from(id),
                fenced: id == 3,
                log_dirs: vec![Uuid([u8::try_from(id).unwrap() + 100; 16])],
                ..Default::default()
            };
            cluster.apply(&[broker.into()]);
        }
        cluster
    }

    fn new() -> Cluster {
        Cluster::with(&[])
    }

    fn apply(&mut self, records: &[Record]) {
        for record in records {
            self.image.apply(record, self.image.offset + 1).unwrap();
        }
    }

    fn ask<Q: Decide>(&mut self, request: Q) -> Decision<Q::Response> {
        let next_offset = self.image.offset + 1;
        let now = Now { monotonic: Duration::from_secs(100), next_offset, rng: &self.rng };
        request.decide(&self.image, &mut self.state, &now)
    }

    /// The answer, with its records applied.
    fn done<Q: Decide>(&mut self, request: Q) -> Q::Response {
        let decision = self.ask(request);
        self.apply(&decision.records);
        decision.response
    }

    fn created(&mut self, name: &str) {
        let response = self.done(create([topic(name)]));
        assert_eq!(response.topics[0].error_code, 0, "{:?}", response.topics[0]);
    }
}

fn topic(name: &str) -> CreatableTopic {
    CreatableTopic::default()
        .with_name(TopicName(text(name)))
        .with_num_partitions(-1)
        .with_replication_factor(-1)
}

fn create(topics: impl Into<Vec<CreatableTopic>>) -> CreateTopicsRequest {
    CreateTopicsRequest::default().with_topics(topics.into())
}

fn assigned(partition: i32, brokers: &[i32]) -> CreatableReplicaAssignment {
    let ids = brokers.iter().copied().map(BrokerId).collect();
    CreatableReplicaAssignment::default().with_partition_index(partition).with_broker_ids(ids)
}

fn config(name: &str, value: Option<&str>) -> CreatableTopicConfig {
    CreatableTopicConfig::default().with_name(text(name)).with_value(value.map(text))
}

/// A code as a name, so that tables read.
fn name(code: i16) -> &'static str {
    ErrorCode::from_code(code).unwrap().name()
}

#[test]
fn a_topic_that_cannot_be_is_refused_with_kafkas_code() {
    let mut cluster = Cluster::new();
    cluster.created("a_b");
    let mut check = |topic: CreatableTopic, want: &str| {
        let decision = cluster.ask(create([topic.clone()]));
        let result = &decision.response.topics[0];
        assert_eq!(name(result.error_code), want, "{topic:?}: {:?}", result.error_message);
        assert!(
            decision.records.is_empty() && !result.error_message.as_deref().unwrap().is_empty()
        );
        assert_eq!(result.configs, Some(Vec::new()));
    };
    check(topic("a_b"), "TopicAlreadyExists");
    check(topic("a.b"), "InvalidTopicException");
    check(topic(""), "InvalidTopicException");
    check(topic(".."), "InvalidTopicException");
    check(topic(&"x".repeat(250)), "InvalidTopicException");
    check(topic("__cluster_metadata"), "InvalidRequest");
    check(topic("x").with_num_partitions(0), "InvalidPartitions");
    check(topic("x").with_num_partitions(-2), "InvalidPartitions");
    check(topic("x").with_replication_factor(0), "InvalidReplicationFactor");
    check(topic("x").with_replication_factor(4), "InvalidReplicationFactor");
    check(topic("x").with_num_partitions(10_001), "PolicyViolation");
    let with = |assignments: Vec<_>| topic("x").with_assignments(assignments);
    check(with(vec![assigned(0, &[1])]).with_num_partitions(1), "InvalidRequest");
    check(with(vec![assigned(0, &[1])]).with_replication_factor(1), "InvalidRequest");
    check(with(vec![assigned(0, &[])]), "InvalidReplicaAssignment");
    check(with(vec![assigned(0, &[9])]), "InvalidReplicaAssignment");
    check(with(vec![assigned(0, &[1, 1])]), "InvalidReplicaAssignment");
    check(with(vec![assigned(1, &[1])]), "InvalidReplicaAssignment");
    check(with(vec![assigned(0, &[1]), assigned(0, &[1])]), "InvalidReplicaAssignment");
    check(with(vec![assigned(0, &[1]), assigned(1, &[1, 2])]), "InvalidReplicaAssignment");
    check(with(vec![assigned(0, &[3])]), "InvalidReplicaAssignment");
    let told = |name, value| topic("x").with_configs(vec![config(name, value)]);
    check(told("retention.ms", Some("x")), "InvalidConfig");
    check(told("retention.ms", Some("-2")), "InvalidConfig");
    check(told("retention.ms", None), "InvalidConfig");
    check(told("no.such.key", Some("1")), "InvalidConfig");
    check(told("cleanup.policy", Some(&"x".repeat(32_768))), "InvalidConfig");
}

#[test]
fn a_created_topic_is_what_was_asked_for() {
    let mut cluster =
        Cluster::with(&[("num.partitions", "5"), ("default.replication.factor", "2")]);
    let keyed = topic("keyed").with_configs(vec![config("cleanup.policy", Some("compact"))]);
    let by_hand =
        topic("by_hand").with_assignments(vec![assigned(1, &[2, 3]), assigned(0, &[3, 1])]);
    let response = cluster.done(create([keyed, by_hand]));
    let [keyed, by_hand] = &response.topics[..] else { panic!("{response:?}") };
    assert_eq!((keyed.error_code, keyed.num_partitions, keyed.replication_factor), (0, 5, 2));
    let configs = keyed.configs.as_ref().unwrap();
    let find = |name: &str| configs.iter().find(|it| *it.name == *name).unwrap();
    let (policy, retention) = (find("cleanup.policy"), find("retention.ms"));
    assert_eq!((policy.value.as_deref(), policy.config_source), (Some("compact"), 1));
    assert_eq!((retention.value.as_deref(), retention.config_source), (Some("604800000"), 5));
    let image = &cluster.image;
    assert_eq!(image.topic_by_id(keyed.topic_id.into()).unwrap().name.as_str(), "keyed");
    for partition in image.topic("keyed").unwrap().partitions.values() {
        assert_eq!(
            (&*partition.isr, partition.leader),
            (&*partition.replicas, partition.replicas[0])
        );
    }
    // The fenced one is assigned, and neither leads nor is in sync.
    assert_eq!((by_hand.num_partitions, by_hand.replication_factor), (2, 2));
    let first = image.partition("by_hand", 0).unwrap();
    assert_eq!((&*first.replicas, &*first.isr, first.leader), (&[3, 1][..], &[1][..], 1));
    assert_eq!(*first.directories, [Uuid([103; 16]), Uuid([101; 16])]);
}

#[test]
fn a_topic_named_twice_fails_and_the_others_do_not() {
    let mut cluster = Cluster::new();
    let decision = cluster.ask(create([topic("a"), topic("b.c"), topic("a"), topic("b_c")]));
    let codes: Vec<_> = decision.response.topics.iter().map(|it| name(it.error_code)).collect();
    // Only names that stand already count as collisions, as in Apache Kafka.
    assert_eq!(codes, ["InvalidRequest", "None", "None"]);
    assert_eq!(decision.records.len(), 4);
}

#[test]
fn validation_alone_appends_nothing() {
    let mut cluster = Cluster::new();
    cluster.created("a");
    let decision = cluster.ask(create([topic("b")]).with_validate_only(true));
    assert_eq!((decision.response.topics[0].error_code, decision.records.len()), (0, 0));
    assert_eq!(decision.response.topics[0].num_partitions, 1);
    let decision = cluster.ask(grow([more("a", 2)]).with_validate_only(true));
    assert_eq!((decision.response.results[0].error_code, decision.records.len()), (0, 0));
    let edit = edit(2, "a", "retention.ms", 0, Some("1"));
    let decision = cluster.ask(alter([edit]).with_validate_only(true));
    assert_eq!((decision.response.responses[0].error_code, decision.records.len()), (0, 0));
}

#[test]
fn leaders_go_round_the_brokers_and_racks_are_spread() {
    let mut cluster = Cluster::new();
    for (id, rack) in [(1, "r1"), (2, "r1"), (3, "r2"), (4, "r2")] {
        let broker = RegisterBrokerRecord {
            broker_id: id,
            rack: Some(rack.to_owned()),
            fenced: false,
            ..Default::default()
        };
        cluster.apply(&[broker.into()]);
    }
    let asked = topic("a").with_num_partitions(8).with_replication_factor(2);
    cluster.done(create([asked]));
    let partitions = &cluster.image.topic("a").unwrap().partitions;
    for id in 1..=4 {
        assert_eq!(partitions.values().filter(|it| it.leader == id).count(), 2);
    }
    for partition in partitions.values() {
        let [a, b] = *partition.replicas else { panic!("{partition:?}") };
        assert_ne!(a <= 2, b <= 2, "a rack each");
    }
}

fn named(name: &str) -> DeleteTopicState {
    DeleteTopicState::default().with_name(Some(TopicName(text(name))))
}

#[test]
fn topics_are_deleted_by_name_or_id_and_once() {
    let mut cluster = Cluster::new();
    for name in ["a", "b", "c"] {
        cluster.created(name);
    }
    let id = |cluster: &Cluster, name: &str| cluster.image.topic(name).unwrap().id.into();
    let by_id = |id| DeleteTopicState::default().with_name(None).with_topic_id(id);
    let (a, b) = (id(&cluster, "a"), id(&cluster, "b"));
    let asked = vec![
        named("a"),
        by_id(b),
        named("b"),
        by_id(Uuid([9; 16]).into()),
        named("nobody"),
        by_id(Uuid::ZERO.into()),
        by_id(Uuid::ZERO.into()),
        named("c").with_topic_id(a),
        named("c"),
        named("c"),
    ];
    let decision = cluster.ask(DeleteTopicsRequest::default().with_topics(asked));
    let codes: Vec<_> = decision.response.responses.iter().map(|it| name(it.error_code)).collect();
    let want = [
        "None",
        "InvalidRequest",
        "InvalidRequest",
        "UnknownTopicId",
        "UnknownTopicOrPartition",
        "InvalidRequest",
        "InvalidRequest",
        "InvalidRequest",
        "InvalidRequest",
    ];
    assert_eq!(codes, want, "a name that stands twice is answered once");
    assert_eq!(decision.records.len(), 1);
    let gone = &decision.response.responses[0];
    assert_eq!(gone.topic_id, a, "named by name, answered with both");

    let mut cluster = Cluster::with(&[("delete.topic.enable", "false")]);
    cluster.created("a");
    let names = vec![TopicName(text("a"))];
    let response = cluster.done(DeleteTopicsRequest::default().with_topic_names(names));
    assert_eq!(name(response.responses[0].error_code), "TopicDeletionDisabled");
}

fn more(name: &str, count: i32) -> CreatePartitionsTopic {
    let name = TopicName(text(name));
    CreatePartitionsTopic::default().with_name(name).with_count(count).with_assignments(None)
}

fn grow(topics: impl Into<Vec<CreatePartitionsTopic>>) -> CreatePartitionsRequest {
    CreatePartitionsRequest::default().with_topics(topics.into())
}

#[test]
fn a_topic_grows_and_does_not_shrink() {
    let mut cluster = Cluster::new();
    cluster.created("a");
    let on = |brokers: &[&[i32]]| {
        let ids = |list: &&[i32]| {
            let ids = list.iter().copied().map(BrokerId).collect();
            CreatePartitionsAssignment::default().with_broker_ids(ids)
        };
        Some(brokers.iter().map(ids).collect())
    };
    let mut check = |asked: CreatePartitionsTopic, want: &str| {
        let response = cluster.ask(grow([asked.clone()])).response;
        assert_eq!(name(response.results[0].error_code), want, "{asked:?}");
    };
    check(more("nobody", 2), "UnknownTopicOrPartition");
    check(more("a", 1), "InvalidPartitions");
    check(more("a", 0), "InvalidPartitions");
    check(more("a", -1), "InvalidPartitions");
    check(more("a", 10_002), "PolicyViolation");
    check(more("a", 3).with_assignments(on(&[&[1]])), "InvalidReplicaAssignment");
    check(more("a", 2).with_assignments(on(&[&[1, 2]])), "InvalidReplicaAssignment");
    check(more("a", 2).with_assignments(on(&[&[3]])), "InvalidReplicaAssignment");
    check(more("a", 2).with_assignments(on(&[&[7]])), "InvalidReplicaAssignment");
    let codes = |cluster: &mut Cluster| {
        let response = cluster.ask(grow([more("a", 2), more("a", 3)])).response;
        response.results.iter().map(|it| name(it.error_code)).collect::<Vec<_>>()
    };
    assert_eq!(codes(&mut cluster), ["InvalidRequest"]);
    cluster.done(grow([more("a", 3).with_assignments(on(&[&[2], &[1]]))]));
    let leader = |number| cluster.image.partition("a", number).unwrap().leader;
    assert_eq!([1, 2].map(leader), [2, 1]);
}

fn edit(
    kind: i8,
    resource: &str,
    key: &str,
    operation: i8,
    value: Option<&str>,
) -> incremental::AlterConfigsResource {
    let config = incremental::AlterableConfig::default()
        .with_name(text(key))
        .with_config_operation(operation)
        .with_value(value.map(text));
    incremental::AlterConfigsResource::default()
        .with_resource_type(kind)
        .with_resource_name(text(resource))
        .with_configs(vec![config])
}

fn alter(
    resources: impl Into<Vec<incremental::AlterConfigsResource>>,
) -> IncrementalAlterConfigsRequest {
    IncrementalAlterConfigsRequest::default().with_resources(resources.into())
}

const SET: i8 = 0;
const DELETE: i8 = 1;
const APPEND: i8 = 2;
const SUBTRACT: i8 = 3;

#[test]
fn configs_that_cannot_be_are_refused_with_kafkas_code() {
    let mut cluster = Cluster::new();
    cluster.created("a");
    let mut check = |resource: incremental::AlterConfigsResource, want: &str| {
        let decision = cluster.ask(alter([resource.clone()]));
        let result = &decision.response.responses[0];
        assert_eq!(name(result.error_code), want, "{resource:?}: {:?}", result.error_message);
        assert!(decision.records.is_empty());
    };
    check(edit(2, "nobody", "retention.ms", SET, Some("1")), "UnknownTopicOrPartition");
    check(edit(2, "", "retention.ms", SET, Some("1")), "InvalidRequest");
    check(edit(2, "a", "retention.ms", SET, None), "InvalidRequest");
    check(edit(2, "a", "retention.ms", 9, Some("1")), "InvalidRequest");
    check(edit(2, "a", "retention.ms", SET, Some("x")), "InvalidConfig");
    check(edit(2, "a", "retention.ms", APPEND, Some("1")), "InvalidConfig");
    check(edit(2, "a", "no.such.key", SET, Some("1")), "InvalidConfig");
    check(edit(4, "x", "log.retention.ms", SET, Some("1")), "InvalidRequest");
    check(edit(4, "-1", "log.retention.ms", SET, Some("1")), "InvalidRequest");
    check(edit(4, "9", "log.retention.ms", SET, Some("1")), "BrokerIdNotRegistered");
    check(edit(4, "1", "num.partitions", SET, Some("1")), "InvalidRequest");
    check(edit(4, "1", "min.insync.replicas", SET, Some("2")), "InvalidConfig");
    check(edit(4, "", "min.insync.replicas", DELETE, None), "InvalidConfig");
    check(edit(32, "", "consumer.session.timeout.ms", SET, Some("1")), "InvalidRequest");
    check(edit(32, "g", "consumer.session.timeout.ms", SET, Some("-1")), "InvalidConfig");
    // What no record of Kafka's can hold.
    let long = "x".repeat(32_768);
    check(edit(4, "", &long, SET, Some("1")), "InvalidConfig");
    check(edit(32, &long, "consumer.session.timeout.ms", SET, Some("50000")), "InvalidRequest");
    check(edit(16, "m", "interval.ms", SET, Some("1")), "InvalidRequest");
    check(edit(8, "1", "root", SET, Some("INFO")), "InvalidRequest");
    let mut twice = edit(2, "a", "retention.ms", SET, Some("1"));
    twice.configs.push(twice.configs[0].clone());
    check(twice, "InvalidRequest");
    let one = edit(2, "a", "retention.ms", SET, Some("1"));
    let response = cluster.ask(alter([one.clone(), one])).response;
    let codes: Vec<_> = response.responses.iter().map(|it| name(it.error_code)).collect();
    assert_eq!(codes, ["InvalidRequest", "InvalidRequest"]);
}

#[test]
fn configs_are_set_appended_subtracted_and_deleted() {
    let mut cluster = Cluster::new();
    cluster.created("a");
    let mut check = |operation, value: Option<&str>, want: Option<&str>, records: usize| {
        let decision = cluster.ask(alter([edit(2, "a", "cleanup.policy", operation, value)]));
        assert_eq!(decision.records.len(), records, "{operation} {value:?}");
        cluster.apply(&decision.records);
        let now = cluster.image.config_value(&ConfigResource::topic("a"), "cleanup.policy");
        assert_eq!(now, want);
    };
    check(APPEND, Some("compact"), Some("delete,compact"), 1);
    check(APPEND, Some("compact"), Some("delete,compact"), 0);
    check(SUBTRACT, Some("delete"), Some("compact"), 1);
    check(SET, Some("compact"), Some("compact"), 0);
    check(DELETE, None, None, 1);
    check(DELETE, None, None, 0);

    let broker = |value| alter([edit(4, "1", "log.cleaner.threads", SET, Some(value))]);
    assert_eq!(cluster.ask(broker("2")).records.len(), 1);
    cluster.done(broker("2"));
    assert_eq!(cluster.ask(broker("2")).records.len(), 1, "the broker reads its files anew");
    cluster.done(alter([edit(32, "g", "share.isolation.level", SET, Some("read_committed"))]));
    let group = ConfigResource::group("g");
    let level = cluster.image.config_value(&group, "share.isolation.level");
    assert_eq!(level, Some("read_committed"));
}

#[test]
fn the_old_request_replaces_all_there_was() {
    let mut cluster = Cluster::new();
    cluster.created("a");
    let request = |configs: &[(&str, &str)]| {
        let config = |(name, value): &(&str, &str)| {
            whole::AlterableConfig::default().with_name(text(name)).with_value(Some(text(value)))
        };
        let resource = whole::AlterConfigsResource::default()
            .with_resource_type(2)
            .with_resource_name(text("a"))
            .with_configs(configs.iter().map(config).collect());
        AlterConfigsRequest::default().with_resources(vec![resource])
    };
    cluster.done(request(&[("retention.ms", "1"), ("segment.ms", "2")]));
    cluster.done(request(&[("segment.ms", "3"), ("min.insync.replicas", "1")]));
    let overrides = cluster.image.config(&ConfigResource::topic("a")).unwrap();
    let said: Vec<_> = overrides.iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(said, ["min.insync.replicas=1", "segment.ms=3"]);
}

#[test]
fn a_block_of_producer_ids_is_given_to_one_incarnation() {
    let mut cluster = Cluster::new();
    let ask = |id, epoch| {
        AllocateProducerIdsRequest::default().with_broker_id(BrokerId(id)).with_broker_epoch(epoch)
    };
    assert_eq!(name(cluster.done(ask(9, 9)).error_code), "BrokerIdNotRegistered");
    assert_eq!(name(cluster.done(ask(1, 8)).error_code), "StaleBrokerEpoch");
    for start in [0, 1000] {
        let response = cluster.done(ask(1, 9));
        assert_eq!((response.producer_id_start.0, response.producer_id_len), (start, 1000));
    }
}

#[test]
fn nothing_is_being_reassigned() {
    let mut cluster = Cluster::new();
    cluster.created("a");
    let request = ListPartitionReassignmentsRequest::default().with_topics(None);
    let response = cluster.done(request);
    assert_eq!((response.error_code, response.topics.len()), (0, 0));
}

#[test]
fn a_controller_must_know_the_levels_that_the_cluster_is_at() {
    use protocol::messages::controller_registration_request::Feature;
    let mut cluster = Cluster::new();
    let feature =
        |name: &str, max| Feature::default().with_name(text(name)).with_max_supported_version(max);
    let known = |max| {
        let known = protocol::features::FEATURES.iter();
        known.map(|it| feature(it.name, it.max.min(max))).collect::<Vec<_>>()
    };
    let mut check = |features: Vec<Feature>, want: &str| {
        let request =
            ControllerRegistrationRequest::default().with_controller_id(1).with_features(features);
        let response = cluster.done(request);
        assert_eq!(name(response.error_code), want, "{:?}", response.error_message);
    };
    check(Vec::new(), "InvalidRegistration");
    check(known(32), "UnsupportedVersion");
    check(vec![feature("metadata.version", 33)], "UnsupportedVersion");
    check(known(33), "None");
    assert_eq!(cluster.image.controllers().len(), 1);

    // An adopted log may be at levels of features that this program has never heard of.
    let future = FeatureLevelRecord {
        name: "of.the.future".to_owned(),
        feature_level: 1,
        ..Default::default()
    };
    cluster.apply(&[future.into()]);
    let request =
        ControllerRegistrationRequest::default().with_controller_id(2).with_features(known(33));
    assert_eq!(cluster.done(request).error_code, 0);
}

#[test]
fn a_new_leader_gives_every_broker_a_whole_session() {
    let mut cluster = Cluster::new();
    let start = Duration::from_secs(50);
    cluster.state.begin_term(&cluster.image, start);
    let end = cluster.state.next_expiry(&cluster.image).unwrap();
    assert_eq!(end, start + Duration::from_secs(9));
    let early = end.checked_sub(Duration::from_millis(1)).unwrap();
    assert_eq!(cluster.state.fence_expired(&cluster.image, early), []);
    let records = cluster.state.fence_expired(&cluster.image, end);
    cluster.apply(&records);
    assert!(cluster.image.brokers().values().all(|broker| broker.fenced));
    assert_eq!(cluster.state.next_expiry(&cluster.image), None);
}

#[test]
fn a_new_cluster_takes_over_what_its_first_snapshot_says() {
    let state = State::new(
        1,
        "cluster",
        Settings::from([("min.insync.replicas".to_owned(), "2".to_owned())]),
    )
    .unwrap();
    let mut image = Image::default();
    let older = FeatureLevelRecord {
        name: "metadata.version".to_owned(),
        feature_level: 12,
        ..Default::default()
    };
    image.apply(&older.clone().into(), 0).unwrap();
    assert_eq!(bootstrap_records(&image, &state), [older.into()], "no transactions at level 12");
    let fresh = bootstrap_records(&Image::default(), &state);
    let kinds: Vec<_> = fresh.iter().map(Record::kind).collect();
    assert_eq!((kinds[0], kinds[8]), ("BeginTransactionRecord", "EndTransactionRecord"));
    let Record::Config(config) = &fresh[7] else { panic!("{fresh:?}") };
    assert_eq!(config.value.as_deref(), Some("2"), "as the file says");
}
