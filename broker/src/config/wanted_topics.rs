//! Topics that are made at the start: refused with the rest of the configuration where the controller
//! would refuse them.

use kraft::controller::{NEW_PARTITIONS_MAX, check_topic_name, collide};
use protocol::config::key::Invalid;
use protocol::config::start::{StartConfig, TopicWanted};
use protocol::config::topic::TopicConfig;
use storage::log_dir::METADATA_TOPIC;

/// Whether each of `highwater.create.topics` could be made, beside the others.
pub(super) fn check(config: &StartConfig) -> Result<(), Invalid> {
    let mut before: Vec<TopicWanted> = Vec::new();
    for item in &config.create_topics {
        let refuse = |why: &str| StartConfig::create_topics().invalid(item, why);
        let form = || refuse("must be `name:partitions:replicas[:cleanup.policy]`");
        let topic = TopicWanted::parse(item).ok_or_else(form)?;
        check_topic_name(&topic.name).map_err(|why| refuse(&why))?;
        if topic.name == METADATA_TOPIC {
            return Err(refuse("is the cluster's own log, and nobody's to create"));
        }
        if let Some(policy) = &topic.cleanup_policy {
            let checked = TopicConfig::cleanup_policy().check(policy);
            checked.map_err(|invalid| refuse(&invalid.to_string()))?;
        }
        if usize::try_from(topic.partitions).is_ok_and(|count| NEW_PARTITIONS_MAX < count) {
            let why = format!("must have at most {NEW_PARTITIONS_MAX} partitions");
            return Err(refuse(&why));
        }
        for other in &before {
            if other.name == topic.name {
                return Err(refuse("must name each topic once"));
            }
            if collide(&topic.name, &other.name) {
                let why =
                    format!("would collide with {}: metrics do not tell `.` from `_`", other.name);
                return Err(refuse(&why));
            }
        }
        before.push(topic);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_one(topics: &str, want: Result<(), &str>) {
        let said = |name: &str| (name == StartConfig::create_topics().name).then_some(topics);
        let checked = check(&StartConfig::resolve(&said).unwrap());
        assert_eq!(checked.map_err(|it| it.why), want.map_err(str::to_owned), "{topics}");
    }

    #[test]
    fn what_the_controller_would_refuse_is_refused_before() {
        check_one("a:1:1, b.c:10000:3:compact, d:1:1:compact+delete,", Ok(()));
        check_one("a b:1:1", {
            Err(
                "a topic's name is made of ASCII letters, digits, `.`, `_` and `-`; this one has ' '",
            )
        });
        check_one("__cluster_metadata:1:1", {
            Err("is the cluster's own log, and nobody's to create")
        });
        check_one("a:1:1:compacted", {
            Err("cleanup.policy=compacted: must be of compact, delete")
        });
        check_one("a:10001:1", Err("must have at most 10000 partitions"));
        check_one("a:1:1,a:2:1", Err("must name each topic once"));
        check_one("a.b:1:1,a_b:1:1", {
            Err("would collide with a.b: metrics do not tell `.` from `_`")
        });
    }
}
