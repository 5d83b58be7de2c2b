//! Measurements at a host.

use super::delays::Delays;
use super::hop_counts::HopCounts;
use super::jitter::Jitter;
use super::reorder;
use crate::network::Network;
use check::ReorderDensity;
use units::Time;

/// Measurements of one host.
#[derive(Debug)]
pub(crate) struct Measured {
    pub flows_started: u64,
    /// Payload bytes that arrived for the first time, by traffic entry, since the start of the run.
    pub goodput_bytes: Vec<u64>,
    /// Time of the last arrival of new payload (not a duplicate).
    pub last_payload: Time,
    /// One-way delays of data frames, from creation to arrival, since the last reset, that are not yet in the shared
    /// histograms ([`crate::all_delays::AllDelays`]).
    pub delays: Delays,
    /// Hops and bounces of frames that arrived since the last reset, if switches bounce frames.
    pub hop_counts: Option<Box<HopCounts>>,
    /// Delays by flow since the last reset, if jitter is measured.
    pub jitter: Option<Box<Jitter>>,
    /// Whether arrivals of data frames need more measurements than the delay.
    pub measures_arrivals: bool,
    /// Data frames that arrived after the completion of their flow since the last reset. The reordering density
    /// excludes them.
    pub order_late: u64,
    /// Data frames that arrived before the last reset and whose displacement was undetermined at the reset.
    pub order_carried: u64,
    /// Reordering density since the last reset, if measured.
    pub(super) reordering: Option<Box<ReorderDensity>>,
}

impl Measured {
    pub fn new(network: &Network) -> Measured {
        Measured {
            flows_started: 0,
            goodput_bytes: vec![0; network.traffic_entries()],
            last_payload: Time::ZERO,
            delays: Delays::default(),
            hop_counts: network.can_bounce().then(Box::default),
            jitter: Jitter::new(network),
            measures_arrivals: network.can_bounce() || network.measurement.jitter.contains(&true),
            order_late: 0,
            order_carried: 0,
            reordering: reorder::density(network),
        }
    }

    /// Restarts all measurements; for `carried` frames the displacement is not yet determined.
    pub fn reset(&mut self, network: &Network, carried: u64) {
        self.delays = Delays::default();
        self.hop_counts = network.can_bounce().then(Box::default);
        self.jitter = Jitter::new(network);
        self.reordering = reorder::density(network);
        (self.order_late, self.order_carried) = (0, carried);
    }
}
