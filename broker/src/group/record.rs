//! The records of groups, as the coordinator's log holds them.

use crate::coordinator::Record;
use protocol::coordinator::group::GroupRecord;
use protocol::coordinator::{Malformed, TooLong};

impl Record for GroupRecord {
    fn key(&self) -> Result<Vec<u8>, TooLong> {
        self.key()
    }

    fn value(&self) -> Result<Option<Vec<u8>>, TooLong> {
        self.value()
    }

    fn read(key: &[u8], value: Option<&[u8]>) -> Result<Option<GroupRecord>, Malformed> {
        GroupRecord::read(key, value)
    }
}
