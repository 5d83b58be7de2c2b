//! What agents are, and what they see: plain values.

use protocols::rate_control::Seen;
use units::{Rate, Time};

/// Whose rate an agent sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steers {
    /// One planned flow's.
    Flow,
    /// That of each flow which a host sends, planned or drawn.
    Host,
}

/// One agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agent {
    /// The host that sends, a dense index.
    pub host: u32,
    /// Its flow, by its number in results; `None` where all flows of the host are meant.
    pub flow: Option<u32>,
}

/// What the flows of an agent saw since the last look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// How many of them are under way.
    pub under_way: u32,
    /// Whether none is, nor will be.
    pub done: bool,
    /// At which rate each paces, preamble and gap included, or will when it starts.
    pub rate: Rate,
    /// The rate of its host's first port.
    pub line: Rate,
    /// What left, preamble and gap included.
    pub sent_bytes: u64,
    /// Payload acknowledged for the first time.
    pub acknowledged_bytes: u64,
    /// Of this, what was marked.
    pub marked_bytes: u64,
    /// How many acknowledgements brought it.
    pub acknowledgements: u64,
    /// Their round trips together, and what they would have been if nothing else had been sent.
    pub rtt_sum: Time,
    /// See there.
    pub idle_rtt_sum: Time,
    /// The least round trip, as a multiple of what it would have been; infinite without any.
    pub least_rtt_ratio: f64,
    /// Packets said to be missing, and timeouts.
    pub losses: u64,
}

impl Default for Look {
    fn default() -> Self {
        Look {
            under_way: 0,
            done: false,
            rate: Rate::MIN,
            line: Rate::MIN,
            sent_bytes: 0,
            acknowledged_bytes: 0,
            marked_bytes: 0,
            acknowledgements: 0,
            rtt_sum: Time::ZERO,
            idle_rtt_sum: Time::ZERO,
            least_rtt_ratio: f64::INFINITY,
            losses: 0,
        }
    }
}

impl Look {
    /// Adds what one flow saw.
    pub(crate) fn add(&mut self, seen: &Seen) {
        self.sent_bytes += seen.sent_bytes;
        self.acknowledged_bytes += seen.acknowledged_bytes;
        self.marked_bytes += seen.marked_bytes;
        self.acknowledgements += seen.acknowledgements;
        self.losses += seen.losses;
        self.rtt_sum = self.rtt_sum.saturating_add(seen.rtt_sum);
        let idle = u128::from(seen.round_trip.as_ps()) * u128::from(seen.acknowledgements);
        let idle = Time::from_ps(u64::try_from(idle).unwrap_or(u64::MAX));
        self.idle_rtt_sum = self.idle_rtt_sum.saturating_add(idle);
        if seen.acknowledgements > 0 && seen.round_trip > Time::ZERO {
            let ratio = seen.rtt_least.as_ps() as f64 / seen.round_trip.as_ps() as f64;
            self.least_rtt_ratio = self.least_rtt_ratio.min(ratio);
        }
    }
}

/// The agents of a simulation: where each is, and what it set.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Engine index of its host, its place there, and the share that it set.
    pub agents: Vec<(usize, usize, Option<f64>)>,
}
