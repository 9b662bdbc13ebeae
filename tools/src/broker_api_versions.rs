//! `kafka-broker-api-versions`: which requests each broker serves.

use crate::admin::api_versions;
use crate::args::Command;
use crate::client::block_on;
use crate::entrance::{self, COMMAND_CONFIG, SERVER, ZOOKEEPER};
use crate::failure::Failure;
use crate::frame;
use kraft::env::Env;
use std::ffi::OsString;
use std::process::ExitCode;

const COMMAND: Command = Command {
    name: "kafka-broker-api-versions",
    purpose: "Tells which requests each broker serves, and in which versions.",
    flags: &[SERVER, COMMAND_CONFIG, ZOOKEEPER],
};

pub(crate) fn run(args: Vec<OsString>, env: &Env) -> ExitCode {
    frame::run(&COMMAND, args, |args, output| {
        if args.is_empty() {
            return Err(Failure::usage(COMMAND.purpose));
        }
        let mut client = entrance::to_brokers(args, env)?;
        block_on(api_versions::print(&mut client, output))
    })
}
