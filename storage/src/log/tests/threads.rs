//! Readers beside an appender: what they see is whole, in order, and not beyond what they may.

use super::*;
use std::thread;

const APPENDS: i64 = 3000;

#[test]
fn readers_follow_an_appender_through_rolls_and_retention() {
    let config =
        LogConfig { segment_bytes: 20_000, retention_bytes: 60_000, ..LogConfig::default() };
    let (log, _disk) = log(config);
    let follow = || {
        let mut offset = log.log_start();
        while offset < APPENDS * 2 {
            let end = log.high_watermark();
            match log.read(offset, 2000, end, true) {
                Ok(slice) => {
                    let whole = batches(slice.read().unwrap()).map_while(Result::ok);
                    let got: Vec<Batch> = whole.collect();
                    assert!(!got.is_empty() || end <= offset, "nothing at {offset} of {end}");
                    for batch in got {
                        assert_eq!(batch.header.base_offset, offset / 2 * 2);
                        assert!(batch.check_crc().is_ok());
                        offset = batch.header.next_offset();
                        assert!(offset <= end, "{offset} beyond {end}");
                    }
                }
                // Overtaken by retention.
                Err(ReadError::OutOfRange { log_start, .. }) => offset = log_start,
                Err(other) => panic!("{other:?}"),
            }
            log.offset_for_timestamp(NOW + offset / 2).unwrap();
        }
    };
    thread::scope(|scope| {
        let readers = [scope.spawn(follow), scope.spawn(follow)];
        for number in 0..APPENDS {
            log.append(batch(2, 50, NOW + number), &CLIENT).unwrap();
            // The high watermark trails, and stands between batches.
            log.set_high_watermark(if number % 7 == 0 { number * 2 } else { number * 2 + 2 });
            if number % 100 == 99 {
                drop(log.retain(NOW).unwrap());
                log.flush(log.log_end()).unwrap();
            }
        }
        log.set_high_watermark(APPENDS * 2);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
    assert_eq!(log.log_end(), APPENDS * 2);
    assert!(log.size_bytes() < 100_000);
}
