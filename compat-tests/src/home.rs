//! Where the tools are that the tests talk with; installs them when they are missing.

use crate::process::run;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{OnceLock, RwLock};
use std::time::Duration;

/// The root of the project.
///
/// # Panics
/// Never: the crate lies in a folder.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a parent")
}

/// The folder of one tool, installed. A tool that cannot be installed fails the test that asks.
///
/// # Panics
/// When the installation fails.
pub fn tool(name: &'static str) -> PathBuf {
    // One installation at a time: package managers hold locks of their own.
    static INSTALLING: OnceLock<PathBuf> = OnceLock::new();
    static TURN: RwLock<()> = RwLock::new(());
    let turn = TURN.write();
    let mut command = Command::new(root().join("compat-tests/install"));
    let printed = run(command.arg(name), Duration::from_secs(1200)).ok();
    drop(turn);
    INSTALLING.get_or_init(|| PathBuf::from(printed.trim())).join(name)
}

/// The binary under test: `HIGHWATER` names it, else it is the release build.
///
/// # Panics
/// When there is none.
pub fn highwater() -> PathBuf {
    let path = std::env::var_os("HIGHWATER")
        .map_or_else(|| root().join("target/release/highwater"), PathBuf::from);
    assert!(path.exists(), "{} is not built: cargo build --release", path.display());
    path
}
