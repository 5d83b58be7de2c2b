//! What is measured at a host.

use super::delays::Delays;
use super::jitter::Jitter;
use super::reorder;
use super::travel::Travel;
use crate::network::Network;
use check::ReorderDensity;

/// Counts of one host.
#[derive(Debug)]
pub(crate) struct Measured {
    pub flows_started: u64,
    /// Payload that arrived for the first time, by traffic entry, since the start.
    pub goodput_bytes: Vec<u64>,
    /// One-way delay of data frames, from their making to their arrival, since the last reset: those that
    /// [`Network::delays`] does not hold yet.
    pub delays: Delays,
    /// How frames that arrived since the last reset had travelled, where switches turn frames around.
    pub travel: Option<Box<Travel>>,
    /// Delays by flow since the last reset, where jitter is measured.
    pub jitter: Option<Box<Jitter>>,
    /// Whether anything is asked of a data frame that arrives besides its delay.
    pub looks: bool,
    /// Data frames since the last reset of flows that were complete, whose order is judged no more; and frames before
    /// it whose order was not judged yet.
    pub order_late: u64,
    /// See `order_late`.
    pub order_carried: u64,
    /// How far frames came out of order since the last reset, where it is measured.
    pub(super) reordering: Option<Box<ReorderDensity>>,
}

impl Measured {
    pub fn new(network: &Network) -> Measured {
        Measured {
            flows_started: 0,
            goodput_bytes: vec![0; network.traffic_entries],
            delays: Delays::default(),
            travel: network.turns().then(Box::default),
            jitter: Jitter::new(network),
            looks: network.turns() || network.jitter.contains(&true),
            order_late: 0,
            order_carried: 0,
            reordering: reorder::density(network),
        }
    }

    /// Forgets what was measured before now, when the order of `carried` frames has not been judged yet.
    pub fn reset(&mut self, network: &Network, carried: u64) {
        self.delays = Delays::default();
        self.travel = network.turns().then(Box::default);
        self.jitter = Jitter::new(network);
        self.reordering = reorder::density(network);
        (self.order_late, self.order_carried) = (0, carried);
    }
}
