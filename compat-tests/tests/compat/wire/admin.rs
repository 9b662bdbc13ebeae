//! Topics and configs: created, changed, refused.

use super::Pair;
use protocol::messages::alter_configs_request as alter;
use protocol::messages::create_partitions_request::CreatePartitionsTopic;
use protocol::messages::create_topics_request::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
};
use protocol::messages::delete_topics_request::DeleteTopicState;
use protocol::messages::describe_configs_request::DescribeConfigsResource;
use protocol::messages::incremental_alter_configs_request as incremental;
use protocol::messages::{
    AlterConfigsRequest, CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest,
    DescribeConfigsRequest, IncrementalAlterConfigsRequest, StrBytes,
};
use uuid::Uuid;

pub(super) fn name(text: &str) -> StrBytes {
    StrBytes::from(text.to_owned())
}

pub(super) fn topic(text: &str, partitions: i32) -> CreatableTopic {
    CreatableTopic::default()
        .with_name(name(text).into())
        .with_num_partitions(partitions)
        .with_replication_factor(1)
}

fn with_config(topic: CreatableTopic, key: &str, value: &str) -> CreatableTopic {
    let config = CreatableTopicConfig::default().with_name(name(key)).with_value(Some(name(value)));
    topic.with_configs(vec![config])
}

pub(super) fn create(topics: Vec<CreatableTopic>) -> CreateTopicsRequest {
    CreateTopicsRequest::default().with_topics(topics).with_timeout_ms(10_000)
}

#[expect(clippy::too_many_lines, reason = "a list of requests, each a line of the story")]
pub(super) fn topics(pair: &mut Pair) {
    pair.each("data", 7..=7, |_, _| create(vec![topic("data", 3)]));
    pair.each("with configs", 7..=7, |_, _| {
        create(vec![
            with_config(topic("compacted", 1), "cleanup.policy", "compact"),
            with_config(topic("small", 1), "max.message.bytes", "1000"),
            with_config(topic("appended", 1), "message.timestamp.type", "LogAppendTime"),
        ])
    });
    pair.each("each version", 2..=7, |version, _| create(vec![topic(&format!("v{version}"), 2)]));
    pair.each("only validated", 2..=7, |_, _| {
        create(vec![topic("never", 2)]).with_validate_only(true)
    });
    for ms in [0, -1] {
        pair.each(&format!("within {ms} ms"), 2..=7, |_, _| {
            create(vec![topic("never", 1)]).with_timeout_ms(ms)
        });
    }
    pair.each("one that exists", 2..=7, |_, _| create(vec![topic("data", 3)]));
    pair.each("defaults", 4..=7, |version, _| {
        create(vec![topic(&format!("d{version}"), -1).with_replication_factor(-1)])
    });
    for bad in ["", ".", "..", "a b", "a/b", "\u{e4}"] {
        pair.each(&format!("the name `{bad}`"), 2..=7, |_, _| create(vec![topic(bad, 1)]));
    }
    pair.each("a name of 250", 2..=7, |_, _| create(vec![topic(&"x".repeat(250), 1)]));
    pair.each("one twice", 2..=7, |_, _| create(vec![topic("twice", 1), topic("twice", 1)]));
    pair.each("a name that collides", 2..=7, |version, _| {
        create(vec![topic(&format!("a.b{version}"), 1), topic(&format!("a_b{version}"), 1)])
    });
    pair.each("no partitions", 2..=7, |_, _| create(vec![topic("none", 0)]));
    pair.each("-2 partitions", 2..=7, |_, _| create(vec![topic("none", -2)]));
    pair.each("too many replicas", 2..=7, |_, _| {
        create(vec![topic("none", 1).with_replication_factor(3)])
    });
    pair.each("no replicas", 2..=7, |_, _| {
        create(vec![topic("none", 1).with_replication_factor(0)])
    });
    let assigned = |partition: i32, brokers: &[i32]| {
        let ids = brokers.iter().map(|id| (*id).into()).collect();
        CreatableReplicaAssignment::default().with_partition_index(partition).with_broker_ids(ids)
    };
    let by_hand = |text: &str, assignments| {
        topic(text, -1).with_replication_factor(-1).with_assignments(assignments)
    };
    pair.each("assigned by hand", 2..=7, |version, _| {
        create(vec![by_hand(&format!("h{version}"), vec![assigned(0, &[1]), assigned(1, &[1])])])
    });
    pair.each("assigned to nobody", 2..=7, |_, _| {
        create(vec![by_hand("none", vec![assigned(0, &[9])])])
    });
    pair.each("assigned with a gap", 2..=7, |_, _| {
        create(vec![by_hand("none", vec![assigned(0, &[1]), assigned(2, &[1])])])
    });
    pair.each("assigned twice to one", 2..=7, |_, _| {
        create(vec![by_hand("none", vec![assigned(0, &[1, 1])])])
    });
    pair.each("assigned and counted", 2..=7, |_, _| {
        create(vec![topic("none", 1).with_assignments(vec![assigned(0, &[1])])])
    });
    for (key, value) in [
        ("no.such.key", "1"),
        ("retention.ms", "x"),
        ("cleanup.policy", "forget"),
        ("segment.bytes", "1"),
        ("retention.ms", "-2"),
    ] {
        pair.each(&format!("{key}={value}"), 2..=7, |_, _| {
            create(vec![with_config(topic("none", 1), key, value)])
        });
    }
    let grow = |topic: &str, count: i32| {
        let topic = CreatePartitionsTopic::default()
            .with_name(name(topic).into())
            .with_count(count)
            .with_assignments(None);
        CreatePartitionsRequest::default().with_topics(vec![topic]).with_timeout_ms(10_000)
    };
    for version in 0..=3 {
        pair.each("one more", version..=version, |_, _| grow("v2", 3 + i32::from(version)));
    }
    pair.each("one more within 0 ms", 0..=3, |_, _| grow("data", 4).with_timeout_ms(0));
    pair.each("as many", 0..=3, |_, _| grow("data", 3));
    pair.each("fewer", 0..=3, |_, _| grow("data", 1));
    pair.each("none", 0..=3, |_, _| grow("data", 0));
    pair.each("of an unknown topic", 0..=3, |_, _| grow("absent", 4));
    pair.each("only validated", 0..=3, |_, _| grow("data", 9).with_validate_only(true));
}

pub(super) fn describe(kind: i8, resource: &str, keys: Option<&[&str]>) -> DescribeConfigsRequest {
    let keys = keys.map(|keys| keys.iter().map(|key| name(key)).collect());
    let resource = DescribeConfigsResource::default()
        .with_resource_type(kind)
        .with_resource_name(name(resource))
        .with_configuration_keys(keys);
    DescribeConfigsRequest::default().with_resources(vec![resource])
}

/// A resource, an operation, a key and its value.
pub(super) type Edit<'a> = (i8, &'a str, i8, &'a str, Option<&'a str>);

pub(super) fn edit(
    (kind, resource, operation, key, value): Edit<'_>,
) -> IncrementalAlterConfigsRequest {
    let config = incremental::AlterableConfig::default()
        .with_name(name(key))
        .with_config_operation(operation)
        .with_value(value.map(name));
    let resource = incremental::AlterConfigsResource::default()
        .with_resource_type(kind)
        .with_resource_name(name(resource))
        .with_configs(vec![config]);
    IncrementalAlterConfigsRequest::default().with_resources(vec![resource])
}

#[expect(clippy::too_many_lines, reason = "a list of requests, each a line of the story")]
pub(super) fn configs(pair: &mut Pair) {
    let set = |kind: i8, resource: &str, operation: i8, key: &str, value: Option<&str>| {
        edit((kind, resource, operation, key, value))
    };
    for (case, kind, resource, operation, key, value) in [
        ("set", 2, "v3", 0, "retention.ms", Some("5000")),
        ("append", 2, "v3", 2, "cleanup.policy", Some("compact")),
        ("subtract", 2, "v3", 3, "cleanup.policy", Some("delete")),
        ("delete", 2, "v3", 1, "retention.ms", None),
        ("an unknown key", 2, "v3", 0, "no.such.key", Some("1")),
        ("a bad value", 2, "v3", 0, "retention.ms", Some("soon")),
        ("append to a number", 2, "v3", 2, "retention.ms", Some("1")),
        ("an unknown topic", 2, "absent", 0, "retention.ms", Some("1")),
        ("no topic", 2, "", 0, "retention.ms", Some("1")),
        ("a null value", 2, "v3", 0, "retention.ms", None),
        ("an unknown operation", 2, "v3", 9, "retention.ms", Some("1")),
        ("a broker", 4, "1", 0, "log.retention.ms", Some("99000")),
        ("all brokers", 4, "", 0, "log.segment.bytes", Some("2097152")),
        ("a read-only key", 4, "1", 0, "node.id", Some("7")),
        ("a cluster-wide key of one broker", 4, "1", 0, "log.retention.bytes", Some("1000000")),
        ("an unknown broker", 4, "9", 0, "log.retention.ms", Some("1")),
        ("a broker's bad name", 4, "x", 0, "log.retention.ms", Some("1")),
        ("an unknown kind", 99, "x", 0, "log.retention.ms", Some("1")),
        ("a broker's null value", 4, "1", 0, "log.retention.ms", None),
        ("a broker's bad value", 4, "1", 0, "log.retention.ms", Some("soon")),
        ("a broker's unknown operation", 4, "1", 9, "log.retention.ms", Some("1")),
        ("append to a broker's number", 4, "1", 2, "log.retention.ms", Some("1")),
        ("a per-broker key of all", 4, "", 0, "log.dirs", Some("/x")),
        ("a group", 32, "g", 0, "consumer.session.timeout.ms", Some("50000")),
        ("a group's bad value", 32, "g", 0, "consumer.session.timeout.ms", Some("x")),
        ("a group's unknown key", 32, "g", 0, "no.such.key", Some("1")),
        ("no group", 32, "", 0, "consumer.session.timeout.ms", Some("50000")),
        ("client metrics", 16, "m", 0, "interval.ms", Some("1000")),
        ("another broker's logger", 8, "9", 0, "root", Some("INFO")),
    ] {
        pair.each(case, 0..=1, |_, _| set(kind, resource, operation, key, value));
        pair.each(&format!("{case}, only validated"), 0..=1, |_, _| {
            set(kind, resource, operation, key, value).with_validate_only(true)
        });
    }
    pair.each("a resource twice", 0..=1, |_, _| {
        let one = set(2, "v3", 0, "retention.ms", Some("1")).resources;
        let twice = [one.clone(), one, set(2, "absent", 0, "retention.ms", Some("1")).resources];
        IncrementalAlterConfigsRequest::default().with_resources(twice.concat())
    });
    pair.each("a key twice", 0..=1, |_, _| {
        let mut request = set(2, "v3", 0, "retention.ms", Some("1"));
        let again = request.resources[0].configs[0].clone();
        request.resources[0].configs.push(again);
        request
    });
    pair.each("no resource", 0..=1, |_, _| IncrementalAlterConfigsRequest::default());
    let replace = |resource: &str, key: &str, value: Option<&str>| {
        let config =
            alter::AlterableConfig::default().with_name(name(key)).with_value(value.map(name));
        let resource = alter::AlterConfigsResource::default()
            .with_resource_type(2)
            .with_resource_name(name(resource))
            .with_configs(vec![config]);
        AlterConfigsRequest::default().with_resources(vec![resource])
    };
    pair.each("replace", 0..=2, |_, _| replace("v4", "retention.ms", Some("7000")));
    pair.each("replace by a bad value", 0..=2, |_, _| replace("v4", "retention.ms", Some("x")));
    pair.each("replace by null", 0..=2, |_, _| replace("v4", "retention.ms", None));
    pair.each("replace of an unknown topic", 0..=2, |_, _| {
        replace("absent", "retention.ms", Some("1"))
    });
    for topic in ["data", "v3", "v4", "absent"] {
        pair.each(&format!("one key of {topic}"), 1..=4, |_, _| {
            describe(2, topic, Some(&["retention.ms"])).with_include_synonyms(true)
        });
        pair.each(&format!("all keys of {topic}"), 1..=4, |_, _| {
            describe(2, topic, None).with_include_synonyms(true)
        });
    }
    pair.each("an unknown key", 1..=4, |_, _| describe(2, "data", Some(&["no.such.key"])));
    let some = [
        "num.partitions",
        "log.retention.ms",
        "log.segment.bytes",
        "node.id",
        "message.max.bytes",
        "ssl.keystore.password",
    ];
    pair.each("some keys of the broker", 1..=4, |_, _| {
        describe(4, "1", Some(&some)).with_include_synonyms(true)
    });
    pair.each("all brokers", 1..=4, |_, _| describe(4, "", None).with_include_synonyms(true));
    pair.each("another broker", 1..=4, |_, _| describe(4, "9", Some(&some)));
    pair.each("a bad broker", 1..=4, |_, _| describe(4, "x", Some(&some)));
    pair.each("an unknown kind", 1..=4, |_, _| describe(99, "x", None));
    pair.each("a topic's bad name", 1..=4, |_, _| describe(2, "a b", None));
    pair.each("no topic", 1..=4, |_, _| describe(2, "", None));
    pair.each("no group", 1..=4, |_, _| describe(32, "", None));
    pair.each("a group", 1..=4, |_, _| describe(32, "g", None).with_include_synonyms(true));
    pair.each("a group that was told nothing", 1..=4, |_, _| {
        describe(32, "other", None).with_include_synonyms(true)
    });
    pair.each("client metrics", 1..=4, |_, _| describe(16, "m", None));
    pair.each("no broker's loggers", 1..=4, |_, _| describe(8, "", None));
    pair.each("another broker's loggers", 1..=4, |_, _| describe(8, "9", None));
    pair.each("no resource", 1..=4, |_, _| DescribeConfigsRequest::default());
}

pub(super) fn deletions(pair: &mut Pair) {
    let by_name = |version: i16, topics: &[String]| {
        let request = DeleteTopicsRequest::default().with_timeout_ms(10_000);
        if version < 6 {
            return request
                .with_topic_names(topics.iter().map(|topic| name(topic).into()).collect());
        }
        let state =
            |topic: &String| DeleteTopicState::default().with_name(Some(name(topic).into()));
        request.with_topics(topics.iter().map(state).collect())
    };
    pair.each("each version", 1..=6, |version, _| by_name(version, &[format!("v{}", version + 1)]));
    pair.each("an unknown topic", 1..=6, |version, _| by_name(version, &["absent".to_owned()]));
    pair.each("within 0 ms", 1..=6, |version, _| {
        by_name(version, &["data".to_owned(), "absent".to_owned()]).with_timeout_ms(0)
    });
    pair.each("one twice", 1..=6, |version, _| {
        by_name(version, &["small".to_owned(), "small".to_owned()])
    });
    pair.each("an unknown id", 6..=6, |_, _| {
        let state = DeleteTopicState::default().with_name(None).with_topic_id(Uuid::from_u128(7));
        DeleteTopicsRequest::default().with_timeout_ms(10_000).with_topics(vec![state])
    });
    pair.each("a name and an id", 6..=6, |_, side| {
        let state = DeleteTopicState::default()
            .with_name(Some(name("data").into()))
            .with_topic_id(side.topic_id("data"));
        DeleteTopicsRequest::default().with_timeout_ms(10_000).with_topics(vec![state])
    });
    pair.each("by its id", 6..=6, |_, side| {
        let state =
            DeleteTopicState::default().with_name(None).with_topic_id(side.topic_id("data"));
        DeleteTopicsRequest::default().with_timeout_ms(10_000).with_topics(vec![state])
    });
}
