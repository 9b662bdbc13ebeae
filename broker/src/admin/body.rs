//! Responses: whole, or in parts that are made as the client takes them.

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::{Response, StatusCode};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// What follows the head of a response.
pub(super) enum Body {
    Whole(Option<Bytes>),
    /// Made one after the other, so that a long page costs no more memory than a part of it.
    Parts(Box<dyn Iterator<Item = Bytes> + Send>),
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut *self {
            Body::Whole(bytes) => bytes.take(),
            Body::Parts(parts) => parts.next(),
        };
        Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Body::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Body::Parts(_) => SizeHint::default(),
        }
    }
}

pub(super) const TEXT: &str = "text/plain; charset=utf-8";
pub(super) const JSON: &str = "application/json";

/// A response of that type, and of no other that a browser may find in it. What is true now may not
/// be in a moment, so nobody keeps it.
pub(super) fn typed(status: StatusCode, kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// One line for people.
pub(super) fn text(status: StatusCode, line: &str) -> Response<Body> {
    typed(status, TEXT, Body::Whole(Some(format!("{line}\n").into())))
}

pub(super) fn json(status: StatusCode, value: &serde_json::Value) -> Response<Body> {
    typed(status, JSON, Body::Whole(Some(value.to_string().into())))
}
