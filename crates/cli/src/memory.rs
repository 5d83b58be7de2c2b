//! Memory that runs out is the machine's failure, exit code 3, like a full disk; without this it would be an abort.

#![allow(
    unsafe_code,
    reason = "an allocator is an unsafe trait, and stable Rust has no other way to say what a failed allocation does"
)]

use crate::exit::Exit;
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;

struct Memory;

#[global_allocator]
static MEMORY: Memory = Memory;

// SAFETY: every call is handed to the system's allocator as it came, and so is its answer, except that none is null.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        given(unsafe { System.alloc(layout) }, layout.size())
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { System.realloc(place, layout, size) }, size)
    }
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
}

fn given(place: *mut u8, bytes: usize) -> *mut u8 {
    if place.is_null() {
        exhausted(bytes);
    }
    place
}

/// Nothing in here may allocate.
#[cold]
fn exhausted(bytes: usize) -> ! {
    let _ = writeln!(std::io::stderr(), "error: no memory left: {bytes} bytes more were needed");
    std::process::exit(Exit::Machine.code().into());
}
