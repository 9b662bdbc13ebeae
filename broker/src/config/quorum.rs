//! Who this node is, and with whom it makes a quorum.

use super::given::Given;
use super::listeners::Endpoint;
use protocol::config::key::Invalid;
use protocol::config::node::{NodeConfig, QuorumConfig};
use protocol::config::typed::Roles;

/// A controller, as a quorum that never changes names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voter {
    pub id: i32,
    pub endpoint: Endpoint,
}

/// This node among the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    pub node_id: i32,
    /// Empty where the members of the quorum are known from the metadata log alone.
    pub voters: Vec<Voter>,
    pub bootstrap_servers: Vec<Endpoint>,
}

/// Reads who this node is, and refuses what does not fit together.
pub fn membership(
    given: &Given,
    node: &NodeConfig,
    quorum: &QuorumConfig,
) -> Result<Membership, Invalid> {
    let roles_key = NodeConfig::process_roles();
    let roles = node.process_roles.unwrap_or(Roles { broker: true, controller: true });
    check_roles(roles)?;
    let membership = Membership {
        node_id: node_id(given, node)?,
        voters: voters(quorum)?,
        bootstrap_servers: bootstrap_servers(quorum)?,
    };
    let names = quorum.controller_listener_names.as_ref();
    if given.says(roles_key) && names.is_none_or(Vec::is_empty) {
        let why = format!("must name a listener, since {} is set", roles_key.name);
        return Err(QuorumConfig::controller_listener_names().invalid("", &why));
    }
    check_voters(&membership)?;
    Ok(membership)
}

/// The first thing to be looked at: what else a node of one role lacks is of no use to its operator.
fn check_roles(roles: Roles) -> Result<(), Invalid> {
    let (value, why) = match (roles.broker, roles.controller) {
        (true, true) => return Ok(()),
        (true, false) => ("broker", "a broker that follows the controller of another node"),
        (false, true) => ("controller", "a controller that is no broker"),
        (false, false) => ("", "a node without a role"),
    };
    let why = format!(
        "{why} is not served so far: write broker,controller, with a name in {}",
        QuorumConfig::controller_listener_names().name
    );
    Err(NodeConfig::process_roles().invalid(value, &why))
}

fn node_id(given: &Given, node: &NodeConfig) -> Result<i32, Invalid> {
    let (key, older) = (NodeConfig::node_id(), NodeConfig::broker_id());
    if given.get(key.name).is_some() && given.get(older.name).is_some() {
        let differ = node.node_id != Some(node.broker_id);
        if differ {
            let why = format!("must equal {}, or stand alone", key.name);
            return Err(older.invalid(&node.broker_id.to_string(), &why));
        }
    }
    match node.node_id {
        Some(id) => Ok(id),
        None => Ok(1),
    }
}

fn voters(quorum: &QuorumConfig) -> Result<Vec<Voter>, Invalid> {
    let key = QuorumConfig::voters();
    let mut voters: Vec<Voter> = Vec::new();
    for item in &quorum.voters {
        let parsed = item.split_once('@').and_then(|(id, endpoint)| {
            let id = id.trim().parse().ok().filter(|id| 0 <= *id)?;
            Some(Voter { id, endpoint: dialled(endpoint)? })
        });
        let Some(voter) = parsed else {
            return Err(key.invalid(item, "must be `id@host:port`, comma-separated"));
        };
        if voters.iter().any(|other| other.id == voter.id) {
            return Err(key.invalid(item, "must name each node once"));
        }
        voters.push(voter);
    }
    Ok(voters)
}

fn bootstrap_servers(quorum: &QuorumConfig) -> Result<Vec<Endpoint>, Invalid> {
    let read = |item: &String| {
        dialled(item).ok_or_else(|| {
            let why = "must be `host:port`, comma-separated";
            QuorumConfig::bootstrap_servers().invalid(item, why)
        })
    };
    let servers: Vec<Endpoint> =
        quorum.bootstrap_servers.iter().map(read).collect::<Result<_, _>>()?;
    if 1 < servers.len() {
        let why = "only a quorum of one is served so far: name this node alone";
        let text = quorum.bootstrap_servers.join(",");
        return Err(QuorumConfig::bootstrap_servers().invalid(&text, why));
    }
    Ok(servers)
}

/// An endpoint that one can connect to. Port 0 is what tests give that learn the port later.
fn dialled(text: &str) -> Option<Endpoint> {
    Endpoint::parse(text.trim()).filter(|endpoint| !endpoint.host.is_empty())
}

fn check_voters(membership: &Membership) -> Result<(), Invalid> {
    let Membership { node_id, voters, .. } = membership;
    let ids: Vec<String> = voters.iter().map(|voter| voter.id.to_string()).collect();
    let refuse = |why: &str| Err(QuorumConfig::voters().invalid(&ids.join(","), why));
    let votes = voters.iter().any(|voter| voter.id == *node_id);
    match voters.len() {
        0 => Ok(()),
        _ if !votes => refuse(&format!("must name this node, {node_id}, since it is a controller")),
        1 => Ok(()),
        _ => refuse("only a quorum of one is served so far: name this node alone"),
    }
}
