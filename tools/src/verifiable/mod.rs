//! `kafka-verifiable-producer` and `kafka-verifiable-consumer`: what tests of whole systems run, a
//! line of JSON for each thing that happens.

mod consumer;
mod event;
mod producer;

pub(crate) use consumer::run as run_consumer;
pub(crate) use producer::run as run_producer;
