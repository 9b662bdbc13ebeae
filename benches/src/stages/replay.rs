//! Reading the same data again, out of the page cache and off the disk, with a tail reader beside.

use super::Bench;
use super::load::{LARGE, PARTITIONS};
use crate::Outcome;
use crate::administration::create;
use crate::cache::drop_segments;
use crate::fetch::{Fetched, fetch};
use crate::latency::Latencies;
use crate::machine::disk_bytes_read;
use crate::node::Node;
use crate::produce::{batches_of, died, produce};
use crate::sheet::{Sheet, Values};
use crate::tail;
use std::thread;

pub(super) fn run(bench: &Bench<'_>, sheet: &mut Sheet) -> Outcome<()> {
    let mut node = bench.node("")?;
    create(node.port, LARGE.topic, PARTITIONS, &[])?;
    create(node.port, tail::TOPIC, 1, &[])?;
    produce(&node, &LARGE, batches_of(bench.options.mb, &LARGE)?)?;
    let seconds = bench.options.seconds;
    tail::follow(node.port, 1)?;

    sheet.step(bench.system, "replay_hot", |sheet| passes(&node, sheet, hot));
    sheet.step(bench.system, "replay_cold", |sheet| passes(&node, sheet, cold));
    sheet.step(bench.system, "replay_tail_alone", |_| {
        Ok(tail::follow(node.port, seconds)?.values())
    });
    sheet.step(bench.system, "replay_tail_hot", |_| Ok(beside(&node, seconds, hot)?.values()));
    sheet.step(bench.system, "replay_tail_cold", |_| Ok(beside(&node, seconds, cold)?.values()));
    if !node.is_up() {
        return Err("the broker ended under the load".into());
    }
    node.stop()
}

fn hot(node: &Node) -> Outcome<Fetched> {
    fetch(node, LARGE.topic, PARTITIONS)
}

/// Takes the data out of the page cache, and checks by what the broker read that it was.
fn cold(node: &Node) -> Outcome<Fetched> {
    drop_segments(&node.data())?;
    let before = disk_bytes_read(node.pid())?;
    let fetched = fetch(node, LARGE.topic, PARTITIONS)?;
    let read = disk_bytes_read(node.pid())? - before;
    if read < fetched.bytes / 2 {
        return Err(format!("not cold: {read} of {} bytes off the disk", fetched.bytes).into());
    }
    Ok(fetched)
}

/// Three times the same.
fn passes(node: &Node, sheet: &mut Sheet, read: fn(&Node) -> Outcome<Fetched>) -> Outcome<Values> {
    let mut values = Vec::new();
    for (cpu, rate) in [("cpu1", "rate1"), ("cpu2", "rate2"), ("cpu3", "rate3")] {
        let fetched = read(node)?;
        sheet.note(fetched.spent);
        let named = fetched.per_gb().into_iter().zip([cpu, rate]);
        values.extend(named.map(|((_, value), name)| (name, value)));
    }
    Ok(values)
}

/// The tail reader's latencies while all the data is read again and again.
fn beside(node: &Node, seconds: u64, read: fn(&Node) -> Outcome<Fetched>) -> Outcome<Latencies> {
    let port = node.port;
    let follower = thread::spawn(move || tail::follow(port, seconds));
    while !follower.is_finished() {
        read(node)?;
    }
    follower.join().map_err(|_| died())?
}
