//! Which page of `/api` a path names.

use super::super::body::{Body, json};
use super::super::desk::Desk;
use super::messages::Ask;
use super::{brokers, groups, messages, rates, topics};
use crate::api::Ctx;
use hyper::{Response, StatusCode};
use protocol::error::ErrorCode;
use serde_json::{Value, json};
use std::sync::Arc;

/// Why there is no page: a status, and a line for people.
struct Refusal(StatusCode, String);

/// The page at `path`, which stands behind `/api/`.
pub(in crate::admin) async fn answer(desk: &Desk, path: &str, query: &str) -> Response<Body> {
    match named(desk, path, query).await {
        Ok(page) => json(StatusCode::OK, &page),
        Err(Refusal(status, why)) => json(status, &json!({ "error": why })),
    }
}

async fn named(desk: &Desk, path: &str, query: &str) -> Result<Value, Refusal> {
    let Some(ctx) = desk.broker() else {
        let why = desk.metrics.state.get().in_words();
        return Err(Refusal(StatusCode::SERVICE_UNAVAILABLE, why.to_owned()));
    };
    let parts: Vec<String> = path.split('/').map(decoded).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match parts.as_slice() {
        ["brokers"] => brokers::all(desk, &ctx).await.map_err(failed),
        ["topics"] => Ok(topics::all(&ctx)),
        ["topics", name] => topics::one(&ctx, name).ok_or_else(|| absent("topic")),
        ["topics", name, "messages"] => read(desk, &ctx, name, query).await,
        ["groups"] => match parameters(query).iter().find(|(name, _)| name == "id") {
            Some((_, id)) => group(&ctx, id).await,
            None => groups::all(&ctx).await.map_err(failed),
        },
        ["groups", id] => group(&ctx, id).await,
        ["rates"] => Ok(rates::all(&ctx)),
        _ => Err(absent("page")),
    }
}

async fn group(ctx: &Ctx, id: &str) -> Result<Value, Refusal> {
    groups::one(ctx, id).await.map_err(failed)?.ok_or_else(|| absent("group"))
}

async fn read(desk: &Desk, ctx: &Arc<Ctx>, topic: &str, query: &str) -> Result<Value, Refusal> {
    if !desk.config.reads_messages {
        let why = "Messages are not shown here: set highwater.admin.read.messages to true.";
        return Err(Refusal(StatusCode::FORBIDDEN, why.to_owned()));
    }
    let ask = Ask::parse(&parameters(query));
    let ask = ask.map_err(|why| Refusal(StatusCode::BAD_REQUEST, why))?;
    // It is never closed.
    let _one_of_few = desk.readers.acquire().await;
    let page = messages::read(Arc::clone(ctx), topic.to_owned(), ask).await;
    page.map_err(failed)?.ok_or_else(|| absent("partition"))
}

fn absent(what: &str) -> Refusal {
    Refusal(StatusCode::NOT_FOUND, format!("There is no such {what}."))
}

fn failed(code: ErrorCode) -> Refusal {
    Refusal(StatusCode::SERVICE_UNAVAILABLE, code.message().to_owned())
}

/// The parameters of a query, in their order.
fn parameters(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let split = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    split.map(|(name, value)| (decoded(name), decoded(value))).collect()
}

/// `%41` is `A`; what is no such pair stands for itself.
fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| *first == b'%');
        let byte = hex
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_as_browsers_write_them() {
        for (text, want) in
            [("a%20b", "a b"), ("%C3%A9", "é"), ("100%", "100%"), ("%zz%4", "%zz%4")]
        {
            assert_eq!(decoded(text), want);
        }
        let got = parameters("offset=-1&&x=%26&y");
        let want = [("offset", "-1"), ("x", "&"), ("y", "")];
        assert_eq!(got, want.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
