//! One-way delays of received frames, in histograms shared by many hosts.

use stats::histogram::Histogram;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of hosts per histogram. One per host would dominate a host's memory and miss the cache at each arrival.
/// Neighbours mostly run on one thread, so the lock is rarely contended.
pub(crate) const HOSTS: u32 = 64;

/// Delays at all hosts. Their sum does not depend on the order in which they are added.
#[derive(Debug)]
pub(crate) struct AllDelays(Box<[Mutex<Histogram>]>);

impl AllDelays {
    /// Creates the histograms of `hosts` hosts.
    pub fn new(hosts: usize) -> Self {
        AllDelays((0..hosts.div_ceil(HOSTS as usize)).map(|_| Mutex::default()).collect())
    }

    /// Returns the histogram that counts delays at `host`.
    pub fn of(&self, host: u32) -> MutexGuard<'_, Histogram> {
        // A panic ends the run, and no update leaves a histogram inconsistent.
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
