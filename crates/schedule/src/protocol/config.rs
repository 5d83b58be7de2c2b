//! Common configuration of all nodes.

use crate::search::SlotStrategy;
use units::{PREAMBLE_BYTES, Rate, Time, WIRE_OVERHEAD_BYTES};

/// Handling of a request while another is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concurrency {
    /// Wait until earlier requests at the port are ready, failed or expired.
    Serialise,
    /// Serve immediately; an update to an occupied slot fails its request.
    Simultaneous,
}

/// Time on the wire that a frame costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireCost {
    /// Frame, preamble and gap, as on real Ethernet.
    Ethernet,
    /// Frame only, as in the thesis.
    FrameOnly,
}

impl WireCost {
    /// Returns the time for which a frame occupies a wire of this rate: its slot.
    pub fn slot(self, rate: Rate, frame_bytes: u64) -> Time {
        rate.serialise(frame_bytes + if self == WireCost::Ethernet { WIRE_OVERHEAD_BYTES } else { 0 })
    }
    /// Returns the time from the start of transmission to the departure of the last bit.
    pub fn transmission(self, rate: Rate, frame_bytes: u64) -> Time {
        rate.serialise(frame_bytes + if self == WireCost::Ethernet { PREAMBLE_BYTES } else { 0 })
    }
}

/// Configuration shared by all nodes of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Wire overhead of a frame.
    pub wire: WireCost,
    /// Free time before every slot, see [`Config::guard_for`].
    pub guard: Time,
    /// Granularity of slot shifts; above zero. 1 ns by default.
    pub grid: Time,
    /// Time from the acceptance of a request until the source refreshes it.
    pub refresh: Time,
    /// Lifetime of a ready entry, from the arrival of its request, unless a newer entry of the stream is ready earlier.
    pub lifetime: Time,
    /// Lifetime of a pending entry, from the arrival of its request.
    pub pending_lifetime: Time,
    /// Timeout for the answer to a request; the source then retries.
    pub answer: Time,
    /// Number of failed requests after which a source that is not yet sending gives up; at least 1.
    pub attempts: u32,
    /// Handling of concurrent requests.
    pub concurrency: Concurrency,
    /// Strategy that chooses the start of a slot.
    pub search: SlotStrategy,
    /// Maximum length of a message with occupied slots. A request has the length of the stream's frames, as in the
    /// thesis; it is longer, up to this limit, only if its list of occupied slots requires it.
    pub message_bytes: u16,
}

impl Config {
    /// Returns the default: refresh every second as in the thesis, answers within 1 ms, and no guard band, for clocks
    /// without drift.
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
            search: SlotStrategy::Earliest,
            message_bytes: 0,
        }
    }

    /// Returns the guard band for clocks with a drift of up to `drift_ppb` parts in 10^9. Within a lifetime, the slots
    /// of two streams approach by at most twice the drift, with one clock fast and the other slow. Eight picoseconds
    /// cover rounding of clock readings.
    pub fn guard_for(&self, drift_ppb: u32) -> Time {
        match drift_ppb {
            0 => Time::ZERO,
            ppb => self.lifetime.scale(2 * u64::from(ppb), 1_000_000_000) + Time::from_ps(8),
        }
    }

    /// Returns the configuration with [`SlotStrategy::Tightest`] and messages of up to 1518 bytes: a node that shifts a
    /// slot far needs the occupied slots upstream.
    #[must_use]
    pub fn tightest(self) -> Config {
        Config { search: SlotStrategy::Tightest, message_bytes: 1518, ..self }
    }

    /// Returns the configuration with a refresh every `refresh`, a lifetime of 1.5 times that, and the guard band for
    /// `drift_ppb`.
    #[must_use]
    pub fn refreshed_every(mut self, refresh: Time, drift_ppb: u32) -> Config {
        (self.refresh, self.lifetime) = (refresh, refresh.scale(3, 2));
        self.guard = self.guard_for(drift_ppb);
        self
    }

    /// Returns the time from the departure of a request until its source stops sending in the slot: 0.1 % less than the
    /// lifetime of the entry in the nodes. Therefore a source never sends in an expired slot if the relative clock
    /// drift is below 0.1 %.
    pub(crate) fn source_lifetime(&self) -> Time {
        self.lifetime - self.lifetime / 1_000
    }
}

impl Default for Config {
    fn default() -> Config {
        Config::new()
    }
}
