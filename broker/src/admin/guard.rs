//! Who may call: reads only, and no page of somebody else's through a browser.
//!
//! A browser that shows a foreign page can be made to call addresses of this machine. It may not
//! show the answer to that page, unless the page's own name is made to lead here (DNS rebinding).
//! So a request must name this server by what nobody can point here from outside: an address, a
//! name without a dot, `localhost`, or a name that the operator gave. And where it says from which
//! page it comes, that must be one of ours.

use super::body::{Body, text};
use crate::config::AdminConfig;
use hyper::header::{ALLOW, HOST, HeaderName, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode, Version};
use std::net::{Ipv4Addr, Ipv6Addr};

/// The refusal of a request, if it is refused.
pub(super) fn refusal(config: &AdminConfig, request: &Parts) -> Option<Response<Body>> {
    if request.method != Method::GET && request.method != Method::HEAD {
        let line = "Nothing is changed here: only GET and HEAD are answered.";
        let mut refusal = text(StatusCode::METHOD_NOT_ALLOWED, line);
        refusal.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return Some(refusal);
    }
    let host = match request.uri.authority() {
        Some(authority) => Some(authority.as_str()),
        None => match one(request, &HOST) {
            Ok(host) => host,
            Err(()) => return Some(text(StatusCode::BAD_REQUEST, "The Host header is no name.")),
        },
    };
    let Some(host) = host else {
        // No browser leaves it out.
        let is_old = request.version <= Version::HTTP_10;
        return (!is_old).then(|| text(StatusCode::BAD_REQUEST, "The Host header is missing."));
    };
    if !is_ours(config, host) {
        let line = "This broker is not known by that name: add it to highwater.admin.hosts.";
        return Some(text(StatusCode::MISDIRECTED_REQUEST, line));
    }
    let is_own_page = match one(request, &ORIGIN) {
        Ok(None) => true,
        Ok(Some(origin)) => {
            let page = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            page.is_some_and(|page| page.eq_ignore_ascii_case(host))
        }
        Err(()) => false,
    };
    (!is_own_page).then(|| text(StatusCode::FORBIDDEN, "Other pages may not read this one."))
}

/// The one value of a header; an error where there are several, or it is no text.
fn one<'a>(request: &'a Parts, name: &HeaderName) -> Result<Option<&'a str>, ()> {
    let mut values = request.headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(drop),
        (Some(_), Some(_)) => Err(()),
    }
}

/// Whether `host`, which may end in a port, is a name of this server.
fn is_ours(config: &AdminConfig, host: &str) -> bool {
    let is_port = |port: &str| port.bytes().all(|digit| digit.is_ascii_digit());
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split_once(']').is_some_and(|(address, rest)| {
            let has_port = rest.strip_prefix(':').is_some_and(is_port);
            address.parse::<Ipv6Addr>().is_ok() && (rest.is_empty() || has_port)
        });
    }
    let (name, port) = host.split_once(':').unwrap_or((host, ""));
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let is_local = !name.contains('.') || name.ends_with(".localhost");
    let is_address = name.parse::<Ipv4Addr>().is_ok();
    let is_known = config.any_host || is_local || is_address || config.hosts.contains(&name);
    !name.is_empty() && is_port(port) && is_known
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn config(hosts: &[&str]) -> AdminConfig {
        AdminConfig {
            listener: None,
            is_required: false,
            gives_way_to: None,
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect::<BTreeSet<_>>(),
            any_host: hosts.contains(&"*"),
            reads_messages: false,
        }
    }

    #[track_caller]
    fn check(head: &[(&str, &str)], hosts: &[&str], want: Option<u16>) {
        let mut request = hyper::Request::get("/");
        for (name, value) in head {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let got = refusal(&config(hosts), &parts).map(|refusal| refusal.status().as_u16());
        assert_eq!(got, want, "{head:?}");
    }

    #[test]
    fn names_that_lead_here_are_taken() {
        for host in [
            "localhost",
            "LOCALHOST:9644",
            "kafka.localhost",
            "127.0.0.1:1",
            "[::1]:9644",
            "kafka:9644",
        ] {
            check(&[("host", host)], &[], None);
        }
        for host in [
            "evil.example",
            "evil.example:9644",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "localhost:80@evil.example",
            "[::1",
            "[::1]x",
            "[::1].evil.example",
            "[127.0.0.1]",
            "::1",
        ] {
            check(&[("host", host)], &[], Some(421));
        }
        check(&[("host", "kafka.example.:9644")], &["kafka.example"], None);
        check(&[("host", "any.example")], &["*"], None);
        check(&[("host", "")], &["*"], Some(421));
        check(&[], &[], Some(400));
        check(&[("host", "localhost"), ("host", "evil.example")], &[], Some(400));
    }

    #[test]
    fn only_its_own_pages_read_it() {
        let from = |origin| [("host", "localhost:9644"), ("origin", origin)];
        check(&from("http://localhost:9644"), &[], None);
        for origin in
            ["http://evil.example", "http://localhost:8080", "null", "file://localhost:9644"]
        {
            check(&from(origin), &[], Some(403));
        }
    }
}
