//! ApiVersions, Metadata, FindCoordinator and what describes the cluster.

use super::Pair;
use protocol::messages::describe_log_dirs_request::DescribableLogDirTopic;
use protocol::messages::describe_quorum_request::{PartitionData, TopicData};
use protocol::messages::describe_topic_partitions_request::{Cursor, TopicRequest};
use protocol::messages::metadata_request::MetadataRequestTopic;
use protocol::messages::{
    DescribeClusterRequest, DescribeLogDirsRequest, DescribeQuorumRequest,
    DescribeTopicPartitionsRequest, FindCoordinatorRequest, ListConfigResourcesRequest,
    ListPartitionReassignmentsRequest, MetadataRequest, StrBytes,
};
use uuid::Uuid;

fn name(text: &str) -> StrBytes {
    StrBytes::from(text.to_owned())
}

fn metadata(version: i16, topics: Option<Vec<MetadataRequestTopic>>) -> MetadataRequest {
    let request = MetadataRequest::default().with_topics(topics);
    let operations = (8..=10).contains(&version);
    request
        .with_allow_auto_topic_creation(version < 4)
        .with_include_cluster_authorized_operations(operations)
}

pub(super) fn quorum(topic: &str, partitions: &[i32]) -> DescribeQuorumRequest {
    let partition = |number: &i32| PartitionData::default().with_partition_index(*number);
    let topic = TopicData::default()
        .with_topic_name(name(topic).into())
        .with_partitions(partitions.iter().map(partition).collect());
    DescribeQuorumRequest::default().with_topics(vec![topic])
}

pub(super) fn empty_cluster(pair: &mut Pair) {
    // Version 0 knows no null: no topics are all topics.
    pair.each("all topics of none", 0..=13, |version, _| {
        metadata(version, (version == 0).then(Vec::new))
    });
    pair.each("no topics", 1..=13, |version, _| metadata(version, Some(Vec::new())));
    pair.each("a bad name", 4..=13, |version, _| {
        metadata(
            version,
            Some(vec![MetadataRequestTopic::default().with_name(Some(name("a b").into()))]),
        )
    });
    pair.each("an unknown topic", 4..=13, |version, _| {
        metadata(
            version,
            Some(vec![MetadataRequestTopic::default().with_name(Some(name("absent").into()))]),
        )
    });
    pair.each("an unknown id", 12..=13, |version, _| {
        let topic =
            MetadataRequestTopic::default().with_topic_id(Uuid::from_u128(7)).with_name(None);
        metadata(version, Some(vec![topic]))
    });
    pair.each("of none", 0..=1, |_, _| resources(&[]));
    pair.each("no reassignments", 0..=0, |_, _| {
        ListPartitionReassignmentsRequest::default().with_topics(None)
    });
}

#[expect(clippy::too_many_lines, reason = "a list of requests, each a line of the story")]
pub(super) fn described(pair: &mut Pair) {
    let one =
        |text: &str| Some(vec![MetadataRequestTopic::default().with_name(Some(name(text).into()))]);
    pair.each("one topic", 0..=13, |version, _| metadata(version, one("data")));
    pair.each("a topic by its id", 12..=13, |version, side| {
        let topic =
            MetadataRequestTopic::default().with_topic_id(side.topic_id("data")).with_name(None);
        metadata(version, Some(vec![topic]))
    });
    pair.each("brokers", 0..=2, |version, _| {
        let request =
            DescribeClusterRequest::default().with_include_cluster_authorized_operations(true);
        if version == 0 { request } else { request.with_endpoint_type(1) }
    });
    pair.each("a bad endpoint type", 1..=2, |_, _| {
        DescribeClusterRequest::default().with_endpoint_type(3)
    });
    let topic = |text: &str| TopicRequest::default().with_name(name(text).into());
    let describe = |topics| {
        DescribeTopicPartitionsRequest::default()
            .with_topics(topics)
            .with_response_partition_limit(2000)
    };
    pair.each("topics", 0..=0, |_, _| {
        describe(vec![topic("data"), topic("absent")]).with_cursor(None)
    });
    pair.each("a cursor", 0..=0, |_, _| {
        let cursor = Cursor::default().with_topic_name(name("data").into()).with_partition_index(1);
        describe(vec![topic("data")]).with_cursor(Some(cursor))
    });
    pair.each("a limit", 0..=0, |_, _| {
        describe(vec![topic("data")]).with_response_partition_limit(1).with_cursor(None)
    });
    pair.each("log dirs of one topic", 1..=4, |_, _| {
        let topic = DescribableLogDirTopic::default()
            .with_topic(name("data").into())
            .with_partitions(vec![0, 7]);
        DescribeLogDirsRequest::default().with_topics(Some(vec![topic]))
    });
    pair.each("the quorum", 0..=2, |_, _| quorum("__cluster_metadata", &[0]));
    pair.each("two quorums", 0..=2, |_, _| quorum("__cluster_metadata", &[0, 1]));
    pair.each("the quorum of a topic", 0..=2, |_, _| quorum("data", &[0]));
    pair.each("no quorum", 0..=2, |_, _| DescribeQuorumRequest::default());
    pair.each("fenced brokers", 2..=2, |_, _| {
        DescribeClusterRequest::default().with_include_fenced_brokers(true)
    });
    pair.each("controllers of a broker", 1..=2, |_, _| {
        DescribeClusterRequest::default().with_endpoint_type(2)
    });
    pair.each("operations on a topic", 8..=13, |version, _| {
        let topics = ["data", "absent"]
            .map(|text| MetadataRequestTopic::default().with_name(Some(name(text).into())));
        metadata(version, Some(topics.into())).with_include_topic_authorized_operations(true)
    });
    pair.each("an id where there are none", 10..=11, |version, _| {
        let topic = MetadataRequestTopic::default()
            .with_name(Some(name("data").into()))
            .with_topic_id(Uuid::from_u128(7));
        metadata(version, Some(vec![topic]))
    });
    let cursor = |text: &str, partition: i32| {
        Cursor::default().with_topic_name(name(text).into()).with_partition_index(partition)
    };
    pair.each("a cursor outside", 0..=0, |_, _| {
        describe(vec![topic("data")]).with_cursor(Some(cursor("v2", 0)))
    });
    pair.each("a cursor below", 0..=0, |_, _| {
        describe(vec![topic("data")]).with_cursor(Some(cursor("data", -1)))
    });
    pair.each("a cursor behind", 0..=0, |_, _| {
        describe(vec![topic("data")]).with_cursor(Some(cursor("data", 9)))
    });
    pair.each("a cursor at nothing", 0..=0, |_, _| {
        describe(vec![topic("v3"), topic("absent"), topic("data")])
            .with_cursor(Some(cursor("absent", 0)))
    });
    pair.each("a bad name", 0..=0, |_, _| describe(vec![topic("a b")]).with_cursor(None));
    pair.each("all topics", 0..=0, |_, _| describe(Vec::new()).with_cursor(None));
    pair.each("all topics by four", 0..=0, |_, _| {
        describe(Vec::new()).with_response_partition_limit(4).with_cursor(None)
    });
    pair.each("an unknown kind of coordinator", 4..=6, |_, _| {
        let keys = vec![name("a"), name("b")];
        FindCoordinatorRequest::default().with_coordinator_keys(keys).with_key_type(7)
    });
    for key in ["", "g", "g:x:1", "g:AAAAAAAAAAAAAAAAAAAAAA:x"] {
        pair.each(&format!("a share group's key `{key}`"), 6..=6, |_, _| {
            let keys = vec![name(key)];
            FindCoordinatorRequest::default().with_coordinator_keys(keys).with_key_type(2)
        });
    }
    pair.each("a transaction's coordinator without an id", 1..=3, |_, _| {
        FindCoordinatorRequest::default().with_key(name("")).with_key_type(7)
    });
}

/// What configs may be kept for.
fn resources(kinds: &[i8]) -> ListConfigResourcesRequest {
    ListConfigResourcesRequest::default().with_resource_types(kinds.to_vec())
}

/// Topics, brokers, their loggers, client metrics, groups; and what there is not.
pub(super) fn named(pair: &mut Pair) {
    pair.each("by name, of each kind", 0..=1, |_, _| resources(&[]));
    for kind in [2, 16, 32] {
        pair.each(&format!("by name, of kind {kind}"), 1..=1, |_, _| resources(&[kind]));
    }
    for kind in [4, 8] {
        pair.each(&format!("of kind {kind}"), 1..=1, |_, _| resources(&[kind]));
    }
    pair.each("of brokers, either way", 1..=1, |_, _| resources(&[4, 8, 4]));
    pair.each("of no kind", 1..=1, |_, _| resources(&[3]));
    pair.each("of no kind among others", 1..=1, |_, _| resources(&[2, 3]));
}
