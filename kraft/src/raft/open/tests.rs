//! Directories as others leave them: which start, at what, and which are refused.

use super::{Settings, StartError};
use crate::env::{Env, os};
use crate::format::{bootstrap, voter_node};
use crate::image::Image;
use crate::raft::batch;
use crate::raft::log::{Border, Log, RollAt, scan::scan};
use crate::raft::quorum::{Quorum, Started};
use crate::raft::shared::SyncOn;
use crate::raft::snapshot::{self, Draft};
use crate::raft::types::{ReplicaKey, Voters, log_id};
use crate::record::control::{Control, KRaftVersionRecord};
use crate::record::{Record, TopicRecord};
use protocol::ids::Uuid;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use storage::disk::sim::SimDisk;
use storage::disk::{Disk, mkdir_all, read_whole};

const DIR: &str = "/data/__cluster_metadata-0";
const ME: ReplicaKey = ReplicaKey { id: 1, directory: Uuid([7; 16]) };
const OTHER: ReplicaKey = ReplicaKey { id: 2, directory: Uuid([8; 16]) };
/// An index that does not fit its tag, so that none is written.
const UNTAGGED: u64 = u64::MAX;

/// A metadata log that is made by hand.
struct Made(SimDisk);

impl Made {
    fn new() -> Made {
        let disk = SimDisk::new(1);
        mkdir_all(&disk, Path::new(DIR)).unwrap();
        Made(disk)
    }

    fn log(&self) -> Log {
        let roll_at = RollAt { segment_bytes: 1 << 20, segment_ms: i64::MAX };
        let disk: Arc<dyn Disk> = Arc::new(self.0.clone());
        scan(&disk, Path::new(DIR), roll_at).unwrap().log
    }

    /// Makes an empty log that begins at an offset.
    fn log_from(&self, offset: i64) -> Log {
        let mut log = self.log();
        log.purge(Border { id: log_id(0, 1), end: offset }).unwrap();
        log
    }

    fn snapshot(&self, (end, epoch, index): (i64, u32, u64), voters: &[ReplicaKey], topics: &[u8]) {
        let voters = (!voters.is_empty()).then(|| voters_of(voters));
        let draft = Draft {
            border: Border { id: log_id(epoch, index), end },
            timestamp_ms: 5,
            voters: voters.as_ref(),
            metadata_version: 33,
        };
        let records = levels().into_iter().chain(topics.iter().copied().map(topic));
        snapshot::write(&self.0, Path::new(DIR), &draft, records).unwrap();
    }

    fn put(&self, name: &str, text: &str) {
        let path = Path::new(DIR).join(name);
        self.0.create(&path).unwrap().write_all_at(0, text.as_bytes()).unwrap();
    }

    async fn start(&self, static_voters: &[i32]) -> Result<Started, StartError> {
        let settings = Settings {
            dir: PathBuf::from(DIR),
            me: ME,
            node: voter_node(&[]),
            static_voters: static_voters.to_vec(),
            roll_at: RollAt { segment_bytes: 1 << 20, segment_ms: i64::MAX },
            sync_on: SyncOn::Task,
        };
        let env = Env { disk: Arc::new(self.0.clone()), ..os::env() };
        Quorum::start(&env, &settings).await
    }

    /// Starts, tells what is there, appends a topic; then once more, as our own log.
    #[track_caller]
    fn starts(&self, static_voters: &[i32], want: &str) -> impl Future<Output = ()> {
        let caller = std::panic::Location::caller();
        let static_voters = static_voters.to_vec();
        async move {
            let Started { quorum, .. } = match self.start(&static_voters).await {
                Ok(started) => started,
                Err(error) => panic!("{caller}: {error}"),
            };
            let image = quorum.image().borrow().clone();
            assert_eq!(tell(&image), want, "{caller}");
            let next = quorum.next_offset();
            let proposed = quorum.propose(data(&[topic(99)])).await.unwrap();
            assert_eq!(quorum.applied(proposed).await, Ok(next), "{caller}");
            quorum.shutdown().await;
            // The log names its voters now, and says which entry is which.
            let Started { quorum, bootstrap } = self.start(&[]).await.unwrap();
            assert!(bootstrap.is_none(), "{caller}");
            let topics = quorum.image().borrow().topics().len();
            assert_eq!(topics, image.topics().len() + 1, "{caller}");
            quorum.shutdown().await;
        }
    }

    async fn refused(&self, static_voters: &[i32], want: &str) {
        match self.start(static_voters).await {
            Ok(_) => panic!("it started instead of: {want}"),
            Err(error) => assert!(error.to_string().contains(want), "{error}"),
        }
    }
}

fn tell(image: &Image) -> String {
    let topics: Vec<_> = image.topics().keys().map(ToString::to_string).collect();
    format!("{} at {} of epoch {}", topics.join(" "), image.offset, image.epoch)
}

fn voters_of(keys: &[ReplicaKey]) -> Voters {
    let nodes: BTreeMap<_, _> = keys.iter().map(|key| (*key, voter_node(&[]))).collect();
    Voters::new(vec![keys.iter().copied().collect::<BTreeSet<_>>()], nodes).unwrap()
}

fn levels() -> Vec<Record> {
    bootstrap::records(&bootstrap::levels(33, &BTreeMap::new()))
}

fn topic(number: u8) -> Record {
    let topic_id = Uuid([number; 16]);
    TopicRecord { name: format!("t{number}"), topic_id, ..TopicRecord::default() }.into()
}

fn data(records: &[Record]) -> bytes::Bytes {
    batch::data(&records.iter().map(|record| record.to_value(33)).collect::<Vec<_>>(), 9).unwrap()
}

/// A batch with which a term begins as Kafka writes it: it knows nothing of indexes.
fn leader_change() -> bytes::Bytes {
    batch::control(&[batch::leader_change(1, &[1], UNTAGGED)], 9).unwrap()
}

fn append(log: &mut Log, term: u32, topics: &[u8]) {
    for number in topics {
        log.append(term, &data(&[topic(*number)]), false).unwrap();
    }
}

#[tokio::test]
async fn a_log_of_static_voters_is_taken_over_and_names_them_then() {
    let made = Made::new();
    let mut log = made.log();
    log.append(3, &leader_change(), true).unwrap();
    log.append(3, &data(&levels()), false).unwrap();
    append(&mut log, 3, &[1, 2]);
    made.put(
        "quorum-state",
        r#"{"clusterId":"","leaderId":1,"leaderEpoch":3,"votedId":-1,"appliedOffset":0,"currentVoters":[{"voterId":1}],"data_version":0}"#,
    );
    made.put("leader-epoch-checkpoint", "0\n1\n7 3\n");
    made.refused(&[], "Nobody votes: /data/__cluster_metadata-0 names no voter").await;
    made.refused(&[2, 3], "controller.quorum.voters does not name node.id 1 once").await;
    made.refused(&[1, 2], "controller.quorum.voters names 2 voters").await;
    // Behind the LeaderChange stand KRaftVersion and Voters.
    made.starts(&[1], "t1 t2 at 11 of epoch 4").await;
    let names: Vec<_> = made.0.list(Path::new(DIR)).unwrap();
    assert!(!names.iter().any(|entry| entry.name == "leader-epoch-checkpoint"), "{names:?}");
}

#[tokio::test]
async fn a_log_is_read_behind_its_snapshot() {
    let made = Made::new();
    made.snapshot((1000, 7, UNTAGGED), &[ME], &[1, 2]);
    let mut log = made.log_from(990);
    log.append(7, &data(&[topic(77), topic(78), topic(79)]), false).unwrap();
    log.append(7, &data(&vec![topic(77); 7]), false).unwrap();
    append(&mut log, 7, &[3, 4]);
    made.starts(&[], "t1 t2 t3 t4 at 1002 of epoch 8").await;
}

#[tokio::test]
async fn a_snapshot_alone_is_enough() {
    let made = Made::new();
    made.snapshot((1000, 7, UNTAGGED), &[ME], &[1, 2]);
    made.starts(&[], "t1 t2 at 1000 of epoch 8").await;
    // A log that had not come so far restarts there.
    for index in [UNTAGGED, 500] {
        let made = Made::new();
        append(&mut made.log(), 2, &[9]);
        made.snapshot((1000, 7, index), &[ME], &[1, 2]);
        made.starts(&[], "t1 t2 at 1000 of epoch 8").await;
    }
}

#[tokio::test]
async fn of_several_snapshots_the_last_good_one_counts() {
    let made = Made::new();
    made.snapshot((0, 0, 0), &[ME], &[]);
    let mut log = made.log();
    log.append(1, &data(&levels()), false).unwrap();
    append(&mut log, 1, &[1]);
    let first = log.end();
    append(&mut log, 1, &[2]);
    let second = log.end();
    append(&mut log, 1, &[3]);
    made.snapshot((first, 1, UNTAGGED), &[ME], &[1]);
    made.snapshot((second, 1, 3), &[ME], &[1, 2]);
    let path = Path::new(DIR).join(format!("{second:020}-0000000001.checkpoint"));
    made.0.rot(&path, 150, 1).unwrap();
    made.starts(&[], "t1 t2 t3 at 9 of epoch 2").await;
}

#[tokio::test]
async fn what_does_not_fit_together_is_refused() {
    let made = Made::new();
    made.snapshot((1000, 7, UNTAGGED), &[ME], &[1]);
    append(&mut made.log_from(1005), 7, &[3]);
    made.refused(&[], "begins at offset 1005, and no readable snapshot reaches it").await;

    let made = Made::new();
    made.snapshot((1000, 9, UNTAGGED), &[ME], &[1]);
    let mut log = made.log_from(999);
    append(&mut log, 7, &[3, 4]);
    made.refused(&[], "is of another epoch than the log before its end").await;

    let made = Made::new();
    made.snapshot((1001, 7, UNTAGGED), &[ME], &[1]);
    made.log_from(999).append(7, &data(&vec![topic(1); 5]), false).unwrap();
    made.refused(&[], "a snapshot ends within a batch").await;

    let made = Made::new();
    made.snapshot((1, 1, 5), &[ME], &[1]);
    append(&mut made.log(), 1, &[1, 2]);
    made.refused(&[], "its first entry is number 5, by others 1").await;
}

#[tokio::test]
async fn whoever_is_not_the_one_voter_is_refused() {
    for (voters, want) in [
        (&[OTHER][..], "This node is 1/BwcHBwcHBwcHBwcHBwcHBw (node.id/directory.id)"),
        (&[ME, OTHER], "this version runs with one"),
    ] {
        let made = Made::new();
        made.snapshot((0, 0, 0), voters, &[]);
        made.refused(&[1], want).await;
    }
    // kraft.version 1 with voters nowhere.
    let made = Made::new();
    let version = KRaftVersionRecord { k_raft_version: 1, ..KRaftVersionRecord::default() };
    let dynamic = batch::control(&[Control::KRaftVersion(version)], 9).unwrap();
    made.log().append(1, &dynamic, true).unwrap();
    made.refused(&[1], "Nobody votes").await;
}

#[tokio::test]
async fn a_log_may_name_its_voters_in_its_first_batch_only() {
    let made = Made::new();
    let [version, voters] = batch::membership(&voters_of(&[ME]));
    let first = [batch::leader_change(1, &[1], UNTAGGED), version, voters];
    let mut log = made.log();
    log.append(1, &batch::control(&first, 9).unwrap(), true).unwrap();
    log.append(1, &data(&levels()), false).unwrap();
    made.starts(&[], " at 9 of epoch 2").await;
}

#[tokio::test]
async fn a_new_term_is_above_all_that_were() {
    for (epoch, want) in [(1, 6), (50, 51)] {
        let made = Made::new();
        made.snapshot((0, 0, 0), &[ME], &[]);
        append(&mut made.log(), 5, &[1]);
        let voted = format!(
            r#"{{"leaderId":-1,"leaderEpoch":{epoch},"votedId":-1,"votedDirectoryId":"{}","data_version":1}}"#,
            Uuid::ZERO
        );
        made.put("quorum-state", &voted);
        made.starts(&[], &format!("t1 at 1 of epoch {want}")).await;
    }
}

#[tokio::test]
async fn a_new_log_begins_with_what_its_format_says() {
    for name in ["0", "bootstrap"] {
        let made = Made::new();
        made.snapshot((0, 0, 0), &[ME], &[]);
        if name == "bootstrap" {
            let from = format!("{DIR}/{:020}-{:010}.checkpoint", 0, 0);
            made.0.rename(Path::new(&from), Path::new("/data/bootstrap.checkpoint")).unwrap();
        }
        let started = made.start(&[1]).await.unwrap();
        let bootstrap = started.bootstrap.expect("nothing was appended yet");
        assert_eq!(bootstrap.metadata_version(), 33, "{name}");
        started.quorum.shutdown().await;
    }
}

/// All that stands in the folder.
fn content(disk: &SimDisk) -> BTreeMap<String, Vec<u8>> {
    let read = |name: String| {
        let file = disk.open(&Path::new(DIR).join(&name)).unwrap();
        let bytes = read_whole(&*file, 1 << 20).unwrap();
        (name, bytes)
    };
    disk.list(Path::new(DIR)).unwrap().into_iter().map(|entry| read(entry.name)).collect()
}

#[tokio::test]
async fn a_start_that_is_refused_changes_nothing() {
    let unknown = batch::data(&[vec![1, 100, 0, 0]], 9).unwrap();
    let (twice, other) = (data(&[topic(1)]), data(&[topic(2)]));
    for (batch, voted, voters, want) in [
        (&unknown, 1, &[1][..], "at offset 8: metadata record of unknown type 100"),
        (&twice, 1, &[1], "contradicts itself at offset 8: TopicRecord: topic t1 exists already"),
        (&other, 1, &[2], "controller.quorum.voters does not name node.id 1 once"),
        (&other, -7, &[1], "says whom this voter voted for"),
    ] {
        let made = Made::new();
        let mut log = made.log();
        log.append(3, &leader_change(), true).unwrap();
        log.append(3, &data(&levels()), false).unwrap();
        append(&mut log, 3, &[1]);
        log.append(3, batch, false).unwrap();
        // Whatever a start would clean up or write anew.
        let path = Path::new(DIR).join("00000000000000000000.log");
        let file = made.0.open(&path).unwrap();
        file.write_all_at(file.size().unwrap(), b"torn").unwrap();
        for name in
            ["00000000000000000000.index", "00000000000000000009-0000000003.checkpoint.part"]
        {
            made.put(name, "left");
        }
        made.put("leader-epoch-checkpoint", "0\n1\n3 0\n");
        made.put(
            "quorum-state",
            &format!(
                r#"{{"leaderId":{voted},"leaderEpoch":3,"votedId":-1,"data_version":{}}}"#,
                if voted < 0 { 9 } else { 0 }
            ),
        );
        let before = content(&made.0);
        made.refused(voters, want).await;
        assert_eq!(content(&made.0), before, "{want}");
    }
    // So it is where the log would begin anew at its snapshot.
    let made = Made::new();
    append(&mut made.log(), 2, &[9]);
    made.snapshot((1000, 7, UNTAGGED), &[OTHER], &[1]);
    let before = content(&made.0);
    made.refused(&[], "the metadata log's voters are 2/").await;
    assert_eq!(content(&made.0), before);
}

#[tokio::test]
async fn what_a_start_does_not_need_goes() {
    let made = Made::new();
    made.snapshot((500, 7, UNTAGGED), &[ME], &[1]);
    made.snapshot((1000, 7, UNTAGGED), &[ME], &[1, 2]);
    append(&mut made.log_from(990), 7, &(10..25).collect::<Vec<_>>());
    made.put("00000000000000001001-0000000007.checkpoint.part", "left");
    let started = made.start(&[]).await.unwrap();
    started.quorum.shutdown().await;
    let names: Vec<_> = content(&made.0).into_keys().collect();
    let want = ["00000000000000000990.log", "00000000000000001000-0000000007.checkpoint"];
    assert_eq!(names, [&want[..], &["quorum-state"]].concat());
}

#[tokio::test]
async fn a_snapshot_that_cannot_be_read_is_missed_where_the_log_does_not_reach_it() {
    for at in [10, 150] {
        let made = Made::new();
        let mut log = made.log();
        log.append(1, &data(&levels()), false).unwrap();
        append(&mut log, 1, &[1]);
        made.snapshot((1000, 1, 500), &[ME], &[1, 2]);
        let path = Path::new(DIR).join("00000000000000001000-0000000001.checkpoint");
        made.0.rot(&path, at, 1).unwrap();
        made.refused(&[1], "and the log ends before it, at offset 7").await;
    }
}

#[tokio::test]
async fn numbers_that_lead_beyond_all_numbers_are_refused() {
    let last = i64::MAX.cast_unsigned();
    let made = Made::new();
    made.snapshot((1, 1, last), &[ME], &[1]);
    append(&mut made.log(), 1, &[1, 2]);
    made.refused(&[], "its first entry is number").await;

    let made = Made::new();
    made.snapshot((1000, 1, UNTAGGED), &[ME], &[1]);
    let change = batch::leader_change(1, &[1], last);
    let mut log = made.log_from(990);
    append(&mut log, 1, &(10..20).collect::<Vec<_>>());
    log.append(1, &batch::control(&[change], 9).unwrap(), true).unwrap();
    made.starts(&[], "t1 at 1001 of epoch 2").await;

    let made = Made::new();
    made.snapshot((i64::MAX, 1, 5), &[ME], &[1]);
    made.refused(&[], "offset").await;

    // An epoch that no log can have: not the name of a snapshot.
    let made = Made::new();
    made.snapshot((1000, u32::MAX, 5), &[ME], &[1]);
    made.refused(&[], "Nobody votes").await;
}
