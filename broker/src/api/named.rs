//! A topic as a request names it.

use protocol::ids::Uuid;

/// By name or by id: each version of a request has one of the two.
#[derive(Clone, Copy, Debug)]
pub(super) enum Named<'a> {
    Name(&'a str),
    Id(Uuid),
}
