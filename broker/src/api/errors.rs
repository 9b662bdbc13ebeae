//! The error codes that a response says, for those who count them: Kafka's
//! `AbstractResponse.errorCounts`.

use protocol::messages::*;
use std::iter::once;

/// A response that says codes, 0 among them.
pub trait Errors {
    fn errors(&self) -> impl Iterator<Item = i16>;
}

/// `Response: error_code` says one of its own; `topics / partitions` one for each of these; with a
/// comma between them both.
macro_rules! errors {
    ($( $response:ident: $( $($part:ident)/+ ),+ ; )*) => { $(
        impl Errors for $response {
            fn errors(&self) -> impl Iterator<Item = i16> {
                std::iter::empty() $( .chain(errors!(@ self, $($part)/+)) )+
            }
        }
    )* };
    (@ $it:ident, error_code) => { once($it.error_code) };
    (@ $it:ident, $list:ident) => { $it.$list.iter().map(|it| it.error_code) };
    (@ $it:ident, $list:ident / $inner:ident) => {
        $it.$list.iter().flat_map(|it| &it.$inner).map(|it| it.error_code)
    };
    (@ $it:ident, $list:ident / $inner:ident / $most:ident) => {
        $it.$list.iter().flat_map(|it| &it.$inner).flat_map(|it| &it.$most).map(|it| it.error_code)
    };
}

errors! {
    ProduceResponse: responses/partition_responses;
    FetchResponse: error_code, responses/partitions;
    ListOffsetsResponse: topics/partitions;
    MetadataResponse: topics;
    OffsetCommitResponse: topics/partitions;
    OffsetFetchResponse: error_code, topics/partitions, groups, groups/topics/partitions;
    FindCoordinatorResponse: error_code, coordinators;
    JoinGroupResponse: error_code;
    HeartbeatResponse: error_code;
    LeaveGroupResponse: error_code, members;
    SyncGroupResponse: error_code;
    DescribeGroupsResponse: groups;
    ListGroupsResponse: error_code;
    ApiVersionsResponse: error_code;
    CreateTopicsResponse: topics;
    DeleteTopicsResponse: responses;
    DeleteRecordsResponse: topics/partitions;
    InitProducerIdResponse: error_code;
    OffsetForLeaderEpochResponse: topics/partitions;
    DescribeAclsResponse: error_code;
    CreateAclsResponse: results;
    DeleteAclsResponse: filter_results;
    DescribeConfigsResponse: results;
    AlterConfigsResponse: responses;
    DescribeLogDirsResponse: error_code, results;
    CreatePartitionsResponse: results;
    DeleteGroupsResponse: results;
    IncrementalAlterConfigsResponse: responses;
    ListPartitionReassignmentsResponse: error_code;
    OffsetDeleteResponse: error_code, topics/partitions;
    DescribeQuorumResponse: error_code, topics/partitions;
    DescribeClusterResponse: error_code;
    DescribeProducersResponse: topics/partitions;
    ConsumerGroupHeartbeatResponse: error_code;
    ConsumerGroupDescribeResponse: groups;
    ListConfigResourcesResponse: error_code;
    DescribeTopicPartitionsResponse: topics;
}
