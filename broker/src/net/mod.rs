//! Sockets: who may connect, frames in, answers out in order, and what all of it may cost.

mod budget;
mod connection;
mod input;
mod limits;
mod listener;
mod output;
mod pace;
mod roster;
mod service;
mod told;

pub use budget::Budget;
pub use limits::Limits;
pub use listener::{Accepting, Closed, Opened, bind};
pub use roster::Roster;
pub use service::Service;
pub use told::{Gateways, Telling};
