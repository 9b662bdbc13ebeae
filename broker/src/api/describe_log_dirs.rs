//! DescribeLogDirs (key 35): what lies where, how large it is, and which directories fail.

use super::context::{Ctx, RequestContext};
use super::handler::Handler;
use super::reply::{Handled, Reply, off_thread};
use crate::partition::{Dir, Place, Topic};
use protocol::error::ErrorCode;
use protocol::messages::describe_log_dirs_response::{
    DescribeLogDirsPartition, DescribeLogDirsResult, DescribeLogDirsTopic,
};
use protocol::messages::{DescribeLogDirsRequest, DescribeLogDirsResponse, StrBytes, Versions};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(super) struct DescribeLogDirs;

/// The partitions that were asked about, by topic; None: all.
type Wanted<'a> = Option<BTreeMap<&'a str, BTreeSet<i32>>>;

impl Handler for DescribeLogDirs {
    type Request = DescribeLogDirsRequest;
    const VERSIONS: Versions = Versions { min: 1, max: 4 };

    fn handle(
        ctx: &Ctx,
        _from: &RequestContext,
        request: DescribeLogDirsRequest,
        version: i16,
    ) -> Handled<DescribeLogDirsRequest> {
        // How large they are only their file systems know.
        let ctx = ctx.clone();
        Ok(Reply::later(off_thread(move || describe_all(&ctx, &request, version).into())))
    }

    fn refuse(_request: &DescribeLogDirsRequest, code: ErrorCode) -> DescribeLogDirsResponse {
        DescribeLogDirsResponse::default().with_error_code(code.code())
    }
}

fn describe_all(
    ctx: &Ctx,
    request: &DescribeLogDirsRequest,
    version: i16,
) -> DescribeLogDirsResponse {
    let wanted: Wanted<'_> = request.topics.as_ref().map(|topics| {
        let mut wanted = BTreeMap::<_, BTreeSet<i32>>::new();
        for topic in topics {
            wanted.entry(topic.topic.as_str()).or_default().extend(&topic.partitions);
        }
        wanted
    });
    let topics = ctx.partitions.topics();
    let results = ctx.dirs.iter().map(|dir| describe(dir, &topics, &wanted, version));
    DescribeLogDirsResponse::default().with_results(results.collect())
}

fn describe(
    dir: &Arc<Dir>,
    topics: &[Arc<Topic>],
    wanted: &Wanted<'_>,
    version: i16,
) -> DescribeLogDirsResult {
    let path = StrBytes::from_string(dir.path.display().to_string());
    let said = DescribeLogDirsResult::default().with_log_dir(path);
    if dir.failure().is_some() {
        return said.with_error_code(ErrorCode::KafkaStorageError.code());
    }
    let said = said.with_topics(topics.iter().filter_map(|it| lying(it, dir, wanted)).collect());
    if version < 4 {
        return said;
    }
    let bytes = |asked: std::io::Result<u64>| {
        asked.map_or(-1, |bytes| i64::try_from(bytes).unwrap_or(i64::MAX))
    };
    said.with_total_bytes(bytes(dir.disk.total_bytes(&dir.path)))
        .with_usable_bytes(bytes(dir.disk.free_bytes(&dir.path)))
}

/// What of a topic lies in `dir`; None: nothing that was asked about.
fn lying(topic: &Topic, dir: &Arc<Dir>, wanted: &Wanted<'_>) -> Option<DescribeLogDirsTopic> {
    let is_wanted = |number: i32| match wanted {
        None => true,
        Some(wanted) => {
            wanted.get(topic.name.as_str()).is_some_and(|numbers| numbers.contains(&number))
        }
    };
    let size = |(number, place): (i32, &Place)| {
        let partition = place.open().filter(|it| Arc::ptr_eq(&it.dir, dir) && is_wanted(number))?;
        let log = partition.log();
        let lag = log.high_watermark().saturating_sub(log.log_end()).max(0);
        let said = DescribeLogDirsPartition::default()
            .with_partition_index(number)
            .with_partition_size(i64::try_from(log.size_bytes()).unwrap_or(i64::MAX))
            .with_offset_lag(lag);
        Some(said)
    };
    let partitions: Vec<_> = topic.partitions().filter_map(size).collect();
    let some = !partitions.is_empty();
    some.then(|| {
        DescribeLogDirsTopic::default()
            .with_name(topic.name.to_message())
            .with_partitions(partitions)
    })
}
