//! The first records of a new cluster, as Apache Kafka 4.4 writes them.

use super::state::State;
use crate::format::bootstrap;
use crate::image::{ConfigResource, Image};
use crate::record::{BeginTransactionRecord, ConfigRecord, EndTransactionRecord, Record};
use protocol::features::{ELIGIBLE_LEADER_REPLICAS_VERSION, METADATA_VERSION};
use std::collections::BTreeMap;

/// The level of `metadata.version` from which records may stand in transactions (KIP-868).
const TRANSACTIONS_LEVEL: i16 = 13;

const MIN_INSYNC_REPLICAS: &str = "min.insync.replicas";

/// What the first leader appends to a log that holds no metadata record: all that the first
/// snapshot says (`image`), because Apache Kafka reads that only while the log is empty. Where
/// there is no such snapshot, the features of a new cluster.
pub fn bootstrap_records(image: &Image, state: &State) -> Vec<Record> {
    let mut started = image.clone();
    if image.metadata_version() == 0 {
        let levels = bootstrap::levels(METADATA_VERSION.max, &BTreeMap::new());
        for record in bootstrap::records(&levels) {
            let applied = started.apply(&record, image.offset);
            assert!(applied.is_ok(), "a feature is refused: {applied:?}");
        }
    }
    let mut records: Vec<Record> = started.to_records().collect();
    let default = ConfigResource::broker_default();
    // Eligible replicas are judged by what the whole cluster agrees on, so that stands in the log.
    if 0 < started.feature(ELIGIBLE_LEADER_REPLICAS_VERSION.name)
        && started.config_value(&default, MIN_INSYNC_REPLICAS).is_none()
    {
        let value = state.layers(image).get(MIN_INSYNC_REPLICAS).unwrap_or("1").to_owned();
        let name = MIN_INSYNC_REPLICAS.to_owned();
        let resource_type = ConfigResource::BROKER;
        let record =
            ConfigRecord { resource_type, name, value: Some(value), ..ConfigRecord::default() };
        records.push(record.into());
    }
    if TRANSACTIONS_LEVEL <= started.metadata_version() {
        let name = Some("Bootstrap records".to_owned());
        records
            .insert(0, BeginTransactionRecord { name, ..BeginTransactionRecord::default() }.into());
        records.push(EndTransactionRecord::default().into());
    }
    records
}
