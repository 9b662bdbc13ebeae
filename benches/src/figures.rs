//! The catalogue of what is measured: the rows of the tables, in order.

/// Where a figure is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    Defaults,
    Durable,
    Replay,
}

/// A row: one value of one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figure {
    pub(crate) table: Table,
    pub(crate) step: &'static str,
    pub(crate) what: &'static str,
    pub(crate) label: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) decimals: usize,
    /// What Highwater wants to reach on a quiet machine of two cores; empty: nothing yet.
    pub(crate) aim: &'static str,
}

/// The names of the steps, in order.
pub(crate) fn steps() -> Vec<&'static str> {
    let mut steps: Vec<&str> = FIGURES.iter().map(|figure| figure.step).collect();
    steps.dedup();
    steps
}

/// Whether a step begins so.
pub(crate) fn is_step(prefix: &str) -> bool {
    FIGURES.iter().any(|figure| figure.step.starts_with(prefix))
}

macro_rules! figures {
    ($( $table:ident: $( $step:literal $what:literal $label:literal $unit:literal $decimals:literal $aim:literal; )* )*) => {
        pub(crate) const FIGURES: &[Figure] = &[ $( $( Figure {
            table: Table::$table, step: $step, what: $what, label: $label, unit: $unit,
            decimals: $decimals, aim: $aim,
        }, )* )* ];
    };
}

figures! {
    Defaults:
    "produce_60k" "cpu" "produce, 60 KB batches: broker CPU" "CPU-s/GB" 3 "0.45, 1/5";
    "produce_60k" "rate" "produce, 60 KB batches: rate" "MB/s" 0 "1400";
    "produce_900k" "cpu" "produce, 900 KB batches: broker CPU" "CPU-s/GB" 3 "0.35, 1/4";
    "produce_900k" "rate" "produce, 900 KB batches: rate" "MB/s" 0 "1700";
    "produce_60k_x16" "cpu" "produce, 60 KB batches, 16 connections: broker CPU" "CPU-s/GB" 3 "0.6, 1/7";
    "produce_60k_x16" "rate" "produce, 60 KB batches, 16 connections: rate" "MB/s" 0 "";
    "fetch_1m" "cpu" "fetch out of the page cache, 1 MB: broker CPU" "CPU-s/GB" 3 "0.22, 1/2";
    "fetch_1m" "rate" "fetch out of the page cache, 1 MB: rate" "MB/s" 0 "";
    "small_acks1" "cpu" "single-record produce, acks=1: broker CPU" "us" 1 "9, 1/5";
    "small_acks1" "rate" "single-record produce, acks=1: rate" "requests/s" 0 "";
    "small_all" "cpu" "single-record produce, acks=all: broker CPU" "us" 1 "9, 1/5";
    "small_all" "rate" "single-record produce, acks=all: rate" "requests/s" 0 "";
    "open_2000_per_s" "p50" "2,000 single records a second, acks=all: p50" "ms" 2 "";
    "open_2000_per_s" "p99" "2,000 single records a second, acks=all: p99" "ms" 2 "0.3";
    "open_2000_per_s" "p999" "2,000 single records a second, acks=all: p99.9" "ms" 2 "1.0";
    "open_40_mb_s" "p50" "40 MB/s in 60 KB batches, acks=all: p50" "ms" 2 "";
    "open_40_mb_s" "p99" "40 MB/s in 60 KB batches, acks=all: p99" "ms" 2 "0.5";
    "open_40_mb_s" "p999" "40 MB/s in 60 KB batches, acks=all: p99.9" "ms" 2 "2";
    "group_commit" "cpu" "commit of one offset: broker CPU" "us" 1 "1/4";
    "group_commit" "rate" "commit of one offset: rate" "requests/s" 0 "";
    "group_heartbeat" "cpu" "heartbeat of a classic group: broker CPU" "us" 1 "1/4";
    "group_heartbeat" "rate" "heartbeat of a classic group: rate" "requests/s" 0 "";
    "group_consumer_heartbeat" "cpu" "heartbeat of a consumer group: broker CPU" "us" 1 "1/4";
    "group_consumer_heartbeat" "rate" "heartbeat of a consumer group: rate" "requests/s" 0 "";
    "start" "formatted" "start to first metadata answer, formatted" "ms" 0 "15";
    "start" "fresh" "start to first metadata answer, fresh" "ms" 0 "30";
    "idle" "resident" "resident memory, idle" "MB" 0 "15";
    "after_load" "resident" "resident memory, after the load" "MB" 0 "50";
    "partitions" "memory" "memory per partition that holds data, after a restart" "KB" 1 "8";
    "partitions" "create" "creating these partitions" "ms" 0 "";
    "crash" "ready" "every partition and record there after kill -9" "ms" 0 "200";
    Durable:
    "durable_60k" "cpu" "produce, 60 KB batches: broker CPU" "CPU-s/GB" 3 "";
    "durable_60k" "rate" "produce, 60 KB batches: rate" "MB/s" 0 "";
    "durable_900k" "cpu" "produce, 900 KB batches: broker CPU" "CPU-s/GB" 3 "";
    "durable_900k" "rate" "produce, 900 KB batches: rate" "MB/s" 0 "";
    "durable_small" "cpu" "single-record produce, acks=all: broker CPU" "us" 1 "";
    "durable_small" "rate" "single-record produce, acks=all: rate" "requests/s" 0 "";
    "durable_2000_per_s" "p50" "2,000 single records a second, acks=all: p50" "ms" 2 "";
    "durable_2000_per_s" "p99" "2,000 single records a second, acks=all: p99" "ms" 2 "";
    "durable_2000_per_s" "p999" "2,000 single records a second, acks=all: p99.9" "ms" 2 "";
    "durable_40_mb_s" "p50" "40 MB/s in 60 KB batches, acks=all: p50" "ms" 2 "";
    "durable_40_mb_s" "p99" "40 MB/s in 60 KB batches, acks=all: p99" "ms" 2 "";
    "durable_40_mb_s" "p999" "40 MB/s in 60 KB batches, acks=all: p99.9" "ms" 2 "";
    Replay:
    "replay_hot" "cpu1" "hot, first fetch: broker CPU" "CPU-s/GB" 3 "";
    "replay_hot" "cpu2" "hot, second fetch: broker CPU" "CPU-s/GB" 3 "";
    "replay_hot" "cpu3" "hot, third fetch: broker CPU" "CPU-s/GB" 3 "";
    "replay_hot" "rate1" "hot, first fetch: rate" "MB/s" 0 "";
    "replay_hot" "rate2" "hot, second fetch: rate" "MB/s" 0 "";
    "replay_hot" "rate3" "hot, third fetch: rate" "MB/s" 0 "";
    "replay_cold" "cpu1" "cold, first fetch: broker CPU" "CPU-s/GB" 3 "";
    "replay_cold" "cpu2" "cold, second fetch: broker CPU" "CPU-s/GB" 3 "";
    "replay_cold" "cpu3" "cold, third fetch: broker CPU" "CPU-s/GB" 3 "";
    "replay_cold" "rate1" "cold, first fetch: rate" "MB/s" 0 "";
    "replay_cold" "rate2" "cold, second fetch: rate" "MB/s" 0 "";
    "replay_cold" "rate3" "cold, third fetch: rate" "MB/s" 0 "";
    "replay_tail_alone" "p50" "tail reader, alone: p50" "ms" 2 "";
    "replay_tail_alone" "p99" "tail reader, alone: p99" "ms" 2 "";
    "replay_tail_alone" "p999" "tail reader, alone: p99.9" "ms" 2 "";
    "replay_tail_hot" "p50" "tail reader, during a hot replay: p50" "ms" 2 "";
    "replay_tail_hot" "p99" "tail reader, during a hot replay: p99" "ms" 2 "";
    "replay_tail_hot" "p999" "tail reader, during a hot replay: p99.9" "ms" 2 "";
    "replay_tail_cold" "p50" "tail reader, during a cold replay: p50" "ms" 2 "";
    "replay_tail_cold" "p99" "tail reader, during a cold replay: p99" "ms" 2 "";
    "replay_tail_cold" "p999" "tail reader, during a cold replay: p99.9" "ms" 2 "";
}
