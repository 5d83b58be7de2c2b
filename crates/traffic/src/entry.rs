//! Parameters common to all traffic generators.

use crate::plan::{Flow, Load, Start};
use crate::random::jitter;
use units::Time;
use units::random::{Stream, purpose};

/// One `[[traffic]]` entry: seeds of its random streams, and common properties of its flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Seed of the run.
    pub seed: u64,
    /// Index of the entry, which is part of every random stream, so that entries are independent.
    pub traffic: u8,
    /// Priority class, 0 to 7.
    pub class: u8,
    /// Destination port of the flows.
    pub dst_port: u16,
    /// Start time of the entry.
    pub start: Time,
    /// Maximum of the uniformly distributed random delay of the first flows; 0 for none.
    pub jitter: Time,
}

impl Entry {
    /// Creates an entry that starts at time zero, with priority class 3 and destination port 100, as in HPCC's
    /// traffic.
    pub fn new(seed: u64, traffic: u8) -> Self {
        Entry { seed, traffic, class: 3, dst_port: 100, start: Time::ZERO, jitter: Time::ZERO }
    }

    /// Returns the random stream of this entry for the purpose `name`.
    pub(crate) fn stream(&self, name: &str) -> Stream {
        Stream::new(self.seed, u64::from(self.traffic), purpose(name))
    }

    /// Returns the random stream for [`Entry::start_at`].
    pub(crate) fn jitter_stream(&self) -> Stream {
        self.stream("start jitter")
    }

    /// Returns the start of a flow: the start of the entry plus jitter.
    pub(crate) fn start_at(&self, stream: &mut Stream) -> Start {
        Start::At(self.late_start(stream))
    }

    /// Returns the start time of the entry plus jitter.
    pub(crate) fn late_start(&self, stream: &mut Stream) -> Time {
        let late = if self.jitter == Time::ZERO { Time::ZERO } else { jitter(stream, self.jitter) };
        self.start.saturating_add(late)
    }

    /// Creates a flow of this entry that the host's transport sends.
    pub(crate) fn flow(&self, src: u32, dst: u32, size_bytes: u64, start: Start) -> Flow {
        let (class, traffic, dst_port) = (self.class, self.traffic, self.dst_port);
        Flow { src, dst, size_bytes, start, class, traffic, dst_port, path: None, load: Load::Transport }
    }
}
