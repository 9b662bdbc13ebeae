//! Two images, compared.

use super::Image;
use super::delta::Delta;
use super::map::Change;

impl Image {
    /// What must be acted on to get from this image to `new`. Costs what differs, not what is there.
    pub fn delta_to(&self, new: &Image) -> Delta {
        let mut delta = Delta {
            configs: keys(self.configs.changes_to(&new.configs)),
            brokers: keys(self.brokers.changes_to(&new.brokers)),
            controllers: keys(self.controllers.changes_to(&new.controllers)),
            features: keys(self.features.changes_to(&new.features)),
            ..Delta::default()
        };
        for change in self.topics.changes_to(&new.topics) {
            match change {
                Change::Added(_, topic) => delta.created(topic),
                Change::Removed(_, topic) => delta.deleted(topic),
                Change::Changed(_, old, new) if old.id == new.id => delta.changed(old, new),
                Change::Changed(_, old, new) => {
                    delta.deleted(old);
                    delta.created(new);
                }
            }
        }
        delta
    }
}

fn keys<K: Clone, V>(changes: Vec<Change<'_, K, V>>) -> Vec<K> {
    let key = |change| match change {
        Change::Added(key, _) | Change::Removed(key, _) | Change::Changed(key, _, _) => key,
    };
    changes.into_iter().map(key).cloned().collect()
}
