//! Metadata (key 3): brokers, topics, leaders; and it makes the topics that a client names first.

use super::context::{Ctx, RequestContext};
use super::handler::Handler;
use super::internal_topics::{self, create, on_demand};
use super::operations;
use super::reply::{Handled, Reply};
use crate::metadata::{View, any_live, is_internal};
use kraft::controller::check_topic_name;
use kraft::image::{Image, Partition, Topic};
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use protocol::messages::{
    BrokerId, MetadataRequest, MetadataResponse, StrBytes, TopicName, Versions,
};
use std::collections::BTreeSet;
use std::time::Duration;

/// A client waits no longer for topics that are made on the way: it asks again anyhow.
const CREATION_WAIT: Duration = Duration::from_secs(5);

pub(super) struct Metadata;

impl Handler for Metadata {
    type Request = MetadataRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 13 };

    fn handle(
        ctx: &Ctx,
        from: &RequestContext,
        request: MetadataRequest,
        version: i16,
    ) -> Handled<MetadataRequest> {
        let asked = match Asked::read(&request, version) {
            Ok(asked) => asked,
            Err(code) => return Ok(Reply::Now(Metadata::refuse(&request, code).into())),
        };
        let image = ctx.image();
        let answer = Answer { view: ctx.view(&image, from), image: &image, version };
        let mut topics = answer.topics(&asked);
        if request.include_topic_authorized_operations {
            for topic in topics.iter_mut().filter(|topic| topic.name.is_some()) {
                topic.topic_authorized_operations = operations::TOPIC;
            }
        }
        let missing = missing(&topics);
        let mut response = MetadataResponse::default()
            .with_brokers(answer.brokers())
            .with_cluster_id(Some(StrBytes::from_string(ctx.cluster_id.as_ref().to_owned())))
            .with_controller_id(BrokerId(any_live(&image, ctx.env.rng.next_u64()).unwrap_or(-1)))
            .with_topics(topics);
        if request.include_cluster_authorized_operations && (8..=10).contains(&version) {
            response.cluster_authorized_operations = operations::CLUSTER;
        }
        // Before version 4 a client could not say that it did not want this.
        let may_create = version < 4 || request.allow_auto_topic_creation;
        let creates = may_create && ctx.config.load().values.creation.auto_create_topics_enable;
        if missing.is_empty() || !creates {
            return Ok(Reply::Now(response.into()));
        }
        let ctx = ctx.clone();
        Ok(Reply::later(async move {
            // However it ends, the client is told what was so when it asked, and asks again.
            let topics = missing.into_iter().map(|name| on_demand(&ctx, name)).collect();
            if tokio::time::timeout(CREATION_WAIT, create(&ctx, topics)).await.is_err() {
                tracing::warn!("The controller has not made topics within {CREATION_WAIT:?}");
            }
            Ok(response.into())
        }))
    }

    fn refuse(request: &MetadataRequest, code: ErrorCode) -> MetadataResponse {
        let topics = request.topics.iter().flatten().map(|asked| {
            MetadataResponseTopic::default()
                .with_name(Some(asked.name.clone().unwrap_or_default()))
                .with_topic_id(asked.topic_id)
                .with_error_code(code.code())
        });
        MetadataResponse::default().with_topics(topics.collect())
    }
}

/// Which topics a request asks about, each once.
enum Asked<'a> {
    All,
    Names(Vec<&'a TopicName>),
    Ids(Vec<Uuid>),
}

impl<'a> Asked<'a> {
    fn read(request: &'a MetadataRequest, version: i16) -> Result<Asked<'a>, ErrorCode> {
        let Some(topics) = request.topics.as_ref().filter(|it| 0 < version || !it.is_empty())
        else {
            return Ok(Asked::All);
        };
        let id = |index: usize| topics.get(index).map_or(Uuid::ZERO, |it| it.topic_id.into());
        let mut ids = BTreeSet::new();
        let new: Vec<Uuid> = (0..topics.len()).map(id).filter(|id| !id.is_zero()).collect();
        let new: Vec<Uuid> = new.into_iter().filter(|id| ids.insert(*id)).collect();
        if version < 12 && !new.is_empty() {
            return Err(ErrorCode::InvalidRequest);
        }
        // Where one is asked for by its id, all are.
        if !new.is_empty() {
            return Ok(Asked::Ids(new));
        }
        let (mut seen, mut names) = (BTreeSet::new(), Vec::new());
        for topic in topics {
            let name = topic.name.as_ref().ok_or(ErrorCode::InvalidRequest)?;
            if seen.insert(name.as_str()) {
                names.push(name);
            }
        }
        Ok(Asked::Names(names))
    }
}

struct Answer<'a> {
    image: &'a Image,
    view: View<'a>,
    version: i16,
}

impl Answer<'_> {
    fn brokers(&self) -> Vec<MetadataResponseBroker> {
        let broker = |it: crate::metadata::Reached<'_>| {
            MetadataResponseBroker::default()
                .with_node_id(BrokerId(it.id))
                .with_host(it.host())
                .with_port(i32::from(it.port))
                .with_rack(it.rack())
        };
        self.view.live_brokers().map(broker).collect()
    }

    fn topics(&self, asked: &Asked<'_>) -> Vec<MetadataResponseTopic> {
        match asked {
            Asked::All => self.image.topics().values().map(|topic| self.topic(topic)).collect(),
            Asked::Names(names) => names
                .iter()
                .map(|name| match self.image.topic(name) {
                    Some(topic) => self.topic(topic),
                    None => unknown(name),
                })
                .collect(),
            Asked::Ids(ids) => ids
                .iter()
                .map(|id| match self.image.topic_by_id(*id) {
                    Some(topic) => self.topic(topic),
                    None => MetadataResponseTopic::default()
                        .with_error_code(ErrorCode::UnknownTopicId.code())
                        .with_name(None)
                        .with_topic_id((*id).into()),
                })
                .collect(),
        }
    }

    fn topic(&self, topic: &Topic) -> MetadataResponseTopic {
        let partitions = topic.partitions.iter();
        MetadataResponseTopic::default()
            .with_name(Some(topic.name.to_message()))
            .with_topic_id(topic.id.into())
            .with_is_internal(is_internal(&topic.name))
            .with_partitions(partitions.map(|(number, it)| self.partition(*number, it)).collect())
    }

    fn partition(&self, number: i32, partition: &Partition) -> MetadataResponsePartition {
        let leader = self.view.leader(partition);
        let (replicas, isr) = (self.shown(&partition.replicas), self.shown(&partition.isr));
        let all_shown =
            replicas.len() == partition.replicas.len() && isr.len() == partition.isr.len();
        let code = match leader {
            Some(_) if all_shown => ErrorCode::None,
            Some(_) => ErrorCode::ReplicaNotAvailable,
            // It is there, and has no such listener.
            None if 6 <= self.version && self.image.broker(partition.leader).is_some() => {
                ErrorCode::ListenerNotFound
            }
            None => ErrorCode::LeaderNotAvailable,
        };
        let offline = partition.replicas.iter().filter(|id| self.view.is_offline(partition, **id));
        MetadataResponsePartition::default()
            .with_error_code(code.code())
            .with_partition_index(number)
            .with_leader_id(BrokerId(leader.unwrap_or(-1)))
            .with_leader_epoch(partition.leader_epoch)
            .with_replica_nodes(replicas)
            .with_isr_nodes(isr)
            .with_offline_replicas(offline.copied().map(BrokerId).collect())
    }

    /// Version 0 has no word for a replica that cannot be reached: it leaves it out.
    fn shown(&self, ids: &[i32]) -> Vec<BrokerId> {
        let shown = ids.iter().filter(|id| self.version != 0 || self.view.is_live(**id));
        shown.copied().map(BrokerId).collect()
    }
}

fn unknown(name: &TopicName) -> MetadataResponseTopic {
    let code = match check_topic_name(name) {
        Ok(()) => ErrorCode::UnknownTopicOrPartition,
        Err(_) => ErrorCode::InvalidTopicException,
    };
    MetadataResponseTopic::default()
        .with_error_code(code.code())
        .with_name(Some(name.clone()))
        .with_is_internal(is_internal(name))
}

/// The topics of an answer that could be made. Those of coordinators that are not there are not.
fn missing(topics: &[MetadataResponseTopic]) -> Vec<TopicName> {
    let unknown = ErrorCode::UnknownTopicOrPartition.code();
    let missing = topics.iter().filter(|topic| topic.error_code == unknown);
    let names = missing.filter_map(|topic| topic.name.clone());
    names.filter(|name| !is_internal(name) || name.as_str() == internal_topics::OFFSETS).collect()
}
