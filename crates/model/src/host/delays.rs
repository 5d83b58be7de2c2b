//! One-way delays of what hosts received.

use stats::histogram::Histogram;
use std::sync::{Mutex, MutexGuard, PoisonError};
use units::Time;

/// How many delays wait before they are sorted into a histogram.
const BATCH: usize = 16;

/// How many hosts share a histogram: one for each host would be most of what it remembers, and out of the cache
/// whenever it receives something. Neighbours mostly run on the same thread, so nobody waits for the lock.
const HOSTS: u32 = 64;

/// The delays that a host has seen last.
#[derive(Debug, Default)]
pub(crate) struct Delays {
    recent: Vec<u64>,
}

/// The delays that all hosts have seen before. Whoever counts them, and in which order, changes nothing about their
/// sum.
#[derive(Debug)]
pub(crate) struct AllDelays(Box<[Mutex<Histogram>]>);

impl AllDelays {
    /// Of `hosts` hosts.
    pub fn new(hosts: usize) -> Self {
        AllDelays((0..hosts.div_ceil(HOSTS as usize)).map(|_| Mutex::default()).collect())
    }

    fn of(&self, host: u32) -> MutexGuard<'_, Histogram> {
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

impl Delays {
    /// Counts one delay of what came to `host`.
    #[inline]
    pub fn record(&mut self, delay: Time, host: u32, all: &AllDelays) {
        self.recent.push(delay.as_ps());
        if self.recent.len() == BATCH {
            self.sort_in(&mut all.of(host));
        }
    }

    // Apart: once for a batch.
    #[inline(never)]
    fn sort_in(&mut self, histogram: &mut Histogram) {
        for delay_ps in self.recent.drain(..) {
            histogram.record(delay_ps);
        }
    }

    /// Adds the delays that are not among [`AllDelays`] yet, in ps, to `total`.
    pub fn add_to(&self, total: &mut Histogram) {
        self.recent.iter().for_each(|&delay_ps| total.record(delay_ps));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    #[test]
    fn hosts_together_saw_what_each_of_them_saw() {
        const ALL: u32 = 3 * HOSTS + 1;
        let mut random = Stream::new(9, 0, 0);
        let (all, mut expected) = (AllDelays::new(ALL as usize), Histogram::new());
        let mut hosts: Vec<Delays> = (0..ALL).map(|_| Delays::default()).collect();
        for _ in 0..20_000 {
            let (host, delay_ps) = (random.below(u64::from(ALL)) as u32, 1 + random.below(1 << 30));
            hosts[host as usize].record(Time::from_ps(delay_ps), host, &all);
            expected.record(delay_ps);
        }
        let mut total = Histogram::new();
        all.add_to(&mut total);
        assert!(total.count() < expected.count(), "some wait to be sorted");
        hosts.iter().for_each(|host| host.add_to(&mut total));
        assert_eq!(total, expected);
        all.reset();
        let mut total = Histogram::new();
        all.add_to(&mut total);
        assert_eq!(total, Histogram::new());
    }
}
