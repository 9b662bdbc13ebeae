//! Which commits and fetches of offsets a consumer group allows its members.

use super::group::ConsumerGroup;
use super::member::Member;
use protocol::error::ErrorCode;
use protocol::ids::Uuid;

/// OffsetCommit says the member's epoch from this version on.
const MEMBER_EPOCH_SINCE: i16 = 9;

/// What a member may commit.
#[derive(Clone, Copy, Debug)]
pub(in crate::group) enum MayCommit<'a> {
    /// Any partition.
    All,
    /// What the member was given no later than in the epoch that it knows.
    GivenBy(&'a Member, i32),
}

impl MayCommit<'_> {
    /// STALE_MEMBER_EPOCH (ILLEGAL_GENERATION for a member that speaks the classic protocol) for
    /// a partition that the member does not have, or was given, maybe for another time, after the
    /// epoch it knows. Kafka refuses the whole request for the first such partition.
    pub(in crate::group) fn allows(&self, topic: Uuid, partition: i32) -> Result<(), ErrorCode> {
        match self {
            MayCommit::All => Ok(()),
            MayCommit::GivenBy(member, epoch) => match member.given_in(topic, partition) {
                Some(given) if given <= *epoch => Ok(()),
                _ => Err(stale(member)),
            },
        }
    }
}

impl ConsumerGroup {
    /// Judges a commit as Kafka's `ConsumerGroup.validateOffsetCommit`. `version` is that of
    /// OffsetCommit; a transactional commit comes by another API, and has none.
    ///
    /// UNKNOWN_MEMBER_ID, UNSUPPORTED_VERSION from a member whose version cannot say its epoch,
    /// STALE_MEMBER_EPOCH or ILLEGAL_GENERATION for an epoch that is not reached yet.
    pub(in crate::group) fn may_commit(
        &self,
        member_id: &str,
        instance_id: Option<&str>,
        epoch: i32,
        version: Option<i16>,
    ) -> Result<MayCommit<'_>, ErrorCode> {
        // An administrator's tool, or a consumer without a group: they may while nobody is there.
        if epoch < 0 && self.is_empty() {
            return Ok(MayCommit::All);
        }
        if version.is_none() && epoch == -1 && member_id.is_empty() && instance_id.is_none() {
            return Ok(MayCommit::All);
        }
        let member = self.member(member_id).ok_or(ErrorCode::UnknownMemberId)?;
        if !member.is_classic() && version.is_some_and(|it| it < MEMBER_EPOCH_SINCE) {
            return Err(ErrorCode::UnsupportedVersion);
        }
        if epoch == member.epoch {
            Ok(MayCommit::All)
        } else if member.epoch < epoch {
            Err(stale(member))
        } else {
            Ok(MayCommit::GivenBy(member, epoch))
        }
    }

    /// Judges a fetch of offsets as Kafka's `ConsumerGroup.validateOffsetFetch`. Without a member
    /// id, and with a negative epoch, it comes from a tool or an old client, which may.
    pub(in crate::group) fn may_fetch_offsets(
        &self,
        member_id: Option<&str>,
        epoch: i32,
    ) -> Result<(), ErrorCode> {
        if member_id.is_none() && epoch < 0 {
            return Ok(());
        }
        let member = member_id.and_then(|id| self.member(id)).ok_or(ErrorCode::UnknownMemberId)?;
        if epoch == member.epoch { Ok(()) } else { Err(stale(member)) }
    }
}

/// What a member is told of an epoch that is not its own.
fn stale(member: &Member) -> ErrorCode {
    if member.is_classic() { ErrorCode::IllegalGeneration } else { ErrorCode::StaleMemberEpoch }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::coordinator::group::{CurrentValue, TopicPartitions};

    const TOPIC: Uuid = Uuid([7; 16]);

    /// `m` is in epoch 5, has partition 0 since epoch 3 and partition 1 since epoch 5.
    fn group() -> ConsumerGroup {
        let assigned =
            TopicPartitions { topic_id: TOPIC, partitions: vec![0, 1], epochs: vec![3, 5] };
        let current = CurrentValue {
            member_epoch: 5,
            previous_member_epoch: 4,
            state: 0,
            assigned: vec![assigned],
            pending_revocation: Vec::new(),
        };
        let mut group = ConsumerGroup::default();
        group.current_record(&"m".into(), Some(&current));
        group
    }

    #[test]
    fn a_member_commits_what_it_was_given_in_an_epoch_it_knows() {
        let check = |epoch, partition, want| {
            let group = group();
            let got = group.may_commit("m", None, epoch, Some(9));
            assert_eq!(got.and_then(|it| it.allows(TOPIC, partition)), want, "{epoch} {partition}");
        };
        check(5, 0, Ok(()));
        check(5, 7, Ok(()));
        check(4, 0, Ok(()));
        check(3, 0, Ok(()));
        check(2, 0, Err(ErrorCode::StaleMemberEpoch));
        check(4, 1, Err(ErrorCode::StaleMemberEpoch));
        check(4, 7, Err(ErrorCode::StaleMemberEpoch));
        check(6, 0, Err(ErrorCode::StaleMemberEpoch));
    }

    #[test]
    fn a_commit_names_a_member_and_an_epoch_unless_nobody_is_there() {
        let check = |group: &ConsumerGroup, member, epoch, version, want: Result<(), ErrorCode>| {
            assert_eq!(group.may_commit(member, None, epoch, version).map(|_| ()), want);
        };
        check(&ConsumerGroup::default(), "", -1, Some(2), Ok(()));
        check(&group(), "", -1, Some(9), Err(ErrorCode::UnknownMemberId));
        check(&group(), "", -1, None, Ok(()));
        check(&group(), "x", 5, Some(9), Err(ErrorCode::UnknownMemberId));
        check(&group(), "m", 5, Some(8), Err(ErrorCode::UnsupportedVersion));
    }

    #[test]
    fn a_fetch_names_the_epoch_of_the_moment_or_nobody() {
        let check = |member, epoch, want| {
            assert_eq!(group().may_fetch_offsets(member, epoch), want);
        };
        check(None, -1, Ok(()));
        check(Some("m"), 5, Ok(()));
        check(Some("m"), 4, Err(ErrorCode::StaleMemberEpoch));
        check(Some("x"), 5, Err(ErrorCode::UnknownMemberId));
        check(None, 5, Err(ErrorCode::UnknownMemberId));
    }
}
