//! DeleteRecords (key 21): move the start of a log forward.

use super::context::{Ctx, RequestContext};
use super::handler::Handler;
use super::hosted;
use super::named::Named;
use super::reply::{Handled, Reply, off_thread};
use crate::metadata::is_internal;
use crate::partition::Dir;
use crate::partition::upkeep::Chores;
use protocol::error::ErrorCode;
use protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use protocol::messages::delete_records_response::{
    DeleteRecordsPartitionResult, DeleteRecordsTopicResult,
};
use protocol::messages::{DeleteRecordsRequest, DeleteRecordsResponse, Versions};
use std::sync::Arc;

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
        let asked = request.topics.iter();
        let asked = asked.flat_map(|topic| topic.partitions.iter().map(move |it| (topic, it)));
        let moved: Vec<_> = asked.map(|(topic, asked)| delete(ctx, topic, asked)).collect();
        if moved.iter().all(Result::is_err) {
            return Ok(Reply::Now(respond(&request, moved).into()));
        }
        // The new starts are on disk before the answer: no restart brings the records back.
        let upkeep = Arc::clone(&ctx.upkeep);
        Ok(Reply::later(async move {
            let moved = off_thread(move || on_disk(&upkeep, moved)).await?;
            Ok(respond(&request, moved).into())
        }))
    }

    fn refuse(request: &DeleteRecordsRequest, code: ErrorCode) -> DeleteRecordsResponse {
        answer(request, || Err(code))
    }
}

/// A log's start that was moved, or why it was not.
type Moved = Result<Start, ErrorCode>;

struct Start {
    offset: i64,
    dir: Arc<Dir>,
}

fn delete(ctx: &Ctx, topic: &DeleteRecordsTopic, asked: &DeleteRecordsPartition) -> Moved {
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
    let offset =
        log.delete_records_before(before).map_err(|error| partition.unreadable(error).code)?;
    partition.wake_readers();
    Ok(Start { offset, dir: Arc::clone(&partition.dir) })
}

/// Writes the starts down; what could not be is refused, and may be asked for again. Blocks.
fn on_disk(upkeep: &Chores, moved: Vec<Moved>) -> Vec<Moved> {
    let mut written = Vec::<(Arc<Dir>, bool)>::new();
    let mut is_written = |dir: &Arc<Dir>| match written.iter().find(|(it, _)| Arc::ptr_eq(it, dir))
    {
        Some((_, is_written)) => *is_written,
        None => {
            let is_written = upkeep.write_log_starts(dir);
            written.push((Arc::clone(dir), is_written));
            is_written
        }
    };
    let mut checked = |start: Start| match is_written(&start.dir) {
        true => Ok(start),
        false => Err(ErrorCode::KafkaStorageError),
    };
    moved.into_iter().map(|start| start.and_then(&mut checked)).collect()
}

fn respond(request: &DeleteRecordsRequest, moved: Vec<Moved>) -> DeleteRecordsResponse {
    let mut moved = moved.into_iter();
    let none = ErrorCode::UnknownServerError;
    answer(request, || moved.next().unwrap_or(Err(none)).map(|start| start.offset))
}

/// Asks `start` for each start in turn.
fn answer(
    request: &DeleteRecordsRequest,
    mut start: impl FnMut() -> Result<i64, ErrorCode>,
) -> DeleteRecordsResponse {
    let mut partition = |asked: &DeleteRecordsPartition| {
        let said =
            DeleteRecordsPartitionResult::default().with_partition_index(asked.partition_index);
        match start() {
            Ok(start) => said.with_low_watermark(start),
            Err(code) => said.with_low_watermark(-1).with_error_code(code.code()),
        }
    };
    let topic = |topic: &DeleteRecordsTopic| {
        DeleteRecordsTopicResult::default()
            .with_name(topic.name.clone())
            .with_partitions(topic.partitions.iter().map(&mut partition).collect())
    };
    DeleteRecordsResponse::default().with_topics(request.topics.iter().map(topic).collect())
}
