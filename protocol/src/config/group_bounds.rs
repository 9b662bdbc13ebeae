//! What a group may be told, by what its broker is told: bounds, and the values in force.

use super::describe::Settings;
use super::group::ConsumerGroupConfig;
use super::key::{Invalid, Key, Lookup};
use super::{BROKER, GROUP, find};

/// The kinds of group that have a session and heartbeats.
const KINDS: [&str; 3] = ["consumer", "share", "streams"];

/// Whether a group's overrides lie in the bounds that the broker sets, and its session holds more
/// than one heartbeat. As `GroupConfig` of Apache Kafka checks it; each value is known to be valid
/// for its key.
pub fn check_bounds(overrides: &Settings, broker: Lookup<'_, '_>) -> Result<(), Invalid> {
    for (name, text) in overrides {
        let Some((key, value)) = find(GROUP, name).zip(text.trim().parse::<i64>().ok()) else {
            continue;
        };
        let (min, max) = bounds(name, broker)?;
        if value < min || max < value {
            let why = match (min, max) {
                (i64::MIN, max) => format!("must be at most {max}"),
                (min, i64::MAX) => format!("must be at least {min}"),
                (min, max) => format!("must be {min} to {max}"),
            };
            return Err(key.invalid(text, &why));
        }
    }
    KINDS.iter().try_for_each(|kind| check_session(kind, overrides, broker))
}

fn check_session(kind: &str, overrides: &Settings, broker: Lookup<'_, '_>) -> Result<(), Invalid> {
    let names = ["session.timeout.ms", "heartbeat.interval.ms"].map(|it| format!("{kind}.{it}"));
    if !names.iter().any(|name| overrides.contains_key(name)) {
        return Ok(());
    }
    let value = |name: &String| match overrides.get(name) {
        Some(text) => Ok(text.trim().parse::<i64>().ok()),
        None => find(BROKER, &format!("group.{name}")).map(|key| key.resolve(broker)).transpose(),
    };
    let [session, heartbeat] = &names;
    match (value(session)?, value(heartbeat)?, find(GROUP, session)) {
        (Some(long), Some(short), Some(key)) if long <= short => {
            Err(key.invalid(&long.to_string(), &format!("must be more than {heartbeat}, {short}")))
        }
        _ => Ok(()),
    }
}

/// The broker's least and most for a key of groups; the ends of the number line where it has none.
fn bounds(name: &str, broker: Lookup<'_, '_>) -> Result<(i64, i64), Invalid> {
    let Some((kind, of_kind)) = name.split_once('.') else { return Ok((i64::MIN, i64::MAX)) };
    // `streams.num.standby.replicas` is bounded by `group.streams.max.standby.replicas`.
    let what = of_kind.strip_prefix("num.").unwrap_or(of_kind);
    let bound = |side: &str| {
        let key: Option<&Key> = find(BROKER, &format!("group.{kind}.{side}.{what}"));
        key.map(|key| key.resolve(broker)).transpose()
    };
    Ok((bound("min")?.unwrap_or(i64::MIN), bound("max")?.unwrap_or(i64::MAX)))
}

impl ConsumerGroupConfig {
    /// The values in force for a group with these overrides. An override that is out of the
    /// broker's bounds today is moved into them, and one that is no value says nothing.
    pub fn of(
        overrides: &Settings,
        broker: Lookup<'_, '_>,
    ) -> Result<ConsumerGroupConfig, Invalid> {
        let mut clamped = Settings::new();
        for key in &ConsumerGroupConfig::KEYS {
            let text = overrides.get(key.name).filter(|text| key.check(text).is_ok());
            if let Some(value) = text.and_then(|text| text.trim().parse::<i64>().ok()) {
                let (min, max) = bounds(key.name, broker)?;
                clamped.insert(key.name.to_owned(), value.min(max).max(min).to_string());
            }
        }
        let own = |name: &str| clamped.get(name).map(String::as_str);
        ConsumerGroupConfig::resolve_over(&own, broker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Settings {
        let pairs = text.split_whitespace().filter_map(|it| it.split_once('='));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[track_caller]
    fn check(overrides: &str, broker: &str, want: Result<(), &str>) {
        let broker = settings(broker);
        let got = check_bounds(&settings(overrides), &|name| broker.get(name).map(String::as_str));
        assert_eq!(got.map_err(|it| it.to_string()), want.map_err(str::to_owned));
    }

    #[test]
    fn an_override_lies_in_the_bounds_of_the_broker() {
        let heartbeat = "consumer.heartbeat.interval.ms=100";
        check(
            "consumer.heartbeat.interval.ms=5000 share.isolation.level=read_committed",
            "",
            Ok(()),
        );
        check(heartbeat, "", Err("consumer.heartbeat.interval.ms=100: must be 5000 to 15000"));
        check(heartbeat, "group.consumer.min.heartbeat.interval.ms=100", Ok(()));
        let refused = "share.delivery.count.limit=11: must be 2 to 10";
        check("share.delivery.count.limit=11", "", Err(refused));
        let refused = "streams.num.standby.replicas=3: must be at most 2";
        check("streams.num.standby.replicas=3", "", Err(refused));
    }

    #[test]
    fn a_session_is_longer_than_a_heartbeat_whichever_of_them_is_set() {
        check(
            "consumer.session.timeout.ms=9000 consumer.heartbeat.interval.ms=9000",
            "group.consumer.min.session.timeout.ms=1",
            Err("consumer.session.timeout.ms=9000: must be more than \
                 consumer.heartbeat.interval.ms, 9000"),
        );
        check(
            "share.session.timeout.ms=5000",
            "group.share.min.session.timeout.ms=1",
            Err("share.session.timeout.ms=5000: must be more than \
                 share.heartbeat.interval.ms, 5000"),
        );
    }

    #[test]
    fn the_value_in_force_is_the_groups_in_bounds_or_the_brokers() {
        let of = |overrides: &str, broker: &str| {
            let broker = settings(broker);
            let lookup = |name: &str| broker.get(name).map(String::as_str);
            let config = ConsumerGroupConfig::of(&settings(overrides), &lookup).unwrap();
            (config.heartbeat_interval_ms, config.session_timeout_ms)
        };
        assert_eq!(of("", ""), (5000, 45000));
        assert_eq!(of("", "group.consumer.heartbeat.interval.ms=7000"), (7000, 45000));
        assert_eq!(of("consumer.heartbeat.interval.ms=100", ""), (5000, 45000));
        assert_eq!(of("consumer.session.timeout.ms=70000", ""), (5000, 60000));
        assert_eq!(of("consumer.session.timeout.ms=forever", ""), (5000, 45000));
    }
}
