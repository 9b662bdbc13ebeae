//! Which log comes next when one cannot be cleaned.

use super::*;
use crate::config::{BrokerConfig, Given};
use crate::partition::leader::ACKS_LEADER;
use crate::partition::replica::tests::{dir, leading, opening, rules};
use crate::partition::table::{Place, Topic};
use kraft::env::os;
use protocol::ids::Uuid;
use protocol::records::builder::BatchBuilder;
use storage::checkpoint::RECOVERY_POINT;
use storage::disk::Disk;
use storage::disk::sim::{Fault, Operation, SimDisk};
use storage::log::{Log, LogConfig, Open};

/// Three logs that are due, all as dirty.
fn due() -> (Cleaner, SimDisk) {
    let sim = SimDisk::default();
    let disk: Arc<dyn Disk> = Arc::new(sim.clone());
    let (dir, table) = (dir(&disk), Arc::<Table>::default());
    let config = Arc::new(LogConfig { compact: true, segment_bytes: 500, ..LogConfig::default() });
    for (topic, id) in [("a", 2), ("b", 3), ("c", 4)] {
        let id = Uuid([id; 16]);
        let open = Open { config: Arc::clone(&config), ..opening(&disk, &dir, topic) };
        let log = Log::open(open).unwrap().0;
        let partition = leading(Arc::clone(&dir), topic, id, log, rules(false));
        for _ in 0..5 {
            let batch = BatchBuilder::new(0).key_value(0, b"k", &[0; 300]).build().unwrap();
            partition.append(batch, ACKS_LEADER, 0).unwrap();
        }
        table.change(vec![Topic::new(topic.into(), id, vec![(0, Place::Open(partition))])], &[]);
    }
    let env = Env { disk, ..os::env() };
    let config = DynamicConfig::new(BrokerConfig::of(Given::standalone(), "localhost").unwrap());
    (Cleaner::new(&env, table, [dir].into(), Arc::default(), config), sim)
}

#[test]
fn a_log_that_cannot_be_cleaned_is_passed_over_until_the_next_round() {
    let (cleaner, disk) = due();
    let first = cleaner.claim().unwrap().0;
    cleaner.state.lock().progress.release(&first);
    let is_clean = || cleaner.state.lock().progress.clean_to(&first).is_some();
    let below = first.dir.path.join(format!("{RECOVERY_POINT}.tmp"));
    // Before the pass begins, and in it.
    disk.fail(Fault { below, os_error: 24, ..Fault::eio(Operation::Create) });
    let below = first.dir.log_dir().unwrap().partition_path(&first.name());
    assert!(cleaner.clean_next(), "the next one is");
    assert!(!is_clean());
    disk.fail(Fault { below: below.clone(), os_error: 28, ..Fault::eio(Operation::Create) });
    assert!(cleaner.clean_next(), "so is the third");
    assert!(!cleaner.clean_next() && !is_clean(), "no other is due");
    assert!(!cleaner.clean_next(), "now it was tried, and there was no room");
    assert!(cleaner.clean_next() && is_clean());
    assert_eq!(first.dir.failure(), None);
}
