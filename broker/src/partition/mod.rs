//! Partitions: the hot objects, their table, and what keeps them in order behind the requests.

pub mod checkpoints;
pub mod dir;
pub mod fault;
pub mod leader;
pub mod replica;
pub mod settings;
pub mod table;
pub mod upkeep;
pub mod waiters;

pub use dir::Dir;
pub use fault::Fault;
pub use leader::{ACKS_ALL, Rules, Term};
pub use replica::Partition;
pub use replica::read::{Ask, Isolation, Read};
pub use settings::Settings;
pub use table::{Offline, Place, Table, Topic};
pub use waiters::Wakeup;
