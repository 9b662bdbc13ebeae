//! How far groups are behind the ends of what they read.

use super::super::census::{self, Group, Listed};
use super::samples::Labels;
use crate::api::Ctx;
use std::collections::BTreeMap;

/// Of all groups, in the order of their names.
#[derive(Default)]
pub(super) struct Lags {
    /// Each partition of the topics of which a group has committed anything.
    pub(super) partitions: Vec<Lag<Option<i64>>>,
    /// Each of those topics: sums over the partitions of which anything is committed.
    pub(super) topics: Vec<Lag<i64>>,
}

/// What is committed, and how far that is behind the end.
pub(super) struct Lag<T> {
    pub(super) labels: Labels,
    pub(super) committed: T,
    pub(super) behind: T,
}

impl Lags {
    pub(super) fn of(ctx: &Ctx, groups: &[(Listed, Group)]) -> Lags {
        let (mut lags, mut known) = (Lags::default(), BTreeMap::new());
        for (listed, group) in groups {
            for (topic, committed) in &group.committed {
                let ends = known.entry(topic).or_insert_with(|| census::ends(ctx, topic));
                let labels = Labels::of("consumergroup topic", &[&listed.id, topic]);
                let mut sum = Lag { labels, committed: 0_i64, behind: 0_i64 };
                for (number, end) in ends {
                    let labels =
                        Labels::of("consumergroup topic partition", &[&listed.id, topic, number]);
                    let committed = committed.get(number).copied();
                    let behind = committed.map(|offset| end.saturating_sub(offset));
                    sum.committed = sum.committed.saturating_add(committed.unwrap_or(0));
                    sum.behind = sum.behind.saturating_add(behind.unwrap_or(0));
                    lags.partitions.push(Lag { labels, committed, behind });
                }
                lags.topics.push(sum);
            }
        }
        lags
    }
}
