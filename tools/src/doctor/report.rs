//! The examination, for people and for programs.

use super::findings::{Finding, Level};
use super::seen::Seen;
use serde_json::{Value, json};

/// In lines for people.
pub(super) fn lines(seen: &Seen, findings: &[Finding]) -> Vec<String> {
    let mut lines = Vec::new();
    let about = |finding: &Finding| match finding.node {
        Some(node) => format!("broker {node} at {}", finding.address),
        None => finding.address.to_string(),
    };
    if let Some((teller, cluster)) = seen.teller() {
        let id = cluster.id.as_deref().unwrap_or("without an id");
        lines.push(format!("{} answers: cluster {id}", teller.address));
        lines.push("A client that asks there is sent to:".to_owned());
        for (node, visit) in &seen.told {
            let is_well = visit.cluster().is_some() && of(findings, node.id).is_none();
            let how = if is_well { "works" } else { "see below" };
            lines.push(format!("  broker {} at {}: {how}", node.id, node.address));
        }
    }
    for finding in findings {
        let level = match finding.level {
            Level::Fault => "FAULT",
            Level::Warning => "WARNING",
        };
        lines.push(String::new());
        lines.push(format!("{level} {}: {}.", about(finding), finding.what));
        lines.push(format!("  {}.", finding.advice));
    }
    if findings.is_empty() {
        lines.push("All is well: a client on this machine can produce and consume.".to_owned());
    }
    lines
}

fn of(findings: &[Finding], node: i32) -> Option<&Finding> {
    findings.iter().find(|finding| finding.node == Some(node))
}

/// As one JSON object.
pub(super) fn json(seen: &Seen, findings: &[Finding]) -> Value {
    let bootstrap = seen.bootstrap.iter().map(|visit| {
        let cluster = visit.cluster();
        json!({
            "address": visit.address.to_string(),
            "cluster_id": cluster.and_then(|it| it.id.as_deref()),
            "is_kafka": cluster.is_some(),
        })
    });
    let brokers = seen.told.iter().map(|(node, visit)| {
        json!({
            "node_id": node.id,
            "address": node.address.to_string(),
            "is_kafka": visit.cluster().is_some(),
        })
    });
    let findings_of = findings.iter().map(|finding| {
        json!({
            "level": match finding.level { Level::Fault => "fault", Level::Warning => "warning" },
            "code": finding.code,
            "address": finding.address.to_string(),
            "node_id": finding.node,
            "what": finding.what,
            "advice": finding.advice,
        })
    });
    json!({
        "is_well": findings.iter().all(|finding| finding.level != Level::Fault)
            && seen.teller().is_some(),
        "bootstrap": bootstrap.collect::<Vec<_>>(),
        "brokers": brokers.collect::<Vec<_>>(),
        "findings": findings_of.collect::<Vec<_>>(),
    })
}
