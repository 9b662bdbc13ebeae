//! What a verb found, as a table for people or as JSON for programs.

use crate::failure::Failure;
use crate::output::Output;
use clap::ValueEnum;
use serde_json::{Map, Value};

/// `-o`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Form {
    #[default]
    Table,
    Json,
}

/// Rows of one kind: the columns by their names in JSON, which are those of the table in capitals.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rows {
    columns: &'static [&'static str],
    rows: Vec<Vec<Value>>,
}

impl Rows {
    pub(super) fn new(columns: &'static [&'static str]) -> Rows {
        Rows { columns, rows: Vec::new() }
    }

    /// Adds a row, a cell for each column.
    pub(super) fn push(&mut self, row: Vec<Value>) {
        debug_assert_eq!(row.len(), self.columns.len(), "a cell for each column");
        self.rows.push(row);
    }

    /// The rows as a list of objects.
    pub(super) fn json(&self) -> Value {
        let object = |row: &Vec<Value>| {
            let cells = self.columns.iter().zip(row);
            Value::Object(cells.map(|(name, cell)| ((*name).to_owned(), cell.clone())).collect())
        };
        self.rows.iter().map(object).collect()
    }

    fn lines(&self) -> Vec<String> {
        let heads = self.columns.iter().map(|name| heading(name)).collect::<Vec<_>>();
        let rows: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(words).collect()).collect();
        let is_number: Vec<bool> = (0..heads.len())
            .map(|at| {
                let mut cells = self.rows.iter().filter_map(|row| row.get(at));
                !self.rows.is_empty() && cells.all(|cell| cell.is_number() || cell.is_null())
            })
            .collect();
        let width = |at: usize| {
            let cells = rows.iter().chain([&heads]).filter_map(|row| row.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..heads.len()).map(width).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).zip(&is_number);
            let cells = cells.map(|((cell, width), number)| {
                if *number { format!("{cell:>width$}") } else { format!("{cell:width$}") }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        std::iter::once(&heads).chain(&rows).map(line).collect()
    }

    /// Prints them, as a table with its heading or as a list.
    pub(super) fn print(&self, form: Form, output: &mut Output) -> Result<(), Failure> {
        match form {
            Form::Json => output.line(pretty(&self.json())),
            Form::Table => self.lines().iter().try_for_each(|line| output.line(line)),
        }
    }
}

/// Prints facts about one thing and the rows below them: an object, in which each list has a name.
pub(super) fn print_one(
    facts: &[(&'static str, Value)],
    lists: &[(&'static str, Rows)],
    form: Form,
    output: &mut Output,
) -> Result<(), Failure> {
    if form == Form::Json {
        let mut object: Map<String, Value> =
            facts.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        object.extend(lists.iter().map(|(name, rows)| ((*name).to_owned(), rows.json())));
        return output.line(pretty(&Value::Object(object)));
    }
    let width = facts.iter().map(|(name, _)| heading(name).len()).max().unwrap_or(0);
    for (name, value) in facts {
        output.line(format!("{:width$}  {}", heading(name), words(value)).trim_end())?;
    }
    for (_, rows) in lists.iter().filter(|(_, rows)| !rows.rows.is_empty()) {
        output.line("")?;
        rows.print(form, output)?;
    }
    Ok(())
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// `startOffset` is START OFFSET.
fn heading(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() {
            text.push(' ');
        }
        text.extend(letter.to_uppercase());
    }
    text
}

fn words(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(words).collect::<Vec<_>>().join(","),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_stand_to_the_right_and_nothing_is_a_dash() {
        let mut rows = Rows::new(&["name", "startOffset", "isr"]);
        rows.push(vec![json!("orders"), json!(7), json!([1, 2])]);
        rows.push(vec![json!("o"), json!(1200), Value::Null]);
        let want =
            ["NAME    START OFFSET  ISR", "orders             7  1,2", "o               1200  -"];
        assert_eq!(rows.lines(), want);
        assert_eq!(rows.json()[0], json!({ "name": "orders", "startOffset": 7, "isr": [1, 2] }));
    }

    #[test]
    fn no_rows_are_a_heading_or_an_empty_list() {
        let rows = Rows::new(&["name"]);
        assert_eq!(rows.lines(), ["NAME"]);
        assert_eq!(rows.json(), json!([]));
    }
}
