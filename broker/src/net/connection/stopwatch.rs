//! How long the requests of a connection take, stage by stage, with as few looks at a clock as
//! will do: one in each turn of the connection, one behind each request, one behind each write.

use crate::metrics::Requests;
use crate::metrics::requests::Times;
use protocol::messages::ApiKey;
use std::collections::VecDeque;
use tokio::time::Instant;

/// A request that has begun.
#[derive(Debug)]
pub(super) struct Timed {
    key: ApiKey,
    arrived: Instant,
    started: Instant,
    /// When its handler came back, with the answer or without.
    called: Instant,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Stopwatch {
    /// As it was read last in this turn.
    now: Option<Instant>,
    /// Answered, but not all sent; and since when.
    sending: VecDeque<(ApiKey, Times, Instant)>,
}

impl Stopwatch {
    /// Another turn begins.
    pub(super) fn forget(&mut self) {
        self.now = None;
    }

    pub(super) fn now(&mut self) -> Instant {
        *self.now.get_or_insert_with(Instant::now)
    }

    fn look(&mut self) -> Instant {
        *self.now.insert(Instant::now())
    }

    /// The handler of a request is about to be called.
    pub(super) fn begin(&mut self, key: ApiKey, arrived: Instant) -> Timed {
        let started = self.now();
        Timed { key, arrived, started, called: started }
    }

    pub(super) fn called(&mut self, timed: &mut Timed) {
        timed.called = self.look();
    }

    /// The answer goes to the output. `was_later`: it was not there when the handler came back.
    pub(super) fn answered(&mut self, timed: &Timed, was_later: bool) {
        let now = self.now();
        let waited = now.saturating_duration_since(timed.called);
        let mut times = timed.times();
        *(if was_later { &mut times.remote } else { &mut times.response_queue }) = waited;
        self.sending.push_back((timed.key, times, now));
    }

    /// The socket has taken all answers.
    pub(super) fn all_sent(&mut self, requests: &Requests) {
        if self.sending.is_empty() {
            return;
        }
        let now = self.look();
        for (key, mut times, since) in self.sending.drain(..) {
            times.response_send = now.saturating_duration_since(since);
            requests.ended(key, times);
        }
    }
}

impl Timed {
    fn times(&self) -> Times {
        Times {
            request_queue: self.started.saturating_duration_since(self.arrived),
            local: self.called.saturating_duration_since(self.started),
            ..Times::default()
        }
    }

    /// It is over without an answer.
    pub(super) fn unanswered(&self, requests: &Requests) {
        requests.ended(self.key, self.times());
    }
}
