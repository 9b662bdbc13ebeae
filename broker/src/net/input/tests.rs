//! Frames out of a stream that is cut anywhere.

use super::*;
use std::io;
use std::task::Waker;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Gives so many bytes a read, then nothing yet.
#[derive(Debug)]
struct Trickle {
    bytes: Vec<u8>,
    at: usize,
    step: usize,
}

impl AsyncRead for Trickle {
    fn poll_read(
        mut self: std::pin::Pin<&mut Self>,
        _cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let count = self.step.min(self.bytes.len() - self.at).min(into.remaining());
        if count == 0 {
            return Poll::Pending;
        }
        into.put_slice(&self.bytes[self.at..self.at + count]);
        self.at += count;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Trickle {
    fn poll_write(
        self: std::pin::Pin<&mut Self>,
        _cx: &mut Context<'_>,
        _bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Pending
    }
    fn poll_flush(self: std::pin::Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }
    fn poll_shutdown(
        self: std::pin::Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

impl Stream for Trickle {
    fn socket(&self) -> Option<&TcpStream> {
        None
    }
}

fn input(budget: &Arc<Budget>) -> Input {
    Input::new(Arc::clone(budget), Arc::default())
}

/// A frame of `key` with a body of `size - 2` bytes, and its length before it.
fn frame(key: i16, size: usize) -> Vec<u8> {
    let mut frame = i32::try_from(size).unwrap().to_be_bytes().to_vec();
    frame.extend(key.to_be_bytes());
    let byte = |at: usize| u8::try_from(at % 251).unwrap();
    frame.extend((2..size).map(byte));
    frame
}

/// Reads until nothing more comes; the frames, or the refusal that ends it.
fn read(input: &mut Input, bytes: &[u8], step: usize) -> Result<Vec<Bytes>, Refusal> {
    let mut stream = Trickle { bytes: bytes.to_vec(), at: 0, step };
    let mut frames = Vec::new();
    let cx = &mut Context::from_waker(Waker::noop());
    loop {
        while let Some(frame) = input.next()? {
            frames.push(frame);
        }
        if input.poll_fill(cx, &mut stream).is_pending() {
            return Ok(frames);
        }
    }
}

#[test]
fn frames_come_out_whole_however_they_are_cut() {
    let frame = |size| if size == 1 { vec![0, 0, 0, 1, 0] } else { frame(0, size) };
    let small: &[usize] = &[1, 2, 8, 100, 5000, 1, 70_000];
    let all: &[usize] = &[1, 300_000, 2, 2_000_000, 3, 900_000, 900_000, 70_000];
    for (sizes, steps) in [(small, &[1, 2, 3, 5, 7][..]), (all, &[1000, 4096, 65_537, usize::MAX])]
    {
        let wire: Vec<u8> = sizes.iter().flat_map(|&size| frame(size)).collect();
        for &step in steps {
            let mut input = input(&Budget::new(10 << 20));
            let frames = read(&mut input, &wire, step).unwrap();
            assert_eq!(frames.len(), sizes.len(), "in steps of {step}");
            for (got, &size) in frames.iter().zip(sizes) {
                assert!(*got == frame(size)[4..], "{size} bytes in steps of {step}");
            }
        }
    }
}

#[test]
fn a_length_that_is_no_length_is_refused() {
    for size in [0, -1, i32::MIN, i32::MAX, (100 << 20) + 1] {
        let got = read(&mut input(&Budget::new(1 << 20)), &size.to_be_bytes(), 4);
        assert_eq!(got.unwrap_err(), Refusal::Length(size));
    }
}

#[test]
fn only_produce_may_be_as_long_as_the_limit() {
    let size = FRAME_BYTES_MAX_NOT_PRODUCE + 1;
    let head = |key: i16| frame(key, size)[..6].to_vec();
    let refused = read(&mut input(&Budget::new(1 << 20)), &head(3), 6).unwrap_err();
    assert_eq!(refused, Refusal::TooLongFor { key: 3, bytes: size });
    assert_eq!(read(&mut input(&Budget::new(1 << 20)), &head(0), 6).unwrap().len(), 0);
}

#[test]
fn a_claimed_length_costs_nothing_until_its_bytes_come() {
    let budget = Budget::new(10 << 20);
    let mut input = input(&budget);
    read(&mut input, &frame(0, 50 << 20)[..6], 6).unwrap();
    assert_eq!(budget.used_bytes(), CHARGE_BYTES);
    read(&mut input, &[0; 3 << 20], 1 << 20).unwrap();
    assert_eq!(budget.used_bytes(), (3 << 20) + CHARGE_BYTES);
    drop(input);
    assert_eq!(budget.used_bytes(), 0);
}

#[test]
fn a_length_alone_costs_a_first_buffer_whatever_it_claims() {
    let wire = frame(0, 50 << 20);
    for cut in [4, 5] {
        let budget = Budget::new(100 << 20);
        let mut input = input(&budget);
        assert_eq!(read(&mut input, &wire[..cut], cut).unwrap().len(), 0);
        assert!(input.buffer.capacity() <= READ_AHEAD_BYTES_FIRST, "{}", input.buffer.capacity());
        assert_eq!(read(&mut input, &wire[cut..1 << 20], 1 << 20).unwrap().len(), 0);
        assert!(input.buffer.capacity() <= READ_AHEAD_BYTES_FIRST && input.holds_large());
        let frames = read(&mut input, &wire[1 << 20..], 1 << 20).unwrap();
        assert!(frames[0] == wire[4..], "it comes whole");
    }
}

#[test]
fn a_large_frame_holds_its_charge_until_its_last_slice_is_gone() {
    let budget = Budget::new(10 << 20);
    let mut input = input(&budget);
    let frames = read(&mut input, &frame(0, 2 << 20), usize::MAX).unwrap();
    let slice = frames[0].slice(..10);
    drop((input, frames));
    assert_eq!(budget.used_bytes(), 2 << 20);
    drop(slice);
    assert_eq!(budget.used_bytes(), 0);
}

#[test]
fn what_carries_no_records_is_charged_for_what_it_decodes_to() {
    let budget = Budget::new(1 << 30);
    let mut input = input(&budget);
    let frames = read(&mut input, &frame(3, 2 << 20), usize::MAX).unwrap();
    assert_eq!((frames.len(), budget.used_bytes()), (1, CHARGE_NOT_PRODUCE << 21));
}

#[test]
fn an_idle_connection_gives_its_buffer_back_and_loses_nothing() {
    let budget = Budget::new(10 << 20);
    let mut input = input(&budget);
    let wire = frame(0, 900_000);
    read(&mut input, &wire, usize::MAX).unwrap();
    assert_eq!(budget.used_bytes(), 1 << 20);
    assert_eq!(read(&mut input, &wire[..100], 100).unwrap().len(), 0);
    input.rest();
    assert!(input.is_resting());
    assert_eq!((budget.used_bytes(), input.buffer.capacity()), (0, 100));
    let frames = read(&mut input, &wire[100..], usize::MAX).unwrap();
    assert_eq!(frames[0], wire[4..]);
}

#[test]
fn a_slow_frame_is_told_only_while_others_wait() {
    let budget = Budget::new(1 << 20);
    let [mut slow, mut above, mut other] = std::array::from_fn(|_| input(&budget));
    read(&mut slow, &frame(0, 2 << 20)[..300_000], usize::MAX).unwrap();
    assert!((0..9).all(|_| !slow.stalls()), "nobody waits");
    read(&mut above, &frame(0, 2 << 20)[..2 << 19], usize::MAX).unwrap();
    read(&mut other, &frame(0, 2 << 20)[..2 << 19], usize::MAX).unwrap();
    assert!(slow.stalls() && budget.is_short());
    assert!((0..9).all(|_| !other.stalls()), "who waits is not slow");
    read(&mut slow, &[0; STALL_BYTES], usize::MAX).unwrap();
    assert!(!slow.stalls() && !slow.stalls() && !slow.stalls() && slow.stalls());
}

#[test]
fn a_connection_with_a_large_frame_does_not_rest() {
    let mut input = input(&Budget::new(1 << 20));
    assert!(input.is_resting());
    read(&mut input, &frame(0, 2 << 20)[..6], usize::MAX).unwrap();
    assert!(!input.is_resting());
}
