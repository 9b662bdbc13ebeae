//! The controllers' own listeners, as `--bootstrap-controller` speaks to them.

use super::Pair;
use super::admin::{create, describe, edit, name, topic};
use super::lookup::quorum;
use protocol::messages::delete_topics_request::DeleteTopicState;
use protocol::messages::{
    DeleteTopicsRequest, DescribeClusterRequest, ListPartitionReassignmentsRequest,
};

pub(super) fn asked(pair: &mut Pair) {
    for kind in 1..=3 {
        pair.each(&format!("controller: endpoint type {kind}"), 1..=2, |_, _| {
            DescribeClusterRequest::default()
                .with_endpoint_type(kind)
                .with_include_cluster_authorized_operations(true)
        });
    }
    pair.each("controller: endpoints", 0..=0, |_, _| DescribeClusterRequest::default());
    pair.each("controller: the quorum", 0..=2, |_, _| quorum("__cluster_metadata", &[0]));
    pair.each("controller: a new topic", 2..=7, |version, _| {
        create(vec![topic(&format!("c{version}"), 2)])
    });
    pair.each("controller: one that exists", 2..=7, |_, _| create(vec![topic("c2", 2)]));
    pair.each("controller: no reassignments", 0..=0, |_, _| {
        ListPartitionReassignmentsRequest::default().with_topics(None)
    });
    for (case, change) in [
        ("a topic", (2, "c2", 0, "retention.ms", Some("5000"))),
        ("an unknown topic", (2, "absent", 0, "retention.ms", Some("5000"))),
        ("a bad value", (2, "c2", 0, "retention.ms", Some("x"))),
        ("a null value", (2, "c2", 0, "segment.ms", None)),
        ("a broker", (4, "1", 0, "log.retention.ms", Some("98000"))),
        ("all brokers", (4, "", 0, "log.segment.bytes", Some("2097153"))),
        ("another broker", (4, "9", 0, "log.retention.ms", Some("98000"))),
        ("an unknown kind", (99, "x", 0, "log.retention.ms", Some("98000"))),
    ] {
        pair.each(&format!("controller: {case}"), 0..=1, |_, _| edit(change));
    }
    pair.each("controller: a topic", 1..=4, |_, _| describe(2, "c2", Some(&["retention.ms"])));
    pair.each("controller: an unknown topic", 1..=4, |_, _| describe(2, "absent", None));
    pair.each("controller: a broker", 1..=4, |_, _| describe(4, "1", Some(&["log.retention.ms"])));
    pair.each("controller: all brokers", 1..=4, |_, _| describe(4, "", None));
    pair.each("controller: deleted", 6..=6, |_, _| {
        let state = DeleteTopicState::default().with_name(Some(name("c3").into()));
        DeleteTopicsRequest::default().with_timeout_ms(10_000).with_topics(vec![state])
    });
}
