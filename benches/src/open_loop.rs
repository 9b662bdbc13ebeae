//! An open loop of produce: requests leave when they are due, whether or not answers have come.
//!
//! Latency counts from when a request was due, so that a broker that stalls is charged for all that
//! waited behind the stall.

use crate::Outcome;
use crate::batches;
use crate::connection::{Connection, Receiver, Sender};
use crate::latency::Latencies;
use crate::node::Node;
use crate::produce::{Load, died, share};
use bytes::Bytes;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// When the requests of one connection are due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    pub(crate) start: Instant,
    pub(crate) every: Duration,
    pub(crate) requests: u32,
}

impl Schedule {
    pub(crate) fn due(&self, number: u32) -> Instant {
        self.start + self.every * number
    }
}

/// Sends `per_second` requests a second for `seconds`, spread over the connections.
pub(crate) fn open_loop(
    node: &Node,
    load: &Load<'_>,
    per_second: u32,
    seconds: u64,
) -> Outcome<Latencies> {
    let batch = batches::batch(load.shape)?;
    let gap = Duration::from_secs(1) / per_second;
    let requests = u32::try_from(u64::from(per_second) * seconds / u64::from(load.connections))?;
    let mut work = Vec::new();
    for number in 0..load.connections {
        let frames = batches::frames(load.topic, &share(load, number)?, load.acks, &batch)?;
        work.push((number, Connection::open(node.port)?, frames));
    }
    // A moment ahead, so that the threads are there when their first request is due.
    let start = Instant::now() + Duration::from_millis(20);
    let parts = thread::scope(|scope| {
        let threads: Vec<_> = (work.into_iter())
            .map(|(number, connection, frames)| {
                let every = gap * load.connections;
                let schedule = Schedule { start: start + gap * number, every, requests };
                scope.spawn(move || on_schedule(connection, &frames, schedule, load.topic))
            })
            .collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| thread.join().map_err(|_| died())?;
        threads.into_iter().map(join).collect::<Outcome<Vec<Latencies>>>()
    })?;
    Ok(Latencies::of_all(parts))
}

/// One connection: this thread sends, another one takes the answers.
pub(crate) fn on_schedule(
    connection: Connection,
    frames: &[Bytes],
    schedule: Schedule,
    topic: &str,
) -> Outcome<Latencies> {
    let Connection { sender, receiver } = connection;
    let (sent, answers) = mpsc::channel();
    thread::scope(|scope| {
        let answered = scope.spawn(move || take_answers(receiver, &answers, topic));
        let sending = send_when_due(sender, frames, schedule, &sent);
        drop(sent);
        let latencies = answered.join().map_err(|_| died())?;
        // What the reader saw says more than the broken pipe that it left to the writer.
        let latencies = latencies?;
        sending?;
        Ok(latencies)
    })
}

fn send_when_due(
    mut sender: Sender,
    frames: &[Bytes],
    schedule: Schedule,
    sent: &mpsc::Sender<Instant>,
) -> Outcome<()> {
    for (number, frame) in (0..schedule.requests).zip(frames.iter().cycle()) {
        let due = schedule.due(number);
        thread::sleep(due.saturating_duration_since(Instant::now()));
        sent.send(due)?;
        sender.send(frame)?;
    }
    Ok(())
}

fn take_answers(
    mut receiver: Receiver,
    sent: &mpsc::Receiver<Instant>,
    topic: &str,
) -> Outcome<Latencies> {
    let mut latencies = Latencies::default();
    // Ends when the writer has, and all that it sent is answered.
    while let Ok(due) = sent.recv() {
        batches::produced(receiver.receive()?, topic)?;
        latencies.add(due.elapsed());
    }
    Ok(latencies)
}
