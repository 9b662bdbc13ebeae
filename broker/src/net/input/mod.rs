//! From the socket to frames: one read-ahead buffer, of which the frames are slices, and for a
//! frame that does not fit in it, memory of its own that the budget was charged for.

use super::budget::{Budget, Lease};
use super::limits::{
    CHARGE_NOT_PRODUCE, FRAME_BYTES_MAX_NOT_PRODUCE, Limits, READ_AHEAD_BYTES_FIRST, STALL_BYTES,
    STALL_PERIODS,
};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use kraft::env::Stream;
use protocol::messages::ApiKey;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncReadExt;

/// A frame that is not read, and why.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Below 1, or above `socket.request.max.bytes`.
    Length(i32),
    /// More than a request without records may have.
    TooLongFor { key: i16, bytes: usize },
    /// The machine has no addresses left for it.
    NoMemory(usize),
}

/// What has come and was not taken yet.
#[derive(Debug)]
pub(super) struct Input {
    buffer: BytesMut,
    /// The size of the next buffer.
    ahead_bytes: usize,
    /// What the budget gave for more than `read_ahead_bytes`.
    loaded: Option<Lease>,
    large: Option<Large>,
    budget: Arc<Budget>,
    limits: Arc<Limits>,
}

/// A frame that is longer than the read-ahead buffer, on its way in.
#[derive(Debug)]
struct Large {
    /// Reserved whole; the system gives memory as it is written.
    bytes: Vec<u8>,
    size: usize,
    charged: usize,
    charge_factor: usize,
    lease: Lease,
    /// Bytes received when it was last seen to get on, and how many periods ago that was.
    mark: usize,
    slow_periods: u32,
}

/// How much is charged at a time.
const CHARGE_BYTES: usize = 256 << 10;

impl Input {
    pub(super) fn new(budget: Arc<Budget>, limits: Arc<Limits>) -> Input {
        Input {
            buffer: BytesMut::new(),
            ahead_bytes: READ_AHEAD_BYTES_FIRST,
            loaded: None,
            large: None,
            budget,
            limits,
        }
    }

    /// The next frame, without its length, if it is there whole.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, Refusal> {
        if let Some(large) = self.large.take_if(|large| large.bytes.len() == large.size) {
            return Ok(Some(Bytes::from_owner(Leased { bytes: large.bytes, _lease: large.lease })));
        }
        let Some(size) = self.size()?.filter(|_| self.large.is_none()) else {
            return Ok(None);
        };
        if size <= self.buffer.len() - 4 {
            self.buffer.advance(4);
            return Ok(Some(self.buffer.split_to(size).freeze()));
        }
        let key = self.buffer.get(4..6).and_then(<[u8]>::first_chunk).copied();
        if let Some(key) = key.map(i16::from_be_bytes) {
            let carries_records = key == ApiKey::Produce.code();
            if !carries_records && FRAME_BYTES_MAX_NOT_PRODUCE < size {
                return Err(Refusal::TooLongFor { key, bytes: size });
            }
            if !self.reads_ahead(size + 4) {
                self.set_apart(size, if carries_records { 1 } else { CHARGE_NOT_PRODUCE })?;
            }
        }
        Ok(None)
    }

    /// The length that the frame at the front claims.
    fn size(&self) -> Result<Option<usize>, Refusal> {
        let Some(size) = self.buffer.first_chunk() else {
            return Ok(None);
        };
        let size = i32::from_be_bytes(*size);
        let within = |size: &usize| (1..=self.limits.request_bytes_max).contains(size);
        usize::try_from(size).ok().filter(within).map(Some).ok_or(Refusal::Length(size))
    }

    /// Whether the read-ahead buffer may grow to `bytes`.
    fn reads_ahead(&mut self, bytes: usize) -> bool {
        let Limits { read_ahead_bytes: usual, read_ahead_bytes_max: max, .. } = *self.limits;
        if usual < bytes && bytes <= max && self.loaded.is_none() {
            let mut lease = self.budget.lease();
            self.loaded = lease.try_take(max).then_some(lease);
        }
        let most = if self.loaded.is_some() { max } else { usual };
        let fits = bytes <= most;
        if fits && self.ahead_bytes < bytes {
            self.ahead_bytes = bytes.next_power_of_two().min(most);
        }
        fits
    }

    /// Gives the frame at the front, of which only a part has come, memory of its own.
    fn set_apart(&mut self, size: usize, charge_factor: usize) -> Result<(), Refusal> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).map_err(|_| Refusal::NoMemory(size))?;
        self.buffer.advance(4);
        bytes.put_slice(&self.buffer);
        self.buffer.clear();
        let (lease, mark) = (self.budget.lease(), bytes.len());
        let (charged, slow_periods) = (0, 0);
        self.large = Some(Large { bytes, size, charged, charge_factor, lease, mark, slow_periods });
        Ok(())
    }

    /// Reads once, as much as there is room for; 0 is the end of the stream. Call when
    /// [`Input::next`] has nothing.
    pub(super) fn poll_fill(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut dyn Stream,
    ) -> Poll<io::Result<usize>> {
        if let Some(large) = &mut self.large {
            return large.poll_fill(cx, stream);
        }
        if self.buffer.capacity() == 0
            && let Some(socket) = stream.socket()
        {
            ready!(socket.poll_read_ready(cx))?; // Whoever says nothing costs no buffer.
        }
        self.make_room();
        let room = self.buffer.capacity() - self.buffer.len();
        let count = ready!(pin!(stream.read_buf(&mut self.buffer)).poll(cx))?;
        if count == room && self.ahead_bytes <= room.saturating_mul(2) {
            self.reads_ahead((self.ahead_bytes * 4).min(self.limits.read_ahead_bytes_max));
        }
        Poll::Ready(Ok(count))
    }

    /// Room for the rest of the frame at the front, and for what may come behind it.
    fn make_room(&mut self) {
        let len = self.buffer.len();
        let room = self.buffer.capacity() - len;
        // No more than the read-ahead, whatever is claimed: of whom only the length has come, it is
        // not known yet whether the rest may.
        let whole = self.size().ok().flatten().map_or(0, |size| size + 4).min(self.ahead_bytes);
        let missing =
            whole.saturating_sub(len).max(if len == 0 { self.ahead_bytes / 2 } else { 1 });
        let wanted = self.ahead_bytes.max(whole) - len.min(self.ahead_bytes);
        if missing <= room || self.buffer.try_reclaim(wanted.max(missing)) {
            return;
        }
        // Not `reserve`: it would double what a slice of a frame keeps alive.
        let mut fresh = BytesMut::with_capacity(self.ahead_bytes.max(whole).max(len + missing));
        fresh.extend_from_slice(&self.buffer);
        self.buffer = fresh;
    }

    /// Gives back what an idle connection does not need.
    pub(super) fn rest(&mut self) {
        self.loaded = None;
        self.ahead_bytes = READ_AHEAD_BYTES_FIRST;
        if self.buffer.capacity() != 0 {
            self.buffer = BytesMut::from(&*self.buffer);
        }
    }

    /// Whether nothing is to be seen to before more comes.
    pub(super) fn is_resting(&self) -> bool {
        let is_small = self.buffer.capacity() <= READ_AHEAD_BYTES_FIRST;
        is_small && self.loaded.is_none() && self.large.is_none()
    }

    /// Call when nothing is read for now, so that whoever waits behind this one may go first.
    pub(super) fn step_aside(&self) {
        if let Some(large) = &self.large {
            large.lease.step_aside();
        }
    }

    /// Call when nothing more comes: a part of a large frame will never be a whole one.
    pub(super) fn give_up_part(&mut self) {
        drop(self.large.take_if(|large| large.bytes.len() < large.size));
    }

    /// Call when no frame is asked for any more.
    pub(super) fn give_up(&mut self) {
        (self.large, self.loaded, self.buffer) = (None, None, BytesMut::new());
    }

    /// Whether a frame has come in part, or was not taken.
    pub(super) fn is_within_frame(&self) -> bool {
        !self.buffer.is_empty() || self.large.is_some()
    }

    pub(super) fn holds_large(&self) -> bool {
        self.large.is_some()
    }

    /// Whether the frame that is to be read next waits for memory itself.
    pub(super) fn waits_for_memory(&self) -> bool {
        self.large.as_ref().is_some_and(Large::waits_for_memory)
    }

    /// Whether others wait for memory.
    pub(super) fn is_contended(&self) -> bool {
        self.budget.is_short()
    }

    /// Called once a period: whether a frame that holds budget does not get on, while others wait.
    pub(super) fn stalls(&mut self) -> bool {
        let Some(large) = &mut self.large else {
            return false;
        };
        if large.waits_for_memory() || STALL_BYTES <= large.bytes.len() - large.mark {
            (large.mark, large.slow_periods) = (large.bytes.len(), 0);
        } else {
            large.slow_periods += 1;
        }
        STALL_PERIODS <= large.slow_periods && large.lease.is_contended()
    }
}

impl Large {
    fn waits_for_memory(&self) -> bool {
        self.charged <= self.bytes.len()
    }

    fn poll_fill(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut dyn Stream,
    ) -> Poll<io::Result<usize>> {
        while self.waits_for_memory() {
            let more = CHARGE_BYTES.min(self.size - self.charged);
            ready!(self.lease.poll_take(cx, more * self.charge_factor));
            self.charged += more;
        }
        let room = self.charged - self.bytes.len();
        let mut room = (&mut self.bytes).limit(room);
        pin!(stream.read_buf(&mut room)).poll(cx)
    }
}

/// A large frame; the budget is given back with its last slice.
struct Leased {
    bytes: Vec<u8>,
    _lease: Lease,
}

impl AsRef<[u8]> for Leased {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests;
