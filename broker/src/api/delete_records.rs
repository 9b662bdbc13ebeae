//! DeleteRecords (key 21): move the start of a log forward.

use super::context::{Ctx, RequestContext};
use super::handler::Handler;
use super::hosted;
use super::named::Named;
use super::reply::{Handled, Reply};
use crate::metadata::is_internal;
use crate::partition::upkeep::Chore;
use protocol::error::ErrorCode;
use protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use protocol::messages::delete_records_response::{
    DeleteRecordsPartitionResult, DeleteRecordsTopicResult,
};
use protocol::messages::{DeleteRecordsRequest, DeleteRecordsResponse, Versions};
use std::sync::Arc;
use tokio::task::spawn_blocking;

pub(super) struct DeleteRecords;

/// In place of an offset: all that is promised.
const HIGH_WATERMARK: i64 = -1;

impl Handler for DeleteRecords {
    type Request = DeleteRecordsRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 2 };

    fn handle(
        ctx: &Ctx,
        _from: &RequestContext,
        request: DeleteRecordsRequest,
        _version: i16,
    ) -> Handled<DeleteRecordsRequest> {
        let mut any = false;
        let message = answer(&request, |topic, asked| {
            let start = delete(ctx, topic, asked)?;
            any = true;
            Ok(start)
        });
        if !any {
            return Ok(Reply::Now(message.into()));
        }
        // The new starts are on disk before the answer: no restart brings the records back.
        let upkeep = Arc::clone(&ctx.upkeep);
        Ok(Reply::later(async move {
            let written = spawn_blocking(move || upkeep.run(Chore::LogStarts)).await;
            if written.is_err() {
                return Ok(DeleteRecords::refuse(&request, ErrorCode::KafkaStorageError).into());
            }
            Ok(message.into())
        }))
    }

    fn refuse(request: &DeleteRecordsRequest, code: ErrorCode) -> DeleteRecordsResponse {
        answer(request, |_, _| Err(code))
    }
}

/// Where the log starts afterwards.
fn delete(
    ctx: &Ctx,
    topic: &DeleteRecordsTopic,
    asked: &DeleteRecordsPartition,
) -> Result<i64, ErrorCode> {
    let name = topic.name.as_str();
    let partition = hosted::find(ctx, Named::Name(name), asked.partition_index)?;
    // Records of the brokers' own are not for users to delete.
    if is_internal(name) {
        return Err(ErrorCode::InvalidTopicException);
    }
    partition.leader_epoch(-1)?;
    let log = partition.log();
    // What compaction alone may take out has no start to move.
    if !log.config().delete {
        return Err(ErrorCode::PolicyViolation);
    }
    let watermark = log.high_watermark();
    let before = if asked.offset == HIGH_WATERMARK { watermark } else { asked.offset };
    if !(0..=watermark).contains(&before) {
        return Err(ErrorCode::OffsetOutOfRange);
    }
    let start =
        log.delete_records_before(before).map_err(|error| partition.unreadable(error).code)?;
    partition.wake_all();
    Ok(start)
}

/// Has `delete` move each start that was asked for.
fn answer(
    request: &DeleteRecordsRequest,
    mut delete: impl FnMut(&DeleteRecordsTopic, &DeleteRecordsPartition) -> Result<i64, ErrorCode>,
) -> DeleteRecordsResponse {
    let mut partition = |topic: &DeleteRecordsTopic, asked: &DeleteRecordsPartition| {
        let said =
            DeleteRecordsPartitionResult::default().with_partition_index(asked.partition_index);
        match delete(topic, asked) {
            Ok(start) => said.with_low_watermark(start),
            Err(code) => said.with_low_watermark(-1).with_error_code(code.code()),
        }
    };
    let topic = |topic: &DeleteRecordsTopic| {
        let partitions = topic.partitions.iter().map(|asked| partition(topic, asked));
        DeleteRecordsTopicResult::default()
            .with_name(topic.name.clone())
            .with_partitions(partitions.collect())
    };
    DeleteRecordsResponse::default().with_topics(request.topics.iter().map(topic).collect())
}
