//! What a storage error of a partition means: for its directory, and for who asked.

use super::Partition;
use crate::error::ToCode;
use crate::partition::fault::Fault;
use protocol::error::ErrorCode;
use storage::error::{Error, is_shortage};
use storage::log::{AppendError, ReadError};

impl Partition {
    /// Whether its directory can be used.
    pub(super) fn check_usable(&self) -> Result<(), Fault> {
        if self.dir.failure().is_none() {
            return Ok(());
        }
        Err(Fault { message: self.dir.refusal(), ..ErrorCode::KafkaStorageError.into() })
    }

    pub(super) fn no_room(&self) -> Fault {
        let path = self.dir.path.display();
        let message = format!("{path} is full, nothing was appended; retry when it has space");
        Fault { message: Some(message), ..ErrorCode::KafkaStorageError.into() }
    }

    pub(super) fn refused(&self, error: AppendError) -> Fault {
        match error {
            AppendError::Refused(refusal) => refusal.into(),
            AppendError::DiskFull(reason) => {
                self.dir.lacks_room(&reason);
                self.no_room()
            }
            AppendError::Offline(_) | AppendError::PartWay(_) if !self.takes_part() => {
                ErrorCode::NotLeaderOrFollower.into()
            }
            AppendError::Offline(reason) => {
                self.dir.fail(&format!("appending to {}: {reason}", self.name()));
                Fault { message: Some(reason), ..ErrorCode::KafkaStorageError.into() }
            }
            // Nobody knows what reached the disk, so the client must not believe "not appended".
            AppendError::PartWay(error) => {
                self.dir.fail(&format!("appending to {}: {error}", self.name()));
                ErrorCode::RequestTimedOut.into()
            }
        }
    }

    pub fn unreadable(&self, error: ReadError) -> Fault {
        match error {
            ReadError::OutOfRange { .. } => ErrorCode::OffsetOutOfRange.into(),
            ReadError::Corrupt { .. } => ErrorCode::CorruptMessage.into(),
            ReadError::Disk(_) if !self.takes_part() => ErrorCode::NotLeaderOrFollower.into(),
            ReadError::Disk(error) if is_shortage(&error) => {
                Fault { message: Some(error.to_string()), ..ErrorCode::KafkaStorageError.into() }
            }
            ReadError::Disk(error) => {
                self.dir.fail(&format!("reading {}: {error}", self.name()));
                ErrorCode::KafkaStorageError.into()
            }
        }
    }

    /// The answer after a storage error of any other call; a failed disk takes its directory off.
    pub fn broken(&self, error: &Error) -> Fault {
        if !self.takes_part() {
            return ErrorCode::NotLeaderOrFollower.into();
        }
        if matches!(error, Error::Disk(_)) {
            self.dir.fail(&format!("{}: {error}", self.name()));
        }
        Fault { message: Some(error.to_string()), ..error.code().into() }
    }
}
