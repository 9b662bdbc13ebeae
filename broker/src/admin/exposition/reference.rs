//! `docs/metrics.md`, made of the table.
#![cfg(test)]

use super::FAMILIES;
use std::fmt::Write;

/// What dashboards for Apache Kafka may ask for and is not there, with the reason.
const ABSENT: &[(&str, &str)] =
    &[("jvm_*", "there is no JVM; `process_*` says what the process takes")];

fn reference() -> String {
    let mut page = String::from(
        "# Metrics\n\nWhat `/metrics` of the admin port (`highwater.admin.listener`) tells Prometheus. The names \
         are those that\ndashboards for Apache Kafka and kafka_exporter ask for; no exporter is needed \
         beside the broker.\n`topic?`: with the label for each topic, and without it for all together. \
         Quantiles are 0.50, 0.75,\n0.95, 0.98, 0.99 and 0.999, and not a number while nothing was \
         measured.\n\n| name | type | labels | what it is |\n|---|---|---|---|\n",
    );
    for family in FAMILIES.into_iter().flatten() {
        let (kind, help) = (family.kind.name(), family.help);
        let of =
            if family.mbean.is_empty() { String::new() } else { format!(" `{}`", family.mbean) };
        let labels = family.labels.replace(' ', ", ");
        for name in family.names() {
            writeln!(page, "| `{name}` | {kind} | {labels} | {help}{of} |").unwrap();
        }
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
        for name in family.names() {
            assert!(names.insert(name), "{name} stands twice");
            assert!(family.help.ends_with('.') && !family.help.contains('\n'), "{name}");
            let is_counter = family.kind == super::family::Kind::Counter;
            assert_eq!(name.ends_with("_total"), is_counter, "{name}");
        }
    }
}
