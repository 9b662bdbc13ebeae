//! What an image says where nobody else does. It is laid below what was said, key by key; none of
//! it is taken away because something else was said.

use super::data_dir::{Mounts, choose};
use super::kind::Image;
use crate::config::given::{Given, Origin};
use protocol::config::coordinator::CoordinatorConfig;
use protocol::config::key::Key;
use protocol::config::log::LogConfig;
use protocol::config::net::NetConfig;
use protocol::config::node::{NodeConfig, QuorumConfig};
use protocol::config::own::OwnConfig;

/// Lays the defaults of `image` below `given`, on a machine of that name.
pub(super) fn lay_below(given: &mut Given, image: Image, hostname: &str, mounts: &Mounts) {
    derive_listeners(given, image);
    let origin = || Origin::Image { name: image.name() };
    let mut otherwise = |key: Key, value: &str| given.otherwise(key, value, origin());
    // A container's own ports are reached by publishing them; on the network of its host another
    // container may have this one.
    otherwise(OwnConfig::admin_listener(), ":9644?");
    if image == Image::ConfluentLocal {
        otherwise(NetConfig::listener_security_protocol_map(), {
            "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,PLAINTEXT_HOST:PLAINTEXT"
        });
        otherwise(NetConfig::listeners(), {
            "PLAINTEXT://localhost:29092,CONTROLLER://localhost:29093,PLAINTEXT_HOST://:9092"
        });
        otherwise(NetConfig::inter_broker_listener_name(), "PLAINTEXT");
        otherwise(CoordinatorConfig::initial_rebalance_delay_ms(), "0");
    }
    let roles = NodeConfig::process_roles();
    if given.get(roles.name).is_some() || given.get("zookeeper.connect").is_none() {
        given.otherwise(roles, "broker,controller", origin());
        given.otherwise(QuorumConfig::controller_listener_names(), "CONTROLLER", origin());
        if has_plain_controller(given) {
            let both = "PLAINTEXT://:9092,CONTROLLER://:9093";
            given.otherwise(NetConfig::listeners(), both, origin());
        }
    }
    if given.get(LogConfig::dirs().name).is_none() && given.get(LogConfig::dir().name).is_none() {
        let own = match image {
            Image::ApacheKafka | Image::ConfluentLocal => "/tmp/kraft-combined-logs".to_owned(),
            Image::CpKafka => "/var/lib/kafka/data".to_owned(),
            Image::Bitnami => "/bitnami/kafka/data".to_owned(),
            Image::Wurstmeister => format!("/kafka/kafka-logs-{hostname}"),
        };
        given.otherwise(LogConfig::dirs(), &choose(&own, mounts), origin());
    }
}

/// Whether the node is a controller, too, with a listener of the name that images give it.
fn has_plain_controller(given: &Given) -> bool {
    let text = |key: Key| given.get(key.name).unwrap_or_default();
    let map = text(NetConfig::listener_security_protocol_map());
    text(NodeConfig::process_roles()).contains("controller")
        && text(QuorumConfig::controller_listener_names()).trim() == "CONTROLLER"
        && (map.is_empty() || map.contains("CONTROLLER:PLAINTEXT"))
}

/// Who says what to advertise and not where to listen listens on those ports, on all addresses.
/// Where the image has a listener of its own for that name, it is that one.
fn derive_listeners(given: &mut Given, image: Image) {
    let (listeners, advertised) = (NetConfig::listeners(), NetConfig::advertised_listeners());
    let (None, Some(text)) = (given.get(listeners.name), given.get(advertised.name)) else {
        return;
    };
    let items: Vec<&str> = text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
    let is_named = |names: &[&str]| {
        items.iter().all(|item| names.contains(&item.split("://").next().unwrap_or_default()))
    };
    let has_own = match image {
        Image::ApacheKafka | Image::CpKafka | Image::Wurstmeister => false,
        Image::ConfluentLocal => is_named(&["PLAINTEXT", "PLAINTEXT_HOST"]),
        Image::Bitnami => is_named(&["PLAINTEXT"]),
    };
    if has_own {
        return;
    }
    let everywhere = |item: &&str| {
        let (name, endpoint) = item.split_once("://")?;
        let (_, port) = endpoint.rsplit_once(':')?;
        Some(format!("{}://0.0.0.0:{}", name.trim(), port.trim()))
    };
    // What is no endpoint is left to be refused where it stands.
    let derived: Option<Vec<String>> = items.iter().map(everywhere).collect();
    if let Some(derived) = derived {
        let origin = Origin::Derived { from: advertised.name };
        given.say(listeners.name, &derived.join(","), origin);
    }
}
