//! Which names a topic may have.

use super::refusal::Refusal;
use crate::image::Image;
use protocol::error::ErrorCode;

/// Bytes of a topic's name, at most: with a partition's number behind it, and the suffix of a
/// directory that is being deleted, it must be a file name.
const NAME_LEN_MAX: usize = 249;

/// The topic of the metadata log itself, which no image holds.
const CLUSTER_METADATA: &str = "__cluster_metadata";

/// Whether a topic of this name may be created beside those of the image.
pub(super) fn check(name: &str, image: &Image) -> Result<(), Refusal> {
    if name == CLUSTER_METADATA {
        let why = format!("{CLUSTER_METADATA} is the cluster's own log, and nobody's to create");
        return Err(Refusal::new(ErrorCode::InvalidRequest, why));
    }
    check_topic_name(name).map_err(|why| Refusal::new(ErrorCode::InvalidTopicException, why))?;
    if image.topic(name).is_some() {
        let why = format!("topic {name} exists already");
        return Err(Refusal::new(ErrorCode::TopicAlreadyExists, why));
    }
    if let Some(other) = colliding(name, image) {
        return Err(collision(name, other));
    }
    Ok(())
}

/// Whether a topic could have this name, wherever it is; why not.
pub fn check_topic_name(name: &str) -> Result<(), String> {
    let is_legal = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_' | '-');
    if name.is_empty() {
        Err("a topic's name must not be empty".to_owned())
    } else if name == "." || name == ".." {
        Err(format!("a topic must not be named `{name}`, which is a directory"))
    } else if NAME_LEN_MAX < name.len() {
        Err(format!(
            "a topic's name has at most {NAME_LEN_MAX} characters; this one has {}",
            name.len()
        ))
    } else if let Some(illegal) = name.chars().find(|it| !is_legal(*it)) {
        Err(format!(
            "a topic's name is made of ASCII letters, digits, `.`, `_` and `-`; this one has {illegal:?}"
        ))
    } else {
        Ok(())
    }
}

/// Kafka's metrics write `.` as `_`, so two names that differ in that alone would share them.
pub fn collide(one: &str, other: &str) -> bool {
    let unified = |letter: u8| if letter == b'.' { b'_' } else { letter };
    one != other && one.bytes().map(unified).eq(other.bytes().map(unified))
}

fn collision(name: &str, other: &str) -> Refusal {
    let why =
        format!("topic {name} would collide with topic {other}: metrics do not tell `.` from `_`");
    Refusal::new(ErrorCode::InvalidTopicException, why)
}

fn colliding<'a>(name: &str, image: &'a Image) -> Option<&'a str> {
    let prefix = &name.get(..name.find(['.', '_'])?)?;
    let candidates = image.topics().from(*prefix).map(|(other, _)| other.as_str());
    let mut candidates = candidates.take_while(|other| other.starts_with(*prefix));
    candidates.find(|other| collide(name, other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kafkas() {
        for name in ["a", "A-b_c.9", "...", &"x".repeat(249)] {
            assert_eq!(check_topic_name(name), Ok(()), "{name}");
        }
        for name in ["", ".", "..", "a b", "ä", "a/b", &"x".repeat(250)] {
            assert!(check_topic_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_dot_is_an_underscore_to_metrics() {
        assert!(collide("a.b", "a_b") && collide("a_b.c", "a.b_c"));
        assert!(!collide("a.b", "a.b") && !collide("a.b", "a-b") && !collide("a.b", "a.bc"));
    }
}
