//! A decision in the making, of which later parts see the earlier ones.

use crate::image::Image;
use crate::record::Record;

/// Records in the making, and the image as it will be with them.
#[derive(Debug)]
pub(super) struct Draft {
    image: Image,
    records: Vec<Record>,
}

impl Draft {
    pub(super) fn of(image: &Image) -> Draft {
        Draft { image: image.clone(), records: Vec::new() }
    }

    pub(super) fn image(&self) -> &Image {
        &self.image
    }

    pub(super) fn append(&mut self, records: Vec<Record>) {
        for record in &records {
            let applied = self.image.apply(record, self.image.offset);
            assert!(applied.is_ok(), "a decision contradicts its image: {applied:?}");
        }
        self.records.extend(records);
    }

    pub(super) fn into_records(self) -> Vec<Record> {
        self.records
    }
}
