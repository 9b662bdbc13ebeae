//! A member of a classic group: what it said of itself, what it was given, what it waits for.

use crate::coordinator::Token;
use bytes::Bytes;
use protocol::messages::join_group_request::JoinGroupRequestProtocol;
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(in crate::group) struct ClassicMember {
    /// The name of a static member (KIP-345), which outlives its ids.
    pub(super) instance: Option<Arc<str>>,
    pub(super) client_id: Arc<str>,
    pub(super) client_host: Arc<str>,
    pub(super) rebalance_timeout_ms: i32,
    pub(super) session_timeout_ms: i32,
    /// What it can do, what it likes best first, and what it says of itself under each.
    pub(super) protocols: Vec<(Arc<str>, Bytes)>,
    pub(super) assignment: Bytes,
    /// A JoinGroup that waits for the others.
    pub(super) joining: Option<Token>,
    /// A SyncGroup that waits for the leader.
    pub(super) syncing: Option<Token>,
    /// It was never told that it is in: it cannot send heartbeats yet.
    pub(super) is_new: bool,
}

/// Copied: what a request holds is a slice of its frame.
pub(super) fn protocols(said: &[JoinGroupRequestProtocol]) -> Vec<(Arc<str>, Bytes)> {
    let copy = |it: &JoinGroupRequestProtocol| {
        (Arc::from(it.name.as_str()), Bytes::copy_from_slice(&it.metadata))
    };
    said.iter().map(copy).collect()
}

impl ClassicMember {
    pub(super) fn is_static(&self) -> bool {
        self.instance.is_some()
    }

    /// What it says of itself under `protocol`.
    pub(super) fn metadata(&self, protocol: &str) -> Option<&Bytes> {
        let found = self.protocols.iter().find(|(name, _)| **name == *protocol);
        found.map(|(_, says)| says)
    }

    /// How much it says of itself, under all protocols together.
    pub(super) fn says_bytes(&self) -> usize {
        self.protocols.iter().map(|(name, says)| name.len() + says.len()).sum()
    }

    /// Whether it says what it said before, in the same order.
    pub(super) fn says(&self, protocols: &[JoinGroupRequestProtocol]) -> bool {
        let mut pairs = self.protocols.iter().zip(protocols);
        self.protocols.len() == protocols.len()
            && pairs.all(|((name, says), new)| **name == *new.name && *says == new.metadata)
    }

    /// Who waits cannot send heartbeats, because a connection answers in order. A new member is
    /// the exception: if its client gave up, nobody would ever take it out.
    pub(super) fn is_excused(&self) -> bool {
        !self.is_new && (self.joining.is_some() || self.syncing.is_some())
    }
}
