//! What is said when a chore fails on a partition, and what follows for its directory.

use crate::partition::replica::Partition;
use storage::error::Error;

pub(super) fn failed(partition: &Partition, what: &str, error: &Error) {
    // Of what was deleted meanwhile there is nothing to say.
    if let Some(said) = partition.broken(error).message {
        tracing::error!("{what} of {} failed: {said}", partition.name());
    }
}
