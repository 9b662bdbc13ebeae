//! Kafka's command-line tools, which talk to any broker: one folder or file a tool, and `TABLE`.

use kraft::env::Env;
use std::ffi::OsString;
use std::process::ExitCode;

/// One tool: the name it is called by, without `.sh`, and what it does with its arguments, the
/// name left out.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    pub name: &'static str,
    pub run: fn(Vec<OsString>, &Env) -> ExitCode,
}

/// Every tool, in the order of the names.
pub const TABLE: &[Tool] = &[];

/// The tool of this name, with or without `.sh` and a path before it.
#[must_use]
pub fn find(name: &str) -> Option<&'static Tool> {
    let name = name.rsplit('/').next().unwrap_or(name);
    let name = name.strip_suffix(".sh").unwrap_or(name);
    TABLE.iter().find(|tool| tool.name == name)
}
