//! The same load where every acknowledgement waits for the disk.

use super::Bench;
use super::load::{
    BATCHES_PER_SECOND, LARGE, PARTITIONS, RECORDS_PER_SECOND, SINGLE, large, open, small,
};
use crate::Outcome;
use crate::administration::create;
use crate::batches::{NINE_HUNDRED_KB, ONE_KB, SIXTY_KB};
use crate::produce::{Load, batches_of, produce};
use crate::sheet::Sheet;

pub(super) fn run(bench: &Bench<'_>, sheet: &mut Sheet) -> Outcome<()> {
    let mb = bench.options.mb;
    let mut node = bench.node("log.flush.interval.messages=1\n")?;
    let durable = [("flush.messages", "1")];
    create(node.port, LARGE.topic, PARTITIONS, &durable)?;
    create(node.port, SINGLE.topic, PARTITIONS, &durable)?;
    produce(&node, &LARGE, batches_of((mb / 6).clamp(1, 500), &LARGE)?)?;
    produce(&node, &SINGLE, mb.min(3000))?;

    large(bench, sheet, &node, "durable_60k", LARGE);
    large(bench, sheet, &node, "durable_900k", Load { shape: NINE_HUNDRED_KB, ..LARGE });
    small(bench, sheet, &node, "durable_small", (Load { acks: -1, ..SINGLE }, mb * 5));
    open(bench, sheet, &node, "durable_2000_per_s", (SINGLE, ONE_KB, RECORDS_PER_SECOND));
    open(bench, sheet, &node, "durable_40_mb_s", (LARGE, SIXTY_KB, BATCHES_PER_SECOND));
    if !node.is_up() {
        return Err("the broker ended under the load".into());
    }
    node.stop()
}
