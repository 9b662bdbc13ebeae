//! Which code a client is told when its reply could not be kept.

use protocol::error::ErrorCode;

/// As Kafka's group coordinator turns what its log said into what clients of groups know
/// (`GroupCoordinatorService.handleOperationException`): whether to ask again here, or to look for
/// the coordinator again.
pub(super) fn code_of(of_the_log: ErrorCode) -> ErrorCode {
    #[expect(clippy::wildcard_enum_match_arm, reason = "all others are told as they are")]
    match of_the_log {
        ErrorCode::UnknownTopicOrPartition
        | ErrorCode::NotEnoughReplicas
        | ErrorCode::RequestTimedOut => ErrorCode::CoordinatorNotAvailable,
        ErrorCode::NotLeaderOrFollower
        | ErrorCode::FencedLeaderEpoch
        | ErrorCode::UnknownLeaderEpoch
        | ErrorCode::KafkaStorageError => ErrorCode::NotCoordinator,
        ErrorCode::MessageTooLarge | ErrorCode::RecordListTooLarge => ErrorCode::UnknownServerError,
        code => code,
    }
}
