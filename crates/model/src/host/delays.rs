//! One-way delays of what a host received.

use stats::histogram::Histogram;
use units::Time;

/// How many delays wait before they are sorted into the histogram.
const BATCH: usize = 64;

/// A histogram that is filled in batches. A host receives a few frames per window, and between two windows
/// its histogram leaves the cache: one by one, each delay would cost a line from memory.
#[derive(Debug)]
pub(crate) struct Delays {
    recent: Vec<u64>,
    histogram: Histogram,
}

impl Delays {
    pub fn new() -> Self {
        Delays { recent: Vec::new(), histogram: Histogram::new() }
    }

    /// Counts one delay.
    #[inline]
    pub fn record(&mut self, delay: Time) {
        self.recent.push(delay.as_ps());
        if self.recent.len() == BATCH {
            self.sort_in();
        }
    }

    fn sort_in(&mut self) {
        for delay_ps in self.recent.drain(..) {
            self.histogram.record(delay_ps);
        }
    }

    /// Adds all delays, in ps, to `total`.
    pub fn add_to(&self, total: &mut Histogram) {
        total.merge(&self.histogram);
        self.recent.iter().for_each(|&delay_ps| total.record(delay_ps));
    }
}
