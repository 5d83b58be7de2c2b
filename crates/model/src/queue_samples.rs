//! Samples of output queue lengths, for quantiles.

use fabric::NodeId;
use stats::histogram::Histogram;
use std::collections::BTreeMap;
use units::Time;
use units::random::{Stream, purpose};

/// Sampler of queue lengths after the warm-up: one sample per interval, at a random instant within the interval
/// (stratified sampling), because periodic sampling would alias with periodic traffic.
#[derive(Clone, Debug)]
pub(crate) struct QueueSamples {
    pub every: Time,
    random: Stream,
    /// Start of the interval of the next sample.
    interval: Time,
    next: Time,
    pub samples: u64,
    /// Samples of ports with a backlog. Samples of empty queues are not stored.
    pub ports: BTreeMap<(NodeId, u16), Histogram>,
}

impl QueueSamples {
    /// Creates a sampler with one sample per `every`. The instants depend only on the seed.
    pub fn new(every: Time, seed: u64) -> QueueSamples {
        let random = Stream::new(seed, 0, purpose("queue samples"));
        let mut samples =
            QueueSamples { every, random, interval: Time::ZERO, next: Time::ZERO, samples: 0, ports: BTreeMap::new() };
        samples.draw();
        samples
    }

    /// Returns the time of the next sample.
    pub fn next(&self) -> Time {
        self.next
    }

    /// Draws the sampling instant uniformly from the interval, excluding its start and including its end.
    fn draw(&mut self) {
        let offset = Time::from_ps(1 + self.random.below(self.every.as_ps().max(1)));
        self.next = self.interval.saturating_add(offset);
    }

    /// Advances to the next interval and draws its sampling instant.
    pub fn advance(&mut self) {
        self.interval = self.interval.saturating_add(self.every);
        self.draw();
    }

    /// Starts the measurement window at `now`. A sample that is due at `now` belongs to the warm-up.
    pub fn reset(&mut self, now: Time) {
        (self.samples, self.ports) = (0, BTreeMap::new());
        if self.next <= now {
            self.advance();
        }
    }
}
