//! Where the broker listens, and what it tells others to connect to.

mod listener;
mod told;

pub use listener::{Endpoint, Listener};
pub use told::{Seen, in_words, told};

use listener::is_wildcard;
use protocol::config::key::{Invalid, Key};
use protocol::config::net::NetConfig;
use protocol::config::node::QuorumConfig;
use std::collections::BTreeMap;

/// All doors, and which of them brokers use among themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listeners {
    pub all: Vec<Listener>,
    pub inter_broker: String,
}

/// What is said about listeners of a node that is broker and controller, as every one is so far.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    pub net: &'a NetConfig,
    pub quorum: &'a QuorumConfig,
    /// What this machine is called, where a listener names no host.
    pub hostname: &'a str,
    /// Whether the map of protocols, and the protocol among brokers, stand in the file.
    pub map_is_set: bool,
    pub inter_broker_protocol_is_set: bool,
}

/// The one protocol that is served.
const PLAINTEXT: &str = "PLAINTEXT";
const PROTOCOLS: [&str; 4] = [PLAINTEXT, "SSL", "SASL_PLAINTEXT", "SASL_SSL"];

/// Reads the keys of listeners, each and against the others.
pub fn listeners(said: Said<'_>) -> Result<Listeners, Invalid> {
    let key = NetConfig::listeners();
    let named = named_endpoints(key, &said.net.listeners)?;
    check_ports(&named)?;
    let controllers = controller_names(said)?;
    let is_controller = |name: &str| controllers.iter().any(|it| it == name);
    check_inter_broker(said, &controllers)?;
    let protocols = protocols(said, &controllers)?;
    for (name, endpoint) in &named {
        check_protocol(said, (key, &format!("{name}://{endpoint}")), name, &protocols)?;
    }
    let advertised = advertised(said, &named)?;
    let is_told = |name: &str| advertised.contains_key(name) && !is_controller(name);
    if !named.keys().any(|name| is_told(name)) {
        let why = "must hold a listener for clients besides those of the controller";
        return Err(key.invalid(&said.net.listeners.join(","), why));
    }
    let inter_broker = inter_broker(said, &protocols)?;
    if !is_told(&inter_broker) {
        let names: Vec<_> = named.keys().map(String::as_str).filter(|name| is_told(name)).collect();
        let why = format!("must be one of the advertised listeners: {}", names.join(", "));
        return Err(NetConfig::inter_broker_listener_name().invalid(&inter_broker, &why));
    }
    let all = order(&said.net.listeners, named).into_iter().map(|(name, bind)| Listener {
        is_controller: is_controller(&name),
        advertised: advertised.get(&name).cloned(),
        is_told_by_peer: !is_said(said, &name),
        name,
        bind,
    });
    Ok(Listeners { all: all.collect(), inter_broker })
}

/// `NAME://host:port` of each item, by name.
fn named_endpoints(key: Key, items: &[String]) -> Result<BTreeMap<String, Endpoint>, Invalid> {
    let mut named = BTreeMap::new();
    for item in items {
        let Some((name, endpoint)) = named_endpoint(item) else {
            return Err(key.invalid(item, "must be `NAME://host:port`, comma-separated"));
        };
        if named.insert(name, endpoint).is_some() {
            return Err(key.invalid(item, "must name each listener once"));
        }
    }
    if named.is_empty() {
        return Err(key.invalid("", "must name a listener, as `PLAINTEXT://:9092`"));
    }
    Ok(named)
}

fn named_endpoint(item: &str) -> Option<(String, Endpoint)> {
    let (name, endpoint) = item.split_once("://")?;
    let name = name.trim().to_ascii_uppercase();
    Some((name, Endpoint::parse(endpoint.trim())?)).filter(|(name, _)| !name.is_empty())
}

/// In the order in which they were written.
fn order(items: &[String], mut named: BTreeMap<String, Endpoint>) -> Vec<(String, Endpoint)> {
    let names = items.iter().filter_map(|item| Some(named_endpoint(item)?.0));
    names.filter_map(|name| named.remove_entry(&name)).collect()
}

/// Two listeners share a port only if each names an address of its own.
fn check_ports(named: &BTreeMap<String, Endpoint>) -> Result<(), Invalid> {
    for (name, endpoint) in named {
        let mut before = named.iter().take_while(|(other, _)| *other != name);
        if let Some((other, _)) = before.find(|(_, it)| endpoint.clashes_with(it)) {
            let why = format!("must have a port of its own: {other} has this one");
            return Err(NetConfig::listeners().invalid(&format!("{name}://{endpoint}"), &why));
        }
    }
    Ok(())
}

fn controller_names(said: Said<'_>) -> Result<Vec<String>, Invalid> {
    let names = &said.quorum.controller_listener_names;
    let names: Vec<String> = names.iter().flatten().map(|name| name.to_ascii_uppercase()).collect();
    for name in &names {
        if name.contains("://") {
            let why = "must be names of listeners, without `://`";
            return Err(QuorumConfig::controller_listener_names().invalid(name, why));
        }
    }
    Ok(names)
}

/// Brokers do not talk to each other where only controllers do.
fn check_inter_broker(said: Said<'_>, controllers: &[String]) -> Result<(), Invalid> {
    let name = said.net.inter_broker_listener_name.as_ref().map(|name| name.to_ascii_uppercase());
    match name.filter(|name| controllers.contains(name)) {
        Some(name) => {
            let why = "must not be a controller's listener";
            Err(NetConfig::inter_broker_listener_name().invalid(&name, why))
        }
        None => Ok(()),
    }
}

/// The protocol of each listener name. A controller's listener that no map names is plain, as long
/// as no map is given.
fn protocols(
    said: Said<'_>,
    controllers: &[String],
) -> Result<BTreeMap<String, &'static str>, Invalid> {
    let key = NetConfig::listener_security_protocol_map();
    let text = &said.net.listener_security_protocol_map;
    let mut protocols = BTreeMap::new();
    for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let known = |protocol: &str| {
            let protocol = protocol.trim().to_ascii_uppercase();
            PROTOCOLS.into_iter().find(|it| *it == protocol)
        };
        let pair = item.rsplit_once(':');
        let Some((name, protocol)) = pair.and_then(|(name, it)| Some((name, known(it)?))) else {
            let why = "must be `NAME:PROTOCOL`, comma-separated, with PROTOCOL of PLAINTEXT, SSL, \
                       SASL_PLAINTEXT, SASL_SSL";
            return Err(key.invalid(item, why));
        };
        protocols.insert(name.trim().to_ascii_uppercase(), protocol);
    }
    if !said.map_is_set {
        for name in controllers {
            protocols.entry(name.clone()).or_insert(PLAINTEXT);
        }
    }
    Ok(protocols)
}

/// Refuses a listener that is not plain where it gets its protocol: that is what is to be changed.
fn check_protocol(
    said: Said<'_>,
    (key, value): (Key, &str),
    name: &str,
    protocols: &BTreeMap<String, &'static str>,
) -> Result<(), Invalid> {
    let map = NetConfig::listener_security_protocol_map();
    match protocols.get(name) {
        Some(&PLAINTEXT) => Ok(()),
        Some(protocol) if said.map_is_set => {
            let why = format!(
                "the listener {name} ({}={value}) would speak {protocol}, and only PLAINTEXT is \
                 served so far: write {name}:PLAINTEXT, or leave the listener out",
                key.name
            );
            Err(map.invalid(&format!("{name}:{protocol}"), &why))
        }
        Some(protocol) => {
            let why = format!(
                "the listener {name} would speak {protocol}, and only PLAINTEXT is served so far: \
                 leave it out, or name it PLAINTEXT"
            );
            Err(key.invalid(value, &why))
        }
        None => {
            let map = map.name;
            let why = format!("{name} has no protocol: name it in {map}, as `{name}:PLAINTEXT`");
            Err(key.invalid(value, &why))
        }
    }
}

/// What `advertised.listeners` lists; None where it is silent.
fn said_to_others<'a>(said: Said<'a>) -> Option<&'a Vec<String>> {
    said.net.advertised_listeners.as_ref().filter(|items| !items.is_empty())
}

/// Whether the operator decided what others are told of a listener, be it nothing.
fn is_said(said: Said<'_>, name: &str) -> bool {
    let Some(items) = said_to_others(said) else { return false };
    let mut named = items.iter().filter_map(|item| named_endpoint(item));
    !is_controller(said, name) || named.any(|(it, _)| it == name)
}

fn is_controller(said: Said<'_>, name: &str) -> bool {
    let mut names = said.quorum.controller_listener_names.iter().flatten();
    names.any(|it| it.eq_ignore_ascii_case(name))
}

/// What stands in the metadata of each listener.
fn advertised(
    said: Said<'_>,
    named: &BTreeMap<String, Endpoint>,
) -> Result<BTreeMap<String, Endpoint>, Invalid> {
    let key = NetConfig::advertised_listeners();
    let mut told = match said_to_others(said) {
        Some(items) => named_endpoints(key, items)?,
        None => named.clone(),
    };
    for (name, endpoint) in &mut told {
        let text = format!("{name}://{endpoint}");
        if !named.contains_key(name) {
            let names: Vec<_> = named.keys().map(String::as_str).collect();
            let why = format!("must only name what stands in listeners: {}", names.join(", "));
            return Err(key.invalid(&text, &why));
        }
        let is_unsaid = !is_said(said, name) || is_controller(said, name);
        if endpoint.host.is_empty() || (is_unsaid && is_wildcard(&endpoint.host)) {
            said.hostname.clone_into(&mut endpoint.host);
        } else if is_wildcard(&endpoint.host) {
            let why = "nobody can connect to this address: name one that clients reach, or leave \
                       advertised.listeners out";
            return Err(key.invalid(&text, why));
        }
    }
    // A controller's listener that advertised.listeners leaves out is told as it is bound.
    for (name, endpoint) in named {
        if is_controller(said, name) && !told.contains_key(name) {
            let host = if is_wildcard(&endpoint.host) { said.hostname } else { &endpoint.host };
            told.insert(name.clone(), Endpoint { host: host.to_owned(), port: endpoint.port });
        }
    }
    Ok(told)
}

/// The listener that brokers use among themselves.
fn inter_broker(
    said: Said<'_>,
    protocols: &BTreeMap<String, &'static str>,
) -> Result<String, Invalid> {
    let (by_name, by_protocol) =
        (NetConfig::inter_broker_listener_name(), NetConfig::security_inter_broker_protocol());
    let protocol = &said.net.security_inter_broker_protocol;
    let Some(name) = &said.net.inter_broker_listener_name else {
        if protocol != PLAINTEXT {
            let why = "only PLAINTEXT is served so far, among brokers too: leave it out";
            return Err(by_protocol.invalid(protocol, why));
        }
        check_protocol(said, (by_protocol, protocol), protocol, protocols)?;
        return Ok(protocol.clone());
    };
    if said.inter_broker_protocol_is_set {
        let why = format!("only one of {} and {} may be set", by_name.name, by_protocol.name);
        return Err(by_name.invalid(name, &why));
    }
    let upper = name.to_ascii_uppercase();
    check_protocol(said, (by_name, name), &upper, protocols)?;
    Ok(upper)
}

#[cfg(test)]
mod tests;
