//! Produce and fetch against a node with its defaults, in one life of its process.

use super::{Bench, SETTLE};
use crate::Outcome;
use crate::administration::{count, create};
use crate::batches::{NINE_HUNDRED_KB, ONE_KB, SIXTY_KB, SMALL, Shape};
use crate::fetch::fetch;
use crate::node::Node;
use crate::open_loop::open_loop;
use crate::produce::{Load, batches_of, produce};
use crate::sheet::Sheet;

pub(super) const PARTITIONS: i32 = 8;
pub(super) const LARGE: Load<'static> =
    Load { topic: "t", partitions: PARTITIONS, shape: SIXTY_KB, acks: 1, connections: 2 };
pub(super) const SINGLE: Load<'static> =
    Load { topic: "s", partitions: PARTITIONS, shape: SMALL, acks: 1, connections: 4 };
/// 40 MB/s in batches of 60 KB, near enough.
pub(super) const BATCHES_PER_SECOND: u32 = 600;
pub(super) const RECORDS_PER_SECOND: u32 = 2000;

pub(super) fn run(bench: &Bench<'_>, sheet: &mut Sheet) -> Outcome<()> {
    let mb = bench.options.mb;
    let mut node = bench.node("")?;
    create(node.port, LARGE.topic, PARTITIONS, &[])?;
    create(node.port, SINGLE.topic, PARTITIONS, &[])?;
    // What a JVM compiles, it compiles here.
    produce(&node, &LARGE, batches_of((mb / 6).clamp(1, 500), &LARGE)?)?;
    produce(&node, &SINGLE, (mb * 20).min(60_000))?;

    large(bench, sheet, &node, "produce_60k", LARGE);
    large(bench, sheet, &node, "produce_900k", Load { shape: NINE_HUNDRED_KB, ..LARGE });
    large(bench, sheet, &node, "produce_60k_x16", Load { connections: 16, ..LARGE });
    sheet.step(bench.system, "fetch_1m", |sheet| {
        if !sheet.wants_any("produce") {
            // The steps that would have filled the topic were left out.
            produce(&node, &LARGE, batches_of(mb, &LARGE)?)?;
        }
        let held = count(node.port, LARGE.topic, PARTITIONS)?;
        let fetched = fetch(&node, LARGE.topic, PARTITIONS)?;
        sheet.note(fetched.spent);
        if fetched.records != held {
            return Err(format!("fetched {} records of {held}", fetched.records).into());
        }
        Ok(fetched.per_gb())
    });
    small(bench, sheet, &node, "small_acks1", (SINGLE, mb * 60));
    small(bench, sheet, &node, "small_all", (Load { acks: -1, ..SINGLE }, mb * 20));
    open(bench, sheet, &node, "open_2000_per_s", (SINGLE, ONE_KB, RECORDS_PER_SECOND));
    open(bench, sheet, &node, "open_40_mb_s", (LARGE, SIXTY_KB, BATCHES_PER_SECOND));
    sheet.step(bench.system, "after_load", |_| {
        std::thread::sleep(SETTLE);
        Ok(vec![("resident", node.resident_bytes() / 1e6)])
    });
    if !node.is_up() {
        return Err("the broker ended under the load".into());
    }
    node.stop()
}

/// A produce step measured by the gigabyte.
pub(super) fn large(
    bench: &Bench<'_>,
    sheet: &mut Sheet,
    node: &Node,
    step: &'static str,
    load: Load<'_>,
) {
    sheet.step(bench.system, step, |sheet| {
        let produced = produce(node, &load, batches_of(bench.options.mb, &load)?)?;
        sheet.note(produced.spent);
        Ok(produced.per_gb())
    });
}

/// A produce step measured by the request.
pub(super) fn small(
    bench: &Bench<'_>,
    sheet: &mut Sheet,
    node: &Node,
    step: &'static str,
    (load, requests): (Load<'_>, u64),
) {
    sheet.step(bench.system, step, |sheet| {
        let produced = produce(node, &load, requests)?;
        sheet.note(produced.spent);
        Ok(produced.per_request())
    });
}

/// An open loop with acks=all: whose topic, which batches, how many a second.
pub(super) fn open(
    bench: &Bench<'_>,
    sheet: &mut Sheet,
    node: &Node,
    step: &'static str,
    (load, shape, per_second): (Load<'_>, Shape, u32),
) {
    let load = Load { shape, acks: -1, connections: 4, ..load };
    sheet.step(bench.system, step, |_| {
        Ok(open_loop(node, &load, per_second, bench.options.seconds)?.values())
    });
}
