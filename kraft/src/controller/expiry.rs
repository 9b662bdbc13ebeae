//! Brokers that were not heard of for a session are fenced.

use super::draft::Draft;
use super::election;
use super::state::State;
use crate::image::Image;
use crate::record::Record;
use std::time::Duration;

impl State {
    /// Fences every broker whose session has run out. To be asked at
    /// [`State::next_expiry`], and after it was elected.
    pub fn fence_expired(&mut self, image: &Image, now: Duration) -> Vec<Record> {
        let mut draft = Draft::of(image);
        for broker in image.brokers().values().filter(|broker| !broker.fenced) {
            self.session_of(broker, now);
            if !self.is_live(broker, now) {
                draft.append(election::fence(draft.image(), self, broker));
                self.sessions.remove(&broker.broker_id);
            }
        }
        draft.into_records()
    }

    /// When the next session of a broker that is not fenced runs out.
    pub fn next_expiry(&self, image: &Image) -> Option<Duration> {
        let open = image.brokers().values().filter(|broker| !broker.fenced);
        let contacts = open.filter_map(|broker| self.session(broker.broker_id));
        contacts.map(|session| session.last_contact.saturating_add(self.session_timeout)).min()
    }
}
