//! Table: every partition that this broker hosts, found by name or id without a lock.

use super::dir::Dir;
use super::fault::Fault;
use super::replica::Partition;
use arc_swap::ArcSwap;
use indexmap::IndexMap;
use parking_lot::Mutex;
use protocol::error::ErrorCode;
use protocol::ids::{TopicName, TopicPartition, Uuid};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::watch;

/// Readers take the maps of the moment; who changes them makes new ones.
#[derive(Debug)]
pub struct Table {
    maps: ArcSwap<Maps>,
    /// Held by the one that changes: two changes must not start from the same maps.
    changing: Mutex<()>,
    /// Of the metadata image that the table follows.
    applied: watch::Sender<i64>,
    /// How often partitions came back that the metadata had put here before.
    returned: watch::Sender<u64>,
    /// Nobody waits for bytes any more: the broker stops.
    is_closing: AtomicBool,
}

impl Default for Table {
    fn default() -> Table {
        Table {
            maps: ArcSwap::default(),
            changing: Mutex::default(),
            applied: watch::Sender::new(-1),
            returned: watch::Sender::new(0),
            is_closing: AtomicBool::new(false),
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Maps {
    by_name: IndexMap<TopicName, Arc<Topic>>,
    by_id: IndexMap<Uuid, Arc<Topic>>,
}

/// The partitions of one topic that are here.
#[derive(Clone, Debug)]
pub struct Topic {
    pub name: TopicName,
    pub id: Uuid,
    /// Ascending by number. Most often all of them, so that the number is the place.
    partitions: Vec<(i32, Place)>,
}

/// Where a partition is.
#[derive(Clone, Debug)]
pub enum Place {
    /// In an open log.
    Open(Arc<Partition>),
    /// Its log could not be opened.
    Offline(Arc<Offline>),
}

/// Why nothing is read from a partition or written to it.
#[derive(Debug)]
pub struct Offline {
    /// The log directory that it lies in; None: one that is not here.
    pub dir: Option<Arc<Dir>>,
    /// For people.
    pub why: String,
}

impl Offline {
    /// What a client is told that asks for it.
    pub fn fault(&self, at: &TopicPartition) -> Fault {
        let message = format!("{at} is offline: {}", self.why);
        Fault { message: Some(message), ..ErrorCode::KafkaStorageError.into() }
    }
}

impl Topic {
    pub fn new(name: TopicName, id: Uuid, mut partitions: Vec<(i32, Place)>) -> Topic {
        partitions.sort_by_key(|(number, _)| *number);
        Topic { name, id, partitions }
    }

    pub fn partition(&self, number: i32) -> Option<&Place> {
        let guess = usize::try_from(number).ok().and_then(|place| self.partitions.get(place));
        if let Some((_, place)) = guess.filter(|(found, _)| *found == number) {
            return Some(place);
        }
        let at = self.partitions.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        self.partitions.get(at).map(|(_, place)| place)
    }

    pub fn partitions(&self) -> impl Iterator<Item = (i32, &Place)> {
        self.partitions.iter().map(|(number, place)| (*number, place))
    }
}

impl Place {
    pub fn open(&self) -> Option<&Arc<Partition>> {
        match self {
            Place::Open(partition) => Some(partition),
            Place::Offline(_) => None,
        }
    }
}

impl Table {
    pub fn topic(&self, name: &str) -> Option<Arc<Topic>> {
        self.maps.load().by_name.get(name).cloned()
    }

    pub fn topic_by_id(&self, id: Uuid) -> Option<Arc<Topic>> {
        self.maps.load().by_id.get(&id).cloned()
    }

    /// Every topic, in the order of its arrival.
    pub fn topics(&self) -> Vec<Arc<Topic>> {
        self.maps.load().by_name.values().cloned().collect()
    }

    /// Every open partition.
    pub fn partitions(&self) -> Vec<Arc<Partition>> {
        let maps = self.maps.load();
        let places = maps.by_name.values().flat_map(|topic| topic.partitions());
        places.filter_map(|(_, place)| place.open().cloned()).collect()
    }

    /// Those of them that lie in `dir`.
    pub fn partitions_in(&self, dir: &Arc<Dir>) -> Vec<Arc<Partition>> {
        let mut open = self.partitions();
        open.retain(|partition| Arc::ptr_eq(&partition.dir, dir));
        open
    }

    /// Those of `dir` that are not open.
    pub fn unopened_in(&self, dir: &Arc<Dir>) -> BTreeSet<TopicPartition> {
        let maps = self.maps.load();
        let lies_here = |place: &Place| match place {
            Place::Open(_) => false,
            Place::Offline(it) => it.dir.as_ref().is_some_and(|of| Arc::ptr_eq(of, dir)),
        };
        let mut unopened = BTreeSet::new();
        for topic in maps.by_name.values() {
            let here = topic.partitions().filter(|(_, place)| lies_here(place));
            unopened.extend(here.map(|(number, _)| TopicPartition::new(&*topic.name, number)));
        }
        unopened
    }

    /// Says that the table has followed the metadata up to `offset`.
    pub fn set_applied(&self, offset: i64) {
        self.applied.send_replace(offset);
    }

    /// Waits until the table has followed the metadata up to `offset`: whoever created a topic
    /// then finds its partitions here.
    pub async fn when_applied(&self, offset: i64) {
        let mut applied = self.applied.subscribe();
        // The sender is ours, so it cannot be gone.
        let _at = applied.wait_for(|at| offset <= *at).await.is_ok();
    }

    /// Says that partitions are here which were offline when the metadata was followed.
    pub fn set_returned(&self) {
        self.returned.send_modify(|times| *times += 1);
    }

    /// Changes whenever partitions came back.
    pub fn returned(&self) -> watch::Receiver<u64> {
        self.returned.subscribe()
    }

    /// Has every fetch that waits look again, and answer with what there is. What was appended is
    /// answered as ever.
    pub fn close(&self) {
        self.is_closing.store(true, Ordering::SeqCst);
        self.partitions().iter().for_each(|it| it.wake_readers());
    }

    pub fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::SeqCst)
    }

    /// Puts topics in, in place of those with the same name, and takes out those of `gone` that
    /// nobody has replaced.
    pub fn change(&self, put: Vec<Topic>, gone: &[Uuid]) {
        let _changing = self.changing.lock();
        let mut maps = Maps::clone(&self.maps.load());
        let old = gone.iter().filter_map(|id| maps.by_id.get(id).cloned()).collect::<Vec<_>>();
        for topic in old {
            maps.take_out(&topic);
        }
        for topic in put {
            if let Some(old) = maps.by_name.get(&topic.name).cloned() {
                maps.by_id.swap_remove(&old.id);
            }
            let topic = Arc::new(topic);
            maps.by_id.insert(topic.id, Arc::clone(&topic));
            maps.by_name.insert(topic.name.clone(), topic);
        }
        self.maps.store(Arc::new(maps));
    }
}

impl Maps {
    fn take_out(&mut self, topic: &Topic) {
        self.by_id.swap_remove(&topic.id);
        self.by_name.swap_remove(&topic.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(name: &str, id: u8, numbers: &[i32]) -> Topic {
        let offline = Arc::new(Offline { dir: None, why: String::new() });
        let place = || Place::Offline(Arc::clone(&offline));
        let partitions = numbers.iter().map(|number| (*number, place())).collect();
        Topic::new(name.into(), Uuid([id; 16]), partitions)
    }

    #[track_caller]
    fn check(table: &Table, name: &str, want: Option<u8>) {
        let id = table.topic(name).map(|topic| topic.id);
        assert_eq!(id, want.map(|id| Uuid([id; 16])));
        let found = want.and_then(|id| table.topic_by_id(Uuid([id; 16])));
        assert_eq!(found.map(|topic| topic.name.to_string()), want.map(|_| name.to_owned()));
    }

    #[test]
    fn a_topic_is_found_by_name_and_by_id_until_it_goes() {
        let table = Table::default();
        table.change(vec![topic("a", 1, &[0]), topic("b", 2, &[0])], &[]);
        check(&table, "a", Some(1));
        check(&table, "b", Some(2));
        table.change(vec![], &[Uuid([1; 16])]);
        check(&table, "a", None);
        check(&table, "b", Some(2));
    }

    #[test]
    fn a_topic_made_again_is_another_topic() {
        let table = Table::default();
        table.change(vec![topic("a", 1, &[0])], &[]);
        table.change(vec![topic("a", 3, &[0])], &[Uuid([1; 16])]);
        check(&table, "a", Some(3));
        assert!(table.topic_by_id(Uuid([1; 16])).is_none());
        table.change(vec![topic("a", 4, &[0])], &[]);
        check(&table, "a", Some(4));
        assert!(table.topic_by_id(Uuid([3; 16])).is_none());
    }

    #[test]
    fn a_broker_may_host_some_partitions_of_a_topic() {
        let it = topic("a", 1, &[7, 2]);
        let hosts = |number| it.partition(number).is_some();
        assert!(hosts(2) && hosts(7) && !hosts(0) && !hosts(1) && !hosts(-1));
    }
}
