//! Fetch sessions (KIP-227): what a client asked for before, so that it need not say it again.
//!
//! A session keeps its partitions in serving order. One that returned data moves to the end, so
//! that a busy partition does not starve the ones behind it.

use super::named::Named;
use crate::metrics::Counter;
use parking_lot::Mutex;
use protocol::error::ErrorCode;
use protocol::ids::{TopicName, Uuid};
use protocol::messages::FetchRequest;
use protocol::messages::fetch_request::FetchPartition;
use protocol::messages::fetch_response::PartitionData;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// No session: in a request a full fetch, in a response that none was made.
pub(super) const NO_SESSION: i32 = 0;
const EPOCH_FIRST: i32 = 0;
const EPOCH_LAST: i32 = -1;

/// A session that was idle for so long gives its slot to any other; a younger one only to a
/// larger one, and not before this age.
const EVICTION_AGE: Duration = Duration::from_secs(120);

/// Partitions that all sessions hold together, at most: some 200 MB. Whoever would go beyond it has
/// no session, and says everything each time.
const PARTITIONS_MAX: usize = 1_000_000;

/// A topic as a fetch names it: by name up to version 12, by id since.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Topic {
    Name(TopicName),
    Id(Uuid),
}

impl Topic {
    pub(super) fn named(&self) -> Named<'_> {
        match self {
            Topic::Name(name) => Named::Name(name),
            Topic::Id(id) => Named::Id(*id),
        }
    }
}

/// One partition of a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) topic: Topic,
    pub(super) partition: i32,
    pub(super) asked: Asked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) fetch_offset: i64,
    pub(super) bytes_max: i32,
    pub(super) current_leader_epoch: i32,
    pub(super) last_fetched_epoch: i32,
}

/// What one fetch is to read, and the session that its answer belongs to.
#[derive(Debug)]
pub(super) struct Fetching {
    pub(super) items: Vec<Item>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Sessionless,
    /// All that the client wants, said at once: a session may be made of it.
    Full {
        by_id: bool,
        from_follower: bool,
    },
    Incremental {
        session: Arc<Mutex<Session>>,
        epoch: i32,
    },
}

/// The sessions of a broker. Bounded: a client without a slot says everything each time.
#[derive(Debug)]
pub struct FetchSessions {
    slots_max: usize,
    partitions_max: usize,
    slots: Mutex<BTreeMap<i32, Slot>>,
    evictions: Counter,
}

#[derive(Debug)]
struct Slot {
    session: Arc<Mutex<Session>>,
    from_follower: bool,
    partitions: usize,
    made: Duration,
    used: Duration,
}

#[derive(Debug)]
struct Session {
    id: i32,
    by_id: bool,
    /// What the next request must say.
    epoch: i32,
    /// In serving order.
    entries: BTreeMap<u64, Entry>,
    places: BTreeMap<(Topic, i32), u64>,
    next_place: u64,
}

#[derive(Debug)]
struct Entry {
    item: Item,
    /// What the client was told last; -1 before that, and after an error.
    high_watermark: i64,
    log_start_offset: i64,
}

impl FetchSessions {
    pub fn new(slots_max: usize) -> FetchSessions {
        FetchSessions {
            slots_max,
            partitions_max: PARTITIONS_MAX,
            slots: Mutex::default(),
            evictions: Counter::default(),
        }
    }

    /// Finds out what `request` is to read.
    pub(super) fn open(
        &self,
        request: &FetchRequest,
        version: i16,
        from_follower: bool,
        now: Duration,
    ) -> Result<Fetching, ErrorCode> {
        let by_id = 13 <= version;
        let (id, epoch) = (request.session_id, request.session_epoch);
        if epoch == EPOCH_FIRST || epoch == EPOCH_LAST {
            if id != NO_SESSION {
                self.slots.lock().remove(&id);
            }
            let kind = if epoch == EPOCH_LAST {
                Kind::Sessionless
            } else {
                Kind::Full { by_id, from_follower }
            };
            return Ok(Fetching { items: items(request, by_id).collect(), kind });
        }
        self.continue_session(request, by_id, now)
    }

    fn continue_session(
        &self,
        request: &FetchRequest,
        by_id: bool,
        now: Duration,
    ) -> Result<Fetching, ErrorCode> {
        let mut slots = self.slots.lock();
        let slot = slots.get_mut(&request.session_id);
        let slot = slot.ok_or(ErrorCode::FetchSessionIdNotFound)?;
        let shared = Arc::clone(&slot.session);
        let mut session = shared.lock();
        if session.by_id != by_id {
            return Err(ErrorCode::FetchSessionTopicIdError);
        }
        if session.epoch != request.session_epoch {
            return Err(ErrorCode::InvalidFetchSessionEpoch);
        }
        session.update(request);
        if session.entries.is_empty() {
            slots.remove(&request.session_id);
            return Ok(Fetching { items: Vec::new(), kind: Kind::Sessionless });
        }
        let has_grown = slot.partitions < session.entries.len();
        session.epoch = after(session.epoch);
        (slot.used, slot.partitions) = (now, session.entries.len());
        if has_grown && self.partitions_max < partitions(&slots) {
            slots.remove(&request.session_id);
            return Err(ErrorCode::FetchSessionIdNotFound);
        }
        let items = session.entries.values().map(|entry| entry.item.clone()).collect();
        let epoch = session.epoch;
        drop(session);
        Ok(Fetching { items, kind: Kind::Incremental { session: shared, epoch } })
    }

    /// Makes a session of a full fetch, if there is a slot for it.
    fn make(
        &self,
        (by_id, from_follower): (bool, bool),
        answers: &[(Item, PartitionData)],
        now: Duration,
        mut random: impl FnMut() -> u64,
    ) -> i32 {
        let mut slots = self.slots.lock();
        let going = if slots.len() < self.slots_max {
            None
        } else {
            match evictable(&slots, from_follower, answers.len(), now) {
                None => return NO_SESSION,
                it => it,
            }
        };
        // Nobody goes for one that does not fit either way.
        let freed = going.and_then(|id| slots.get(&id)).map_or(0, |slot| slot.partitions);
        if self.partitions_max < partitions(&slots) - freed + answers.len() {
            return NO_SESSION;
        }
        if let Some(id) = going {
            slots.remove(&id);
            self.evictions.count();
        }
        let id = loop {
            // 31 bits, and a client reads 0 as none.
            let id = i32::try_from(random() >> 33).unwrap_or(NO_SESSION);
            if id != NO_SESSION && !slots.contains_key(&id) {
                break id;
            }
        };
        let mut session = Session::new(id, by_id);
        for (item, said) in answers {
            session.put(item.clone(), said.high_watermark, said.log_start_offset);
        }
        let partitions = session.entries.len();
        let session = Arc::new(Mutex::new(session));
        slots.insert(id, Slot { session, from_follower, partitions, made: now, used: now });
        id
    }

    /// How many had to go for newer ones, since the start.
    pub fn evictions(&self) -> u64 {
        self.evictions.get()
    }

    /// How many sessions there are, and how many partitions they hold.
    pub fn size(&self) -> (usize, usize) {
        let slots = self.slots.lock();
        (slots.len(), partitions(&slots))
    }
}

fn partitions(slots: &BTreeMap<i32, Slot>) -> usize {
    slots.values().map(|slot| slot.partitions).sum()
}

/// The session that has to go for a new one of `partitions`.
fn evictable(
    slots: &BTreeMap<i32, Slot>,
    from_follower: bool,
    partitions: usize,
    now: Duration,
) -> Option<i32> {
    let since = |then: Duration| now.saturating_sub(then);
    let (id, stalest) = slots.iter().min_by_key(|(_, slot)| slot.used)?;
    if EVICTION_AGE < since(stalest.used) {
        return Some(*id);
    }
    // A follower's session outranks a client's, whatever the sizes; else the larger one stays.
    let rank = |slot: &Slot| (slot.from_follower, slot.partitions);
    let may_go =
        |slot: &Slot| EVICTION_AGE < since(slot.made) || (from_follower && !slot.from_follower);
    let candidates = slots.iter().filter(|(_, slot)| may_go(slot));
    let (id, least) = candidates.min_by_key(|(_, slot)| (rank(slot), slot.used))?;
    (rank(least) < (from_follower, partitions)).then_some(*id)
}

impl Fetching {
    /// Takes out of `answers` what the client knows already. Returns the session to name, or the
    /// error that is the whole answer.
    pub(super) fn close(
        &self,
        sessions: &FetchSessions,
        answers: &mut Vec<(Item, PartitionData)>,
        now: Duration,
        random: impl FnMut() -> u64,
    ) -> Result<i32, ErrorCode> {
        match &self.kind {
            Kind::Sessionless => Ok(NO_SESSION),
            Kind::Full { by_id, from_follower } => {
                Ok(sessions.make((*by_id, *from_follower), answers, now, random))
            }
            Kind::Incremental { session, epoch } => {
                let mut session = session.lock();
                if session.epoch != *epoch {
                    return Err(ErrorCode::InvalidFetchSessionEpoch);
                }
                answers.retain(|(item, said)| session.is_news(item, said));
                Ok(session.id)
            }
        }
    }
}

impl Session {
    fn new(id: i32, by_id: bool) -> Session {
        Session {
            id,
            by_id,
            epoch: after(EPOCH_FIRST),
            entries: BTreeMap::new(),
            places: BTreeMap::new(),
            next_place: 0,
        }
    }

    fn update(&mut self, request: &FetchRequest) {
        for item in items(request, self.by_id) {
            let key = (item.topic.clone(), item.partition);
            let known = self.places.get(&key).and_then(|place| self.entries.get_mut(place));
            match known {
                Some(entry) => entry.item.asked = item.asked,
                None => self.put(item, -1, -1),
            }
        }
        for topic in &request.forgotten_topics_data {
            let named = topic_of(topic.topic.as_str(), topic.topic_id.into(), self.by_id);
            for partition in &topic.partitions {
                if let Some(place) = self.places.remove(&(named.clone(), *partition)) {
                    self.entries.remove(&place);
                }
            }
        }
    }

    fn put(&mut self, item: Item, high_watermark: i64, log_start_offset: i64) {
        let place = self.next_place;
        self.next_place += 1;
        if let Some(old) = self.places.insert((item.topic.clone(), item.partition), place) {
            self.entries.remove(&old);
        }
        self.entries.insert(place, Entry { item, high_watermark, log_start_offset });
    }

    /// Whether the client must be told, and notes that it was.
    fn is_news(&mut self, item: &Item, said: &PartitionData) -> bool {
        let place = self.places.get(&(item.topic.clone(), item.partition)).copied();
        let Some(place) = place else { return true };
        let Some(entry) = self.entries.get_mut(&place) else { return true };
        let failed = said.error_code != 0;
        let moved = entry.high_watermark != said.high_watermark
            || entry.log_start_offset != said.log_start_offset;
        // After an error the watermark is sent again, whether it moved or not.
        entry.high_watermark = if failed { -1 } else { said.high_watermark };
        entry.log_start_offset = said.log_start_offset;
        let has_records = said.records.as_ref().is_some_and(|records| !records.is_empty());
        if has_records && let Some(entry) = self.entries.remove(&place) {
            self.put(entry.item, entry.high_watermark, entry.log_start_offset);
        }
        let diverges = 0 <= said.diverging_epoch.epoch;
        has_records || moved || failed || diverges || 0 <= said.preferred_read_replica.0
    }
}

/// The epoch that follows; 0 and below have a meaning of their own.
fn after(epoch: i32) -> i32 {
    epoch.checked_add(1).unwrap_or(1)
}

/// The partitions of a request, in its order. Each name is copied: a slice would hold the frame.
fn items(request: &FetchRequest, by_id: bool) -> impl Iterator<Item = Item> {
    request.topics.iter().flat_map(move |topic| {
        let named = topic_of(topic.topic.as_str(), topic.topic_id.into(), by_id);
        topic.partitions.iter().map(move |partition: &FetchPartition| Item {
            topic: named.clone(),
            partition: partition.partition,
            asked: Asked {
                fetch_offset: partition.fetch_offset,
                bytes_max: partition.partition_max_bytes,
                current_leader_epoch: partition.current_leader_epoch,
                last_fetched_epoch: partition.last_fetched_epoch,
            },
        })
    })
}

fn topic_of(name: &str, id: Uuid, by_id: bool) -> Topic {
    if by_id { Topic::Id(id) } else { Topic::Name(name.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::messages::fetch_request::FetchTopic;

    fn request(session: i32, epoch: i32, numbers: std::ops::Range<i32>) -> FetchRequest {
        let partition = |number| FetchPartition::default().with_partition(number);
        let topic = FetchTopic::default().with_partitions(numbers.map(partition).collect());
        FetchRequest::default()
            .with_session_id(session)
            .with_session_epoch(epoch)
            .with_topics(vec![topic])
    }

    /// Has a session made of these partitions; 0: there is none.
    fn begin(sessions: &FetchSessions, numbers: std::ops::Range<i32>, now: Duration) -> i32 {
        let fetching = sessions.open(&request(0, 0, numbers), 12, false, now).unwrap();
        let items = fetching.items.iter().cloned();
        let mut answers = items.map(|item| (item, PartitionData::default())).collect();
        let mut id = 0;
        let next = || {
            id += 1;
            id << 33
        };
        fetching.close(sessions, &mut answers, now, next).unwrap()
    }

    #[test]
    fn nobody_goes_for_a_session_that_does_not_fit() {
        let sessions = FetchSessions { partitions_max: 5, ..FetchSessions::new(2) };
        let old = begin(&sessions, 0..2, Duration::ZERO);
        begin(&sessions, 0..2, Duration::ZERO);
        let late = EVICTION_AGE + Duration::from_secs(1);
        assert_eq!(begin(&sessions, 0..4, late), NO_SESSION);
        assert_eq!((sessions.size(), sessions.evictions()), ((2, 4), 0));
        assert!(sessions.open(&request(old, 1, 0..0), 12, false, late).is_ok());
        assert_ne!(begin(&sessions, 0..3, late), NO_SESSION, "it takes the place of the other");
        assert_eq!((sessions.size(), sessions.evictions()), ((2, 5), 1));
    }

    #[test]
    fn sessions_hold_no_more_partitions_than_they_may() {
        let sessions = FetchSessions { partitions_max: 5, ..FetchSessions::new(10) };
        let now = Duration::ZERO;
        let open = |request: &FetchRequest| sessions.open(request, 12, false, now);
        let begin = |numbers| begin(&sessions, numbers, now);
        let (first, second) = (begin(0..2), begin(0..2));
        assert_ne!((first, second), (NO_SESSION, NO_SESSION));
        assert_eq!(begin(0..2), NO_SESSION, "it says everything each time");
        assert_eq!(open(&request(second, 1, 2..3)).unwrap().items.len(), 3);
        assert_eq!(sessions.size(), (2, 5));
        assert_eq!(open(&request(first, 1, 0..2)).unwrap().items.len(), 2, "it does not grow");
        let refused = open(&request(second, 2, 3..4)).unwrap_err();
        assert_eq!((refused, sessions.size()), (ErrorCode::FetchSessionIdNotFound, (1, 2)));
    }
}
