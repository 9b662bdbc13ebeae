//! DescribeConfigs, AlterConfigs, IncrementalAlterConfigs: said, shown, and in force at once.

use super::broker::batch;
use super::served::{Served, text};
use protocol::error::ErrorCode::{
    self, InvalidConfig, InvalidRequest, InvalidTopicException, MessageTooLarge, None as Fine,
    UnknownTopicOrPartition,
};
use protocol::messages::alter_configs_request as alter;
use protocol::messages::describe_configs_request::DescribeConfigsResource;
use protocol::messages::describe_configs_response::DescribeConfigsResult;
use protocol::messages::incremental_alter_configs_request as incremental;
use protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use protocol::messages::{
    AlterConfigsRequest, DescribeConfigsRequest, IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse, ProduceRequest,
};

const TOPIC: i8 = 2;
const BROKER: i8 = 4;
const LOGGER: i8 = 8;
const GROUP: i8 = 32;

const SET: i8 = 0;
const DELETE: i8 = 1;
const APPEND: i8 = 2;
const SUBTRACT: i8 = 3;

type Edit<'a> = (i8, &'a str, Option<&'a str>);

fn resource(kind: i8, name: &str, edits: &[Edit<'_>]) -> incremental::AlterConfigsResource {
    let edit = |(operation, key, value): &Edit<'_>| {
        incremental::AlterableConfig::default()
            .with_name(text(key))
            .with_config_operation(*operation)
            .with_value(value.map(text))
    };
    incremental::AlterConfigsResource::default()
        .with_resource_type(kind)
        .with_resource_name(text(name))
        .with_configs(edits.iter().map(edit).collect())
}

fn set(resources: Vec<incremental::AlterConfigsResource>) -> IncrementalAlterConfigsRequest {
    IncrementalAlterConfigsRequest::default().with_resources(resources)
}

/// Changes one resource, at each version.
async fn change(broker: &Served, (kind, name): (i8, &str), edits: &[Edit<'_>], want: ErrorCode) {
    for version in 0..=1 {
        let answer = broker.ask(&set(vec![resource(kind, name, edits)]), version).await;
        let code = ErrorCode::from_code(answer.responses[0].error_code);
        assert_eq!(code, Some(want), "{kind} {name} {edits:?}");
        assert_eq!(answer.responses[0].error_message.is_some(), want != Fine);
    }
}

async fn describe(
    broker: &Served,
    (kind, name): (i8, &str),
    keys: Option<&[&str]>,
    version: i16,
) -> DescribeConfigsResult {
    let keys = keys.map(|keys| keys.iter().map(|key| text(key)).collect());
    let resource = DescribeConfigsResource::default()
        .with_resource_type(kind)
        .with_resource_name(text(name))
        .with_configuration_keys(keys);
    let request = DescribeConfigsRequest::default()
        .with_resources(vec![resource])
        .with_include_synonyms(true)
        .with_include_documentation(3 <= version);
    broker.ask(&request, version).await.results.remove(0)
}

/// `key=value (source)` of one key.
async fn shown(broker: &Served, of: (i8, &str), key: &str) -> String {
    let result = describe(broker, of, Some(&[key]), 4).await;
    assert_eq!(result.error_code, 0);
    let shown = result.configs.iter().map(|it| {
        format!("{}={} ({})", it.name, it.value.as_deref().unwrap_or("null"), it.config_source)
    });
    shown.collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn edits_act_on_what_a_topic_has() {
    let broker = Served::start().await;
    broker.create("t", 1).await;
    let topic = (TOPIC, "t");
    let check = async |edits: &[Edit<'_>], key: &str, want: &str| {
        change(&broker, topic, edits, Fine).await;
        assert_eq!(shown(&broker, topic, key).await, want);
    };
    check(&[(SET, "retention.ms", Some("5000"))], "retention.ms", "retention.ms=5000 (1)").await;
    check(&[(DELETE, "retention.ms", None)], "retention.ms", "retention.ms=604800000 (5)").await;
    let policy = "cleanup.policy";
    check(&[(APPEND, policy, Some("compact"))], policy, "cleanup.policy=delete,compact (1)").await;
    check(&[(SUBTRACT, policy, Some("delete"))], policy, "cleanup.policy=compact (1)").await;
    broker.stop().await;
}

#[tokio::test]
async fn what_is_wrong_is_refused_and_changes_nothing() {
    let broker = Served::start().await;
    broker.create("t", 1).await;
    let check = async |of: (i8, &str), edits: &[Edit<'_>], want: ErrorCode| {
        change(&broker, of, edits, want).await;
    };
    check((TOPIC, "t"), &[(SET, "no.such.key", Some("1"))], InvalidConfig).await;
    check((TOPIC, "t"), &[(SET, "retention.ms", Some("x"))], InvalidConfig).await;
    check((TOPIC, "t"), &[(APPEND, "retention.ms", Some("1"))], InvalidConfig).await;
    check((TOPIC, "t"), &[(SET, "retention.ms", None)], InvalidRequest).await;
    check((TOPIC, "t"), &[(9, "retention.ms", Some("1"))], InvalidRequest).await;
    let twice = [(SET, "retention.ms", Some("1")), (SET, "retention.ms", Some("2"))];
    check((TOPIC, "t"), &twice, InvalidRequest).await;
    check((TOPIC, "u"), &[(SET, "retention.ms", Some("1"))], UnknownTopicOrPartition).await;
    check((TOPIC, ""), &[(SET, "retention.ms", Some("1"))], InvalidRequest).await;
    check((BROKER, "2"), &[(SET, "log.retention.ms", Some("1"))], InvalidRequest).await;
    check((BROKER, "x"), &[(SET, "log.retention.ms", Some("1"))], InvalidRequest).await;
    check((BROKER, "1"), &[(SET, "log.retention.ms", Some("x"))], InvalidRequest).await;
    check((BROKER, "1"), &[(SET, "node.id", Some("7"))], InvalidRequest).await;
    check((BROKER, "1"), &[(9, "log.retention.ms", Some("1"))], InvalidRequest).await;
    check((LOGGER, "1"), &[(SET, "root", Some("DEBUG"))], InvalidRequest).await;
    check((99, "x"), &[(SET, "a", Some("1"))], InvalidRequest).await;
    assert_eq!(shown(&broker, (TOPIC, "t"), "retention.ms").await, "retention.ms=604800000 (5)");
    assert_eq!(broker.dynamic().layers().dynamic_broker.len(), 0);
    broker.stop().await;
}

#[tokio::test]
async fn answers_come_in_the_order_of_the_request() {
    let broker = Served::start().await;
    broker.create("t", 1).await;
    let edit: &[Edit<'_>] = &[(SET, "retention.ms", Some("1"))];
    let (known, unknown) = (resource(TOPIC, "t", edit), resource(TOPIC, "u", edit));
    let other = resource(BROKER, "9", &[(SET, "log.retention.ms", Some("1"))]);
    let twice = resource(GROUP, "g", &[(DELETE, "consumer.session.timeout.ms", None)]);
    let asked = vec![other, twice.clone(), unknown, twice, known];
    let answer = broker.ask(&set(asked), 1).await;
    let codes: Vec<i16> = answer.responses.iter().map(|it| it.error_code).collect();
    let refused = InvalidRequest.code();
    assert_eq!(codes, [refused, refused, UnknownTopicOrPartition.code(), refused, 0]);
    let names: Vec<_> = answer.responses.iter().map(|it| it.resource_name.as_str()).collect();
    assert_eq!(names, ["9", "g", "u", "g", "t"]);
    broker.stop().await;
}

#[tokio::test]
async fn a_change_that_is_only_validated_changes_nothing() {
    let broker = Served::start().await;
    broker.create("t", 1).await;
    let edits: &[Edit<'_>] = &[(SET, "retention.ms", Some("1"))];
    let request = set(vec![resource(TOPIC, "t", edits)]).with_validate_only(true);
    assert_eq!(broker.ask(&request, 1).await.responses[0].error_code, 0);
    assert_eq!(shown(&broker, (TOPIC, "t"), "retention.ms").await, "retention.ms=604800000 (5)");
    broker.stop().await;
}

#[tokio::test]
async fn a_replaced_config_is_all_that_a_topic_has() {
    let broker = Served::start().await;
    broker.create("t", 1).await;
    change(&broker, (TOPIC, "t"), &[(SET, "segment.bytes", Some("1048576"))], Fine).await;
    let replace = |key: &str, value: Option<&str>| {
        let config =
            alter::AlterableConfig::default().with_name(text(key)).with_value(value.map(text));
        let resource = alter::AlterConfigsResource::default()
            .with_resource_type(TOPIC)
            .with_resource_name(text("t"))
            .with_configs(vec![config]);
        AlterConfigsRequest::default().with_resources(vec![resource])
    };
    for version in 0..=2 {
        let answer = broker.ask(&replace("retention.ms", Some("7000")), version).await;
        assert_eq!(answer.responses[0].error_code, 0);
        let answer = broker.ask(&replace("retention.ms", Some("x")), version).await;
        assert_eq!(answer.responses[0].error_code, InvalidConfig.code());
        let answer = broker.ask(&replace("retention.ms", None), version).await;
        assert_eq!(answer.responses[0].error_code, InvalidRequest.code());
    }
    assert_eq!(shown(&broker, (TOPIC, "t"), "retention.ms").await, "retention.ms=7000 (1)");
    let default = "segment.bytes=1073741824 (5)";
    assert_eq!(shown(&broker, (TOPIC, "t"), "segment.bytes").await, default);
    broker.stop().await;
}

async fn produce(broker: &Served, value: &str) -> Option<ErrorCode> {
    let data = PartitionProduceData::default().with_index(0).with_records(Some(batch(&[value])));
    let topic =
        TopicProduceData::default().with_name(text("t").into()).with_partition_data(vec![data]);
    let request = ProduceRequest::default().with_acks(-1).with_topic_data(vec![topic]);
    let answer = broker.ask(&request, 9).await;
    ErrorCode::from_code(answer.responses[0].partition_responses[0].error_code)
}

#[tokio::test]
async fn a_brokers_config_is_in_force_when_the_change_is_answered() {
    let broker = Served::start().await;
    broker.create("t", 1).await;
    let value = "x".repeat(1000);
    assert_eq!(produce(&broker, &value).await, Some(Fine));
    let key = "message.max.bytes";
    change(&broker, (BROKER, ""), &[(SET, key, Some("500"))], Fine).await;
    assert_eq!(produce(&broker, &value).await, Some(MessageTooLarge));
    assert_eq!(
        shown(&broker, (TOPIC, "t"), "max.message.bytes").await,
        "max.message.bytes=500 (3)"
    );
    assert_eq!(shown(&broker, (BROKER, ""), key).await, "message.max.bytes=500 (3)");
    change(&broker, (BROKER, "1"), &[(SET, key, Some("5000"))], Fine).await;
    assert_eq!(produce(&broker, &value).await, Some(Fine));
    assert_eq!(shown(&broker, (BROKER, "1"), key).await, "message.max.bytes=5000 (2)");
    change(&broker, (TOPIC, "t"), &[(SET, "max.message.bytes", Some("400"))], Fine).await;
    assert_eq!(produce(&broker, &value).await, Some(MessageTooLarge));
    broker.stop().await;
}

#[tokio::test]
async fn what_brokers_are_told_together_must_do() {
    let broker = Served::start().await;
    let (min, max) = ("log.cleaner.min.compaction.lag.ms", "log.cleaner.max.compaction.lag.ms");
    let at_least = resource(BROKER, "", &[(SET, min, Some("1000"))]);
    let at_most = resource(BROKER, "1", &[(SET, max, Some("500"))]);
    let codes = |answer: &IncrementalAlterConfigsResponse| {
        let codes = answer.responses.iter().map(|it| ErrorCode::from_code(it.error_code).unwrap());
        codes.collect::<Vec<_>>()
    };
    // In one request, and at the same time in two.
    let request = set(vec![at_least.clone(), at_most.clone()]).with_validate_only(true);
    assert_eq!(codes(&broker.ask(&request, 1).await), [Fine, InvalidRequest]);
    let (at_least, at_most) = (set(vec![at_least]), set(vec![at_most]));
    let (first, second) = tokio::join!(biased; broker.ask(&at_least, 1), broker.ask(&at_most, 1));
    assert_eq!([codes(&first), codes(&second)], [[Fine], [InvalidRequest]]);
    assert_eq!(shown(&broker, (BROKER, "1"), min).await, format!("{min}=1000 (3)"));
    broker.stop().await;
}

#[tokio::test]
async fn a_controllers_listener_takes_changes_too() {
    let broker = Served::start().await;
    broker.create("t", 1).await;
    let request = set(vec![
        resource(TOPIC, "t", &[(SET, "retention.ms", Some("5000"))]),
        resource(BROKER, "1", &[(SET, "log.retention.ms", Some("9000"))]),
    ]);
    let answer = broker.ask_at("CONTROLLER", &request, 1).await.unwrap();
    assert!(answer.responses.iter().all(|it| it.error_code == 0), "{answer:?}");
    assert_eq!(shown(&broker, (TOPIC, "t"), "retention.ms").await, "retention.ms=5000 (1)");
    assert_eq!(
        shown(&broker, (BROKER, "1"), "log.retention.ms").await,
        "log.retention.ms=9000 (2)"
    );
    broker.stop().await;
}

#[tokio::test]
async fn a_description_holds_what_its_version_can_say() {
    let broker = Served::start().await;
    broker.create("t", 1).await;
    for version in 1..=4 {
        for of in [(TOPIC, "t"), (BROKER, "1"), (GROUP, "g")] {
            let result = describe(&broker, of, None, version).await;
            assert_eq!(result.error_code, 0);
            assert!(20 < result.configs.len() || of.0 == GROUP && 5 < result.configs.len());
            for line in &result.configs {
                let has_doc = line.documentation.as_deref().is_some_and(|doc| !doc.is_empty());
                assert_eq!(has_doc, 3 <= version, "{}", line.name);
                assert_eq!(line.config_type != 0, 3 <= version, "{}", line.name);
                assert!(!line.is_sensitive || line.value.is_none());
            }
        }
    }
    let one = describe(&broker, (TOPIC, "t"), Some(&["retention.ms", "no.such.key"]), 4).await;
    assert_eq!(one.configs.len(), 1);
    let one = describe(&broker, (TOPIC, "t"), Some(&["segment.bytes"]), 4).await;
    let synonyms: Vec<_> = one.configs[0].synonyms.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(synonyms, ["log.segment.bytes"]);
    let none: &[&str] = &[];
    let all = describe(&broker, (TOPIC, "t"), Some(none), 4).await;
    assert!(20 < all.configs.len());
    let logger = describe(&broker, (LOGGER, "1"), None, 4).await;
    assert_eq!(logger.configs[0].name.as_str(), "root");
    broker.stop().await;
}

#[tokio::test]
async fn what_is_not_there_cannot_be_described() {
    let broker = Served::start().await;
    for (kind, name, want) in [
        (TOPIC, "absent", UnknownTopicOrPartition),
        (TOPIC, "a b", InvalidTopicException),
        (TOPIC, "", InvalidTopicException),
        (BROKER, "2", InvalidRequest),
        (BROKER, "x", InvalidRequest),
        (LOGGER, "", InvalidRequest),
        (LOGGER, "2", InvalidRequest),
        (GROUP, "", InvalidRequest),
        (99, "x", InvalidRequest),
    ] {
        for version in 1..=4 {
            let result = describe(&broker, (kind, name), None, version).await;
            assert_eq!(ErrorCode::from_code(result.error_code), Some(want), "{kind} {name}");
            assert_eq!((result.resource_type, result.resource_name.as_str()), (kind, name));
            assert_eq!(result.configs.len(), 0);
        }
    }
    broker.stop().await;
}
