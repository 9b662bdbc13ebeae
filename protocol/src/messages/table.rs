//! The table that ties request, response and number together.

use super::*;
use kafka_protocol::protocol::HeaderVersion;

/// What is done alike with every request, see [`ApiKey::visit`].
pub trait Visit {
    type Output;
    fn visit<R: Request>(self) -> Self::Output;
}

macro_rules! apis {
    ($( $name:ident = $key:literal: $request:ident => $response:ident; )*) => {
        /// A kind of request, as numbered on the wire.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(i16)]
        pub enum ApiKey { $( $name = $key, )* }

        $( impl Request for $request {
            const KEY: ApiKey = ApiKey::$name;
            type Response = $response;
        } )*

        impl ApiKey {
            /// Every key that the codec knows, in the order of the numbers. What is served is a
            /// table of the broker.
            pub const ALL: &[ApiKey] = &[ $( ApiKey::$name, )* ];

            /// The key with that number.
            pub const fn from_code(code: i16) -> Option<ApiKey> {
                match code {
                    $( $key => Some(ApiKey::$name), )*
                    _ => None,
                }
            }

            /// Kafka's name of it.
            pub const fn name(self) -> &'static str {
                match self { $( ApiKey::$name => stringify!($name), )* }
            }

            /// What the codec speaks, see [`Request::CODEC`].
            pub const fn codec(self) -> Versions {
                match self { $( ApiKey::$name => <$request as Request>::CODEC, )* }
            }

            /// The version of the header before a request of `version`, a known one or not.
            pub(super) fn request_header_version(self, version: i16) -> i16 {
                match self { $( ApiKey::$name => $request::header_version(version), )* }
            }

            /// Calls `visit` with the type of the request that has this number.
            pub fn visit<V: Visit>(self, visit: V) -> V::Output {
                match self { $( ApiKey::$name => visit.visit::<$request>(), )* }
            }
        }
    };
}

apis! {
    Produce = 0: ProduceRequest => ProduceResponse;
    Fetch = 1: FetchRequest => FetchResponse;
    ListOffsets = 2: ListOffsetsRequest => ListOffsetsResponse;
    Metadata = 3: MetadataRequest => MetadataResponse;
    OffsetCommit = 8: OffsetCommitRequest => OffsetCommitResponse;
    OffsetFetch = 9: OffsetFetchRequest => OffsetFetchResponse;
    FindCoordinator = 10: FindCoordinatorRequest => FindCoordinatorResponse;
    JoinGroup = 11: JoinGroupRequest => JoinGroupResponse;
    Heartbeat = 12: HeartbeatRequest => HeartbeatResponse;
    LeaveGroup = 13: LeaveGroupRequest => LeaveGroupResponse;
    SyncGroup = 14: SyncGroupRequest => SyncGroupResponse;
    DescribeGroups = 15: DescribeGroupsRequest => DescribeGroupsResponse;
    ListGroups = 16: ListGroupsRequest => ListGroupsResponse;
    SaslHandshake = 17: SaslHandshakeRequest => SaslHandshakeResponse;
    ApiVersions = 18: ApiVersionsRequest => ApiVersionsResponse;
    CreateTopics = 19: CreateTopicsRequest => CreateTopicsResponse;
    DeleteTopics = 20: DeleteTopicsRequest => DeleteTopicsResponse;
    DeleteRecords = 21: DeleteRecordsRequest => DeleteRecordsResponse;
    InitProducerId = 22: InitProducerIdRequest => InitProducerIdResponse;
    OffsetForLeaderEpoch = 23: OffsetForLeaderEpochRequest => OffsetForLeaderEpochResponse;
    AddPartitionsToTxn = 24: AddPartitionsToTxnRequest => AddPartitionsToTxnResponse;
    AddOffsetsToTxn = 25: AddOffsetsToTxnRequest => AddOffsetsToTxnResponse;
    EndTxn = 26: EndTxnRequest => EndTxnResponse;
    WriteTxnMarkers = 27: WriteTxnMarkersRequest => WriteTxnMarkersResponse;
    TxnOffsetCommit = 28: TxnOffsetCommitRequest => TxnOffsetCommitResponse;
    DescribeAcls = 29: DescribeAclsRequest => DescribeAclsResponse;
    CreateAcls = 30: CreateAclsRequest => CreateAclsResponse;
    DeleteAcls = 31: DeleteAclsRequest => DeleteAclsResponse;
    DescribeConfigs = 32: DescribeConfigsRequest => DescribeConfigsResponse;
    AlterConfigs = 33: AlterConfigsRequest => AlterConfigsResponse;
    AlterReplicaLogDirs = 34: AlterReplicaLogDirsRequest => AlterReplicaLogDirsResponse;
    DescribeLogDirs = 35: DescribeLogDirsRequest => DescribeLogDirsResponse;
    SaslAuthenticate = 36: SaslAuthenticateRequest => SaslAuthenticateResponse;
    CreatePartitions = 37: CreatePartitionsRequest => CreatePartitionsResponse;
    CreateDelegationToken = 38: CreateDelegationTokenRequest => CreateDelegationTokenResponse;
    RenewDelegationToken = 39: RenewDelegationTokenRequest => RenewDelegationTokenResponse;
    ExpireDelegationToken = 40: ExpireDelegationTokenRequest => ExpireDelegationTokenResponse;
    DescribeDelegationToken = 41: DescribeDelegationTokenRequest => DescribeDelegationTokenResponse;
    DeleteGroups = 42: DeleteGroupsRequest => DeleteGroupsResponse;
    ElectLeaders = 43: ElectLeadersRequest => ElectLeadersResponse;
    IncrementalAlterConfigs = 44: IncrementalAlterConfigsRequest => IncrementalAlterConfigsResponse;
    AlterPartitionReassignments = 45: AlterPartitionReassignmentsRequest => AlterPartitionReassignmentsResponse;
    ListPartitionReassignments = 46: ListPartitionReassignmentsRequest => ListPartitionReassignmentsResponse;
    OffsetDelete = 47: OffsetDeleteRequest => OffsetDeleteResponse;
    DescribeClientQuotas = 48: DescribeClientQuotasRequest => DescribeClientQuotasResponse;
    AlterClientQuotas = 49: AlterClientQuotasRequest => AlterClientQuotasResponse;
    DescribeUserScramCredentials = 50: DescribeUserScramCredentialsRequest => DescribeUserScramCredentialsResponse;
    AlterUserScramCredentials = 51: AlterUserScramCredentialsRequest => AlterUserScramCredentialsResponse;
    Vote = 52: VoteRequest => VoteResponse;
    BeginQuorumEpoch = 53: BeginQuorumEpochRequest => BeginQuorumEpochResponse;
    EndQuorumEpoch = 54: EndQuorumEpochRequest => EndQuorumEpochResponse;
    DescribeQuorum = 55: DescribeQuorumRequest => DescribeQuorumResponse;
    AlterPartition = 56: AlterPartitionRequest => AlterPartitionResponse;
    UpdateFeatures = 57: UpdateFeaturesRequest => UpdateFeaturesResponse;
    Envelope = 58: EnvelopeRequest => EnvelopeResponse;
    FetchSnapshot = 59: FetchSnapshotRequest => FetchSnapshotResponse;
    DescribeCluster = 60: DescribeClusterRequest => DescribeClusterResponse;
    DescribeProducers = 61: DescribeProducersRequest => DescribeProducersResponse;
    BrokerRegistration = 62: BrokerRegistrationRequest => BrokerRegistrationResponse;
    BrokerHeartbeat = 63: BrokerHeartbeatRequest => BrokerHeartbeatResponse;
    UnregisterBroker = 64: UnregisterBrokerRequest => UnregisterBrokerResponse;
    DescribeTransactions = 65: DescribeTransactionsRequest => DescribeTransactionsResponse;
    ListTransactions = 66: ListTransactionsRequest => ListTransactionsResponse;
    AllocateProducerIds = 67: AllocateProducerIdsRequest => AllocateProducerIdsResponse;
    ConsumerGroupHeartbeat = 68: ConsumerGroupHeartbeatRequest => ConsumerGroupHeartbeatResponse;
    ConsumerGroupDescribe = 69: ConsumerGroupDescribeRequest => ConsumerGroupDescribeResponse;
    ControllerRegistration = 70: ControllerRegistrationRequest => ControllerRegistrationResponse;
    GetTelemetrySubscriptions = 71: GetTelemetrySubscriptionsRequest => GetTelemetrySubscriptionsResponse;
    PushTelemetry = 72: PushTelemetryRequest => PushTelemetryResponse;
    AssignReplicasToDirs = 73: AssignReplicasToDirsRequest => AssignReplicasToDirsResponse;
    ListConfigResources = 74: ListConfigResourcesRequest => ListConfigResourcesResponse;
    DescribeTopicPartitions = 75: DescribeTopicPartitionsRequest => DescribeTopicPartitionsResponse;
    ShareGroupHeartbeat = 76: ShareGroupHeartbeatRequest => ShareGroupHeartbeatResponse;
    ShareGroupDescribe = 77: ShareGroupDescribeRequest => ShareGroupDescribeResponse;
    ShareFetch = 78: ShareFetchRequest => ShareFetchResponse;
    ShareAcknowledge = 79: ShareAcknowledgeRequest => ShareAcknowledgeResponse;
    AddRaftVoter = 80: AddRaftVoterRequest => AddRaftVoterResponse;
    RemoveRaftVoter = 81: RemoveRaftVoterRequest => RemoveRaftVoterResponse;
    UpdateRaftVoter = 82: UpdateRaftVoterRequest => UpdateRaftVoterResponse;
    InitializeShareGroupState = 83: InitializeShareGroupStateRequest => InitializeShareGroupStateResponse;
    ReadShareGroupState = 84: ReadShareGroupStateRequest => ReadShareGroupStateResponse;
    WriteShareGroupState = 85: WriteShareGroupStateRequest => WriteShareGroupStateResponse;
    DeleteShareGroupState = 86: DeleteShareGroupStateRequest => DeleteShareGroupStateResponse;
    ReadShareGroupStateSummary = 87: ReadShareGroupStateSummaryRequest => ReadShareGroupStateSummaryResponse;
    DescribeShareGroupOffsets = 90: DescribeShareGroupOffsetsRequest => DescribeShareGroupOffsetsResponse;
    AlterShareGroupOffsets = 91: AlterShareGroupOffsetsRequest => AlterShareGroupOffsetsResponse;
    DeleteShareGroupOffsets = 92: DeleteShareGroupOffsetsRequest => DeleteShareGroupOffsetsResponse;
}

impl ApiKey {
    /// The number on the wire.
    pub const fn code(self) -> i16 {
        self as i16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stand_once_in_the_order_of_their_numbers() {
        assert!(ApiKey::ALL.is_sorted_by(|low, high| low.code() < high.code()));
        for &key in ApiKey::ALL {
            assert_eq!(ApiKey::from_code(key.code()), Some(key));
            let codec = key.codec();
            assert!(codec.min <= codec.max, "{} has versions", key.name());
        }
    }
}
