//! What a tool says, without what differs from call to call.

use serde_json::Value;

/// Which freedoms a case leaves.
#[derive(Clone, Copy)]
pub(super) struct How {
    /// Lines may stand in any order.
    any_order: bool,
    /// Numbers and the widths of columns differ from call to call.
    numbers: bool,
}

impl How {
    /// `~`: any order, `%`: numbers.
    pub(super) fn read(marks: &str) -> How {
        How { any_order: marks.contains('~'), numbers: marks.contains('%') }
    }

    /// The text with the two callers' names made one, ids of topics left out, and the configs of
    /// a topic in order.
    pub(super) fn normal(self, text: &str, names: &[&str]) -> String {
        let mut text = text.to_owned();
        for name in names {
            text = text.replace(name, "{me}");
        }
        let mut lines: Vec<String> = text.lines().map(|line| self.line(line)).collect();
        if self.any_order {
            lines.sort();
        }
        lines.into_iter().map(|line| line + "\n").collect()
    }

    fn line(self, line: &str) -> String {
        let cells = line.split('\t').map(|cell| {
            if cell.starts_with("TopicId: ") {
                return "TopicId: ID".to_owned();
            }
            let Some(configs) = cell.strip_prefix("Configs: ") else { return cell.to_owned() };
            // A comma may also stand within a value.
            let mut configs: Vec<&str> = configs.split(',').collect();
            configs.sort_unstable();
            format!("Configs: {}", configs.join(","))
        });
        let line = cells.collect::<Vec<_>>().join("\t");
        if let (true, Ok(json)) = (self.any_order, serde_json::from_str(&line)) {
            return sorted(json).to_string();
        }
        if !self.numbers {
            return line;
        }
        let words = line
            .split([' ', '\t'])
            .filter(|word| !word.is_empty())
            .map(|word| if word.parse::<i64>().is_ok() { "N" } else { word });
        words.collect::<Vec<_>>().join(" ")
    }
}

/// JSON whose lists are in order.
fn sorted(json: Value) -> Value {
    match json {
        Value::Array(values) => {
            let mut values: Vec<Value> = values.into_iter().map(sorted).collect();
            values.sort_by_key(Value::to_string);
            Value::Array(values)
        }
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (name, sorted(value))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => json,
    }
}
