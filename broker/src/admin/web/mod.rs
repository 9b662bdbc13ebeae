//! The page at `/`, for people: the files beside this one, in the binary. It asks `/api` for all that
//! it shows, and nothing outside.

use super::body::{Body, typed};
use bytes::Bytes;
use hyper::header::{CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY};
use hyper::{Response, StatusCode};

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const ICON: &str = "image/svg+xml";

/// Path, type and content.
const FILES: [(&str, &str, &str); 9] = [
    ("/", HTML, include_str!("assets/index.html")),
    ("/web/brokers.js", SCRIPT, include_str!("assets/brokers.js")),
    ("/web/dom.js", SCRIPT, include_str!("assets/dom.js")),
    ("/web/groups.js", SCRIPT, include_str!("assets/groups.js")),
    ("/web/icon.svg", ICON, include_str!("assets/icon.svg")),
    ("/web/messages.js", SCRIPT, include_str!("assets/messages.js")),
    ("/web/page.css", CSS, include_str!("assets/page.css")),
    ("/web/page.js", SCRIPT, include_str!("assets/page.js")),
    ("/web/topics.js", SCRIPT, include_str!("assets/topics.js")),
];

/// A browser takes nothing from elsewhere, runs nothing that a message holds, and shows the page in
/// no foreign frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The file at this path, if there is one.
pub(super) fn file(path: &str) -> Option<Response<Body>> {
    let (_, kind, content) = FILES.iter().find(|(at, ..)| *at == path)?;
    let body = Body::Whole(Some(Bytes::from_static(content.as_bytes())));
    let mut response = typed(StatusCode::OK, kind, body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Some(response)
}
