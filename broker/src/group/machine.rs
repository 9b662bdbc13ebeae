//! GroupMachine: which step answers which request.

use super::request::{Reply, Request};
use super::state::{Decision, State, Timer};
use crate::config::BrokerConfig;
use crate::coordinator::{Effects, Machine, Moment, Token, Tuning};
use kraft::image::Image;
use protocol::compression::Codec;
use protocol::coordinator::group::GroupRecord;
use std::time::Duration;

/// The groups of one partition of `__consumer_offsets`.
#[derive(Debug, Default)]
pub struct GroupMachine {
    state: State,
    /// What the last decision was made for; None: a change of the metadata, or the load.
    decided_for: Option<Timer>,
}

impl Machine for GroupMachine {
    const TOPIC: &'static str = "__consumer_offsets";

    type Record = GroupRecord;
    type Request = Request;
    type Reply = Reply;

    fn tuning(config: &BrokerConfig) -> Tuning {
        let topic = &config.values.offsets_topic;
        let codec = i16::try_from(topic.compression_codec).ok();
        Tuning {
            codec: codec.and_then(Codec::from_attributes).unwrap_or(Codec::None),
            commit_timeout: Duration::from_millis(topic.commit_timeout_ms.try_into().unwrap_or(0)),
            load_bytes: usize::try_from(topic.load_buffer_size).unwrap_or(0),
        }
    }

    fn apply(&mut self, moment: &Moment<'_>, record: GroupRecord) {
        match record {
            GroupRecord::Offset(key, value) => self.state.replay_offset(key, value),
            GroupRecord::Classic(id, value) => self.state.replay_classic(moment, id, value),
            GroupRecord::Consumer(..)
            | GroupRecord::PartitionMetadata(..)
            | GroupRecord::Member(..)
            | GroupRecord::Target(..)
            | GroupRecord::MemberTarget(..)
            | GroupRecord::Current(..)
            | GroupRecord::Regex(..) => self.state.replay_consumer(moment, record),
        }
    }

    fn undecided(&mut self, record: GroupRecord) {
        // Clients put nothing else into a transaction.
        if let GroupRecord::Offset(key, Some(_)) = record {
            self.state.leave_offset_open(key);
        }
    }

    fn loaded(&mut self, moment: &Moment<'_>) -> Vec<Decision> {
        self.state.is_loaded = true;
        self.decided_for = None;
        self.state.start_consumer_timers(moment);
        self.state.look_up_stale_patterns(moment);
        self.state.schedule_expiry(moment);
        let mut decisions = self.state.classic_groups_loaded(moment);
        decisions.extend(self.state.forget_topics_that_went(moment));
        decisions
    }

    fn step(&mut self, moment: &Moment<'_>, token: Token, request: Request) -> Decision {
        match request {
            Request::OffsetCommit(client, it) => self.state.commit(moment, token, &client, &it),
            Request::OffsetFetch(_, it) => self.state.fetch_offsets(token, &it),
            Request::OffsetDelete(_, it) => self.state.delete_offsets(token, &it),

            Request::Join(client, it) => self.state.join(moment, token, &client, &it),
            Request::Sync(_, it) => self.state.sync(moment, token, &it),
            Request::Heartbeat(_, it) => self.state.heartbeat(moment, token, &it),
            Request::Leave(client, it) => self.state.leave(moment, token, &client, &it),

            Request::ConsumerHeartbeat(client, it) => {
                self.state.consumer_heartbeat(moment, token, &client, &it)
            }
            Request::ConsumerDescribe(_, it) => {
                Effects::reply(token, self.state.consumer_describe(moment, &it).into())
            }

            Request::Describe(client, it) => self.state.describe(token, &client, &it),
            Request::List(_, it) => self.state.list(token, &it),
            Request::Delete(_, it) => self.state.delete_groups(token, &it),
        }
    }

    fn image_changed(&mut self, moment: &Moment<'_>, old: &Image) -> Vec<Decision> {
        self.decided_for = None;
        self.state.consumer_image_changed(moment, old);
        self.state.patterns_image_changed(moment, old);
        self.state.forget_topics(moment, old)
    }

    fn next_deadline(&self) -> Option<Duration> {
        self.state.timers.next_deadline()
    }

    fn expire(&mut self, moment: &Moment<'_>) -> Option<Decision> {
        let timer = self.state.timers.pop_due(moment.now)?;
        self.decided_for = Some(timer.clone());
        // What the timer was set for may be gone.
        Some(self.state.run_out(moment, timer).unwrap_or_else(Effects::none))
    }

    fn put_off(&mut self, again: Duration) {
        let timer = match self.decided_for.take() {
            None => Timer::TopicsWent,
            // Where a classic group is has moved already; only that nobody is in is not written.
            Some(
                Timer::ClassicSession(group, _)
                | Timer::ClassicJoin(group)
                | Timer::ClassicSync(group)
                | Timer::ClassicPatience(group)
                | Timer::ClassicBegins(group),
            ) => Timer::ClassicLeft(group),
            Some(timer) => timer,
        };
        self.state.timers.set(timer, again);
    }
}

impl State {
    fn run_out(&mut self, moment: &Moment<'_>, timer: Timer) -> Option<Decision> {
        match timer {
            Timer::ClassicSession(group, id) => self.classic_session_is_over(moment, &group, &id),
            Timer::ClassicJoin(group) => self.classic_joins_are_due(moment, &group),
            Timer::ClassicSync(group) => self.classic_syncs_are_due(moment, &group),
            Timer::ClassicPatience(group) => self.classic_patience_ends(moment, &group),
            Timer::ClassicBegins(group) => self.classic_group_begins(moment, &group),
            Timer::ClassicLeft(group) => self.classic_group_was_left(moment, &group),
            Timer::ConsumerSession(group, id) => self.consumer_session_over(moment, &group, &id),
            Timer::ConsumerRebalance(group, id) => {
                self.consumer_rebalance_over(moment, &group, &id)
            }
            Timer::ConsumerRegex(group) => Some(self.look_up_patterns(moment, &group)),
            Timer::ConsumerJoin(group, id) | Timer::ConsumerSync(group, id) => {
                self.classic_member_is_late(moment, (&group, &id))
            }
            Timer::OffsetsExpiry => Some(self.expire_offsets(moment)),
            Timer::TopicsWent => self.forget_more(moment),
            Timer::StrangeTopic(name, id) => self.strange_topic_is_due(moment, name, id),
        }
    }
}
