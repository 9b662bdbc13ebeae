//! The ids that this broker gives to producers: blocks from the controller, handed out one by one.

use kraft::env::Boxed;
use kraft::node::Node;
use parking_lot::Mutex;
use protocol::error::ErrorCode;
use protocol::messages::AllocateProducerIdsRequest;
use std::fmt;
use std::ops::Range;

/// Asks the controller for the next block.
pub type NextBlock = dyn Fn() -> Boxed<'static, Result<Range<i64>, ErrorCode>> + Send + Sync;

/// What is left of the present block, and where the next one comes from.
pub struct ProducerIds {
    left: Mutex<Range<i64>>,
    /// Held by the one who asks; the others wait for the block that it brings.
    asking: tokio::sync::Mutex<()>,
    next_block: Box<NextBlock>,
}

impl fmt::Debug for ProducerIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProducerIds").field("left", &self.left).finish_non_exhaustive()
    }
}

impl ProducerIds {
    pub fn new(next_block: Box<NextBlock>) -> ProducerIds {
        ProducerIds { left: Mutex::default(), asking: tokio::sync::Mutex::default(), next_block }
    }

    /// Blocks from the controller that this node knows, for the broker that it registered as.
    pub fn of_node(node: Node, broker_id: i32) -> ProducerIds {
        ProducerIds::new(Box::new(move || Box::pin(allocate(node.clone(), broker_id))))
    }

    /// An id, if the block has one left.
    pub(super) fn take_now(&self) -> Option<i64> {
        self.left.lock().next()
    }

    /// An id, of a new block where the old one is used up.
    pub(super) async fn take(&self) -> Result<i64, ErrorCode> {
        let _asking = self.asking.lock().await;
        if let Some(id) = self.take_now() {
            return Ok(id);
        }
        let mut block = (self.next_block)().await?;
        let id = block.next().ok_or(ErrorCode::CoordinatorLoadInProgress)?;
        *self.left.lock() = block;
        Ok(id)
    }
}

async fn allocate(node: Node, broker_id: i32) -> Result<Range<i64>, ErrorCode> {
    // As in Apache Kafka, for a producer to try again.
    const NOT_YET: ErrorCode = ErrorCode::CoordinatorLoadInProgress;
    let broker_epoch = node.image().broker(broker_id).map(|it| it.broker_epoch);
    let request = AllocateProducerIdsRequest::default()
        .with_broker_id(broker_id.into())
        .with_broker_epoch(broker_epoch.ok_or(NOT_YET)?);
    let answer = node.ask(request).await.map_err(|_| NOT_YET)?;
    if answer.error_code != 0 {
        return Err(NOT_YET);
    }
    let start = answer.producer_id_start.0;
    Ok(start..start.saturating_add(i64::from(answer.producer_id_len)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicI64, Ordering};

    #[tokio::test]
    async fn ids_come_in_blocks_and_none_comes_twice() {
        let next = AtomicI64::new(0);
        let ids = ProducerIds::new(Box::new(move || {
            let start = next.fetch_add(3, Ordering::Relaxed);
            Box::pin(async move { Ok(start..start + 3) })
        }));
        let mut taken = Vec::new();
        for _ in 0..7 {
            taken.push(ids.take().await.unwrap());
        }
        assert_eq!(taken, [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!((ids.take_now(), ids.take_now(), ids.take_now()), (Some(7), Some(8), None));
    }

    #[tokio::test]
    async fn without_a_controller_there_is_no_id() {
        let ids = ProducerIds::new(Box::new(|| {
            Box::pin(async { Err(ErrorCode::CoordinatorLoadInProgress) })
        }));
        assert_eq!(ids.take().await, Err(ErrorCode::CoordinatorLoadInProgress));
    }
}
