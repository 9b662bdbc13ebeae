//! What moves each metric: an act, and what stands on the page behind it. A metric that nothing
//! here moves has a reason, and shows the same on every page of every story.

mod brokers;
mod clients;
mod groups;
mod process;

use super::watch::{Seen, promised};
use crate::world::Client;
use protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use protocol::messages::{CreateTopicsRequest, Request, StrBytes};
use std::collections::BTreeSet;

/// What shows nothing but 0 on a broker that nobody follows, and why.
const CONSTANT: &[(&str, &str)] = &[
    ("kafka_server_replicamanager_reassigningpartitions", "reassignments are not served"),
    ("kafka_server_replicamanager_isrshrinks_total", NO_FOLLOWER),
    ("kafka_server_replicamanager_isrexpands_total", NO_FOLLOWER),
    ("kafka_server_replicafetchermanager_maxlag", "nothing is fetched from others"),
    ("kafka_server_replicafetchermanager_minfetchrate", "nothing is fetched from others"),
    ("kafka_server_brokertopicmetrics_replicationbytesin_total", NO_FOLLOWER),
    ("kafka_server_brokertopicmetrics_replicationbytesout_total", NO_FOLLOWER),
    ("kafka_server_brokertopicmetrics_producemessageconversions_total", ONE_FORMAT),
    ("kafka_server_brokertopicmetrics_fetchmessageconversions_total", ONE_FORMAT),
    ("kafka_controller_kafkacontroller_metadataerrorcount", "an error ends the process"),
    ("kafka_controller_kafkacontroller_lastappliedrecordlagms", "the controller decides"),
    ("kafka_server_raft_metrics_fetch_records_rate", "the leader fetches from nobody"),
    ("kafka_server_raftmetrics_fetch_records_rate", "the leader fetches from nobody"),
    ("kafka_coordinator_group_groupmetadatamanager_numgroupsdead", "gone at once"),
];
const NO_FOLLOWER: &str =
    "no follower is served, so that a leader sees none fall behind or catch up";
const ONE_FORMAT: &str = "there is one format of batches";

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

async fn create(client: &mut Client, topic: &str, configs: &[(&str, &str)]) {
    let configs = configs.iter().map(|(name, value)| {
        CreatableTopicConfig::default().with_name(text(name)).with_value(Some(text(value)))
    });
    let topic = CreatableTopic::default()
        .with_name(text(topic).into())
        .with_num_partitions(1)
        .with_replication_factor(1)
        .with_configs(configs.collect());
    let request = CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(10_000);
    assert_eq!(client.ask(&request, 4).await.topics[0].error_code, 0);
}

async fn answer<Q: Request>(client: &mut Client, version: i16) -> Q::Response {
    Q::read_response(version, client.answer().await.unwrap()).unwrap().1
}

#[tokio::test(flavor = "multi_thread")]
async fn every_metric_moves_with_what_it_counts_or_has_a_reason_not_to() {
    let mut seen = clients::clients().await;
    seen.add(brokers::another().await);
    seen.add(brokers::directories().await);
    seen.add(brokers::crowd().await);
    seen.add(process::kernel().await);
    seen.add(process::time().await);
    check_all(&seen);
}

/// Nothing is promised that was not moved, or has no reason; and what has one did not move.
fn check_all(seen: &Seen) {
    for (name, why) in CONSTANT {
        let shown = seen.families.get(*name);
        let want = (0.0, 0.0, seen.pages);
        assert_eq!(shown, Some(&want), "{name} shall be 0 on every page, since {why}");
        assert!(!seen.moved.contains(*name), "{name} moves, so it needs no reason");
    }
    let reasons = CONSTANT.iter().map(|(name, _)| *name);
    let known: BTreeSet<&str> = reasons.chain(seen.moved.iter().map(String::as_str)).collect();
    let promised = promised();
    let left: Vec<_> = promised.keys().filter(|name| !known.contains(name.as_str())).collect();
    assert_eq!(left, Vec::<&String>::new(), "what moves these?");
    assert!(known.iter().all(|name| promised.contains_key(*name)), "{known:?}");
}
