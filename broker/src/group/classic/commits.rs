//! What a classic group allows to be done with its offsets, and when they are too old.

use super::group::{ClassicGroup, Phase};
use protocol::error::ErrorCode;

impl ClassicGroup {
    /// Judges a commit as Kafka's `ClassicGroup.validateOffsetCommit`.
    ///
    /// UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, or REBALANCE_IN_PROGRESS while
    /// the members wait for their assignments.
    pub(in crate::group) fn may_commit(
        &self,
        member_id: &str,
        instance_id: Option<&str>,
        generation: i32,
        is_transactional: bool,
    ) -> Result<(), ErrorCode> {
        // A tool, or a consumer that is assigned by hand: while nobody is in, they may.
        if generation < 0 && self.is_empty() {
            return Ok(());
        }
        if 0 <= generation || !member_id.is_empty() || instance_id.is_some() {
            self.identify(member_id, instance_id)?;
            if generation != self.generation {
                return Err(ErrorCode::IllegalGeneration);
            }
        } else if !is_transactional {
            // Old transactional producers cannot say who they are, so that they are believed.
            return Err(ErrorCode::UnknownMemberId);
        }
        if !is_transactional && self.phase == Phase::Completing {
            return Err(ErrorCode::RebalanceInProgress);
        }
        Ok(())
    }

    /// Whether the offsets of a topic are in use. Consumers whose subscriptions cannot be read
    /// may use any.
    pub(in crate::group) fn is_subscribed(&self, topic: &str) -> bool {
        match &self.topics {
            Some(topics) => topics.contains(topic),
            None => self.is_of_consumers(),
        }
    }

    /// Offsets may be deleted one by one where it can be told which are in use. NON_EMPTY_GROUP
    pub(in crate::group) fn may_delete_offsets(&self) -> Result<(), ErrorCode> {
        let may = self.is_empty() || self.is_of_consumers();
        may.then_some(()).ok_or(ErrorCode::NonEmptyGroup)
    }

    /// NON_EMPTY_GROUP
    pub(in crate::group) fn may_delete(&self) -> Result<(), ErrorCode> {
        self.is_empty().then_some(()).ok_or(ErrorCode::NonEmptyGroup)
    }

    /// Since when an offset that was committed at that time grows old, in milliseconds of the day;
    /// None: it does not, because somebody may use it (Kafka's
    /// `ClassicGroup.offsetExpirationCondition`).
    pub(in crate::group) fn offset_ages_since(&self, committed_ms: i64) -> Option<i64> {
        match self.phase {
            _ if self.protocol_type.is_none() => Some(committed_ms),
            Phase::Empty => Some(self.since_ms.unwrap_or(committed_ms)),
            // Of the topics that nobody subscribes to any more.
            Phase::Stable if self.topics.is_some() => Some(committed_ms),
            Phase::Preparing | Phase::Completing | Phase::Stable => None,
        }
    }
}
