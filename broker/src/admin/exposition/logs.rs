//! Logs: their sizes and offsets, and how long syncs take.

use super::family::{Family, gauge, summary};

pub(super) const FAMILIES: &[Family] = &[
    gauge(
        "kafka_log_log_size",
        "topic partition",
        "kafka.log:type=Log,name=Size Value",
        "Bytes of a partition's segments.",
        |shot, out| shot.each(out, |it| Some(it.open.as_ref()?.log().size_bytes())),
    ),
    gauge(
        "kafka_log_log_logstartoffset",
        "topic partition",
        "kafka.log:type=Log,name=LogStartOffset Value",
        "The first offset of a partition.",
        |shot, out| shot.each(out, |it| Some(it.open.as_ref()?.log().log_start())),
    ),
    gauge(
        "kafka_log_log_logendoffset",
        "topic partition",
        "kafka.log:type=Log,name=LogEndOffset Value",
        "The offset of a partition's next record.",
        |shot, out| shot.each(out, |it| Some(it.open.as_ref()?.log().log_end())),
    ),
    gauge(
        "kafka_log_log_numlogsegments",
        "topic partition",
        "kafka.log:type=Log,name=NumLogSegments Value",
        "Segments of a partition.",
        |shot, out| shot.each(out, |it| Some(it.open.as_ref()?.log().segment_count())),
    ),
    summary(
        "kafka_log_logflushstats_logflushrateandtimems",
        "quantile",
        "kafka.log:type=LogFlushStats,name=LogFlushRateAndTimeMs",
        "Milliseconds that a sync of a log took, over the last minutes.",
        |shot, out| out.timed(shot.ctx.dirs.iter().map(|dir| &dir.syncs)),
    ),
    gauge(
        "kafka_log_logmanager_offlinelogdirectorycount",
        "",
        "kafka.log:type=LogManager,name=OfflineLogDirectoryCount Value",
        "Log directories that have failed.",
        |shot, out| {
            let failed = shot.ctx.dirs.iter().filter(|dir| dir.failure().is_some());
            out.one(failed.count());
        },
    ),
];
