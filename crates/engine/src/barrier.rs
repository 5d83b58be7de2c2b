//! A barrier that spins briefly and then sleeps. A panic of one thread releases all others.

use crate::sync::{AtomicBool, AtomicUsize, Condvar, Mutex, Ordering, SPINS, spin_loop};
use std::sync::PoisonError;

#[derive(Debug)]
pub(crate) struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    generation: AtomicUsize,
    broken: AtomicBool,
    lock: Mutex<()>,
    wake: Condvar,
}

impl Barrier {
    pub(crate) fn new(threads: usize) -> Self {
        Barrier {
            threads,
            arrived: AtomicUsize::new(0),
            generation: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            lock: Mutex::new(()),
            wake: Condvar::new(),
        }
    }

    /// Waits for all threads. Returns false if one of them panicked; the caller must then end the run.
    pub(crate) fn wait(&self) -> bool {
        let generation = self.generation.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Release);
            // `arrived` is reset before the other threads are released, because they may arrive at the next barrier
            // at once.
            {
                // The generation changes under the lock, so that a thread that is about to sleep cannot miss it.
                let _guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
                self.generation.store(generation.wrapping_add(1), Ordering::Release);
            }
            self.wake.notify_all();
            return !self.broken.load(Ordering::Acquire);
        }
        for _ in 0..SPINS {
            if self.generation.load(Ordering::Acquire) != generation || self.broken.load(Ordering::Acquire) {
                return !self.broken.load(Ordering::Acquire);
            }
            spin_loop();
        }
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while self.generation.load(Ordering::Acquire) == generation && !self.broken.load(Ordering::Acquire) {
            guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        !self.broken.load(Ordering::Acquire)
    }

    fn shatter(&self) {
        let _guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.broken.store(true, Ordering::Release);
        self.wake.notify_all();
    }
}

/// Breaks the barrier when its thread unwinds, so that the other threads do not wait for ever.
pub(crate) struct Breaker<'a>(pub(crate) &'a Barrier);

impl Drop for Breaker<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.shatter();
        }
    }
}
