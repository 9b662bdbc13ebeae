//! AllocateProducerIds: a broker asks for a block of ids to give to idempotent producers.

use super::broker_heartbeat::registered;
use super::decision::{Decide, Decision, Now};
use super::state::State;
use crate::image::Image;
use crate::record::{ProducerIdsRecord, Record};
use protocol::error::ErrorCode;
use protocol::messages::{AllocateProducerIdsRequest, AllocateProducerIdsResponse, ProducerId};

/// Ids in a block.
pub const PRODUCER_ID_BLOCK_LEN: i32 = 1000;

impl Decide for AllocateProducerIdsRequest {
    fn decide(
        self,
        image: &Image,
        _: &mut State,
        _: &Now<'_>,
    ) -> Decision<AllocateProducerIdsResponse> {
        let refuse = |code: ErrorCode| {
            Decision::answer(AllocateProducerIdsResponse::default().with_error_code(code.code()))
        };
        if let Err(refusal) = registered(image, self.broker_id.0, self.broker_epoch) {
            return refuse(refusal.code);
        }
        let start = image.next_producer_id();
        let Some(next_producer_id) = start.checked_add(i64::from(PRODUCER_ID_BLOCK_LEN)) else {
            // At a million blocks a second, in three hundred years.
            return refuse(ErrorCode::UnknownServerError);
        };
        let record = ProducerIdsRecord {
            broker_id: self.broker_id.0,
            broker_epoch: self.broker_epoch,
            next_producer_id,
            ..ProducerIdsRecord::default()
        };
        let response = AllocateProducerIdsResponse::default()
            .with_producer_id_start(ProducerId(start))
            .with_producer_id_len(PRODUCER_ID_BLOCK_LEN);
        Decision::append(vec![Record::from(record)], response)
    }
}
