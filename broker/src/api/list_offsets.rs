//! ListOffsets (key 2): the offset that stands for a time, or for an end of the log.

use super::context::{Ctx, RequestContext};
use super::handler::Handler;
use super::hosted;
use super::named::Named;
use super::reply::{Handled, Reply, off_thread};
use crate::partition::{Isolation, Partition};
use protocol::error::ErrorCode;
use protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use protocol::messages::list_offsets_response::{
    ListOffsetsPartitionResponse, ListOffsetsTopicResponse,
};
use protocol::messages::{ListOffsetsRequest, ListOffsetsResponse, Versions};
use std::collections::BTreeMap;
use storage::log::TimestampOffset;

pub(super) struct ListOffsets;

const LATEST: i64 = -1;
const EARLIEST: i64 = -2;
const MAX_TIMESTAMP: i64 = -3;
const EARLIEST_LOCAL: i64 = -4;
const LATEST_TIERED: i64 = -5;

/// Since which version the answer says the leader epoch.
const WITH_EPOCH: i16 = 4;

/// Who asks as a client; everybody else sees to the end of the log.
const CLIENT: i32 = -1;

impl Handler for ListOffsets {
    type Request = ListOffsetsRequest;
    const VERSIONS: Versions = Versions { min: 1, max: 10 };

    fn handle(
        ctx: &Ctx,
        _from: &RequestContext,
        request: ListOffsetsRequest,
        version: i16,
    ) -> Handled<ListOffsetsRequest> {
        if !reads_batches(&request) {
            return Ok(Reply::Now(look_up_all(ctx, &request, version).into()));
        }
        let ctx = ctx.clone();
        Ok(Reply::later(off_thread(move || look_up_all(&ctx, &request, version).into())))
    }

    fn refuse(request: &ListOffsetsRequest, code: ErrorCode) -> ListOffsetsResponse {
        answer(request, 1, |_, _| Err(code))
    }
}

/// The first version that knows a special timestamp.
fn since(timestamp: i64) -> i16 {
    match timestamp {
        LATEST | EARLIEST => 1,
        MAX_TIMESTAMP => 7,
        EARLIEST_LOCAL => 8,
        LATEST_TIERED => 9,
        _ => i16::MAX,
    }
}

/// Whether times are looked up, for which old indexes and batches are read.
fn reads_batches(request: &ListOffsetsRequest) -> bool {
    let mut asked = request.topics.iter().flat_map(|topic| &topic.partitions);
    asked.any(|asked| 0 <= asked.timestamp || asked.timestamp == MAX_TIMESTAMP)
}

fn look_up_all(ctx: &Ctx, request: &ListOffsetsRequest, version: i16) -> ListOffsetsResponse {
    let isolation = match (request.replica_id.0, request.isolation_level) {
        (CLIENT, 1) => Isolation::LastStable,
        (CLIENT, _) => Isolation::HighWatermark,
        _ => Isolation::LogEnd,
    };
    let mut times_named = BTreeMap::new();
    for topic in &request.topics {
        for asked in &topic.partitions {
            *times_named.entry((&topic.name, asked.partition_index)).or_insert(0) += 1;
        }
    }
    answer(request, version, |topic, asked| {
        if times_named.get(&(&topic.name, asked.partition_index)) != Some(&1) {
            return Err(ErrorCode::InvalidRequest);
        }
        let named = Named::Name(topic.name.as_str());
        let partition = hosted::find(ctx, named, asked.partition_index)?;
        if asked.timestamp < 0 && version < since(asked.timestamp) {
            return Err(ErrorCode::UnsupportedVersion);
        }
        look_up(&partition, asked, isolation)
    })
}

/// None: the log has nothing for that time.
fn look_up(
    partition: &Partition,
    asked: &ListOffsetsPartition,
    isolation: Isolation,
) -> Result<Option<TimestampOffset>, ErrorCode> {
    let leader_epoch = partition.leader_epoch(asked.current_leader_epoch)?;
    let log = partition.log();
    let end = partition.visible_end(isolation);
    let at = |offset, leader_epoch| TimestampOffset { timestamp: -1, offset, leader_epoch };
    let found = match asked.timestamp {
        LATEST => return Ok(Some(at(end, leader_epoch))),
        EARLIEST | EARLIEST_LOCAL => {
            return Ok(Some(at(log.log_start(), partition.first_epoch())));
        }
        // There is no second tier.
        LATEST_TIERED => return Ok(None),
        MAX_TIMESTAMP => log.max_timestamp(),
        timestamp => log.offset_for_timestamp(timestamp),
    };
    let found = found.map_err(|error| partition.unreadable(error).code)?;
    Ok(found.filter(|found| found.offset < end))
}

/// Has `look_up` find each offset that was asked for.
fn answer(
    request: &ListOffsetsRequest,
    version: i16,
    mut look_up: impl FnMut(
        &ListOffsetsTopic,
        &ListOffsetsPartition,
    ) -> Result<Option<TimestampOffset>, ErrorCode>,
) -> ListOffsetsResponse {
    let mut partition = |topic: &ListOffsetsTopic, asked: &ListOffsetsPartition| {
        let said =
            ListOffsetsPartitionResponse::default().with_partition_index(asked.partition_index);
        match look_up(topic, asked) {
            Ok(None) => said,
            Ok(Some(TimestampOffset { timestamp, offset, leader_epoch })) => {
                let said = said.with_timestamp(timestamp).with_offset(offset);
                // Older versions have no place for it.
                if version < WITH_EPOCH { said } else { said.with_leader_epoch(leader_epoch) }
            }
            Err(code) => said.with_error_code(code.code()),
        }
    };
    let topic = |topic: &ListOffsetsTopic| {
        let partitions = topic.partitions.iter().map(|asked| partition(topic, asked));
        ListOffsetsTopicResponse::default()
            .with_name(topic.name.clone())
            .with_partitions(partitions.collect())
    };
    ListOffsetsResponse::default().with_topics(request.topics.iter().map(topic).collect())
}
