//! Offsets of groups as CSV: `topic,partition,offset`, or with the group in front.

use super::group::At;
use std::collections::BTreeMap;

/// The new offsets of each group.
pub(super) type Plan = BTreeMap<String, BTreeMap<At, i64>>;

/// One line a partition. With a single group its name is left out.
pub(super) fn write(plan: &Plan, single: bool) -> String {
    let mut text = String::new();
    for (group, offsets) in plan {
        for ((topic, partition), offset) in offsets {
            if !single {
                text.push_str(&quoted(group));
                text.push(',');
            }
            text.push_str(&format!("{},{partition},{offset}\n", quoted(topic)));
        }
    }
    text
}

/// A name in quotes where Kafka's tool puts some: it is long, or has letters below `-`.
fn quoted(name: &str) -> String {
    const UNQUOTED_MAX: usize = 24;
    if UNQUOTED_MAX < name.chars().count() || name.chars().any(|letter| letter < '-') {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}

/// Reads what [`write`] writes; `group` is the one whose name may be left out. None where a line
/// is not of that kind.
pub(super) fn read(text: &str, group: Option<&str>) -> Option<Plan> {
    let mut plan = Plan::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let cells = cells(line.trim());
        let (group, topic, partition, offset) = match (cells.as_slice(), group) {
            ([topic, partition, offset], Some(group)) => (group, topic, partition, offset),
            ([group, topic, partition, offset], _) => (group.as_str(), topic, partition, offset),
            _ => return None,
        };
        let at = (topic.clone(), partition.trim().parse().ok()?);
        let offset = offset.trim().parse().ok()?;
        plan.entry(group.to_owned()).or_default().insert(at, offset);
    }
    Some(plan)
}

/// The cells of a line; a comma in quotes belongs to its cell.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut in_quotes) = (vec![String::new()], false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if in_quotes && letters.peek() == Some(&'"') => {
                letters.next();
            }
            '"' => {
                in_quotes = !in_quotes;
                continue;
            }
            ',' if !in_quotes => {
                cells.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(cell) = cells.last_mut() {
            cell.push(letter);
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let long = "a-topic-with-a-rather-long-name";
        let offsets = BTreeMap::from([((long.to_owned(), 1), 7), (("one".to_owned(), 0), 3)]);
        let plan = Plan::from([("a \"group\"".to_owned(), offsets)]);
        let single = write(&plan, true);
        assert_eq!(single, format!("\"{long}\",1,7\none,0,3\n"));
        assert_eq!(read(&single, Some("a \"group\"")), Some(plan.clone()));
        let whole = write(&plan, false);
        assert!(whole.starts_with("\"a \"\"group\"\"\","), "{whole}");
        assert_eq!(read(&whole, None), Some(plan.clone()));
        assert_eq!(read(&whole, Some("other")), Some(plan));
        assert_eq!(read("one,0", Some("a")), None);
        assert_eq!(read("one,0,x", Some("a")), None);
        assert_eq!(read("one,0,1", None), None);
    }
}
