//! Starts: of an empty folder, of a formatted one, and after kill -9 with much just written.

use super::load::{LARGE, PARTITIONS};
use super::{Bench, SETTLE};
use crate::Outcome;
use crate::administration::{await_records, count, create};
use crate::batches::{NINE_HUNDRED_KB, TEN_KB};
use crate::node::Node;
use crate::produce::{Load, batches_of, produce};
use crate::sheet::Sheet;
use std::thread;
use std::time::Instant;

/// A start is short and rarely disturbed, but then by much.
const STARTS: u32 = 3;

pub(super) fn starts(bench: &Bench<'_>, sheet: &mut Sheet) -> Outcome<()> {
    for number in 0..STARTS {
        let dir = bench.dir.join(number.to_string());
        std::fs::create_dir(&dir)?;
        let mut node = Node::start(bench.system, &dir, "")?;
        let fresh = node.start_ms;
        node.stop()?;
        let mut node = node.start_again()?;
        let formatted = node.start_ms;
        sheet.step(bench.system, "start", |_| Ok(vec![("formatted", formatted), ("fresh", fresh)]));
        if number + 1 == STARTS {
            thread::sleep(SETTLE);
            let resident = node.resident_bytes() / 1e6;
            sheet.step(bench.system, "idle", |_| Ok(vec![("resident", resident)]));
        }
        node.stop()?;
    }
    Ok(())
}

pub(super) fn crash(bench: &Bench<'_>, sheet: &mut Sheet) -> Outcome<()> {
    let partitions = bench.options.partitions;
    let node = bench.node("")?;
    thread::sleep(SETTLE);
    let idle = node.resident_bytes();

    let since = Instant::now();
    create(node.port, "many", partitions, &[])?;
    let create_ms = since.elapsed().as_secs_f64() * 1e3;
    let many = Load { topic: "many", partitions, shape: TEN_KB, acks: 1, connections: 4 };
    // Two batches for each partition.
    produce(&node, &many, 2 * u64::try_from(partitions)?.max(4))?;
    create(node.port, LARGE.topic, PARTITIONS, &[])?;
    let large = Load { shape: NINE_HUNDRED_KB, ..LARGE };
    if sheet.wants("crash") {
        produce(&node, &large, batches_of(bench.options.crash_mb, &large)?)?;
    }
    let records = count(node.port, LARGE.topic, PARTITIONS)?;
    let records_of_many = count(node.port, "many", partitions)?;

    let mut node = node;
    node.kill()?;
    let since = Instant::now();
    let mut node = node.start_again()?;
    sheet.step(bench.system, "crash", |_| {
        await_records(node.port, LARGE.topic, PARTITIONS, records)?;
        await_records(node.port, "many", partitions, records_of_many)?;
        Ok(vec![("ready", since.elapsed().as_secs_f64() * 1e3)])
    });

    count(node.port, "many", partitions)?;
    node.stop()?;
    let mut node = node.start_again()?;
    sheet.step(bench.system, "partitions", |_| {
        await_records(node.port, "many", partitions, records_of_many)?;
        thread::sleep(SETTLE);
        let memory = (node.resident_bytes() - idle) / 1e3 / f64::from(partitions + PARTITIONS);
        Ok(vec![("memory", memory), ("create", create_ms)])
    });
    node.stop()
}
