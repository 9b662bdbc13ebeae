//! Committed offsets, and the groups that are listed and deleted with them, on a whole broker.

use super::broker::{Broker, response};
use super::served::{Served, soon, text};
use broker::api::Reply;
use protocol::error::ErrorCode;
use protocol::messages::find_coordinator_request::FindCoordinatorRequest;
use protocol::messages::join_group_request::JoinGroupRequestProtocol;
use protocol::messages::offset_commit_request::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use protocol::messages::offset_commit_response::OffsetCommitResponse;
use protocol::messages::offset_delete_request::{
    OffsetDeleteRequestPartition, OffsetDeleteRequestTopic,
};
use protocol::messages::offset_fetch_request::{
    OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
};
use protocol::messages::{
    DeleteGroupsRequest, DeleteTopicsRequest, DescribeGroupsRequest, JoinGroupRequest,
    ListGroupsRequest, OffsetCommitRequest, OffsetDeleteRequest, OffsetFetchRequest,
    OffsetFetchResponse,
};
use std::sync::Arc;

/// A broker with the topics `t` and `u`, of two partitions each, and the topic of groups.
async fn broker() -> Served {
    let broker = Served::told("offsets.topic.num.partitions=3\n").await;
    for topic in ["t", "u"] {
        broker.create(topic, 2).await;
    }
    let find = FindCoordinatorRequest::default().with_coordinator_keys(vec![text("g")]);
    broker.ask(&find, 4).await;
    for group in ["g", "h", "i"] {
        // Until all have read their logs.
        let loaded = async {
            while codes(&commit(&broker, 9, group, &[("t", 9, 0)]).await) != [NOT_THERE]
                || fetch(&broker, 9, group, None).await.groups[0].error_code != 0
            {
                tokio::task::yield_now().await;
            }
        };
        soon(loaded).await;
    }
    broker
}

const NOT_THERE: i16 = ErrorCode::UnknownTopicOrPartition.code();

async fn commit(
    broker: &Served,
    version: i16,
    group: &str,
    offsets: &[(&str, i32, i64)],
) -> OffsetCommitResponse {
    broker.ask(&commit_request(group, offsets), version).await
}

fn commit_request(group: &str, offsets: &[(&str, i32, i64)]) -> OffsetCommitRequest {
    let topic = |(name, number, offset): &(&str, i32, i64)| {
        let partition = OffsetCommitRequestPartition::default()
            .with_partition_index(*number)
            .with_committed_offset(*offset)
            .with_committed_metadata(None);
        OffsetCommitRequestTopic::default()
            .with_name(text(name).into())
            .with_partitions(vec![partition])
    };
    OffsetCommitRequest::default()
        .with_group_id(text(group).into())
        .with_topics(offsets.iter().map(topic).collect())
}

fn codes(answer: &OffsetCommitResponse) -> Vec<i16> {
    answer.topics.iter().flat_map(|it| &it.partitions).map(|it| it.error_code).collect()
}

/// Asks for partition 0 and 1 of the topics, or for all.
async fn fetch(
    broker: &Served,
    version: i16,
    group: &str,
    topics: Option<&[&str]>,
) -> OffsetFetchResponse {
    broker.ask(&fetch_request(version, group, topics), version).await
}

fn fetch_request(version: i16, group: &str, topics: Option<&[&str]>) -> OffsetFetchRequest {
    let request = OffsetFetchRequest::default();
    if version < 8 {
        let topic = |name: &&str| {
            OffsetFetchRequestTopic::default()
                .with_name(text(name).into())
                .with_partition_indexes(vec![0, 1])
        };
        request
            .with_group_id(text(group).into())
            .with_topics(topics.map(|topics| topics.iter().map(topic).collect()))
    } else {
        let topic = |name: &&str| {
            OffsetFetchRequestTopics::default()
                .with_name(text(name).into())
                .with_partition_indexes(vec![0, 1])
        };
        let group = OffsetFetchRequestGroup::default()
            .with_group_id(text(group).into())
            .with_topics(topics.map(|topics| topics.iter().map(topic).collect()));
        request.with_groups(vec![group])
    }
}

/// Topic, partition and offset of all that was answered.
fn offsets(answer: &OffsetFetchResponse) -> Vec<(String, i32, i64)> {
    let mut found = Vec::new();
    for topic in &answer.topics {
        let said = topic.partitions.iter();
        found.extend(
            said.map(|it| (topic.name.to_string(), it.partition_index, it.committed_offset)),
        );
    }
    for topic in answer.groups.iter().flat_map(|group| &group.topics) {
        let said = topic.partitions.iter();
        found.extend(
            said.map(|it| (topic.name.to_string(), it.partition_index, it.committed_offset)),
        );
    }
    found
}

fn named(offsets: &[(&str, i32, i64)]) -> Vec<(String, i32, i64)> {
    offsets.iter().map(|(name, number, offset)| ((*name).to_owned(), *number, *offset)).collect()
}

#[tokio::test]
async fn what_is_committed_at_any_version_is_fetched_at_any_other() {
    let broker = broker().await;
    for written in 2..=9 {
        let offset = 100 + i64::from(written);
        let answer = commit(&broker, written, "g", &[("t", 0, offset), ("u", 1, 5)]).await;
        assert_eq!(codes(&answer), [0, 0], "version {written}");
        for read in 1..=9 {
            let answer = fetch(&broker, read, "g", Some(&["t"])).await;
            assert_eq!(offsets(&answer), named(&[("t", 0, offset), ("t", 1, -1)]), "{read}");
        }
        for read in 2..=9 {
            let answer = fetch(&broker, read, "g", None).await;
            assert_eq!(offsets(&answer), named(&[("t", 0, offset), ("u", 1, 5)]), "{read}");
        }
    }
    broker.stop().await;
}

/// The commit may be lost, and who asks must neither believe it nor begin anew.
#[tokio::test]
async fn a_fetch_that_saw_what_cannot_be_committed_tells_no_offsets() {
    for version in 1..=9 {
        let mut broker = Broker::with_topic(2);
        let offsets_topic = broker.create("__consumer_offsets", 1, &[("flush.messages", "1")]);
        broker.ctx.groups.apply(&Arc::new(broker.image.clone()));
        let committed = broker.send(&commit_request("g", &[("t", 0, 5)]), 9);
        assert!(matches!(committed, Ok(Reply::Later(_))), "it waits for the disk");
        let fetched = broker.send(&fetch_request(version, "g", Some(&["t"])), version);
        let Ok(Reply::Later(fetched)) = fetched else { panic!("it has seen the commit") };
        broker.hand_over(offsets_topic, 0, 2);
        let answer = response::<OffsetFetchRequest>(fetched.await.unwrap(), version);
        let refused = ErrorCode::NotCoordinator.code();
        match version {
            1 => {
                let said = answer.topics.iter().flat_map(|it| &it.partitions);
                let said: Vec<_> = said.map(|it| (it.committed_offset, it.error_code)).collect();
                assert_eq!(said, [(-1, refused), (-1, refused)]);
            }
            2..=7 => assert_eq!((offsets(&answer), answer.error_code), (vec![], refused)),
            _ => {
                let code = answer.groups.iter().map(|it| it.error_code).collect::<Vec<_>>();
                assert_eq!((offsets(&answer), code), (vec![], vec![refused]));
            }
        }
    }
}

#[tokio::test]
async fn only_partitions_that_are_there_are_committed() {
    let broker = broker().await;
    let answer = commit(&broker, 9, "g", &[("t", 0, 1), ("x", 0, 2), ("t", 7, 3)]).await;
    let said: Vec<_> = (answer.topics.iter())
        .flat_map(|topic| {
            topic
                .partitions
                .iter()
                .map(|it| (topic.name.as_str(), it.partition_index, it.error_code))
        })
        .collect();
    assert_eq!(said, [("x", 0, NOT_THERE), ("t", 7, NOT_THERE), ("t", 0, 0)]);
    assert_eq!(offsets(&fetch(&broker, 9, "g", None).await), named(&[("t", 0, 1)]));
    broker.stop().await;
}

#[tokio::test]
async fn groups_of_several_shards_are_listed_described_and_deleted() {
    let broker = broker().await;
    for group in ["g", "h", "i"] {
        commit(&broker, 9, group, &[("t", 0, 1)]).await;
    }
    for version in 0..=5 {
        let answer = broker.ask(&ListGroupsRequest::default(), version).await;
        let mut ids: Vec<_> = answer.groups.iter().map(|it| it.group_id.to_string()).collect();
        ids.sort();
        assert_eq!(ids, ["g", "h", "i"]);
    }
    let ids = |ids: &[&str]| ids.iter().map(|id| text(id).into()).collect::<Vec<_>>();
    for version in 0..=6 {
        let request = DescribeGroupsRequest::default().with_groups(ids(&["i", "x", "g"]));
        let answer = broker.ask(&request, version).await;
        let said: Vec<_> = (answer.groups.iter())
            .map(|it| (it.group_id.as_str(), it.group_state.as_str(), it.error_code))
            .collect();
        let unknown = if version < 6 { 0 } else { ErrorCode::GroupIdNotFound.code() };
        assert_eq!(said, [("i", "Empty", 0), ("x", "Dead", unknown), ("g", "Empty", 0)]);
    }
    let request = DeleteGroupsRequest::default().with_groups_names(ids(&["h", "x", "", "h"]));
    let answer = broker.ask(&request, 2).await;
    let said: Vec<_> =
        answer.results.iter().map(|it| (it.group_id.as_str(), it.error_code)).collect();
    let unknown = ErrorCode::GroupIdNotFound.code();
    assert_eq!(said, [("h", 0), ("x", unknown), ("", unknown)]);
    assert_eq!(offsets(&fetch(&broker, 9, "h", None).await), named(&[]));
    broker.stop().await;
}

#[tokio::test]
async fn offsets_are_deleted_one_by_one_or_with_their_topic() {
    let broker = broker().await;
    commit(&broker, 9, "g", &[("t", 0, 1), ("t", 1, 2), ("u", 0, 3)]).await;
    let partition = |number| OffsetDeleteRequestPartition::default().with_partition_index(number);
    let topic = OffsetDeleteRequestTopic::default()
        .with_name(text("t").into())
        .with_partitions(vec![partition(0), partition(5)]);
    let request =
        OffsetDeleteRequest::default().with_group_id(text("g").into()).with_topics(vec![topic]);
    let answer = broker.ask(&request, 0).await;
    let said: Vec<_> = (answer.topics.iter().flat_map(|it| &it.partitions))
        .map(|it| (it.partition_index, it.error_code))
        .collect();
    assert_eq!((answer.error_code, said), (0, vec![(5, NOT_THERE), (0, 0)]));
    assert_eq!(offsets(&fetch(&broker, 9, "g", None).await), named(&[("t", 1, 2), ("u", 0, 3)]));
    let request = DeleteTopicsRequest::default()
        .with_topic_names(vec![text("t").into()])
        .with_timeout_ms(10_000);
    broker.ask(&request, 5).await;
    let forgotten = async {
        while offsets(&fetch(&broker, 9, "g", None).await) != named(&[("u", 0, 3)]) {
            tokio::task::yield_now().await;
        }
    };
    soon(forgotten).await;
    broker.stop().await;
}

#[tokio::test]
async fn a_name_that_no_record_can_hold_is_refused() {
    let broker = broker().await;
    let name = "x".repeat(40_000);
    let said = codes(&commit(&broker, 9, &name, &[("t", 0, 1)]).await);
    assert_eq!(said, [ErrorCode::InvalidGroupId.code()]);
    let protocol = JoinGroupRequestProtocol::default().with_name(text("range"));
    let join = JoinGroupRequest::default()
        .with_group_id(text(&name).into())
        .with_session_timeout_ms(10_000)
        .with_protocol_type(text("consumer"))
        .with_protocols(vec![protocol]);
    let answer = broker.ask(&join, 9).await;
    assert_eq!(answer.error_code, ErrorCode::InvalidGroupId.code());
    assert_eq!(broker.ask(&ListGroupsRequest::default(), 5).await.groups, []);
    broker.stop().await;
}
