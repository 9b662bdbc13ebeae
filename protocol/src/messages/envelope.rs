//! How much of a Produce request is not records, told before anything of it is decoded: names and
//! numbers take up to 32 times their size then, and records none.

use super::frame::malformed::Malformed;
use crate::varint::take_unsigned;

/// Since which version a request may be of a transaction.
const WITH_TRANSACTION: i16 = 3;
/// Since which version lengths are compact, and tagged fields may follow.
const FLEXIBLE: i16 = 9;
/// Since which version a topic is named by 16 bytes.
const BY_ID: i16 = 13;

/// The bytes of a Produce request, behind its header, that are not records. An error is that no
/// request has these bytes, or that they are more than `most`, and no more are looked at.
pub fn produce_envelope(body: &[u8], version: i16, most: usize) -> Result<usize, Malformed> {
    let mut walk = Walk { rest: body, bytes: 0, most, is_flexible: FLEXIBLE <= version };
    walk.request(version)?;
    // What is behind the request is not records either.
    walk.pass(walk.rest.len())?;
    Ok(walk.bytes)
}

struct Walk<'a> {
    rest: &'a [u8],
    /// Passed, and not records.
    bytes: usize,
    most: usize,
    is_flexible: bool,
}

impl Walk<'_> {
    fn request(&mut self, version: i16) -> Result<(), Malformed> {
        if WITH_TRANSACTION <= version {
            self.string()?;
        }
        self.pass(2 + 4)?; // The acks, and the time-out.
        for _ in 0..self.count()? {
            match version {
                BY_ID.. => self.pass(16)?,
                _ => self.string()?,
            }
            for _ in 0..self.count()? {
                self.pass(4)?; // The partition.
                let records = self.count()?;
                self.rest = self.rest.get(records..).ok_or_else(ends)?;
                self.tagged_fields()?;
            }
            self.tagged_fields()?;
        }
        self.tagged_fields()
    }

    fn pass(&mut self, len: usize) -> Result<(), Malformed> {
        self.rest = self.rest.get(len..).ok_or_else(ends)?;
        self.bytes = self.bytes.saturating_add(len);
        if self.most < self.bytes {
            let most = self.most;
            return Err(Malformed(format!("more than {most} bytes of a Produce are not records")));
        }
        Ok(())
    }

    fn varint(&mut self) -> Result<usize, Malformed> {
        let mut rest = self.rest;
        let value = take_unsigned(&mut rest).ok_or_else(ends)?;
        self.pass(self.rest.len() - rest.len())?;
        usize::try_from(value).map_err(|_| ends())
    }

    fn number<const BYTES: usize>(&mut self) -> Result<[u8; BYTES], Malformed> {
        let number = *self.rest.first_chunk().ok_or_else(ends)?;
        self.pass(BYTES)?;
        Ok(number)
    }

    /// Of items, or of bytes of records. None at all, and null, are 0.
    fn count(&mut self) -> Result<usize, Malformed> {
        match self.is_flexible {
            true => Ok(self.varint()?.saturating_sub(1)),
            false => length(i32::from_be_bytes(self.number()?)),
        }
    }

    fn string(&mut self) -> Result<(), Malformed> {
        let len = match self.is_flexible {
            true => self.varint()?.saturating_sub(1),
            false => length(i16::from_be_bytes(self.number()?).into())?,
        };
        self.pass(len)
    }

    fn tagged_fields(&mut self) -> Result<(), Malformed> {
        if !self.is_flexible {
            return Ok(());
        }
        for _ in 0..self.varint()? {
            self.varint()?;
            let len = self.varint()?;
            self.pass(len)?;
        }
        Ok(())
    }
}

/// Null is -1.
fn length(len: i32) -> Result<usize, Malformed> {
    match len {
        -1 => Ok(0),
        _ => usize::try_from(len).map_err(|_| Malformed(format!("nothing has a length of {len}"))),
    }
}

fn ends() -> Malformed {
    Malformed("the request ends within itself".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::produce_request::{PartitionProduceData, TopicProduceData};
    use crate::messages::{ProduceRequest, Request, StrBytes};
    use bytes::Bytes;
    use proptest::collection::{btree_map, vec};
    use proptest::option::of;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Tagged = BTreeMap<i32, Bytes>;
    type Topic = (String, Vec<(i32, Option<Bytes>, Tagged)>, Tagged);

    fn bytes(most: usize) -> impl Strategy<Value = Bytes> {
        vec(any::<u8>(), 0..most).prop_map(Bytes::from)
    }

    fn tagged() -> impl Strategy<Value = Tagged> {
        btree_map(0..i32::MAX, bytes(200), 0..3)
    }

    fn topics() -> impl Strategy<Value = Vec<Topic>> {
        let partition = (any::<i32>(), of(bytes(300)), tagged());
        vec(("[a-z]{0,200}", vec(partition, 0..4), tagged()), 0..4)
    }

    fn request(
        version: i16,
        id: Option<String>,
        topics: Vec<Topic>,
        tags: Tagged,
    ) -> ProduceRequest {
        let carried = |tags| if FLEXIBLE <= version { tags } else { Tagged::new() };
        let partition = |(index, records, own)| {
            PartitionProduceData::default()
                .with_index(index)
                .with_records(records)
                .with_unknown_tagged_fields(carried(own))
        };
        let topic = |(name, partitions, own): Topic| {
            let name = if version < BY_ID { name } else { String::new() };
            TopicProduceData::default()
                .with_name(StrBytes::from(name).into())
                .with_partition_data(partitions.into_iter().map(partition).collect())
                .with_unknown_tagged_fields(carried(own))
        };
        ProduceRequest::default()
            .with_transactional_id(id.map(|id| StrBytes::from(id).into()))
            .with_topic_data(topics.into_iter().map(topic).collect())
            .with_unknown_tagged_fields(carried(tags))
    }

    fn records_bytes(request: &ProduceRequest) -> usize {
        let data = request.topic_data.iter().flat_map(|topic| &topic.partition_data);
        data.filter_map(|data| data.records.as_ref()).map(Bytes::len).sum()
    }

    proptest! {
        #[test]
        fn the_envelope_is_the_request_without_its_records(
            id in of("[a-z]{0,40}"), topics in topics(), tags in tagged(), behind in 0..3_usize,
            cut: prop::sample::Index,
        ) {
            for version in ProduceRequest::CODEC.min..=ProduceRequest::CODEC.max {
                let request = request(version, id.clone(), topics.clone(), tags.clone());
                let body = [&request.body(version).unwrap()[..], &vec![0; behind]].concat();
                let want = body.len() - records_bytes(&request);
                prop_assert_eq!(produce_envelope(&body, version, want), Ok(want));
                prop_assert!(produce_envelope(&body, version, want - 1).is_err());
                let cut = &body[..cut.index(body.len() - behind)];
                prop_assert!(produce_envelope(cut, version, want).is_err(), "{}", cut.len());
                if version == 3 {
                    // The codec knows none before; theirs differ by the transaction alone.
                    let body = &body[2 + id.as_ref().map_or(0, String::len)..];
                    let want = body.len() - records_bytes(&request);
                    for old in 0..3 {
                        prop_assert_eq!(produce_envelope(body, old, want), Ok(want));
                    }
                }
            }
        }

        #[test]
        fn any_bytes_are_an_answer(body in vec(any::<u8>(), 0..200), version in 0..=14_i16) {
            if let Ok(envelope) = produce_envelope(&body, version, 200) {
                prop_assert!(envelope <= body.len());
            }
        }
    }

    #[test]
    fn a_claim_beyond_the_bytes_is_refused_at_once() {
        let claim = [&[0xff, 0xff, 0, 1, 0, 0, 0, 1][..], &i32::MAX.to_be_bytes()].concat();
        assert!(produce_envelope(&claim, 3, 100).is_err());
        let compact = [0, 0, 1, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0x0f];
        assert!(produce_envelope(&compact, 9, 100).is_err());
        assert!(produce_envelope(&[0xff, 0xfe, 0, 1], 3, 100).is_err(), "a length below -1");
    }
}
