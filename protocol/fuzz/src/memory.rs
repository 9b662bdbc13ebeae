//! How much memory a decoder takes: what it asks for, and what it touches.

use nix::sys::resource::{UsageWho, getrusage};
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use tikv_jemallocator::Jemalloc;

/// An input may make the process grow by so many bytes for each of its own,
const TOUCHED_PER_BYTE: usize = 64;
/// and by this once.
const TOUCHED_ONCE: usize = 64 << 20;

/// The allocator of the broker, counting. The codec of the messages asks for whatever count a
/// frame claims; jemalloc reserves that and touches none of it.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: usize, sign: isize) {
    let held = HELD.get().wrapping_add(bytes.cast_signed().wrapping_mul(sign));
    HELD.set(held);
    MOST.set(MOST.get().max(held));
}

#[expect(unsafe_code, reason = "an allocator is unsafe by its trait")]
// SAFETY: every call goes to jemalloc as it is; beside it only numbers are changed.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: the caller's promise is the one that jemalloc asks for.
        unsafe { Jemalloc.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: as above.
        unsafe { Jemalloc.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(layout.size(), -1);
        count(size, 1);
        // SAFETY: as above.
        unsafe { Jemalloc.realloc(at, layout, size) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(layout.size(), -1);
        // SAFETY: as above.
        unsafe { Jemalloc.dealloc(at, layout) }
    }
}

/// What `run` returns, and the most bytes that it held at a time on this thread.
pub fn counted<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    MOST.set(before);
    let out = run();
    (out, usize::try_from(MOST.get() - before).expect("more is held than before"))
}

/// Runs `target`, and sees to it that the process does not grow beyond measure.
pub fn bounded(bytes: &[u8], target: fn(&[u8])) {
    let before = touched();
    target(bytes);
    let grown = touched() - before;
    let most = TOUCHED_PER_BYTE * bytes.len() + TOUCHED_ONCE;
    assert!(grown <= most, "{grown} bytes touched for {}", bytes.len());
}

/// The most bytes that the process has had in memory so far.
fn touched() -> usize {
    let kib = getrusage(UsageWho::RUSAGE_SELF).expect("the kernel counts").max_rss();
    usize::try_from(kib).expect("memory is positive") * 1024
}
