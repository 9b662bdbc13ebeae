//! Groups with members of both protocols (KIP-848): a classic group becomes a consumer group when a
//! member of that protocol joins, and a classic one again when it leaves.

use super::Pair;
use super::consumer_groups::{OTHER, SUBSCRIPTION, beat, enter, prepare};
use super::member::text;
use super::membership::{JOIN, Told, both};
use protocol::messages::{ListGroupsRequest, TopicName};

pub(super) fn told(pair: &mut Pair) {
    let groups: Vec<_> = (0..=JOIN).map(|level| format!("mixed-{level}")).collect();
    prepare(pair, &groups);
    both(pair, "mixed", 0, there_and_back);
}

/// What the group is to those who look at it.
fn look(told: &mut Told<'_>, step: &str) {
    told.look(step);
    told.ask(step, &ListGroupsRequest::default(), 5);
}

fn there_and_back(told: &mut Told<'_>) {
    let mut a = told.member(None);
    a.metadata = SUBSCRIPTION;
    told.take_id("a classic member", &mut a);
    told.join("a classic member joins", &mut a);
    let own = a.id.clone();
    told.sync("a classic member", &mut a, &[&own]);
    look(told, "a classic group");

    let group = told.group.clone();
    // Of another topic: who of two gets what of one is for Apache Kafka's hash maps to say.
    let other = enter(&group, "b").with_subscribed_topic_names(Some(vec![TopicName(text(OTHER))]));
    told.ask("a consumer joins a classic group", &other, 1);
    look(told, "a group of both");
    told.heartbeat("a classic member of a group of both", &mut a);
    told.sync("a classic member of a group of both, before it joins again", &mut a, &[]);
    told.join("a classic member joins a group of both", &mut a);
    told.heartbeat("a classic member of a group of both, before its assignment", &mut a);
    told.sync("a classic member of a group of both", &mut a, &[]);
    told.sync("a classic member of a group of both, again", &mut a, &[]);
    told.heartbeat("a classic member of a settled group of both", &mut a);
    told.ask("a consumer in a group of both", &beat(&group, "b", a.generation), 1);
    look(told, "a settled group of both");
    told.join("a classic member joins once more", &mut a);

    told.ask("the last consumer leaves", &beat(&group, "b", -1), 1);
    told.hear_of_rebalance(&mut a);
    look(told, "a classic group again");
    told.join("a classic member joins again, when the last consumer has left", &mut a);
    told.sync("a classic member is alone", &mut a, &[&own]);
    told.heartbeat("a classic member is alone", &mut a);
    told.leave("the classic member leaves", &mut a, &[(&own, None)]);
    look(told, "an empty group");
}
