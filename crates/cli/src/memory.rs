//! Global allocator that exits with code 3 (machine failure, like a full disk) instead of aborting when memory is
//! exhausted.

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

// SAFETY: every call is forwarded unchanged to the system allocator, and its result is returned unless it is null.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's guarantees are those that the system allocator requires.
        given(unsafe { System.alloc(layout) }, layout.size())
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's guarantees are those that the system allocator requires.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's guarantees are those that the system allocator requires.
        given(unsafe { System.realloc(pointer, layout, size) }, size)
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's guarantees are those that the system allocator requires.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn given(pointer: *mut u8, bytes: usize) -> *mut u8 {
    if pointer.is_null() {
        exhausted(bytes);
    }
    pointer
}

/// Reports that memory is exhausted and exits; it must not allocate itself.
#[cold]
fn exhausted(bytes: usize) -> ! {
    let _ = writeln!(std::io::stderr(), "error: no memory left: {bytes} bytes more were needed");
    std::process::exit(Exit::Machine.code().into());
}
