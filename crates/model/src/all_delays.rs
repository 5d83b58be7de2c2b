//! One-way delays of received frames, in histograms shared by many hosts.

use stats::histogram::Histogram;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of hosts per histogram. A histogram per host would need most of the memory of a host and cause a cache miss
/// at each arrival. Neighbouring hosts mostly run on the same thread, so the lock is rarely contended.
pub(crate) const HOSTS: u32 = 64;

/// Delays measured at all hosts. The merged histogram does not depend on the order of additions.
#[derive(Debug)]
pub(crate) struct AllDelays(Box<[Mutex<Histogram>]>);

impl AllDelays {
    /// Creates the histograms of `hosts` hosts.
    pub fn new(hosts: usize) -> Self {
        AllDelays((0..hosts.div_ceil(HOSTS as usize)).map(|_| Mutex::default()).collect())
    }

    /// Returns the histogram that counts delays at `host`.
    pub fn of(&self, host: u32) -> MutexGuard<'_, Histogram> {
        // A poisoned lock is safe to use: a panic ends the run, and an interrupted update does not leave the histogram
        // inconsistent.
        self.0[(host / HOSTS) as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds all delays, in picoseconds, to `total`.
    pub fn add_to(&self, total: &mut Histogram) {
        for histogram in &self.0 {
            total.merge(&histogram.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Clears all histograms.
    pub fn reset(&self) {
        for histogram in &self.0 {
            *histogram.lock().unwrap_or_else(PoisonError::into_inner) = Histogram::new();
        }
    }
}
