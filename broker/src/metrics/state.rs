//! How far a broker is between its start and its stop: Kafka's `BrokerState`.

use std::sync::atomic::{AtomicU8, Ordering};

/// By Kafka's numbers (`org.apache.kafka.metadata.BrokerState`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    Starting = 1,
    Recovery = 2,
    Running = 3,
    PendingControlledShutdown = 6,
    ShuttingDown = 7,
}

/// In the order of a life.
const ALL: [State; 5] = [
    State::Starting,
    State::Recovery,
    State::Running,
    State::PendingControlledShutdown,
    State::ShuttingDown,
];

impl State {
    pub fn number(self) -> u8 {
        self as u8
    }

    /// As Kafka writes it.
    pub fn name(self) -> &'static str {
        match self {
            State::Starting => "STARTING",
            State::Recovery => "RECOVERY",
            State::Running => "RUNNING",
            State::PendingControlledShutdown => "PENDING_CONTROLLED_SHUTDOWN",
            State::ShuttingDown => "SHUTTING_DOWN",
        }
    }

    /// What the broker is doing, for whoever waits for it.
    pub fn in_words(self) -> &'static str {
        match self {
            State::Starting => "the metadata log is being opened",
            State::Recovery => "the logs are being opened and checked",
            State::Running => "clients are served",
            State::PendingControlledShutdown => "the broker stops: what waits is being answered",
            State::ShuttingDown => "the broker stops: the logs are being closed",
        }
    }
}

/// The state of the moment.
#[derive(Debug)]
pub struct BrokerState(AtomicU8);

impl Default for BrokerState {
    fn default() -> BrokerState {
        BrokerState(AtomicU8::new(State::Starting.number()))
    }
}

impl BrokerState {
    pub fn get(&self) -> State {
        let number = self.0.load(Ordering::Acquire);
        // Only states are ever stored.
        ALL.into_iter().find(|state| state.number() == number).unwrap_or(State::Starting)
    }

    pub fn set(&self, state: State) {
        self.0.store(state.number(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_is_the_state() {
        let it = BrokerState::default();
        for state in ALL {
            it.set(state);
            assert_eq!(it.get(), state);
        }
    }
}
