//! What moves each metric: an act, and what stands on the page behind it. A metric that nothing
//! here moves has a reason.

use super::http::LISTENER;
use super::pages::commit;
use super::watch::Move::{self, By, Gone, To, Up};
use super::watch::{Watch, check_labels, family, promised};
use crate::world::{Client, World, batch, offset, produce};
use bytes::Bytes;
use protocol::error::ErrorCode;
use protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use protocol::messages::join_group_request::JoinGroupRequestProtocol;
use protocol::messages::leave_group_request::MemberIdentity;
use protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use protocol::messages::{
    ApiVersionsRequest, CreateTopicsRequest, DeleteGroupsRequest, DeleteRecordsRequest,
    FetchRequest, GroupId, JoinGroupRequest, LeaveGroupRequest, Request, StrBytes,
    SyncGroupRequest,
};
use protocol::records::builder::{BatchBuilder, NewRecord};
use std::collections::BTreeSet;
use std::path::Path;
use storage::disk::sim::{Fault, Operation, SimDisk};

const TOO_LARGE: usize = 2_000_000;

/// What shows nothing else on a node that is alone, or in a test, and why.
const CONSTANT: &[(&str, f64, &str)] = &[
    ("kafka_server_replicamanager_underreplicatedpartitions", 0.0, ONE_REPLICA),
    ("kafka_server_replicamanager_underminisrpartitioncount", 0.0, ONE_REPLICA),
    ("kafka_server_replicamanager_reassigningpartitions", 0.0, "there is nowhere to go"),
    ("kafka_server_replicamanager_isrshrinks_total", 0.0, ONE_REPLICA),
    ("kafka_server_replicamanager_isrexpands_total", 0.0, ONE_REPLICA),
    ("kafka_server_replicafetchermanager_maxlag", 0.0, "nothing is fetched from others"),
    ("kafka_server_replicafetchermanager_minfetchrate", 0.0, "nothing is fetched from others"),
    ("kafka_server_brokertopicmetrics_replicationbytesin_total", 0.0, ONE_REPLICA),
    ("kafka_server_brokertopicmetrics_replicationbytesout_total", 0.0, ONE_REPLICA),
    ("kafka_server_brokertopicmetrics_producemessageconversions_total", 0.0, ONE_FORMAT),
    ("kafka_server_brokertopicmetrics_fetchmessageconversions_total", 0.0, ONE_FORMAT),
    ("kafka_controller_kafkacontroller_fencedbrokercount", 0.0, "who is alone is not fenced"),
    ("kafka_controller_kafkacontroller_metadataerrorcount", 0.0, "an error ends the process"),
    ("kafka_controller_kafkacontroller_lastappliedrecordlagms", 0.0, "the controller decides"),
    ("kafka_controller_controllerstats_uncleanleaderelections_total", 0.0, ONE_REPLICA),
    ("kafka_cluster_partition_underreplicated", 0.0, ONE_REPLICA),
    ("kafka_cluster_partition_underminisr", 0.0, ONE_REPLICA),
    ("kafka_topic_partition_under_replicated_partition", 0.0, ONE_REPLICA),
    ("kafka_server_raft_metrics_fetch_records_rate", 0.0, "the leader fetches from nobody"),
    ("kafka_server_raftmetrics_fetch_records_rate", 0.0, "the leader fetches from nobody"),
    ("kafka_coordinator_group_groupmetadatamanager_numgroupsdead", 0.0, "gone at once"),
    (
        "kafka_server_fetchsessioncache_incrementalfetchsessionevictions_total",
        0.0,
        "a session must be two minutes old: tests/api/fetch_sessions",
    ),
];
const ONE_REPLICA: &str = "a partition has one replica";
const ONE_FORMAT: &str = "there is one format of batches";

/// What is measured, and by which test.
const MEASURED: &[&str] = &[
    // admin::metrics
    "kafka_network_socketserver_networkprocessoravgidle_percent",
    "kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent",
    "kafka_server_kafkaserver_linux_disk_read_bytes",
    "kafka_server_kafkaserver_linux_disk_write_bytes",
    "process_cpu_seconds_total",
    "process_resident_memory_bytes",
    "process_open_fds",
    "process_start_time_seconds",
    // `directories_that_fail_take_their_partitions_along`
    "kafka_server_replicamanager_offlinereplicacount",
    "kafka_controller_kafkacontroller_offlinepartitionscount",
    "kafka_controller_kafkacontroller_preferredreplicaimbalancecount",
    "kafka_log_logmanager_offlinelogdirectorycount",
];

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

fn fetch(topic: &str, offset: i64) -> FetchRequest {
    let partition =
        FetchPartition::default().with_fetch_offset(offset).with_partition_max_bytes(1 << 20);
    let topic =
        FetchTopic::default().with_topic(text(topic).into()).with_partitions(vec![partition]);
    FetchRequest::default().with_max_bytes(1 << 20).with_topics(vec![topic])
}

fn join(member: &StrBytes) -> JoinGroupRequest {
    let protocol = JoinGroupRequestProtocol::default().with_name(text("range"));
    JoinGroupRequest::default()
        .with_group_id(GroupId(text("g")))
        .with_session_timeout_ms(30_000)
        .with_rebalance_timeout_ms(60_000)
        .with_member_id(member.clone())
        .with_protocol_type(text("consumer"))
        .with_protocols(vec![protocol])
}

/// A member's id; since version 4 it is given before it joins.
async fn member(client: &mut Client) -> StrBytes {
    let named = client.ask(&join(&StrBytes::default()), 9).await;
    assert_eq!(named.error_code, ErrorCode::MemberIdRequired.code());
    named.member_id
}

async fn sync(client: &mut Client, member: &StrBytes, generation: i32) {
    let all = SyncGroupRequestAssignment::default().with_member_id(member.clone());
    let request = SyncGroupRequest::default()
        .with_group_id(GroupId(text("g")))
        .with_generation_id(generation)
        .with_member_id(member.clone())
        .with_assignments(vec![all]);
    assert_eq!(client.ask(&request, 3).await.error_code, 0);
}

async fn leave(client: &mut Client, member: &StrBytes) {
    let member = MemberIdentity::default().with_member_id(member.clone());
    let request =
        LeaveGroupRequest::default().with_group_id(GroupId(text("g"))).with_members(vec![member]);
    assert_eq!(client.ask(&request, 3).await.error_code, 0);
}

async fn answer<Q: Request>(client: &mut Client, version: i16) -> Q::Response {
    Q::read_response(version, client.answer().await.unwrap()).unwrap().1
}

#[tokio::test(flavor = "multi_thread")]
async fn every_metric_moves_with_what_it_counts_or_has_a_reason_not_to() {
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
    watch.sees("a connection that goes", &[(&count, To(0.0)), (&closed, Up)]).await;

    check_labels(&watch.last);
    check_all(&watch);
    world.broker.stop().await;
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
    watch.sees("a produce that waits", &[(produces, To(1.0))]).await;
    disk.mend();
    client.answer().await.unwrap();
    let syncs = "kafka_log_logflushstats_logflushrateandtimems_count";
    watch.saw("the sync it waited for", &[(produces, To(0.0)), (syncs, Up)]).await;
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

/// A group without members that commits, and one of two members.
async fn groups(world: &World, watch: &mut Watch<'_>, client: &mut Client) {
    commit(client, "readers", 1).await;
    watch.saw("a commit", COMMITTED).await;
    let delete = DeleteGroupsRequest::default().with_groups_names(vec![GroupId(text("readers"))]);
    assert_eq!(client.ask(&delete, 2).await.results[0].error_code, 0);
    let moves = [
        ("kafka_coordinator_group_groupmetadatamanager_numgroups", By(-1.0)),
        ("kafka_coordinator_group_groupmetadatamanager_numoffsets", By(-1.0)),
        ("kafka_consumergroup_lag{consumergroup=\"readers\",topic=\"t\",partition=\"0\"}", Gone),
    ];
    watch.saw("a group that is deleted", &moves).await;

    let in_state =
        |state: &str| format!("kafka_coordinator_group_groupmetadatamanager_numgroups{state}");
    let members = "kafka_consumergroup_members{consumergroup=\"g\"}";
    let first = member(client).await;
    let joined = client.ask(&join(&first), 9).await;
    assert_eq!(joined.error_code, 0);
    let completing = in_state("completingrebalance");
    watch.saw("a member", &[(&completing, To(1.0)), (members, To(1.0))]).await;
    sync(client, &first, joined.generation_id).await;
    let stable = in_state("stable");
    watch.saw("its assignment", &[(&completing, To(0.0)), (&stable, To(1.0))]).await;

    let mut other = world.connect().await;
    let second = member(&mut other).await;
    other.send(&join(&second).frame(9, 7, "test").unwrap()).await;
    let preparing = in_state("preparingrebalance");
    let moves = [(&*preparing, To(1.0)), (&stable, To(0.0)), (members, To(2.0))];
    watch.sees("another member", &moves).await;
    leave(client, &first).await;
    let joined = answer::<JoinGroupRequest>(&mut other, 9).await;
    assert_eq!(joined.error_code, 0);
    leave(&mut other, &second).await;
    let moves = [(&*in_state("empty"), To(1.0)), (&preparing, To(0.0)), (members, To(0.0))];
    watch.saw("the last member's going", &moves).await;
}

/// Nothing is promised that was not moved here, or has no reason.
fn check_all(watch: &Watch<'_>) {
    for (name, value, why) in CONSTANT {
        let samples = watch.last.iter().filter(|(sample, _)| family(sample) == *name);
        for (sample, is) in samples {
            assert_eq!(is, value, "{sample} should not move, since {why}");
        }
    }
    let reasons = CONSTANT.iter().map(|(name, ..)| name).chain(MEASURED);
    let known: BTreeSet<&str> =
        reasons.copied().chain(watch.moved.iter().map(String::as_str)).collect();
    let promised = promised();
    let left: Vec<_> = promised.keys().filter(|name| !known.contains(name.as_str())).collect();
    assert_eq!(left, Vec::<&String>::new(), "what moves these?");
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

const COMMITTED: &[(&str, Move)] = &[
    ("kafka_coordinator_group_groupmetadatamanager_numgroups", By(1.0)),
    ("kafka_coordinator_group_groupmetadatamanager_numgroupsempty", By(1.0)),
    ("kafka_coordinator_group_groupmetadatamanager_numoffsets", By(1.0)),
    (
        "kafka_consumergroup_current_offset{consumergroup=\"readers\",topic=\"t\",partition=\"0\"}",
        To(1.0),
    ),
    ("kafka_consumergroup_current_offset_sum{consumergroup=\"readers\",topic=\"t\"}", To(1.0)),
    ("kafka_consumergroup_lag{consumergroup=\"readers\",topic=\"t\",partition=\"0\"}", To(1.0)),
    ("kafka_consumergroup_lag_sum{consumergroup=\"readers\",topic=\"t\"}", To(1.0)),
    ("kafka_consumergroup_members{consumergroup=\"readers\"}", To(0.0)),
];

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

const HEARTBEATS: &str = "broker.heartbeat.interval.ms=50";

#[tokio::test(flavor = "multi_thread")]
async fn directories_that_fail_take_their_partitions_along() {
    let (disk, overrides) = (SimDisk::default(), [LISTENER, "log.dirs=/a,/b", HEARTBEATS]);
    let world = World::on(&disk, &overrides).await;
    let mut client = world.connect().await;
    for topic in ["t", "u"] {
        client.create(topic).await;
    }
    let mut watch = Watch::new(&world);
    watch.saw("two topics", &[("kafka_server_replicamanager_leadercount", To(2.0))]).await;
    let ctx = &world.broker.ctx;
    let lies_in = |dir| ctx.partitions.partitions_in(dir);
    let dir = ctx.dirs.iter().find(|dir| !lies_in(dir).is_empty()).unwrap();
    let lost: Vec<_> = lies_in(dir).iter().map(|partition| partition.topic.clone()).collect();
    let all = i32::try_from(lost.len()).unwrap();
    let of_lost = |what: &str| {
        format!("kafka_topic_partition_{what}{{topic=\"{}\",partition=\"0\"}}", lost[0])
    };
    let (leader, preferred) = (of_lost("leader"), of_lost("leader_is_preferred"));
    dir.fail("its cable is out");
    let moves = [
        ("kafka_log_logmanager_offlinelogdirectorycount", By(1.0)),
        ("kafka_server_replicamanager_offlinereplicacount", By(f64::from(all))),
        ("kafka_server_replicamanager_partitioncount", By(f64::from(-all))),
        ("kafka_server_replicamanager_leadercount", By(f64::from(-all))),
        ("kafka_controller_kafkacontroller_offlinepartitionscount", By(f64::from(all))),
        ("kafka_controller_kafkacontroller_preferredreplicaimbalancecount", By(f64::from(all))),
        (&leader, Gone),
        (&preferred, To(0.0)),
    ];
    watch.sees("a directory that fails", &moves).await;
    world.broker.stop().await;

    // Its cable is in again.
    let world = World::on(&disk, &overrides).await;
    let mut watch = Watch::new(&world);
    watch.sees("a start", &[("kafka_server_replicamanager_leadercount", To(2.0))]).await;
    world.broker.stop().await;
}
