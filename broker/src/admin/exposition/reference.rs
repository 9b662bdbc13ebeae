//! `docs/metrics.md`, made of the table.
#![cfg(test)]

use super::FAMILIES;
use std::fmt::Write;

/// What dashboards for Apache Kafka may ask for and is not there, with the reason.
const ABSENT: &[(&str, &str)] = &[
    (
        "kafka_controller_controllerstats_leaderelectionrateandtimems",
        "Apache Kafka has it no more either, since it has no ZooKeeper",
    ),
    (
        "kafka_network_acceptor_acceptorblockedpercent_total",
        "an acceptor that may take nobody in waits, and is not counted",
    ),
    ("kafka_network_requestchannel_responsequeuesize", "answers wait in their connections"),
    ("kafka_network_requestmetrics_throttletimems", "there are no quotas"),
    (
        "kafka_server_fetchsessioncache_incrementalfetchsessionevictions_total",
        "evictions are not counted",
    ),
    ("kafka_server_replicafetchermanager_minfetchrate", "there are no replica fetchers"),
    ("kafka_server_replicamanager_produceridcount", "producers are not counted"),
    (
        "kafka_server_socket_server_metrics_connection_creation_rate, _close_rate, _connections",
        "only the count of open connections is kept",
    ),
    ("jvm_*", "there is no JVM; `process_*` says what the process takes"),
];

fn reference() -> String {
    let mut page = String::from(
        "# Metrics\n\nWhat `/metrics` of the admin port (`highwater.admin.listener`) tells Prometheus. The names \
         are those that\ndashboards for Apache Kafka and kafka_exporter ask for; no exporter is needed \
         beside the broker.\n`topic?`: with the label for each topic, and without it for all together. \
         Quantiles are 0.50, 0.75,\n0.95, 0.98, 0.99 and 0.999, and not a number while nothing was \
         measured.\n\n| name | type | labels | what it is |\n|---|---|---|---|\n",
    );
    for family in FAMILIES.into_iter().flatten() {
        let (name, kind, help) = (family.name, family.kind.name(), family.help);
        let of =
            if family.mbean.is_empty() { String::new() } else { format!(" `{}`", family.mbean) };
        let labels = family.labels.replace(' ', ", ");
        writeln!(page, "| `{name}` | {kind} | {labels} | {help}{of} |").unwrap();
    }
    page.push_str("\n## Not there\n\n| name | why |\n|---|---|\n");
    for (name, why) in ABSENT {
        writeln!(page, "| `{name}` | {why} |").unwrap();
    }
    page
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it writes the page, not the broker's disk")]
fn the_page_in_docs_is_the_one_the_table_makes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/metrics.md");
    let (old, new) = (std::fs::read_to_string(path).unwrap_or_default(), reference());
    if old != new {
        std::fs::write(path, &new).unwrap();
    }
    assert!(old == new, "docs/metrics.md was out of date; it is written anew, commit it");
}

#[test]
fn every_family_has_a_name_of_its_own_and_is_told_in_a_sentence() {
    let mut names = std::collections::BTreeSet::new();
    for family in FAMILIES.into_iter().flatten() {
        assert!(names.insert(family.name), "{} stands twice", family.name);
        assert!(family.help.ends_with('.') && !family.help.contains('\n'), "{}", family.name);
        let is_total = family.name.ends_with("_total");
        assert_eq!(is_total, family.kind == super::family::Kind::Counter, "{}", family.name);
    }
}
