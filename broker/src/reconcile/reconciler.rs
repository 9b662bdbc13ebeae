//! Reconciler: from one image to the next, what is opened, made, changed and given up.

use super::assign::Load;
use super::open::{self, Here, Opening, Wanted, open_all};
use super::parts::Parts;
use super::renamed::Renamed;
use crate::config::BrokerConfig;
use crate::partition::leader::Term;
use crate::partition::{Dir, Partition, Place, Settings, Topic};
use kraft::image::{self, ConfigResource, Delta, Image, Overrides, PartitionDelta};
use protocol::ids::{TopicName, TopicPartition, Uuid};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use storage::log_dir::Suffix;
use storage::partition_metadata;

/// Follows the metadata. One task has it.
#[derive(Debug)]
pub struct Reconciler {
    parts: Parts,
    /// What the table stands at.
    image: Arc<Image>,
    /// What is offline because room or files lacked.
    lacking: BTreeMap<(Uuid, i32), Wanted>,
    /// The configuration that what is open was told.
    told: Arc<BrokerConfig>,
}

impl Reconciler {
    /// Opens what the directories hold and `image` puts here; what it does not is set aside for
    /// the operator. So `image` must be all that was committed, not the beginning of it. Blocks as
    /// long as that takes.
    pub fn start(parts: Parts, image: Arc<Image>) -> Reconciler {
        let on_disk = open::scan(&parts);
        let (lacking, told) = (BTreeMap::new(), parts.config.load());
        let mut reconciler = Reconciler { parts, image: Arc::default(), lacking, told };
        reconciler.follow(image, Some(on_disk));
        reconciler
    }

    /// Moves on to a newer image. Blocks: not for a runtime's thread.
    pub fn apply(&mut self, image: Arc<Image>) {
        self.follow(image, None);
    }

    /// Whether something is offline that may be opened yet.
    pub fn is_lacking(&self) -> bool {
        !self.lacking.is_empty()
    }

    /// Tries to open what lacked room or files when it was to be opened. Blocks as well.
    pub fn try_again(&mut self) {
        let image = Arc::clone(&self.image);
        let (mut wanted, mut delta) = (Vec::new(), Delta::default());
        for it in std::mem::take(&mut self.lacking).into_values() {
            let topic = image.topic_by_id(it.topic_id);
            let state = topic.and_then(|topic| topic.partition(it.at.partition)).cloned();
            // Meanwhile it may have gone, or have been opened.
            let Some(state) = state.filter(|state| state.has_replica(self.parts.node_id)) else {
                continue;
            };
            if self.is_open(it.topic_id, it.at.partition) {
                continue;
            }
            delta.partitions.push(PartitionDelta {
                topic: it.at.topic.clone(),
                topic_id: it.topic_id,
                partition: it.at.partition,
                old: None,
                new: Some(state),
            });
            let config = Arc::new(self.settings(&image, &it.at.topic).log);
            wanted.push(Wanted { config, is_retry: true, ..it });
        }
        let opened = self.open(wanted);
        if opened.iter().any(|it| it.place.open().is_some()) {
            self.put(&delta, &image, opened, Vec::new());
            self.parts.table.set_returned();
        }
    }

    fn open(&mut self, wanted: Vec<Wanted>) -> Vec<Opening> {
        let mut opened = open_all(&self.parts, wanted);
        let again = opened.iter_mut().filter_map(|it| it.again.take());
        self.lacking.extend(again.map(|it| ((it.topic_id, it.at.partition), it)));
        opened
    }

    /// `on_disk`: what a start has found.
    fn follow(&mut self, new: Arc<Image>, on_disk: Option<Vec<open::Found>>) {
        let old = std::mem::replace(&mut self.image, Arc::clone(&new));
        let delta = old.delta_to(&new);
        // First, by the config that it had to the end.
        let gone = self.give_up(&delta);
        let config = self.parts.config.load();
        let is_reread = !config.is_of_the_file_of(&self.told);
        self.told = config;
        if !delta.configs.is_empty() || is_reread {
            self.reconfigure(&delta, &new, is_reread);
        }
        let (wanted, mut opened) = self.wanted(&delta, &new, on_disk);
        opened.extend(self.open(wanted));
        // Most images bring nothing, and new maps are not free.
        if !delta.partitions.is_empty() || !gone.is_empty() {
            self.put(&delta, &new, opened, gone);
        }
        self.parts.table.set_applied(new.offset);
    }

    /// Puts changed configs in force on what is open; `is_reread` has the broker's file changed.
    fn reconfigure(&self, delta: &Delta, new: &Image, is_reread: bool) {
        let own = [ConfigResource::broker_default(), ConfigResource::broker(self.parts.node_id)];
        let all = is_reread || delta.configs.iter().any(|it| own.contains(it));
        if all {
            self.reconfigure_broker(new);
        }
        for topic in self.parts.table.topics() {
            let resource = ConfigResource::topic(&topic.name);
            if !all && !delta.configs.contains(&resource) {
                continue;
            }
            let settings = self.settings(new, &topic.name);
            let log = Arc::new(settings.log);
            for partition in topic.partitions().filter_map(|(_, place)| place.open()) {
                partition.configure(Arc::clone(&log), settings.rules);
            }
        }
    }

    /// Takes over what the metadata says of all brokers and of this one.
    fn reconfigure_broker(&self, new: &Image) {
        let none = Overrides::new();
        let overrides = |resource| new.config(&resource).map_or(&none, |it| &**it);
        let own = overrides(ConfigResource::broker(self.parts.node_id));
        for invalid in self.parts.config.update(overrides(ConfigResource::broker_default()), own) {
            tracing::error!("A dynamic config of this broker is not taken: {invalid}");
        }
        let reserve = self.parts.config.load().values.own.log_dir_reserve_bytes;
        for dir in self.parts.dirs.iter() {
            dir.set_reserve(u64::try_from(reserve).unwrap_or(0));
        }
    }

    fn settings(&self, image: &Image, topic: &str) -> Settings {
        let config = self.parts.config.load();
        let own = &config.values.own;
        match image.config(&ConfigResource::topic(topic)) {
            Some(overrides) => Settings::of(&config.topic(overrides), own),
            None => Settings::of(&config.values.topic, own),
        }
    }

    /// Takes what left this broker off the disk; the ids of the topics that are gone altogether.
    fn give_up(&mut self, delta: &Delta) -> Vec<Uuid> {
        let node = self.parts.node_id;
        let mut renamed = Renamed::default();
        for change in &delta.partitions {
            let stays = change.new.as_ref().is_some_and(|new| new.has_replica(node));
            if stays {
                continue;
            }
            if let Some(it) = self.lacking.remove(&(change.topic_id, change.partition)) {
                // It may not have come to making way: then the folder of this name is another's.
                if it.is_there || has_id(&it) {
                    self.set_aside(&it.dir, &it.at, it.config.file_delete_delay_ms, &mut renamed);
                }
            }
            let place = self.parts.table.topic_by_id(change.topic_id);
            let place = place.as_ref().and_then(|topic| topic.partition(change.partition));
            if let Some(partition) = place.and_then(Place::open) {
                self.delete(partition, &mut renamed);
            }
        }
        renamed.sync();
        delta.topics_deleted.iter().map(|(_, id)| *id).collect()
    }

    fn delete(&self, partition: &Partition, renamed: &mut Renamed) {
        partition.retire();
        let (log, at) = (partition.log(), partition.name());
        let delay_ms = log.config().file_delete_delay_ms;
        if let Some(aside) = self.set_aside(&partition.dir, &at, delay_ms, renamed) {
            log.moved_to(aside);
        }
    }

    /// Renames a partition's folder, if there is one, so that the name is free at once, and has it
    /// unlinked after the delay. Its new path.
    fn set_aside(
        &self,
        dir: &Arc<Dir>,
        at: &TopicPartition,
        delay_ms: i64,
        renamed: &mut Renamed,
    ) -> Option<PathBuf> {
        let log_dir = dir.log_dir()?;
        let unique = Uuid(self.parts.env.rng.next_uuid_bytes());
        match log_dir.set_aside(at, unique, Suffix::Delete) {
            Ok(aside) => {
                renamed.add(dir);
                let delay = Duration::from_millis(u64::try_from(delay_ms).unwrap_or(0));
                let now = self.parts.env.clock.monotonic();
                self.parts.doomed.put(aside.clone(), now.saturating_add(delay));
                tracing::info!("Log for partition {at} is renamed and scheduled for deletion");
                Some(aside)
            }
            // What was never opened may have no folder yet.
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                dir.fail(&format!("deleting {at}: {error}"));
                None
            }
        }
    }

    /// What is to be opened or made, and what cannot be.
    fn wanted(
        &self,
        delta: &Delta,
        new: &Image,
        on_disk: Option<Vec<open::Found>>,
    ) -> (Vec<Wanted>, Vec<Opening>) {
        let (mut wanted, mut lost) = (Vec::new(), Vec::new());
        let is_start = on_disk.is_some();
        let mut here = open::by_partition(&self.parts, new, on_disk.unwrap_or_default());
        let mut load = None::<Load>;
        let mut settings = BTreeMap::new();
        for change in &delta.partitions {
            let Some(state) = change.new.as_ref() else { continue };
            let Some(assigned) = state.directory_of(self.parts.node_id) else { continue };
            let at = TopicPartition { topic: change.topic.clone(), partition: change.partition };
            // What is offline stays so, whoever shall lead it: made anew, it would stand beside its
            // records. What only lacks something has its turn.
            if self.is_placed(change.topic_id, change.partition) {
                continue;
            }
            let found = here.remove(&at);
            if let Some(Here { dir, damage: Some(damage), .. }) = found {
                tracing::error!("{at} is left alone: {damage}");
                lost.push(Opening::offline(at, change.topic_id, Some(&dir), damage));
                continue;
            }
            let is_there = found.as_ref().is_some_and(|found| found.has_id);
            let is_found = found.is_some();
            let dirs = &self.parts.dirs;
            let dir = found.map(|found| Ok(found.dir)).unwrap_or_else(|| {
                let load = load.get_or_insert_with(|| Load::of(&self.parts.table, dirs));
                load.choose(dirs, assigned, !is_start)
            });
            let dir = match dir {
                Ok(dir) => dir,
                Err(why) => {
                    tracing::error!("{at} cannot be opened: {why}");
                    lost.push(Opening::offline(at, change.topic_id, None, why));
                    continue;
                }
            };
            let settings = settings.entry(change.topic.clone()).or_insert_with(|| {
                let settings = self.settings(new, &change.topic);
                Arc::new(settings.log)
            });
            let config = Arc::clone(settings);
            let (topic_id, is_retry) = (change.topic_id, false);
            wanted.push(Wanted { at, topic_id, dir, is_there, is_found, config, is_retry });
        }
        (wanted, lost)
    }

    fn is_open(&self, topic: Uuid, number: i32) -> bool {
        let topic = self.parts.table.topic_by_id(topic);
        topic.is_some_and(|topic| topic.partition(number).and_then(Place::open).is_some())
    }

    /// Whether it is here already, open or offline.
    fn is_placed(&self, topic: Uuid, number: i32) -> bool {
        let topic = self.parts.table.topic_by_id(topic);
        topic.is_some_and(|topic| topic.partition(number).is_some())
    }

    /// Puts the result into the table, then has those lead that shall.
    fn put(&self, delta: &Delta, new: &Image, opened: Vec<Opening>, mut gone: Vec<Uuid>) {
        let mut topics = BTreeMap::<(TopicName, Uuid), BTreeMap<i32, Place>>::new();
        let places = |name: &TopicName, id: Uuid| -> BTreeMap<i32, Place> {
            let topic = self.parts.table.topic_by_id(id).filter(|it| it.name == *name);
            let now = topic.iter().flat_map(|topic| topic.partitions());
            now.map(|(number, place)| (number, place.clone())).collect()
        };
        // Only those that stay need to be put; the others are in `gone`.
        for change in &delta.partitions {
            let Some(state) = &change.new else { continue };
            let key = (change.topic.clone(), change.topic_id);
            let topic = topics.entry(key).or_insert_with(|| places(&change.topic, change.topic_id));
            if !state.has_replica(self.parts.node_id) {
                topic.remove(&change.partition);
            }
        }
        let fresh = opened.iter().filter_map(|it| it.place.open());
        let dirs: Vec<_> = fresh.map(|partition| Arc::clone(&partition.dir)).collect();
        for Opening { at, topic_id, place, .. } in opened {
            if let Some(topic) = topics.get_mut(&(at.topic, topic_id)) {
                topic.insert(at.partition, place);
            }
        }
        // A topic may go on elsewhere.
        let left = topics.iter().filter(|(_, places)| places.is_empty());
        gone.extend(left.map(|((_, id), _)| *id));
        // Before anybody finds them they lead, so that nobody is sent away who came too early.
        let put: Vec<_> = topics
            .into_iter()
            .filter(|(_, places)| !places.is_empty())
            .map(|((name, id), places)| Topic::new(name, id, places.into_iter().collect()))
            .collect();
        for topic in &put {
            self.lead(topic, new);
        }
        self.parts.table.change(put, &gone);
        // Whoever writes the checkpoint finds them now.
        dirs.iter().for_each(|dir| dir.has_new_log());
    }

    fn lead(&self, topic: &Topic, new: &Image) {
        let Some(states) = new.topic_by_id(topic.id) else { return };
        let rules = self.settings(new, &topic.name).rules;
        for (number, place) in topic.partitions() {
            let (Some(partition), Some(state)) = (place.open(), states.partition(number)) else {
                continue;
            };
            if state.leader == self.parts.node_id {
                partition.lead(term(state), rules);
            } else {
                partition.resign();
            }
        }
    }
}

fn term(state: &image::Partition) -> Term {
    Term { epoch: state.leader_epoch, replicas: state.replicas.clone(), isr: state.isr.clone() }
}

/// Whether the folder of its name is that of its topic.
fn has_id(it: &Wanted) -> bool {
    it.dir.log_dir().is_some_and(|log_dir| {
        let path = log_dir.partition_path(&it.at);
        matches!(partition_metadata::read(&**log_dir.disk(), &path), Ok(Some(id)) if id == it.topic_id)
    })
}
