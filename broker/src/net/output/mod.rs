//! From answers to the socket: small ones together in one write, ranges of files by `sendfile`,
//! and never a wait for a disk in the connection's own thread.

use crate::api::{FileRange, Piece};
use bytes::{Buf, Bytes, BytesMut};
use kraft::env::Stream;
use nix::libc::{MSG_MORE, MSG_NOSIGNAL};
use nix::sys::sendfile::sendfile64;
use socket2::SockRef;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::task::{JoinHandle, spawn_blocking};

/// Bytes that one `sendfile` is asked for, and after which another task of this thread gets its
/// turn. Each call ends in a segment that is not full and in a wake-up of the reader, so that a
/// few large ones cost half of what many small ones do.
const TURN_BYTES: usize = 1 << 20;

/// How far apart a range is asked whether it lies in the page cache.
const PROBE_BYTES: usize = 128 << 10;

/// A shorter range is cheaper to copy.
const COPY_BYTES_MAX: usize = 4 << 10;

/// Pieces of one write.
const PIECES_MAX: usize = 64;

/// How much of a cold range is read into the page cache at a time.
const WARM_BYTES: usize = 1 << 20;

/// Answers in their order, as far as they are not sent.
#[derive(Debug, Default)]
pub(super) struct Output {
    pieces: VecDeque<Piece>,
    /// Memory in `pieces`.
    unsent_bytes: usize,
    /// Ranges of files in `pieces`.
    files: usize,
    /// Up to where the range at the front is known to be in the page cache.
    warm_until: u64,
    warming: Option<(JoinHandle<io::Result<()>>, u64)>,
}

impl Output {
    pub(super) fn push(&mut self, pieces: Vec<Piece>) {
        for piece in pieces {
            let piece = match piece {
                Piece::File(range) if range.len <= COPY_BYTES_MAX => copied(range),
                Piece::File(_) | Piece::Bytes(_) => piece,
            };
            if piece.is_empty() {
                continue;
            }
            match &piece {
                Piece::Bytes(bytes) => self.unsent_bytes += bytes.len(),
                Piece::File(_) => self.files += 1,
            }
            self.pieces.push_back(piece);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(super) fn unsent_bytes(&self) -> usize {
        self.unsent_bytes
    }

    pub(super) fn holds_files(&self) -> bool {
        self.files != 0
    }

    /// Whether it is our disk that it waits for, and not the client.
    pub(super) fn waits_for_disk(&self) -> bool {
        self.warming.is_some()
    }

    /// Sends all of it. `moved` counts the bytes that went, also where it is not done.
    pub(super) fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut dyn Stream,
        moved: &mut usize,
    ) -> Poll<io::Result<()>> {
        let mut turn = 0;
        while let Some(front) = self.pieces.front() {
            if TURN_BYTES <= turn {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let count = match front {
                Piece::Bytes(_) => ready!(self.poll_bytes(cx, stream))?,
                Piece::File(_) => ready!(self.poll_file(cx, stream))?,
            };
            turn += count;
            *moved += count;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_bytes(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut dyn Stream,
    ) -> Poll<io::Result<usize>> {
        let count = match self.pieces.front() {
            // As nearly always, and cheaper so.
            Some(Piece::Bytes(bytes)) if self.pieces.len() == 1 => {
                ready!(Pin::new(stream).poll_write(cx, bytes))?
            }
            _ => ready!(self.poll_parts(cx, stream))?,
        };
        if count == 0 {
            return Poll::Ready(Err(ErrorKind::WriteZero.into()));
        }
        self.unsent_bytes -= count;
        let mut left = count;
        while let Some(Piece::Bytes(bytes)) = self.pieces.front_mut() {
            if left < bytes.len() {
                bytes.advance(left);
                break;
            }
            left -= bytes.len();
            self.pieces.pop_front();
        }
        Poll::Ready(Ok(count))
    }

    /// The bytes up to the first range, in one write.
    fn poll_parts(&self, cx: &mut Context<'_>, stream: &mut dyn Stream) -> Poll<io::Result<usize>> {
        let mut parts = [IoSlice::new(&[]); PIECES_MAX];
        let mut used = 0;
        for (part, piece) in parts.iter_mut().zip(&self.pieces) {
            let Piece::Bytes(bytes) = piece else { break };
            *part = IoSlice::new(bytes);
            used += 1;
        }
        let parts = parts.get(..used).unwrap_or_default();
        match (stream.socket(), self.pieces.get(used)) {
            (Some(socket), Some(_)) => poll_send_more(cx, socket, parts),
            _ => Pin::new(stream).poll_write_vectored(cx, parts),
        }
    }

    fn poll_file(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut dyn Stream,
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_warm(cx))?;
        let Some(Piece::File(range)) = self.pieces.front_mut() else {
            return Poll::Ready(Ok(0));
        };
        let count = match (stream.socket(), range.file.fd()) {
            (Some(socket), Some(_)) => ready!(poll_sendfile(cx, socket, range, self.warm_until))?,
            _ => return Poll::Ready(self.read_front().map(|()| 0)),
        };
        if count == 0 {
            return Poll::Ready(Err(turned_short()));
        }
        range.offset += count as u64;
        range.len = range.len.saturating_sub(count);
        if range.len == 0 {
            self.pieces.pop_front();
            self.files -= 1;
            self.warm_until = 0;
        }
        Poll::Ready(Ok(count))
    }

    /// Puts the bytes at the front in the place of their range: without a socket there is no
    /// `sendfile`.
    fn read_front(&mut self) -> io::Result<()> {
        let Some(Piece::File(range)) = self.pieces.front_mut() else {
            return Ok(());
        };
        let len = range.len.min(PROBE_BYTES);
        let bytes = read(range, len)?;
        range.offset += len as u64;
        range.len -= len;
        if range.len == 0 {
            self.pieces.pop_front();
            self.files -= 1;
            self.warm_until = 0;
        }
        self.unsent_bytes += bytes.len();
        self.pieces.push_front(Piece::Bytes(bytes));
        Ok(())
    }

    /// Ready when some of the range at the front, up to `warm_until`, can be sent without a wait
    /// for its device.
    fn poll_warm(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            if let Some((job, until)) = &mut self.warming {
                let (warmed, until) = (ready!(Pin::new(job).poll(cx)), *until);
                self.warming = None;
                warmed.map_err(io::Error::other)??;
                self.warm_until = until;
            }
            let Some(Piece::File(range)) = self.pieces.front() else {
                return Poll::Ready(Ok(()));
            };
            if range.file.fd().is_none() || range.offset < self.warm_until {
                return Poll::Ready(Ok(()));
            }
            // Right behind what was warm there is no page that a probe of the last would miss.
            let goes_on = 0 < self.warm_until && range.offset == self.warm_until;
            if goes_on || range.file.is_hot(range.offset)? {
                self.warm_until = hot_until(range)?;
            }
            if range.offset < self.warm_until {
                return Poll::Ready(Ok(()));
            }
            let (file, from, len) =
                (range.file.clone(), range.offset, range.len.min(WARM_BYTES) as u64);
            self.warming = Some((spawn_blocking(move || file.warm(from, len)), from + len));
        }
    }
}

/// Up to where the next turn of a range can be sent without a wait, its first page being hot.
fn hot_until(range: &FileRange) -> io::Result<u64> {
    let end = range.offset + range.len.min(TURN_BYTES) as u64;
    let mut until = range.offset;
    while until < end {
        let next = end.min(until + PROBE_BYTES as u64);
        if !range.file.is_hot(next - 1)? {
            break;
        }
        until = next;
    }
    Ok(until)
}

/// A short range as bytes, if it lies in memory.
fn copied(range: FileRange) -> Piece {
    let last = (range.offset + range.len as u64).saturating_sub(1);
    let is_hot = |at| range.file.is_hot(at).unwrap_or(false);
    let at_hand = range.file.fd().is_none() || (is_hot(range.offset) && is_hot(last));
    match at_hand.then(|| read(&range, range.len)) {
        Some(Ok(bytes)) => Piece::Bytes(bytes),
        // Sent later, and the same failure met there.
        Some(Err(_)) | None => Piece::File(range),
    }
}

fn read(range: &FileRange, len: usize) -> io::Result<Bytes> {
    let mut bytes = BytesMut::zeroed(len);
    range.file.read_exact_at(range.offset, &mut bytes)?;
    Ok(bytes.freeze())
}

/// The length of the range was promised to the client, so nothing but an end is left.
fn turned_short() -> io::Error {
    io::Error::new(ErrorKind::UnexpectedEof, "a file was cut while it was being sent")
}

/// Sends bytes that a range of a file follows: the kernel holds back what fills no segment.
fn poll_send_more(
    cx: &mut Context<'_>,
    socket: &TcpStream,
    parts: &[IoSlice<'_>],
) -> Poll<io::Result<usize>> {
    poll_socket(cx, socket, || {
        SockRef::from(socket).send_vectored_with_flags(parts, MSG_MORE | MSG_NOSIGNAL)
    })
}

/// Sends what is warm of a range, as far as the socket takes it.
fn poll_sendfile(
    cx: &mut Context<'_>,
    socket: &TcpStream,
    range: &FileRange,
    warm_until: u64,
) -> Poll<io::Result<usize>> {
    let mut offset = i64::try_from(range.offset).map_err(io::Error::other)?;
    let warm_bytes = usize::try_from(warm_until.saturating_sub(range.offset)).unwrap_or(usize::MAX);
    poll_socket(cx, socket, || {
        let file = range.file.fd().ok_or(ErrorKind::Unsupported)?;
        Ok(sendfile64(socket, file, Some(&mut offset), range.len.min(warm_bytes))?)
    })
}

fn poll_socket(
    cx: &mut Context<'_>,
    socket: &TcpStream,
    mut send: impl FnMut() -> io::Result<usize>,
) -> Poll<io::Result<usize>> {
    loop {
        ready!(socket.poll_write_ready(cx))?;
        match socket.try_io(Interest::WRITABLE, &mut send) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            sent => return Poll::Ready(sent),
        }
    }
}

#[cfg(test)]
mod tests;
