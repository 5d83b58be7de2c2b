//! What threads meet by: the standard library's, or loom's, which tries every order (`scripts/loom.sh`).

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

/// How often a thread looks before it sleeps: about two microseconds, as windows of a busy network are a few of these
/// long, and a core that is shared with something else must not be burnt for longer.
pub(crate) const SPINS: u32 = if cfg!(any(loom, miri)) { 1 } else { 4_000 };
