//! The hash of the topics that a group subscribes to, equal to Apache Kafka's
//! (`Utils.computeTopicHash` and `computeGroupHash` of its group coordinator): a broker that takes
//! the group over then sees at once whether a topic has changed.

use kraft::image::{Image, Topic};
use std::collections::BTreeSet;
use std::sync::Arc;
use twox_hash::XxHash3_64;

/// Says which way the bytes of a topic are laid out.
const LAYOUT: u8 = 0;

/// Of the topics that exist, in order of their names; 0 when none does.
pub(super) fn metadata_hash(topics: &BTreeSet<Arc<str>>, image: &Image) -> i64 {
    let there = topics.iter().filter_map(|name| image.topic(name));
    let bytes: Vec<u8> = there.flat_map(|it| topic_hash(it, image).to_le_bytes()).collect();
    if bytes.is_empty() { 0 } else { hash(&bytes) }
}

/// Of its id, its name, its number of partitions and the racks where their replicas are.
fn topic_hash(topic: &Topic, image: &Image) -> i64 {
    let mut bytes = vec![LAYOUT];
    let (high, low) = topic.id.0.split_at(8);
    // The id is two Java longs, and those are hashed from their lowest byte on.
    bytes.extend(high.iter().rev().chain(low.iter().rev()));
    put_text(&mut bytes, &topic.name);
    put_count(&mut bytes, topic.partitions.len());
    for (number, partition) in topic.partitions.iter() {
        bytes.extend(number.to_le_bytes());
        let brokers = partition.replicas.iter().filter_map(|id| image.broker(*id));
        let mut racks: Vec<&str> = brokers.filter_map(|it| it.rack.as_deref()).collect();
        racks.sort_unstable();
        for rack in racks {
            put_count(&mut bytes, rack.encode_utf16().count());
            put_text(&mut bytes, rack);
        }
    }
    hash(&bytes)
}

/// UTF-16, then the number of its units.
fn put_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    put_count(bytes, text.encode_utf16().count());
}

fn put_count(bytes: &mut Vec<u8>, count: usize) {
    bytes.extend(i32::try_from(count).unwrap_or(i32::MAX).to_le_bytes());
}

fn hash(bytes: &[u8]) -> i64 {
    XxHash3_64::oneshot(bytes).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kraft::record::{PartitionRecord, TopicRecord};

    /// Numbers that hash4j gave, the library that Kafka hashes with.
    #[test]
    fn the_hash_is_that_of_kafkas_library() {
        let mut text = Vec::new();
        put_text(&mut text, "foo");
        assert_eq!(hash(&text), 7_324_479_985_248_136_222);
        let longs = [5_i64, -7].map(i64::to_le_bytes).concat();
        assert_eq!(hash(&longs), -4_646_943_608_980_624_969);
        let many: Vec<u8> = (0..900_i32).flat_map(i32::to_le_bytes).collect();
        assert_eq!(hash(&many), -4_062_358_945_094_582_355);
    }

    /// A topic of one partition without racks, and the hash that Kafka's own code gives its group.
    #[test]
    fn a_topic_is_hashed_as_kafka_hashes_it() {
        let topic_id = "FJnsfZgrT5OS5Ff3gCRBbg".parse().unwrap();
        let topic = TopicRecord { name: "lines".to_owned(), topic_id, ..TopicRecord::default() };
        let partition = PartitionRecord {
            topic_id,
            partition_id: 0,
            replicas: vec![1],
            ..PartitionRecord::default()
        };
        let mut image = Image::default();
        for record in [topic.into(), partition.into()] {
            image.apply(&record, 0).unwrap();
        }
        let hash =
            |names: &[&str]| metadata_hash(&names.iter().copied().map(Arc::from).collect(), &image);
        assert_eq!(hash(&["lines"]), 3_307_799_068_328_570_590);
        assert_eq!(hash(&["lines", "nothing"]), hash(&["lines"]));
        assert_eq!(hash(&["nothing"]), 0);
    }
}
