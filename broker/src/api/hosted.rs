//! Finding the partition that a request names, and the leader to name in its place.

use super::context::{Ctx, RequestContext};
use super::named::Named;
use crate::partition::{Fault, Partition, Place};
use kraft::image::Image;
use protocol::error::ErrorCode;
use protocol::ids::TopicPartition;
use protocol::messages::StrBytes;
use std::sync::Arc;

/// The open partition that a request names.
pub(super) fn find(ctx: &Ctx, topic: Named<'_>, number: i32) -> Result<Arc<Partition>, Fault> {
    let here = match topic {
        Named::Name(name) => ctx.partitions.topic(name),
        Named::Id(id) => ctx.partitions.topic_by_id(id),
    };
    let place = here.as_ref().and_then(|here| Some((here, here.partition(number)?)));
    match place {
        Some((_, Place::Open(partition))) => Ok(Arc::clone(partition)),
        Some((here, Place::Offline(offline))) => {
            Err(offline.fault(&TopicPartition::new(&*here.name, number)))
        }
        None => Err(elsewhere(&ctx.image(), topic, number).into()),
    }
}

/// What is wrong with asking this broker for it.
fn elsewhere(image: &Image, topic: Named<'_>, number: i32) -> ErrorCode {
    let known = in_image(image, topic);
    match (known.map(|topic| topic.partition(number)), topic) {
        // Another broker has it, or this one will in a moment.
        (Some(Some(_)), _) => ErrorCode::NotLeaderOrFollower,
        (None, Named::Id(_)) => ErrorCode::UnknownTopicId,
        (None, Named::Name(_)) | (Some(None), _) => ErrorCode::UnknownTopicOrPartition,
    }
}

fn in_image<'a>(image: &'a Image, topic: Named<'_>) -> Option<&'a kraft::image::Topic> {
    match topic {
        Named::Name(name) => image.topic(name),
        Named::Id(id) => image.topic_by_id(id),
    }
}

/// Whether `code` says that the cluster has no such partition, wherever it were asked.
pub(super) fn is_unknown(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::UnknownTopicOrPartition | ErrorCode::UnknownTopicId)
}

/// The leader of a partition as the metadata has it (KIP-951).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hint {
    pub(super) leader: i32,
    pub(super) epoch: i32,
}

/// A broker's address on one listener.
#[derive(Debug)]
pub(super) struct Address {
    pub(super) node: i32,
    pub(super) host: StrBytes,
    pub(super) port: i32,
    pub(super) rack: Option<StrBytes>,
}

pub(super) fn hint(ctx: &Ctx, topic: Named<'_>, number: i32) -> Option<Hint> {
    let image = ctx.image();
    let partition = in_image(&image, topic)?.partition(number)?;
    Some(Hint { leader: partition.leader, epoch: partition.leader_epoch })
}

/// Where clients of the request's listener find a broker; none while it is fenced.
pub(super) fn address(ctx: &Ctx, from: &RequestContext, node: i32) -> Option<Address> {
    let image = ctx.image();
    let at = ctx.view(&image, from).broker(node).filter(|broker| !broker.is_fenced)?;
    Some(Address { node, host: at.host(), port: i32::from(at.port), rack: at.rack() })
}

/// The addresses of the leaders that `nodes` names, each once.
pub(super) fn addresses(
    ctx: &Ctx,
    from: &RequestContext,
    nodes: impl IntoIterator<Item = i32>,
) -> Vec<Address> {
    let mut nodes: Vec<_> = nodes.into_iter().collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes.into_iter().filter_map(|node| address(ctx, from, node)).collect()
}
