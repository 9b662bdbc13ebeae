//! What this broker is to a partition: one state, which moves under one lock.

use crate::partition::leader::Leader;
use protocol::error::ErrorCode;

#[derive(Debug, Default)]
pub(super) enum Role {
    /// It keeps a replica, and another broker leads.
    #[default]
    Follower,
    Leader(Leader),
    /// The broker stops: it takes part in nothing any more, so what fails says nothing of the disk.
    Left,
    /// The partition is no longer here, either, and its name may be another's.
    Gone,
}

impl Role {
    pub(super) fn leader(&self) -> Result<&Leader, ErrorCode> {
        match self {
            Role::Leader(leader) => Ok(leader),
            Role::Follower | Role::Left | Role::Gone => Err(ErrorCode::NotLeaderOrFollower),
        }
    }

    pub(super) fn leader_mut(&mut self) -> Option<&mut Leader> {
        match self {
            Role::Leader(leader) => Some(leader),
            Role::Follower | Role::Left | Role::Gone => None,
        }
    }

    pub(super) fn takes_part(&self) -> bool {
        matches!(self, Role::Follower | Role::Leader(_))
    }

    pub(super) fn is_gone(&self) -> bool {
        matches!(self, Role::Gone)
    }

    /// Goes on to `next`. There is no way back from [`Role::Left`], and none at all from
    /// [`Role::Gone`].
    pub(super) fn move_to(&mut self, next: Role) {
        let is_back = match self {
            Role::Follower | Role::Leader(_) => false,
            Role::Left => next.takes_part(),
            Role::Gone => true,
        };
        if !is_back {
            *self = next;
        }
    }
}
