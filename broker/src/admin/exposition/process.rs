//! The process, as the kernel sees it.

use super::family::{Family, Kind, of_process};
use super::samples::Samples;
use super::scene::Scene;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use std::path::Path;
use std::time::Duration;

/// Bytes that went to or came from a device.
fn device(scene: &Scene, samples: &mut Samples, what: &str) {
    let page = scene.of_kernel("/proc/self/io");
    if let Some(bytes) = page.as_deref().and_then(|page| number(page, what)) {
        samples.one(bytes);
    }
}

/// The number behind `name` in a page of such lines.
fn number(page: &str, name: &str) -> Option<u64> {
    let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}

pub(super) const FAMILIES: &[Family] = &[
    of_process(
        "kafka_server_kafkaserver_linux_disk_read_bytes",
        Kind::Gauge,
        "kafka.server:type=KafkaServer,name=linux-disk-read-bytes Value",
        "Bytes that this process had read from a device.",
        |scene, out| device(scene, out, "read_bytes"),
    ),
    of_process(
        "kafka_server_kafkaserver_linux_disk_write_bytes",
        Kind::Gauge,
        "kafka.server:type=KafkaServer,name=linux-disk-write-bytes Value",
        "Bytes that this process had written to a device.",
        |scene, out| device(scene, out, "write_bytes"),
    ),
    of_process(
        "process_cpu_seconds_total",
        Kind::Counter,
        "",
        "Seconds of a core that the process has used.",
        |_, out| {
            let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return };
            let micros =
                usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
            let used = Duration::from_micros(u64::try_from(micros).unwrap_or(0));
            out.one(used.as_secs_f64());
        },
    ),
    of_process(
        "process_resident_memory_bytes",
        Kind::Gauge,
        "",
        "Bytes of memory that the process holds.",
        |scene, out| {
            let page = scene.of_kernel("/proc/self/status");
            if let Some(kib) = page.as_deref().and_then(|page| number(page, "VmRSS")) {
                out.one(kib * 1024);
            }
        },
    ),
    of_process(
        "process_open_fds",
        Kind::Gauge,
        "",
        "Files and sockets that are open.",
        |scene, out| {
            if let Ok(open) = scene.disk.list(Path::new("/proc/self/fd")) {
                out.one(open.len());
            }
        },
    ),
    of_process(
        "process_start_time_seconds",
        Kind::Gauge,
        "",
        "When the broker began to start, in seconds since 1970.",
        |scene, out| {
            let started = Duration::from_millis(u64::try_from(scene.started_ms).unwrap_or(0));
            out.one(started.as_secs_f64());
        },
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_the_kernel_are_read_by_their_names() {
        let page = "rchar: 1\nread_bytes: 4096\ncancelled_write_bytes: 7\nVmRSS:\t  12 kB\n";
        assert_eq!(number(page, "read_bytes"), Some(4096));
        assert_eq!(number(page, "VmRSS"), Some(12));
        assert_eq!(number(page, "write_bytes"), None);
    }
}
