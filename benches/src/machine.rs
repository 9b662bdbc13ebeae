//! What the kernel says of processes and of the machine.

use crate::Outcome;
use nix::unistd::{SysconfVar, sysconf};
use std::fs::read_to_string;
use std::time::{Instant, SystemTime};

pub(crate) fn wall_ms() -> Outcome<i64> {
    Ok(i64::try_from(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_millis())?)
}

fn ticks_per_second() -> Outcome<f64> {
    let ticks = sysconf(SysconfVar::CLK_TCK)?.ok_or("the kernel has no clock ticks")?;
    Ok(f64::from(i32::try_from(ticks)?))
}

/// CPU-seconds that a process has spent, in user mode and in the kernel; its ended threads too.
fn cpu_seconds(process: &str) -> Outcome<f64> {
    let text = read_to_string(format!("/proc/{process}/stat"))
        .map_err(|error| format!("process {process}: {error}"))?;
    cpu_seconds_of(&text)
}

/// CPU-seconds of a process's threads whose names begin with `name`, of which the kernel keeps
/// fifteen characters.
pub(crate) fn thread_cpu_seconds(pid: u32, name: &str) -> Outcome<f64> {
    let mut seconds = 0.0;
    for thread in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let path = thread?.path();
        if read_to_string(path.join("comm"))?.starts_with(name) {
            seconds += cpu_seconds_of(&read_to_string(path.join("stat"))?)?;
        }
    }
    Ok(seconds)
}

/// The most memory that a process held at a time, in bytes.
pub(crate) fn peak_resident_bytes(pid: u32) -> Outcome<f64> {
    let text = read_to_string(format!("/proc/{pid}/status"))?;
    let field = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = field.and_then(|it| it.split_whitespace().next()).ok_or("no VmHWM")?;
    Ok(1024.0 * kilobytes.parse::<f64>()?)
}

fn cpu_seconds_of(text: &str) -> Outcome<f64> {
    // The name in brackets may hold anything; the state is the first field behind it.
    let (_, fields) = text.rsplit_once(')').ok_or("an odd /proc/PID/stat")?;
    let mut fields = fields.split_whitespace().skip(11);
    let mut ticks = || -> Outcome<f64> { Ok(fields.next().ok_or("a short stat line")?.parse()?) };
    Ok((ticks()? + ticks()?) / ticks_per_second()?)
}

/// CPU-seconds that all the machine's cores have spent at work since it started.
fn machine_cpu_seconds() -> Outcome<f64> {
    let text = read_to_string("/proc/stat")?;
    let fields = text.lines().next().unwrap_or_default().split_whitespace().skip(1);
    let mut busy = 0.0;
    for (column, ticks) in fields.enumerate() {
        // user, nice, system, irq, softirq; not idle, iowait, steal, nor guests (in user already).
        if matches!(column, 0 | 1 | 2 | 5 | 6) {
            busy += ticks.parse::<f64>()?;
        }
    }
    Ok(busy / ticks_per_second()?)
}

pub(crate) fn cores() -> f64 {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    u32::try_from(cores).map_or(1.0, f64::from)
}

/// Bytes that a process made the disk read.
pub(crate) fn disk_bytes_read(pid: u32) -> Outcome<u64> {
    let text = read_to_string(format!("/proc/{pid}/io"))?;
    let field = text.lines().find_map(|line| line.strip_prefix("read_bytes: "));
    Ok(field.ok_or("no read_bytes in /proc/PID/io")?.trim().parse()?)
}

/// What a step took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    pub(crate) seconds: f64,
    /// CPU-seconds of the broker.
    pub(crate) broker: f64,
    /// CPU-seconds of everybody but the broker and this driver, the kernel's writers included.
    pub(crate) others: f64,
}

/// Runs while a step does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meter {
    pid: u32,
    since: Instant,
    broker: f64,
    own: f64,
    machine: f64,
}

impl Meter {
    pub(crate) fn start(pid: u32) -> Outcome<Meter> {
        let broker = cpu_seconds(&pid.to_string())?;
        let (own, machine) = (cpu_seconds("self")?, machine_cpu_seconds()?);
        Ok(Meter { pid, since: Instant::now(), broker, own, machine })
    }

    pub(crate) fn stop(&self) -> Outcome<Spent> {
        let seconds = self.since.elapsed().as_secs_f64();
        let broker = cpu_seconds(&self.pid.to_string())? - self.broker;
        let own = cpu_seconds("self")? - self.own;
        let others = (machine_cpu_seconds()? - self.machine - broker - own).max(0.0);
        Ok(Spent { seconds, broker, others })
    }
}

/// Processor, cores, memory and kernel, as one line.
pub(crate) fn description() -> String {
    let field = |path: &str, name: &str| {
        let text = read_to_string(path).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_once(':').map_or("?", |(_, value)| value.trim()).to_owned()
    };
    let kernel = read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "{} cores, {}, memory {}, Linux {}",
        cores(),
        field("/proc/cpuinfo", "model name"),
        field("/proc/meminfo", "MemTotal"),
        kernel.trim()
    )
}
