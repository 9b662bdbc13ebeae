//! The steps of a member: a table of what it has, what it should have and what it says.

use super::*;

const A: Uuid = Uuid([1; 16]);
const B: Uuid = Uuid([2; 16]);

/// `a1@4 b2@5`: partition 1 of A, given in epoch 4, and so on. Without an epoch: any.
fn owned(text: &str) -> Owned {
    let mut owned = Owned::new();
    for word in text.split_whitespace() {
        let (place, epoch) = word.split_once('@').unwrap_or((word, "0"));
        let (topic, number) = place.split_at(1);
        let topic = if topic == "a" { A } else { B };
        owned.entry(topic).or_default().insert(number.parse().unwrap(), epoch.parse().unwrap());
    }
    owned
}

fn target(text: &str) -> Partitions {
    owned(text).into_iter().map(|(topic, it)| (topic, it.into_keys().collect())).collect()
}

fn claim(text: Option<&str>) -> Claim {
    let topics = owned(text?).into_iter();
    Some(topics.map(|(topic, it)| (topic, it.into_keys().collect())).collect())
}

fn spell(owned: &Owned) -> String {
    let words = owned.iter().flat_map(|(topic, partitions)| {
        let letter = if *topic == A { "a" } else { "b" };
        partitions.iter().map(move |(number, epoch)| format!("{letter}{number}@{epoch}"))
    });
    words.collect::<Vec<_>>().join(" ")
}

fn member(progress: Progress, assigned: &str, revoking: &str) -> Member {
    let (assigned, revoking) = (owned(assigned), owned(revoking));
    Member { epoch: 4, previous_epoch: 3, progress, assigned, revoking, ..Member::default() }
}

/// Towards `target` of epoch 5, partitions of `taken` being another member's, subscribed to
/// `topics`.
struct Case {
    member: Member,
    epoch: i32,
    target: &'static str,
    taken: &'static str,
    topics: Option<&'static str>,
    claim: Option<&'static str>,
}

fn case(member: Member, target: &'static str) -> Case {
    Case { member, epoch: 5, target, taken: "", topics: None, claim: None }
}

#[track_caller]
fn check(case: &Case, want: &str) {
    let taken = owned(case.taken);
    let topics = case.topics.unwrap_or("ab");
    let topics = topics.chars().map(|it| if it == 'a' { A } else { B }).collect();
    let goal = Goal {
        epoch: case.epoch,
        target: &target(case.target),
        topics: &topics,
        topics_changed: case.topics.is_some(),
        is_free: &|topic, number| !taken.get(&topic).is_some_and(|it| it.contains_key(&number)),
    };
    let got = match step(&case.member, &goal, &claim(case.claim)) {
        Err(MustRejoin) => "must rejoin".to_owned(),
        Ok(None) => "nothing".to_owned(),
        Ok(Some(it)) => {
            let revoking = spell(&it.revoking);
            let revoking = if revoking.is_empty() { revoking } else { format!(" - {revoking}") };
            let (epochs, assigned) = ((it.epoch, it.previous_epoch), spell(&it.assigned));
            format!("{:?} {}/{}: {assigned}{revoking}", it.progress, epochs.0, epochs.1)
        }
    };
    assert_eq!(got, want);
}

#[test]
fn what_is_free_is_given_at_once_and_the_rest_when_it_is_released() {
    let stable = || member(Progress::Stable, "a0@2", "");
    check(&case(stable(), "a0 a1"), "Stable 5/4: a0@2 a1@5");
    check(&case(stable(), "a0"), "Stable 5/4: a0@2");
    check(&Case { taken: "a1", ..case(stable(), "a0 a1 a2") }, "Unreleased 5/4: a0@2 a2@5");
    check(&Case { taken: "a1", ..case(stable(), "a0 a1") }, "Unreleased 5/4: a0@2");

    let waiting = || Member { epoch: 5, ..member(Progress::Unreleased, "a0@2", "") };
    check(&case(waiting(), "a0 a1"), "Stable 5/5: a0@2 a1@5");
    let still = Member { previous_epoch: 5, ..waiting() };
    check(&Case { taken: "a1", ..case(still, "a0 a1") }, "nothing");
}

#[test]
fn what_must_go_goes_before_the_member_comes_to_the_next_epoch() {
    let stable = || member(Progress::Stable, "a0@2 a1@2", "");
    check(&case(stable(), "a0 a2"), "Unrevoked 4/4: a0@2 - a1@2");
    check(&Case { claim: Some("a0 a1"), ..case(stable(), "a0") }, "Unrevoked 4/4: a0@2 - a1@2");
    check(&Case { claim: Some("a0"), ..case(stable(), "a0 a2") }, "Stable 5/4: a0@2 a2@5");

    // It claims less than it keeps: it may be taking all just now.
    check(&Case { claim: Some(""), ..case(stable(), "a0 a2") }, "Unrevoked 4/4: a0@2 - a1@2");
    check(&Case { claim: Some(""), ..case(stable(), "a2") }, "Stable 5/4: a2@5");

    let revoking = || member(Progress::Unrevoked, "a0@2", "a1@2");
    check(&case(revoking(), "a0 a2"), "nothing");
    check(&Case { claim: Some("a0 a1"), ..case(revoking(), "a0") }, "nothing");
    check(&Case { claim: Some("a0"), ..case(revoking(), "a0 a2") }, "Stable 5/4: a0@2 a2@5");
    check(&Case { claim: Some("a0"), ..case(revoking(), "b0") }, "Unrevoked 4/4:  - a0@2");
    check(&Case { claim: Some(""), ..case(revoking(), "a1") }, "Stable 5/4: a1@5");
}

#[test]
fn a_member_at_its_target_stays_as_it_is() {
    let there = || Member { epoch: 5, ..member(Progress::Stable, "a0@2", "") };
    check(&case(there(), "a0 a1"), "nothing");
    check(&Case { topics: Some("ab"), ..case(there(), "a0") }, "nothing");
}

#[test]
fn topics_without_a_subscription_go_before_the_target_says_so() {
    let there = || Member { epoch: 5, ..member(Progress::Stable, "a0@2 b0@3", "") };
    check(&Case { topics: Some("a"), ..case(there(), "a0 b0") }, "Unrevoked 5/5: a0@2 - b0@3");
    let said = Case { topics: Some("a"), claim: Some("a0"), ..case(there(), "a0 b0") };
    check(&said, "Stable 5/5: a0@2");
    let revoking = Member { epoch: 5, ..member(Progress::Unrevoked, "a0@2 b0@3", "a1@2") };
    let more = Case { topics: Some("a"), ..case(revoking, "a0") };
    check(&more, "Unrevoked 5/5: a0@2 - a1@2 b0@3");
    let moving = Case { topics: Some("a"), ..case(member(Progress::Stable, "", ""), "a0 b0") };
    check(&moving, "Stable 5/4: a0@5");
}

#[test]
fn a_state_of_a_newer_broker_ends_when_the_member_has_nothing() {
    let unknown = || member(Progress::Unknown, "a0@2", "");
    check(&case(unknown(), "a0"), "must rejoin");
    check(&Case { claim: Some("a0"), ..case(unknown(), "a0") }, "must rejoin");
    check(&Case { claim: Some(""), ..case(unknown(), "a0 a1") }, "Stable 5/4: a0@2 a1@5");
}
