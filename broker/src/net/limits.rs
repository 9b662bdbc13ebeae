//! What one listener allows its connections.

use indexmap::IndexMap;
use std::net::IpAddr;
use std::time::Duration;

/// The largest frame of a request that carries no records. Decoded, such a frame takes up to 36
/// times its size, so the cap of Produce would be none.
pub(super) const FRAME_BYTES_MAX_NOT_PRODUCE: usize = 8 << 20;

/// How often its size a frame without records is charged to the budget, for what it decodes to.
pub(super) const CHARGE_NOT_PRODUCE: usize = 16;

/// What a connection starts with: most only ever ask small things.
pub(super) const READ_AHEAD_BYTES_FIRST: usize = 4 << 10;

/// Requests of one connection that are started and not answered.
pub(super) const IN_FLIGHT_MAX: usize = 256;

/// Bytes of answers that wait for the socket, above which no further request starts.
pub(super) const UNSENT_BYTES_MAX: usize = 256 << 10;

/// Requests that are started before the answers so far are sent.
pub(super) const BURST_MAX: usize = 64;

/// How often a connection looks after itself, at most: gives back the read-ahead buffer that it
/// did not use since, and counts how long nothing moved.
const PERIOD_MAX: Duration = Duration::from_secs(5);

/// A frame that holds budget while others wait for it may be so slow for so many periods, each
/// half of the stall timeout. The first is cut by the frame's beginning.
pub(super) const STALL_PERIODS: u32 = 3;

/// Received in that time, it is not slow.
pub(super) const STALL_BYTES: usize = 64 << 10;

/// The limits of one listener, from its config.
#[derive(Clone, Debug)]
pub struct Limits {
    /// `socket.request.max.bytes`.
    pub request_bytes_max: usize,
    /// `highwater.read.ahead.bytes`: for a connection that sends little. A frame up to this size
    /// never waits for memory.
    pub read_ahead_bytes: usize,
    /// `highwater.read.ahead.max.bytes`: for one that sends more, while there is memory for it.
    pub read_ahead_bytes_max: usize,
    /// `highwater.request.stall.timeout.ms`.
    pub stall_max: Duration,
    /// `connections.max.idle.ms`: nothing was read or written for so long.
    pub idle_max: Duration,
    /// `max.connections` of the listener; that of the broker is the [`super::Roster`]'s.
    pub connections_max: usize,
    /// `max.connection.creation.rate` of the listener; `u32::MAX`: any number.
    pub connections_per_second_max: u32,
    /// `max.connections.per.ip`.
    pub connections_per_ip_max: usize,
    /// `max.connections.per.ip.overrides`, the names in it resolved.
    pub connections_per_ip_overrides: IndexMap<IpAddr, usize>,
    /// `socket.send.buffer.bytes`, where it was set: the kernel's own sizing serves better.
    pub send_buffer_bytes: Option<usize>,
    /// `socket.receive.buffer.bytes`, likewise.
    pub receive_buffer_bytes: Option<usize>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            request_bytes_max: 100 << 20,
            read_ahead_bytes: 256 << 10,
            read_ahead_bytes_max: 1 << 20,
            stall_max: Duration::from_secs(10),
            idle_max: Duration::from_mins(10),
            connections_max: usize::MAX,
            connections_per_second_max: u32::MAX,
            connections_per_ip_max: usize::MAX,
            connections_per_ip_overrides: IndexMap::new(),
            send_buffer_bytes: None,
            receive_buffer_bytes: None,
        }
    }
}

impl Limits {
    pub(super) fn period(&self) -> Duration {
        PERIOD_MAX.min(self.stall_max / 2).min(self.idle_max)
    }

    pub(super) fn connections_of(&self, ip: IpAddr) -> usize {
        self.connections_per_ip_overrides.get(&ip).copied().unwrap_or(self.connections_per_ip_max)
    }
}
