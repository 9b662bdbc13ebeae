//! `kafka-consumer-groups --describe`.

use super::committed::{self, Committed};
use super::group::{self, At, Group, Member};
use super::list;
use super::trouble::{fatal, tell};
use crate::admin::joined;
use crate::admin::{offsets, topics};
use crate::args::Args;
use crate::client::{Client, Refused};
use crate::failure::Failure;
use crate::output::{Output, complain};
use std::collections::{BTreeMap, BTreeSet};

/// What stands where nothing is known.
const MISSING: &str = "-";

pub(super) async fn describe(
    args: &Args,
    client: &mut Client,
    output: &mut Output,
) -> Result<(), Failure> {
    let names = list::named(args, client).await.map_err(|why| fatal(&why, output))?;
    let mut groups = Vec::new();
    for name in &names {
        // As with Kafka's tool, one that is not there ends it before any is told.
        groups.push(group::describe(client, name).await.map_err(|why| fatal(&why, output))?);
    }
    let verbose = args.has("verbose");
    for group in &groups {
        if args.has("members") {
            let is_told = is_told(group, group.members.len(), output)?;
            members(group, is_told, verbose, output)?;
        } else if args.has("state") {
            if is_told(group, 1, output)? {
                state(group, verbose, output)?;
            }
        } else {
            let rows = rows(group, client).await.map_err(|why| fatal(&why, output))?;
            if is_told(group, rows.len(), output)? {
                table(group, &rows, verbose, output)?;
            }
        }
    }
    Ok(())
}

/// Says what is to be known first, and whether there is more to print.
fn is_told(group: &Group, rows: usize, output: &mut Output) -> Result<bool, Failure> {
    let id = &group.id;
    match group.state.as_str() {
        "Dead" => {
            tell(format!("Consumer group '{id}' does not exist."), output)?;
            return Ok(false);
        }
        "Stable" => {}
        "Empty" => {
            output.flush()?;
            complain(&format!("\nConsumer group '{id}' has no active members."));
        }
        _ => {
            output.flush()?;
            complain(&format!("\nWarning: Consumer group '{id}' is rebalancing."));
        }
    }
    Ok(0 < rows)
}

/// A partition, what is committed of it, and who reads it.
pub(crate) struct Row {
    pub(crate) at: At,
    pub(crate) committed: Option<Committed>,
    pub(crate) end: Option<i64>,
    /// Its member id, host and client id; `-` where there is none.
    pub(crate) consumer: [String; 3],
}

pub(crate) async fn rows(group: &Group, client: &mut Client) -> Result<Vec<Row>, Refused> {
    let committed = committed::fetch(client, &group.id).await?;
    let mut members: Vec<&Member> =
        group.members.iter().filter(|member| !member.assigned.is_empty()).collect();
    members.sort_by_key(|member| std::cmp::Reverse(member.assigned.len()));
    let mut owned: Vec<(At, [String; 3])> = Vec::new();
    for it in members {
        let consumer = [&it.id, &it.host, &it.client].map(Clone::clone);
        owned.extend(it.assigned.iter().map(|at| (at.clone(), consumer.clone())));
    }
    let nobody = [MISSING; 3].map(str::to_owned);
    let known: BTreeSet<At> = owned.iter().map(|(at, _)| at.clone()).collect();
    let free = committed.keys().filter(|at| !known.contains(*at));
    owned.extend(free.map(|at| (at.clone(), nobody.clone())));
    let ends = ends(client, owned.iter().map(|(at, _)| at.clone()).collect()).await?;
    let row = |(at, consumer): (At, [String; 3])| Row {
        committed: committed.get(&at).copied(),
        end: ends.get(&at).copied(),
        at,
        consumer,
    };
    Ok(owned.into_iter().map(row).collect())
}

/// The end of each partition that has a leader.
async fn ends(client: &mut Client, wanted: BTreeSet<At>) -> Result<BTreeMap<At, i64>, Refused> {
    let mut names: Vec<String> = wanted.iter().map(|(topic, _)| topic.clone()).collect();
    names.dedup();
    if names.is_empty() {
        return Ok(BTreeMap::new());
    }
    let described = topics::describe(client, &names, 2000).await?;
    let asked = wanted.into_iter().map(|at| (at, offsets::LATEST)).collect();
    let found = offsets::list(client, &described, &asked).await?;
    let known = found.into_iter().filter_map(|(at, offset)| Some((at, offset.ok()?)));
    Ok(known.filter(|(_, offset)| 0 <= *offset).collect())
}

fn widest<'a>(cells: impl Iterator<Item = &'a str>, least: usize) -> usize {
    cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(least)
}

fn table(group: &Group, rows: &[Row], verbose: bool, output: &mut Output) -> Result<(), Failure> {
    let g = widest(std::iter::once(group.id.as_str()), 15);
    let t = widest(rows.iter().map(|row| row.at.0.as_str()), 15);
    let c = widest(rows.iter().map(|row| row.consumer[0].as_str()), 15);
    let h = widest(rows.iter().map(|row| row.consumer[1].as_str()), 15);
    output.line("")?;
    let mut line = |cells: [&str; 10]| {
        let [id, topic, partition, epoch, current, end, lag, consumer, host, client] = cells;
        let epoch = if verbose { format!("{epoch:<15} ") } else { String::new() };
        output.line(format!(
            "{id:<g$} {topic:<t$} {partition:<10} {epoch}{current:<15} {end:<15} {lag:<15} \
             {consumer:<c$} {host:<h$} {client}"
        ))
    };
    line([
        "GROUP",
        "TOPIC",
        "PARTITION",
        "LEADER-EPOCH",
        "CURRENT-OFFSET",
        "LOG-END-OFFSET",
        "LAG",
        "CONSUMER-ID",
        "HOST",
        "CLIENT-ID",
    ])?;
    for row in rows {
        let text =
            |number: Option<i64>| number.map_or_else(|| MISSING.to_owned(), |it| it.to_string());
        let offset = row.committed.map(|it| it.offset);
        let lag = offset.and_then(|offset| Some(row.end?.saturating_sub(offset)));
        let epoch = row.committed.and_then(|it| it.leader_epoch).map(i64::from);
        let [consumer, host, client] = &row.consumer;
        line([
            &group.id,
            &row.at.0,
            &row.at.1.to_string(),
            &text(epoch),
            &text(offset),
            &text(row.end),
            &text(lag),
            consumer,
            host,
            client,
        ])?;
    }
    Ok(())
}

/// `one:0,1;two:0`, or what stands for nothing.
fn assignment(partitions: &[At]) -> String {
    let mut topics: BTreeMap<&str, Vec<i32>> = BTreeMap::new();
    for (topic, partition) in partitions {
        topics.entry(topic).or_default().push(*partition);
    }
    let texts = topics.into_iter().map(|(topic, ids)| format!("{topic}:{}", joined(ids)));
    let text = texts.collect::<Vec<_>>().join(";");
    if text.is_empty() { MISSING.to_owned() } else { text }
}

fn members(
    group: &Group,
    is_told: bool,
    verbose: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    let told = if is_told { group.members.as_slice() } else { &[] };
    let width = |of: fn(&Member) -> &str, least| widest(told.iter().map(of), least);
    let g = widest(told.iter().map(|_| group.id.as_str()), 15);
    let c = width(|it| &it.id, 15);
    let i = width(|it| &it.instance, 17);
    let h = width(|it| &it.host, 15);
    let l = width(|it| &it.client, 15);
    let texts = |of: fn(&Member) -> &[At]| -> Vec<String> {
        group.members.iter().map(|it| assignment(of(it))).collect()
    };
    let (current, target) = (texts(|it| &it.assigned), texts(|it| &it.target));
    let a = widest(current.iter().filter(|_| is_told).map(String::as_str), 20);
    let b = widest(target.iter().filter(|_| is_told).map(String::as_str), 20);
    let has_instances = told.iter().any(|it| !it.instance.is_empty());
    let is_mixed =
        [true, false].iter().all(|kind| told.iter().any(|it| it.is_upgraded == Some(*kind)));
    output.line("")?;
    let mut line = |cells: [&str; 11]| {
        let [id, consumer, instance, host, client, count, e, now, te, then, upgraded] = cells;
        let instance = if has_instances { format!("{instance:<i$} ") } else { String::new() };
        let mut text =
            format!("{id:<g$} {consumer:<c$} {instance}{host:<h$} {client:<l$} {count:<15} ");
        if verbose {
            text.push_str(&format!("{e:<15} {now:<a$} {te:<15} {then:<b$}"));
            if is_mixed {
                text.push_str(&format!(" {upgraded}"));
            }
        }
        output.line(text)
    };
    line([
        "GROUP",
        "CONSUMER-ID",
        "GROUP-INSTANCE-ID",
        "HOST",
        "CLIENT-ID",
        "#PARTITIONS",
        "CURRENT-EPOCH",
        "CURRENT-ASSIGNMENT",
        "TARGET-EPOCH",
        "TARGET-ASSIGNMENT",
        "UPGRADED",
    ])?;
    let text = |number: Option<i32>| number.map_or_else(|| MISSING.to_owned(), |it| it.to_string());
    for (it, (now, then)) in group.members.iter().zip(current.iter().zip(&target)) {
        let upgraded = it.is_upgraded.map_or_else(|| MISSING.to_owned(), |it| it.to_string());
        line([
            &group.id,
            &it.id,
            &it.instance,
            &it.host,
            &it.client,
            &it.assigned.len().to_string(),
            &text(it.epoch),
            now,
            &text(group.target_epoch),
            then,
            &upgraded,
        ])?;
    }
    Ok(())
}

fn state(group: &Group, verbose: bool, output: &mut Output) -> Result<(), Failure> {
    let coordinator = group.coordinator.as_ref().map_or_else(
        || MISSING.to_owned(),
        |node| format!("{}:{}  ({})", node.address.host, node.address.port, node.id),
    );
    let g = widest(std::iter::once(group.id.as_str()), 15);
    let c = widest(std::iter::once(coordinator.as_str()), 25);
    output.line("")?;
    let mut line = |cells: [&str; 7]| {
        let [id, coordinator, assignor, state, epoch, target, members] = cells;
        let epochs = if verbose { format!("{epoch:<15} {target:<25} ") } else { String::new() };
        output.line(format!(
            "{id:<g$} {coordinator:<c$} {assignor:<20} {state:<20} {epochs}{members}"
        ))
    };
    line([
        "GROUP",
        "COORDINATOR (ID)",
        "ASSIGNMENT-STRATEGY",
        "STATE",
        "GROUP-EPOCH",
        "TARGET-ASSIGNMENT-EPOCH",
        "#MEMBERS",
    ])?;
    let text = |number: Option<i32>| number.map_or_else(|| MISSING.to_owned(), |it| it.to_string());
    let assignor = if group.assignor.is_empty() { MISSING } else { &group.assignor };
    let (epoch, target) = (text(group.epoch), text(group.target_epoch));
    let count = group.members.len().to_string();
    line([&group.id, &coordinator, assignor, &group.state, &epoch, &target, &count])
}
