//! A closed loop of produce: each connection keeps a window of requests in flight.

use crate::batches::{self, Shape};
use crate::connection::Connection;
use crate::machine::{Meter, Spent};
use crate::node::Node;
use crate::{Failure, Outcome};
use bytes::Bytes;
use std::thread;

/// As the Java producer's `max.in.flight.requests.per.connection`.
const IN_FLIGHT: u64 = 5;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Load<'a> {
    pub(crate) topic: &'a str,
    pub(crate) partitions: i32,
    pub(crate) shape: Shape,
    pub(crate) acks: i16,
    pub(crate) connections: u32,
}

/// What a produce step came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Produced {
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
    pub(crate) spent: Spent,
}

/// How many batches of that shape come to `mb` megabytes, at least one for each connection.
pub(crate) fn batches_of(mb: u64, load: &Load<'_>) -> Outcome<u64> {
    let bytes = u64::try_from(batches::batch(load.shape)?.len())?;
    Ok((mb * 1_000_000 / bytes).max(u64::from(load.connections)))
}

/// Sends `requests` requests, shared by the connections, and waits for every answer.
pub(crate) fn produce(node: &Node, load: &Load<'_>, requests: u64) -> Outcome<Produced> {
    let batch = batches::batch(load.shape)?;
    let each = requests / u64::from(load.connections);
    let mut work = Vec::new();
    for number in 0..load.connections {
        let frames = batches::frames(load.topic, &share(load, number)?, load.acks, &batch)?;
        work.push((Connection::open(node.port)?, frames));
    }
    let meter = Meter::start(node.pid())?;
    thread::scope(|scope| {
        let drive = |(connection, frames): (Connection, Vec<Bytes>)| {
            scope.spawn(move || drive(connection, &frames, each, load.topic))
        };
        let threads: Vec<_> = work.into_iter().map(drive).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| died())?)
    })?;
    let spent = meter.stop()?;
    let requests = each * u64::from(load.connections);
    Ok(Produced { requests, bytes: requests * u64::try_from(batch.len())?, spent })
}

/// A thread of the driver panicked; its message is on standard error already.
pub(crate) fn died() -> Failure {
    "the driver itself failed".into()
}

/// The partitions that a connection writes to: its own ones, or one of them where there are more
/// connections than partitions.
pub(crate) fn share(load: &Load<'_>, number: u32) -> Outcome<Vec<i32>> {
    let (number, connections) = (i32::try_from(number)?, i32::try_from(load.connections)?);
    Ok(match connections <= load.partitions {
        true => (0..load.partitions).filter(|it| it % connections == number).collect(),
        false => vec![number % load.partitions],
    })
}

fn drive(connection: Connection, frames: &[Bytes], requests: u64, topic: &str) -> Outcome<()> {
    let Connection { mut sender, mut receiver } = connection;
    let mut next = frames.iter().cycle();
    let mut unsent = requests;
    let mut send = || -> Outcome<()> {
        if 0 < unsent {
            unsent -= 1;
            sender.send(next.next().ok_or("a connection without a partition")?)?;
        }
        Ok(())
    };
    for _ in 0..IN_FLIGHT {
        send()?;
    }
    for _ in 0..requests {
        batches::produced(receiver.receive()?, topic)?;
        send()?;
    }
    Ok(())
}
