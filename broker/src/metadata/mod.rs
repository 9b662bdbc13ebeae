//! The cluster as the clients of one listener see it: who is there, who leads, who cannot be reached.

use crate::config::Endpoint;
use kraft::image::{Broker, Image, Partition};
use protocol::ids::Uuid;
use protocol::messages::StrBytes;

/// Topics that the brokers keep for themselves.
const INTERNAL: [&str; 3] = ["__consumer_offsets", "__transaction_state", "__share_group_state"];

/// Whether clients are told that a topic is the brokers' own.
pub fn is_internal(topic: &str) -> bool {
    INTERNAL.contains(&topic)
}

/// A node as clients of one listener reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached<'a> {
    pub id: i32,
    pub host: &'a str,
    pub port: u16,
    pub rack: Option<&'a str>,
    pub is_fenced: bool,
}

impl Reached<'_> {
    pub fn host(&self) -> StrBytes {
        StrBytes::from_string(self.host.to_owned())
    }

    pub fn rack(&self) -> Option<StrBytes> {
        self.rack.map(|rack| StrBytes::from_string(rack.to_owned()))
    }
}

/// An image, seen from a listener.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    image: &'a Image,
    listener: &'a str,
    /// What the one who looks is told of one node, instead of what the image says.
    told: Option<(i32, &'a Endpoint)>,
}

impl<'a> View<'a> {
    pub fn new(image: &'a Image, listener: &'a str, told: Option<(i32, &'a Endpoint)>) -> View<'a> {
        View { image, listener, told }
    }

    /// A registered broker, fenced or not, if it has this listener.
    pub fn broker(self, id: i32) -> Option<Reached<'a>> {
        self.reached(self.image.broker(id)?)
    }

    /// Every registered broker that has this listener, fenced ones too.
    pub fn brokers(self) -> impl Iterator<Item = Reached<'a>> {
        self.image.brokers().values().filter_map(move |broker| self.reached(broker))
    }

    /// Those that serve.
    pub fn live_brokers(self) -> impl Iterator<Item = Reached<'a>> {
        self.brokers().filter(|broker| !broker.is_fenced)
    }

    /// Every registered controller that has this listener.
    pub fn controllers(self) -> impl Iterator<Item = Reached<'a>> {
        self.image.controllers().values().filter_map(move |controller| {
            let id = controller.controller_id;
            let (host, port) = self.address(id, &controller.end_points)?;
            Some(Reached { id, host, port, rack: None, is_fenced: false })
        })
    }

    fn address(self, id: i32, registered: &'a [kraft::record::Endpoint]) -> Option<(&'a str, u16)> {
        let at = registered.iter().find(|it| it.name == self.listener)?;
        match self.told.filter(|(told, _)| *told == id) {
            Some((_, told)) => Some((&told.host, told.port)),
            None => Some((&at.host, at.port)),
        }
    }

    fn reached(self, broker: &'a Broker) -> Option<Reached<'a>> {
        let (host, port) = self.address(broker.broker_id, &broker.end_points)?;
        Some(Reached {
            id: broker.broker_id,
            host,
            port,
            rack: broker.rack.as_deref(),
            is_fenced: broker.fenced,
        })
    }

    /// The leader of a partition, if clients of this listener reach it.
    pub fn leader(self, partition: &Partition) -> Option<i32> {
        self.broker(partition.leader).map(|leader| leader.id)
    }

    /// Whether a broker serves clients of this listener.
    pub fn is_live(self, id: i32) -> bool {
        self.broker(id).is_some_and(|broker| !broker.is_fenced)
    }

    /// Whether a broker cannot serve its replica: it is gone, fenced, out of reach, or the
    /// replica's log directory is.
    pub fn is_offline(self, partition: &Partition, id: i32) -> bool {
        let Some(broker) = self.image.broker(id).filter(|_| self.is_live(id)) else { return true };
        let directory = partition.directory_of(id).unwrap_or(Uuid::ZERO);
        !has_online(&broker.log_dirs, directory)
    }
}

/// Whether a replica's directory is one of those that its broker has; a broker that names none
/// is older than directory ids.
fn has_online(online: &[Uuid], directory: Uuid) -> bool {
    let is_open = directory == Uuid::ZERO || directory == Uuid::MIGRATING;
    let is_lost = directory == Uuid::METADATA_TOPIC;
    is_open || (!is_lost && (online.is_empty() || online.contains(&directory)))
}

/// One of the live brokers, by chance: who asks it as the controller reaches the controller.
pub fn any_live(image: &Image, random: u64) -> Option<i32> {
    let live: Vec<i32> = (image.brokers().values())
        .filter(|broker| !broker.fenced)
        .map(|broker| broker.broker_id)
        .collect();
    let count = u64::try_from(live.len()).ok().filter(|count| 0 < *count)?;
    live.get(usize::try_from(random % count).ok()?).copied()
}

#[cfg(test)]
mod tests;
