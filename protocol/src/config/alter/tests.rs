//! Changes that are allowed, and the reasons of those that are not.

use super::Operation::{Append, Delete, Set, Subtract};
use super::{Operation, Target, changed, check_broker, check_group, check_topic};
use crate::config::describe::Settings;

#[test]
fn lists_grow_and_shrink_and_nothing_else_does() {
    #[track_caller]
    fn check(
        name: &str,
        now: Option<&str>,
        operation: Operation,
        value: &str,
        want: Result<Option<&str>, &str>,
    ) {
        let got = changed(Target::Topic, name, now, operation, Some(value));
        let got = got.map_err(|invalid| invalid.why);
        assert_eq!(got.as_ref().map(Option::as_deref).map_err(String::as_str), want);
    }
    check("cleanup.policy", None, Append, "compact", Ok(Some("delete,compact")));
    check("cleanup.policy", Some("compact"), Append, "compact", Ok(Some("compact")));
    check("cleanup.policy", Some("compact,delete"), Subtract, "delete", Ok(Some("compact")));
    check("cleanup.policy", Some("compact"), Delete, "", Ok(None));
    check("retention.ms", None, Set, "x", Ok(Some("x")));
    let why = "is not a list: it can be set or deleted, not appended to or subtracted from";
    check("retention.ms", Some("7"), Append, "8", Err(why));
    check("no.such", None, Subtract, "8", Err(why));
    let null = changed(Target::Topic, "retention.ms", None, Set, None);
    assert_eq!(null.unwrap_err().why, "needs a value, which must not be null");
    assert_eq!([-1, 0, 3, 4].map(Operation::of), [None, Some(Set), Some(Subtract), None]);
}

#[test]
fn a_topic_is_checked_whole() {
    #[track_caller]
    fn check(pairs: &[(&str, &str)], want: Result<(), &str>) {
        let overrides: Settings =
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let got = check_topic(&overrides, &|name| {
            (name == "log.cleaner.max.compaction.lag.ms").then_some("10")
        });
        let got = got.map(drop).map_err(|invalid| invalid.to_string());
        assert_eq!(got, want.map_err(str::to_owned));
    }
    check(&[("retention.ms", "7")], Ok(()));
    check(&[("retention.ms", "-2")], Err("retention.ms=-2: must be at least -1"));
    check(&[("no.such", "-2")], Err("no.such=-2: no such key"));
    check(&[("retention.mss", "7")], Err("retention.mss=7: no such key (retention.ms?)"));
    check(&[("log.retention.ms", "7")], Err("log.retention.ms=7: no such key (retention.ms?)"));
    check(&[("min.compaction.lag.ms", "11")], {
        Err("min.compaction.lag.ms=11: must not exceed max.compaction.lag.ms")
    });
    check(&[("remote.storage.enable", "true")], {
        Err("remote.storage.enable=true: there is no remote storage here")
    });
    let group = |name: &str, value: &str| {
        check_group(&Settings::from([(name.to_owned(), value.to_owned())]), &|_| None)
    };
    assert_eq!(group("share.isolation.level", "read_committed"), Ok(()));
    assert_eq!(group("retention.ms", "7").unwrap_err().why, "no such key");
}

#[test]
fn a_running_broker_takes_only_what_may_change() {
    #[track_caller]
    fn check(target: Target, name: &str, value: &str, want: Result<(), &str>) {
        let got = check_broker(target, name, value).map_err(|invalid| invalid.why);
        assert_eq!(got, want.map_err(str::to_owned));
    }
    use Target::{AllBrokers, Broker};
    check(AllBrokers, "log.retention.ms", "7", Ok(()));
    check(Broker, "log.retention.ms", "x", Err("must be a 64-bit number"));
    check(Broker, "log.retention.hours", "7", Err("cannot change while the broker runs"));
    check(AllBrokers, "cordoned.log.dirs", "*", {
        Err("can be set for one broker, not for all of them")
    });
    check(Broker, "ssl.keystore.location", "/k", {
        Err("changes by listener: put `listener.name.<listener>.` before it")
    });
    check(Broker, "listener.name.x.ssl.keystore.location", "/k", Ok(()));
    check(Broker, "listeners", "PLAINTEXT://:1", {
        Err("cannot change while the broker runs; set it in its file")
    });
    check(Broker, "leader.replication.throttled.rate", "7", Ok(()));
    check(Broker, "some.plugin", "7", Ok(()));
}
