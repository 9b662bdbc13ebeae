//! Decisions that wait for their commit, and those who wait for the answer, in the order in which
//! they were decided.

use super::error::AskError;
use crate::raft::quorum::Stopped;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesOrdered;
use std::collections::VecDeque;
use std::time::Duration;

/// Tells whoever asked how it ended.
pub(super) type Reply = Box<dyn FnOnce(Result<(), AskError>) + Send>;

/// Ends when all records of a decision are committed and applied.
pub(super) type Commit = BoxFuture<'static, Result<(), Stopped>>;

/// What becomes of a decision.
pub(super) struct Pending {
    /// None: nothing was appended, so that only what it has seen must be committed.
    pub(super) commit: Option<Commit>,
    /// None: nobody asked.
    pub(super) reply: Option<Reply>,
}

#[derive(Default)]
pub(super) struct InFlight {
    commits: FuturesOrdered<Commit>,
    /// Of each of them, whether it has records, and who waits.
    replies: VecDeque<(bool, Option<Reply>)>,
    /// How many of them have records.
    proposed: usize,
    /// When the log last moved, or was first asked to, by the monotonic clock. Without meaning
    /// while nothing is proposed.
    moved: Duration,
    /// For how long it stood at most before it moved, since that was last asked.
    stood: Duration,
    /// Once one could not be committed, nobody knows that those behind it are.
    failure: Option<Stopped>,
}

impl InFlight {
    pub(super) fn len(&self) -> usize {
        self.replies.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.replies.is_empty()
    }

    pub(super) fn push(&mut self, Pending { commit, reply }: Pending, now: Duration) {
        let has_records = commit.is_some();
        if has_records {
            if self.proposed == 0 {
                self.moved = now;
            }
            self.proposed += 1;
        }
        self.commits.push_back(commit.unwrap_or_else(|| Box::pin(async { Ok(()) })));
        self.replies.push_back((has_records, reply));
    }

    /// Waits for the oldest and answers it; None where there is none. May be dropped at any time.
    pub(super) async fn next(&mut self, now: impl Fn() -> Duration) -> Option<Result<(), Stopped>> {
        let mut result = self.commits.next().await?;
        let (has_records, reply) = self.replies.pop_front()?;
        if has_records {
            let now = now();
            self.stood = self.stood.max(self.stands_for(now));
            self.proposed -= 1;
            self.moved = now;
        }
        match (&self.failure, &result) {
            (Some(why), _) => result = Err(why.clone()),
            (None, Err(why)) => self.failure = Some(why.clone()),
            (None, Ok(())) => {}
        }
        if let Some(reply) = reply {
            reply(result.clone().map_err(AskError::from));
        }
        Some(result)
    }

    /// For how long records have waited at most without that any was committed, since that was
    /// last asked.
    pub(super) fn take_stood(&mut self, now: Duration) -> Duration {
        std::mem::take(&mut self.stood).max(self.stands_for(now))
    }

    fn stands_for(&self, now: Duration) -> Duration {
        if self.proposed == 0 { Duration::ZERO } else { now.saturating_sub(self.moved) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use parking_lot::Mutex;
    use std::sync::Arc;
    use tokio::sync::oneshot;

    type Said = Arc<Mutex<Vec<(&'static str, Result<(), AskError>)>>>;
    type Committed = oneshot::Sender<Result<(), Stopped>>;

    fn reply(name: &'static str, said: &Said) -> Option<Reply> {
        let said = Arc::clone(said);
        Some(Box::new(move |result| said.lock().push((name, result))))
    }

    /// A decision with records, which are committed when the sender says so.
    fn written(name: &'static str, said: &Said) -> (Committed, Pending) {
        let (committed, commit) = oneshot::channel();
        let commit: Commit = Box::pin(async move { commit.await.unwrap() });
        (committed, Pending { commit: Some(commit), reply: reply(name, said) })
    }

    fn only_seen(name: &'static str, said: &Said) -> Pending {
        Pending { commit: None, reply: reply(name, said) }
    }

    const START: Duration = Duration::from_secs(5);

    fn next(in_flight: &mut InFlight) -> Option<Option<Result<(), Stopped>>> {
        in_flight.next(|| START).now_or_never()
    }

    #[test]
    fn whoever_is_later_hears_later_however_soon_it_is_done() {
        let (said, mut in_flight) = (Said::default(), InFlight::default());
        let (first, one) = written("one", &said);
        let (second, two) = written("two", &said);
        for pending in [one, only_seen("seen", &said), two] {
            in_flight.push(pending, START);
        }
        second.send(Ok(())).unwrap();
        assert_eq!(next(&mut in_flight), None);
        assert_eq!((said.lock().len(), in_flight.len()), (0, 3));
        first.send(Ok(())).unwrap();
        for _ in 0..3 {
            assert_eq!(next(&mut in_flight), Some(Some(Ok(()))));
        }
        assert_eq!(next(&mut in_flight), Some(None));
        let said = said.lock();
        let names: Vec<_> = said.iter().map(|(name, result)| (*name, result.is_ok())).collect();
        assert_eq!(names, [("one", true), ("seen", true), ("two", true)]);
    }

    #[test]
    fn what_stands_on_a_lost_decision_is_lost_with_it() {
        let (said, mut in_flight) = (Said::default(), InFlight::default());
        let (first, one) = written("one", &said);
        let (second, two) = written("two", &said);
        for pending in [one, only_seen("seen", &said), two] {
            in_flight.push(pending, START);
        }
        let lost = Stopped("the term is over".to_owned());
        first.send(Err(lost.clone())).unwrap();
        second.send(Ok(())).unwrap();
        for _ in 0..3 {
            assert_eq!(next(&mut in_flight), Some(Some(Err(lost.clone()))));
        }
        let want = ["one", "seen", "two"].map(|name| (name, Err(lost.clone().into())));
        assert_eq!(*said.lock(), want);
    }

    #[test]
    fn the_log_stands_while_records_wait_and_none_comes_through() {
        let (said, mut in_flight) = (Said::default(), InFlight::default());
        let secs = Duration::from_secs;
        in_flight.push(only_seen("seen", &said), secs(1));
        assert_eq!(in_flight.take_stood(secs(9)), secs(0), "it waits for no disk");
        let (first, one) = written("one", &said);
        let (second, two) = written("two", &said);
        in_flight.push(one, secs(9));
        in_flight.push(two, secs(10));
        assert_eq!(in_flight.take_stood(secs(12)), secs(3));
        first.send(Ok(())).unwrap();
        for _ in 0..2 {
            assert_eq!(in_flight.next(|| secs(13)).now_or_never(), Some(Some(Ok(()))));
        }
        assert_eq!(in_flight.take_stood(secs(14)), secs(4), "told once");
        assert_eq!(in_flight.take_stood(secs(14)), secs(1));
        second.send(Ok(())).unwrap();
        assert_eq!(in_flight.next(|| secs(15)).now_or_never(), Some(Some(Ok(()))));
        assert_eq!(in_flight.take_stood(secs(99)), secs(2));
        assert_eq!(in_flight.take_stood(secs(99)), secs(0));
    }
}
