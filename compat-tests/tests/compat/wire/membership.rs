//! JoinGroup, SyncGroup, Heartbeat and LeaveGroup: lives of classic members, and wrong requests.

use super::member::{Member, text};
use super::{Pair, Side};
use compat_tests::process::until;
use compat_tests::wire::Connection;
use protocol::messages::consumer_group_heartbeat_request::TopicPartitions;
use protocol::messages::leave_group_request::MemberIdentity;
use protocol::messages::{
    ConsumerGroupDescribeRequest, DescribeGroupsRequest, FindCoordinatorRequest, GroupId,
    HeartbeatRequest, JoinGroupRequest, LeaveGroupRequest, Request, StrBytes, SyncGroupRequest,
};
use std::fmt::Debug;
use std::time::Duration;

const REBALANCE_IN_PROGRESS: i16 = 27;
/// JoinGroup's version from which on members can be static.
const STATIC_SINCE: i16 = 5;
pub(super) const JOIN: i16 = 9;
const SYNC: i16 = 5;
const HEARTBEAT: i16 = 4;
const LEAVE: i16 = 5;

/// The steps of one side's story: API and step, and what was answered.
pub(super) struct Told<'a> {
    side: &'a mut Side,
    level: i16,
    pub(super) group: String,
    steps: Vec<(String, String)>,
}

impl Told<'_> {
    pub(super) fn member(&self, instance: Option<&str>) -> Member {
        Member::new(self.side, self.level, &self.group, instance)
    }

    /// A request of somebody who has no connection of its own.
    pub(super) fn ask<Q: Request>(&mut self, step: &str, request: &Q, version: i16)
    where
        Q::Response: Debug,
    {
        let told = self.side.ask(request, version);
        self.steps.push((format!("{}\tv{} {step}", Q::KEY.name(), self.level), told));
    }

    /// Asks what `next` says, given the last answer, until it says that this was the one to tell.
    pub(super) fn ask_until<Q: Request>(
        &mut self,
        step: &str,
        version: i16,
        mut next: impl FnMut(Option<&Q::Response>) -> (bool, Q),
    ) where
        Q::Response: Debug,
    {
        let mut connection = Connection::open(self.side.port).unwrap();
        let mut request = next(None).1;
        let answer = until(step, Duration::from_secs(60), || {
            let answer = connection.ask(&request, version).unwrap();
            let (is_it, then) = next(Some(&answer));
            request = then;
            is_it.then_some(answer)
        });
        let told = self.side.normal.text(&format!("{answer:?}"));
        self.steps.push((format!("{}\tv{} {step}", Q::KEY.name(), self.level), told));
    }

    /// Of a topic, under the id that this side gave it.
    pub(super) fn partitions(&self, topic: &str, numbers: &[i32]) -> Option<Vec<TopicPartitions>> {
        let topic = TopicPartitions::default().with_topic_id(self.side.topic_id(topic));
        Some(vec![topic.with_partitions(numbers.to_vec())])
    }

    fn hear<Q: Request>(&mut self, step: &str, member: &mut Member, newest: i16) -> Q::Response
    where
        Q::Response: Debug,
    {
        let answer = member.receive::<Q>(newest);
        let told = self.side.normal.text(&format!("{answer:?}"));
        self.steps.push((format!("{}\tv{} {step}", Q::KEY.name(), self.level), told));
        answer
    }

    fn joined(&mut self, step: &str, member: &mut Member) {
        let answer = self.hear::<JoinGroupRequest>(step, member, JOIN);
        member.learn(&answer);
    }

    pub(super) fn join(&mut self, step: &str, member: &mut Member) {
        member.send(&member.join(), JOIN);
        self.joined(step, member);
    }

    /// From version 4 on a dynamic member must ask for its id first.
    pub(super) fn take_id(&mut self, step: &str, member: &mut Member) {
        if 4 <= self.level && member.instance.is_none() {
            self.join(&format!("{step} asks for an id"), member);
        }
    }

    pub(super) fn heartbeat(&mut self, step: &str, member: &mut Member) {
        member.send(&member.heartbeat(), HEARTBEAT);
        self.hear::<HeartbeatRequest>(step, member, HEARTBEAT);
    }

    pub(super) fn hear_of_rebalance(&mut self, member: &mut Member) {
        until("a rebalance", Duration::from_secs(10), || {
            member.send(&member.heartbeat(), HEARTBEAT);
            let answer = member.receive::<HeartbeatRequest>(HEARTBEAT);
            (answer.error_code == REBALANCE_IN_PROGRESS).then_some(())
        });
    }

    pub(super) fn sync(&mut self, step: &str, member: &mut Member, ids: &[&StrBytes]) {
        member.send(&member.sync(ids), SYNC);
        self.hear::<SyncGroupRequest>(step, member, SYNC);
    }

    /// As members; before version 3 alone, by its id.
    pub(super) fn leave(&mut self, step: &str, member: &mut Member, who: &[(&str, Option<&str>)]) {
        let request = match self.level {
            ..3 => LeaveGroupRequest::default()
                .with_group_id(GroupId(text(&*self.group)))
                .with_member_id(text(who[0].0)),
            _ => leave(&self.group, who),
        };
        member.send(&request, LEAVE);
        self.hear::<LeaveGroupRequest>(step, member, LEAVE);
    }

    /// What the group is to those who look at it by either protocol.
    pub(super) fn look(&mut self, step: &str) {
        let id = || GroupId(text(&*self.group));
        let classic = DescribeGroupsRequest::default().with_groups(vec![id()]);
        let consumer = ConsumerGroupDescribeRequest::default().with_group_ids(vec![id()]);
        self.ask(step, &classic, 6);
        self.ask(step, &consumer, 1);
    }
}

/// Has members leave, since version 3, by their ids or instances.
pub(super) fn leave(group: &str, who: &[(&str, Option<&str>)]) -> LeaveGroupRequest {
    let identity = |(id, instance): &(&str, Option<&str>)| {
        MemberIdentity::default()
            .with_member_id(text(*id))
            .with_group_instance_id(instance.map(text))
    };
    LeaveGroupRequest::default()
        .with_group_id(GroupId(text(group)))
        .with_members(who.iter().map(identity).collect())
}

/// Tells the same story on both sides, at every version of JoinGroup from `since` on.
pub(super) fn both(pair: &mut Pair, group: &str, since: i16, story: fn(&mut Told<'_>)) {
    for level in since..=JOIN {
        let tell = |side: &mut Side| {
            let group = format!("{group}-{level}");
            let mut told = Told { side, level, group, steps: Vec::new() };
            story(&mut told);
            told.steps
        };
        let (theirs, ours) = (tell(&mut pair.theirs), tell(&mut pair.ours));
        for ((step, theirs), (_, ours)) in theirs.iter().zip(&ours) {
            pair.compare(step, theirs, ours);
        }
    }
}

/// Two dynamic members come and go.
fn two_members(told: &mut Told<'_>) {
    let (mut a, mut b) = (told.member(None), told.member(None));
    told.take_id("the first", &mut a);
    told.join("the first joins", &mut a);
    told.heartbeat("before the assignment", &mut a);
    let own = a.id.clone();
    told.join("again, before the assignment", &mut a);
    told.sync("alone", &mut a, &[&own]);
    told.sync("alone, again", &mut a, &[]);
    told.heartbeat("a stable group", &mut a);

    told.take_id("the second", &mut b);
    b.send(&b.join(), JOIN);
    told.hear_of_rebalance(&mut a);
    told.sync("in a rebalance", &mut a, &[]);
    told.join("the first joins again", &mut a);
    told.joined("the second joins", &mut b);
    b.send(&b.sync(&[]), SYNC);
    let other = b.id.clone();
    told.sync("the leader", &mut a, &[&own, &other]);
    told.hear::<SyncGroupRequest>("the follower", &mut b, SYNC);
    told.join("a follower without news", &mut b);

    b.generation -= 1;
    told.heartbeat("an old generation", &mut b);
    told.sync("an old generation", &mut b, &[]);
    b.generation += 1;
    b.protocols = &["sticky"];
    told.join("a protocol that the other does not know", &mut b);
    if 5 <= told.level {
        told.sync("another protocol", &mut b, &[]);
    }
    let mut c = told.member(None);
    c.protocols = &["sticky"];
    told.join("a newcomer's protocol that others do not know", &mut c);

    told.leave("the second leaves", &mut b, &[(&other, None)]);
    told.leave("it has left", &mut b, &[(&other, None)]);
    told.hear_of_rebalance(&mut a);
    told.join("the first is left", &mut a);
    told.leave("the last one leaves", &mut a, &[(&own, None), ("nobody", None), ("", Some("i"))]);
    told.heartbeat("it has left", &mut a);
    told.sync("it has left", &mut a, &[]);
    told.join("it has left", &mut a);
}

/// A static member is started anew, as the leader and as a follower.
fn static_members(told: &mut Told<'_>) {
    let (mut a, mut b) = (told.member(Some("i")), told.member(Some("j")));
    told.join("a static member joins", &mut a);
    let old = a.id.clone();
    told.sync("a static member", &mut a, &[&old]);
    b.send(&b.join(), JOIN);
    told.hear_of_rebalance(&mut a);
    told.join("the first static member joins again", &mut a);
    told.joined("the second static member joins", &mut b);
    let other = b.id.clone();
    told.sync("static members", &mut a, &[&old, &other]);
    told.sync("static members, the follower", &mut b, &[]);

    let (mut a2, mut b2) = (told.member(Some("i")), told.member(Some("j")));
    told.join("a static leader is back", &mut a2);
    told.join("a static follower is back", &mut b2);
    told.sync("a static leader is back", &mut a2, &[]);
    told.heartbeat("a static follower is back", &mut b2);
    told.heartbeat("a fenced member", &mut a);
    told.sync("a fenced member", &mut a, &[]);
    told.join("a fenced member", &mut a);
    told.leave("a fenced member", &mut a, &[(&old, Some("i"))]);
    told.leave("by instance", &mut a, &[("", Some("i")), ("", Some("k")), ("", None)]);
    told.hear_of_rebalance(&mut b2);
    let last = b2.id.clone();
    told.leave("the last static member", &mut a, &[(&last, Some("j"))]);
}

/// A client of two minds: its id is a dynamic member's, its request a static one's.
fn misplaced(told: &mut Told<'_>) {
    let mut a = told.member(None);
    told.take_id("the first", &mut a);
    a.instance = Some(text("i"));
    told.join("a dynamic member's id for a static one", &mut a);
}

fn join(side: &Side, level: i16, group: &str) -> JoinGroupRequest {
    let instance = None;
    Member::new(side, level, group, instance).join()
}

fn wrong_joins(pair: &mut Pair) {
    pair.each("no group", 0..=JOIN, |version, side| join(side, version, ""));
    for ms in [0, 5_999, 1_800_001] {
        pair.each(&format!("a session of {ms} ms"), 0..=JOIN, |version, side| {
            join(side, version, "wrong").with_session_timeout_ms(ms)
        });
    }
    pair.each("an unknown member of no group", 0..=JOIN, |version, side| {
        join(side, version, "absent").with_member_id(text("nobody"))
    });
    pair.each("no kind of protocol", 0..=JOIN, |version, side| {
        join(side, version, "wrong").with_protocol_type(text(""))
    });
    pair.each("no protocols", 0..=JOIN, |version, side| {
        join(side, version, "wrong").with_protocols(Vec::new())
    });
    pair.each("an unknown member", 0..=JOIN, |version, side| {
        join(side, version, "wrong").with_member_id(text("nobody"))
    });
    pair.each("an unknown instance", STATIC_SINCE..=JOIN, |version, side| {
        join(side, version, "wrong")
            .with_member_id(text("nobody"))
            .with_group_instance_id(Some(text("i")))
    });
}

fn wrong_others(pair: &mut Pair) {
    for group in ["", "absent", "wrong"] {
        let member = |version, side: &Side| {
            let mut member = Member::new(side, version, group, None);
            member.id = text("nobody");
            member
        };
        pair.each(&format!("nobody in {group:?}"), 0..=SYNC, |version, side| {
            member(version, side).sync(&[])
        });
        pair.each(&format!("nobody in {group:?}"), 0..=HEARTBEAT, |version, side| {
            member(version, side).heartbeat()
        });
        pair.each(&format!("nobody in {group:?}"), 0..=LEAVE, |version, _| {
            let request = LeaveGroupRequest::default().with_group_id(GroupId(text(group)));
            match version {
                ..3 => request.with_member_id(text("nobody")),
                _ => request.with_members(vec![
                    MemberIdentity::default().with_member_id(text("nobody")),
                    MemberIdentity::default().with_group_instance_id(Some(text("i"))),
                ]),
            }
        });
    }
    pair.each("nobody", 3..=LEAVE, |_, _| {
        LeaveGroupRequest::default().with_group_id(GroupId(text("wrong")))
    });
    pair.each("no protocol", SYNC..=SYNC, |version, side| {
        let request = Member::new(side, version, "wrong", None).sync(&[]);
        request.with_protocol_name(None)
    });
    pair.each("no kind of protocol", SYNC..=SYNC, |version, side| {
        let request = Member::new(side, version, "", None).sync(&[]);
        request.with_protocol_type(None)
    });
}

/// The first who looks for a group has its coordinator made, which takes a moment.
fn await_coordinator(side: &Side) {
    until("a coordinator", Duration::from_secs(30), || {
        let request = FindCoordinatorRequest::default().with_key(text("wrong"));
        let answer = Connection::open(side.port).unwrap().ask(&request, 2).unwrap();
        (answer.error_code == 0).then_some(())
    });
    until("a loaded coordinator", Duration::from_secs(30), || {
        let request = Member::new(side, 0, "wrong", None).sync(&[]);
        let answer = Connection::open(side.port).unwrap().ask(&request, 0).unwrap();
        [14, 15, 16].iter().all(|code| *code != answer.error_code).then_some(())
    });
}

pub(super) fn classic(pair: &mut Pair) {
    await_coordinator(&pair.theirs);
    await_coordinator(&pair.ours);
    wrong_joins(pair);
    wrong_others(pair);
    both(pair, "dynamic", 0, two_members);
    both(pair, "static", STATIC_SINCE, static_members);
    both(pair, "misplaced", STATIC_SINCE, misplaced);
}
