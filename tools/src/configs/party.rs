//! Whom quotas hold back.

/// The kinds of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Limited {
    User,
    Client,
    Ip,
}

/// In the order in which an entity is told.
pub(super) const ALL: [Limited; 3] = [Limited::User, Limited::Client, Limited::Ip];

impl Limited {
    /// As requests name it.
    pub(super) fn wire(self) -> &'static str {
        match self {
            Limited::User => "user",
            Limited::Client => "client-id",
            Limited::Ip => "ip",
        }
    }

    /// As `--describe` tells of it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Limited::User => "user-principal",
            Limited::Client => "client-id",
            Limited::Ip => "ip",
        }
    }

    /// As `--entity-type` names it, without the last letter.
    pub(super) fn singular(self) -> &'static str {
        match self {
            Limited::User => "user",
            Limited::Client => "client",
            Limited::Ip => "ip",
        }
    }

    /// The quotas that it may have.
    pub(super) fn quotas(self) -> &'static [&'static str] {
        match self {
            Limited::User | Limited::Client => &[
                "producer_byte_rate",
                "consumer_byte_rate",
                "request_percentage",
                "controller_mutation_rate",
            ],
            Limited::Ip => &["connection_creation_rate"],
        }
    }
}

/// One that has quotas: by its name, all of a kind (None), or who has none of its own (empty).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Party {
    pub(super) kind: Limited,
    pub(super) name: Option<String>,
}
