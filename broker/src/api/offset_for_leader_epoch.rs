//! OffsetForLeaderEpoch (key 23): where the records of a leader end, to find out what is no more.

use super::context::{Ctx, RequestContext};
use super::handler::Handler;
use super::hosted;
use super::named::Named;
use super::reply::{Handled, Reply};
use protocol::error::ErrorCode;
use protocol::messages::offset_for_leader_epoch_request::{
    OffsetForLeaderPartition, OffsetForLeaderTopic,
};
use protocol::messages::offset_for_leader_epoch_response::{
    EpochEndOffset, OffsetForLeaderTopicResult,
};
use protocol::messages::{OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse, Versions};
use storage::log::EpochEnd;

pub(super) struct OffsetForLeaderEpoch;

impl Handler for OffsetForLeaderEpoch {
    type Request = OffsetForLeaderEpochRequest;
    const VERSIONS: Versions = Versions { min: 2, max: 4 };

    fn handle(
        ctx: &Ctx,
        _from: &RequestContext,
        request: OffsetForLeaderEpochRequest,
        _version: i16,
    ) -> Handled<OffsetForLeaderEpochRequest> {
        let message = answer(&request, |topic, asked| {
            let named = Named::Name(topic.topic.as_str());
            let partition = hosted::find(ctx, named, asked.partition)?;
            partition.leader_epoch(asked.current_leader_epoch)?;
            Ok(partition.epoch_end(asked.leader_epoch))
        });
        Ok(Reply::Now(message.into()))
    }

    fn refuse(
        request: &OffsetForLeaderEpochRequest,
        code: ErrorCode,
    ) -> OffsetForLeaderEpochResponse {
        answer(request, |_, _| Err(code))
    }
}

/// Has `look_up` find the end of each epoch that was asked for; None: there is no such epoch.
fn answer(
    request: &OffsetForLeaderEpochRequest,
    look_up: impl Fn(
        &OffsetForLeaderTopic,
        &OffsetForLeaderPartition,
    ) -> Result<Option<EpochEnd>, ErrorCode>,
) -> OffsetForLeaderEpochResponse {
    let partition = |topic: &OffsetForLeaderTopic, asked: &OffsetForLeaderPartition| {
        let said = EpochEndOffset::default().with_partition(asked.partition);
        match look_up(topic, asked) {
            Ok(None) => said,
            Ok(Some(EpochEnd { epoch, end_offset })) => {
                said.with_leader_epoch(epoch).with_end_offset(end_offset)
            }
            Err(code) => said.with_error_code(code.code()),
        }
    };
    let topic = |topic: &OffsetForLeaderTopic| {
        let partitions = topic.partitions.iter().map(|asked| partition(topic, asked));
        OffsetForLeaderTopicResult::default()
            .with_topic(topic.topic.clone())
            .with_partitions(partitions.collect())
    };
    let topics = request.topics.iter().map(topic).collect();
    OffsetForLeaderEpochResponse::default().with_topics(topics)
}
