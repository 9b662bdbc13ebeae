//! A broker on a folder of its own, and clients of it.

use broker::config::{BrokerConfig, Given};
use broker::server::{Broker, StartError};
use bytes::Bytes;
use kraft::env::{Clock, Env, os};
use protocol::messages::create_topics_request::CreatableTopic;
use protocol::messages::incremental_alter_configs_request::{
    AlterConfigsResource, AlterableConfig,
};
use protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use protocol::messages::{
    ApiVersionsRequest, CreateTopicsRequest, DeleteTopicsRequest, IncrementalAlterConfigsRequest,
    ProduceRequest, ProduceResponse, Request, StrBytes,
};
use protocol::records::builder::BatchBuilder;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use storage::disk::sim::SimDisk;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// When the clocks of [`Hands`] begin, in seconds since 1970.
pub(crate) const BEGINNING: u32 = 1_700_000_000;

/// A clock whose day is set by hand; its hours pass as ever.
#[derive(Debug)]
pub(crate) struct Hands {
    ahead_s: AtomicU64,
    hours: Arc<dyn Clock>,
}

impl Hands {
    pub(crate) fn new() -> Arc<Hands> {
        Arc::new(Hands { ahead_s: AtomicU64::new(0), hours: os::env().clock })
    }

    pub(crate) fn move_by(&self, seconds: u64) {
        self.ahead_s.fetch_add(seconds, Ordering::Relaxed);
    }

    fn ahead(&self) -> Duration {
        Duration::from_secs(self.ahead_s.load(Ordering::Relaxed))
    }
}

impl Clock for Hands {
    fn wall_ms(&self) -> i64 {
        let now = Duration::from_secs(BEGINNING.into()) + self.ahead();
        i64::try_from(now.as_millis()).unwrap()
    }
    fn monotonic(&self) -> Duration {
        self.hours.monotonic() + self.ahead()
    }
}

/// A broker, and the folder that goes with it.
pub(crate) struct World {
    pub(crate) broker: Broker,
    pub(crate) dir: TempDir,
}

impl World {
    pub(crate) async fn new(overrides: &[&str]) -> World {
        let dir = TempDir::new().unwrap();
        let broker = start(dir.path(), overrides).await.unwrap();
        World { broker, dir }
    }

    /// On a disk in memory.
    pub(crate) async fn on(disk: &SimDisk, overrides: &[&str]) -> World {
        World::within(Env { disk: Arc::new(disk.clone()), ..os::env() }, overrides).await
    }

    /// The same, by that clock.
    pub(crate) async fn at(clock: &Arc<Hands>, disk: &SimDisk, overrides: &[&str]) -> World {
        let (clock, disk) = (Arc::clone(clock) as _, Arc::new(disk.clone()));
        World::within(Env { clock, disk, ..os::env() }, overrides).await
    }

    pub(crate) async fn within(env: Env, overrides: &[&str]) -> World {
        let broker = start_in(env, Path::new("/"), overrides).await.unwrap();
        World { broker, dir: TempDir::new().unwrap() }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.broker.addresses[0].1
    }

    pub(crate) async fn connect(&self) -> Client {
        Client::connect(self.address()).await
    }
}

pub(crate) async fn start(dir: &Path, overrides: &[&str]) -> Result<Broker, StartError> {
    start_in(os::env(), dir, overrides).await
}

async fn start_in(env: Env, dir: &Path, overrides: &[&str]) -> Result<Broker, StartError> {
    let mut given = Given::standalone();
    let dirs = format!("log.dirs={}", dir.join("data").display());
    for text in ["listeners=PLAINTEXT://localhost:0", &dirs].iter().chain(overrides) {
        given = given.with_override(text)?;
    }
    Broker::start(BrokerConfig::of(given, "localhost")?, env).await
}

pub(crate) struct Client {
    pub(crate) stream: TcpStream,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Client {
        Client { stream: TcpStream::connect(address).await.unwrap() }
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    /// The next answer; None where the broker has closed the connection.
    pub(crate) async fn answer(&mut self) -> Option<Bytes> {
        let size = self.stream.read_i32().await.ok()?;
        let mut frame = vec![0; usize::try_from(size).unwrap()];
        self.stream.read_exact(&mut frame).await.ok()?;
        Some(frame.into())
    }

    pub(crate) async fn ask<Q: Request>(&mut self, request: &Q, version: i16) -> Q::Response {
        self.send(&request.frame(version, 7, "test").unwrap()).await;
        let answer = self.answer().await.expect("an answer and no end");
        let (id, response) = Q::read_response(version, answer).unwrap();
        assert_eq!(id, 7);
        response
    }

    /// Asks what everybody may ask, to see that the broker is well.
    pub(crate) async fn is_answered(&mut self) {
        let response = self.ask(&ApiVersionsRequest::default(), 0).await;
        assert!(10 < response.api_keys.len());
    }

    pub(crate) async fn create(&mut self, topic: &str) {
        let topic = CreatableTopic::default()
            .with_name(StrBytes::from(topic.to_owned()).into())
            .with_num_partitions(1)
            .with_replication_factor(1);
        let request =
            CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(10_000);
        let response = self.ask(&request, 4).await;
        assert_eq!(response.topics[0].error_code, 0);
    }

    pub(crate) async fn delete(&mut self, topic: &str) {
        let request = DeleteTopicsRequest::default()
            .with_topic_names(vec![StrBytes::from(topic.to_owned()).into()])
            .with_timeout_ms(10_000);
        let response = self.ask(&request, 4).await;
        assert_eq!(response.responses[0].error_code, 0);
    }

    /// Sets what the metadata says of the broker `node`.
    pub(crate) async fn configure(&mut self, node: i32, values: &[(&str, &str)]) {
        let value = |(key, value): &(&str, &str)| {
            AlterableConfig::default()
                .with_name(StrBytes::from((*key).to_owned()))
                .with_value(Some(StrBytes::from((*value).to_owned())))
        };
        let resource = AlterConfigsResource::default()
            .with_resource_type(4)
            .with_resource_name(StrBytes::from(node.to_string()))
            .with_configs(values.iter().map(value).collect());
        let request = IncrementalAlterConfigsRequest::default().with_resources(vec![resource]);
        let response = self.ask(&request, 1).await;
        let said = &response.responses[0];
        assert_eq!(said.error_code, 0, "{:?}", said.error_message);
    }

    pub(crate) async fn produce(&mut self, topic: &str, records: Bytes) -> ProduceResponse {
        self.ask(&produce(topic, records), 9).await
    }
}

pub(crate) fn produce(topic: &str, records: Bytes) -> ProduceRequest {
    let data = PartitionProduceData::default().with_records(Some(records));
    let topic = TopicProduceData::default()
        .with_name(StrBytes::from(topic.to_owned()).into())
        .with_partition_data(vec![data]);
    ProduceRequest::default().with_acks(-1).with_timeout_ms(10_000).with_topic_data(vec![topic])
}

/// A batch with one record of so many bytes.
pub(crate) fn batch(value_bytes: usize) -> Bytes {
    let value = vec![b'v'; value_bytes];
    BatchBuilder::new(0).key_value(1_700_000_000_000, b"k", &value).build().unwrap()
}

/// The offset that a produce of one partition was given, or its error.
pub(crate) fn offset(response: &ProduceResponse) -> Result<i64, i16> {
    let partition = &response.responses[0].partition_responses[0];
    match partition.error_code {
        0 => Ok(partition.base_offset),
        code => Err(code),
    }
}
