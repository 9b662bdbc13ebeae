//! All that one broker is told, typed, at one moment.

use super::admin_port;
use super::given::{Given, Refused};
use super::listeners::{Listeners, Said, listeners};
use super::quorum::{Membership, membership};
use super::settle::{ZOOKEEPER_CONNECT, settle};
use super::wanted_topics;
use protocol::config::alter::{Target, check_broker};
use protocol::config::coordinator::CoordinatorConfig;
use protocol::config::describe::{self, Entry, Layers, Settings};
use protocol::config::group::ConsumerGroupConfig;
use protocol::config::key::{Invalid, Key, Lookup};
use protocol::config::log::{CleanerConfig, LogConfig};
use protocol::config::net::{FetchConfig, ListenerConfig, NetConfig, listener_prefix};
use protocol::config::node::{
    CreationConfig, MetadataLogConfig, NodeConfig, QuorumConfig, RegistrationConfig,
};
use protocol::config::offsets_topic::OffsetsTopicConfig;
use protocol::config::own::OwnConfig;
use protocol::config::sasl::AuthorizerConfig;
use protocol::config::start::StartConfig;
use protocol::config::topic::TopicConfig;
use protocol::config::txn::ProducerConfig;
use protocol::config::{TOPIC, find};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;

/// The configuration of a broker. It never changes; a dynamic change makes a new one.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokerConfig {
    pub membership: Membership,
    pub listeners: Listeners,
    /// The directories that hold the logs, the first of them first.
    pub log_dirs: Vec<PathBuf>,
    /// The directory that holds the metadata log; it may be one of those.
    pub metadata_log_dir: PathBuf,
    /// Connections that these hosts may have, other than `net.max_connections_per_ip`.
    pub connections_by_host: BTreeMap<String, i32>,
    pub values: Values,
    fixed: Arc<Settings>,
    dynamic_default: Settings,
    dynamic_broker: Settings,
}

/// The values by subject, as the tables have them.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    pub node: NodeConfig,
    pub quorum: QuorumConfig,
    pub metadata_log: MetadataLogConfig,
    pub registration: RegistrationConfig,
    pub creation: CreationConfig,
    pub log: LogConfig,
    pub cleaner: CleanerConfig,
    pub net: NetConfig,
    pub fetch: FetchConfig,
    pub producer: ProducerConfig,
    pub coordinator: CoordinatorConfig,
    pub offsets_topic: OffsetsTopicConfig,
    pub own: OwnConfig,
    pub start: StartConfig,
    /// What a topic without overrides is told.
    pub topic: Arc<TopicConfig>,
}

impl Values {
    fn resolve(lookup: Lookup<'_, '_>) -> Result<Values, Invalid> {
        Ok(Values {
            node: NodeConfig::resolve(lookup)?,
            quorum: QuorumConfig::resolve(lookup)?,
            metadata_log: MetadataLogConfig::resolve(lookup)?,
            registration: RegistrationConfig::resolve(lookup)?,
            creation: CreationConfig::resolve(lookup)?,
            log: LogConfig::resolve(lookup)?,
            cleaner: CleanerConfig::resolve(lookup)?,
            net: NetConfig::resolve(lookup)?,
            fetch: FetchConfig::resolve(lookup)?,
            producer: ProducerConfig::resolve(lookup)?,
            coordinator: CoordinatorConfig::resolve(lookup)?,
            offsets_topic: OffsetsTopicConfig::resolve(lookup)?,
            own: OwnConfig::resolve(lookup)?,
            start: StartConfig::resolve(lookup)?,
            topic: Arc::new(topic_defaults(lookup)?),
        })
    }

    /// What no key can say alone.
    fn check(&self) -> Result<(), Invalid> {
        let Values { registration, log, net, topic, cleaner, coordinator, .. } = self;
        let refuse =
            |key: Key, value: &dyn ToString, why: &str| Err(key.invalid(&value.to_string(), why));
        topic.check()?;
        coordinator.check()?;
        cleaner.check()?;
        if topic.retention_ms == 0 {
            return refuse(LogConfig::retention_ms(), &0, "must be -1, or at least 1");
        }
        if log.roll_jitter_ms.is_some_and(|jitter| jitter < 0) {
            return refuse(
                LogConfig::roll_jitter_ms(),
                &topic.segment_jitter_ms,
                "must be at least 0",
            );
        }
        let (budget, largest) = (net.queued_max_request_bytes, net.socket_request_max_bytes);
        if 0 < budget && budget < i64::from(largest) {
            let why = format!("must hold one request of {largest} bytes, or be -1");
            return refuse(NetConfig::queued_max_request_bytes(), &budget, &why);
        }
        if net.max_connections_per_ip == 0 && net.max_connections_per_ip_overrides.is_empty() {
            let why = "would refuse everybody: give max.connections.per.ip.overrides too";
            return refuse(NetConfig::max_connections_per_ip(), &0, why);
        }
        let (beat, session) = (registration.heartbeat_interval_ms, registration.session_timeout_ms);
        if session / 2 < beat {
            let why = format!("must be at most half of the session timeout, {session}");
            return refuse(RegistrationConfig::heartbeat_interval_ms(), &beat, &why);
        }
        Ok(())
    }
}

impl BrokerConfig {
    /// What `given` makes of a broker on a machine of that name.
    pub fn of(mut given: Given, hostname: &str) -> Result<BrokerConfig, Refused> {
        settle(&mut given);
        given.check()?;
        let built = BrokerConfig::build(&given, hostname);
        built.map_err(|invalid| given.refuse(invalid))
    }

    fn build(given: &Given, hostname: &str) -> Result<BrokerConfig, Invalid> {
        let values = Values::resolve(&|name| given.get(name))?;
        values.check()?;
        let authorizer = AuthorizerConfig::class_name();
        let class: String = authorizer.resolve(&|name| given.get(name))?;
        if !class.is_empty() {
            let why =
                "there is no authorizer so far: leave it out where everybody may do everything";
            return Err(authorizer.invalid(&class, why));
        }
        let membership = membership(given, &values.node, &values.quorum)?;
        let listeners = listeners(Said {
            net: &values.net,
            quorum: &values.quorum,
            hostname,
            map_is_set: given.says(NetConfig::listener_security_protocol_map()),
            inter_broker_protocol_is_set: given.says(NetConfig::security_inter_broker_protocol()),
        })?;
        admin_port::check(&values.own, &listeners.all)?;
        wanted_topics::check(&values.start)?;
        let log_dirs = log_dirs(&values.log)?;
        let metadata_log_dir = match (&values.metadata_log.dir, log_dirs.first()) {
            (Some(dir), _) if !dir.is_empty() => {
                let dir = PathBuf::from(dir);
                log_dirs.iter().find(|it| is_same(it, &dir)).cloned().unwrap_or(dir)
            }
            (_, Some(dir)) => dir.clone(),
            (_, None) => return Err(LogConfig::dirs().invalid("", "must name a directory")),
        };
        Ok(BrokerConfig {
            membership,
            listeners,
            log_dirs,
            metadata_log_dir,
            connections_by_host: connections_by_host(&values.net)?,
            values,
            fixed: Arc::new(given.settings().clone()),
            dynamic_default: Settings::new(),
            dynamic_broker: Settings::new(),
        })
    }

    /// The same broker, told this while it runs; and what of it is not taken, each with its reason.
    pub fn with_dynamic(&self, all: &Settings, own: &Settings) -> (BrokerConfig, Vec<Invalid>) {
        let mut refused = Vec::new();
        let mut valid = |target: Target, settings: &Settings| -> Settings {
            let mut kept = Settings::new();
            for (name, value) in settings {
                match check_broker(target, name, value) {
                    Ok(()) => drop(kept.insert(name.clone(), value.clone())),
                    Err(invalid) => refused.push(invalid),
                }
            }
            kept
        };
        let next = BrokerConfig {
            dynamic_default: valid(Target::AllBrokers, all),
            dynamic_broker: valid(Target::Broker, own),
            ..self.clone()
        };
        match next.revalued() {
            Ok(next) => (next, refused),
            Err(invalid) => {
                refused.push(invalid);
                (self.clone(), refused)
            }
        }
    }

    /// The same broker, if it can be told this while it runs: the whole of its dynamic settings.
    pub fn told(&self, target: Target, settings: &Settings) -> Result<BrokerConfig, Invalid> {
        for (name, value) in settings {
            check_broker(target, name, value)?;
        }
        let mut next = self.clone();
        match target {
            Target::AllBrokers => settings.clone_into(&mut next.dynamic_default),
            Target::Broker | Target::Topic | Target::Group => {
                settings.clone_into(&mut next.dynamic_broker);
            }
        }
        next.revalued()
    }

    /// The same broker, as if these stood in its file.
    pub(super) fn with_fixed(&self, fixed: Settings) -> Result<BrokerConfig, Invalid> {
        BrokerConfig { fixed: Arc::new(fixed), ..self.clone() }.revalued()
    }

    /// Whether both say the same beside what the metadata says of brokers.
    pub fn is_of_the_file_of(&self, other: &BrokerConfig) -> bool {
        Arc::ptr_eq(&self.fixed, &other.fixed)
    }

    /// The values that its layers make.
    fn revalued(mut self) -> Result<BrokerConfig, Invalid> {
        let layers = self.layers();
        let mut values = Values::resolve(&|name| layers.get(name))?;
        values.coordinator = values.coordinator.clamped();
        values.check()?;
        self.connections_by_host = connections_by_host(&values.net)?;
        self.values = values;
        Ok(self)
    }

    /// Whether it was written for a broker beside a ZooKeeper.
    pub fn is_for_zookeeper(&self) -> bool {
        self.fixed.contains_key(ZOOKEEPER_CONNECT)
    }

    /// What was said, by who said it.
    pub fn layers(&self) -> Layers<'_> {
        Layers {
            dynamic_broker: &self.dynamic_broker,
            dynamic_default: &self.dynamic_default,
            fixed: &self.fixed,
        }
    }

    /// What a topic with these overrides is told here. An override that would be refused today
    /// says nothing.
    pub fn topic(&self, overrides: &Settings) -> Arc<TopicConfig> {
        if overrides.is_empty() {
            return Arc::clone(&self.values.topic);
        }
        let valid = |name: &str| {
            let text = overrides.get(name)?.as_str();
            find(TOPIC, name)?.check(text).is_ok().then_some(text)
        };
        let layers = self.layers();
        match TopicConfig::of(&valid, &|name| layers.get(name)) {
            Ok(config) => Arc::new(config),
            Err(_) => Arc::clone(&self.values.topic),
        }
    }

    /// What a consumer group with these overrides is told here.
    pub fn consumer_group(&self, overrides: &Settings) -> ConsumerGroupConfig {
        let (layers, coordinator) = (self.layers(), &self.values.coordinator);
        let config = ConsumerGroupConfig::of(overrides, &|name| layers.get(name));
        config.unwrap_or(ConsumerGroupConfig {
            assignment_interval_ms: coordinator.consumer_assignment_interval_ms,
            heartbeat_interval_ms: coordinator.consumer_heartbeat_interval_ms,
            session_timeout_ms: coordinator.consumer_session_timeout_ms,
        })
    }

    /// What one listener is told.
    pub fn listener(&self, name: &str) -> Result<ListenerConfig, Invalid> {
        let layers = self.layers();
        ListenerConfig::of(name, &|key| layers.get(key))
    }

    /// A number that one listener is told apart from the others, if it is.
    pub fn of_listener(&self, name: &str, key: Key) -> Option<i32> {
        let text = self.layers().get(&format!("{}{}", listener_prefix(name), key.name))?;
        key.parse(text).ok()
    }

    /// Bytes that all requests in flight may hold.
    pub fn request_memory_bytes(&self) -> i64 {
        match self.values.net.queued_max_request_bytes {
            bytes if 0 < bytes => bytes,
            _ => self.values.own.request_memory_bytes,
        }
    }

    /// What DescribeConfigs shows of this broker.
    pub fn describe(&self) -> Vec<Entry> {
        describe::broker(self.layers())
    }

    /// What it shows of all brokers.
    pub fn describe_default(&self) -> Vec<Entry> {
        describe::broker_default(&self.dynamic_default)
    }

    /// What it shows of a topic with these overrides.
    pub fn describe_topic(&self, overrides: &Settings) -> Vec<Entry> {
        describe::topic(overrides, self.layers())
    }

    /// What it shows of a group with these overrides.
    pub fn describe_group(&self, overrides: &Settings) -> Vec<Entry> {
        describe::group(overrides, self.layers())
    }
}

/// What a topic is told that has no overrides. What is refused was said under the broker's name.
fn topic_defaults(lookup: Lookup<'_, '_>) -> Result<TopicConfig, Invalid> {
    let config = TopicConfig::of(&|_| None, lookup);
    config.map_err(|invalid| {
        let key = find(TOPIC, &invalid.key);
        let synonyms = key.into_iter().flat_map(|key| key.synonyms);
        match synonyms.into_iter().find_map(|(name, _)| Some((name, lookup(name)?))) {
            Some((name, value)) => {
                Invalid { key: (*name).to_owned(), value: value.to_owned(), ..invalid }
            }
            None => invalid,
        }
    })
}

fn log_dirs(log: &LogConfig) -> Result<Vec<PathBuf>, Invalid> {
    let dirs = log.dirs.as_ref().unwrap_or(&log.dir);
    if dirs.is_empty() {
        return Err(LogConfig::dirs().invalid("", "must name a directory"));
    }
    let paths: Vec<PathBuf> = dirs.iter().map(PathBuf::from).collect();
    for (at, path) in paths.iter().enumerate() {
        if paths.iter().take(at).any(|other| is_same(other, path)) {
            let path = path.display().to_string();
            return Err(LogConfig::dirs().invalid(&path, "must name each directory once"));
        }
    }
    Ok(paths)
}

/// Whether both lead to one place, as far as their spelling says: `data` and `./data` do.
fn is_same(one: &Path, other: &Path) -> bool {
    one == other || matches!((absolute(one), absolute(other)), (Ok(one), Ok(other)) if one == other)
}

fn connections_by_host(net: &NetConfig) -> Result<BTreeMap<String, i32>, Invalid> {
    let items = net.max_connections_per_ip_overrides.split(',').map(str::trim);
    let read = |item: &str| {
        let (host, count) = item.rsplit_once(':')?;
        let bare = host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(host);
        let count = count.trim().parse().ok().filter(|count| 0 <= *count)?;
        Some((bare.trim().to_owned(), count)).filter(|(host, _)| !host.is_empty())
    };
    let known = |item: &str| {
        read(item).ok_or_else(|| {
            let why = "must be `host:count`, comma-separated";
            NetConfig::max_connections_per_ip_overrides().invalid(item, why)
        })
    };
    items.filter(|item| !item.is_empty()).map(known).collect()
}

#[cfg(test)]
mod tests;
