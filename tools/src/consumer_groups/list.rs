//! `kafka-consumer-groups --list`.

use super::trouble::fatal;
use crate::admin::groups::{self, Filter, Listed};
use crate::args::Args;
use crate::client::{Client, Refused};
use crate::failure::Failure;
use crate::output::Output;

const STATES: [&str; 7] = [
    "PreparingRebalance",
    "CompletingRebalance",
    "Stable",
    "Dead",
    "Empty",
    "Assigning",
    "Reconciling",
];

const KINDS: [&str; 2] = ["Classic", "Consumer"];

/// The groups of consumers, and those that only have offsets.
pub(super) async fn consumers(
    client: &mut Client,
    filter: &Filter,
) -> Result<Vec<Listed>, Refused> {
    let mut listed = groups::list(client, filter).await?;
    listed.retain(|group| {
        let is_kind = group.kind.is_empty() || KINDS.iter().any(|it| spelt(&group.kind, it));
        is_kind && (group.protocol.is_empty() || group.protocol == "consumer")
    });
    Ok(listed)
}

/// The groups that the arguments name.
pub(super) async fn named(args: &Args, client: &mut Client) -> Result<Vec<String>, Refused> {
    if args.has("all-groups") {
        let listed = consumers(client, &Filter::default()).await?;
        return Ok(listed.into_iter().map(|group| group.id).collect());
    }
    let mut names: Vec<String> = args.all("group").into_iter().map(str::to_owned).collect();
    names.sort();
    names.dedup();
    Ok(names)
}

fn spelt(text: &str, known: &str) -> bool {
    text.eq_ignore_ascii_case(known)
}

/// The words of a list, in Kafka's spelling.
fn words(text: Option<&str>, what: &str, known: &[&str]) -> Result<Vec<String>, Failure> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(Vec::new()) };
    let word =
        |word: &str| known.iter().find(|it| spelt(word.trim(), it)).map(|it| (*it).to_owned());
    text.split(',').map(word).collect::<Option<Vec<_>>>().ok_or_else(|| {
        let known = known.join(", ");
        Failure::Usage(format!("Invalid {what} list '{text}'. Valid {what} are: {known}"))
    })
}

pub(super) async fn print(
    args: &Args,
    client: &mut Client,
    output: &mut Output,
) -> Result<(), Failure> {
    let filter = Filter {
        states: words(args.one("state")?, "states", &STATES)?,
        kinds: words(args.one("type")?, "types", &KINDS)?,
    };
    let listed = consumers(client, &filter).await.map_err(|why| fatal(&why, output))?;
    if !args.has("state") && !args.has("type") {
        return listed.iter().try_for_each(|group| output.line(&group.id));
    }
    let longest = listed.iter().map(|group| group.id.chars().count()).max().unwrap_or(0);
    let width = longest.max(15).saturating_add(10);
    let mut line = |id: &str, kind: &str, state: &str| {
        let kind = if args.has("type") { format!(" {kind:<20}") } else { String::new() };
        let state = if args.has("state") { format!(" {state:<20}") } else { String::new() };
        output.line(format!("{id:<width$}{kind}{state}"))
    };
    line("GROUP", "TYPE", "STATE")?;
    for group in &listed {
        let kind = KINDS.iter().find(|it| spelt(&group.kind, it)).copied().unwrap_or("Unknown");
        let state = if group.state.is_empty() { "Unknown" } else { &group.state };
        line(&group.id, kind, state)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_spelt_as_kafka_has_them() {
        assert_eq!(words(Some("stable, EMPTY"), "states", &STATES).unwrap(), ["Stable", "Empty"]);
        assert_eq!(words(None, "states", &STATES), Ok(Vec::new()));
        let Err(Failure::Usage(said)) = words(Some("x"), "types", &KINDS) else { panic!("taken") };
        assert_eq!(said, "Invalid types list 'x'. Valid types are: Classic, Consumer");
    }
}
