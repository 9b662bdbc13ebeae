//! Reading whole topics: each connection takes its partitions from the first offset to the end.

use crate::Outcome;
use crate::connection::{Connection, accepted};
use crate::machine::{Meter, Spent};
use crate::node::Node;
use crate::produce::died;
use bytes::Bytes;
use protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use protocol::messages::{BrokerId, FetchRequest, Request, StrBytes, TopicName};
use protocol::records::batch::BatchHeader;
use std::thread;

/// The last version before the flexible ones: its answer has a plain layout, so that the driver
/// finds the records without building anything.
const FETCH_VERSION: i16 = 11;
const FETCH_BYTES_MAX: i32 = 1 << 20;
const CONNECTIONS: i32 = 2;

/// What a fetch step came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fetched {
    pub(crate) bytes: u64,
    pub(crate) records: i64,
    pub(crate) spent: Spent,
}

/// Fetches all that a topic holds, 1 MB at a time.
pub(crate) fn fetch(node: &Node, topic: &str, partitions: i32) -> Outcome<Fetched> {
    let mut connections = Vec::new();
    for number in 0..CONNECTIONS {
        connections.push((number, Connection::open(node.port)?));
    }
    let meter = Meter::start(node.pid())?;
    let parts = thread::scope(|scope| {
        let read = |(number, mut connection)| {
            let mine = (0..partitions).filter(move |it| it % CONNECTIONS == number);
            scope.spawn(move || -> Outcome<(u64, i64)> {
                let mut sum = (0, 0);
                for partition in mine {
                    let (bytes, records) = read_partition(&mut connection, topic, partition)?;
                    sum = (sum.0 + bytes, sum.1 + records);
                }
                Ok(sum)
            })
        };
        let threads: Vec<_> = connections.into_iter().map(read).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| thread.join().map_err(|_| died())?;
        threads.into_iter().map(join).collect::<Outcome<Vec<(u64, i64)>>>()
    })?;
    let spent = meter.stop()?;
    let (bytes, records) = parts.iter().fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    Ok(Fetched { bytes, records, spent })
}

fn read_partition(connection: &mut Connection, topic: &str, partition: i32) -> Outcome<(u64, i64)> {
    let (mut bytes, mut records, mut offset) = (0, 0, 0);
    loop {
        connection.sender.send(&request(topic, partition, offset)?)?;
        let answer = Answer::read(connection.receiver.receive()?)?;
        bytes += u64::try_from(answer.records.len())?;
        let next = next_offset(answer.records)?.unwrap_or(offset);
        if next == offset && offset < answer.high_watermark {
            return Err(format!("{topic}-{partition}: no batch at {offset}").into());
        }
        records += next - offset;
        offset = next;
        if answer.high_watermark <= offset {
            return Ok((bytes, records));
        }
    }
}

/// A whole Fetch frame for one partition, without a session.
pub(crate) fn request(topic: &str, partition: i32, offset: i64) -> Outcome<Bytes> {
    let partition = FetchPartition::default()
        .with_partition(partition)
        .with_fetch_offset(offset)
        .with_partition_max_bytes(FETCH_BYTES_MAX);
    let topic = FetchTopic::default()
        .with_topic(TopicName(StrBytes::from_string(topic.to_owned())))
        .with_partitions(vec![partition]);
    let request = FetchRequest::default()
        .with_replica_id(BrokerId(-1))
        .with_max_wait_ms(500)
        .with_min_bytes(1)
        .with_max_bytes(FETCH_BYTES_MAX)
        .with_session_epoch(-1)
        .with_topics(vec![topic]);
    Ok(request.frame(FETCH_VERSION, 1, "benches")?)
}

/// Where the whole batches end; none when there is none.
pub(crate) fn next_offset(mut records: &[u8]) -> Outcome<Option<i64>> {
    let mut next = None;
    // A batch that is cut off at the end is fetched again.
    while let Ok(header) = BatchHeader::read(records) {
        let Some(rest) = records.get(header.size()..) else { break };
        next = Some(header.next_offset());
        records = rest;
    }
    Ok(next)
}

/// The answer to one of [`request`].
pub(crate) struct Answer<'a> {
    pub(crate) high_watermark: i64,
    pub(crate) records: &'a [u8],
}

impl Answer<'_> {
    pub(crate) fn read(frame: &[u8]) -> Outcome<Answer<'_>> {
        let mut rest = Fields(frame);
        rest.skip(8)?; // Correlation id, throttle time.
        accepted("fetch", rest.i16()?)?;
        rest.skip(4)?; // Session.
        if rest.i32()? != 1 {
            return Err("a fetch answer without the topic".into());
        }
        let name = usize::try_from(rest.i16()?)?;
        rest.skip(name + 4 + 4)?; // Name, count of partitions, partition.
        accepted("fetch", rest.i16()?)?;
        let high_watermark = rest.i64()?;
        rest.skip(16)?; // Last stable offset, log start.
        let aborted = usize::try_from(rest.i32()?.max(0))?;
        rest.skip(16 * aborted + 4)?; // Aborted transactions, preferred replica.
        let size = usize::try_from(rest.i32()?.max(0))?;
        Ok(Answer { high_watermark, records: rest.take(size)? })
    }
}

struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, size: usize) -> Outcome<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(size).ok_or("an answer that ends early")?;
        self.0 = rest;
        Ok(taken)
    }

    fn skip(&mut self, size: usize) -> Outcome<()> {
        self.take(size).map(|_| ())
    }

    fn i16(&mut self) -> Outcome<i16> {
        Ok(i16::from_be_bytes(self.take(2)?.try_into()?))
    }

    fn i32(&mut self) -> Outcome<i32> {
        Ok(i32::from_be_bytes(self.take(4)?.try_into()?))
    }

    fn i64(&mut self) -> Outcome<i64> {
        Ok(i64::from_be_bytes(self.take(8)?.try_into()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batches::{ONE_KB, batch};
    use protocol::messages::FetchResponse;
    use protocol::messages::Part;
    use protocol::messages::fetch_response::{FetchableTopicResponse, PartitionData};

    #[test]
    fn the_records_of_an_answer_are_found_and_counted() {
        let batch = batch(ONE_KB).unwrap();
        // One whole batch, and a cut one behind it.
        let records = [&batch[..], &batch[..100]].concat();
        let partition = PartitionData::default()
            .with_partition_index(3)
            .with_high_watermark(7)
            .with_records(Some(records.into()));
        let topic = FetchableTopicResponse::default()
            .with_topic(TopicName(StrBytes::from_static_str("t")))
            .with_partitions(vec![partition]);
        let response = FetchResponse::default().with_responses(vec![topic]);
        let parts = FetchRequest::write(&response, FETCH_VERSION, 1).unwrap();
        let [Part::Bytes(frame)] = &parts[..] else { panic!("no holes") };
        let answer = Answer::read(&frame[4..]).unwrap();
        assert_eq!((answer.high_watermark, answer.records.len()), (7, batch.len() + 100));
        assert_eq!(next_offset(answer.records).unwrap(), Some(1));
        assert!(Answer::read(&frame[4..60]).is_err());
    }
}
