//! What the coordinator of groups answers: its shards are asked, and their replies become the
//! response.

use super::context::{Ctx, RequestContext};
use super::handler::Handler;
use super::reply::{Close, Handled, Outcome, Reply, Response};
use crate::coordinator::Asked;
use crate::group::{self, Client};
use protocol::error::ErrorCode;
use protocol::messages::{Request, TopicName};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What one shard said, or why none did.
pub(super) type Said = Result<group::Reply, ErrorCode>;

/// Has the shard that keeps `group` answer the whole request.
pub(super) fn grouped<H: Handler>(
    ctx: &Ctx,
    client: Client,
    group: &str,
    request: H::Request,
) -> Handled<H::Request>
where
    group::Request: From<(Client, H::Request)>,
    <H::Request as Request>::Response: TryFrom<group::Reply>,
{
    let asked = ctx.groups.ask(group, (client, request.clone()).into());
    answered::<H>(asked, move |code| H::refuse(&request, code))
}

/// The same for a request whose refusals say nothing of it, so that no copy of it is kept.
pub(super) fn grouped_briefly<H: Handler>(
    ctx: &Ctx,
    client: Client,
    group: &str,
    request: H::Request,
) -> Handled<H::Request>
where
    group::Request: From<(Client, H::Request)>,
    <H::Request as Request>::Response: TryFrom<group::Reply>,
{
    let asked = ctx.groups.ask(group, (client, request).into());
    answered::<H>(asked, |code| H::refuse(&H::Request::default(), code))
}

fn answered<H: Handler>(
    asked: Asked<group::Reply>,
    refuse: impl FnOnce(ErrorCode) -> <H::Request as Request>::Response + Send + 'static,
) -> Handled<H::Request>
where
    <H::Request as Request>::Response: TryFrom<group::Reply>,
{
    let response = move |said: Said| {
        let said = said.and_then(|reply| {
            // A machine that answers another question than it was asked has a bug.
            reply.try_into().map_err(|_| ErrorCode::UnknownServerError)
        });
        said.unwrap_or_else(refuse).into()
    };
    Ok(match asked {
        Asked::Now(said) => Reply::Now(response(said)),
        Asked::Later(later) => Reply::later(async move {
            let said = later.reply().await;
            Ok(response(said))
        }),
    })
}

/// Waits for all shards that were asked, and makes one response of what they say, in their order.
pub(super) fn gathered<R: Send + 'static>(
    asked: Vec<Asked<group::Reply>>,
    response: impl FnOnce(Vec<Said>) -> R + Send + 'static,
) -> Reply<Response<R>> {
    let is_now = |asked: &Asked<group::Reply>| matches!(asked, Asked::Now(_));
    if asked.iter().all(is_now) {
        let said = asked.into_iter().filter_map(|asked| match asked {
            Asked::Now(said) => Some(said),
            Asked::Later(_) => None,
        });
        return Reply::Now(response(said.collect()).into());
    }
    Reply::later(async move {
        let mut said = Vec::with_capacity(asked.len());
        for asked in asked {
            said.push(asked.reply().await);
        }
        Ok(response(said).into())
    })
}

/// Puts `more` behind `topics`, each topic once, where it was first; `absorb` takes what a second
/// one says. A request may name hundreds of thousands.
pub(super) fn merge_topics<T>(
    topics: &mut Vec<T>,
    more: Vec<T>,
    name: impl Fn(&T) -> TopicName,
    absorb: impl Fn(&mut T, T),
) {
    let mut places = BTreeMap::new();
    for (place, topic) in topics.iter().enumerate() {
        places.entry(name(topic)).or_insert(place);
    }
    for topic in more {
        let place = *places.entry(name(&topic)).or_insert(topics.len());
        match topics.get_mut(place) {
            Some(there) => absorb(there, topic),
            None => topics.push(topic),
        }
    }
}

/// Groups that a request may name. Each is answered with hundreds of bytes, however short its name.
const NAMED_MAX: usize = 100_000;

/// Closes the connection of who names more groups than anybody has.
pub(super) fn check_named<T>(groups: &[T]) -> Outcome<()> {
    if NAMED_MAX < groups.len() { Err(Close(ErrorCode::InvalidRequest)) } else { Ok(()) }
}

/// Who asks, as a group remembers it.
pub(super) fn client(from: &RequestContext, version: i16) -> Client {
    let host = match from.peer.ip().to_canonical() {
        IpAddr::V4(ip) => dotted(ip),
        IpAddr::V6(ip) => java_host(ip),
    };
    Client { id: from.client_id.clone(), host: host.into(), version }
}

/// By hand: every heartbeat says it, and `format` would be a tenth of what a heartbeat costs.
fn dotted(ip: Ipv4Addr) -> String {
    let mut text = String::with_capacity(16);
    for octet in ip.octets() {
        text.push(if text.is_empty() { '/' } else { '.' });
        let digits = [octet / 100, octet / 10 % 10, octet % 10];
        let zeros = digits.iter().take(2).take_while(|digit| **digit == 0).count();
        text.extend(digits.iter().skip(zeros).map(|digit| char::from(b'0' + digit)));
    }
    text
}

/// Java leaves no zeros out.
fn java_host(ip: Ipv6Addr) -> String {
    let parts = ip.segments().map(|part| format!("{part:x}"));
    format!("/{}", parts.join(":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_written_as_java_writes_them() {
        assert_eq!(java_host(Ipv6Addr::LOCALHOST), "/0:0:0:0:0:0:0:1");
        for ip in [[0, 9, 10, 99], [100, 101, 110, 255], [127, 0, 0, 1]].map(Ipv4Addr::from) {
            assert_eq!(dotted(ip), format!("/{ip}"));
        }
    }
}
