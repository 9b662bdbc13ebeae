//! Every value comes with all the places that speak of it, the nearest first.

use super::{Entry, Layers, Settings, Source, broker, broker_default, group, topic};

fn settings(pairs: &[(&str, &str)]) -> Settings {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// `value@source [synonym=value@source ..]`, with flags.
fn line(entry: &Entry) -> String {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "null".to_owned());
    let synonyms: Vec<_> = (entry.synonyms.iter())
        .map(|it| format!("{}={}@{}", it.name, text(&it.value), it.source.code()))
        .collect();
    let flags = [(entry.read_only, " fixed"), (entry.is_sensitive, " secret")];
    let flags: String = flags.iter().filter(|(on, _)| *on).map(|(_, flag)| *flag).collect();
    format!("{}@{} [{}]{flags}", text(&entry.value), entry.source.code(), synonyms.join(" "))
}

#[track_caller]
fn check(entries: &[Entry], name: &str, want: &str) {
    let entry = entries.iter().find(|entry| entry.name == name).unwrap();
    assert_eq!(line(entry), want, "{name}");
}

#[test]
fn a_topic_shows_its_own_words_before_its_brokers() {
    let fixed = settings(&[("log.retention.hours", "2"), ("log.segment.bytes", " 2000000")]);
    let all = settings(&[("log.retention.ms", "9")]);
    let none = Settings::new();
    let layers = Layers { dynamic_broker: &none, dynamic_default: &all, fixed: &fixed };
    let entries = topic(&settings(&[("retention.ms", "7"), ("old.key", "x")]), layers);
    check(&entries, "retention.ms", {
        "7@1 [retention.ms=7@1 log.retention.ms=9@3 log.retention.hours=2@4 \
         log.retention.hours=168@5]"
    });
    check(&entries, "segment.bytes", {
        "2000000@4 [log.segment.bytes= 2000000@4 log.segment.bytes=1073741824@5]"
    });
    check(&entries, "remote.storage.enable", "false@5 []");
    check(&entries, "old.key", "null@1 [old.key=null@1] secret");
    assert!(entries.iter().all(|entry| entry.name != "internal.segment.bytes"));
    let own = settings(&[("internal.segment.bytes", "9"), ("cleanup.policy", "compact, compact")]);
    let entries = topic(&own, layers);
    check(&entries, "internal.segment.bytes", "9@1 [internal.segment.bytes=9@1]");
    check(&entries, "cleanup.policy", {
        "compact@1 [cleanup.policy=compact@1 log.cleanup.policy=delete@5]"
    });
    let entries = topic(&none, Layers { dynamic_default: &none, ..layers });
    // The hours are in force, and Kafka does not tell of them while nobody says the milliseconds.
    check(&entries, "retention.ms", "7200000@5 []");
    assert!(entries.is_sorted_by(|low, high| low.name < high.name));
}

#[test]
fn a_broker_shows_layers_secrets_and_strangers() {
    let fixed = settings(&[
        ("log.roll.hours", "3"),
        ("ssl.key.password", "s3cret"),
        ("some.plugin", "x"),
        ("node.id", "1"),
        ("listener.name.x.ssl.keystore.location", "/k"),
        ("listener.name.x.max.connections", "9"),
    ]);
    let own = settings(&[("log.roll.ms", "5")]);
    let all = settings(&[("log.roll.ms", "6"), ("leader.replication.throttled.rate", "7")]);
    let all = Settings::from_iter(all.into_iter().chain(settings(&[("max.connections", "8")])));
    let layers = Layers { dynamic_broker: &own, dynamic_default: &all, fixed: &fixed };
    let entries = broker(layers);
    let coarse = "log.roll.hours=3@4 log.roll.hours=168@5";
    check(&entries, "log.roll.ms", &format!("5@2 [log.roll.ms=5@2 log.roll.ms=6@3 {coarse}]"));
    check(&entries, "log.roll.hours", &format!("168@4 [{coarse}] fixed"));
    check(&entries, "log.roll.jitter.ms", "null@5 []");
    check(&entries, "ssl.key.password", "null@4 [ssl.key.password=null@4] secret");
    check(&entries, "some.plugin", "null@4 [some.plugin=null@4] fixed secret");
    check(&entries, "node.id", "1@4 [node.id=1@4] fixed");
    check(&entries, "log.dirs", "null@5 [] fixed");
    check(&entries, "listener.name.x.ssl.keystore.location", {
        "/k@4 [listener.name.x.ssl.keystore.location=/k@4] fixed"
    });
    check(&entries, "listener.name.x.max.connections", {
        "9@4 [listener.name.x.max.connections=9@4 max.connections=2147483647@5] fixed"
    });
    check(&entries, "leader.replication.throttled.rate", {
        "7@3 [leader.replication.throttled.rate=7@3]"
    });
    assert!(entries.is_sorted_by(|low, high| low.name < high.name));
    let entries = broker_default(&all);
    assert_eq!(entries.len(), 3);
    check(&entries, "log.roll.ms", "6@3 [log.roll.ms=6@3]");
}

#[test]
fn a_group_takes_its_brokers_word_where_it_is_silent() {
    let none = Settings::new();
    let fixed = settings(&[("group.consumer.session.timeout.ms", "50000")]);
    let layers = Layers { dynamic_broker: &none, dynamic_default: &none, fixed: &fixed };
    let entries = group(&settings(&[("share.isolation.level", "read_committed")]), layers);
    check(&entries, "share.isolation.level", {
        "read_committed@8 [share.isolation.level=read_committed@8 \
         share.isolation.level=read_uncommitted@5]"
    });
    check(&entries, "consumer.session.timeout.ms", {
        "50000@4 [group.consumer.session.timeout.ms=50000@4 \
         group.consumer.session.timeout.ms=45000@5]"
    });
    check(&entries, "share.auto.offset.reset", "latest@5 [share.auto.offset.reset=latest@5]");
    check(&entries, "streams.assignor.name", "sticky@5 [group.streams.assignors=sticky@5]");
    assert!(entries.iter().all(|entry| entry.source != Source::Topic));
}
