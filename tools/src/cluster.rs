//! `kafka-cluster`: what a cluster is called, who its nodes are, and who no longer is one.

use crate::admin::api_versions;
use crate::args::{Args, Command, switch, value};
use crate::client::{Client, Refused, To, block_on};
use crate::entrance::{self, COMMAND_CONFIG, CONTROLLER, SERVER};
use crate::failure::Failure;
use crate::frame;
use crate::output::{Output, complain};
use kraft::env::Env;
use protocol::error::ErrorCode;
use protocol::messages::{
    BrokerId, DescribeClusterRequest, DescribeClusterResponse, MetadataRequest,
    UnregisterBrokerRequest, UnregisterBrokerResponse,
};
use std::ffi::OsString;
use std::process::ExitCode;

const COMMAND: Command = Command {
    name: "kafka-cluster cluster-id|list-endpoints|api-versions|unregister|unregister-controller",
    purpose: "Tells about a cluster, and removes nodes that have gone for ever.",
    flags: &[
        SERVER,
        CONTROLLER,
        COMMAND_CONFIG,
        switch("include-fenced-brokers", "With list-endpoints: also brokers that are not live."),
        value("id", "id", "With unregister: the node that has gone."),
        value("config", "FILE", ""),
        value("b", "host:port,...", ""),
        value("C", "host:port,...", ""),
        value("c", "FILE", ""),
        value("i", "id", ""),
    ],
};

const ACTIONS: [&str; 5] =
    ["cluster-id", "unregister", "unregister-controller", "list-endpoints", "api-versions"];

pub(crate) fn run(args: Vec<OsString>, env: &Env) -> ExitCode {
    frame::run(&COMMAND, args, |args, output| {
        let args = &args.renamed(&[
            ("b", SERVER.name),
            ("C", CONTROLLER.name),
            ("c", COMMAND_CONFIG.name),
            ("config", COMMAND_CONFIG.name),
            ("i", "id"),
        ]);
        let Some(action) = args.action(&ACTIONS)? else {
            return Err(Failure::usage("kafka-cluster: error: too few arguments"));
        };
        let id: Option<i32> = args.number("id")?;
        if action.starts_with("unregister") && id.is_none() {
            return Err(Failure::usage("kafka-cluster: error: argument --id/-i is required"));
        }
        if args.has("include-fenced-brokers") && args.has(CONTROLLER.name) {
            return Err(Failure::told(
                "The option --include-fenced-brokers is only supported with --bootstrap-server \
                 option",
            ));
        }
        let mut client = entrance::to_either(args, env)?;
        block_on(async {
            match action {
                "cluster-id" => cluster_id(&mut client, output).await,
                "list-endpoints" => list_endpoints(args, &mut client, output).await,
                "api-versions" => api_versions::print(&mut client, output).await,
                "unregister" => unregister(id.unwrap_or_default(), &mut client, output).await,
                _ => {
                    // The codec has no such request yet, so it is as if no cluster had.
                    complain("kafka-cluster speaks no UnregisterController yet.");
                    output.line(
                        "The target cluster does not support the controller unregistration API.",
                    )
                }
            }
        })
    })
}

async fn describe(client: &mut Client, fenced: bool) -> Result<DescribeClusterResponse, Refused> {
    let kind = if client.is_controllers() { 2 } else { 1 };
    let request = DescribeClusterRequest::default()
        .with_endpoint_type(kind)
        .with_include_fenced_brokers(fenced);
    let judge = |answer: &DescribeClusterResponse| {
        Refused::check(answer.error_code, answer.error_message.as_deref())
    };
    client.ask_until(To::Anyone, &request, judge).await
}

/// The id of the cluster; empty where it has none.
pub(crate) async fn id(client: &mut Client) -> Result<String, Refused> {
    match describe(client, false).await {
        Ok(answer) => Ok(answer.cluster_id.to_string()),
        // Before Apache Kafka 2.8 the metadata say it.
        Err(refused) if refused.code == ErrorCode::UnsupportedVersion => {
            let request = MetadataRequest::default().with_topics(Some(Vec::new()));
            let answer = client.ask(To::Anyone, &request).await?;
            Ok(answer.cluster_id.map(|id| id.to_string()).unwrap_or_default())
        }
        Err(refused) => Err(refused),
    }
}

async fn cluster_id(client: &mut Client, output: &mut Output) -> Result<(), Failure> {
    let id = id(client).await?;
    if id.is_empty() {
        return output.line("No cluster ID found. The Kafka version is probably too old.");
    }
    output.line(format!("Cluster ID: {id}"))
}

async fn list_endpoints(
    args: &Args,
    client: &mut Client,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut answer = describe(client, args.has("include-fenced-brokers")).await?;
    answer.brokers.sort_by_key(|node| node.broker_id.0);
    let host = answer.brokers.iter().map(|node| node.host.chars().count()).max().unwrap_or(0);
    let racks = answer.brokers.iter().filter_map(|node| node.rack.as_ref());
    let rack = racks.map(|rack| rack.chars().count()).max().unwrap_or(0).max(10);
    let line = |[id, at, port, in_rack, state, kind]: [&str; 6]| {
        let state = if client.is_controllers() { String::new() } else { format!("{state:<10} ") };
        format!("{id:<10} {at:<host$} {port:<10} {in_rack:<rack$} {state}{kind:<15}")
    };
    output.line(line(["ID", "HOST", "PORT", "RACK", "STATE", "ENDPOINT_TYPE"]))?;
    for node in &answer.brokers {
        let (id, port) = (node.broker_id.0.to_string(), node.port.to_string());
        let in_rack = node.rack.as_deref().unwrap_or("null");
        let state = if node.is_fenced { "fenced" } else { "unfenced" };
        let kind = if client.is_controllers() { "controller" } else { "broker" };
        output.line(line([&id, &node.host, &port, in_rack, state, kind]))?;
    }
    Ok(())
}

async fn unregister(id: i32, client: &mut Client, output: &mut Output) -> Result<(), Failure> {
    let request = UnregisterBrokerRequest::default().with_broker_id(BrokerId(id));
    let judge = |answer: &UnregisterBrokerResponse| {
        Refused::check(answer.error_code, answer.error_message.as_deref())
    };
    match client.ask_until(To::Controller, &request, judge).await {
        Ok(_) => output.line(format!("Broker {id} is no longer registered.")),
        Err(refused) if refused.code == ErrorCode::UnsupportedVersion => {
            output.line("The target cluster does not support the broker unregistration API.")
        }
        Err(refused) => Err(Failure::Told(format!("{}: {refused}", refused.exception()))),
    }
}
