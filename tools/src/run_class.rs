//! `kafka-run-class CLASS ARGS...`: the tool that does what a Java class of Apache Kafka does.

use super::{TABLE, find_class};
use crate::output::complain;
use kraft::env::Env;
use std::ffi::OsString;
use std::process::ExitCode;

/// The name of the script.
pub const RUN_CLASS: &str = "kafka-run-class";
/// The class that is a node.
pub const NODE: &str = "Kafka";
/// The class that formats the directories of a node.
pub const STORAGE: &str = "StorageTool";

/// What `kafka-run-class` is asked to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The class, as it was given: mostly with its package.
    pub class: String,
    /// Whether it was told to run in the background, with `-daemon`.
    pub is_daemon: bool,
    /// What stands behind the class.
    pub args: Vec<OsString>,
}

impl Asked {
    /// The class without its package.
    #[must_use]
    pub fn name(&self) -> &str {
        self.class.rsplit('.').next().unwrap_or(&self.class)
    }
}

/// Reads the arguments of `kafka-run-class`. Before the class stand options of the script, `-daemon`,
/// `-loggc` and `-name NAME`, and such as Java takes.
#[must_use]
pub fn asked(args: &[OsString]) -> Asked {
    let mut args = args.iter();
    let mut is_daemon = false;
    let class = loop {
        match args.next().map(|arg| arg.to_string_lossy()) {
            Some(arg) if arg == "-name" => drop(args.next()),
            Some(arg) if arg.starts_with('-') => is_daemon |= arg == "-daemon",
            other => break other.unwrap_or_default().into_owned(),
        }
    };
    Asked { class, is_daemon, args: args.cloned().collect() }
}

pub(crate) fn run(args: Vec<OsString>, env: &Env) -> ExitCode {
    let asked = asked(&args);
    if let Some(tool) = find_class(&asked.class) {
        return (tool.run)(asked.args, env);
    }
    let known = TABLE.iter().map(|tool| tool.class).filter(|class| !class.is_empty());
    let known = known.chain([NODE, STORAGE]).collect::<Vec<_>>().join(", ");
    complain(&format!(
        "{RUN_CLASS}: there is no Java here, and no tool stands for the class `{}`. Known: {known}",
        asked.class
    ));
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_script_and_of_java_stand_before_the_class() {
        let words = "-name kafkaServer -daemon -loggc -Dx=y kafka.Kafka -name server.properties";
        let words: Vec<_> = words.split(' ').map(OsString::from).collect();
        let asked = asked(&words);
        assert_eq!((asked.name(), asked.is_daemon), ("Kafka", true));
        assert_eq!(asked.args, ["-name", "server.properties"]);
        assert_eq!(super::asked(&[]).name(), "");
    }
}
