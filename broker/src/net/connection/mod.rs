//! One connection, one task: requests start in their order, answers leave in theirs.

mod stopwatch;

use super::budget::Budget;
use super::input::{Input, Refusal};
use super::limits::{
    BURST_MAX, IN_FLIGHT_MAX, Limits, STALL_BYTES, STALL_PERIODS, UNSENT_BYTES_MAX,
};
use super::output::Output;
use super::roster::Seat;
use super::service::Service;
use crate::api::{Close, Outcome, Overlap, Piece, Reply, RequestContext};
use crate::metrics::{Metrics, OneMore};
use bytes::Bytes;
use kraft::env::{Boxed, Stream};
use protocol::error::ErrorCode;
use protocol::messages::Header;
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use stopwatch::{Stopwatch, Timed};
use tokio::time::{Instant, Sleep, sleep};

/// What a connection is made of.
pub(super) struct Connection {
    stream: Box<dyn Stream>,
    service: Arc<dyn Service>,
    metrics: Arc<Metrics>,
    stopwatch: Stopwatch,
    from: RequestContext,
    limits: Arc<Limits>,
    input: Input,
    /// Read, but may not start yet.
    parked: Option<(Request, OneMore)>,
    /// Started, not answered, in the order of the requests.
    waiting: VecDeque<Waiting>,
    output: Output,
    /// The client sends nothing more.
    has_ended: bool,
    /// A request that ends the connection, once the earlier ones are answered.
    ending: Option<End>,
    idle: Idle,
    held_up: HeldUp,
    /// Last, so that whoever sees it given up finds nothing of this connection left.
    seat: Seat,
}

struct Request {
    header: Header,
    overlap: Overlap,
    body: Bytes,
    arrived: Instant,
}

/// A started request whose answer is not with [`Output`].
struct Waiting {
    overlap: Overlap,
    answer: Answer,
    timed: Timed,
}

enum Answer {
    /// It waits for those before it.
    Ready(Vec<Piece>, OneMore),
    Later(Boxed<'static, Outcome<Vec<Piece>>>),
}

/// Why a connection ended.
#[derive(Debug)]
pub(super) enum End {
    /// The client closed it, or the broker stops; everything is answered.
    Done,
    Io(io::Error),
    Refused(Refusal),
    NoHeader(String),
    Closed(Close),
    Idle,
    /// A frame held memory that others waited for, and did not get on.
    Stalled,
}

impl End {
    /// Whether the client sent what is not taken; it sees no reason, only that it is cut off.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self, End::Refused(_) | End::NoHeader(_) | End::Closed(_) | End::Stalled)
    }
}

/// Why no further request starts.
#[derive(PartialEq)]
enum Pause {
    /// None is there whole.
    Input,
    /// The next one waits for answers, or the answers for the socket.
    Answers,
    /// Those that started shall be answered first.
    Burst,
}

/// How long nothing moved, counted in whole periods so that a request costs no look at a clock.
struct Idle {
    so_far: Duration,
    period: Duration,
    moved: bool,
}

/// How long the client holds up its own next request: it takes no answers, or has asked for one
/// that is long in coming.
#[derive(Default)]
struct HeldUp {
    sent_bytes: usize,
    answered: bool,
    slow_periods: u32,
}

impl Connection {
    pub(super) fn new(
        stream: Box<dyn Stream>,
        (service, metrics, from): (Arc<dyn Service>, Arc<Metrics>, RequestContext),
        seat: Seat,
        (limits, budget): (Arc<Limits>, Arc<Budget>),
    ) -> Connection {
        let period = limits.period();
        Connection {
            stream,
            service,
            metrics,
            stopwatch: Stopwatch::default(),
            from,
            seat,
            limits: Arc::clone(&limits),
            input: Input::new(budget, limits),
            parked: None,
            waiting: VecDeque::new(),
            output: Output::default(),
            has_ended: false,
            ending: None,
            idle: Idle { so_far: Duration::ZERO, period, moved: false },
            held_up: HeldUp::default(),
        }
    }

    /// Serves until the connection ends. Dropping it closes the socket and gives up what waits.
    pub(super) async fn run(mut self) -> End {
        let mut timer = pin!(sleep(self.idle.period));
        let mut is_known = false;
        poll_fn(|cx| {
            if !is_known {
                is_known = true;
                self.seat.wake_with(cx.waker());
            }
            match self.poll(cx, timer.as_mut()) {
                Ok(Poll::Ready(())) => Poll::Ready(self.ending.take().unwrap_or(End::Done)),
                Ok(Poll::Pending) => Poll::Pending,
                Err(end) => Poll::Ready(end),
            }
        })
        .await
    }

    fn poll(&mut self, cx: &mut Context<'_>, mut timer: Pin<&mut Sleep>) -> Result<Poll<()>, End> {
        self.stopwatch.forget();
        loop {
            let pause = self.start().unwrap_or_else(|end| self.end_with(end));
            let answered = self.poll_answers(cx);
            self.held_up.answered |= answered;
            if answered && pause == Pause::Answers && self.output.unsent_bytes() < UNSENT_BYTES_MAX
            {
                continue; // What waited for these answers may start before they are sent.
            }
            if !self.output.is_empty() {
                let mut moved = 0;
                let sent = self.output.poll_send(cx, &mut *self.stream, &mut moved);
                self.idle.moved |= moved != 0;
                self.held_up.sent_bytes += moved;
                if let Poll::Ready(sent) = sent {
                    sent.map_err(End::Io)?;
                    self.stopwatch.all_sent(&self.metrics.requests);
                    if pause != Pause::Input {
                        continue;
                    }
                }
            } else if pause == Pause::Burst {
                continue;
            }
            if pause == Pause::Input && self.takes_more() {
                match self.input.poll_fill(cx, &mut *self.stream) {
                    Poll::Ready(Ok(0)) => self.has_ended = true,
                    Poll::Ready(Ok(_)) => {
                        self.idle.moved = true;
                        if self.limits.period() < self.idle.period {
                            self.idle.period = self.limits.period(); // It wakes from its rest.
                            timer.as_mut().reset(Instant::now() + self.idle.period);
                        }
                        continue;
                    }
                    Poll::Ready(Err(error)) => return Err(End::Io(error)),
                    Poll::Pending => {}
                }
            } else if self.takes_more() {
                self.input.step_aside();
            } else {
                self.input.give_up_part();
            }
            if !self.takes_more() && self.waiting.is_empty() && self.output.is_empty() {
                return Ok(Poll::Ready(()));
            }
            if timer.as_mut().poll(cx).is_pending() {
                return Ok(Poll::Pending);
            }
            let period = self.period_passed(&pause)?;
            timer.as_mut().reset(Instant::now() + period);
        }
    }

    fn takes_more(&self) -> bool {
        !self.has_ended && self.ending.is_none() && !self.seat.is_stopping()
    }

    /// Nothing starts any more; what was started before is still answered.
    fn end_with(&mut self, end: End) -> Pause {
        self.ending = Some(end);
        self.parked = None;
        self.input.give_up();
        Pause::Input
    }

    /// Starts requests while they may.
    fn start(&mut self) -> Result<Pause, End> {
        for _ in 0..BURST_MAX {
            if UNSENT_BYTES_MAX <= self.output.unsent_bytes() || self.output.holds_files() {
                return Ok(Pause::Answers);
            }
            let request = match self.parked.take() {
                Some((request, _one_more)) => request,
                None if self.ending.is_some() || self.seat.is_stopping() => {
                    return Ok(Pause::Input);
                }
                None => match self.read()? {
                    Some(request) => request,
                    None => return Ok(Pause::Input),
                },
            };
            let overlaps = |earlier: &Waiting| request.overlap.may_start_beside(earlier.overlap);
            if IN_FLIGHT_MAX <= self.waiting.len() || !self.waiting.iter().all(overlaps) {
                self.park(request);
                return Ok(Pause::Answers);
            }
            self.call(request)?;
        }
        Ok(Pause::Burst)
    }

    fn park(&mut self, request: Request) {
        self.parked = Some((request, self.metrics.parked.one()));
    }

    /// Takes the next frame apart.
    fn read(&mut self) -> Result<Option<Request>, End> {
        let Some(mut body) = self.input.next().map_err(End::Refused)? else {
            return Ok(None);
        };
        let header =
            Header::read(&mut body).map_err(|malformed| End::NoHeader(malformed.to_string()))?;
        let overlap = (self.service.overlap(&self.from, header.key))
            .ok_or(End::Closed(Close(ErrorCode::UnsupportedVersion)))?;
        Ok(Some(Request { header, overlap, body, arrived: self.stopwatch.now() }))
    }

    fn call(&mut self, request: Request) -> Result<(), End> {
        let Request { header, overlap, body, arrived } = request;
        self.from.correlation_id = header.correlation_id;
        if *self.from.client_id != *header.client_id {
            self.from.client_id = Arc::from(&*header.client_id); // A slice would pin the frame.
        }
        let mut timed = self.stopwatch.begin(header.key, arrived);
        let reply = self.service.call(&self.from, (header.key, header.version), body);
        self.stopwatch.called(&mut timed);
        let answer = match reply.map_err(End::Closed)? {
            Reply::Now(pieces) if self.waiting.is_empty() => {
                self.output.push(pieces);
                self.stopwatch.answered(&timed, false);
                return Ok(());
            }
            Reply::Now(pieces) => Answer::Ready(pieces, self.metrics.early_answers.one()),
            Reply::Later(answer) => Answer::Later(answer),
            Reply::Silence => {
                timed.unanswered(&self.metrics.requests);
                return Ok(());
            }
        };
        self.waiting.push_back(Waiting { overlap, answer, timed });
        Ok(())
    }

    /// Moves answers from the front to the output while they are there. Says whether any was.
    fn poll_answers(&mut self, cx: &mut Context<'_>) -> bool {
        let mut any = false;
        while let Some(first) = self.waiting.front_mut() {
            let (pieces, was_later) = match &mut first.answer {
                Answer::Ready(pieces, _one_more) => (std::mem::take(pieces), false),
                Answer::Later(answer) => match answer.as_mut().poll(cx) {
                    Poll::Ready(Ok(pieces)) => (pieces, true),
                    Poll::Ready(Err(close)) => {
                        self.waiting.clear();
                        self.end_with(End::Closed(close));
                        break;
                    }
                    Poll::Pending => break,
                },
            };
            self.stopwatch.answered(&first.timed, was_later);
            self.waiting.pop_front();
            self.output.push(pieces);
            any = true;
        }
        any
    }

    /// What a period of the timer asks for; says how long the next one is.
    fn period_passed(&mut self, pause: &Pause) -> Result<Duration, End> {
        let reads = *pause == Pause::Input;
        if self.is_held_up_for_long(reads) || (reads && self.input.stalls()) {
            return Err(End::Stalled);
        }
        // A request that a handler works on is not idle: its handler has a deadline, of the
        // client's choice. But who takes no answer, or stops within a frame, is there no more,
        // unless that waits for us.
        let waits_for_disk = self.output.waits_for_disk();
        let waits_for_memory = reads && self.input.waits_for_memory();
        let is_amiss = (!self.output.is_empty() && !waits_for_disk)
            || (reads && self.input.is_within_frame() && !waits_for_memory);
        let is_worked_on =
            (!self.waiting.is_empty() && !is_amiss) || waits_for_disk || waits_for_memory;
        let Idle { so_far, period, moved } = &mut self.idle;
        let max = self.limits.idle_max;
        if std::mem::take(moved) || is_worked_on {
            *so_far = Duration::ZERO;
        } else {
            *so_far += *period;
            self.input.rest();
        }
        if max <= *so_far {
            return Err(End::Idle);
        }
        let left = max - *so_far;
        let rests = self.input.is_resting() && self.parked.is_none() && *so_far != Duration::ZERO;
        *period = if rests { left } else { left.min(self.limits.period()) };
        Ok(*period)
    }
}

impl Connection {
    /// Whether a whole frame, or a part of one, holds memory that others wait for until the client
    /// takes its answers, and it does not, or until it has one that it has asked us to be long with.
    fn is_held_up_for_long(&mut self, reads: bool) -> bool {
        let HeldUp { sent_bytes, answered, slow_periods } = std::mem::take(&mut self.held_up);
        let is_large =
            |(request, _): &(Request, _)| self.limits.read_ahead_bytes < request.body.len();
        let is_parked = self.parked.as_ref().is_some_and(is_large);
        let is_slow = if self.output.is_empty() {
            // A Produce waits for our disk, and not for as long as its client likes.
            let waits_for = self.waiting.front().map(|first| first.overlap);
            is_parked && !answered && waits_for.is_some_and(|it| it != Overlap::Produce)
        } else {
            !reads && sent_bytes < STALL_BYTES && !self.output.waits_for_disk()
        };
        self.held_up.slow_periods = if is_slow { slow_periods + 1 } else { 0 };
        let holds_memory = self.input.holds_large() || is_parked;
        STALL_PERIODS <= self.held_up.slow_periods && holds_memory && self.input.is_contended()
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Done => f.write_str("the client closed it"),
            End::Io(error) => write!(f, "{error}"),
            End::Refused(Refusal::Length(size)) => write!(f, "a frame of {size} bytes"),
            End::Refused(Refusal::TooLongFor { key, bytes }) => {
                write!(f, "a request {key} of {bytes} bytes")
            }
            End::Refused(Refusal::NoMemory(bytes)) => write!(f, "no memory for {bytes} bytes"),
            End::NoHeader(what) => f.write_str(what),
            End::Closed(Close(code)) => write!(f, "a request that is refused with {code:?}"),
            End::Idle => f.write_str("nothing moved for connections.max.idle.ms"),
            End::Stalled => f.write_str("its request held memory that others waited for"),
        }
    }
}

#[cfg(test)]
mod tests;
