//! Which protocol a group takes: each member has a vote for what it likes best among what all can
//! do (Kafka's `ClassicGroup.selectProtocol`).

use super::member::ClassicMember;
use super::skills::Skills;
use std::sync::Arc;

/// None: nobody is there, or they have nothing in common.
pub(super) fn elect<'a>(
    members: impl Iterator<Item = &'a ClassicMember> + Clone,
) -> Option<Arc<str>> {
    let skills = Skills::of(members.clone());
    let mut votes: Vec<(Arc<str>, usize)> = Vec::new();
    for member in members {
        let (favourite, _) = member.protocols.iter().find(|(name, _)| skills.all_can(name))?;
        match votes.iter_mut().find(|(name, _)| name == favourite) {
            Some((_, count)) => *count += 1,
            None => votes.push((Arc::clone(favourite), 1)),
        }
    }
    let most = votes.iter().map(|(_, count)| *count).max()?;
    let names = votes.len();
    let best = votes.into_iter().filter(|(_, count)| *count == most).map(|(name, _)| name);
    best.min_by_key(|name| place_in_java(name, names))
}

/// Where a Java `HashMap` of so many keys has `name`: there a tie goes to the first.
fn place_in_java(name: &str, keys: usize) -> u32 {
    let hash = name
        .encode_utf16()
        .fold(0_u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)));
    let mut buckets = 16_u32;
    // A map doubles once it is filled beyond three quarters.
    while u64::from(buckets) * 3 / 4 < u64::try_from(keys).unwrap_or(u64::MAX) && buckets < 1 << 30
    {
        buckets *= 2;
    }
    (hash ^ (hash >> 16)) & (buckets - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[track_caller]
    fn check(members: &[&[&str]], want: Option<&str>) {
        let member = |names: &&[&str]| ClassicMember {
            instance: None,
            client_id: "c".into(),
            client_host: "/127.0.0.1".into(),
            rebalance_timeout_ms: 1,
            session_timeout_ms: 1,
            protocols: names.iter().map(|name| (Arc::from(*name), Bytes::new())).collect(),
            assignment: Bytes::new(),
            joining: None,
            syncing: None,
            is_new: false,
        };
        let members: Vec<_> = members.iter().map(member).collect();
        assert_eq!(elect(members.iter()).as_deref(), want);
    }

    #[test]
    fn the_favourite_of_most_wins_among_what_all_can_do() {
        check(&[], None);
        check(&[&["a", "b"]], Some("a"));
        check(&[&["a"], &["b"]], None);
        check(&[&["a", "b"], &["b", "a"], &["b", "a"]], Some("b"));
        check(&[&["x", "a", "b"], &["b", "a"], &["a", "b"]], Some("a"));
    }

    #[test]
    fn a_tie_goes_to_what_a_hash_map_of_java_has_first() {
        check(&[&["range", "roundrobin"], &["roundrobin", "range"]], Some("range"));
        check(&[&["b", "a"], &["a", "b"]], Some("a"));
        // "q" is 113, in bucket 1; "p" is 112, in bucket 0; "o" is 111, in bucket 15.
        check(&[&["o", "p", "q"], &["q", "o", "p"]], Some("q"));
    }
}
