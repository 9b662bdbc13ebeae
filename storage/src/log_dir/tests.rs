//! A log directory is taken by its owner alone, and only if it is one.

use super::*;
use crate::disk::sim::{Operation, SimDisk};
use proptest::prelude::*;

const DIR: &str = "/data";

fn dir() -> &'static Path {
    Path::new(DIR)
}

fn id(number: u64) -> Uuid {
    Uuid::from_random(number, number)
}

fn meta() -> MetaProperties {
    MetaProperties::new("cluster", 1, id(1))
}

fn format(disk: &SimDisk, path: &Path, meta: MetaProperties) -> Result<LogDir, OpenError> {
    Claim::take(Arc::new(disk.clone()), path)?.format(meta)
}

fn open(disk: &SimDisk) -> Result<LogDir, OpenError> {
    LogDir::open(Arc::new(disk.clone()), dir())
}

fn holding(text: &str) -> SimDisk {
    let disk = SimDisk::default();
    disk.mkdir(dir()).unwrap();
    disk.create(&dir().join(meta::NAME)).unwrap().write_all_at(0, text.as_bytes()).unwrap();
    disk
}

#[test]
fn a_fresh_directory_is_formatted_once_and_held_by_one() {
    let disk = SimDisk::default();
    assert_eq!(look(&disk, dir()).unwrap(), Found::Empty);
    assert!(matches!(open(&disk), Err(OpenError::NotFormatted { .. })));
    let held = format(&disk, dir(), meta()).unwrap();
    assert!(matches!(open(&disk), Err(OpenError::Held { .. })));
    assert_eq!(look(&disk, dir()).unwrap(), Found::Formatted(meta()), "looking needs no lock");
    drop(held);
    assert!(matches!(format(&disk, dir(), meta()), Err(OpenError::Formatted { .. })));
    let opened = open(&disk.crash(3)).unwrap();
    assert_eq!((opened.meta(), opened.id()), (meta(), Some(id(1))));
}

#[test]
fn what_holds_anything_is_not_formatted_and_not_touched() {
    let make = |names: &[&str]| {
        let disk = SimDisk::default();
        for name in names {
            let path = dir().join(name);
            match name.strip_suffix('/') {
                Some(_) => disk::mkdir_all(&disk, &path).unwrap(),
                None => {
                    disk::mkdir_all(&disk, path.parent().unwrap()).unwrap();
                    disk.create(&path).unwrap();
                }
            }
        }
        disk
    };
    let snapshot = "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint";
    for names in [
        &["lost+found/"][..],
        &[".lock", "meta.properties.tmp", ".user_scripts_initialized"],
        &["__cluster_metadata-0/"],
        &[snapshot],
        &[snapshot, "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint.part"],
    ] {
        format(&make(names), dir(), meta()).unwrap();
    }
    for (names, found) in [
        (&["letter.txt"][..], "letter.txt"),
        (&["t-0/"], "t-0"),
        (&["lost+found"], "lost+found"), // A file, not the file system's folder.
        (&[".kafka_cleanshutdown"], ".kafka_cleanshutdown"),
        (&["__cluster_metadata-0/00000000000000000000.log"], "__cluster_metadata-0"),
    ] {
        let disk = make(names);
        match format(&disk, dir(), meta()) {
            Err(OpenError::Foreign { found: name, .. }) => assert_eq!(name, found),
            other => panic!("{names:?}: {other:?}"),
        }
        assert!(!disk.exists(&dir().join(LOCK)).unwrap(), "not even a lock");
    }
}

#[test]
fn an_interrupted_format_can_be_repeated() {
    for n in 0..12 {
        let disk = SimDisk::new(n);
        disk.crash_at(n);
        let done = format(&disk, dir(), meta()).is_ok();
        for seed in 0..20 {
            let left = disk.crash(seed);
            match look(&left, dir()).unwrap() {
                Found::Empty => assert!(!done),
                Found::Formatted(found) => assert_eq!(found, meta()),
                Found::Foreign(name) => panic!("{n} {seed}: {name}"),
            }
        }
    }
}

#[test]
fn another_clusters_or_nodes_directory_is_refused() {
    let disk = SimDisk::default();
    let first = format(&disk, Path::new("/a"), meta()).unwrap();
    first.expect(None, 1).unwrap();
    first.expect(Some("cluster"), 1).unwrap();
    let said = |result: Result<(), OpenError>| result.unwrap_err().to_string();
    assert_eq!(
        said(first.expect(Some("other"), 1)),
        "/a belongs to cluster 'cluster', not 'other': set log.dirs to this cluster's directory."
    );
    assert_eq!(
        said(first.expect(None, 2)),
        "/a belongs to node 1, but node.id is 2: set node.id to 1, or log.dirs to this node's \
         directory."
    );
}

#[test]
fn meta_properties_are_kafkas_in_both_versions() {
    let kafka = "#\n#Sun Nov 29 17:45:12 UTC 2026\ncluster.id=Mk3OEYBSD34fcwNTJENDM2Qg\n\
                 directory.id=AAAAAAAAQACAAAAAAAAAAQ\nnode.id=1\nversion=1\n";
    let read = open(&holding(kafka)).unwrap().meta();
    let text = read.to_text();
    assert_eq!(text, kafka.lines().skip(2).map(|line| format!("{line}\n")).collect::<String>());
    assert_eq!(MetaProperties::parse(text.as_bytes()).unwrap(), read);

    let old = open(&holding("version=0\nbroker.id=7\nx\\ y = a\\u00e9\n")).unwrap();
    assert_eq!((old.meta().node_id, old.meta().cluster_id, old.id()), (7, None, None));
    old.expect(Some("any"), 7).unwrap();
    old.upgrade("cluster", id(9)).unwrap();
    let want = format!(
        "cluster.id=cluster\ndirectory.id={}\nnode.id=7\nversion=1\nx\\ y=a\\u00E9\n",
        id(9)
    );
    assert_eq!(old.meta().to_text(), want, "unknown keys stay");
    assert_eq!(look(&**old.disk(), dir()).unwrap(), Found::Formatted(old.meta()));
}

#[test]
fn hostile_meta_properties_are_refused_with_their_reason() {
    for (text, reason) in [
        ("", "it has no version"),
        ("version=2\n", "version '2' is not 0 or 1"),
        ("version=1\nbroker.id=1\ncluster.id=c\n", "it has no node.id"),
        ("version=1\nnode.id=-1\ncluster.id=c\n", "node.id '-1' is no node's id"),
        ("version=1\nnode.id=99999999999\n", "node.id '99999999999' is no node's id"),
        ("version=1\nnode.id=1\n", "it has no cluster.id"),
        (
            "version=1\nnode.id=1\ncluster.id=c\ndirectory.id=x\n",
            "directory.id 'x' is no directory's id",
        ),
        (
            "version=1\nnode.id=1\ncluster.id=c\ndirectory.id=AAAAAAAAAAAAAAAAAAAAAA\n",
            "directory.id 'AAAAAAAAAAAAAAAAAAAAAA' is no directory's id",
        ),
        ("version=\\u00\n", "line 1: `\\u` wants four hex digits behind it"),
    ] {
        let disk = holding(text);
        match open(&disk) {
            Err(OpenError::Malformed { path, reason: said }) => {
                assert_eq!((path.to_str(), said.as_str()), (Some("/data/meta.properties"), reason));
            }
            other => panic!("{text:?}: {other:?}"),
        }
        assert!(matches!(format(&disk, dir(), meta()), Err(OpenError::Malformed { .. })));
    }
}

#[test]
fn the_mark_of_a_clean_stop_is_good_once() {
    let disk = SimDisk::default();
    let held = format(&disk, dir(), meta()).unwrap();
    assert_eq!(held.take_clean_shutdown().unwrap(), None);
    held.mark_clean_shutdown(42).unwrap();
    let mark = dir().join(CLEAN_SHUTDOWN);
    assert_eq!(read_small(&disk, &mark).unwrap().unwrap(), b"{\"version\":0,\"brokerEpoch\":42}");
    assert_eq!(held.take_clean_shutdown().unwrap(), Some(42));
    for seed in 0..20 {
        let next = open(&disk.crash(seed)).unwrap();
        assert_eq!(next.take_clean_shutdown().unwrap(), None, "it is gone for good");
    }
    for (text, want) in [
        ("", None),
        ("{\"version\":0", None),
        ("[]", None),
        ("{\"version\":0}", Some(-1)),
        ("{\"version\":0,\"brokerEpoch\":\"x\"}", Some(-1)),
    ] {
        disk.create(&mark).unwrap().write_all_at(0, text.as_bytes()).unwrap();
        assert_eq!(held.take_clean_shutdown().unwrap(), want, "{text:?}");
    }
}

#[test]
fn a_folders_name_says_what_it_is() {
    let partition = |topic: &str, number| TopicPartition::new(topic, number);
    let hex = "0123456789abcdef0123456789ABCDEF";
    let waiting = |suffix: &str| format!("a.b-c-7.{hex}{suffix}");
    for (name, want) in [
        ("t-0".to_owned(), DirName::Partition(partition("t", 0))),
        ("a.b-c-2147483647".to_owned(), DirName::Partition(partition("a.b-c", i32::MAX))),
        ("t--1".to_owned(), DirName::Partition(partition("t-", 1))),
        ("__cluster_metadata-0".to_owned(), DirName::Metadata),
        (waiting("-delete"), DirName::Waiting(partition("a.b-c", 7), Suffix::Delete)),
        (waiting("-stray"), DirName::Waiting(partition("a.b-c", 7), Suffix::Stray)),
        (waiting("-future"), DirName::Waiting(partition("a.b-c", 7), Suffix::Future)),
        ("t-0.x-delete".to_owned(), DirName::Other),
        ("t-0-delete".to_owned(), DirName::Other),
        (format!("x-delete-{}", 3), DirName::Partition(partition("x-delete", 3))),
        ("t-2147483648".to_owned(), DirName::Other),
        ("t-01".to_owned(), DirName::Other),
        ("t-+1".to_owned(), DirName::Other),
        ("t-".to_owned(), DirName::Other),
        ("-0".to_owned(), DirName::Other),
        ("t t-0".to_owned(), DirName::Other),
        ("lost+found".to_owned(), DirName::Other),
        (format!("{}-0", "t".repeat(250)), DirName::Other),
    ] {
        assert_eq!(DirName::parse(&name), want, "{name}");
    }
    let long = partition(&"t".repeat(249), 12345);
    let name = name::waiting(&long, id(3), Suffix::Delete);
    assert_eq!(name.len(), 255);
    let cut = partition(&"t".repeat(255 - "-12345.".len() - 32 - "-delete".len()), 12345);
    assert_eq!(DirName::parse(&name), DirName::Waiting(cut, Suffix::Delete));
}

#[test]
fn partitions_are_made_found_set_aside_and_removed() {
    let disk = SimDisk::default();
    let held = format(&disk, dir(), meta()).unwrap();
    let [a, b] = [("a", 0), ("b", 1)].map(|(topic, number)| TopicPartition::new(topic, number));
    for partition in [&a, &b] {
        let (path, is_new) = held.create_partition(partition, id(5)).unwrap();
        assert_eq!(partition_metadata::read(&disk, &path).unwrap(), Some(id(5)));
        assert_eq!((is_new, held.create_partition(partition, id(5)).unwrap().1), (true, false));
    }
    disk.create(&held.partition_path(&a).join("00000000000000000000.log")).unwrap();
    disk::mkdir_all(&disk, &dir().join("__cluster_metadata-0")).unwrap();
    disk::mkdir_all(&disk, &dir().join("lost+found")).unwrap();
    disk.create(&dir().join("file-0")).unwrap();
    let aside = held.set_aside(&a, id(6), Suffix::Delete).unwrap();
    held.sync_names().unwrap();
    let want = Scan {
        partitions: vec![b],
        has_metadata: true,
        waiting: vec![(a.clone(), Suffix::Delete, aside.clone())],
        other: vec![dir().join("lost+found")],
    };
    assert_eq!(held.scan().unwrap(), want);
    assert_eq!(open(&disk.crash(9)).unwrap().scan().unwrap(), want, "all of it is durable");
    held.remove(&aside).unwrap();
    held.create_partition(&a, id(7)).unwrap();
    assert_eq!(held.scan().unwrap().waiting, []);
}

#[test]
fn a_crash_while_a_partition_is_made_leaves_what_can_be_made_again() {
    let partition = TopicPartition::new("a", 0);
    for n in 0..12 {
        let disk = SimDisk::new(n);
        let held = format(&disk, dir(), meta()).unwrap();
        disk.crash_at(disk.operations() + n);
        let made = held.create_partition(&partition, id(5)).is_ok() && held.sync_names().is_ok();
        let path = held.partition_path(&partition);
        let synced =
            made && partition_metadata::sync(&disk, &path).is_ok() && disk.sync_dir(&path).is_ok();
        for seed in 0..20 {
            let left = disk.crash(seed);
            let next = open(&left).unwrap();
            assert!(!made || next.scan().unwrap().partitions == [partition.clone()]);
            if left.exists(&path).unwrap() {
                let found = partition_metadata::read(&left, &path).unwrap();
                assert!(found == Some(id(5)) || (found.is_none() && !synced), "{found:?}");
            }
            next.create_partition(&partition, id(5)).unwrap();
            assert!(next.create_partition(&partition, id(6)).is_err(), "another topic's");
        }
    }
}

#[test]
fn a_start_knows_whether_the_kernel_still_has_what_was_written() {
    use LastStop::{Clean, Crashed, Killed};
    let disk = SimDisk::default();
    let held = format(&disk, dir(), meta()).unwrap();
    let last_stop = |disk: &SimDisk| open(disk).unwrap().take_last_stop().unwrap();
    assert_eq!(last_stop(&disk.fork()), (Crashed, None), "nobody said that all is there");
    held.mark_running().unwrap();
    assert_eq!(last_stop(&disk.fork()), (Killed, None));
    held.mark_running().unwrap();
    assert_eq!(last_stop(&disk.fork()), (Killed, None));
    disk.sync_dir(dir()).unwrap();
    for seed in 0..20 {
        assert_eq!(last_stop(&disk.crash(seed)), (Crashed, None));
    }
    held.unmark_running().unwrap();
    assert_eq!(last_stop(&disk.fork()), (Crashed, None), "the disk failed");
    held.mark_running().unwrap();
    held.mark_clean_shutdown(7).unwrap();
    let stopped = disk.fork();
    assert_eq!(last_stop(&stopped), (Clean, Some(7)));
    assert_eq!(last_stop(&stopped), (Crashed, None), "a mark counts once");
}

#[test]
fn the_page_cache_of_a_directory_is_asked_for_once() {
    let disk = SimDisk::default();
    format(&disk, dir(), meta()).unwrap().mark_running().unwrap();
    let disk = disk.fork();
    let held = open(&disk).unwrap();
    assert_eq!(held.take_last_stop().unwrap(), (LastStop::Killed, None));
    for number in 0..5 {
        let path = held.partition_path(&TopicPartition::new("a", number));
        assert!(held.shares_cache_with(&path).unwrap());
    }
    assert_eq!(disk.count(Operation::CacheId), 1 + 5);
}

#[test]
fn a_failed_disk_stays_offline_for_its_first_reason() {
    let disk = SimDisk::default();
    let held = format(&disk, dir(), meta()).unwrap();
    assert!(!held.is_offline());
    held.go_offline("sync failed");
    held.go_offline("write failed");
    assert_eq!(held.offline().as_deref(), Some("sync failed"));
}

proptest! {
    #[test]
    fn every_legal_name_and_every_key_survives(
        topic in "[a-zA-Z0-9._-]{1,249}",
        number in 0..i32::MAX,
        other in prop::collection::btree_map("\\PC{1,9}[a-z\\t =:#!]", "\\PC{0,9}[ \\n\\r\\f\\\\é😀]?", 0..4),
    ) {
        let partition = TopicPartition::new(topic.as_str(), number);
        let parsed = DirName::parse(&partition.to_string());
        // The metadata topic has one partition, which stands apart.
        if parsed != DirName::Metadata {
            prop_assert_eq!(parsed, DirName::Partition(partition.clone()));
        }
        let aside = DirName::parse(&name::waiting(&partition, id(1), Suffix::Stray));
        prop_assert!(matches!(aside, DirName::Waiting(_, Suffix::Stray)), "{:?}", aside);
        let meta = MetaProperties { other, ..meta() };
        prop_assert_eq!(MetaProperties::parse(meta.to_text().as_bytes()), Ok(meta));
    }
}
