//! Skills: how many members can do each protocol, so that who joins need not be held against each.

use super::member::ClassicMember;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Skills {
    members: usize,
    by_protocol: BTreeMap<Arc<str>, usize>,
}

impl Skills {
    pub(super) fn of<'a>(members: impl Iterator<Item = &'a ClassicMember>) -> Skills {
        let mut skills = Skills::default();
        members.for_each(|member| skills.add(member));
        skills
    }

    pub(super) fn add(&mut self, member: &ClassicMember) {
        self.members += 1;
        for name in names(member) {
            *self.by_protocol.entry(Arc::clone(name)).or_default() += 1;
        }
    }

    /// One that was added, and says what it said then.
    pub(super) fn remove(&mut self, member: &ClassicMember) {
        self.members = self.members.saturating_sub(1);
        for name in names(member) {
            let Some(count) = self.by_protocol.get_mut(name) else { continue };
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.by_protocol.remove(name);
            }
        }
    }

    /// Whether all members can do it; where there are none, anything.
    pub(super) fn all_can(&self, protocol: &str) -> bool {
        self.members == self.by_protocol.get(protocol).copied().unwrap_or(0)
    }
}

/// A member may name a protocol twice.
fn names(member: &ClassicMember) -> BTreeSet<&Arc<str>> {
    member.protocols.iter().map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::classic::group::{CONSUMER, ClassicGroup, Phase};
    use bytes::Bytes;
    use protocol::messages::StrBytes;
    use protocol::messages::join_group_request::JoinGroupRequestProtocol;

    fn protocols(names: &str) -> Vec<(Arc<str>, Bytes)> {
        names.split(',').map(|name| (name.into(), Bytes::new())).collect()
    }

    fn add(group: &mut ClassicGroup, id: &str, names: &str) {
        let member = ClassicMember {
            instance: None,
            client_id: "c".into(),
            client_host: "/127.0.0.1".into(),
            rebalance_timeout_ms: 1,
            session_timeout_ms: 1,
            protocols: protocols(names),
            assignment: Bytes::new(),
            joining: None,
            syncing: None,
            is_new: false,
        };
        group.add(id.into(), CONSUMER, member);
    }

    /// Which of `a`, `b` and `c` somebody who can do nothing else may join with.
    #[track_caller]
    fn check(group: &ClassicGroup, want: &str) {
        let accepts = |name: &&str| {
            let name = StrBytes::from_string((*name).to_owned());
            group.accepts(CONSUMER, &[JoinGroupRequestProtocol::default().with_name(name)])
        };
        let got: Vec<_> = ["a", "b", "c"].into_iter().filter(accepts).collect();
        assert_eq!(got.concat(), want);
    }

    #[test]
    fn who_joins_can_do_what_all_can_whoever_came_went_and_changed() {
        let mut group = ClassicGroup { phase: Phase::Preparing, ..ClassicGroup::default() };
        add(&mut group, "1", "a,b,a");
        check(&group, "ab");
        add(&mut group, "2", "b,c");
        check(&group, "b");
        group.learn("1", protocols("c"));
        check(&group, "c");
        group.remove("2");
        check(&group, "c");
        add(&mut group, "1", "a");
        check(&group, "a");
        group.remove("1");
        check(&group, "abc");
    }
}
