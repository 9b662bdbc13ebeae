//! `/api/groups`: every group with its lag, and one with its members and offsets.

use super::super::census::{self, Group, Listed};
use crate::api::Ctx;
use protocol::error::ErrorCode;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use tokio::task::yield_now;

pub(super) async fn all(ctx: &Ctx) -> Result<Value, ErrorCode> {
    let mut groups = Vec::new();
    for listed in census::list(ctx).await? {
        let group = census::details(ctx, &listed).await?;
        groups.push(Value::Object(summary(ctx, &listed, &group)));
        yield_now().await; // There may be many, and clients share this thread.
    }
    Ok(json!({ "groups": groups }))
}

/// None: there is no such group.
pub(super) async fn one(ctx: &Ctx, id: &str) -> Result<Option<Value>, ErrorCode> {
    let listed = census::list(ctx).await?;
    let Some(listed) = listed.into_iter().find(|it| it.id == id) else { return Ok(None) };
    let group = census::details(ctx, &listed).await?;
    let mut page = summary(ctx, &listed, &group);
    let members = group.members.iter().map(|it| {
        json!({
            "id": it.id,
            "instanceId": it.instance_id,
            "clientId": it.client_id,
            "host": it.host,
            "assigned": it.assigned,
        })
    });
    page.insert("members".to_owned(), members.collect());
    page.insert("assignor".to_owned(), group.assignor.clone().into());
    page.insert("offsets".to_owned(), offsets(ctx, &group));
    Ok(Some(Value::Object(page)))
}

fn summary(ctx: &Ctx, listed: &Listed, group: &Group) -> Map<String, Value> {
    let mut lag = 0_i64;
    for (topic, partitions) in &group.committed {
        let ends = census::ends(ctx, topic);
        let behind = partitions.keys().filter_map(|it| group.lag(topic, *it, *ends.get(it)?));
        lag = behind.fold(lag, i64::saturating_add);
    }
    let page = json!({
        "id": listed.id,
        "type": listed.kind,
        "state": listed.state,
        "protocolType": listed.protocol_type,
        "members": group.members.len(),
        "topics": group.committed.keys().collect::<Vec<_>>(),
        "lag": lag,
    });
    if let Value::Object(page) = page { page } else { Map::new() }
}

/// What is committed, and what a member has without a commit.
fn offsets(ctx: &Ctx, group: &Group) -> Value {
    let mut holders: BTreeMap<(&str, i32), &str> = BTreeMap::new();
    for member in &group.members {
        for (topic, partitions) in &member.assigned {
            holders.extend(partitions.iter().map(|it| ((topic.as_str(), *it), member.id.as_str())));
        }
    }
    let committed = group.committed.iter().flat_map(|(topic, partitions)| {
        partitions.keys().map(move |number| (topic.as_str(), *number))
    });
    let all: BTreeSet<_> = committed.chain(holders.keys().copied()).collect();
    let (mut rows, mut ends) = (Vec::new(), BTreeMap::new());
    for (topic, number) in all {
        let ends = ends.entry(topic).or_insert_with(|| census::ends(ctx, topic));
        let end = ends.get(&number).copied();
        rows.push(json!({
            "topic": topic,
            "partition": number,
            "committed": group.committed.get(topic).and_then(|it| it.get(&number)),
            "end": end,
            "lag": end.and_then(|end| group.lag(topic, number, end)),
            "memberId": holders.get(&(topic, number)),
        }));
    }
    Value::Array(rows)
}
