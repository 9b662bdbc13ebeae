//! Files on a disk in memory, dumped.

use super::*;
use parking_lot::Mutex;
use protocol::records::{BatchBuilder, NewRecord};
use std::io::{self, Write};
use std::sync::Arc;
use storage::disk::sim::SimDisk;

/// A place for output that is read afterwards.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn disk(files: &[(&str, &[u8])]) -> SimDisk {
    let disk = SimDisk::default();
    for (name, bytes) in files {
        disk.create(Path::new(name)).unwrap().write_all_at(0, bytes).unwrap();
    }
    disk
}

/// What the tool prints, and how it ends.
fn dumped(disk: &SimDisk, args: &[&str]) -> (String, Result<(), Failure>) {
    let kept = Kept::default();
    let mut out = Output::to(kept.clone());
    let args = COMMAND.parse(args.iter().map(OsString::from).collect()).unwrap();
    let done = dump(&args, disk, &mut out);
    out.flush().unwrap();
    let bytes = kept.0.lock().clone();
    (String::from_utf8(bytes).unwrap(), done)
}

fn batch(base: i64) -> Vec<u8> {
    let headers: &[(&[u8], Option<&[u8]>)] = &[(b"h", Some(b"1")), (b"i", None)];
    let record = NewRecord { timestamp_ms: 7, key: Some(b"k"), value: Some(b"v"), headers };
    let null = NewRecord { timestamp_ms: 9, key: None, value: None, headers: &[] };
    BatchBuilder::new(base).record(record).record(null).build().unwrap().to_vec()
}

const LOG: &str = "/00000000000000000000.log";

#[test]
fn a_log_is_told_batch_by_batch_and_record_by_record() {
    let one = batch(0);
    let torn = [one.as_slice(), &batch(5), &[0; 5]].concat();
    let disk = disk(&[(LOG, &torn)]);
    let (said, done) = dumped(&disk, &["--files", LOG, "--print-data-log"]);
    assert_eq!(done, Ok(()));
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines[..2], [format!("Dumping {LOG}").as_str(), "Log starting offset: 0"]);
    let size = one.len();
    let front = "baseOffset: 0 lastOffset: 1 count: 2 baseSequence: -1 lastSequence: -1 \
                 producerId: -1 producerEpoch: -1 partitionLeaderEpoch: -1 isTransactional: false \
                 isControl: false deleteHorizonMs: OptionalLong.empty position: 0 CreateTime: 9";
    assert!(lines[2].starts_with(&format!("{front} size: {size} magic: 2 compresscodec: none")));
    assert!(lines[2].ends_with(" isvalid: true"), "{}", lines[2]);
    let want = [
        "| offset: 0 CreateTime: 7 keySize: 1 valueSize: 1 sequence: -1 headerKeys: [h,i] key: k \
         payload: v",
        "| offset: 1 CreateTime: 9 keySize: -1 valueSize: -1 sequence: -1 headerKeys: []",
    ];
    assert_eq!(lines[3..5], want);
    assert!(lines[5].contains(&format!(" position: {size} ")));
    assert_eq!(lines[8], "Found 5 invalid bytes at the end of 00000000000000000000.log");
    let (said, _) = dumped(&disk, &["--files", LOG, "--max-bytes", &size.to_string()]);
    assert_eq!(said.lines().count(), 3, "{said}");
}

#[test]
fn findings_are_told_by_kind_and_file() {
    let log = [batch(0), batch(4)].concat();
    let second = u32::try_from(batch(0).len()).unwrap();
    // Each entry of eight bytes: the offset, and where its batch begins. The last is wrong.
    let index: Vec<u8> =
        [1, 0, 4, second].into_iter().flat_map(|it: u32| it.to_be_bytes()).collect();
    let time = |at: i64, offset: u32| [&at.to_be_bytes()[..], &offset.to_be_bytes()].concat();
    let times = [time(9, 1), time(8, 5), time(8, 6)].concat();
    let (at, of_times) = ("/00000000000000000000.index", "/00000000000000000000.timeindex");
    let disk = disk(&[(LOG, &log), (at, &index), (of_times, &times)]);
    let ask = Ask::read(&COMMAND.parse(vec!["--deep-iteration".into()]).unwrap()).unwrap();
    let mut found = Found::default();
    let kept = Kept::default();
    let mut out = Output::to(kept.clone());
    for file in [LOG, at, of_times] {
        one(Path::new(file), &ask, &disk, &mut out, &mut found).unwrap();
    }
    let want = [
        "Mismatches in :/00000000000000000000.index",
        "  Index offset: 4, log offset: 5",
        "Found timestamp mismatch in :/00000000000000000000.timeindex",
        "  Index timestamp: 8, log timestamp: 9",
        "Found out of order timestamp in :/00000000000000000000.timeindex",
        "  Index timestamp: 8, Previously indexed timestamp: 9",
        "The following indexed offsets are not found in the log.",
        "Indexed offset: 6, found log offset: -1",
        "Non-consecutive offsets in /00000000000000000000.log",
        "  1 is followed by 4",
    ];
    assert_eq!(found.lines(), want);
    out.flush().unwrap();
    let said = String::from_utf8(kept.0.lock().clone()).unwrap();
    assert!(said.contains("offset: 4 position: ") && said.contains("timestamp: 8 offset: 6"));
}

#[test]
fn what_cannot_be_read_ends_the_tool_with_the_reason() {
    let bad = [0; 40];
    let disk = disk(&[(LOG, &bad), ("/x.log", &[])]);
    let check = |args: &[&str], want: &str| {
        let (_, done) = dumped(&disk, args);
        let said = format!("{done:?}");
        assert!(said.contains(want), "{args:?}: {said}");
    };
    check(&["--files", LOG], "record size 0 smaller than minimum");
    check(&["--files", "/x.log"], "not the name of a segment");
    check(&["--files", "/00000000000000000009.log"], "00000000000000000009.log");
    check(&["--files", LOG, "--value-decoder-class", "my.Own"], "my.Own");
    check(&["--files", LOG, "--remote-log-metadata-decoder"], "tiered storage");
    check(&[], "Missing required argument");
    let (said, done) = dumped(&disk, &["--files", "/leader-epoch-checkpoint"]);
    assert_eq!((said.as_str(), done), ("Dumping /leader-epoch-checkpoint\n", Ok(())));
}

#[test]
fn a_metadata_record_is_told_in_kafka_s_words() {
    let record = kraft::record::FeatureLevelRecord {
        name: "metadata.version".into(),
        feature_level: 30,
        ..Default::default()
    };
    let value = kraft::record::Record::from(record).to_value(30);
    let bytes = BatchBuilder::new(0)
        .record(NewRecord { timestamp_ms: 7, key: None, value: Some(&value), headers: &[] })
        .build()
        .unwrap();
    let disk = disk(&[(LOG, &bytes)]);
    let args = ["--files", LOG, "--cluster-metadata-decoder", "--skip-record-metadata"];
    let (said, _) = dumped(&disk, &args);
    let want = r#"| payload: {"type":"FEATURE_LEVEL_RECORD","version":0,"data":{"name":"metadata.version","featureLevel":30}}"#;
    assert_eq!(said.lines().last(), Some(want));
}
