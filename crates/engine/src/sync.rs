//! Synchronisation primitives of the standard library, or of loom, which explores all interleavings
//! (`scripts/loom.sh`).

#[cfg(loom)]
pub(crate) use loom::{
    hint::spin_loop,
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread::{JoinHandle, spawn},
};
#[cfg(not(loom))]
pub(crate) use std::{
    hint::spin_loop,
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread::{JoinHandle, spawn},
};

/// Number of polls of an atomic before a thread sleeps: about two microseconds. A window of a busy network takes a
/// few times as long; longer spinning would waste a core that is shared with other processes.
pub(crate) const SPINS: u32 = if cfg!(any(loom, miri)) { 1 } else { 4_000 };
