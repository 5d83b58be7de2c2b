//! Samples of the lengths of output queues, for quantiles.

use fabric::NodeId;
use stats::histogram::Histogram;
use std::collections::BTreeMap;
use units::Time;
use units::random::{Stream, purpose};

/// The samples since the warm-up: one in each interval, at a random instant of it. At equal steps all samples of
/// periodic traffic could fall on the same moment of its period.
#[derive(Clone, Debug)]
pub(crate) struct QueueSamples {
    pub every: Time,
    random: Stream,
    /// Start of the interval of the next sample.
    interval: Time,
    next: Time,
    pub samples: u64,
    /// Of ports where something ever waited; a sample that found nothing is not in here.
    pub ports: BTreeMap<(NodeId, u16), Histogram>,
}

impl QueueSamples {
    /// One sample in each interval of `every`, at instants that depend on the seed of the run alone.
    pub fn new(every: Time, seed: u64) -> QueueSamples {
        let random = Stream::new(seed, 0, purpose("queue samples"));
        let mut samples =
            QueueSamples { every, random, interval: Time::ZERO, next: Time::ZERO, samples: 0, ports: BTreeMap::new() };
        samples.draw();
        samples
    }

    /// When the next sample is due.
    pub fn next(&self) -> Time {
        self.next
    }

    /// An instant within the interval, its end included.
    fn draw(&mut self) {
        let offset = Time::from_ps(1 + self.random.below(self.every.as_ps().max(1)));
        self.next = self.interval.saturating_add(offset);
    }

    /// The next sample is in the next interval.
    pub fn advance(&mut self) {
        self.interval = self.interval.saturating_add(self.every);
        self.draw();
    }

    /// The measured window begins: a sample that is due at the same instant is before it.
    pub fn reset(&mut self, now: Time) {
        (self.samples, self.ports) = (0, BTreeMap::new());
        if self.next <= now {
            self.advance();
        }
    }
}
