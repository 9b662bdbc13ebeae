//! `kafka-metadata-quorum`: the controllers, who leads them, how far each has come, and who is to
//! be one of them.

mod membership;

use crate::admin::table;
use crate::admin::topics::name_of;
use crate::args::{Args, Command, switch, value};
use crate::client::{Client, Refused, To, block_on};
use crate::cluster;
use crate::entrance::{self, COMMAND_CONFIG, CONTROLLER, SERVER};
use crate::failure::Failure;
use crate::frame;
use crate::output::Output;
use kraft::env::Env;
use protocol::ids::Uuid;
use protocol::messages::describe_quorum_request::{PartitionData as Wanted, TopicData};
use protocol::messages::describe_quorum_response::{Node, PartitionData, ReplicaState};
use protocol::messages::{DescribeQuorumRequest, DescribeQuorumResponse};
use std::ffi::OsString;
use std::process::ExitCode;

const COMMAND: Command = Command {
    name: "kafka-metadata-quorum describe|add-controller|remove-controller",
    purpose: "Tells about the quorum of controllers.",
    flags: &[
        SERVER,
        CONTROLLER,
        value(
            COMMAND_CONFIG.name,
            "FILE",
            "A file of properties for the client; with add-controller, that of the controller.",
        ),
        switch("status", "With describe: the quorum in short."),
        switch("replication", "With describe: a row for each node."),
        switch("human-readable", "With --replication: how long ago, in the place of times."),
        value("controller-id", "id", "With remove-controller: whom."),
        value("controller-directory-id", "id", "With remove-controller: its directory."),
        switch("dry-run", "With add-controller and remove-controller: say what would be done."),
    ],
};

const ACTIONS: [&str; 3] = ["describe", "add-controller", "remove-controller"];

pub(crate) fn run(args: Vec<OsString>, env: &Env) -> ExitCode {
    frame::run(&COMMAND, args, |args, output| {
        let Some(action) = args.action(&ACTIONS)? else {
            return Err(Failure::usage("kafka-metadata-quorum: error: too few arguments"));
        };
        let mut client = entrance::to_either(args, env)?;
        match action {
            "describe" => {
                check(args)?;
                let now_ms = env.clock.wall_ms();
                block_on(describe(args, now_ms, &mut client, output))
            }
            "add-controller" => {
                let joining = membership::Joining::read(args, env)?;
                block_on(joining.add(args, &mut client, output))
            }
            _ => block_on(membership::remove(args, &mut client, output)),
        }
    })
}

fn check(args: &Args) -> Result<(), Failure> {
    match (args.has("status"), args.has("replication")) {
        (true, true) => Err(Failure::told(
            "Only one of --status or --replication should be specified with describe sub-command",
        )),
        (false, false) => Err(Failure::told(
            "One of --status or --replication must be specified with describe sub-command",
        )),
        (true, false) if args.has("human-readable") => Err(Failure::told(
            "The option --human-readable is only supported along with --replication",
        )),
        _ => Ok(()),
    }
}

async fn describe(
    args: &Args,
    now_ms: i64,
    client: &mut Client,
    output: &mut Output,
) -> Result<(), Failure> {
    let wanted = TopicData::default()
        .with_topic_name(name_of("__cluster_metadata"))
        .with_partitions(vec![Wanted::default()]);
    let request = DescribeQuorumRequest::default().with_topics(vec![wanted]);
    let judge = |answer: &DescribeQuorumResponse| {
        Refused::check(answer.error_code, answer.error_message.as_deref())?;
        let mut partitions = answer.topics.iter().flat_map(|topic| &topic.partitions);
        partitions.try_for_each(|it| Refused::check(it.error_code, it.error_message.as_deref()))
    };
    let answer = client.ask_until(To::Controller, &request, judge).await?;
    let quorum = answer.topics.iter().flat_map(|topic| &topic.partitions).next();
    let quorum = quorum.ok_or_else(|| Failure::told("the controller tells of no quorum"))?;
    let leader = quorum.current_voters.iter().find(|it| it.replica_id == quorum.leader_id);
    let leader = leader.ok_or_else(|| Failure::told("the quorum has no leader now"))?;
    if args.has("replication") {
        let ago = args.has("human-readable").then_some(now_ms);
        let header = [
            "NodeId",
            "DirectoryId",
            "LogEndOffset",
            "Lag",
            "LastFetchTimestamp",
            "LastCaughtUpTimestamp",
            "Status",
        ];
        return table::print(&header, &rows(quorum, leader, ago), output);
    }
    let id = cluster::id(client).await?;
    for (name, value) in status(&id, quorum, leader, &answer.nodes) {
        output.line(format!("{:<24}{value}", format!("{name}:")))?;
    }
    Ok(())
}

fn rows(quorum: &PartitionData, leader: &ReplicaState, ago: Option<i64>) -> Vec<Vec<String>> {
    let row = |it: &ReplicaState, status: &str| {
        let time = |time_ms: i64| match ago {
            Some(now_ms) if 0 <= time_ms => {
                format!("{} ms ago", now_ms.saturating_sub(time_ms).max(0))
            }
            _ => time_ms.to_string(),
        };
        vec![
            it.replica_id.0.to_string(),
            Uuid::from(it.replica_directory_id).to_string(),
            it.log_end_offset.to_string(),
            leader.log_end_offset.saturating_sub(it.log_end_offset).to_string(),
            time(it.last_fetch_timestamp),
            time(it.last_caught_up_timestamp),
            status.to_owned(),
        ]
    };
    let others = quorum.current_voters.iter().filter(|it| it.replica_id != leader.replica_id);
    std::iter::once(row(leader, "Leader"))
        .chain(others.map(|it| row(it, "Follower")))
        .chain(quorum.observers.iter().map(|it| row(it, "Observer")))
        .collect()
}

fn status(
    id: &str,
    quorum: &PartitionData,
    leader: &ReplicaState,
    nodes: &[Node],
) -> [(&'static str, String); 8] {
    let last = quorum.current_voters.iter().min_by_key(|it| it.log_end_offset).unwrap_or(leader);
    let lag_ms = if last.replica_id == leader.replica_id {
        0
    } else if leader.last_caught_up_timestamp < 0 || last.last_caught_up_timestamp < 0 {
        -1
    } else {
        leader.last_caught_up_timestamp.saturating_sub(last.last_caught_up_timestamp)
    };
    let list = |replicas: &[ReplicaState]| {
        let texts: Vec<String> = replicas.iter().map(|it| replica_text(it, nodes)).collect();
        format!("[{}]", texts.join(", "))
    };
    [
        ("ClusterId", id.to_owned()),
        ("LeaderId", quorum.leader_id.0.to_string()),
        ("LeaderEpoch", quorum.leader_epoch.to_string()),
        ("HighWatermark", quorum.high_watermark.to_string()),
        ("MaxFollowerLag", leader.log_end_offset.saturating_sub(last.log_end_offset).to_string()),
        ("MaxFollowerLagTimeMs", lag_ms.to_string()),
        ("CurrentVoters", list(&quorum.current_voters)),
        ("CurrentObservers", list(&quorum.observers)),
    ]
}

/// `{"id": 1, "directoryId": "...", "endpoints": ["CONTROLLER://host:9093"]}`.
fn replica_text(replica: &ReplicaState, nodes: &[Node]) -> String {
    let mut text = format!("{{\"id\": {}", replica.replica_id.0);
    let directory = Uuid::from(replica.replica_directory_id);
    if !directory.is_zero() {
        text.push_str(&format!(", \"directoryId\": \"{directory}\""));
    }
    let node = nodes.iter().find(|node| node.node_id == replica.replica_id);
    let endpoints = node.map_or([].as_slice(), |node| &node.listeners).iter().map(|it| {
        let host = it.host.as_str();
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        format!("\"{}://{host}:{}\"", it.name.as_str(), it.port)
    });
    let endpoints = endpoints.collect::<Vec<_>>().join(", ");
    if !endpoints.is_empty() {
        text.push_str(&format!(", \"endpoints\": [{endpoints}]"));
    }
    text + "}"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::text;
    use protocol::messages::BrokerId;
    use protocol::messages::describe_quorum_response::Listener;

    #[test]
    fn the_quorum_is_told_in_lines_that_scripts_know() {
        let state = |id, end: i64, time| {
            ReplicaState::default()
                .with_replica_id(BrokerId(id))
                .with_log_end_offset(end)
                .with_last_fetch_timestamp(time)
                .with_last_caught_up_timestamp(time)
        };
        let leader = state(1, 20, 1000);
        let quorum = PartitionData::default()
            .with_leader_id(BrokerId(1))
            .with_high_watermark(19)
            .with_current_voters(vec![leader.clone(), state(2, 15, 900)])
            .with_observers(vec![state(3, 1, -1)]);
        let listener = Listener::default()
            .with_name(text("CONTROLLER"))
            .with_host(text("::1"))
            .with_port(9093);
        let node = Node::default().with_node_id(BrokerId(2)).with_listeners(vec![listener]);
        let said = status("x", &quorum, &leader, &[node]);
        let value = |name| said.iter().find(|(it, _)| *it == name).unwrap().1.as_str();
        assert_eq!((value("MaxFollowerLag"), value("MaxFollowerLagTimeMs")), ("5", "100"));
        assert_eq!(
            value("CurrentVoters"),
            "[{\"id\": 1}, {\"id\": 2, \"endpoints\": [\"CONTROLLER://[::1]:9093\"]}]"
        );
        let rows = rows(&quorum, &leader, Some(1500));
        assert_eq!(rows[1][3..], ["5", "600 ms ago", "600 ms ago", "Follower"]);
        assert_eq!(rows[2][4..], ["-1", "-1", "Observer"]);
    }
}
