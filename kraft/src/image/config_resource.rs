//! What config keys belong to.

use std::sync::Arc;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConfigResource {
    /// Kafka's number of the kind, one of the constants here, or one that we do not know.
    pub kind: i8,
    /// Of a broker its id; empty for the default of all brokers.
    pub name: Arc<str>,
}

impl ConfigResource {
    pub const TOPIC: i8 = 2;
    pub const BROKER: i8 = 4;
    pub const BROKER_LOGGER: i8 = 8;
    pub const CLIENT_METRICS: i8 = 16;
    pub const GROUP: i8 = 32;

    pub fn new(kind: i8, name: &str) -> ConfigResource {
        ConfigResource { kind, name: name.into() }
    }

    pub fn topic(name: &str) -> ConfigResource {
        ConfigResource::new(ConfigResource::TOPIC, name)
    }

    pub fn broker(id: i32) -> ConfigResource {
        ConfigResource::new(ConfigResource::BROKER, &id.to_string())
    }

    /// What all brokers share.
    pub fn broker_default() -> ConfigResource {
        ConfigResource::new(ConfigResource::BROKER, "")
    }

    pub fn group(name: &str) -> ConfigResource {
        ConfigResource::new(ConfigResource::GROUP, name)
    }
}
