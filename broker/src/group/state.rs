//! What one shard knows: its groups, their offsets, and the timers of both.

use super::classic::group::ClassicGroup;
use super::consumer::group::ConsumerGroup;
use super::offsets::store::Offsets;
use super::request::Reply;
use crate::coordinator::{Effects, Timers};
use protocol::coordinator::group::{GroupId, GroupRecord, MemberId};
use protocol::ids::Uuid;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a step of this machine gives back.
pub(super) type Decision = Effects<GroupRecord, Reply>;

/// See the module. The steps stand beside the kinds of group, in files of their own.
#[derive(Debug, Default)]
pub(super) struct State {
    /// By name. A group that only commits offsets is a classic one without members.
    pub(super) groups: BTreeMap<GroupId, Group>,
    pub(super) offsets: Offsets,
    /// Topics that are no more, of which something may still be committed.
    pub(super) topics_that_went: BTreeSet<(Arc<str>, Uuid)>,
    pub(super) timers: Timers<Timer>,
    /// The log was read; what is applied from now on, a step has decided.
    pub(super) is_loaded: bool,
}

#[derive(Debug)]
pub(super) enum Group {
    Classic(ClassicGroup),
    Consumer(ConsumerGroup),
}

/// What waits for its time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// A classic member was not heard of for its session, or an id that was given out not used.
    ClassicSession(GroupId, MemberId),
    /// The members of a classic group have had their time to join.
    ClassicJoin(GroupId),
    /// The members of a classic group have had their time to ask for their assignments.
    ClassicSync(GroupId),
    /// Assignments of a classic group have been put off for long enough.
    ClassicPatience(GroupId),
    /// A consumer group has become a classic one.
    ClassicBegins(GroupId),
    /// That a classic group has no members any more is written.
    ClassicLeft(GroupId),
    ConsumerSession(GroupId, MemberId),
    /// A member has had its time to give up what it must.
    ConsumerRebalance(GroupId, MemberId),
    /// A classic member of a consumer group has had its time to join, or to ask for its assignment.
    ConsumerJoin(GroupId, MemberId),
    ConsumerSync(GroupId, MemberId),
    /// Patterns are looked up again.
    ConsumerRegex(GroupId),
    /// Old offsets, and groups without any, are looked for.
    OffsetsExpiry,
    /// What is committed of topics that went is taken away.
    TopicsWent,
    /// A topic that the metadata did not know when somebody committed is there by now, or never
    /// will be.
    StrangeTopic(Arc<str>, Uuid),
}
