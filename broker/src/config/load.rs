//! From all the places where something is said to what a broker is told.

use super::given::{Given, Refused, file};
use super::image::env_file::EnvFile;
use super::image::{Around, Environment, Image, Mounts};
use super::providers::{self, Outside};
use super::settle;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use storage::disk::Disk;

/// Where the configuration stands. The later counts more: the image's own defaults, the file, the
/// environment as the image reads it, overrides.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    pub file: Option<PathBuf>,
    /// `key=value` each.
    pub overrides: Vec<String>,
    /// Whose convention the environment follows; without one it is not read.
    pub image: Option<Image>,
    pub environment: Whose,
}

/// Whose environment it is.
#[derive(Clone, Debug, Default)]
pub enum Whose {
    /// This process's own. What it says to run is run.
    #[default]
    Process,
    /// One that is only looked at: nothing of it is run.
    File(PathBuf),
}

/// What `sources` say, on a machine of that name.
pub fn load(sources: &Sources, disk: &dyn Disk, hostname: &str) -> Result<Given, Refused> {
    let mut given = match (&sources.file, sources.image) {
        (Some(file), _) => Given::read(disk, file)?,
        (None, Some(_)) => Given::default(),
        (None, None) => Given::standalone(),
    };
    let mounts = mounts(disk);
    let may_run = matches!(sources.environment, Whose::Process);
    let around = Around {
        hostname,
        mounts: &mounts,
        read: &|path| text(disk, Path::new(path)).map_err(|refused| refused.to_string()),
        run: &|line| may_run.then(|| run(line)).flatten(),
    };
    let environment = environment(&mut given, &sources.environment, disk)?;
    if let Some(image) = sources.image {
        image.apply(&mut given, environment.clone(), around);
    }
    for text in &sources.overrides {
        given = given.with_override(text)?;
    }
    let outside = Outside {
        variable: &|name| match sources.environment {
            // One that is empty says so.
            Whose::Process => std::env::var_os(name).and_then(|value| value.into_string().ok()),
            Whose::File(_) => environment.get(name).map(str::to_owned),
        },
        read: &|path| file::read(disk, path),
    };
    providers::resolve(&mut given, outside)?;
    settle::read_old_addresses(&mut given);
    if let Some(image) = sources.image {
        image.lay_below(&mut given, around);
    }
    settle::settle(&mut given);
    Ok(given)
}

/// The same, brought to one spelling.
pub fn settled(mut given: Given) -> Given {
    settle::settle(&mut given);
    given
}

fn environment(given: &mut Given, whose: &Whose, disk: &dyn Disk) -> Result<Environment, Refused> {
    let around = Environment::of_process();
    let Whose::File(path) = whose else { return Ok(around) };
    let file = path.display().to_string();
    let found = EnvFile::parse(&text(disk, path)?, &around);
    let found = found.map_err(|it| Refused::Malformed {
        file: file.clone(),
        line: it.line,
        why: it.why,
    })?;
    found.notes(&file).for_each(|note| given.note(note));
    Ok(Environment::of(found.variables))
}

fn text(disk: &dyn Disk, path: &Path) -> Result<String, Refused> {
    Ok(String::from_utf8_lossy(&file::read(disk, path)?).into_owned())
}

/// Where file systems are mounted; none are known where there is no `/proc`.
fn mounts(disk: &dyn Disk) -> Mounts {
    text(disk, Path::new("/proc/self/mountinfo"))
        .map_or_else(|_| Mounts::default(), |text| Mounts::parse(&text))
}

/// What a shell prints for a line, as the start scripts of images evaluate it.
fn run(line: &str) -> Option<String> {
    let output = Command::new("sh").args(["-c", line]).stdin(Stdio::null()).output().ok()?;
    let printed = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| printed.trim().to_owned())
}
