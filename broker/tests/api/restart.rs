//! What a broker has again after it stopped, or was stopped.

use crate::broker::{Broker, batch, builder, dir_id};
use crate::fetch::{append, bases, of, said};
use crate::produce;
use broker::partition::dir::Syncs;
use broker::partition::upkeep::Chore;
use broker::reconcile::follow;
use protocol::error::ErrorCode;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use storage::disk::Disk;
use storage::disk::sim::{Fault, Operation, SimDisk};
use storage::last_stop::LastStop;
use tokio::sync::watch;
use tokio::time::{interval, timeout};

fn names(disk: &dyn Disk, dir: &str) -> Vec<String> {
    let entries = disk.list(Path::new(dir)).unwrap();
    entries.into_iter().filter(|it| it.is_dir).map(|it| it.name).collect()
}

#[test]
fn after_a_killed_process_every_record_is_there() {
    let mut broker = Broker::with_topic(3);
    broker.create("u", 1, &[]);
    for number in [0, 2] {
        append(&broker, "t", number, batch(&["a", "b"]));
    }
    append(&broker, "u", 0, builder(&["a"]).producer(7, 0, 0).build().unwrap());
    let disk = Arc::new(broker.disk.fork());
    let broker = broker.restart(disk);
    let ends: Vec<_> = (0..3).map(|it| broker.partition("t", it).log().high_watermark()).collect();
    assert_eq!(ends, [2, 0, 2]);
    assert_eq!(bases(said(&broker.ask(&of("t", 2, 0), 12))), [0]);
    append(&broker, "u", 0, builder(&["a"]).producer(7, 0, 0).build().unwrap());
    assert_eq!(broker.partition("u", 0).log().log_end(), 1, "it knows what it has");
}

#[test]
fn after_a_power_cut_a_synced_record_is_there() {
    let broker = Broker::with_topic(1);
    append(&broker, "t", 0, batch(&["a"]));
    broker.partition("t", 0).sync();
    broker.ctx.upkeep.run(Chore::RecoveryPoints);
    append(&broker, "t", 0, batch(&["b"]));
    for seed in 0..20 {
        let disk = Arc::new(broker.disk.crash(seed));
        let again = Broker::with_image(disk, broker.image.clone());
        let end = again.partition("t", 0).log().log_end();
        assert!([1, 2].contains(&end), "seed {seed}: {end}");
    }
}

/// What a start on `disk` takes the end of the process before for.
fn last_stop(broker: &Broker, disk: SimDisk) -> LastStop {
    Broker::with_image(Arc::new(disk), broker.image.clone()).ctx.dirs[0].last_stop
}

#[test]
fn a_start_relies_on_what_a_killed_process_wrote_and_not_on_what_a_crash_left() {
    let broker = Broker::with_topic(1);
    append(&broker, "t", 0, batch(&["a"]));
    assert_eq!(last_stop(&broker, broker.disk.crash(0)), LastStop::Crashed);
    assert_eq!(last_stop(&broker, broker.disk.fork()), LastStop::Killed);
    let disk = Arc::new(broker.disk.fork());
    let broker = broker.restart(disk);
    assert_eq!(last_stop(&broker, broker.disk.fork()), LastStop::Killed, "killed again");
    let disk = Arc::new(broker.disk.crash(1));
    let broker = broker.restart(disk);
    assert_eq!(last_stop(&broker, broker.disk.fork()), LastStop::Killed, "all was checked");
    broker.ctx.dirs[0].fail("a write failed");
    assert_eq!(last_stop(&broker, broker.disk.fork()), LastStop::Crashed);
}

/// Bytes that a start reads which finds three logs of many batches after kill -9.
fn read_after_kill(broker: &Broker) -> u64 {
    let disk = Arc::new(broker.disk.fork());
    drop(Broker::with_image(Arc::clone(&disk), broker.image.clone()));
    disk.bytes_read()
}

#[test]
fn after_a_kill_only_what_the_checkpoint_names_is_relied_on() {
    let broker = Broker::with_topic(3);
    let large = "v".repeat(30_000);
    for number in 0..3 {
        for _ in 0..140 {
            append(&broker, "t", number, batch(&[&large]));
        }
    }
    let unnamed = read_after_kill(&broker);
    broker.ctx.upkeep.run(Chore::Space);
    let named = read_after_kill(&broker);
    assert!(3 * 140 * 30_000 < unnamed && named < unnamed / 4, "{named} of {unnamed}");
}

#[test]
fn what_was_not_looked_at_after_a_crash_is_not_relied_on() {
    let mut broker = short_of_files(|disk| disk.crash(0));
    assert_eq!(last_stop(&broker, broker.disk.fork()), LastStop::Crashed);
    broker.reconciler.try_again();
    broker.ctx.upkeep.run(Chore::RecoveryPoints);
    assert_eq!(last_stop(&broker, broker.disk.fork()), LastStop::Killed);
}

#[test]
fn what_the_metadata_does_not_know_is_set_aside() {
    let mut broker = Broker::new();
    let id = broker.create("t", 1, &[]);
    let kept = broker.image.clone();
    broker.create("u", 1, &[]);
    append(&broker, "u", 0, batch(&["a"]));
    broker.image = kept;
    let disk = Arc::new(broker.disk.fork());
    let broker = broker.restart(disk);
    let names = names(&*broker.disk, "/data");
    assert_eq!(names.len(), 2);
    assert_eq!(names[0], "t-0");
    assert!(names[1].starts_with("u-0.") && names[1].ends_with("-stray"), "{names:?}");
    assert!(broker.ctx.partitions.topic_by_id(id).is_some());
}

#[test]
fn a_topic_made_again_does_not_get_the_records_of_the_old_one() {
    let mut broker = Broker::new();
    let old = broker.create("t", 1, &[]);
    append(&broker, "t", 0, batch(&["a"]));
    broker.delete(old);
    assert!(broker.ctx.partitions.topic("t").is_none());
    let new = broker.create("t", 1, &[]);
    assert_ne!(old, new);
    assert_eq!(broker.partition("t", 0).log().log_end(), 0);
    let mut request = of("", 0, 0);
    request.topics[0].topic_id = old.into();
    assert_eq!(said(&broker.ask(&request, 13)).error_code, ErrorCode::UnknownTopicId.code());
}

#[test]
fn a_topic_made_again_begins_at_0_wherever_the_old_one_began() {
    let mut broker = Broker::new();
    let old = broker.create("t", 1, &[]);
    append(&broker, "t", 0, batch(&["a", "b", "c"]));
    broker.partition("t", 0).log().delete_records_before(2).unwrap();
    for chore in [Chore::LogStarts, Chore::RecoveryPoints, Chore::Watermarks] {
        broker.ctx.upkeep.run(chore);
    }
    broker.delete(old);
    broker.create("t", 1, &[]);
    append(&broker, "t", 0, batch(&["d"]));
    let ends = |broker: &Broker| {
        let log = Arc::clone(broker.partition("t", 0).log());
        (log.log_start(), log.log_end())
    };
    assert_eq!(ends(&broker), (0, 1));
    let disk = Arc::new(broker.disk.fork());
    let broker = broker.restart(disk);
    assert_eq!(ends(&broker), (0, 1));
}

/// A broker that had too few files to open `t` when it started on what `left` leaves of a disk, and
/// what it should know of it.
fn short_of_files(left: impl FnOnce(&SimDisk) -> SimDisk) -> Broker {
    let broker = Broker::with_topic(1);
    append(&broker, "t", 0, batch(&["a", "b", "c"]));
    broker.partition("t", 0).log().delete_records_before(2).unwrap();
    broker.partition("t", 0).sync();
    broker.ctx.upkeep.run(Chore::LogStarts);
    broker.ctx.upkeep.run(Chore::RecoveryPoints);
    let disk = Arc::new(left(&broker.disk));
    let below = "/data/t-0/00000000000000000000.log".into();
    disk.fail(Fault { operation: Operation::Open, below, after: 0, os_error: 24 });
    let broker = broker.restart(disk);
    assert!(broker.reconciler.is_lacking());
    broker
}

#[test]
fn what_could_not_be_opened_keeps_its_place_in_the_checkpoints() {
    let mut broker = short_of_files(SimDisk::fork);
    append_to_another(&mut broker);
    for chore in [Chore::LogStarts, Chore::RecoveryPoints, Chore::Watermarks] {
        broker.ctx.upkeep.run(chore);
    }
    broker.reconciler.try_again();
    let log = Arc::clone(broker.partition("t", 0).log());
    assert_eq!((log.log_start(), log.recovery_point()), (2, 3));
}

fn append_to_another(broker: &mut Broker) {
    broker.create("u", 1, &[]);
    append(broker, "u", 0, batch(&["a", "b"]));
    broker.partition("u", 0).log().delete_records_before(1).unwrap();
}

#[test]
fn a_directory_is_called_clean_when_all_in_it_was_looked_at() {
    let clean = |broker: &Broker| broker.look_after().stop().len();
    assert_eq!(clean(&short_of_files(SimDisk::fork)), 0);
    let mut broker = short_of_files(SimDisk::fork);
    broker.reconciler.try_again();
    assert_eq!(clean(&broker), 1, "it could be opened then");
    let mut broker = short_of_files(SimDisk::fork);
    let id = broker.image.topic("t").unwrap().id;
    broker.delete(id);
    assert_eq!(clean(&broker), 1, "nobody will open it");
}

#[tokio::test(start_paused = true)]
async fn what_lacked_files_is_tried_again_however_often_the_metadata_changes() {
    let Broker { ctx, mut image, reconciler, .. } = short_of_files(SimDisk::fork);
    let (sender, receiver) = watch::channel(Arc::new(image.clone()));
    let following = tokio::spawn(follow(reconciler, receiver));
    let mut returned = ctx.partitions.returned();
    let mut every = interval(Duration::from_millis(100));
    let news = async {
        loop {
            every.tick().await;
            image.offset += 1;
            sender.send_replace(Arc::new(image.clone()));
        }
    };
    tokio::select! {
        biased;
        came = timeout(Duration::from_secs(5), returned.changed()) => came.unwrap().unwrap(),
        () = news => {}
    }
    assert_eq!(*returned.borrow(), 1);
    drop(sender);
    following.await.unwrap().unwrap();
}

#[test]
fn a_topic_may_be_made_again_although_the_old_one_could_not_be_opened() {
    let mut broker = short_of_files(SimDisk::fork);
    let old = broker.image.topic("t").unwrap().id;
    broker.delete(old);
    broker.create("t", 1, &[]);
    append(&broker, "t", 0, batch(&["d"]));
    assert_eq!(broker.partition("t", 0).log().log_start(), 0);
    let names = names(&*broker.disk, "/data");
    assert!(names.len() == 2 && names[1].ends_with("-delete"), "{names:?}");
}

#[test]
fn a_folder_of_another_topic_of_that_name_is_kept_aside() {
    let mut broker = beside_another();
    broker.create("t", 1, &[]);
    append(&broker, "t", 0, batch(&["a"]));
    let names = names(&*broker.disk, "/data");
    assert!(names.iter().any(|it| it.ends_with("-stray")), "{names:?}");
}

/// A broker without a topic, in whose directory is a folder of another `t`.
fn beside_another() -> Broker {
    let mut broker = Broker::with_topic(1);
    let old = broker.image.topic("t").unwrap().id;
    broker.delete(old);
    make_folder(&*broker.disk, "/data/t-0", &format!("version: 0\ntopic_id: {old}\n"));
    broker
}

fn make_folder(disk: &dyn Disk, path: &str, metadata: &str) {
    disk.mkdir(Path::new(path)).unwrap();
    let file = disk.create(&Path::new(path).join("partition.metadata")).unwrap();
    file.write_all_at(0, metadata.as_bytes()).unwrap();
}

#[test]
fn a_folder_that_is_kept_stays_when_what_could_not_take_its_place_is_deleted() {
    let mut broker = beside_another();
    let below = "/data/t-0".into();
    broker.disk.fail(Fault { operation: Operation::Open, below, after: 0, os_error: 24 });
    let new = broker.create("t", 1, &[]);
    assert!(broker.reconciler.is_lacking());
    broker.delete(new);
    assert!(!broker.reconciler.is_lacking());
    let names = names(&*broker.disk, "/data");
    assert_eq!(names.iter().filter(|it| *it == "t-0").count(), 1, "{names:?}");
}

#[test]
fn a_sync_of_names_that_failed_is_not_asked_again() {
    // Too many open files: nothing was tried. No space: nobody knows what is there.
    for (os_error, is_broken) in [(24, false), (28, true)] {
        let broker = Broker::with_topic(1);
        broker.disk.fail(Fault { os_error, ..Fault::eio(Operation::SyncDir) });
        for _ in 0..2 {
            broker.ctx.upkeep.run(Chore::RecoveryPoints);
            assert_eq!(broker.ctx.dirs[0].failure().is_some(), is_broken, "{os_error}");
        }
    }
}

/// Index files of the sealed segments of `t`.
fn indexes(disk: &SimDisk) -> Vec<PathBuf> {
    let mut names: Vec<_> = disk.list(Path::new("/data/t-0")).unwrap();
    names.retain(|it| it.name.ends_with("index"));
    names.into_iter().map(|it| Path::new("/data/t-0").join(it.name)).collect()
}

#[test]
fn a_full_disk_on_which_an_index_is_to_be_made_anew_has_not_failed() {
    let mut broker = Broker::new();
    broker.create("t", 1, &[("internal.segment.bytes", "1000")]);
    let value = "v".repeat(300);
    for _ in 0..9 {
        append(&broker, "t", 0, batch(&[&value]));
    }
    type Spoil = fn(&SimDisk, &Path);
    let spoil: [Spoil; 3] = [
        |disk, path| disk.remove(path).unwrap(),
        |disk, path| disk.open(path).unwrap().truncate(3).unwrap(),
        |disk, path| disk.open(path).unwrap().write_all_at(0, &[0; 24]).unwrap(),
    ];
    let left: [fn(&Broker) -> SimDisk; 3] = [
        |broker| broker.disk.fork(),
        |broker| {
            let disk = broker.disk.fork();
            disk.remove(Path::new("/data/.highwater_running")).unwrap();
            disk
        },
        |broker| {
            let again = Broker::with_image(Arc::new(broker.disk.fork()), broker.image.clone());
            for dir in again.look_after().stop() {
                dir.log_dir().unwrap().mark_clean_shutdown(3).unwrap();
            }
            again.disk.fork()
        },
    ];
    for (stop, left) in left.iter().enumerate() {
        for (how, spoil) in spoil.iter().enumerate() {
            let disk = left(&broker);
            indexes(&disk).iter().for_each(|path| spoil(&disk, path));
            disk.set_capacity(u64::MAX - disk.free_bytes(Path::new("/")).unwrap());
            let mut again = Broker::with_image(Arc::new(disk), broker.image.clone());
            let read = |broker: &Broker| -> Vec<i16> {
                let code = |offset| said(&broker.ask_slowly(&of("t", 0, offset), 12)).error_code;
                (0..9).map(code).collect()
            };
            let answers = read(&again);
            assert_eq!(again.ctx.dirs[0].failure(), None, "{stop} {how}");
            let expected = [0, ErrorCode::KafkaStorageError.code()];
            assert!(answers.iter().all(|code| expected.contains(code)), "{answers:?}");
            again.disk.set_capacity(u64::MAX);
            again.reconciler.try_again();
            assert!(read(&again).iter().all(|code| *code == 0), "{stop} {how}");
            assert_eq!(again.ctx.dirs[0].failure(), None);
        }
    }
}

#[test]
fn what_nobody_can_tell_the_topic_of_is_offline_and_left_alone() {
    let broker = Broker::with_topic(1);
    append(&broker, "t", 0, batch(&["a"]));
    let disk = broker.disk.fork();
    let path = Path::new("/data/t-0/partition.metadata");
    disk.open(path).unwrap().write_all_at(0, b"nonsense").unwrap();
    let broker = broker.restart(Arc::new(disk));
    let response = broker.ask(&produce::to("t", 0, 1, batch(&["b"])), 9);
    let said = &response.responses[0].partition_responses[0];
    assert_eq!(said.error_code, ErrorCode::KafkaStorageError.code());
    let why = said.error_message.as_ref().unwrap();
    assert!(why.contains("/data/t-0/partition.metadata"), "{why}");
    assert_eq!(names(&*broker.disk, "/data"), ["t-0"]);
    assert!(broker.look_after().stop().is_empty(), "nobody has looked at it");
}

/// Has the broker lead `t` in the next epoch, and asks it to append.
#[track_caller]
fn stays_offline_when_elected(broker: &mut Broker, why: &str) {
    let id = broker.image.topic("t").unwrap().id;
    broker.elect(id, 0);
    let response = broker.ask(&produce::to("t", 0, 1, batch(&["b"])), 9);
    let said = &response.responses[0].partition_responses[0];
    assert_eq!(said.error_code, ErrorCode::KafkaStorageError.code());
    let message = said.error_message.as_ref().unwrap();
    assert!(message.contains(why), "{message}");
}

#[test]
fn what_is_left_alone_stays_so_when_this_broker_is_to_lead_it() {
    let broker = Broker::with_topic(1);
    append(&broker, "t", 0, batch(&["a"]));
    let disk = broker.disk.fork();
    let path = Path::new("/data/t-0/partition.metadata");
    disk.open(path).unwrap().write_all_at(0, b"nonsense").unwrap();
    let mut broker = broker.restart(Arc::new(disk));
    stays_offline_when_elected(&mut broker, "/data/t-0/partition.metadata");
    assert_eq!(names(&*broker.disk, "/data"), ["t-0"]);
    // Who deletes it, and makes another of its name, finds the old one kept.
    let id = broker.image.topic("t").unwrap().id;
    broker.delete(id);
    broker.create("t", 1, &[]);
    append(&broker, "t", 0, batch(&["c"]));
    let names = names(&*broker.disk, "/data");
    assert!(names.iter().any(|it| it.ends_with("-stray")), "{names:?}");
}

/// There is a record in `t-0` of `/a`, which cannot be listed at the start.
fn one_of_two_directories_failed() -> Broker {
    let mut broker = Broker::with_dirs(Arc::default(), &["/a", "/b"], &[]);
    broker.create("t", 1, &[]);
    append(&broker, "t", 0, batch(&["a"]));
    let disk = broker.disk.fork();
    disk.fail(Fault { below: "/a".into(), ..Fault::eio(Operation::List) });
    broker.restart(Arc::new(disk))
}

#[test]
fn what_lies_in_a_directory_that_failed_stays_there_when_this_broker_is_to_lead_it() {
    let mut broker = one_of_two_directories_failed();
    stays_offline_when_elected(&mut broker, "/a is offline");
    assert_eq!(names(&*broker.disk, "/b"), Vec::<String>::new());
}

#[test]
fn what_lacks_files_is_opened_where_it_lies_when_this_broker_is_to_lead_it() {
    let mut broker = Broker::with_dirs(Arc::default(), &["/a", "/b"], &[]);
    broker.create("t", 2, &[]);
    append(&broker, "t", 0, batch(&["a"]));
    let disk = broker.disk.fork();
    let below = "/a/t-0/00000000000000000000.log".into();
    disk.fail(Fault { operation: Operation::Open, below, after: 0, os_error: 24 });
    let mut broker = broker.restart(Arc::new(disk));
    stays_offline_when_elected(&mut broker, "Too many open files");
    broker.reconciler.try_again();
    assert_eq!(broker.partition("t", 0).log().log_end(), 1);
    assert_eq!(names(&*broker.disk, "/b"), ["t-1"]);
}

#[test]
fn what_could_not_be_read_at_first_is_left_alone_if_nobody_can_tell_whose_it_is() {
    let broker = Broker::with_topic(1);
    append(&broker, "t", 0, batch(&["a"]));
    let disk = broker.disk.fork();
    let path = Path::new("/data/t-0/partition.metadata");
    disk.open(path).unwrap().write_all_at(0, b"nonsense").unwrap();
    disk.fail(Fault { operation: Operation::Open, below: path.into(), after: 0, os_error: 24 });
    let mut broker = broker.restart(Arc::new(disk));
    broker.reconciler.try_again();
    stays_offline_when_elected(&mut broker, "/data/t-0/partition.metadata");
    assert_eq!(names(&*broker.disk, "/data"), ["t-0"]);
}

#[test]
fn of_two_folders_the_one_where_the_metadata_has_it_counts() {
    let mut broker = Broker::with_dirs(Arc::default(), &["/a", "/b"], &[]);
    let id = broker.create_in("t", 1, &[], dir_id(1));
    append(&broker, "t", 0, batch(&["a"]));
    let disk = broker.disk.fork();
    make_folder(&disk, "/a/t-0", &format!("version: 0\ntopic_id: {id}\n"));
    let broker = broker.restart(Arc::new(disk));
    assert_eq!(broker.partition("t", 0).log().log_end(), 1);
    let aside = names(&*broker.disk, "/a");
    assert!(aside.len() == 1 && aside[0].ends_with("-stray"), "{aside:?}");
}

#[test]
fn of_two_folders_that_the_metadata_does_not_tell_apart_the_whole_one_counts() {
    let mut broker = Broker::with_dirs(Arc::default(), &["/a", "/b"], &[]);
    broker.create("u", 1, &[]);
    broker.create("t", 1, &[]);
    append(&broker, "t", 0, batch(&["a"]));
    assert_eq!(names(&*broker.disk, "/b"), ["t-0"]);
    let disk = broker.disk.fork();
    make_folder(&disk, "/a/t-0", "rot");
    let broker = broker.restart(Arc::new(disk));
    assert_eq!(broker.partition("t", 0).log().log_end(), 1);
    assert_eq!(names(&*broker.disk, "/b"), ["t-0"]);
}

#[test]
fn what_may_lie_in_a_directory_that_failed_is_not_made_anew_in_another() {
    let mut broker = one_of_two_directories_failed();
    let response = broker.ask(&produce::to("t", 0, 1, batch(&["b"])), 9);
    let said = &response.responses[0].partition_responses[0];
    assert_eq!(said.error_code, ErrorCode::KafkaStorageError.code());
    assert!(said.error_message.as_ref().unwrap().contains("/a is offline"));
    assert_eq!(names(&*broker.disk, "/b"), Vec::<String>::new());
    broker.create("u", 1, &[]);
    append(&broker, "u", 0, batch(&["b"]));
}

#[test]
fn a_new_topic_has_no_checkpoint_read_that_does_not_name_it() {
    let mut broker = Broker::with_topic(1);
    for chore in [Chore::LogStarts, Chore::RecoveryPoints, Chore::Watermarks] {
        broker.ctx.upkeep.run(chore);
    }
    let before = broker.disk.count(Operation::Read);
    broker.create("u", 3, &[]);
    assert_eq!(broker.disk.count(Operation::Read), before);
}

#[test]
fn many_partitions_of_a_topic_cost_the_syncs_of_one() {
    let mut broker = Broker::new();
    let syncs = |broker: &Broker| {
        [Operation::Sync, Operation::SyncDir].map(|operation| broker.disk.count(operation))
    };
    for count in [1, 50] {
        let before = syncs(&broker);
        let id = broker.create("t", count, &[]);
        broker.delete(id);
        let cost = [0, 1].map(|it| syncs(&broker)[it] - before[it]);
        assert_eq!(cost, [0, 2], "the names of what was made, and of what was renamed");
    }
}

#[test]
fn a_deleted_topic_leaves_the_disk_after_the_delay() {
    let mut broker = Broker::new();
    let id = broker.create("t", 2, &[("file.delete.delay.ms", "5000")]);
    append(&broker, "t", 0, batch(&["a"]));
    broker.delete(id);
    let aside = names(&*broker.disk, "/data");
    assert!(aside.len() == 2 && aside.iter().all(|it| it.ends_with("-delete")), "{aside:?}");
    broker.clock.pass(4999);
    broker.ctx.upkeep.run(Chore::Unlink);
    assert_eq!(names(&*broker.disk, "/data").len(), 2);
    broker.clock.pass(1);
    broker.ctx.upkeep.run(Chore::Unlink);
    assert_eq!(names(&*broker.disk, "/data"), Vec::<String>::new());
}

#[test]
fn retention_lets_go_of_what_is_too_old() {
    let mut broker = Broker::new();
    broker.create("t", 1, &[("retention.ms", "60000"), ("file.delete.delay.ms", "0")]);
    append(&broker, "t", 0, batch(&["a"]));
    broker.clock.pass(61_000);
    broker.ctx.upkeep.run(Chore::Retention);
    let log = Arc::clone(broker.partition("t", 0).log());
    assert_eq!((log.log_start(), log.log_end()), (1, 1));
    broker.ctx.upkeep.run(Chore::Unlink);
    let files = broker.disk.list(Path::new("/data/t-0")).unwrap();
    assert!(files.iter().all(|it| !it.name.ends_with(".deleted")), "{files:?}");
    let disk = Arc::new(broker.disk.fork());
    let broker = broker.restart(disk);
    assert_eq!(broker.partition("t", 0).log().log_start(), 1);
}

#[test]
fn a_new_config_is_in_force_at_once() {
    let mut broker = Broker::with_topic(1);
    assert!(!broker.partition("t", 0).log().config().is_durable());
    broker.configure("t", "flush.messages", "1");
    assert!(broker.partition("t", 0).log().config().is_durable());
}

#[test]
fn a_clean_stop_leaves_nothing_to_check() {
    let broker = Broker::with_topic(2);
    append(&broker, "t", 0, batch(&["a", "b"]));
    let upkeep = broker.look_after();
    for dir in upkeep.stop() {
        dir.log_dir().unwrap().mark_clean_shutdown(3).unwrap();
    }
    for seed in 0..5 {
        let disk = Arc::new(broker.disk.crash(seed));
        let again = Broker::with_image(disk, broker.image.clone());
        assert_eq!(again.ctx.dirs[0].last_stop, LastStop::Clean);
        assert_eq!(bases(said(&again.ask(&of("t", 0, 0), 12))), [0], "seed {seed}");
    }
}
