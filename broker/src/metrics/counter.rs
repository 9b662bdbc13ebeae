//! One number that many threads count.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// Something that happened so often.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub fn count(&self) {
        self.add(1);
    }

    pub fn add(&self, many: u64) {
        self.0.fetch_add(many, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Something of which there are so many now.
#[derive(Debug, Default)]
pub struct Gauge(Arc<AtomicI64>);

impl Gauge {
    /// One more, until what this gives is dropped.
    pub fn one(&self) -> OneMore {
        self.0.fetch_add(1, Ordering::Relaxed);
        OneMore(Arc::clone(&self.0))
    }

    pub fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Debug)]
#[must_use = "what is dropped is not counted"]
pub struct OneMore(Arc<AtomicI64>);

impl Drop for OneMore {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
