//! Metadata, DescribeTopicPartitions, DescribeCluster, DescribeQuorum, FindCoordinator: who and where.

use super::served::{Served, text};
use protocol::error::ErrorCode::{
    self, CoordinatorNotAvailable, InvalidRequest, InvalidTopicException, MismatchedEndpointType,
    None as Fine, UnknownTopicId, UnknownTopicOrPartition, UnsupportedEndpointType,
};
use protocol::ids::Uuid;
use protocol::messages::describe_quorum_request::{PartitionData, TopicData};
use protocol::messages::describe_topic_partitions_request::{Cursor, TopicRequest};
use protocol::messages::metadata_request::MetadataRequestTopic;
use protocol::messages::{
    DescribeClusterRequest, DescribeQuorumRequest, DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse, FindCoordinatorRequest, MetadataRequest, MetadataResponse,
    StrBytes,
};

/// An id that no topic has.
const OTHER: Uuid = Uuid([7; 16]);

fn named(version: i16, names: &[&str]) -> MetadataRequest {
    let topic = |name: &&str| MetadataRequestTopic::default().with_name(Some(text(name).into()));
    MetadataRequest::default()
        .with_topics(Some(names.iter().map(topic).collect()))
        // Older versions have no way to say that they do not want it.
        .with_allow_auto_topic_creation(version < 4)
}

fn by_id(id: Uuid) -> MetadataRequest {
    let topic = MetadataRequestTopic::default().with_name(None).with_topic_id(id.into());
    named(13, &[]).with_topics(Some(vec![topic]))
}

/// Names, codes and counts of partitions.
fn shown(answer: &MetadataResponse) -> String {
    let topic = |it: &protocol::messages::metadata_response::MetadataResponseTopic| {
        let name = it.name.as_ref().map_or("-", |name| name.as_str());
        format!("{name}:{}:{}", it.error_code, it.partitions.len())
    };
    answer.topics.iter().map(topic).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn each_listener_is_told_its_own_addresses() {
    let broker = Served::start().await;
    for version in 0..=13 {
        for (listener, want) in [("INSIDE", ("inside", 1001)), ("OUTSIDE", ("outside", 1002))] {
            let answer = broker.ask_at(listener, &named(version, &[]), version).await;
            // Version 0 cannot ask for nothing, and gets all, which is nothing.
            let answer = answer.unwrap();
            let node = &answer.brokers[0];
            assert_eq!((node.host.as_str(), node.port, node.node_id.0), (want.0, want.1, 1));
            assert_eq!(node.rack.as_deref(), (0 < version).then_some("r1"));
            assert_eq!(answer.controller_id.0, if version == 0 { -1 } else { 1 });
            let id = (2 <= version).then_some(broker.cluster_id());
            assert_eq!(answer.cluster_id.as_deref(), id);
        }
    }
    broker.stop().await;
}

#[tokio::test]
async fn topics_are_found_all_at_once_by_name_or_by_id() {
    let broker = Served::start().await;
    broker.create("a", 2).await;
    broker.create("b", 1).await;
    for version in 0..=13 {
        let all = named(version, &[]).with_topics((version == 0).then(Vec::new));
        assert_eq!(shown(&broker.ask(&all, version).await), "a:0:2 b:0:1");
        let answer = broker.ask(&named(version, &["b", "b", "a"]), version).await;
        assert_eq!(shown(&answer), "b:0:1 a:0:2");
        let partition = &answer.topics[1].partitions[1];
        assert_eq!((partition.leader_id.0, partition.partition_index), (1, 1));
        assert_eq!(partition.replica_nodes, partition.isr_nodes);
        assert_eq!(partition.leader_epoch, if version < 7 { -1 } else { 0 });
        assert_eq!(Uuid::from(answer.topics[0].topic_id).is_zero(), version < 10);
    }
    for version in 12..=13 {
        let id = broker.ask(&named(version, &["a"]), version).await.topics[0].topic_id;
        assert_eq!(shown(&broker.ask(&by_id(id.into()), version).await), "a:0:2");
        let unknown = broker.ask(&by_id(OTHER), version).await;
        assert_eq!(shown(&unknown), format!("-:{}:0", UnknownTopicId.code()));
    }
    // An id, where versions know none.
    let topic = MetadataRequestTopic::default().with_topic_id(OTHER.into());
    let refused = broker.ask(&named(10, &[]).with_topics(Some(vec![topic])), 10).await;
    assert_eq!(shown(&refused), format!(":{}:0", InvalidRequest.code()));
    broker.stop().await;
}

#[tokio::test]
async fn what_may_be_done_is_told_to_who_asks() {
    let broker = Served::start().await;
    broker.create("a", 1).await;
    for version in 8..=13 {
        let silent = broker.ask(&named(version, &["a", "x"]), version).await;
        assert_eq!(silent.cluster_authorized_operations, i32::MIN);
        assert_eq!(silent.topics[0].topic_authorized_operations, i32::MIN);
        let asked = named(version, &["a", "x"])
            .with_include_topic_authorized_operations(true)
            .with_include_cluster_authorized_operations(version < 11);
        let told = broker.ask(&asked, version).await;
        let cluster = if version < 11 { 8096 } else { i32::MIN };
        assert_eq!(told.cluster_authorized_operations, cluster);
        assert!(told.topics.iter().all(|topic| topic.topic_authorized_operations == 3576));
    }
    broker.stop().await;
}

#[tokio::test]
async fn a_topic_that_is_asked_for_is_made() {
    let broker = Served::told("num.partitions=3\n").await;
    let unknown = UnknownTopicOrPartition.code();
    let asked = |name: &str, allow: bool| named(13, &[name]).with_allow_auto_topic_creation(allow);
    // The first answer says that it is not there yet, as Apache Kafka's does.
    for (version, allow, made) in
        [(0, true, true), (3, true, true), (4, false, false), (13, true, true)]
    {
        let name = format!("v{version}");
        let first = broker.ask(&asked(&name, allow), version).await;
        assert_eq!(shown(&first), format!("{name}:{unknown}:0"));
        let second = broker.ask(&asked(&name, false), 4).await;
        let want = if made { format!("{name}:0:3") } else { format!("{name}:{unknown}:0") };
        assert_eq!(shown(&second), want);
    }
    let bad = broker.ask(&asked("a b", true), 9).await;
    assert_eq!(shown(&bad), format!("a b:{}:0", InvalidTopicException.code()));
    for _ in 0..2 {
        let internal = broker.ask(&asked("__share_group_state", true), 9).await;
        assert_eq!(shown(&internal), format!("__share_group_state:{unknown}:0"));
        assert!(internal.topics[0].is_internal);
    }
    broker.stop().await;

    let broker = Served::told("auto.create.topics.enable=false\n").await;
    for _ in 0..2 {
        let answer = broker.ask(&asked("t", true), 9).await;
        assert_eq!(shown(&answer), format!("t:{unknown}:0"));
    }
    broker.stop().await;
}

/// `topic:code:partitions` of a page, and its cursor.
fn page(answer: &DescribeTopicPartitionsResponse) -> String {
    let mut shown: Vec<String> = Vec::new();
    for topic in &answer.topics {
        let numbers = topic.partitions.iter().map(|it| it.partition_index.to_string());
        let numbers = numbers.collect::<Vec<_>>().join(",");
        let name = topic.name.as_ref().unwrap();
        shown.push(format!("{}:{}:{numbers}", name.as_str(), topic.error_code));
    }
    if let Some(cursor) = &answer.next_cursor {
        shown.push(format!("> {} {}", cursor.topic_name.as_str(), cursor.partition_index));
    }
    shown.join(" ")
}

#[tokio::test]
async fn partitions_come_in_pages() {
    let broker = Served::told("max.request.partition.size.limit=4\n").await;
    broker.create("a", 3).await;
    broker.create("b", 3).await;
    let check = async |topics: &[&str], limit: i32, cursor: Option<(&str, i32)>, want: &str| {
        let topic = |name: &&str| TopicRequest::default().with_name(text(name).into());
        let cursor = cursor.map(|(name, number)| {
            Cursor::default().with_topic_name(text(name).into()).with_partition_index(number)
        });
        let request = DescribeTopicPartitionsRequest::default()
            .with_topics(topics.iter().map(topic).collect())
            .with_response_partition_limit(limit)
            .with_cursor(cursor);
        assert_eq!(page(&broker.ask(&request, 0).await), want);
    };
    check(&[], 2000, None, "a:0:0,1,2 b:0:0 > b 1").await;
    check(&[], 3, None, "a:0:0,1,2 > b 0").await;
    check(&[], 0, None, "a:0:0 > a 1").await;
    check(&[], 2, Some(("a", 1)), "a:0:1,2 > b 0").await;
    check(&[], 4, Some(("b", 1)), "b:0:1,2").await;
    check(&[], 4, Some(("b", 9)), "b:0:").await;
    check(&["b", "absent", "a"], 4, Some(("absent", 0)), "absent:3: b:0:0,1,2").await;
    check(&["x y"], 4, None, "x y:17:").await;
    let refused = InvalidRequest.code();
    check(&["a"], 4, Some(("b", 0)), &format!("a:{refused}:")).await;
    check(&["a"], 4, Some(("a", -1)), &format!("a:{refused}:")).await;
    broker.stop().await;
}

#[tokio::test]
async fn the_cluster_is_its_brokers_or_its_controllers() {
    let broker = Served::start().await;
    let check =
        async |listener: &str, version: i16, kind: i8, want: Result<(&str, i32), ErrorCode>| {
            let request = DescribeClusterRequest::default()
                .with_endpoint_type(kind)
                .with_include_cluster_authorized_operations(true);
            let answer = broker.ask_at(listener, &request, version).await.unwrap();
            let code = want.err().unwrap_or(Fine);
            assert_eq!(answer.error_code, code.code(), "{listener} {version} {kind}");
            let hosts: Vec<_> =
                answer.brokers.iter().map(|it| (it.host.as_str(), it.port)).collect();
            if let Ok((host, port)) = want {
                // The port of the controller's listener is whichever was free.
                assert_eq!(hosts[0].0, host);
                assert!(port == 0 || hosts[0].1 == port);
                assert_eq!(answer.controller_id.0, 1);
                assert_eq!(answer.cluster_id.as_str(), broker.cluster_id());
                assert_eq!(answer.cluster_authorized_operations, 8096);
                assert_eq!(answer.endpoint_type, kind);
            } else {
                assert_eq!(hosts, []);
            }
        };
    for version in 0..=2 {
        check("INSIDE", version, 1, Ok(("inside", 1001))).await;
        check("OUTSIDE", version, 1, Ok(("outside", 1002))).await;
    }
    check("CONTROLLER", 0, 1, Err(InvalidRequest)).await;
    for version in 1..=2 {
        check("CONTROLLER", version, 2, Ok(("localhost", 0))).await;
        check("CONTROLLER", version, 1, Err(MismatchedEndpointType)).await;
        check("INSIDE", version, 2, Err(MismatchedEndpointType)).await;
        check("INSIDE", version, 3, Err(UnsupportedEndpointType)).await;
    }
    broker.stop().await;
}

#[tokio::test]
async fn the_quorum_is_this_node() {
    let broker = Served::start().await;
    let request = |name: &str, numbers: &[i32]| {
        let partition = |number: &i32| PartitionData::default().with_partition_index(*number);
        let topic = TopicData::default()
            .with_topic_name(text(name).into())
            .with_partitions(numbers.iter().map(partition).collect());
        DescribeQuorumRequest::default().with_topics(vec![topic])
    };
    for version in 0..=2 {
        for listener in ["INSIDE", "CONTROLLER"] {
            let asked = request("__cluster_metadata", &[0]);
            let answer = broker.ask_at(listener, &asked, version).await.unwrap();
            let partition = &answer.topics[0].partitions[0];
            assert_eq!((answer.error_code, partition.error_code), (0, 0));
            assert_eq!((partition.leader_id.0, partition.current_voters.len()), (1, 1));
            let voter = &partition.current_voters[0];
            assert!(0 < partition.high_watermark && 0 < voter.log_end_offset);
            assert_eq!(Uuid::from(voter.replica_directory_id).is_zero(), version < 2);
            assert_eq!(answer.nodes.len(), usize::from(version == 2));
        }
        for asked in [request("__cluster_metadata", &[0, 1]), request("t", &[0])] {
            let answer = broker.ask(&asked, version).await;
            for partition in &answer.topics[0].partitions {
                assert_eq!(partition.error_code, UnknownTopicOrPartition.code());
            }
        }
    }
    broker.stop().await;
}

#[tokio::test]
async fn transactions_and_share_groups_have_no_coordinator_so_far() {
    let broker = Served::start().await;
    let check =
        async |kind: i8, key: &str, versions: std::ops::RangeInclusive<i16>, want: ErrorCode| {
            for version in versions {
                let request = FindCoordinatorRequest::default().with_key_type(kind);
                if version < 4 {
                    let answer = broker.ask(&request.with_key(text(key)), version).await;
                    assert_eq!(
                        (answer.error_code, answer.node_id.0, answer.port),
                        (want.code(), -1, -1)
                    );
                    continue;
                }
                let keys: Vec<StrBytes> = vec![text(key), text(key)];
                let answer = broker.ask(&request.with_coordinator_keys(keys), version).await;
                assert_eq!(answer.coordinators.len(), 2);
                for it in answer.coordinators {
                    assert_eq!((it.error_code, it.node_id.0, it.port), (want.code(), -1, -1));
                    assert_eq!(it.key.as_str(), key);
                }
            }
        };
    check(1, "t", 1..=6, CoordinatorNotAvailable).await;
    let share = format!("g:{}:3", OTHER);
    check(2, &share, 1..=5, InvalidRequest).await;
    check(2, &share, 6..=6, CoordinatorNotAvailable).await;
    for bad in ["", "g", "g:x:3", ":AAAAAAAAAAAAAAAAAAAAAA:0", "g:AAAAAAAAAAAAAAAAAAAAAA:x"] {
        check(2, bad, 6..=6, InvalidRequest).await;
    }
    check(7, "x", 1..=6, InvalidRequest).await;
    broker.stop().await;
}
