//! The table that ties request, response and number together.

use super::frame::malformed::Malformed;
use super::frame::peer::{self, Labels};
use super::frame::rope::{self, Part};
use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::*; // `ApiKey` below wins over the codec's.
use kafka_protocol::protocol::{Decodable, Encodable, HeaderVersion, Message, VersionRange};
use std::fmt::Debug;

/// An inclusive range of versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    pub min: i16,
    pub max: i16,
}

impl Versions {
    pub const fn contains(self, version: i16) -> bool {
        self.min <= version && version <= self.max
    }

    const fn of_both(a: VersionRange, b: VersionRange) -> Versions {
        Versions {
            min: if a.min < b.min { b.min } else { a.min },
            max: if a.max < b.max { a.max } else { b.max },
        }
    }
}

/// A request, the response that answers it, and their number.
pub trait Request:
    Clone
    + Debug
    + PartialEq
    + Decodable
    + Default
    + Encodable
    + HeaderVersion
    + Message
    + Send
    + 'static
{
    const KEY: ApiKey;
    type Response: Clone
        + Debug
        + PartialEq
        + Decodable
        + Default
        + Encodable
        + HeaderVersion
        + Message
        + Send
        + 'static;

    /// What the codec speaks in both directions; its own list of ranges looks at one only.
    const CODEC: Versions =
        Versions::of_both(<Self as Message>::VERSIONS, <Self::Response as Message>::VERSIONS);

    /// Reads what follows the header of a frame. Strings and records stay slices of it.
    fn read(mut body: Bytes, version: i16) -> Result<Self, Malformed> {
        Self::decode(&mut body, version).map_err(Malformed::of)
    }

    /// Writes a whole frame: length, header, response.
    fn write(
        response: &Self::Response,
        version: i16,
        correlation_id: i32,
    ) -> Result<Vec<Part>, Malformed> {
        rope::write(response, version, correlation_id)
    }

    /// Writes what a broker, as its peers' client, sends behind the header.
    fn body(&self, version: i16) -> Result<Bytes, Malformed> {
        let mut body = BytesMut::new();
        self.encode(&mut body, version).map_err(Malformed::of)?;
        Ok(body.freeze())
    }

    /// Writes a whole frame as a client sends it: length, header, request.
    fn frame(
        &self,
        version: i16,
        correlation_id: i32,
        client_id: &str,
    ) -> Result<Bytes, Malformed> {
        peer::request(self, Self::KEY.code(), Labels { version, correlation_id, client_id })
    }

    /// Reads the frame (without its length) that answers a request of `version`: the
    /// correlation id and the response.
    fn read_response(version: i16, frame: Bytes) -> Result<(i32, Self::Response), Malformed> {
        peer::response(frame, version)
    }
}

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
