//! Parameters common to all generators.

use crate::plan::{Flow, Load, Start};
use crate::random::jitter;
use units::Time;
use units::random::{Stream, purpose};

/// One `[[traffic]]` entry: its random streams, and common properties of its flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Seed of the run.
    pub seed: u64,
    /// Index of the entry; part of every random stream, so that entries are independent.
    pub traffic: u8,
    /// Priority class, 0 to 7.
    pub class: u8,
    /// Destination port.
    pub dst_port: u16,
    /// Start of the entry.
    pub start: Time,
    /// Maximum of the uniform delay of first flows; 0 for none.
    pub jitter: Time,
}

impl Entry {
    /// Makes an entry that begins at once in priority class 3 with port 100, as in HPCC's traffic.
    pub fn new(seed: u64, traffic: u8) -> Self {
        Entry { seed, traffic, class: 3, dst_port: 100, start: Time::ZERO, jitter: Time::ZERO }
    }

    /// Returns a random stream of this entry.
    pub(crate) fn stream(&self, name: &str) -> Stream {
        Stream::new(self.seed, u64::from(self.traffic), purpose(name))
    }

    /// Returns the stream for [`Entry::start_at`].
    pub(crate) fn jitter_stream(&self) -> Stream {
        self.stream("start jitter")
    }

    /// Draws a start with jitter.
    pub(crate) fn start_at(&self, stream: &mut Stream) -> Start {
        Start::At(self.late_start(stream))
    }

    /// Like [`Entry::start_at`], as a time.
    pub(crate) fn late_start(&self, stream: &mut Stream) -> Time {
        let late = if self.jitter == Time::ZERO { Time::ZERO } else { jitter(stream, self.jitter) };
        self.start.saturating_add(late)
    }

    /// Makes a flow of this entry for the host's transport.
    pub(crate) fn flow(&self, src: u32, dst: u32, size_bytes: u64, start: Start) -> Flow {
        let (class, traffic, dst_port) = (self.class, self.traffic, self.dst_port);
        Flow { src, dst, size_bytes, start, class, traffic, dst_port, path: None, load: Load::Transport }
    }
}
