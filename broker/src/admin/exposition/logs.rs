//! Logs: their sizes and offsets, and how long syncs take.

use super::family::{Family, Kind, Read, Samples};
use super::scene::Shot;
use crate::metrics::histogram::Counts;
use storage::log::Log;

const fn of_log(name: &'static str, mbean: &'static str, help: &'static str, read: Read) -> Family {
    Family { name, kind: Kind::Gauge, labels: "topic partition", mbean, help, read }
}

fn each<T: std::fmt::Display>(shot: &Shot, samples: &mut Samples, of: fn(&Log) -> T) {
    for topic in &shot.hosted {
        for (number, place) in topic.partitions() {
            let Some(partition) = place.open() else { continue };
            samples.put(&[("topic", &topic.name), ("partition", &number)], of(partition.log()));
        }
    }
}

pub(super) const FAMILIES: &[Family] = &[
    of_log(
        "kafka_log_log_size",
        "kafka.log:type=Log,name=Size Value",
        "Bytes of a partition's segments.",
        Read::Broker(|shot, out| each(shot, out, Log::size_bytes)),
    ),
    of_log(
        "kafka_log_log_logstartoffset",
        "kafka.log:type=Log,name=LogStartOffset Value",
        "The first offset of a partition.",
        Read::Broker(|shot, out| each(shot, out, Log::log_start)),
    ),
    of_log(
        "kafka_log_log_logendoffset",
        "kafka.log:type=Log,name=LogEndOffset Value",
        "The offset of a partition's next record.",
        Read::Broker(|shot, out| each(shot, out, Log::log_end)),
    ),
    of_log(
        "kafka_log_log_numlogsegments",
        "kafka.log:type=Log,name=NumLogSegments Value",
        "Segments of a partition.",
        Read::Broker(|shot, out| each(shot, out, Log::segment_count)),
    ),
    Family {
        name: "kafka_log_logflushstats_logflushrateandtimems",
        kind: Kind::Summary,
        labels: "quantile",
        mbean: "kafka.log:type=LogFlushStats,name=LogFlushRateAndTimeMs",
        help: "Milliseconds that a sync of a log took, since the start.",
        read: Read::Broker(|shot, out| {
            let mut counts = Counts::default();
            shot.ctx.dirs.iter().for_each(|dir| counts.add(&dir.syncs));
            for (name, share) in [
                ("0.50", 0.5),
                ("0.75", 0.75),
                ("0.95", 0.95),
                ("0.98", 0.98),
                ("0.99", 0.99),
                ("0.999", 0.999),
            ] {
                out.quantile(&[], name, counts.quantile_ms(share));
            }
            out.count(&[], counts.count());
        }),
    },
    Family {
        name: "kafka_log_logmanager_offlinelogdirectorycount",
        kind: Kind::Gauge,
        labels: "",
        mbean: "kafka.log:type=LogManager,name=OfflineLogDirectoryCount Value",
        help: "Log directories that have failed.",
        read: Read::Broker(|shot, out| {
            let failed = shot.ctx.dirs.iter().filter(|dir| dir.failure().is_some());
            out.put(&[], failed.count());
        }),
    },
];
