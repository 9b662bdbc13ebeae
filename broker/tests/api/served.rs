//! A whole broker in this process, with its controller: a disk in memory, requests as bytes.

use super::broker::response;
use broker::api::{Close, ListenerKind, Reply, RequestContext, dispatch};
use broker::config::{BrokerConfig, Given};
use broker::server;
use kraft::env::{Env, os};
use protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use protocol::messages::{CreateTopicsRequest, Request, StrBytes};
use std::sync::Arc;
use std::time::Duration;
use storage::disk::sim::SimDisk;
use tokio::time::timeout;

/// What its operator said.
const PROPERTIES: &str = "process.roles=broker,controller\n\
    node.id=1\n\
    listeners=INSIDE://localhost:0,OUTSIDE://localhost:0,CONTROLLER://localhost:0\n\
    advertised.listeners=INSIDE://inside:1001,OUTSIDE://outside:1002\n\
    listener.security.protocol.map=\
    INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT\n\
    inter.broker.listener.name=INSIDE\n\
    controller.listener.names=CONTROLLER\n\
    broker.rack=r1\n\
    log.dirs=/data\n";

pub(crate) struct Served(server::Broker);

impl Served {
    pub(crate) async fn start() -> Served {
        Served::told("").await
    }

    /// One that is told this too.
    pub(crate) async fn told(properties: &str) -> Served {
        let given = format!("{PROPERTIES}{properties}");
        let given = Given::parse("server.properties", given.as_bytes()).unwrap();
        let config = BrokerConfig::of(given, "machine").unwrap();
        let env = Env { disk: Arc::new(SimDisk::default()), ..os::env() };
        Served(server::Broker::start(config, env).await.unwrap())
    }

    pub(crate) async fn stop(self) {
        self.0.stop().await;
    }

    pub(crate) fn cluster_id(&self) -> &str {
        &self.0.ctx.cluster_id
    }

    pub(crate) fn dynamic(&self) -> Arc<BrokerConfig> {
        self.0.ctx.config.load()
    }

    /// Asks as a client of the inner listener.
    pub(crate) async fn ask<Q: Request>(&self, request: &Q, version: i16) -> Q::Response {
        self.ask_at("INSIDE", request, version).await.unwrap()
    }

    /// Asks at a listener; the connection may be closed.
    pub(crate) async fn ask_at<Q: Request>(
        &self,
        listener: &str,
        request: &Q,
        version: i16,
    ) -> Result<Q::Response, Close> {
        let kind =
            if listener == "CONTROLLER" { ListenerKind::Controller } else { ListenerKind::Client };
        let from = RequestContext {
            listener: listener.into(),
            listener_kind: kind,
            peer: ([127, 0, 0, 1], 40_000).into(),
            told: None,
            principal: "User:ANONYMOUS".into(),
            client_id: "test".into(),
            software: Arc::default(),
            correlation_id: 7,
        };
        let body = request.body(version).unwrap();
        let pieces = match dispatch(&self.0.ctx, &from, Q::KEY.code(), version, body)? {
            Reply::Now(pieces) => pieces,
            Reply::Later(later) => later.await?,
            Reply::Silence => panic!("not answered"),
        };
        Ok(response::<Q>(pieces, version))
    }

    /// Makes a topic.
    pub(crate) async fn create(&self, name: &str, partitions: i32) {
        let answer = self.ask(&create(vec![topic(name, partitions)]), 7).await;
        assert_eq!(answer.topics[0].error_code, 0);
    }
}

/// Waits for what must come, but not for ever.
pub(crate) async fn soon<T>(coming: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(60), coming).await.unwrap()
}

pub(crate) fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

pub(crate) fn topic(name: &str, partitions: i32) -> CreatableTopic {
    CreatableTopic::default()
        .with_name(text(name).into())
        .with_num_partitions(partitions)
        .with_replication_factor(-1)
}

pub(crate) fn with_config(topic: CreatableTopic, key: &str, value: &str) -> CreatableTopic {
    let config = CreatableTopicConfig::default().with_name(text(key)).with_value(Some(text(value)));
    topic.with_configs(vec![config])
}

pub(crate) fn create(topics: Vec<CreatableTopic>) -> CreateTopicsRequest {
    CreateTopicsRequest::default().with_topics(topics)
}
