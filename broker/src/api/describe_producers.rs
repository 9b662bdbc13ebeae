//! DescribeProducers (key 61): who has written to a partition lately, and what is left open.

use super::context::{Ctx, RequestContext};
use super::handler::Handler;
use super::hosted;
use super::named::Named;
use super::reply::{Handled, Reply};
use protocol::error::ErrorCode;
use protocol::messages::describe_producers_request::TopicRequest;
use protocol::messages::describe_producers_response::{
    PartitionResponse, ProducerState, TopicResponse,
};
use protocol::messages::{DescribeProducersRequest, DescribeProducersResponse, StrBytes, Versions};
use storage::producer::Producer;

pub(super) struct DescribeProducers;

impl Handler for DescribeProducers {
    type Request = DescribeProducersRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 0 };

    fn handle(
        ctx: &Ctx,
        _from: &RequestContext,
        request: DescribeProducersRequest,
        _version: i16,
    ) -> Handled<DescribeProducersRequest> {
        let message = answer(&request, |topic, number| {
            if ctx.partitions.topic(topic).is_none() && ctx.image().topic(topic).is_none() {
                let code = ErrorCode::UnknownTopicOrPartition;
                return failed(number, code)
                    .with_error_message(Some(StrBytes::from_static_str(code.message())));
            }
            let found = hosted::find(ctx, Named::Name(topic), number);
            let led = found.and_then(|it| {
                it.leader_epoch(-1)?;
                Ok(it)
            });
            match led {
                Ok(partition) => {
                    let producers = partition.log().producers().iter().map(state).collect();
                    PartitionResponse::default()
                        .with_partition_index(number)
                        .with_active_producers(producers)
                }
                Err(fault) => {
                    let said = failed(number, fault.code);
                    said.with_error_message(fault.message.map(StrBytes::from_string))
                }
            }
        });
        Ok(Reply::Now(message.into()))
    }

    fn refuse(request: &DescribeProducersRequest, code: ErrorCode) -> DescribeProducersResponse {
        answer(request, |_, number| failed(number, code))
    }
}

fn state(producer: &Producer) -> ProducerState {
    ProducerState::default()
        .with_producer_id(producer.producer_id.into())
        .with_producer_epoch(i32::from(producer.epoch))
        .with_last_sequence(producer.last_sequence())
        .with_last_timestamp(producer.last_timestamp_ms)
        .with_coordinator_epoch(producer.coordinator_epoch)
        .with_current_txn_start_offset(producer.current_txn_first_offset.unwrap_or(-1))
}

fn failed(number: i32, code: ErrorCode) -> PartitionResponse {
    PartitionResponse::default().with_partition_index(number).with_error_code(code.code())
}

fn answer(
    request: &DescribeProducersRequest,
    partition: impl Fn(&str, i32) -> PartitionResponse,
) -> DescribeProducersResponse {
    let topic = |topic: &TopicRequest| {
        let numbers = topic.partition_indexes.iter();
        let partitions = numbers.map(|number| partition(topic.name.as_str(), *number));
        TopicResponse::default().with_name(topic.name.clone()).with_partitions(partitions.collect())
    };
    let topics = request.topics.iter().map(topic).collect();
    DescribeProducersResponse::default().with_topics(topics)
}
