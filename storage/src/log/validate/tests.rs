//! Each thing that a batch may have wrong, and what is said of it.

use super::*;
use crate::log::Recompression;
use protocol::records::batch::{CONTROL, HEADER_LEN, TRANSACTIONAL};
use protocol::records::{BatchBuilder, NewRecord};

const NOW: i64 = 1_000_000;

fn builder() -> BatchBuilder {
    BatchBuilder::new(0).key_value(NOW, b"k", b"v").key_value(NOW + 5, b"k2", b"v2")
}

fn check(bytes: Bytes, config: &LogConfig) -> Result<Checked, AppendError> {
    let context = AppendContext { leader_epoch: 1, now_ms: NOW, origin: Origin::Client };
    let mut into = Vec::new();
    super::check(bytes, 0, (config, &context), &mut into)?;
    Ok(into.pop().unwrap())
}

fn reason(bytes: Bytes, config: &LogConfig) -> Option<(Reason, Vec<i32>)> {
    match check(bytes, config) {
        Ok(_) => None,
        Err(AppendError::Refused(refusal)) => {
            assert!(!refusal.message.is_empty());
            let records = refusal.record_errors.iter().map(|it| it.index).collect();
            Some((refusal.reason, records))
        }
        Err(other) => panic!("{other:?}"),
    }
}

/// With a header changed and a checksum that fits.
fn changed(bytes: &Bytes, change: impl Fn(&mut BatchHeader)) -> Bytes {
    let mut header = BatchHeader::read(bytes).unwrap();
    change(&mut header);
    header.crc = crc_of_parts(&header.write(), &bytes[HEADER_LEN..]);
    [&header.write()[..], &bytes[HEADER_LEN..]].concat().into()
}

#[test]
fn each_flaw_of_a_batch_has_its_reason() {
    let good = builder().build().unwrap();
    let config = LogConfig::default();
    let check = |bytes: Bytes, want: Option<Reason>| {
        assert_eq!(reason(bytes, &config).map(|it| it.0), want);
    };
    let with = |change: &dyn Fn(&mut BatchHeader)| changed(&good, change);
    check(good.clone(), None);
    check(Bytes::new(), Some(Reason::InvalidRecord));
    check(good.slice(..40), Some(Reason::InvalidRecord));
    check(good.slice(..good.len() - 1), Some(Reason::InvalidRecord));
    check([&good[..], &good[..]].concat().into(), Some(Reason::InvalidRecord));
    check(with(&|it| it.magic = 1), Some(Reason::InvalidRecord));
    check(with(&|it| it.magic = 3), Some(Reason::CorruptMessage));
    check(with(&|it| it.length = 13), Some(Reason::CorruptMessage));
    check(with(&|it| it.base_offset = 1), Some(Reason::InvalidRecord));
    check(with(&|it| it.record_count = 1), Some(Reason::InvalidRecord));
    check(with(&|it| it.record_count = 0), Some(Reason::InvalidRecord));
    check(with(&|it| it.record_count = -1), Some(Reason::InvalidRecord));
    check(with(&|it| it.last_offset_delta = 2), Some(Reason::InvalidRecord));
    check(with(&|it| it.last_offset_delta = i32::MAX), Some(Reason::InvalidRecord));
    check(with(&|it| it.attributes = CONTROL), Some(Reason::InvalidRecord));
    check(with(&|it| it.attributes = TRANSACTIONAL), None);
    check(with(&|it| it.attributes = 7), Some(Reason::InvalidRecord));
    check(with(&|it| it.producer_id = 9), Some(Reason::InvalidRecord));
    let one = |it: &mut BatchHeader| (it.record_count, it.last_offset_delta) = (1, 0);
    check(with(&one), Some(Reason::InvalidRecord)); // A record too many.
    let three = |it: &mut BatchHeader| (it.record_count, it.last_offset_delta) = (3, 2);
    check(with(&three), Some(Reason::InvalidRecord));
    for at in 21..good.len() {
        let mut bytes = good.to_vec();
        bytes[at] ^= 1;
        check(bytes.into(), Some(Reason::CorruptMessage));
    }
}

#[test]
fn sizes_keys_and_times_are_held_against_the_topic() {
    let good = builder().build().unwrap();
    let bytes = u32::try_from(good.len()).unwrap();
    let check = |config: LogConfig, batch: BatchBuilder, want: Option<(Reason, Vec<i32>)>| {
        for codec in [Codec::None, Codec::Lz4] {
            let batch = batch.clone().codec(codec, None).build().unwrap();
            assert_eq!(reason(batch, &config), want, "{codec:?}");
        }
    };
    let all = LogConfig::default;
    let exact = LogConfig { max_message_bytes: bytes, ..all() };
    assert_eq!(reason(good.clone(), &exact), None);
    let less = LogConfig { max_message_bytes: bytes - 1, ..all() };
    assert_eq!(reason(good.clone(), &less), Some((Reason::MessageTooLarge, vec![])));
    let less = LogConfig { segment_bytes: bytes - 1, ..all() };
    assert_eq!(reason(good, &less), Some((Reason::RecordListTooLarge, vec![])));
    let keyless = NewRecord { timestamp_ms: NOW, value: Some(b"v"), ..NewRecord::default() };
    let compact = LogConfig { compact: true, ..all() };
    check(compact.clone(), builder(), None);
    let batch = builder().record(keyless).key_value(NOW, b"", b"").record(keyless);
    check(compact, batch.clone(), Some((Reason::InvalidRecord, vec![2, 4])));
    check(all(), batch, None);
    let late = LogConfig { message_timestamp_after_max_ms: 100, ..all() };
    check(late.clone(), builder().key_value(NOW + 100, b"k", b"v"), None);
    let batch = builder().key_value(NOW + 101, b"k", b"v");
    check(late.clone(), batch.clone(), Some((Reason::InvalidTimestamp, vec![2])));
    check(LogConfig { log_append_time: true, ..late }, batch, None);
    let early = LogConfig { message_timestamp_before_max_ms: 50, ..all() };
    check(early.clone(), builder().key_value(NOW - 50, b"k", b"v"), None);
    check(early.clone(), builder().key_value(-1, b"k", b"v"), None);
    let batch = builder().key_value(NOW - 51, b"k", b"v");
    check(early, batch, Some((Reason::InvalidTimestamp, vec![2])));
}

#[test]
fn the_brokers_time_is_in_the_header_and_under_the_checksum() {
    let config = LogConfig { log_append_time: true, ..LogConfig::default() };
    let checked = check(builder().build().unwrap(), &config).unwrap();
    assert!(checked.header.is_log_append_time());
    assert_eq!(checked.header.max_timestamp, NOW);
    let crc = crc_of_parts(&checked.header.write(), checked.records());
    assert_eq!(checked.header.crc, crc);
}

#[test]
fn only_the_topic_says_that_the_time_is_the_brokers() {
    for codec in [Codec::None, Codec::Gzip] {
        let batch = builder().codec(codec, None).build().unwrap();
        let claims = changed(&batch, |it| it.attributes |= LOG_APPEND_TIME);
        let checked = check(claims.clone(), &LogConfig::default()).unwrap();
        assert_eq!(
            (checked.header.is_log_append_time(), checked.header.max_timestamp),
            (false, NOW + 5)
        );
        assert_eq!(checked.header.crc, crc_of_parts(&checked.header.write(), checked.records()));
        let config = LogConfig { log_append_time: true, ..LogConfig::default() };
        assert_eq!(reason(claims, &config), Some((Reason::InvalidTimestamp, vec![0, 1])));
        let batch = BatchBuilder::new(0).key_value(NO_TIMESTAMP, b"k", b"v").codec(codec, None);
        let claims = changed(&batch.build().unwrap(), |it| it.attributes |= LOG_APPEND_TIME);
        let got = reason(claims, &LogConfig::default());
        assert_eq!(got, Some((Reason::InvalidTimestamp, vec![0])));
    }
}

#[test]
fn a_wrong_greatest_time_is_set_right() {
    let batch = changed(&builder().build().unwrap(), |it| it.max_timestamp = 3);
    let checked = check(batch, &LogConfig::default()).unwrap();
    assert_eq!(checked.header.max_timestamp, NOW + 5);
    assert_eq!(checked.header.crc, crc_of_parts(&checked.header.write(), checked.records()));
}

fn values(checked: &Checked) -> Vec<(i32, i64, Vec<u8>)> {
    let bytes = [&checked.header.write()[..], checked.records()].concat();
    let mut walk = records(&bytes, 1 << 20).unwrap();
    let mut values = Vec::new();
    while let Some(record) = walk.next() {
        let record = record.unwrap();
        let value = record.value.unwrap_or_default().to_vec();
        values.push((record.offset_delta, record.timestamp_ms(&checked.header), value));
    }
    values
}

#[test]
fn a_topics_own_codec_is_what_is_stored() {
    for from in Codec::ALL {
        for to in Codec::ALL {
            let plain = check(builder().build().unwrap(), &LogConfig::default()).unwrap();
            let batch = builder().codec(from, None).build().unwrap();
            let compression = Some(Recompression { codec: to, level: None });
            let config = LogConfig { compression, ..LogConfig::default() };
            let checked = check(batch, &config).unwrap();
            assert_eq!(checked.header.compression(), Some(to), "{from:?}");
            assert_eq!(values(&checked), values(&plain), "{from:?} to {to:?}");
            let crc = crc_of_parts(&checked.header.write(), checked.records());
            assert_eq!((checked.header.crc, checked.header.size()), (crc, checked.batch.len()));
        }
    }
}

#[test]
fn offsets_out_of_order_are_put_in_order() {
    let record = |value: &'static [u8]| NewRecord {
        timestamp_ms: NOW,
        value: Some(value),
        headers: &[(b"h", None), (b"h", Some(b"x"))],
        ..NewRecord::default()
    };
    for codec in [Codec::None, Codec::Gzip] {
        let mut batch = BatchBuilder::new(0).codec(codec, None);
        batch.push_at(3, record(b"a"));
        batch.push_at(9, record(b"b"));
        let batch = changed(&batch.build().unwrap(), |it| it.last_offset_delta = 1);
        let config = LogConfig { validate_compressed: true, ..LogConfig::default() };
        let checked = check(batch, &config).unwrap();
        let want = vec![(0, NOW, b"a".to_vec()), (1, NOW, b"b".to_vec())];
        assert_eq!((values(&checked), checked.header.compression()), (want, Some(codec)));
    }
}

#[test]
fn a_compressed_batch_is_opened_no_further_than_allowed() {
    let bomb = BatchBuilder::new(0).key_value(NOW, b"k", &vec![0; 1 << 20]);
    let bomb = bomb.codec(Codec::Gzip, None).build().unwrap();
    let config = LogConfig { max_decompressed_bytes: 4096, ..LogConfig::default() };
    assert_eq!(reason(bomb.clone(), &config), None);
    let config = LogConfig { validate_compressed: true, ..config };
    assert_eq!(reason(bomb, &config).map(|it| it.0), Some(Reason::MessageTooLarge));
}
