//! Groups at rest: what their members ask again and again.

use super::{Bench, number};
use crate::Outcome;
use crate::administration::create;
use crate::groups::{self, Asked, ask};
use crate::node::Node;
use crate::sheet::{Sheet, Values};

const MEMBERS: u32 = 16;
/// So much is asked before it counts: Apache Kafka's code must be compiled first.
const WARM_UP: u64 = 2000;
const TOPIC: &str = "grouped";

pub(super) fn run(bench: &Bench<'_>, sheet: &mut Sheet) -> Outcome<()> {
    let more = "group.initial.rebalance.delay.ms=0\noffsets.topic.num.partitions=4\n";
    let mut node = bench.node(more)?;
    create(node.port, TOPIC, 1, &[])?;
    let each = bench.options.mb * 2;
    let mut step = |step, member| {
        sheet.step(bench.system, step, |sheet| {
            measured(&node, step, member, (WARM_UP.min(each), each)).map(|asked| {
                sheet.note(asked.spent);
                per_request(asked)
            })
        });
    };
    step("group_commit", groups::committer);
    step("group_heartbeat", groups::classic);
    step("group_consumer_heartbeat", groups::consumer);
    if !node.is_up() {
        return Err("the broker ended under the load".into());
    }
    node.stop()
}

fn measured(
    node: &Node,
    step: &str,
    member: fn(&mut crate::connection::Connection, &str, &str) -> Outcome<groups::Ask>,
    (warm_up, each): (u64, u64),
) -> Outcome<Asked> {
    ask(node, MEMBERS, warm_up, member, (&format!("{step}-warm"), TOPIC))?;
    ask(node, MEMBERS, each, member, (step, TOPIC))
}

/// CPU-microseconds per request, and requests per second.
fn per_request(Asked { requests, spent }: Asked) -> Values {
    let requests = number(requests);
    vec![("cpu", spent.broker * 1e6 / requests), ("rate", requests / spent.seconds)]
}
