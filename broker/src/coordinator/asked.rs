//! Asked: a reply that is there already, or that comes.

use protocol::error::ErrorCode;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

type Outcome<R> = Result<R, ErrorCode>;

/// What a coordinator was asked.
#[derive(Debug)]
#[must_use = "a client waits for the reply"]
pub enum Asked<R> {
    Now(Outcome<R>),
    Later(Later<R>),
}

/// A reply that others must bring about, or the replicas.
#[derive(Debug)]
pub struct Later<R>(oneshot::Receiver<Outcome<R>>);

impl<R> Asked<R> {
    pub(super) fn new(mut reply: oneshot::Receiver<Outcome<R>>) -> Asked<R> {
        match reply.try_recv() {
            Ok(outcome) => Asked::Now(outcome),
            Err(TryRecvError::Empty) => Asked::Later(Later(reply)),
            Err(TryRecvError::Closed) => Asked::Now(Err(ErrorCode::NotCoordinator)),
        }
    }

    pub async fn reply(self) -> Outcome<R> {
        match self {
            Asked::Now(outcome) => outcome,
            Asked::Later(later) => later.reply().await,
        }
    }
}

impl<R> Later<R> {
    /// A shard that goes drops what its clients wait for.
    pub async fn reply(self) -> Outcome<R> {
        self.0.await.unwrap_or(Err(ErrorCode::NotCoordinator))
    }
}
