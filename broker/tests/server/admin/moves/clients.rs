//! Clients that connect, produce and fetch.

use super::groups::groups;
use super::{answer, create, text};
use crate::admin::http::LISTENER;
use crate::admin::watch::Move::{self, By, Gone, To, Up};
use crate::admin::watch::{Seen, Watch, check_labels};
use crate::world::{Client, World, batch, offset, produce};
use bytes::Bytes;
use protocol::error::ErrorCode;
use protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use protocol::messages::{ApiVersionsRequest, DeleteRecordsRequest, FetchRequest, Request};
use protocol::records::builder::{BatchBuilder, NewRecord};
use std::path::Path;
use storage::disk::sim::{Fault, Operation, SimDisk};

const TOO_LARGE: usize = 2_000_000;

fn without_key() -> Bytes {
    let mut builder = BatchBuilder::new(0);
    builder.push(NewRecord {
        timestamp_ms: 1_700_000_000_000,
        key: None,
        value: None,
        headers: &[],
    });
    builder.build().unwrap()
}

pub(super) fn fetch(topic: &str, offset: i64) -> FetchRequest {
    let partition =
        FetchPartition::default().with_fetch_offset(offset).with_partition_max_bytes(1 << 20);
    let topic =
        FetchTopic::default().with_topic(text(topic).into()).with_partitions(vec![partition]);
    FetchRequest::default().with_max_bytes(1 << 20).with_topics(vec![topic])
}

/// The story of a broker and its clients.
pub(super) async fn clients() -> Seen {
    let disk = SimDisk::default();
    let overrides =
        [LISTENER, "offsets.topic.num.partitions=1", "group.initial.rebalance.delay.ms=0"];
    let world = World::on(&disk, &overrides).await;
    let mut watch = Watch::new(&world);
    let info =
        format!("kafka_broker_info{{id=\"1\",address=\"localhost:{}\"}}", world.address().port());
    let start = [
        ("kafka_server_kafkaserver_brokerstate", To(3.0)),
        ("kafka_controller_kafkacontroller_activecontrollercount", To(1.0)),
        ("kafka_controller_kafkacontroller_activebrokercount", To(1.0)),
        ("kafka_server_raft_metrics_current_leader", To(1.0)),
        ("kafka_server_raft_metrics_current_epoch", Up),
        ("kafka_server_raft_metrics_current_state_info{state=\"leader\"}", To(1.0)),
        ("kafka_server_raftmetrics_current_leader", To(1.0)),
        ("kafka_server_raftmetrics_current_epoch", Up),
        ("kafka_server_raftmetrics_current_state{current_state=\"leader\"}", To(1.0)),
        ("kafka_brokers", To(1.0)),
        (info.as_str(), To(1.0)),
    ];
    watch.saw("a start", &start).await;

    let mut client = world.connect().await;
    client.is_answered().await;
    let connections = "{listener=\"PLAINTEXT\",networkProcessor=\"0\"}";
    let count = format!("kafka_server_socket_server_metrics_connection_count{connections}");
    let opened =
        format!("kafka_server_socket_server_metrics_connection_creation_rate{connections}");
    let closed = format!("kafka_server_socket_server_metrics_connection_close_rate{connections}");
    let requests =
        "kafka_network_requestmetrics_requests_total{request=\"ApiVersions\",version=\"0\"}";
    watch.saw("a connection", &[(&count, By(1.0)), (&opened, Up), (requests, By(1.0))]).await;
    let named = ApiVersionsRequest::default()
        .with_client_software_name(text("tool"))
        .with_client_software_version(text("1.0"));
    assert_eq!(client.ask(&named, 3).await.error_code, 0);
    let of = |name: &str, version: &str| {
        let listener = connections.trim_end_matches('}');
        format!(
            "kafka_server_socket_server_metrics_connections{listener},clientSoftwareName=\"{name}\",clientSoftwareVersion=\"{version}\"}}"
        )
    };
    let (tool, unknown) = (of("tool", "1.0"), of("unknown", "unknown"));
    watch.saw("a client with a name", &[(&tool, To(1.0)), (&unknown, To(0.0))]).await;

    create(&mut client, "t", &[]).await;
    watch.saw("a new topic", CREATED).await;

    produces(&mut watch, &mut client).await;
    fetches(&disk, &mut watch, &mut client).await;
    waiting(&world, &mut watch, &mut client).await;
    durable(&disk, &mut watch, &mut client).await;
    segments(&mut watch, &mut client).await;
    groups(&world, &mut watch, &mut client).await;

    client.delete("t").await;
    watch.saw("a topic that goes", DELETED).await;
    drop(client);
    let moves = [(&*count, To(0.0)), (&closed, Up), (&tool, Gone)];
    watch.sees("a connection that goes", &moves).await;

    check_labels(&watch.last);
    let seen = watch.end();
    world.broker.stop().await;
    seen
}

/// Produces that are taken, and that are refused for each of the reasons that count.
async fn produces(watch: &mut Watch<'_>, client: &mut Client) {
    assert_eq!(offset(&client.produce("t", batch(100)).await), Ok(0));
    watch.saw("a produce", &produced(batch(100).len())).await;

    let refused = offset(&client.produce("none", batch(1)).await);
    assert_eq!(refused, Err(ErrorCode::UnknownTopicOrPartition.code()));
    let error = "kafka_network_requestmetrics_errors_total{request=\"Produce\",error=\"UNKNOWN_TOPIC_OR_PARTITION\"}";
    watch.saw("a produce to no topic", &[(error, By(1.0))]).await;

    let large = batch(TOO_LARGE);
    let rejected = By(f64::from(u32::try_from(large.len()).unwrap()));
    assert_eq!(offset(&client.produce("t", large).await), Err(ErrorCode::MessageTooLarge.code()));
    let large = [
        ("kafka_server_brokertopicmetrics_bytesrejected_total", rejected),
        ("kafka_server_brokertopicmetrics_bytesrejected_total{topic=\"t\"}", rejected),
        ("kafka_server_brokertopicmetrics_failedproducerequests_total", By(0.0)),
    ];
    watch.saw("a batch that is too large", &large).await;

    create(client, "compacted", &[("cleanup.policy", "compact")]).await;
    let refused = offset(&client.produce("compacted", without_key()).await);
    assert_eq!(refused, Err(ErrorCode::InvalidRecord.code()));
    let failed = [
        ("kafka_server_brokertopicmetrics_failedproducerequests_total", By(1.0)),
        (
            "kafka_server_brokertopicmetrics_failedproducerequests_total{topic=\"compacted\"}",
            By(1.0),
        ),
    ];
    watch.saw("a record without its key", &failed).await;

    create(client, "numbered", &[]).await;
    let numbered = BatchBuilder::new(0).producer(7, 0, 0).key_value(1_700_000_000_000, b"k", b"v");
    assert_eq!(offset(&client.produce("numbered", numbered.build().unwrap()).await), Ok(0));
    let count = "kafka_server_replicamanager_produceridcount";
    watch.saw("an idempotent producer", &[(count, By(1.0))]).await;
}

/// Fetches of what is there, and of what is damaged.
async fn fetches(disk: &SimDisk, watch: &mut Watch<'_>, client: &mut Client) {
    let read = client.ask(&fetch("t", 0).with_session_epoch(0), 12).await;
    assert_eq!((read.error_code, read.responses.len()), (0, 1));
    assert!(read.session_id != 0);
    watch.saw("a fetch with a session", &fetched(batch(100).len())).await;

    create(client, "rotten", &[]).await;
    assert_eq!(offset(&client.produce("rotten", batch(100)).await), Ok(0));
    // The format of the first batch.
    disk.rot(Path::new("/data/rotten-0/00000000000000000000.log"), 16, 0xFF).unwrap();
    let read = client.ask(&fetch("rotten", 0).with_session_epoch(-1), 12).await;
    let code = read.responses[0].partitions[0].error_code;
    assert_eq!(code, ErrorCode::CorruptMessage.code());
    let failed = [
        ("kafka_server_brokertopicmetrics_failedfetchrequests_total", By(1.0)),
        ("kafka_server_brokertopicmetrics_failedfetchrequests_total{topic=\"rotten\"}", By(1.0)),
    ];
    watch.saw("a fetch of a damaged batch", &failed).await;
}

/// A fetch that waits for bytes, and a request behind it.
async fn waiting(world: &World, watch: &mut Watch<'_>, client: &mut Client) {
    let mut patient = world.connect().await;
    let waits = fetch("t", 1).with_session_epoch(-1).with_min_bytes(1).with_max_wait_ms(60_000);
    patient.send(&waits.frame(12, 7, "test").unwrap()).await;
    patient.send(&ApiVersionsRequest::default().frame(0, 8, "test").unwrap()).await;
    let fetches =
        "kafka_server_delayedoperationpurgatory_purgatorysize{delayedOperation=\"Fetch\"}";
    let queue = "kafka_network_requestchannel_requestqueuesize";
    watch.sees("a fetch that waits", &[(fetches, To(1.0)), (queue, To(1.0))]).await;
    client.produce("t", batch(100)).await;
    answer::<FetchRequest>(&mut patient, 12).await;
    answer::<ApiVersionsRequest>(&mut patient, 0).await;
    let most = |stage: &str, request: &str| {
        format!(
            "kafka_network_requestmetrics_{stage}timems{{request=\"{request}\",quantile=\"0.999\"}}"
        )
    };
    let moves = [
        (fetches, To(0.0)),
        (queue, To(0.0)),
        (&most("remote", "FetchConsumer"), Up),
        (&most("requestqueue", "ApiVersions"), Up),
    ];
    watch.saw("what a fetch waited for", &moves).await;
}

/// A produce that waits for a sync, which at first is short of files.
async fn durable(disk: &SimDisk, watch: &mut Watch<'_>, client: &mut Client) {
    create(client, "durable", &[("flush.messages", "1")]).await;
    for _ in 0..1000 {
        disk.fail(Fault { os_error: 24, ..Fault::eio(Operation::SyncDir) });
    }
    client.send(&produce("durable", batch(1)).frame(9, 7, "test").unwrap()).await;
    let produces =
        "kafka_server_delayedoperationpurgatory_purgatorysize{delayedOperation=\"Produce\"}";
    // What is answered at once waits behind it.
    client.send(&produce("none", batch(1)).frame(9, 8, "test").unwrap()).await;
    let early = "kafka_network_requestchannel_responsequeuesize";
    watch.sees("a produce that waits", &[(produces, To(1.0)), (early, To(1.0))]).await;
    disk.mend();
    for _ in 0..2 {
        client.answer().await.unwrap();
    }
    let syncs = "kafka_log_logflushstats_logflushrateandtimems_count";
    let moves = [(produces, To(0.0)), (early, To(0.0)), (syncs, Up)];
    watch.saw("the sync it waited for", &moves).await;
}

/// A log that gets a second segment, and loses its first record.
async fn segments(watch: &mut Watch<'_>, client: &mut Client) {
    create(client, "s", &[("segment.bytes", "1048576")]).await;
    for _ in 0..2 {
        offset(&client.produce("s", batch(600_000)).await).unwrap();
    }
    watch
        .saw(
            "a full segment",
            &[("kafka_log_log_numlogsegments{topic=\"s\",partition=\"0\"}", By(2.0))],
        )
        .await;
    let partition = DeleteRecordsPartition::default().with_offset(1);
    let topic =
        DeleteRecordsTopic::default().with_name(text("s").into()).with_partitions(vec![partition]);
    let request = DeleteRecordsRequest::default().with_topics(vec![topic]).with_timeout_ms(1000);
    assert_eq!(client.ask(&request, 2).await.topics[0].partitions[0].error_code, 0);
    let moves = [
        ("kafka_log_log_logstartoffset{topic=\"s\",partition=\"0\"}", To(1.0)),
        ("kafka_topic_partition_oldest_offset{topic=\"s\",partition=\"0\"}", To(1.0)),
    ];
    watch.saw("records that go", &moves).await;
}

const CREATED: &[(&str, Move)] = &[
    ("kafka_controller_kafkacontroller_globaltopiccount", By(1.0)),
    ("kafka_controller_kafkacontroller_globalpartitioncount", By(1.0)),
    ("kafka_server_replicamanager_partitioncount", By(1.0)),
    ("kafka_server_replicamanager_leadercount", By(1.0)),
    ("kafka_server_replicamanager_atminisrpartitioncount", By(1.0)),
    ("kafka_cluster_partition_atminisr{topic=\"t\",partition=\"0\"}", To(1.0)),
    ("kafka_cluster_partition_replicascount{topic=\"t\",partition=\"0\"}", To(1.0)),
    ("kafka_cluster_partition_insyncreplicascount{topic=\"t\",partition=\"0\"}", To(1.0)),
    ("kafka_topic_partitions{topic=\"t\"}", To(1.0)),
    ("kafka_topic_partition_leader{topic=\"t\",partition=\"0\"}", To(1.0)),
    ("kafka_topic_partition_replicas{topic=\"t\",partition=\"0\"}", To(1.0)),
    ("kafka_topic_partition_in_sync_replica{topic=\"t\",partition=\"0\"}", To(1.0)),
    ("kafka_topic_partition_leader_is_preferred{topic=\"t\",partition=\"0\"}", To(1.0)),
    ("kafka_server_raft_metrics_log_end_offset", Up),
    ("kafka_server_raft_metrics_high_watermark", Up),
    ("kafka_server_raft_metrics_commit_latency_avg", Up),
    ("kafka_server_raft_metrics_append_records_rate", Up),
    ("kafka_server_raftmetrics_log_end_offset", Up),
    ("kafka_server_raftmetrics_high_watermark", Up),
    ("kafka_server_raftmetrics_commit_latency_avg", Up),
    ("kafka_server_raftmetrics_append_records_rate", Up),
    (
        "kafka_network_requestmetrics_requests_total{request=\"CreateTopics\",version=\"4\"}",
        By(1.0),
    ),
    ("kafka_network_requestmetrics_errors_total{request=\"CreateTopics\",error=\"NONE\"}", Up),
];

fn produced(bytes: usize) -> Vec<(&'static str, Move)> {
    let bytes = By(f64::from(u32::try_from(bytes).unwrap()));
    vec![
        ("kafka_server_brokertopicmetrics_messagesin_total", By(1.0)),
        ("kafka_server_brokertopicmetrics_messagesin_total{topic=\"t\"}", By(1.0)),
        ("kafka_server_brokertopicmetrics_bytesin_total", bytes),
        ("kafka_server_brokertopicmetrics_bytesin_total{topic=\"t\"}", bytes),
        ("kafka_server_brokertopicmetrics_totalproducerequests_total", By(1.0)),
        ("kafka_server_brokertopicmetrics_totalproducerequests_total{topic=\"t\"}", By(1.0)),
        ("kafka_server_brokertopicmetrics_failedproducerequests_total", By(0.0)),
        ("kafka_log_log_size{topic=\"t\",partition=\"0\"}", bytes),
        ("kafka_log_log_logendoffset{topic=\"t\",partition=\"0\"}", By(1.0)),
        ("kafka_topic_partition_current_offset{topic=\"t\",partition=\"0\"}", By(1.0)),
        ("kafka_network_requestmetrics_requests_total{request=\"Produce\",version=\"9\"}", By(1.0)),
        ("kafka_network_requestmetrics_errors_total{request=\"Produce\",error=\"NONE\"}", By(1.0)),
        ("kafka_network_requestmetrics_totaltimems{request=\"Produce\",quantile=\"0.50\"}", Up),
        ("kafka_network_requestmetrics_localtimems{request=\"Produce\",quantile=\"0.50\"}", Up),
        ("kafka_network_requestmetrics_totaltimems_count{request=\"Produce\"}", By(1.0)),
        ("kafka_network_requestmetrics_requestqueuetimems_count{request=\"Produce\"}", By(1.0)),
        ("kafka_network_requestmetrics_localtimems_count{request=\"Produce\"}", By(1.0)),
        ("kafka_network_requestmetrics_remotetimems_count{request=\"Produce\"}", By(1.0)),
        ("kafka_network_requestmetrics_responsequeuetimems_count{request=\"Produce\"}", By(1.0)),
        ("kafka_network_requestmetrics_responsesendtimems_count{request=\"Produce\"}", By(1.0)),
        ("kafka_network_requestmetrics_throttletimems_count{request=\"Produce\"}", By(1.0)),
    ]
}

fn fetched(bytes: usize) -> Vec<(&'static str, Move)> {
    let bytes = By(f64::from(u32::try_from(bytes).unwrap()));
    vec![
        ("kafka_server_brokertopicmetrics_bytesout_total", bytes),
        ("kafka_server_brokertopicmetrics_bytesout_total{topic=\"t\"}", bytes),
        ("kafka_server_brokertopicmetrics_totalfetchrequests_total", By(1.0)),
        ("kafka_server_brokertopicmetrics_totalfetchrequests_total{topic=\"t\"}", By(1.0)),
        ("kafka_server_brokertopicmetrics_failedfetchrequests_total", By(0.0)),
        ("kafka_server_fetchsessioncache_numincrementalfetchsessions", By(1.0)),
        ("kafka_network_requestmetrics_requests_total{request=\"Fetch\",version=\"12\"}", By(1.0)),
        (
            "kafka_network_requestmetrics_requests_total{request=\"FetchConsumer\",version=\"12\"}",
            By(1.0),
        ),
    ]
}

const DELETED: &[(&str, Move)] = &[
    ("kafka_controller_kafkacontroller_globaltopiccount", By(-1.0)),
    ("kafka_controller_kafkacontroller_globalpartitioncount", By(-1.0)),
    ("kafka_server_replicamanager_partitioncount", By(-1.0)),
    ("kafka_server_replicamanager_leadercount", By(-1.0)),
    ("kafka_server_brokertopicmetrics_messagesin_total", By(0.0)),
    ("kafka_server_brokertopicmetrics_messagesin_total{topic=\"t\"}", Gone),
    ("kafka_log_log_size{topic=\"t\",partition=\"0\"}", Gone),
    ("kafka_cluster_partition_replicascount{topic=\"t\",partition=\"0\"}", Gone),
    ("kafka_topic_partition_leader{topic=\"t\",partition=\"0\"}", Gone),
];
