//! The way to other voters. A sole voter has none, and any call says so.

use super::snapshot::SnapshotFile;
use super::types::{ReplicaKey, TypeConfig, Vote, VoterNode};
use openraft::errors::{RPCError, ReplicationClosed, StreamingError, Unreachable};
use openraft::network::{RPCOption, RaftNetworkFactory, RaftNetworkV2};
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, VoteRequest, VoteResponse,
};
use openraft::type_config::alias::SnapshotOf;
use std::io;

/// Makes a way to each voter that is named.
#[derive(Debug)]
pub(super) struct NoPeers;

/// The way to a voter that is not there.
#[derive(Debug)]
pub(super) struct NoPeer(ReplicaKey);

impl NoPeer {
    fn unreachable(&self) -> Unreachable<TypeConfig> {
        let why = format!("this version has no way to another voter, and {} is one", self.0);
        Unreachable::new(&io::Error::other(why))
    }
}

impl RaftNetworkFactory<TypeConfig> for NoPeers {
    type Network = NoPeer;

    async fn new_client(&mut self, target: ReplicaKey, _node: &VoterNode) -> NoPeer {
        NoPeer(target)
    }
}

impl RaftNetworkV2<TypeConfig> for NoPeer {
    type SnapshotData = SnapshotFile;

    async fn append_entries(
        &mut self,
        _rpc: AppendEntriesRequest<TypeConfig>,
        _option: RPCOption,
    ) -> Result<AppendEntriesResponse<TypeConfig>, RPCError<TypeConfig>> {
        Err(self.unreachable().into())
    }

    async fn vote(
        &mut self,
        _rpc: VoteRequest<TypeConfig>,
        _option: RPCOption,
    ) -> Result<VoteResponse<TypeConfig>, RPCError<TypeConfig>> {
        Err(self.unreachable().into())
    }

    async fn pre_vote(
        &mut self,
        rpc: VoteRequest<TypeConfig>,
        option: RPCOption,
    ) -> Result<VoteResponse<TypeConfig>, RPCError<TypeConfig>> {
        self.vote(rpc, option).await
    }

    async fn full_snapshot(
        &mut self,
        _vote: Vote,
        _snapshot: SnapshotOf<TypeConfig, SnapshotFile>,
        _cancel: impl Future<Output = ReplicationClosed> + Send + 'static,
        _option: RPCOption,
    ) -> Result<SnapshotResponse<TypeConfig>, StreamingError<TypeConfig>> {
        Err(self.unreachable().into())
    }
}
