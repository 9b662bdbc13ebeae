//! What is said when a chore fails on a partition, and what follows for its directory.

use crate::partition::replica::Partition;
use storage::error::Error;

pub(super) fn failed(partition: &Partition, what: &str, error: &Error) {
    let fault = partition.broken(error);
    let said = fault.message.unwrap_or_default();
    tracing::error!("{what} of {} failed: {said}", partition.name());
}
