//! The process, as its kernel and its clock tell of it.

use super::clients::fetch;
use super::create;
use crate::admin::http::LISTENER;
use crate::admin::watch::Move::{By, Down, To, Up};
use crate::admin::watch::{Seen, Watch};
use crate::world::{BEGINNING, Hands, World};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use storage::disk::Disk;
use storage::disk::sim::SimDisk;
use tokio::task::yield_now;

const CPU: &str = "process_cpu_seconds_total";
const IDLE: &str = "kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent";
const PROCESSORS_IDLE: &str = "kafka_network_socketserver_networkprocessoravgidle_percent";

/// A page of the kernel's.
fn tells(disk: &SimDisk, path: &str, text: &str) {
    let path = Path::new(path);
    let file = if disk.exists(path).unwrap() { disk.open(path) } else { disk.create(path) };
    file.unwrap().write_all_at(0, text.as_bytes()).unwrap();
}

/// What the kernel counts of a process.
pub(super) async fn kernel() -> Seen {
    let disk = SimDisk::default();
    for dir in ["/proc", "/proc/self", "/proc/self/fd"] {
        disk.mkdir(Path::new(dir)).unwrap();
    }
    let world = World::on(&disk, &[LISTENER]).await;
    let mut watch = Watch::new(&world);
    for scale in [1, 2] {
        tells(&disk, "/proc/self/status", &format!("Name:\tx\nVmRSS:\t   {scale} kB\n"));
        let io = format!("rchar: 9\nread_bytes: {scale}\nwrite_bytes: {scale}00\n");
        tells(&disk, "/proc/self/io", &io);
        tells(&disk, &format!("/proc/self/fd/{scale}"), "");
        let scale = f64::from(scale);
        let moves = [
            ("process_resident_memory_bytes", To(scale * 1024.0)),
            ("kafka_server_kafkaserver_linux_disk_read_bytes", To(scale)),
            ("kafka_server_kafkaserver_linux_disk_write_bytes", To(scale * 100.0)),
            ("process_open_fds", To(scale)),
        ];
        watch.saw("what the kernel tells", &moves).await;
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let workers = tokio::runtime::Handle::current().metrics().num_workers();
    let busy: Vec<_> = (0..workers).map(|_| tokio::spawn(work(Arc::clone(&is_over)))).collect();
    watch.sees("work", &[(CPU, Up), (IDLE, Down), (PROCESSORS_IDLE, Down)]).await;
    is_over.store(true, Ordering::Relaxed);
    for worker in busy {
        worker.await.unwrap();
    }
    let seen = watch.end();
    world.broker.stop().await;
    seen
}

/// Keeps a worker thread busy, and lets others have their turns.
async fn work(is_over: Arc<AtomicBool>) {
    while !is_over.load(Ordering::Relaxed) {
        let end = Instant::now() + Duration::from_millis(2);
        while Instant::now() < end {
            std::hint::spin_loop();
        }
        yield_now().await;
    }
}

/// What goes with the clock: a start, and a session that is too old to keep others out.
pub(super) async fn time() -> Seen {
    let (clock, disk) = (Hands::new(), SimDisk::default());
    let overrides = [
        LISTENER,
        "max.incremental.fetch.session.cache.slots=1",
        "broker.session.timeout.ms=3600000",
    ];
    let world = World::at(&clock, &disk, &overrides).await;
    let mut watch = Watch::new(&world);
    let started = "process_start_time_seconds";
    watch.saw("a start", &[(started, To(f64::from(BEGINNING)))]).await;
    let mut client = world.connect().await;
    create(&mut client, "t", &[]).await;
    let sessions = "kafka_server_fetchsessioncache_numincrementalfetchsessions";
    let evictions = "kafka_server_fetchsessioncache_incrementalfetchsessionevictions_total";
    let session = fetch("t", 0).with_session_epoch(0);
    assert_ne!(client.ask(&session, 12).await.session_id, 0);
    watch.saw("a session", &[(sessions, To(1.0)), (evictions, By(0.0))]).await;
    assert_eq!(client.ask(&session, 12).await.session_id, 0);
    watch.saw("no slot for another", &[(sessions, To(1.0)), (evictions, By(0.0))]).await;
    clock.move_by(121);
    assert_ne!(client.ask(&session, 12).await.session_id, 0);
    watch.saw("a session in its place", &[(sessions, To(1.0)), (evictions, By(1.0))]).await;
    let (last, mut seen) = (watch.last.clone(), watch.end());
    world.broker.stop().await;

    let world = World::at(&clock, &disk, &overrides).await;
    let mut watch = Watch::new(&world);
    let start = f64::from(BEGINNING + 121);
    assert!(last[started] < start);
    watch.saw("another start", &[(started, To(start))]).await;
    seen.add(watch.end());
    world.broker.stop().await;
    seen
}
