//! Which doors open, what is told of them, and what is refused.

use crate::config::given::Given;
use crate::config::snapshot::BrokerConfig;

fn load(text: &str) -> Result<Vec<String>, String> {
    let text = text.replace(' ', "\n");
    let given = Given::parse("f", text.as_bytes()).map_err(|it| it.to_string())?;
    let config = BrokerConfig::of(given, "box").map_err(|refused| refused.to_string())?;
    let line = |it: &crate::config::Listener| {
        let told = it.advertised.as_ref().map(|it| format!(" as {it}")).unwrap_or_default();
        let by_peer = if it.is_told_by_peer { ", by peer" } else { "" };
        format!("{} {}{told}{by_peer}", it.name, it.bind)
    };
    Ok(config.listeners.all.iter().map(line).collect())
}

#[track_caller]
fn check(text: &str, want: Result<&[&str], &str>) {
    let got = load(text);
    let got = got.as_ref().map(|lines| lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(got.as_deref().map_err(|line| line.as_str()), want);
}

#[test]
fn without_advertised_listeners_the_peer_decides_and_the_metadata_has_a_name() {
    check("listeners=plaintext://:9092,", Ok(&["PLAINTEXT :9092 as box:9092, by peer"]));
    check("listeners=PLAINTEXT://localhost:0", {
        Ok(&["PLAINTEXT localhost:0 as localhost:0, by peer"])
    });
    check("listeners=PLAINTEXT://[::1]:9092", Ok(&["PLAINTEXT [::1]:9092 as [::1]:9092, by peer"]));
    check("listeners=PLAINTEXT://0.0.0.0:9092", {
        Ok(&["PLAINTEXT 0.0.0.0:9092 as box:9092, by peer"])
    });
    check("listeners=PLAINTEXT://[::]:9092", Ok(&["PLAINTEXT [::]:9092 as box:9092, by peer"]));
    check("listeners=PLAINTEXT://:9092 advertised.listeners=", {
        Ok(&["PLAINTEXT :9092 as box:9092, by peer"])
    });
}

#[test]
fn advertised_listeners_are_told_as_they_stand() {
    check("listeners=PLAINTEXT://0.0.0.0:9092 advertised.listeners=PLAINTEXT://a.b:1", {
        Ok(&["PLAINTEXT 0.0.0.0:9092 as a.b:1"])
    });
    check("advertised.listeners=PLAINTEXT://:29092", Ok(&["PLAINTEXT :9092 as box:29092"]));
    check("advertised.listeners=PLAINTEXT://0.0.0.0:9092", {
        Err("f:1: advertised.listeners=PLAINTEXT://0.0.0.0:9092: nobody can connect to this \
             address: name one that clients reach, or leave advertised.listeners out")
    });
    check("advertised.listeners=X://a:1", {
        Err("f:1: advertised.listeners=X://a:1: must only name what stands in listeners: PLAINTEXT")
    });
    let map = "listener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT inter.broker.listener.name=A";
    check(&format!("listeners=A://:1,B://:2 advertised.listeners=A://a:1 {map}"), {
        Ok(&["A :1 as a:1", "B :2"])
    });
}

#[test]
fn the_controllers_listener_is_told_as_it_is_bound() {
    check(
        "listeners=PLAINTEXT://a:1,C://0.0.0.0:2 controller.listener.names=C \
         advertised.listeners=PLAINTEXT://b:1",
        Ok(&["PLAINTEXT a:1 as b:1", "C 0.0.0.0:2 as box:2, by peer"]),
    );
    check("controller.listener.names=C", Ok(&["PLAINTEXT :9092 as box:9092, by peer"]));
    check("listeners=C://:2 controller.listener.names=C", {
        Err("f:1: listeners=C://:2: must hold a listener for clients besides those of the \
             controller")
    });
    check(
        "listeners=PLAINTEXT://:1,C://:2 controller.listener.names=C inter.broker.listener.name=C",
        Err("f:3: inter.broker.listener.name=C: must not be a controller's listener"),
    );
}

#[test]
fn listeners_that_cannot_be_are_refused() {
    let form = "must be `NAME://host:port`, comma-separated";
    for bad in [
        "PLAINTEXT",
        "PLAINTEXT://a",
        "://a:1",
        "PLAINTEXT://a:65536",
        "PLAINTEXT://a:+1",
        "PLAINTEXT://a/b:1",
        "PLAINTEXT://256.1.1.1:1",
        "PLAINTEXT://a..b:1",
        "PLAINTEXT://.a:1",
        "PLAINTEXT://a:b:1",
        "PLAINTEXT://[::1:1",
        "PLAINTEXT://bücher:1",
    ] {
        check(&format!("listeners={bad}"), Err(&format!("f:1: listeners={bad}: {form}")));
    }
    check("listeners=", Err("f:1: listeners=: must name a listener, as `PLAINTEXT://:9092`"));
    check("listeners=PLAINTEXT://a:1,plaintext://b:2", {
        Err("f:1: listeners=plaintext://b:2: must name each listener once")
    });
    let map = "listener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT inter.broker.listener.name=A";
    check(&format!("listeners=A://a:1,B://b:1 {map}"), {
        Err("f:1: listeners=B://b:1: must have a port of its own: A has this one")
    });
    check(&format!("listeners=A://0.0.0.0:1,B://127.0.0.1:1 {map}"), {
        Err("f:1: listeners=B://127.0.0.1:1: must have a port of its own: A has this one")
    });
    let two = "listeners=A://127.0.0.1:1,B://[::1]:1";
    check(&format!("{two} {map}"), {
        Ok(&["A 127.0.0.1:1 as 127.0.0.1:1, by peer", "B [::1]:1 as [::1]:1, by peer"])
    });
}

#[test]
fn only_plaintext_is_served() {
    check("listeners=PLAINTEXT://:1,SSL://:2", {
        Err("f:1: listeners=SSL://:2: the listener SSL would speak SSL, and only PLAINTEXT is \
             served so far: leave it out, or name it PLAINTEXT")
    });
    check("listeners=A://:1,B://:2 listener.security.protocol.map=A:PLAINTEXT,b:SASL_SSL", {
        Err("f:2: listener.security.protocol.map=B:SASL_SSL: the listener B (listeners=B://:2) \
             would speak SASL_SSL, and only PLAINTEXT is served so far: write B:PLAINTEXT, or \
             leave the listener out")
    });
    check("listeners=A://:1", {
        Err("f:1: listeners=A://:1: A has no protocol: name it in listener.security.protocol.map, \
             as `A:PLAINTEXT`")
    });
    check("listeners=A://:1 listener.security.protocol.map=A:TLS", {
        Err("f:2: listener.security.protocol.map=A:TLS: must be `NAME:PROTOCOL`, comma-separated, \
             with PROTOCOL of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL")
    });
    check("security.inter.broker.protocol=SASL_SSL", {
        Err("f:1: security.inter.broker.protocol=SASL_SSL: only PLAINTEXT is served so far, among \
             brokers too: leave it out")
    });
    let named = "listeners=A://a:1 listener.security.protocol.map=A:PLAINTEXT,PLAINTEXT:PLAINTEXT";
    check(&format!("{named} inter.broker.listener.name=a"), Ok(&["A a:1 as a:1, by peer"]));
    check(named, {
        Err("inter.broker.listener.name=PLAINTEXT: must be one of the advertised listeners: A")
    });
    check("security.inter.broker.protocol=PLAINTEXT inter.broker.listener.name=PLAINTEXT", {
        Err(
            "f:2: inter.broker.listener.name=PLAINTEXT: only one of inter.broker.listener.name and \
             security.inter.broker.protocol may be set",
        )
    });
}
