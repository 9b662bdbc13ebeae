//! What a broker refuses, by Kafka's code.

use crate::failure::Failure;
use protocol::error::ErrorCode;
use std::fmt;

/// An error code, and the text that goes with it: the broker's own, where it sent one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub code: ErrorCode,
    pub text: String,
}

impl Refused {
    #[must_use]
    pub fn of(code: ErrorCode, text: String) -> Refused {
        Refused { code, text }
    }

    #[must_use]
    pub fn unsupported(text: String) -> Refused {
        Refused::of(ErrorCode::UnsupportedVersion, text)
    }

    /// What a response says: nothing when its code is 0.
    ///
    /// # Errors
    /// It is another one.
    pub fn check(code: i16, text: Option<&str>) -> Result<(), Refused> {
        let Some(known) = ErrorCode::from_code(code) else {
            let text = text.map_or_else(|| format!("error code {code}"), str::to_owned);
            return Err(Refused::of(ErrorCode::UnknownServerError, text));
        };
        match (known, text) {
            (ErrorCode::None, _) => Ok(()),
            (code, Some(text)) if !text.is_empty() => Err(Refused::of(code, text.to_owned())),
            (code, _) => Err(Refused::of(code, code.message().to_owned())),
        }
    }

    /// Whether the same request may be answered otherwise in a moment, without a change by anybody.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(
            self.code,
            ErrorCode::NotController
                | ErrorCode::LeaderNotAvailable
                | ErrorCode::NotLeaderOrFollower
                | ErrorCode::FencedLeaderEpoch
                | ErrorCode::UnknownLeaderEpoch
                | ErrorCode::CoordinatorLoadInProgress
                | ErrorCode::CoordinatorNotAvailable
                | ErrorCode::NotCoordinator
                | ErrorCode::OffsetNotAvailable
                | ErrorCode::UnstableOffsetCommit
                | ErrorCode::ThrottlingQuotaExceeded
        )
    }

    /// Kafka's Java class for it, which the output of some tools has.
    #[must_use]
    pub fn exception(&self) -> String {
        let name = self.code.name();
        let special = EXCEPTIONS.iter().find(|(it, _)| *it == name).map(|(_, class)| *class);
        match special {
            Some(class) => format!("{PACKAGE}.{class}"),
            None if name.ends_with("Exception") => format!("{PACKAGE}.{name}"),
            None => format!("{PACKAGE}.{name}Exception"),
        }
    }
}

const PACKAGE: &str = "org.apache.kafka.common.errors";

/// Codes whose class is not named like them.
const EXCEPTIONS: [(&str, &str); 25] = [
    ("UnknownServerError", "UnknownServerException"),
    ("CorruptMessage", "CorruptRecordException"),
    ("RequestTimedOut", "TimeoutException"),
    ("MessageTooLarge", "RecordTooLargeException"),
    ("StaleControllerEpoch", "ControllerMovedException"),
    ("OffsetMetadataTooLarge", "OffsetMetadataTooLarge"),
    ("RecordListTooLarge", "RecordBatchTooLargeException"),
    ("TopicAuthorizationFailed", "TopicAuthorizationException"),
    ("GroupAuthorizationFailed", "GroupAuthorizationException"),
    ("ClusterAuthorizationFailed", "ClusterAuthorizationException"),
    ("TopicAlreadyExists", "TopicExistsException"),
    ("InvalidConfig", "InvalidConfigurationException"),
    ("OutOfOrderSequenceNumber", "OutOfOrderSequenceException"),
    ("DuplicateSequenceNumber", "DuplicateSequenceException"),
    ("InvalidProducerIdMapping", "InvalidPidMappingException"),
    ("InvalidTransactionTimeout", "InvalidTxnTimeoutException"),
    ("TransactionalIdAuthorizationFailed", "TransactionalIdAuthorizationException"),
    ("KafkaStorageError", "KafkaStorageException"),
    ("SaslAuthenticationFailed", "SaslAuthenticationException"),
    ("DelegationTokenAuthDisabled", "DelegationTokenDisabledException"),
    ("DelegationTokenRequestNotAllowed", "UnsupportedByAuthenticationException"),
    ("DelegationTokenAuthorizationFailed", "DelegationTokenAuthorizationException"),
    ("NonEmptyGroup", "GroupNotEmptyException"),
    ("PrincipalDeserializationFailure", "PrincipalDeserializationException"),
    ("FetchSessionTopicIdError", "FetchSessionTopicIdException"),
];

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Refused {}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Failure {
        Failure::Told(refused.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_the_java_client() {
        let class = |code| Refused::of(code, String::new()).exception();
        for (code, want) in [
            (ErrorCode::TopicAlreadyExists, "TopicExistsException"),
            (ErrorCode::UnknownTopicOrPartition, "UnknownTopicOrPartitionException"),
            (ErrorCode::InvalidTopicException, "InvalidTopicException"),
            (ErrorCode::NonEmptyGroup, "GroupNotEmptyException"),
        ] {
            assert_eq!(class(code), format!("{PACKAGE}.{want}"));
        }
        for (name, _) in EXCEPTIONS {
            assert!(ErrorCode::ALL.iter().any(|code| code.name() == name), "{name}");
        }
    }

    #[test]
    fn the_text_is_that_of_the_broker_where_it_sent_one() {
        assert_eq!(Refused::check(0, Some("nothing")), Ok(()));
        let of = |text| Refused::check(36, text).unwrap_err().text;
        assert_eq!(of(Some("Topic 'one' exists.")), "Topic 'one' exists.");
        assert_eq!(of(None), ErrorCode::TopicAlreadyExists.message());
        assert_eq!(Refused::check(999, None).unwrap_err().text, "error code 999");
    }
}
