//! What Prometheus reads.

use super::http::{get, raw};
use super::pages::{commit, fetch, packed};
use crate::world::{World, batch};
use broker::metrics::State;
use std::collections::BTreeMap;

/// Every sample by its name and labels, as it stands on the page.
pub(super) async fn scrape(world: &World) -> BTreeMap<String, f64> {
    let answer = get(world.admin(), "/metrics").await;
    assert_eq!(answer.status, 200);
    assert!(answer.head.contains("content-type: text/plain; version=0.0.4"), "{}", answer.head);
    let mut samples = BTreeMap::new();
    let mut typed = BTreeMap::new();
    for line in answer.body.lines() {
        if let Some(head) = line.strip_prefix("# TYPE ") {
            let (name, kind) = head.split_once(' ').unwrap();
            assert_eq!(typed.insert(name.to_owned(), kind.to_owned()), None, "{name} stands twice");
        } else if !line.starts_with('#') {
            let (sample, value) = line.rsplit_once(' ').unwrap();
            let name = sample.split('{').next().unwrap();
            let family = name.strip_suffix("_count").filter(|name| typed.contains_key(*name));
            assert!(typed.contains_key(family.unwrap_or(name)), "{name} has no type");
            let before = samples.insert(sample.to_owned(), value.parse().unwrap());
            assert_eq!(before, None, "{sample} stands twice");
        }
    }
    samples
}

/// What stands on the page after the test below.
const THEN: &[(&str, f64)] = &[
    ("kafka_server_kafkaserver_brokerstate", 3.0),
    ("kafka_controller_kafkacontroller_activecontrollercount", 1.0),
    ("kafka_controller_kafkacontroller_globaltopiccount", 3.0),
    ("kafka_controller_kafkacontroller_globalpartitioncount", 3.0),
    ("kafka_server_replicamanager_leadercount", 3.0),
    ("kafka_server_replicamanager_partitioncount", 3.0),
    ("kafka_server_replicamanager_offlinereplicacount", 0.0),
    ("kafka_server_replicamanager_atminisrpartitioncount", 3.0),
    ("kafka_server_replicamanager_underreplicatedpartitions", 0.0),
    ("kafka_cluster_partition_replicascount{topic=\"t\",partition=\"0\"}", 1.0),
    ("kafka_log_log_logendoffset{topic=\"t\",partition=\"0\"}", 6.0),
    ("kafka_log_log_logstartoffset{topic=\"t\",partition=\"0\"}", 0.0),
    ("kafka_log_logmanager_offlinelogdirectorycount", 0.0),
    ("kafka_server_raft_metrics_current_leader", 1.0),
    ("kafka_server_raft_metrics_current_state_info{state=\"leader\"}", 1.0),
    ("kafka_server_raftmetrics_current_state{current_state=\"leader\"}", 1.0),
    ("kafka_coordinator_group_groupmetadatamanager_numgroups", 1.0),
    ("kafka_coordinator_group_groupmetadatamanager_numgroupsempty", 1.0),
    ("kafka_brokers", 1.0),
    ("kafka_topic_partition_current_offset{topic=\"t\",partition=\"0\"}", 6.0),
    (
        "kafka_consumergroup_current_offset{consumergroup=\"readers\",topic=\"t\",partition=\"0\"}",
        2.0,
    ),
    ("kafka_consumergroup_lag{consumergroup=\"readers\",topic=\"t\",partition=\"0\"}", 4.0),
    ("kafka_consumergroup_lag_sum{consumergroup=\"readers\",topic=\"t\"}", 4.0),
    ("kafka_consumergroup_members{consumergroup=\"readers\"}", 0.0),
];

#[tokio::test(flavor = "multi_thread")]
async fn what_a_client_does_is_counted() {
    let world = World::with_admin(&["offsets.topic.num.partitions=1"]).await;
    let mut client = world.connect().await;
    client.create("t").await;
    client.create("u").await;
    let before = scrape(&world).await;
    for _ in 0..2 {
        client.produce("t", packed()).await;
    }
    client.produce("u", batch(10)).await;
    client.produce("none", batch(10)).await;
    fetch(&mut client, "t").await;
    commit(&mut client, "readers", 2).await;
    let after = scrape(&world).await;
    let value = |name: &str| after.get(name).copied().unwrap_or_else(|| panic!("no {name}"));
    let moved = |name: &str| value(name) - before.get(name).copied().unwrap_or(0.0);

    let bytes = f64::from(u32::try_from(packed().len()).unwrap());
    let of_t = |what: &str| format!("kafka_server_brokertopicmetrics_{what}_total{{topic=\"t\"}}");
    assert_eq!(moved(&of_t("messagesin")), 6.0);
    assert_eq!(moved(&of_t("bytesin")), 2.0 * bytes);
    assert_eq!(moved(&of_t("bytesout")), 2.0 * bytes);
    assert_eq!(moved(&of_t("totalproducerequests")), 2.0);
    assert_eq!(moved(&of_t("totalfetchrequests")), 1.0);
    // With "u", and the record of the commit.
    assert_eq!(moved("kafka_server_brokertopicmetrics_messagesin_total"), 8.0);
    assert_eq!(moved("kafka_server_brokertopicmetrics_failedproducerequests_total"), 0.0);

    let produce = |labels: &str| format!("kafka_network_requestmetrics_{labels}");
    assert_eq!(moved(&produce("requests_total{request=\"Produce\",version=\"9\"}")), 4.0);
    assert_eq!(moved(&produce("errors_total{request=\"Produce\",error=\"NONE\"}")), 3.0);
    let unknown = "errors_total{request=\"Produce\",error=\"UNKNOWN_TOPIC_OR_PARTITION\"}";
    assert_eq!(moved(&produce(unknown)), 1.0);
    assert_eq!(moved(&produce("totaltimems_count{request=\"Produce\"}")), 4.0);
    let total = value(&produce("totaltimems{request=\"Produce\",quantile=\"0.50\"}"));
    let local = value(&produce("localtimems{request=\"Produce\",quantile=\"0.50\"}"));
    assert!(0.0 < local && local <= total, "{local} {total}");
    assert_eq!(value(&produce("requestqueuetimems{request=\"Fetch\",quantile=\"0.999\"}")), 0.0);
    assert_eq!(
        value(&produce("totaltimems_count{request=\"FetchConsumer\"}")),
        value(&produce("totaltimems_count{request=\"Fetch\"}"))
    );

    assert_eq!(value("kafka_log_log_size{topic=\"t\",partition=\"0\"}"), 2.0 * bytes);
    for (name, want) in THEN {
        assert_eq!(value(name), *want, "{name}");
    }
    let connections = "kafka_server_socket_server_metrics_connection_count{listener=\"PLAINTEXT\",networkProcessor=\"0\"}";
    assert_eq!(value(connections), 1.0);
    for name in [
        "process_resident_memory_bytes",
        "process_open_fds",
        "process_start_time_seconds",
        "kafka_server_raft_metrics_log_end_offset",
        "kafka_server_raft_metrics_high_watermark",
    ] {
        assert!(1.0 <= value(name), "{name}");
    }
    let idle = value("kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent");
    assert!((0.0..=1.0).contains(&idle), "{idle}");
    let idle = value("kafka_network_socketserver_networkprocessoravgidle_percent");
    assert!((0.0..=1.0).contains(&idle), "{idle}");
    for name in [
        "kafka_server_kafkaserver_linux_disk_read_bytes",
        "kafka_server_kafkaserver_linux_disk_write_bytes",
        "process_cpu_seconds_total",
    ] {
        assert!(0.0 <= value(name), "{name}");
    }
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn counters_of_all_topics_do_not_fall_when_one_goes() {
    let world = World::with_admin(&[]).await;
    let mut client = world.connect().await;
    client.create("t").await;
    client.produce("t", packed()).await;
    client.delete("t").await;
    let samples = scrape(&world).await;
    let total = "kafka_server_brokertopicmetrics_messagesin_total";
    assert_eq!(samples.get(total), Some(&3.0));
    assert_eq!(samples.get(&format!("{total}{{topic=\"t\"}}")), None);
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_starts_tells_its_state() {
    let world = World::with_admin(&[]).await;
    world.broker.ctx.metrics.state.set(State::Recovery);
    let samples = scrape(&world).await;
    assert_eq!(samples.get("kafka_server_kafkaserver_brokerstate"), Some(&2.0));
    let head = b"HEAD /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let answer = raw(world.admin(), head).await.unwrap();
    assert_eq!((answer.status, &*answer.body), (200, ""));
    world.broker.stop().await;
}
