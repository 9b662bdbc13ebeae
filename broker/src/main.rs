//! The program `highwater`.

use broker::cli::kafka::{self, Kafka};
use broker::cli::{
    Asked, Cli, Command, Config, Level, Output, Storage, Told, Where, check, manual, render, say,
};
use broker::config::load::load;
use broker::config::{BrokerConfig, Given, notify_socket};
use broker::server::log_levels::Levels;
use broker::server::offline::{self, Formatting};
use broker::server::{Broker, Notify, block_on, listen_for_hangups, listen_for_signals, log_lines};
use clap::Parser;
use kraft::env::{Env, os};
use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use tokio::signal::unix::Signal;
use tools::doctor::{self, Examination};
use tools::failure::Failure;
use tools::output::Output as Stdout;
use tools::verbs::{self, Verb};
use tracing::level_filters::LevelFilter;
use tracing::{error, info, warn};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// One arena for each core, not four, and what was freed goes back to the system in a second: the
/// memory of a broker is the page cache.
#[expect(unsafe_code, reason = "jemalloc takes its options from the symbol of this name")]
// SAFETY: nothing else defines the symbol; it is the pointer to a C string that jemalloc declares.
#[unsafe(export_name = "_rjem_malloc_conf")]
static ALLOCATOR_OPTIONS: Option<&'static u8> = b"percpu_arena:percpu,background_thread:true,\
max_background_threads:1,dirty_decay_ms:1000,muzzy_decay_ms:0\0"
    .first();

fn main() -> ExitCode {
    let env = os::env();
    let args: Vec<_> = std::env::args_os().collect();
    // Called by the name of a tool; and `highwater kafka-topics ...`, which needs no link.
    for (at, name) in args.iter().enumerate().take(2) {
        let (name, rest) = (name.to_string_lossy(), args.get(at + 1..).unwrap_or_default());
        match kafka::asked(&name, rest) {
            Some(Ok(asked)) => return ended(as_kafka(asked, env)),
            Some(Err(code)) => return code,
            None => {}
        }
        if let Some(tool) = tools::find(&name) {
            return (tool.run)(rest.to_vec(), &env);
        }
    }
    ended(match Cli::try_parse() {
        Ok(cli) => as_highwater(cli.command, env),
        Err(what) => code(say(&what)).map(|_| u8::try_from(what.exit_code()).unwrap_or(1).into()),
    })
}

fn ended(done: Result<ExitCode, String>) -> ExitCode {
    done.unwrap_or_else(|why| {
        // Whoever closed stderr does not read why.
        drop(writeln!(std::io::stderr(), "{why}"));
        ExitCode::FAILURE
    })
}

/// Does what one of Kafka's scripts was asked.
fn as_kafka(asked: Kafka, env: Env) -> Result<ExitCode, String> {
    match asked {
        Kafka::ServerStart(start) if start.is_daemon => {
            start.daemon(&env, &kafka::server::log_dir())?;
        }
        Kafka::ServerStart(start) => serve(&start.place, None, env)?,
        Kafka::ServerStop(stop) => return Ok(stop.run(&env)),
        Kafka::Storage(asked) => return storage(asked, &env),
    }
    Ok(ExitCode::SUCCESS)
}

/// Does what `kafka-storage` was asked.
fn storage(asked: kafka::storage::Storage, env: &Env) -> Result<ExitCode, String> {
    use kafka::storage::Storage;
    let read = |file: &Path| read(&Where { file: Some(file.to_owned()), ..Where::default() }, env);
    let (lines, is_well) = match asked {
        Storage::Info(asked) => offline::storage_info(env, &read(&asked.config)?),
        Storage::Format(asked) => {
            let config = read(&asked.config)?;
            let formatting = Formatting {
                directory_id: asked.directory_id(&config)?,
                cluster_id: Some(asked.cluster_id),
                release_version: asked.release_version,
                features: asked.feature,
                ignore_formatted: asked.ignore_formatted,
            };
            (offline::format_dirs(env, &config, formatting)?, true)
        }
        Storage::RandomUuid
        | Storage::VersionMapping { .. }
        | Storage::FeatureDependencies { .. } => (kafka::storage::answer(&asked, env)?, true),
    };
    print(&lines)?;
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn as_highwater(command: Command, env: Env) -> Result<ExitCode, String> {
    let done = match command {
        Command::Start(start) => serve(&start.place, start.log_level, env),
        Command::Format(how) => format(
            &how.place,
            &env,
            Formatting {
                cluster_id: how.cluster_id,
                release_version: how.release_version,
                features: how.feature,
                ignore_formatted: how.ignore_formatted,
                directory_id: None,
            },
        ),
        Command::Storage(Storage::Info(place)) => info(&place, &env),
        Command::Doctor(how) => return examine(&how, &env),
        Command::Config(Config::Check(how)) => look(&how, &env),
        Command::Config(Config::Render(place)) => write_out(&place, &env),
        Command::Config(Config::Get(Told { common, verb })) => {
            return Ok(verbs::run(&Verb::Get(verb), &common, &env));
        }
        Command::Config(Config::Set(Told { common, verb })) => {
            return Ok(verbs::run(&Verb::Set(verb), &common, &env));
        }
        Command::Topic(Asked { common, verb }) => {
            return Ok(verbs::run(&Verb::Topic(verb), &common, &env));
        }
        Command::Group(Asked { common, verb }) => {
            return Ok(verbs::run(&Verb::Group(verb), &common, &env));
        }
        Command::Cluster(Asked { common, verb }) => {
            return Ok(verbs::run(&Verb::Cluster(verb), &common, &env));
        }
        Command::Produce(Told { common, verb }) => {
            return Ok(verbs::run(&Verb::Produce(verb), &common, &env));
        }
        Command::Consume(Told { common, verb }) => {
            return Ok(verbs::run(&Verb::Consume(verb), &common, &env));
        }
        Command::Completions { shell } => put(|output| output.bytes(&manual::completions(shell))),
        Command::Man => manual::page().and_then(|page| put(|output| output.bytes(&page))),
        Command::Tools => print(&manual::tools()),
    };
    done.map(|()| ExitCode::SUCCESS)
}

fn least(level: Level) -> LevelFilter {
    match level {
        Level::Error => LevelFilter::ERROR,
        Level::Warn => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
        Level::Debug => LevelFilter::DEBUG,
        Level::Trace => LevelFilter::TRACE,
    }
}

fn line(error: impl Display) -> String {
    error.to_string()
}

/// What this machine is called.
fn hostname() -> String {
    let name = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    name.unwrap_or_else(|| "localhost".to_owned())
}

fn given(place: &Where, env: &Env) -> Result<Given, String> {
    load(&place.sources(), &*env.disk, &hostname()).map_err(line)
}

/// The configuration.
fn read(place: &Where, env: &Env) -> Result<BrokerConfig, String> {
    BrokerConfig::of(given(place, env)?, &hostname()).map_err(line)
}

/// Says on stdout what a broker would be told; fails where it would not start.
fn look(how: &broker::cli::Check, env: &Env) -> Result<(), String> {
    let look = |config: &BrokerConfig| match how.place.env_file {
        // It is of another machine, and so are the disks.
        Some(_) => Ok(Vec::new()),
        None => offline::check(env, config).map_err(line),
    };
    let report = check::Report::of(given(&how.place, env)?, &hostname(), how.all, look);
    print(&match how.output {
        Output::Table => report.lines(),
        Output::Json => vec![report.json()],
    })?;
    report.refusal.map_or(Ok(()), Err)
}

/// Says why clients cannot work with a broker; with 1 when they cannot.
fn examine(how: &broker::cli::Doctor, env: &Env) -> Result<ExitCode, String> {
    let what = Examination {
        bootstrap: how.bootstrap.clone(),
        limit: Duration::from_secs(how.timeout),
        is_json: how.output == Output::Json,
    };
    code(doctor::run(&what, env, &mut Stdout::stdout()))
}

/// How a tool ended.
fn code(done: Result<(), Failure>) -> Result<ExitCode, String> {
    match done {
        // Whoever reads no further has no use for more.
        Ok(()) | Err(Failure::Closed | Failure::Help | Failure::Version) => Ok(ExitCode::SUCCESS),
        Err(Failure::Exit(code)) => Ok(ExitCode::from(code)),
        Err(Failure::Usage(why) | Failure::Told(why)) => Err(why),
    }
}

/// Writes a server.properties to stdout, and what a start with it would not tell to stderr.
fn write_out(place: &Where, env: &Env) -> Result<(), String> {
    let given = given(place, env)?;
    print(&render::lines(&given))?;
    for note in render::notes(&given) {
        drop(writeln!(std::io::stderr(), "{note}"));
    }
    Ok(())
}

fn serve(place: &Where, level: Option<Level>, env: Env) -> Result<(), String> {
    let said = given(place, &env)?;
    let (warnings, alarm) = (said.warnings(), said.alarm().map(str::to_owned));
    let config = BrokerConfig::of(said, &hostname()).map_err(line)?;
    let levels = Levels::of(&config.values.start, level.map(least));
    log_lines::write_to_stdout(env.clock.clone(), levels);
    info!("Highwater {} starts", env!("CARGO_PKG_VERSION"));
    warnings.iter().for_each(|warning| warn!("{warning}"));
    alarm.iter().for_each(|alarm| error!("{alarm}"));
    let reading = env.clone();
    block_on(&config.clone(), async {
        let signal = listen_for_signals();
        tokio::pin!(signal);
        let mut hangups = listen_for_hangups().map_err(line)?;
        let broker = tokio::select! {
            biased;
            signal = &mut signal => return signal.map_err(line),
            started = Broker::start(config, env) => started.map_err(line)?,
        };
        let notify = Notify::new(notify_socket().as_deref());
        notify.ready();
        let failed = loop {
            tokio::select! {
                biased;
                signal = &mut signal => { signal.map_err(line)?; break None }
                why = broker.failed() => { error!("{why}"); break Some(why) }
                () = hung_up(&mut hangups) => {
                    notify.reloading();
                    match given(place, &reading) {
                        Ok(given) => broker.reread(&given, &hostname()),
                        Err(why) => error!("The configuration stays as it is: {why}"),
                    }
                    notify.ready();
                }
            }
        };
        notify.stopping();
        broker.stop().await;
        failed.map_or(Ok(()), Err)
    })
    .map_err(line)?
}

/// Comes back at the next SIGHUP; never where none is listened for.
async fn hung_up(hangups: &mut Option<Signal>) {
    let heard = match hangups {
        Some(hangups) => hangups.recv().await,
        None => None,
    };
    if heard.is_none() {
        std::future::pending().await
    }
}

fn format(place: &Where, env: &Env, how: Formatting) -> Result<(), String> {
    let config = read(place, env)?;
    print(&offline::format_dirs(env, &config, how)?)
}

fn info(place: &Where, env: &Env) -> Result<(), String> {
    let config = read(place, env)?;
    let (lines, problems) = offline::info(env, &config);
    print(&lines)?;
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

fn print(lines: &[String]) -> Result<(), String> {
    put(|output| lines.iter().try_for_each(|line| output.line(line)))
}

/// Has something written to stdout.
fn put(write: impl FnOnce(&mut Stdout) -> Result<(), Failure>) -> Result<(), String> {
    let mut output = Stdout::stdout();
    code(write(&mut output).and_then(|()| output.flush())).map(drop)
}
