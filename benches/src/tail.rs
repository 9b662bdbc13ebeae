//! A reader at the end of a partition: how long a record takes from its producer to it.

use crate::batches::{ONE_KB, batch, frames};
use crate::connection::Connection;
use crate::fetch::{Answer, next_offset, request};
use crate::latency::Latencies;
use crate::open_loop::{Schedule, on_schedule};
use crate::produce::died;
use crate::{Outcome, administration};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) const TOPIC: &str = "tail";
const PER_SECOND: u32 = 200;

/// Produces single records for `seconds` on a steady schedule, reads each one at the tail, and
/// gives the time from when it was due to when it was read.
pub(crate) fn follow(port: u16, seconds: u64) -> Outcome<Latencies> {
    let first = administration::count(port, TOPIC, 1)?;
    let frames = frames(TOPIC, &[0], 1, &batch(ONE_KB)?)?;
    let (producer, consumer) = (Connection::open(port)?, Connection::open(port)?);
    let requests = PER_SECOND * u32::try_from(seconds)?;
    let start = Instant::now() + Duration::from_millis(20);
    let schedule = Schedule { start, every: Duration::from_secs(1) / PER_SECOND, requests };
    thread::scope(|scope| {
        let reader = scope.spawn(move || read_tail(consumer, first, schedule));
        on_schedule(producer, &frames, schedule, TOPIC)?;
        reader.join().map_err(|_| died())?
    })
}

fn read_tail(mut connection: Connection, first: i64, schedule: Schedule) -> Outcome<Latencies> {
    let mut latencies = Latencies::default();
    let mut offset = first;
    while offset < first + i64::from(schedule.requests) {
        connection.sender.send(&request(TOPIC, 0, offset)?)?;
        let answer = Answer::read(connection.receiver.receive()?)?;
        let next = next_offset(answer.records)?.unwrap_or(offset);
        let now = Instant::now();
        for read in offset..next {
            let due = schedule.due(u32::try_from(read - first)?);
            latencies.add(now.saturating_duration_since(due));
        }
        offset = next;
    }
    Ok(Latencies::of_all(vec![latencies]))
}
