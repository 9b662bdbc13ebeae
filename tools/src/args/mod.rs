//! Flags as Apache Kafka's tools take them: `--flag value`, `--flag=value`, `-flag value`.
//!
//! Names are never shortened. A flag that takes a value takes the next argument, whatever it is.
//! What is no flag is kept apart: most tools of Kafka pass over it.

use crate::failure::Failure;
use protocol::config::nearest::distance;
use std::ffi::OsString;

/// What stands behind a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    /// A value, by the name that the usage gives it.
    Value(&'static str),
    /// A value, or none: the next argument, unless that is a flag.
    Perhaps(&'static str),
}

/// One flag of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Without dashes.
    pub name: &'static str,
    pub takes: Takes,
    /// For the usage. Empty: accepted, but not told of, because it has been dead for long.
    pub help: &'static str,
}

/// A flag without a value.
#[must_use]
pub const fn switch(name: &'static str, help: &'static str) -> Flag {
    Flag { name, takes: Takes::Nothing, help }
}

/// A flag with a value.
#[must_use]
pub const fn value(name: &'static str, of: &'static str, help: &'static str) -> Flag {
    Flag { name, takes: Takes::Value(of), help }
}

/// A tool's name and flags. `--help` and `--version` need no mention.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    pub name: &'static str,
    /// What the tool is for, in a sentence.
    pub purpose: &'static str,
    pub flags: &'static [Flag],
}

/// The arguments of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Args {
    given: Vec<(&'static str, Option<String>)>,
    rest: Vec<String>,
}

impl Command {
    /// Reads the arguments.
    ///
    /// # Errors
    /// `--help` or `--version` is among them, one is no flag of the tool or lacks its value, or it
    /// is not UTF-8.
    pub fn parse(&self, args: Vec<OsString>) -> Result<Args, Failure> {
        let texts = args.into_iter().map(|arg| {
            arg.into_string().map_err(|arg| {
                Failure::Usage(format!("the argument {} is not UTF-8", arg.to_string_lossy()))
            })
        });
        let mut texts = texts.collect::<Result<Vec<_>, _>>()?.into_iter().peekable();
        let mut read = Args::default();
        while let Some(text) = texts.next() {
            if text == "--" {
                read.rest.extend(texts);
                break;
            }
            let Some((name, attached)) = as_flag(&text) else {
                read.rest.push(text);
                continue;
            };
            match name {
                "help" | "h" => return Err(Failure::Help),
                "version" => return Err(Failure::Version),
                _ => {}
            }
            let flag = self.flag(name)?;
            let next_is_flag = texts.peek().is_none_or(|next| as_flag(next).is_some());
            let value = match (flag.takes, attached) {
                (Takes::Nothing, None) => None,
                (Takes::Nothing, Some(_)) => {
                    return Err(Failure::Usage(format!("--{name} takes no value")));
                }
                (Takes::Value(_) | Takes::Perhaps(_), Some(value)) => Some(value.to_owned()),
                (Takes::Perhaps(_), None) if next_is_flag => None,
                (Takes::Value(_) | Takes::Perhaps(_), None) => match texts.next() {
                    Some(value) => Some(value),
                    None => {
                        let text = format!("Option {name} requires an argument");
                        return Err(Failure::Usage(text));
                    }
                },
            };
            read.given.push((flag.name, value));
        }
        Ok(read)
    }

    fn flag(&self, name: &str) -> Result<&'static Flag, Failure> {
        self.flags.iter().find(|flag| flag.name == name).ok_or_else(|| {
            let near = nearest(name, self.flags.iter().filter(|it| !it.help.is_empty()));
            let hint = near.map(|near| format!(" (did you mean --{near}?)")).unwrap_or_default();
            Failure::Usage(format!("{name} is not a recognized option{hint}"))
        })
    }

    /// What `--help` prints.
    #[must_use]
    pub fn usage(&self) -> String {
        let mut text = format!("Usage: {} [OPTION]...\n{}\n\n", self.name, self.purpose);
        let own = [
            switch("help", "Print this and end."),
            switch("version", "Print the version of Apache Kafka that this tool follows, and end."),
        ];
        let flags = self.flags.iter().chain(&own).filter(|flag| !flag.help.is_empty());
        let left = |flag: &Flag| match flag.takes {
            Takes::Nothing => format!("--{}", flag.name),
            Takes::Value(of) => format!("--{} <{of}>", flag.name),
            Takes::Perhaps(of) => format!("--{} [{of}]", flag.name),
        };
        let width = flags.clone().map(|flag| left(flag).chars().count()).max().unwrap_or(0).min(36);
        for flag in flags {
            let left = left(flag);
            text.push_str(&if width < left.chars().count() {
                format!("  {left}\n  {:width$}  {}\n", "", flag.help)
            } else {
                format!("  {left:width$}  {}\n", flag.help)
            });
        }
        text
    }
}

/// The name of a flag, and the value that `=` ties to it. A lone dash and a negative number are
/// no flags.
fn as_flag(text: &str) -> Option<(&str, Option<&str>)> {
    let body = text.strip_prefix("--").or_else(|| text.strip_prefix('-'))?;
    let is_name = body.starts_with(|first: char| first.is_ascii_alphabetic());
    let (name, value) = body.split_once('=').map_or((body, None), |(name, it)| (name, Some(it)));
    is_name.then_some((name, value))
}

/// The flag whose name differs least, if it is by less than half.
fn nearest<'a>(name: &str, flags: impl Iterator<Item = &'a Flag>) -> Option<&'static str> {
    let far = |flag: &Flag| distance(name, flag.name);
    let near = flags.map(|flag| (far(flag), flag.name)).min()?;
    (near.0 * 2 < name.chars().count()).then_some(near.1)
}

impl Args {
    /// Whether there was nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.given.is_empty() && self.rest.is_empty()
    }

    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(it, _)| *it == name)
    }

    /// The value of a flag that may stand once.
    ///
    /// # Errors
    /// It stands twice.
    pub fn one(&self, name: &str) -> Result<Option<&str>, Failure> {
        let mut values = self.all(name).into_iter();
        match (values.next(), values.next()) {
            (first, None) => Ok(first),
            (_, Some(_)) => Err(Failure::Usage(format!(
                "Found multiple arguments for option {name}, but you asked for only one"
            ))),
        }
    }

    /// A value that must be there.
    ///
    /// # Errors
    /// It is not, or stands twice.
    pub fn required(&self, name: &str) -> Result<&str, Failure> {
        self.one(name)?.ok_or_else(|| missing(name))
    }

    /// Whether a flag is there that must be, however often.
    ///
    /// # Errors
    /// It is not.
    pub fn must_have(&self, name: &str) -> Result<(), Failure> {
        if self.has(name) { Ok(()) } else { Err(missing(name)) }
    }

    /// A value that is a number.
    ///
    /// # Errors
    /// It is none, or stands twice.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, Failure> {
        let read = |text: &str| {
            text.trim().parse().map_err(|_| {
                Failure::Usage(format!("Cannot parse argument '{text}' of option {name}"))
            })
        };
        self.one(name)?.map(read).transpose()
    }

    /// Every value of a flag that may be repeated.
    #[must_use]
    pub fn all(&self, name: &str) -> Vec<&str> {
        let given = self.given.iter().filter(|(it, _)| *it == name);
        given.filter_map(|(_, value)| value.as_deref()).collect()
    }

    /// What stands behind each of several flags, in the order of the call; None where a flag has no
    /// value.
    #[must_use]
    pub fn in_order(&self, names: &[&str]) -> Vec<Option<&str>> {
        let given = self.given.iter().filter(|(it, _)| names.contains(it));
        given.map(|(_, value)| value.as_deref()).collect()
    }

    /// The same with some flags under other names: a short one under the long one.
    #[must_use]
    pub fn renamed(&self, names: &[(&str, &'static str)]) -> Args {
        let new = |it| names.iter().find(|(old, _)| *old == it).map_or(it, |(_, new)| *new);
        let given = self.given.iter().map(|(name, value)| (new(*name), value.clone()));
        Args { given: given.collect(), rest: self.rest.clone() }
    }

    /// The same without one flag.
    #[must_use]
    pub fn without(&self, name: &str) -> Args {
        let given = self.given.iter().filter(|(it, _)| *it != name).cloned();
        Args { given: given.collect(), rest: self.rest.clone() }
    }

    /// The first argument that is no flag, which must be one of `actions`; None without any.
    ///
    /// # Errors
    /// It is another word.
    pub fn action<'a>(&self, actions: &[&'a str]) -> Result<Option<&'a str>, Failure> {
        let Some(word) = self.rest.first() else { return Ok(None) };
        match actions.iter().find(|action| *action == word) {
            Some(action) => Ok(Some(action)),
            None => Err(Failure::Usage(format!(
                "invalid choice: '{word}' (choose from {})",
                actions.join(", ")
            ))),
        }
    }

    /// What is no flag.
    #[must_use]
    pub fn rest(&self) -> &[String] {
        &self.rest
    }
}

fn missing(name: &str) -> Failure {
    Failure::Usage(format!("Missing required argument \"[{name}]\""))
}

#[cfg(test)]
mod tests;
