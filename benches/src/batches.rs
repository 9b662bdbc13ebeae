//! The batches that are sent, and the Produce frames around them, all made before the clock runs.

use crate::Outcome;
use crate::machine::wall_ms;
use bytes::Bytes;
use protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use protocol::messages::{ProduceRequest, Request, StrBytes, TopicName};
use protocol::records::builder::{BatchBuilder, NewRecord};

/// The last version before the flexible ones: the error of its answer stands at a fixed place.
const PRODUCE_VERSION: i16 = 8;

/// How many records a batch has, and how large their values are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) records: u32,
    pub(crate) value_bytes: usize,
}

/// 60 KB of 1 KB records: what a busy producer with default settings comes to.
pub(crate) const SIXTY_KB: Shape = Shape { records: 60, value_bytes: 1024 };
/// Just below the largest batch that a broker takes by default.
pub(crate) const NINE_HUNDRED_KB: Shape = Shape { records: 900, value_bytes: 1024 };
pub(crate) const SMALL: Shape = Shape { records: 1, value_bytes: 100 };
pub(crate) const ONE_KB: Shape = Shape { records: 1, value_bytes: 1024 };
pub(crate) const TEN_KB: Shape = Shape { records: 10, value_bytes: 1024 };

/// A batch of random values, which nothing on the way can compress.
pub(crate) fn batch(shape: Shape) -> Outcome<Bytes> {
    let now_ms = wall_ms()?;
    let mut builder = BatchBuilder::new(0);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut value = Vec::with_capacity(shape.value_bytes);
    for _ in 0..shape.records {
        value.clear();
        while value.len() < shape.value_bytes {
            // Xorshift.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            value.extend_from_slice(&state.to_le_bytes());
        }
        value.truncate(shape.value_bytes);
        builder.push(NewRecord {
            timestamp_ms: now_ms,
            key: None,
            value: Some(&value),
            headers: &[],
        });
    }
    Ok(builder.build()?)
}

/// One whole Produce frame for each of the partitions.
pub(crate) fn frames(
    topic: &str,
    partitions: &[i32],
    acks: i16,
    batch: &Bytes,
) -> Outcome<Vec<Bytes>> {
    let frame = |&partition: &i32| -> Outcome<Bytes> {
        let data =
            PartitionProduceData::default().with_index(partition).with_records(Some(batch.clone()));
        let topic = TopicProduceData::default()
            .with_name(TopicName(StrBytes::from_string(topic.to_owned())))
            .with_partition_data(vec![data]);
        let request = ProduceRequest::default()
            .with_acks(acks)
            .with_timeout_ms(30_000)
            .with_topic_data(vec![topic]);
        Ok(request.frame(PRODUCE_VERSION, 1, "benches")?)
    };
    partitions.iter().map(frame).collect()
}

/// The error code in the answer to one of [`frames`].
pub(crate) fn produced(answer: &[u8], topic: &str) -> Outcome<()> {
    // Correlation id, count of topics, name, count of partitions, partition.
    let at = 4 + 4 + 2 + topic.len() + 4 + 4;
    let code = answer.get(at..at + 2).ok_or("a produce answer that ends early")?;
    crate::connection::accepted("produce", i16::from_be_bytes(code.try_into()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::messages::Part;
    use protocol::messages::ProduceResponse;
    use protocol::messages::produce_response::{PartitionProduceResponse, TopicProduceResponse};

    #[test]
    fn the_error_of_an_answer_is_found_where_it_stands() {
        for (code, well) in [(0, true), (3, false), (-1, false)] {
            let partition = PartitionProduceResponse::default().with_index(5).with_error_code(code);
            let topic = TopicProduceResponse::default()
                .with_name(TopicName(StrBytes::from_static_str("some topic")))
                .with_partition_responses(vec![partition]);
            let response = ProduceResponse::default().with_responses(vec![topic]);
            let parts = ProduceRequest::write(&response, PRODUCE_VERSION, 1).unwrap();
            let [Part::Bytes(frame)] = &parts[..] else { panic!("no holes") };
            assert_eq!(produced(&frame[4..], "some topic").is_ok(), well);
        }
        assert!(produced(&[0; 20], "some topic").is_err());
    }

    #[test]
    fn a_batch_has_the_records_that_were_asked_for() {
        let batch = batch(SIXTY_KB).unwrap();
        let header = protocol::records::batch::BatchHeader::read(&batch).unwrap();
        assert_eq!((header.record_count, header.last_offset_delta), (60, 59));
        assert!((61_000..63_000).contains(&batch.len()), "{}", batch.len());
    }
}
