//! `highwater config check`: what a broker would be told and by whom, and whether it would start.

use crate::config::{BrokerConfig, Given};
use protocol::config::key::Key;
use protocol::config::{BROKER, find};
use serde_json::{Value, json};

/// What is said of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub key: String,
    /// None where there is no value; a secret is not shown.
    pub value: Option<String>,
    pub origin: String,
}

/// All that is said.
#[derive(Clone, Debug)]
pub struct Report {
    pub rows: Vec<Row>,
    /// What the operator should know of, a line each; a start tells the same.
    pub warnings: Vec<String>,
    /// What the operator must not overlook.
    pub alarm: Option<String>,
    /// Why a broker would not start.
    pub refusal: Option<String>,
}

impl Report {
    /// What `given` makes of a broker on a machine of that name; `all` has the keys that nobody set.
    /// `look` says what is to be known of that machine's disks, or why a start would fail on them.
    pub fn of(
        given: Given,
        hostname: &str,
        all: bool,
        look: impl FnOnce(&BrokerConfig) -> Result<Vec<String>, String>,
    ) -> Report {
        let (mut warnings, alarm) = (given.warnings(), given.alarm().map(str::to_owned));
        let mut rows: Vec<Row> = given
            .settings()
            .iter()
            .map(|(key, text)| {
                let is_hidden = find(BROKER, key).is_some_and(Key::is_sensitive);
                let origin = given.origin(key).map(ToString::to_string).unwrap_or_default();
                let value = if is_hidden { "[hidden]" } else { text.trim() };
                Row { key: key.clone(), value: Some(value.to_owned()), origin }
            })
            .collect();
        if all {
            rows.extend(unsaid(&given));
            rows.sort_by(|a, b| a.key.cmp(&b.key));
        }
        let config = BrokerConfig::of(given, hostname).map_err(|refused| refused.to_string());
        let refusal = match config.and_then(|config| look(&config)) {
            Ok(found) => {
                warnings.extend(found);
                None
            }
            Err(why) => Some(why),
        };
        Report { rows, warnings, alarm, refusal }
    }

    /// As a table, the warnings, and the verdict; the refusal itself is left to the caller.
    pub fn lines(&self) -> Vec<String> {
        let value = |row: &Row| row.value.as_deref().unwrap_or("null").replace('\n', " ");
        let width = |of: &dyn Fn(&Row) -> usize| self.rows.iter().map(of).max().unwrap_or(0);
        let (keys, values) =
            (width(&|row| row.key.len()), width(&|row| value(row).chars().count()).min(60));
        let mut lines: Vec<String> = (self.rows.iter())
            .map(|row| format!("{:keys$}  {:values$}  {}", row.key, value(row), row.origin))
            .collect();
        lines.extend(self.warnings.iter().map(|warning| format!("WARN {warning}")));
        lines.extend(self.alarm.iter().map(|alarm| format!("ERROR {alarm}")));
        if self.refusal.is_none() {
            lines.push("A broker would start with this.".to_owned());
        }
        lines
    }

    /// As one JSON object.
    pub fn json(&self) -> String {
        let row = |row: &Row| json!({"key": row.key, "value": row.value, "origin": row.origin});
        let rows: Vec<Value> = self.rows.iter().map(row).collect();
        let report = json!({
            "settings": rows,
            "warnings": self.warnings,
            "alarm": self.alarm,
            "refusal": self.refusal,
            "starts": self.refusal.is_none(),
        });
        report.to_string()
    }
}

/// The keys that nobody set, with what is in force for them.
fn unsaid(given: &Given) -> Vec<Row> {
    let keys = BROKER.iter().copied().flatten();
    let silent = keys.filter(|key| given.get(key.name).is_none() && !key.internal);
    let lookup = |name: &str| given.get(name);
    let row = |key: &Key| Row {
        key: key.name.to_owned(),
        value: key.text_over(&lookup, &lookup),
        origin: "default".to_owned(),
    };
    silent.map(row).collect()
}
