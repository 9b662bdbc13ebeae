//! `kafka-run-class CLASS ARGS...`: the tool that does what a Java class of Apache Kafka does.

use super::{TABLE, find_class};
use crate::output::complain;
use kraft::env::Env;
use std::ffi::OsString;
use std::process::ExitCode;

pub(crate) fn run(args: Vec<OsString>, env: &Env) -> ExitCode {
    // Options of the script and of Java, which mean nothing here, stand before the class.
    let mut args = args.into_iter().skip_while(|arg| arg.to_string_lossy().starts_with('-'));
    let class = args.next().unwrap_or_default();
    match find_class(&class.to_string_lossy()) {
        Some(tool) => (tool.run)(args.collect(), env),
        None => {
            let known = TABLE.iter().map(|tool| tool.class).filter(|class| !class.is_empty());
            let known = known.collect::<Vec<_>>().join(", ");
            let class = class.to_string_lossy();
            complain(&format!(
                "kafka-run-class: there is no Java here, and no tool stands for the class \
                 `{class}`. Known: {known}"
            ));
            ExitCode::FAILURE
        }
    }
}
