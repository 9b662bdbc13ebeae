//! ApiVersions, Metadata, FindCoordinator and what describes the cluster.

use super::Pair;
use protocol::messages::DescribeClusterRequest;
use protocol::messages::describe_log_dirs_request::DescribableLogDirTopic;
use protocol::messages::describe_topic_partitions_request::{Cursor, TopicRequest};
use protocol::messages::metadata_request::MetadataRequestTopic;
use protocol::messages::{
    DescribeLogDirsRequest, DescribeTopicPartitionsRequest, FindCoordinatorRequest,
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
    pair.each("no reassignments", 0..=0, |_, _| {
        ListPartitionReassignmentsRequest::default().with_topics(None)
    });
}

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
    pair.each("a transaction's coordinator without an id", 1..=3, |_, _| {
        FindCoordinatorRequest::default().with_key(name("")).with_key_type(7)
    });
}
