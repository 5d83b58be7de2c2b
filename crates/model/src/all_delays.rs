//! One-way delays of what hosts received, of many hosts together.

use stats::histogram::Histogram;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many hosts share a histogram: one for each host would be most of what it remembers, and out of the cache
/// whenever it receives something. Neighbours mostly run on the same thread, so nobody waits for the lock.
pub(crate) const HOSTS: u32 = 64;

/// The delays that all hosts have seen before. Whoever counts them, and in which order, changes nothing about their
/// sum.
#[derive(Debug)]
pub(crate) struct AllDelays(Box<[Mutex<Histogram>]>);

impl AllDelays {
    /// Of `hosts` hosts.
    pub fn new(hosts: usize) -> Self {
        AllDelays((0..hosts.div_ceil(HOSTS as usize)).map(|_| Mutex::default()).collect())
    }

    /// Where delays of what came to `host` are counted.
    pub fn of(&self, host: u32) -> MutexGuard<'_, Histogram> {
        // A thread that panicked ends the run; what it left here is whole.
        self.0[(host / HOSTS) as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds all delays, in ps, to `total`.
    pub fn add_to(&self, total: &mut Histogram) {
        for histogram in &self.0 {
            total.merge(&histogram.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Forgets all.
    pub fn reset(&self) {
        for histogram in &self.0 {
            *histogram.lock().unwrap_or_else(PoisonError::into_inner) = Histogram::new();
        }
    }
}
