//! Topics made, and committed offsets read, over a plain connection: no client stands between.

use crate::process::until;
use crate::wire::Connection;
use protocol::messages::create_topics_request::CreatableTopic;
use protocol::messages::offset_fetch_request::OffsetFetchRequestGroup;
use protocol::messages::{CreateTopicsRequest, GroupId, OffsetFetchRequest, StrBytes, TopicName};
use std::collections::BTreeMap;
use std::time::Duration;

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

/// Makes a topic with one replica a partition.
///
/// # Panics
/// When the broker refuses.
#[track_caller]
pub fn create_topic(port: u16, topic: &str, partitions: usize) {
    let topic = CreatableTopic::default()
        .with_name(TopicName(text(topic)))
        .with_num_partitions(i32::try_from(partitions).expect("a small number"))
        .with_replication_factor(1);
    let request = CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(60_000);
    let response =
        Connection::open(port).and_then(|mut it| it.ask(&request, 5)).expect("an answer");
    let refused = response.topics.iter().find(|topic| topic.error_code != 0);
    assert!(refused.is_none(), "{refused:?}");
}

/// What a group has committed, by topic and partition, once its coordinator is ready.
///
/// # Panics
/// When there is no answer without an error within 30 seconds.
#[track_caller]
pub fn committed(port: u16, group: &str) -> BTreeMap<(String, i32), i64> {
    let wanted =
        OffsetFetchRequestGroup::default().with_group_id(GroupId(text(group))).with_topics(None);
    let request = OffsetFetchRequest::default().with_groups(vec![wanted]);
    let group = until("the coordinator answers", Duration::from_secs(30), || {
        let response = Connection::open(port).ok()?.ask(&request, 8).ok()?;
        response.groups.into_iter().find(|group| group.error_code == 0)
    });
    let topics = group.topics.into_iter().flat_map(|topic| {
        let name = topic.name.0.to_string();
        topic
            .partitions
            .into_iter()
            .map(move |it| ((name.clone(), it.partition_index), it.committed_offset))
    });
    topics.filter(|(_, offset)| 0 <= *offset).collect()
}
