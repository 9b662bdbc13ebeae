//! DescribeQuorum (key 55): who votes on the metadata, who leads, and how far each has come.

use super::context::{Ctx, RequestContext};
use super::handler::Handler;
use super::reply::{Handled, Reply};
use kraft::node::{QuorumInfo, VoterInfo, VoterNode};
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::describe_quorum_request::TopicData as AskedTopic;
use protocol::messages::describe_quorum_response::{
    Listener, Node, PartitionData, ReplicaState, TopicData,
};
use protocol::messages::{
    BrokerId, DescribeQuorumRequest, DescribeQuorumResponse, StrBytes, Versions,
};

/// The topic of the metadata, with its one partition.
const TOPIC: &str = "__cluster_metadata";

/// The version that tells where voters are, and in which directory.
const NODES_SINCE: i16 = 2;

pub(super) struct DescribeQuorum;

impl Handler for DescribeQuorum {
    type Request = DescribeQuorumRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 2 };

    fn handle(
        ctx: &Ctx,
        _from: &RequestContext,
        request: DescribeQuorumRequest,
        version: i16,
    ) -> Handled<DescribeQuorumRequest> {
        let response = match &ctx.controller {
            _ if !asks_for_the_metadata(&request.topics) => unknown(&request.topics),
            None => DescribeQuorum::refuse(&request, ErrorCode::NotLeaderOrFollower),
            Some(controller) => {
                let quorum = controller.quorum();
                let topic = request.topics.first().map(|topic| described(topic, &quorum, version));
                let response = DescribeQuorumResponse::default();
                let response = response.with_topics(topic.into_iter().collect());
                let nodes = quorum.nodes.iter().filter(|_| NODES_SINCE <= version);
                response.with_nodes(nodes.map(|(id, it)| node(*id, it)).collect())
            }
        };
        Ok(Reply::Now(response.into()))
    }

    fn refuse(_request: &DescribeQuorumRequest, code: ErrorCode) -> DescribeQuorumResponse {
        DescribeQuorumResponse::default()
            .with_error_code(code.code())
            .with_error_message(Some(code.message().into()))
    }
}

/// One topic with one partition, and nothing else.
fn asks_for_the_metadata(topics: &[AskedTopic]) -> bool {
    let [topic] = topics else { return false };
    let [partition] = topic.partitions.as_slice() else { return false };
    topic.topic_name.as_str() == TOPIC && partition.partition_index == 0
}

fn unknown(topics: &[AskedTopic]) -> DescribeQuorumResponse {
    let code = ErrorCode::UnknownTopicOrPartition;
    let partition = |number| {
        PartitionData::default()
            .with_partition_index(number)
            .with_error_code(code.code())
            .with_error_message(Some(code.message().into()))
    };
    let topic = |topic: &AskedTopic| {
        let partitions = topic.partitions.iter().map(|it| partition(it.partition_index));
        TopicData::default()
            .with_topic_name(topic.topic_name.clone())
            .with_partitions(partitions.collect())
    };
    DescribeQuorumResponse::default().with_topics(topics.iter().map(topic).collect())
}

fn described(topic: &AskedTopic, quorum: &QuorumInfo, version: i16) -> TopicData {
    let states = |list: &[VoterInfo]| list.iter().map(|of| state(of, version)).collect();
    let partition = PartitionData::default()
        .with_leader_id(BrokerId(quorum.leader_id))
        .with_leader_epoch(quorum.leader_epoch)
        .with_high_watermark(quorum.high_watermark)
        .with_current_voters(states(&quorum.voters))
        .with_observers(states(&quorum.observers));
    TopicData::default().with_topic_name(topic.topic_name.clone()).with_partitions(vec![partition])
}

fn state(of: &VoterInfo, version: i16) -> ReplicaState {
    let directory = if version < NODES_SINCE { Uuid::ZERO } else { of.replica.directory };
    ReplicaState::default()
        .with_replica_id(BrokerId(of.replica.id))
        .with_replica_directory_id(directory.into())
        .with_log_end_offset(of.log_end_offset)
        .with_last_fetch_timestamp(of.last_fetch_timestamp_ms)
        .with_last_caught_up_timestamp(of.last_caught_up_timestamp_ms)
}

fn node(id: i32, node: &VoterNode) -> Node {
    let text = |text: &str| StrBytes::from_string(text.to_owned());
    let listeners = node.endpoints.iter().map(|at| {
        Listener::default().with_name(text(&at.name)).with_host(text(&at.host)).with_port(at.port)
    });
    Node::default().with_node_id(BrokerId(id)).with_listeners(listeners.collect())
}
