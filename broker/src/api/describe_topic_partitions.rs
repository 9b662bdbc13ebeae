//! DescribeTopicPartitions (key 75): the partitions of topics, page by page.

use super::context::{Ctx, RequestContext};
use super::handler::Handler;
use super::operations;
use super::reply::{Handled, Reply};
use crate::metadata::{View, is_internal};
use kraft::controller::check_topic_name;
use kraft::image::{Image, Partition, Topic};
use protocol::error::ErrorCode;
use protocol::messages::describe_topic_partitions_response::{
    Cursor, DescribeTopicPartitionsResponsePartition, DescribeTopicPartitionsResponseTopic,
};
use protocol::messages::{
    BrokerId, DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse, StrBytes, Versions,
};
use std::collections::BTreeSet;

pub(super) struct DescribeTopicPartitions;

impl Handler for DescribeTopicPartitions {
    type Request = DescribeTopicPartitionsRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 0 };

    fn handle(
        ctx: &Ctx,
        from: &RequestContext,
        request: DescribeTopicPartitionsRequest,
        _version: i16,
    ) -> Handled<DescribeTopicPartitionsRequest> {
        let image = ctx.image();
        let names = match names(&image, &request) {
            Ok(names) => names,
            Err(code) => {
                return Ok(Reply::Now(DescribeTopicPartitions::refuse(&request, code).into()));
            }
        };
        let limit = ctx.config.load().values.fetch.max_request_partition_size_limit;
        let limit = limit.min(request.response_partition_limit).max(1);
        let mut page = Page {
            image: &image,
            view: ctx.view(&image, from),
            left: usize::try_from(limit).unwrap_or(1),
            response: DescribeTopicPartitionsResponse::default(),
        };
        let cursor = request.cursor.as_ref();
        for name in names {
            let cursor = cursor.filter(|cursor| cursor.topic_name.as_str() == name);
            if !page.add(name, cursor.map_or(0, |cursor| cursor.partition_index)) {
                break;
            }
        }
        Ok(Reply::Now(page.response.into()))
    }

    fn refuse(
        request: &DescribeTopicPartitionsRequest,
        code: ErrorCode,
    ) -> DescribeTopicPartitionsResponse {
        let topics = request.topics.iter().map(|topic| {
            DescribeTopicPartitionsResponseTopic::default()
                .with_name(Some(topic.name.clone()))
                .with_error_code(code.code())
        });
        DescribeTopicPartitionsResponse::default()
            .with_topics(topics.collect())
            .with_next_cursor(None)
    }
}

/// The topics to describe from the cursor on, in order: those asked for, or all.
fn names<'a>(
    image: &'a Image,
    request: &'a DescribeTopicPartitionsRequest,
) -> Result<BTreeSet<&'a str>, ErrorCode> {
    let cursor = request.cursor.as_ref();
    let first = cursor.map_or("", |cursor| cursor.topic_name.as_str());
    if request.topics.is_empty() {
        let all = image.topics().keys().map(|name| name.as_str()).filter(|name| first <= *name);
        return check_number(request).map(|()| all.collect());
    }
    let asked = request.topics.iter().map(|topic| topic.name.as_str());
    let names: BTreeSet<&str> = asked.filter(|name| first <= *name).collect();
    if cursor.is_some() && !names.contains(first) {
        return Err(ErrorCode::InvalidRequest);
    }
    check_number(request).map(|()| names)
}

fn check_number(request: &DescribeTopicPartitionsRequest) -> Result<(), ErrorCode> {
    let is_below = request.cursor.as_ref().is_some_and(|cursor| cursor.partition_index < 0);
    if is_below { Err(ErrorCode::InvalidRequest) } else { Ok(()) }
}

/// An answer that is being filled.
struct Page<'a> {
    image: &'a Image,
    view: View<'a>,
    /// Partitions that it still takes.
    left: usize,
    response: DescribeTopicPartitionsResponse,
}

impl Page<'_> {
    /// Adds a topic from a partition on; false when the page is full, and says where to go on.
    fn add(&mut self, name: &str, from: i32) -> bool {
        if self.left == 0 {
            self.end(name, 0);
            return false;
        }
        let said = DescribeTopicPartitionsResponseTopic::default()
            .with_name(Some(StrBytes::from_string(name.to_owned()).into()))
            .with_is_internal(is_internal(name))
            .with_topic_authorized_operations(operations::TOPIC);
        let Some(topic) = self.image.topic(name) else {
            let code = match check_topic_name(name) {
                Ok(()) => ErrorCode::UnknownTopicOrPartition,
                Err(_) => ErrorCode::InvalidTopicException,
            };
            self.response.topics.push(said.with_error_code(code.code()));
            return true;
        };
        let (partitions, next) = self.partitions(topic, from);
        self.left = self.left.saturating_sub(partitions.len());
        let said = said.with_topic_id(topic.id.into()).with_partitions(partitions);
        self.response.topics.push(said);
        if let Some(next) = next {
            self.end(name, next);
        }
        next.is_none()
    }

    fn end(&mut self, name: &str, partition: i32) {
        let name = StrBytes::from_string(name.to_owned()).into();
        let cursor = Cursor::default().with_topic_name(name).with_partition_index(partition);
        self.response.next_cursor = Some(cursor);
    }

    /// As many as the page takes, and the first that it does not.
    fn partitions(
        &self,
        topic: &Topic,
        from: i32,
    ) -> (Vec<DescribeTopicPartitionsResponsePartition>, Option<i32>) {
        let mut following = topic.partitions.from(&from);
        let taken = following.by_ref().take(self.left);
        let taken = taken.map(|(number, partition)| self.partition(*number, partition)).collect();
        (taken, following.next().map(|(number, _)| *number))
    }

    fn partition(
        &self,
        number: i32,
        partition: &Partition,
    ) -> DescribeTopicPartitionsResponsePartition {
        let ids = |ids: &[i32]| ids.iter().copied().map(BrokerId).collect::<Vec<_>>();
        let offline = partition.replicas.iter().filter(|id| self.view.is_offline(partition, **id));
        DescribeTopicPartitionsResponsePartition::default()
            .with_partition_index(number)
            .with_leader_id(BrokerId(self.view.leader(partition).unwrap_or(-1)))
            .with_leader_epoch(partition.leader_epoch)
            .with_replica_nodes(ids(&partition.replicas))
            .with_isr_nodes(ids(&partition.isr))
            .with_offline_replicas(offline.copied().map(BrokerId).collect())
            .with_eligible_leader_replicas(Some(ids(&partition.eligible_leader_replicas)))
            .with_last_known_elr(Some(ids(&partition.last_known_elr)))
    }
}
