//! The sheet as markdown tables, and as JSON.

use crate::figures::{FIGURES, Figure, Table};
use crate::machine::description;
use crate::node::version;
use crate::options::{Options, System};
use crate::sheet::Sheet;
use serde_json::{Value, json};

const TABLES: [(Table, &str); 3] = [
    (Table::Defaults, "Each broker with its defaults"),
    (Table::Durable, "Each acknowledgement after fdatasync (flush.messages=1)"),
    (Table::Replay, "Reading the same data again, and the tail beside it"),
];

pub(crate) fn markdown(options: &Options, brokers: &str, sheet: &Sheet) -> String {
    let mut text = String::new();
    for (table, title) in TABLES {
        let rows: Vec<String> = FIGURES
            .iter()
            .filter(|figure| figure.table == table && sheet.wants(figure.step))
            .map(|figure| row(options, sheet, figure))
            .collect();
        if rows.is_empty() {
            continue;
        }
        text.push_str(&format!("### {title}\n\n"));
        text.push_str("| figure | unit | Apache Kafka | Highwater | Highwater / Kafka | aim |\n");
        text.push_str("|---|---|--:|--:|--:|---|\n");
        text.push_str(&rows.concat());
        text.push('\n');
    }
    for line in setting(options, brokers, sheet) {
        text.push_str(&format!("- {line}\n"));
    }
    text
}

/// What the brokers call themselves.
pub(crate) fn brokers(options: &Options) -> String {
    let names: Vec<String> = options.systems().into_iter().map(version).collect();
    names.join(", ")
}

/// What the figures depend on.
fn setting(options: &Options, brokers: &str, sheet: &Sheet) -> Vec<String> {
    let Options { mb, crash_mb, partitions, seconds, rounds, .. } = options;
    let mut lines = vec![
        format!("{brokers}; {}", description()),
        format!(
            "{mb} MB a step, {crash_mb} MB before the kill, {partitions} partitions, \
             {seconds} s of open loop, median of {rounds}"
        ),
    ];
    if let Some(others) = sheet.others() {
        lines.push(format!(
            "others, the kernel's writers among them, used {:.0}% of the machine",
            100.0 * others
        ));
    }
    lines
}

fn row(options: &Options, sheet: &Sheet, figure: &Figure) -> String {
    let value = |system| sheet.median(figure.step, figure.what, system);
    let cell = |system| match value(system) {
        Some(value) => format!("{value:.*}", figure.decimals),
        None if options.systems().contains(&system) => "failed".to_owned(),
        None => String::new(),
    };
    let ratio = match (value(System::Kafka), value(System::Highwater)) {
        (Some(kafka), Some(ours)) => ratio(kafka, ours),
        _ => String::new(),
    };
    let (kafka, ours) = (cell(System::Kafka), cell(System::Highwater));
    let Figure { label, unit, aim, .. } = figure;
    format!("| {label} | {unit} | {kafka} | {ours} | {ratio} | {aim} |\n")
}

/// A ratio as people say it; none where a difference of two measurements is not above zero.
fn ratio(kafka: f64, ours: f64) -> String {
    if !(0.0 < kafka && 0.0 < ours) {
        return "none".to_owned();
    }
    match ours < kafka {
        true => format!("1/{:.1}", kafka / ours),
        false => format!("{:.1}", ours / kafka),
    }
}

pub(crate) fn json(options: &Options, brokers: &str, sheet: &Sheet) -> String {
    let figure = |figure: &Figure| -> Value {
        let Figure { step, what, label, unit, aim, .. } = figure;
        let values = |system| sheet.values(step, what, system);
        let (kafka, highwater) = (values(System::Kafka), values(System::Highwater));
        json!({
            "step": step, "what": what, "label": label, "unit": unit, "aim": aim,
            "kafka": kafka, "highwater": highwater,
        })
    };
    let figures: Vec<Value> =
        FIGURES.iter().filter(|it| sheet.wants(it.step)).map(figure).collect();
    let whole = json!({
        "setting": setting(options, brokers, sheet), "figures": figures, "failures": sheet.failures(),
    });
    format!("{whole:#}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn a_ratio_reads_as_people_say_it() {
        let check = |kafka, ours, want: &str| assert_eq!(ratio(kafka, ours), want);
        check(2.5, 0.5, "1/5.0");
        check(500.0, 1400.0, "2.8");
        check(1.0, 1.0, "1.0");
        check(-3.0, 8.0, "none");
        check(0.0, 8.0, "none");
    }

    #[test]
    fn a_row_shows_what_was_measured_and_what_failed() {
        let options = Options::parse_from(["run", "--rows", "crash"]);
        let mut sheet = Sheet::new(&options.rows);
        sheet.step(System::Kafka, "crash", |_| Ok(vec![("ready", 12_345.6)]));
        sheet.step(System::Highwater, "crash", |_| Err("records lost".into()));
        let figure = FIGURES.iter().find(|figure| figure.step == "crash").unwrap();
        let want = format!("| {} | ms | 12346 | failed |  | 200 |\n", figure.label);
        assert_eq!(row(&options, &sheet, figure), want);
    }
}
