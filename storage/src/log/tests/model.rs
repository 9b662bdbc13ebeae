//! Any order of appends, cuts, deletions, flushes and restarts, held against a list of batches.

use super::*;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Append { count: i32, size: usize },
    AppendMany(usize),
    Roll,
    Flush,
    Delete(u8),
    Retain,
    Truncate(u8),
    Restart(LastStop),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (1..5, 0_usize..280).prop_map(|(count, size)| Step::Append { count, size }),
        2 => (1_usize..6).prop_map(Step::AppendMany),
        1 => Just(Step::Roll),
        2 => Just(Step::Flush),
        1 => any::<u8>().prop_map(Step::Delete),
        1 => Just(Step::Retain),
        1 => any::<u8>().prop_map(Step::Truncate),
        2 => prop_oneof![Just(LastStop::Clean), Just(LastStop::Killed), Just(LastStop::Crashed)]
            .prop_map(Step::Restart),
    ]
}

fn config() -> LogConfig {
    let small =
        LogConfig { segment_bytes: 1500, index_interval_bytes: 200, ..LogConfig::default() };
    LogConfig { retention_bytes: 8000, ..small }
}

struct Pair {
    log: Log,
    disk: SimDisk,
    /// Base and next offset, and the time, of each batch.
    batches: Vec<(i64, i64, i64)>,
    start: i64,
    end: i64,
    time: i64,
}

impl Pair {
    fn append(&mut self, count: i32, size: usize) -> Bytes {
        self.time += 7;
        let next = self.end + i64::from(count);
        self.batches.push((self.end, next, self.time + i64::from(count) - 1));
        self.end = next;
        batch(count, size, self.time)
    }

    /// An offset within the log.
    fn within(&self, draw: u8) -> i64 {
        self.start + (self.end - self.start) * i64::from(draw) / 255
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Append { count, size } => {
                let base = self.end;
                let bytes = self.append(count, size);
                assert_eq!(self.log.append(bytes, &CLIENT).unwrap().base_offset, base);
            }
            Step::AppendMany(many) => {
                let requests: Vec<Bytes> = (0..many).map(|size| self.append(1, size)).collect();
                let got = self.log.append_many(requests, &CLIENT);
                assert!(got.iter().all(Result::is_ok), "{got:?}");
            }
            Step::Roll => self.log.roll(NOW).unwrap(),
            Step::Flush => assert_eq!(self.log.flush(self.end).unwrap(), self.end),
            Step::Delete(draw) => {
                self.log.set_high_watermark(self.end);
                self.start = self.within(draw);
                assert_eq!(self.log.delete_records_before(self.start).unwrap(), self.start);
            }
            Step::Retain => {
                self.log.set_high_watermark(self.end);
                let retained = self.log.retain(NOW).unwrap();
                self.start = retained.log_start.unwrap_or(self.start);
                retained.doomed.paths.iter().for_each(|path| self.disk.remove(path).unwrap());
            }
            Step::Truncate(draw) => {
                let offset = self.within(draw);
                if offset <= self.start {
                    return;
                }
                self.batches.retain(|(_, next, _)| *next <= offset);
                let end = self.log.truncate_to(offset).unwrap();
                let want = self.batches.last().map_or(0, |(_, next, _)| *next).max(self.start);
                assert_eq!(end, want);
                self.end = end;
            }
            Step::Restart(last_stop) => {
                let recovery_point = self.log.recovery_point();
                if last_stop == LastStop::Clean {
                    self.log.close().unwrap();
                }
                self.disk = self.disk.fork();
                let open = Open {
                    last_stop,
                    recovery_point,
                    log_start_offset: self.start,
                    ..open_with(&self.disk, config())
                };
                let (log, recovery) = Log::open(open).unwrap();
                assert_eq!((recovery.cut, recovery.damaged), (None, Vec::new()));
                self.log = log;
            }
        }
    }

    fn check(&self) {
        assert_eq!((self.log.log_start(), self.log.log_end()), (self.start, self.end));
        let held = || self.batches.iter().filter(|(_, next, _)| self.start < *next);
        assert_eq!(bases(&self.log), held().map(|it| it.0).collect::<Vec<_>>());
        for (base, next, time) in held() {
            let last = next - 1;
            let got = read(&self.log, last.max(self.start), 1);
            assert_eq!(got.first().map(|it| it.header.base_offset), Some(*base));
            // Bounded by the end of the batch before, nothing of this one is read.
            if self.start < *base {
                let before = self.log.read(self.start, 1 << 20, *base, true).unwrap();
                let got = batches(before.read().unwrap()).map(Result::unwrap).last();
                assert!(got.is_none_or(|it| it.header.next_offset() <= *base));
            }
            let found = self.log.offset_for_timestamp(*time).unwrap();
            assert_eq!(found.map(|it| it.offset), Some(last), "time {time}");
        }
        if self.start < self.end {
            let newest = self.log.max_timestamp().unwrap().map(|it| it.timestamp);
            assert_eq!(newest, self.batches.last().map(|it| it.2));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_log_is_a_list_of_batches(steps in proptest::collection::vec(step(), 1..60)) {
        let (log, disk) = log(config());
        let mut pair = Pair { log, disk, batches: Vec::new(), start: 0, end: 0, time: NOW };
        for step in steps {
            pair.take(step);
            pair.check();
        }
    }
}
