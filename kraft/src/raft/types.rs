//! What openraft is told of us: who votes, what a term is, and what an entry holds.

use bytes::Bytes;
use openraft::Membership;
use openraft::entry::RaftPayload;
use openraft::vote::leader_id_std::CommittedLeaderId;
use protocol::ids::Uuid;
use std::fmt;

/// A voter: a node with one disk of it. A reformatted disk is another voter (KIP-853), because one
/// that forgot its votes could make two majorities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplicaKey {
    pub id: i32,
    pub directory: Uuid,
}

impl fmt::Display for ReplicaKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.id, self.directory)
    }
}

/// How a voter is reached, and what it can do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VoterNode {
    pub endpoints: Vec<Endpoint>,
    pub kraft_version_min: i16,
    pub kraft_version_max: i16,
}

/// An address under the name of its listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub name: String,
    pub host: String,
    pub port: u16,
}

/// A batch of records that shall be agreed on. Base offset and leader epoch, which lie outside the
/// checksum, are the log's to fill in.
#[derive(Clone, Debug)]
pub struct Proposal(pub Bytes);

impl fmt::Display for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

/// Where a batch came to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applied {
    pub base_offset: i64,
}

impl fmt::Display for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "offset {}", self.base_offset)
    }
}

/// One entry: one batch. No bytes yet: the store makes them when it appends, a LeaderChange for a
/// blank entry, KRaftVersion and Voters for a membership.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Payload {
    pub batch: Bytes,
    pub membership: Option<Voters>,
}

impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.membership {
            Some(membership) => write!(f, "membership {membership}"),
            None => write!(f, "batch of {} bytes", self.batch.len()),
        }
    }
}

impl RaftPayload for Payload {
    type D = Proposal;
    type NodeId = ReplicaKey;
    type Node = VoterNode;

    fn blank() -> Payload {
        Payload::default()
    }
    fn with_normal(self, proposal: Proposal) -> Payload {
        Payload { batch: proposal.0, ..self }
    }
    fn with_membership(self, membership: Voters) -> Payload {
        Payload { membership: Some(membership), ..self }
    }
    fn get_membership(&self) -> Option<Voters> {
        self.membership.clone()
    }
}

pub type Term = u32;

openraft::declare_raft_types!(
    /// The types of our raft.
    pub TypeConfig:
        D = Proposal,
        R = Applied,
        NodeId = ReplicaKey,
        Node = VoterNode,
        Term = u32,
        LeaderId = openraft::impls::leader_id_std::LeaderId<Self::Term, Self::NodeId>,
        Payload = Payload,
);

pub type Voters = Membership<ReplicaKey, VoterNode>;
pub type LeaderId = openraft::impls::leader_id_std::LeaderId<Term, ReplicaKey>;
pub type Vote = openraft::impls::Vote<LeaderId>;
pub type LogId = openraft::impls::LogId<CommittedLeaderId<Term>>;
pub type StoredVoters = openraft::StoredMembership<CommittedLeaderId<Term>, ReplicaKey, VoterNode>;
pub type Entry = openraft::impls::Entry<CommittedLeaderId<Term>, Payload>;

/// The entry at `index` of the term that is also its batch's leader epoch.
pub fn log_id(term: Term, index: u64) -> LogId {
    LogId::new(CommittedLeaderId::new(term), index)
}
