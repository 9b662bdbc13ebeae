//! Requests by their API: how many, what they were answered, how long they took. Kafka's
//! `RequestMetrics`.
//!
//! Each thread counts in a cell of its own, and a cell has room only for the APIs that were asked
//! there.

use super::histogram::{Counts, Histogram};
use super::traffic::{CELLS, cell};
use protocol::error::ErrorCode;
use protocol::messages::ApiKey;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Keys are smaller than this, and versions too.
const APIS: usize = 128;
const VERSIONS: usize = 32;
/// Of error codes, from -1 on.
const ERRORS: usize = 160;

/// The parts of a request's time, as Kafka names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Stage {
    Total,
    /// Read, but the answers before it had to come first.
    RequestQueue,
    /// At work.
    Local,
    /// Waiting: for bytes, replicas, the members of a group, the controller.
    Remote,
    /// Answered, but the answers before it had to leave first.
    ResponseQueue,
    /// Being sent.
    ResponseSend,
}

const STAGES: usize = 6;

/// How long the stages of one request took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    pub request_queue: Duration,
    pub local: Duration,
    pub remote: Duration,
    pub response_queue: Duration,
    pub response_send: Duration,
}

#[derive(Debug)]
struct Api {
    versions: [AtomicU64; VERSIONS],
    errors: [AtomicU64; ERRORS],
    times: [Histogram; STAGES],
}

impl Default for Api {
    fn default() -> Api {
        Api {
            versions: [const { AtomicU64::new(0) }; VERSIONS],
            errors: [const { AtomicU64::new(0) }; ERRORS],
            times: Default::default(),
        }
    }
}

/// What one thread counted.
#[derive(Debug)]
#[repr(align(128))]
struct Cell([OnceLock<Box<Api>>; APIS]);

/// See the module.
#[derive(Debug)]
pub struct Requests {
    cells: Box<[Cell]>,
}

impl Default for Requests {
    fn default() -> Requests {
        let cell = |_| Cell([const { OnceLock::new() }; APIS]);
        Requests { cells: (0..CELLS).map(cell).collect() }
    }
}

/// All that is known of one API.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Requests by version.
    pub versions: BTreeMap<i16, u64>,
    /// Results by code, those without an error too. Most answers have one for each partition.
    pub errors: BTreeMap<i16, u64>,
    times: [Counts; STAGES],
}

impl Seen {
    pub fn requests(&self) -> u64 {
        self.versions.values().sum()
    }

    pub fn quantile_ms(&self, stage: Stage, share: f64) -> f64 {
        self.times.get(stage as usize).map_or(f64::NAN, |counts| counts.quantile_ms(share))
    }
}

impl Requests {
    fn api(&self, key: ApiKey) -> Option<&Api> {
        let index = usize::try_from(key.code()).ok()?;
        let slot = self.cells.get(cell())?.0.get(index)?;
        Some(slot.get_or_init(Box::default))
    }

    /// One has begun.
    pub fn began(&self, key: ApiKey, version: i16) {
        let version = usize::try_from(version).ok();
        let counter = self.api(key).and_then(|api| api.versions.get(version?));
        if let Some(counter) = counter {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// One is over.
    pub fn ended(&self, key: ApiKey, times: Times) {
        let Some(api) = self.api(key) else { return };
        let Times { request_queue, local, remote, response_queue, response_send } = times;
        let total = request_queue + local + remote + response_queue + response_send;
        let stages = [total, request_queue, local, remote, response_queue, response_send];
        for (at, (histogram, took)) in api.times.iter().zip(stages).enumerate() {
            // What took no time is known from the total, which counts every request.
            if at == Stage::Total as usize || 1 <= took.as_micros() {
                histogram.record(took);
            }
        }
    }

    /// An answer had each of these codes.
    pub fn answered(&self, key: ApiKey, codes: impl Iterator<Item = i16>) {
        let Some(api) = self.api(key) else { return };
        let mut none = 0;
        for code in codes {
            if code == ErrorCode::None.code() {
                none += 1;
            } else {
                add(&api.errors, code, 1);
            }
        }
        if 0 < none {
            add(&api.errors, ErrorCode::None.code(), none);
        }
    }

    /// How many have begun.
    pub fn get(&self) -> u64 {
        let versions = self.apis().flat_map(|(_, api)| &api.versions);
        versions.map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// What was counted of each API that was asked.
    pub fn seen(&self) -> BTreeMap<ApiKey, Seen> {
        let mut seen: BTreeMap<ApiKey, Seen> = BTreeMap::new();
        for (key, api) in self.apis() {
            let seen = seen.entry(key).or_default();
            for (version, count) in counted(&api.versions) {
                *seen.versions.entry(i16::try_from(version).unwrap_or(i16::MAX)).or_default() +=
                    count;
            }
            for (place, count) in counted(&api.errors) {
                let code = i16::try_from(place).unwrap_or(i16::MAX).saturating_sub(1);
                *seen.errors.entry(code).or_default() += count;
            }
            for (sum, histogram) in seen.times.iter_mut().zip(&api.times) {
                sum.add(histogram);
            }
        }
        for seen in seen.values_mut() {
            let all = seen.times.first().map_or(0, Counts::count);
            seen.times.iter_mut().for_each(|stage| stage.fill_up_to(all));
        }
        seen
    }

    fn apis(&self) -> impl Iterator<Item = (ApiKey, &Api)> {
        self.cells.iter().flat_map(|cell| {
            let asked = cell.0.iter().enumerate().filter_map(|(at, api)| Some((at, api.get()?)));
            asked.filter_map(|(at, api)| {
                Some((ApiKey::from_code(i16::try_from(at).ok()?)?, api.as_ref()))
            })
        })
    }

    /// Begins the next window of durations.
    pub fn turn(&self) {
        self.apis().flat_map(|(_, api)| &api.times).for_each(Histogram::turn);
    }
}

fn add(errors: &[AtomicU64], code: i16, count: u64) {
    let place = usize::try_from(i32::from(code) + 1).ok();
    if let Some(counter) = place.and_then(|place| errors.get(place)) {
        counter.fetch_add(count, Ordering::Relaxed);
    }
}

/// The places that have counted anything.
fn counted(counters: &[AtomicU64]) -> impl Iterator<Item = (usize, u64)> {
    let all = counters.iter().map(|it| it.load(Ordering::Relaxed)).enumerate();
    all.filter(|(_, count)| *count != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_version_and_results_by_code() {
        let requests = Requests::default();
        for version in [3, 3, 9] {
            requests.began(ApiKey::Produce, version);
        }
        requests.answered(ApiKey::Produce, [0, 0, 3, -1].into_iter());
        let seen = requests.seen();
        let produce = &seen[&ApiKey::Produce];
        assert_eq!(produce.versions, BTreeMap::from([(3, 2), (9, 1)]));
        assert_eq!(produce.errors, BTreeMap::from([(-1, 1), (0, 2), (3, 1)]));
        assert_eq!(seen.len(), 1);
    }

    #[test]
    fn the_time_of_a_request_is_that_of_its_stages_and_is_forgotten_in_time() {
        let requests = Requests::default();
        let ms = Duration::from_millis;
        let times = Times { local: ms(1), remote: ms(100), ..Times::default() };
        requests.ended(ApiKey::Fetch, times);
        let near = |got: f64, want: f64| (got - want).abs() <= want / 8.0;
        let quantile = |stage| requests.seen().get(&ApiKey::Fetch).unwrap().quantile_ms(stage, 0.5);
        // However often somebody looks.
        for _ in 0..3 {
            assert!(near(quantile(Stage::Total), 101.0));
            assert!(near(quantile(Stage::Remote), 100.0));
            assert_eq!(quantile(Stage::RequestQueue), 0.0);
        }
        requests.turn();
        assert!(near(quantile(Stage::Local), 1.0));
        requests.turn();
        assert!(quantile(Stage::Local).is_nan());
    }
}
