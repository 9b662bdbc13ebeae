//! Assignors: who of a group should have which partition, by what its members want and have.

mod board;
mod range;
mod spec;
#[cfg(test)]
mod tests;
mod uniform;

pub(in crate::group) use spec::{Assignment, Partitions, Spec, Subscriber};

/// The server-side assignors, by the names that `group.consumer.assignors` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::group) enum Assignor {
    Uniform,
    Range,
}

impl Assignor {
    /// None for a name that no assignor has.
    pub(in crate::group) fn named(name: &str) -> Option<Assignor> {
        [Assignor::Uniform, Assignor::Range].into_iter().find(|it| it.name() == name)
    }

    pub(in crate::group) const fn name(self) -> &'static str {
        match self {
            Assignor::Uniform => "uniform",
            Assignor::Range => "range",
        }
    }

    /// Every member of `spec`, with what it should have; nothing is left over that a member wants.
    pub(in crate::group) fn assign(self, spec: &Spec<'_>) -> Assignment {
        match self {
            Assignor::Uniform => uniform::assign(spec),
            Assignor::Range => range::assign(spec),
        }
    }
}
