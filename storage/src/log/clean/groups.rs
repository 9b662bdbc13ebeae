//! Which segments are cleaned into one: those beside each other that still fit. Without that,
//! segments that shrink would become many small files.

use crate::error::Error;
use crate::log::LogConfig;
use crate::segment::{Home, Segment};
use std::sync::Arc;

/// What a segment weighs, before it is cleaned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Weight {
    bytes: u64,
    index_bytes: u64,
    time_index_bytes: u64,
}

impl Weight {
    fn of(segment: &Segment, home: &Home) -> Result<Weight, Error> {
        let (index_bytes, time_index_bytes) = segment.index_bytes(home)?;
        Ok(Weight { bytes: segment.size(), index_bytes, time_index_bytes })
    }

    fn with(self, other: Weight) -> Weight {
        Weight {
            bytes: self.bytes + other.bytes,
            index_bytes: self.index_bytes + other.index_bytes,
            time_index_bytes: self.time_index_bytes + other.time_index_bytes,
        }
    }

    fn fits(&self, config: &LogConfig) -> bool {
        let index_bytes = u64::from(config.segment_index_bytes);
        self.bytes <= u64::from(config.segment_bytes)
            && self.index_bytes <= index_bytes
            && self.time_index_bytes <= index_bytes
    }
}

/// Splits `segments` into groups; a segment too large for any is one alone.
/// An index counts offsets from its segment's base in 31 bits.
pub(super) fn groups(
    segments: &[Arc<Segment>],
    config: &LogConfig,
    home: &Home,
) -> Result<Vec<Vec<Arc<Segment>>>, Error> {
    let mut groups: Vec<Vec<Arc<Segment>>> = Vec::new();
    let mut so_far = Weight::default();
    for segment in segments {
        let weight = Weight::of(segment, home)?;
        let last_offset = segment.end().0 - 1;
        let both = so_far.with(weight);
        match groups.last_mut() {
            Some(group)
                if both.fits(config)
                    && (weight.bytes == 0
                        || group.first().is_some_and(|it| it.reaches(last_offset))) =>
            {
                group.push(segment.clone());
                so_far = both;
            }
            _ => {
                groups.push(vec![segment.clone()]);
                so_far = weight;
            }
        }
    }
    Ok(groups)
}
