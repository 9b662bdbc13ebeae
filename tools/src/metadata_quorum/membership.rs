//! Controllers that come into the quorum and leave it (KIP-853).

use crate::admin::text;
use crate::args::Args;
use crate::client::{Client, Refused, To, addresses};
use crate::entrance::COMMAND_CONFIG;
use crate::failure::Failure;
use crate::output::Output;
use crate::properties::{Properties, read_file};
use kraft::env::Env;
use protocol::ids::Uuid;
use protocol::messages::add_raft_voter_request::Listener;
use protocol::messages::{
    AddRaftVoterRequest, AddRaftVoterResponse, RemoveRaftVoterRequest, RemoveRaftVoterResponse,
};

/// A controller that is to come into the quorum, as its own files tell of it.
#[derive(Debug)]
pub(super) struct Joining {
    id: i32,
    directory: Uuid,
    listeners: Vec<Listener>,
}

impl Joining {
    /// Reads its configuration, `--command-config`, and the id of its metadata directory.
    ///
    /// # Errors
    /// There is no file, or it is not that of a controller whose directory is formatted.
    pub(super) fn read(args: &Args, env: &Env) -> Result<Joining, Failure> {
        let file = args.one(COMMAND_CONFIG.name)?.ok_or_else(|| {
            Failure::told(
                "add-controller needs the configuration file of the controller that comes: \
                 --command-config FILE",
            )
        })?;
        let about = |why: String| Failure::Told(format!("{file}: {why}"));
        let config = read_file(env, file)?;
        let roles = config.get("process.roles").map_or("", String::as_str);
        if !roles.split(',').any(|role| role.trim() == "controller") {
            return Err(about("process.roles does not name `controller`".to_owned()));
        }
        let id = config.get("node.id").and_then(|id| id.trim().parse().ok());
        let id = id.filter(|id| 0 <= *id);
        let id = id.ok_or_else(|| about("node.id must be there, a number from 0 on".to_owned()))?;
        let listeners = listeners(&config).map_err(about)?;
        let keys = ["metadata.log.dir", "log.dirs", "log.dir"];
        let dirs = keys.iter().find_map(|key| config.get(*key));
        let dir = dirs.and_then(|dirs| dirs.split(',').map(str::trim).find(|dir| !dir.is_empty()));
        let dir = dir.ok_or_else(|| about(format!("one of {} must be set", keys.join(", "))))?;
        let meta_file = format!("{dir}/meta.properties");
        let meta = read_file(env, &meta_file)?;
        let directory = meta.get("directory.id").and_then(|id| id.parse().ok());
        let directory = directory
            .ok_or_else(|| Failure::Told(format!("{meta_file} has no id in directory.id")))?;
        Ok(Joining { id, directory, listeners })
    }

    /// Has it taken into the quorum; with `--dry-run`, says so only.
    pub(super) async fn add(
        &self,
        args: &Args,
        client: &mut Client,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let endpoints: Vec<String> = (self.listeners.iter())
            .map(|it| format!("{}://{}:{}", it.name.as_str(), it.host.as_str(), it.port))
            .collect();
        let what = format!(
            "controller {} with directory id {} and endpoints: {}",
            self.id,
            self.directory,
            endpoints.join(", ")
        );
        if args.has("dry-run") {
            return output.line(format_args!("DRY RUN of adding {what}"));
        }
        let request = AddRaftVoterRequest::default()
            .with_cluster_id(None)
            .with_timeout_ms(client.request_timeout_ms())
            .with_voter_id(self.id)
            .with_voter_directory_id(self.directory.into())
            .with_listeners(self.listeners.clone());
        let judge = |answer: &AddRaftVoterResponse| {
            Refused::check(answer.error_code, answer.error_message.as_deref())
        };
        client.ask_until(To::Controller, &request, judge).await.map_err(|it| told(&it))?;
        output.line(format_args!("Added {what}"))
    }
}

/// Where other controllers reach it: its controller listeners, as they are advertised.
fn listeners(config: &Properties) -> Result<Vec<Listener>, String> {
    let list = |key: &str| config.get(key).map_or("", String::as_str).split(',').map(str::trim);
    let names: Vec<&str> =
        list("controller.listener.names").filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        return Err("controller.listener.names must be set".to_owned());
    }
    let find = |name: &str| {
        let mut places = list("advertised.listeners").chain(list("listeners"));
        let place = places.find_map(|it| it.strip_prefix(name)?.strip_prefix("://"));
        let place = place.ok_or_else(|| format!("listeners has none of the name {name}"))?;
        let unclear = || format!("the listener {name} needs a host and a port, not `{place}`");
        let address = addresses(place).ok().and_then(|it| it.into_iter().next());
        let address = address.ok_or_else(unclear)?;
        Ok(Listener::default()
            .with_name(text(name))
            .with_host(text(&address.host))
            .with_port(address.port))
    };
    names.into_iter().map(find).collect()
}

/// By the class of Apache Kafka, and in the broker's words.
fn told(refused: &Refused) -> Failure {
    Failure::Told(format!("{}: {refused}", refused.exception()))
}

/// Takes a controller out of the quorum.
pub(super) async fn remove(
    args: &Args,
    client: &mut Client,
    output: &mut Output,
) -> Result<(), Failure> {
    let missing = |flag| {
        Failure::Usage(format!("kafka-metadata-quorum: error: argument --{flag} is required"))
    };
    let id: i32 = args.number("controller-id")?.ok_or_else(|| missing("controller-id"))?;
    let directory = args.one("controller-directory-id")?;
    let directory = directory.ok_or_else(|| missing("controller-directory-id"))?;
    let parsed: Uuid = directory.parse().map_err(|_| {
        Failure::Told(format!("Failed to parse --controller-directory-id: {directory} is no id"))
    })?;
    if id < 0 {
        return Err(Failure::told("Invalid negative --controller-id: it is 0 or more"));
    }
    let what = format!("KRaft controller {id} with directory id {directory}");
    if args.has("dry-run") {
        return output.line(format!("DRY RUN of removing {what}"));
    }
    let request = RemoveRaftVoterRequest::default()
        .with_cluster_id(None)
        .with_voter_id(id)
        .with_voter_directory_id(parsed.into());
    let judge = |answer: &RemoveRaftVoterResponse| {
        Refused::check(answer.error_code, answer.error_message.as_deref())
    };
    let done = client.ask_until(To::Controller, &request, judge).await;
    done.map_err(|refused| told(&refused))?;
    output.line(format!("Removed {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_is_reached_where_it_advertises() {
        let read = |pairs: &[(&str, &str)]| {
            let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            let found = listeners(&pairs.iter().map(own).collect())?;
            let shown =
                |it: &Listener| format!("{} {}:{}", it.name.as_str(), it.host.as_str(), it.port);
            Ok::<_, String>(found.iter().map(shown).collect::<Vec<_>>().join(","))
        };
        let names = ("controller.listener.names", "C,D");
        let listens = ("listeners", "C://:1,D://[::1]:2,P://p:3");
        let advertises = ("advertised.listeners", "C://c:1");
        assert_eq!(read(&[names, listens, advertises]), Ok("C c:1,D ::1:2".to_owned()));
        assert!(read(&[names, listens]).unwrap_err().contains("needs a host"));
        assert!(read(&[names, advertises]).unwrap_err().contains("none of the name D"));
        assert!(read(&[listens]).unwrap_err().contains("controller.listener.names"));
    }
}
