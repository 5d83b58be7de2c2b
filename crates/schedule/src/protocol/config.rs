//! What a network's nodes agree on.

use crate::search::Search;
use units::{PREAMBLE_BYTES, Rate, Time, WIRE_OVERHEAD_BYTES};

/// What a node does with a request while another's is not settled yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concurrency {
    /// It waits until those before it at the same port are ready, failed or forgotten.
    Serialise,
    /// It is served at once; an update that finds its slot taken lets its request fail.
    Simultaneous,
}

/// What a frame keeps a wire busy for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireCost {
    /// The frame, preamble and gap, as on a real Ethernet.
    Ethernet,
    /// The frame alone, as the thesis counts.
    FrameOnly,
}

impl WireCost {
    /// How long a frame keeps a wire of this rate busy: the slot.
    pub fn slot(self, rate: Rate, frame_bytes: u64) -> Time {
        rate.serialise(frame_bytes + if self == WireCost::Ethernet { WIRE_OVERHEAD_BYTES } else { 0 })
    }
    /// From the start of its transmission until its last bit has left.
    pub fn transmission(self, rate: Rate, frame_bytes: u64) -> Time {
        rate.serialise(frame_bytes + if self == WireCost::Ethernet { PREAMBLE_BYTES } else { 0 })
    }
}

/// What all nodes of a network agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// What a frame costs.
    pub wire: WireCost,
    /// Free time ahead of every slot, see [`Config::guard_for`].
    pub guard: Time,
    /// Slots move by multiples of this; above zero. 1 ns by default.
    pub grid: Time,
    /// A source asks anew so long after it was told that it may send.
    pub refresh: Time,
    /// Entries that are ready end so long after their request arrived, unless a newer one is ready by then.
    pub lifetime: Time,
    /// Entries that are not ready end so long after their request arrived.
    pub pending_lifetime: Time,
    /// A source gives a request up that is not answered within this, and asks again.
    pub answer: Time,
    /// Requests in vain before a source that does not send yet gives up; at least 1.
    pub attempts: u32,
    /// Requests while others are not settled.
    pub concurrency: Concurrency,
    /// Which free place a node gives.
    pub search: Search,
    /// How long a message may be that tells of occupied slots. A request is as long as the stream's frames, as the
    /// thesis has it, and longer only where its slots need it and this allows it.
    pub message_bytes: u16,
}

impl Config {
    /// Refreshed each second as in the thesis, answered within 1 ms, without a guard band: for clocks that run alike.
    pub fn new() -> Config {
        Config {
            wire: WireCost::Ethernet,
            guard: Time::ZERO,
            grid: Time::from_ns(1),
            refresh: Time::from_s(1),
            lifetime: Time::from_ms(1_500),
            pending_lifetime: Time::from_ms(4),
            answer: Time::from_ms(1),
            attempts: 16,
            concurrency: Concurrency::Serialise,
            search: Search::Earliest,
            message_bytes: 0,
        }
    }

    /// The guard band that clocks need which are off by up to `drift_ppb` parts in 10^9: two streams whose entries are
    /// up to a lifetime old have come closer by at most twice the drift, one clock being fast and the other slow.
    /// Eight picoseconds are for rounding where clocks are read.
    pub fn guard_for(&self, drift_ppb: u32) -> Time {
        match drift_ppb {
            0 => Time::ZERO,
            ppb => self.lifetime.scale(2 * u64::from(ppb), 1_000_000_000) + Time::from_ps(8),
        }
    }

    /// The tightest place in place of the earliest, and messages of up to 1518 bytes: a node that moves a slot far must
    /// know what is taken upstream.
    #[must_use]
    pub fn tightest(self) -> Config {
        Config { search: Search::Tightest, message_bytes: 1518, ..self }
    }

    /// Refreshed every `refresh`, with a lifetime of half as much again, and the guard that `drift_ppb` then needs.
    #[must_use]
    pub fn refreshed_every(mut self, refresh: Time, drift_ppb: u32) -> Config {
        (self.refresh, self.lifetime) = (refresh, refresh.scale(3, 2));
        self.guard = self.guard_for(drift_ppb);
        self
    }

    /// A source stops so long after the departure of the request by which it sends: a thousandth before the first node
    /// forgets, so that no clock that is off by less makes it send into a slot that is no longer its own.
    pub(crate) fn source_lifetime(&self) -> Time {
        self.lifetime - self.lifetime / 1_000
    }
}

impl Default for Config {
    fn default() -> Config {
        Config::new()
    }
}
