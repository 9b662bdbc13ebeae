//! `kafka-consumer-groups --reset-offsets`.

use super::committed::{self, Committed};
use super::group::{self, At};
use super::list;
use super::plan::{self, Plan};
use super::times::{date_time_ms, duration_ms};
use super::trouble::{failed, fatal, tell};
use crate::admin::offsets::{self, EARLIEST, LATEST};
use crate::admin::topics::{self, Described};
use crate::args::Args;
use crate::client::{Client, Refused};
use crate::failure::Failure;
use crate::output::{Output, complain};
use kraft::env::Env;
use protocol::error::ErrorCode;
use std::collections::BTreeMap;
use std::path::Path;
use storage::disk::read_whole;

/// The flags that say where to.
pub(super) const FORMS: [&str; 8] = [
    "to-offset",
    "shift-by",
    "to-datetime",
    "by-duration",
    "to-earliest",
    "to-latest",
    "to-current",
    "from-file",
];

/// Bytes of a plan that are read.
const FILE_BYTES_MAX: usize = 64 << 20;

/// Where to.
enum Form {
    Offset(i64),
    Shift(i64),
    /// The offset of a time, or what else the number asks for.
    Time(i64),
    Current,
    Plan(Plan),
}

pub(super) async fn reset(
    args: &Args,
    env: &Env,
    client: &mut Client,
    output: &mut Output,
) -> Result<(), Failure> {
    let form = form(args, env).map_err(|why| match why {
        Wrong::Value(why) => failed(why, output),
        Wrong::Call(why) => why,
    })?;
    let has_scope = args.has("all-topics") || args.has("topic") || args.has("from-file");
    if !has_scope {
        return Err(Failure::usage(
            "One of the reset scopes should be defined: --all-topics, --topic.",
        ));
    }
    let names = list::named(args, client).await.map_err(|why| fatal(&why, output))?;
    let mut done = Plan::new();
    for name in names {
        let state = match group::describe(client, &name).await {
            Ok(group) => group.state,
            // Whoever is not there yet can be given offsets.
            Err(refused) if refused.code == ErrorCode::GroupIdNotFound => "Dead".to_owned(),
            Err(refused) => return Err(fatal(&refused, output)),
        };
        let offsets = if state == "Empty" || state == "Dead" {
            one(args, &form, &name, client, output).await?
        } else {
            tell(
                format!(
                    "Assignments can only be reset if the group '{name}' is inactive, but the \
                     current state is {state}."
                ),
                output,
            )?;
            BTreeMap::new()
        };
        done.insert(name, offsets);
    }
    if args.has("export") {
        return output.line(plan::write(&done, args.all("group").len() == 1));
    }
    print(&done, output)
}

/// Why it is not known where to.
enum Wrong {
    /// A value is none, or stands twice, which Kafka's tool finds only when it is at it.
    Value(String),
    Call(Failure),
}

impl From<Failure> for Wrong {
    fn from(why: Failure) -> Wrong {
        let (Failure::Usage(text) | Failure::Told(text)) = &why else { return Wrong::Call(why) };
        Wrong::Value(text.clone())
    }
}

fn form(args: &Args, env: &Env) -> Result<Form, Wrong> {
    let number = |flag| args.number::<i64>(flag);
    if let Some(offset) = number("to-offset")? {
        return Ok(Form::Offset(offset));
    }
    if let Some(count) = number("shift-by")? {
        return Ok(Form::Shift(count));
    }
    if let Some(text) = args.one("to-datetime")? {
        let wrong =
            || Wrong::Value(format!("--to-datetime {text}: must be YYYY-MM-DDThh:mm:ss.sss"));
        return Ok(Form::Time(date_time_ms(text).ok_or_else(wrong)?));
    }
    if let Some(text) = args.one("by-duration")? {
        let wrong = || Wrong::Value(format!("--by-duration {text}: must be PnDTnHnMnS"));
        let ago = duration_ms(text).ok_or_else(wrong)?;
        return Ok(Form::Time(env.clock.wall_ms().saturating_sub(ago)));
    }
    for (flag, time) in [("to-earliest", EARLIEST), ("to-latest", LATEST)] {
        if args.has(flag) {
            return Ok(Form::Time(time));
        }
    }
    if args.has("to-current") {
        return Ok(Form::Current);
    }
    let Some(file) = args.one("from-file")? else {
        let forms = FORMS.map(|form| format!("[{form}]")).join(", ");
        return Err(Wrong::Call(Failure::Usage(format!(
            "Option '[reset-offsets]' requires one of the following scenarios: {forms}"
        ))));
    };
    let unreadable = |error| Wrong::Value(format!("Unable to read file {file}: {error}"));
    let open = env.disk.open_input(Path::new(file)).map_err(unreadable)?;
    let bytes = read_whole(&*open, FILE_BYTES_MAX).map_err(unreadable)?;
    let groups = args.all("group");
    let group = groups.first().copied().filter(|_| groups.len() == 1);
    plan::read(&String::from_utf8_lossy(&bytes), group).map(Form::Plan).ok_or_else(|| {
        Wrong::Value(format!(
            "{file}: each line must be topic,partition,offset (with one --group) or \
             group,topic,partition,offset"
        ))
    })
}

/// What one group is to be given, and if it is to be done, gives it.
async fn one(
    args: &Args,
    form: &Form,
    group: &str,
    client: &mut Client,
    output: &mut Output,
) -> Result<BTreeMap<At, i64>, Failure> {
    let told = |why: Refused, output: &mut Output| fatal(&why, output);
    let committed = committed::fetch(client, group).await.map_err(|why| told(why, output))?;
    let scope = match form {
        Form::Plan(plan) => match plan.get(group) {
            Some(offsets) => offsets.keys().cloned().collect(),
            None => {
                tell(format!("No reset plan for group {group} found."), output)?;
                return Ok(BTreeMap::new());
            }
        },
        Form::Offset(_) | Form::Shift(_) | Form::Time(_) | Form::Current => {
            if args.has("all-topics") {
                committed.keys().cloned().collect()
            } else {
                scope(args, client).await?.map_err(|why| told(why, output))?
            }
        }
    };
    let mut names: Vec<String> = scope.iter().map(|(topic, _)| topic.clone()).collect();
    names.sort();
    names.dedup();
    let known = if names.is_empty() {
        Vec::new()
    } else {
        topics::describe(client, &names, 2000).await.map_err(|why| told(why, output))?
    };
    must_be_led(&scope, &known).map_err(|why| failed(why, output))?;
    let found = prepare(form, group, (&scope, &known, &committed), client, output).await?;
    if args.has("execute") {
        committed::commit(client, group, &found).await.map_err(|why| told(why, output))?;
    }
    Ok(found)
}

/// The partitions that `--topic` names: `topic`, or `topic:0,1`.
async fn scope(args: &Args, client: &mut Client) -> Result<Result<Vec<At>, Refused>, Failure> {
    let (mut scope, mut whole) = (Vec::new(), Vec::new());
    for text in args.all("topic") {
        let Some((topic, partitions)) = text.split_once(':') else {
            whole.push(text.to_owned());
            continue;
        };
        for partition in partitions.split(',') {
            let index = partition.trim().parse().map_err(|_| {
                Failure::Usage(format!(
                    "Invalid partition '{partition}' specified in topic arg '{text}''"
                ))
            })?;
            scope.push((topic.to_owned(), index));
        }
    }
    if !whole.is_empty() {
        match topics::describe(client, &whole, 2000).await {
            Ok(described) => scope.extend(described.iter().flat_map(|topic| {
                topic.partitions.iter().map(|it| (topic.name.clone(), it.index))
            })),
            Err(refused) => return Ok(Err(refused)),
        }
    }
    Ok(Ok(scope))
}

fn must_be_led(scope: &[At], known: &[Described]) -> Result<(), String> {
    let leader = |at: &At| {
        let topic = known.iter().find(|topic| topic.name == at.0)?;
        topic.partitions.iter().find(|it| it.index == at.1).map(|it| it.leader)
    };
    let list = |is_bad: fn(Option<Option<i32>>) -> bool| {
        let bad = scope.iter().filter(|at| is_bad(leader(at)));
        bad.map(|(topic, index)| format!("{topic}-{index}")).collect::<Vec<_>>().join(",")
    };
    let (missing, headless) = (list(|it| it.is_none()), list(|it| it == Some(None)));
    if !missing.is_empty() {
        return Err(format!("The partitions \"{missing}\" do not exist"));
    }
    if !headless.is_empty() {
        return Err(format!("The partitions \"{headless}\" have no leader"));
    }
    Ok(())
}

async fn prepare(
    form: &Form,
    group: &str,
    (scope, known, committed): (&[At], &[Described], &BTreeMap<At, Committed>),
    client: &mut Client,
    output: &mut Output,
) -> Result<BTreeMap<At, i64>, Failure> {
    let current = |at: &At| committed.get(at).map(|it| it.offset);
    match form {
        Form::Offset(offset) => {
            let wanted = scope.iter().map(|at| (at.clone(), *offset)).collect();
            within(wanted, known, client).await.map_err(|why| fatal(&why, output))
        }
        Form::Shift(count) => {
            let mut wanted = BTreeMap::new();
            for at in scope {
                let offset = current(at).ok_or_else(|| {
                    Failure::Usage(format!(
                        "Cannot shift offset for partition {}-{} since there is no current \
                         committed offset",
                        at.0, at.1
                    ))
                })?;
                wanted.insert(at.clone(), offset.saturating_add(*count));
            }
            within(wanted, known, client).await.map_err(|why| fatal(&why, output))
        }
        Form::Plan(plan) => {
            let wanted = plan.get(group).cloned().unwrap_or_default();
            within(wanted, known, client).await.map_err(|why| fatal(&why, output))
        }
        Form::Time(time) => {
            let asked = scope.iter().map(|at| (at.clone(), *time)).collect();
            let mut found = ask(asked, known, client).await.map_err(|why| fatal(&why, output))?;
            let late: Vec<At> =
                found.iter().filter(|(_, it)| **it < 0).map(|(at, _)| at.clone()).collect();
            for (topic, partition) in &late {
                output.line(format!(
                    "\nWarn: Partition {partition} from topic {topic} is empty. Falling back to \
                     latest known offset."
                ))?;
            }
            let asked = late.into_iter().map(|at| (at, LATEST)).collect();
            found.extend(ask(asked, known, client).await.map_err(|why| fatal(&why, output))?);
            Ok(found)
        }
        Form::Current => {
            let free = scope.iter().filter(|at| current(at).is_none());
            let asked = free.map(|at| (at.clone(), LATEST)).collect();
            let mut found = ask(asked, known, client).await.map_err(|why| fatal(&why, output))?;
            found.extend(scope.iter().filter_map(|at| Some((at.clone(), current(at)?))));
            Ok(found)
        }
    }
}

async fn ask(
    asked: BTreeMap<At, i64>,
    known: &[Described],
    client: &mut Client,
) -> Result<BTreeMap<At, i64>, Refused> {
    let found = offsets::list(client, known, &asked).await?;
    found.into_iter().map(|(at, offset)| Ok((at, offset?))).collect()
}

/// Each offset, or the nearest that its partition has.
async fn within(
    wanted: BTreeMap<At, i64>,
    known: &[Described],
    client: &mut Client,
) -> Result<BTreeMap<At, i64>, Refused> {
    let all = |time| wanted.keys().map(|at| (at.clone(), time)).collect();
    let first = ask(all(EARLIEST), known, client).await?;
    let last = ask(all(LATEST), known, client).await?;
    let fit = |(at, offset): (At, i64)| {
        let (low, high) = (first.get(&at).copied(), last.get(&at).copied());
        let (low, high) = (low.unwrap_or(offset), high.unwrap_or(offset));
        let fitting = if high < offset { high } else { offset.max(low) };
        if fitting != offset {
            complain(&format!(
                "WARN New offset ({offset}) is outside of topic partition {}-{}. Value will be \
                 set to {fitting}.",
                at.0, at.1
            ));
        }
        (at, fitting)
    };
    Ok(wanted.clone().into_iter().map(fit).collect())
}

fn print(done: &Plan, output: &mut Output) -> Result<(), Failure> {
    let longest = |texts: &mut dyn Iterator<Item = &String>| {
        texts.map(|text| text.chars().count()).max().unwrap_or(0).max(15)
    };
    let g = longest(&mut done.keys());
    let t = longest(&mut done.values().flat_map(|offsets| offsets.keys().map(|(topic, _)| topic)));
    output.line("")?;
    if done.is_empty() {
        return Ok(());
    }
    output.line(format!("{:<g$} {:<t$} {:<10} NEW-OFFSET", "GROUP", "TOPIC", "PARTITION"))?;
    for (group, offsets) in done {
        for ((topic, partition), offset) in offsets {
            output.line(format!("{group:<g$} {topic:<t$} {partition:<10} {offset}"))?;
        }
    }
    Ok(())
}
