//! Requests of a congested port to its neighbours, and counters of them.

use super::conform::XoffEntry;
use super::parameters::BackpressureParameters;
use super::table::{Flow, HostPair};
use units::Time;

/// A request to the neighbour from which a flow arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseRequest {
    /// The port to that neighbour.
    pub port: u16,
    /// The flow.
    pub pair: HostPair,
    /// XOFF with this rate in bits per second on the wire, 0 to pause; `None` is XON.
    pub rate_bps: Option<u64>,
}

/// The state of the switch that output backpressure reads.
pub trait Neighbours {
    /// Returns the rate in bits per second to which the next switch holds a flow; `None` if it does not hold it.
    fn held_bps(&self, pair: HostPair) -> Option<u64>;
    /// Returns the agreed rate of a flow in bits per second; 0 without an agreement.
    fn agreed_bps(&self, pair: HostPair) -> u64;
    /// Returns the frames queued here because the next switch holds their destination, in the unit of the thresholds.
    fn held(&self, to: HostPair) -> u64;
    /// Returns the time after a request through `port`, behind `ahead` queued ones, until all earlier frames have
    /// arrived.
    fn grace(&self, port: u16, ahead: usize) -> Time;
}

/// Counters of output backpressure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackpressureStatistics {
    /// Flows that were paused or slowed down; a change of the rate does not count.
    pub xoffs: u64,
    /// New rates for flows that were paused already.
    pub changes: u64,
    /// Flows that were resumed by an XON.
    pub xons: u64,
    /// XOFFs that expired.
    pub expiries: u64,
    /// Maximum number of flows in the table.
    pub flows_max: u64,
    /// Maximum number of flows paused at one time.
    pub max_stopped_flows: u64,
    /// Frames of flows that did not fit the table.
    pub untracked: u64,
}

impl Flow {
    /// Requests `rate_bps` for `pair` through every port of the flow. Returns the longest time until excess frames must
    /// have ceased.
    pub fn request_rate(
        &mut self,
        parameters: &BackpressureParameters,
        now: Time,
        (pair, rate_bps): (HostPair, u64),
        switch: &impl Neighbours,
        requests: &mut Vec<PauseRequest>,
        statistics: &mut BackpressureStatistics,
    ) -> Time {
        let mut grace = Time::ZERO;
        let ports = self.ports.len().max(1) as u64;
        for &port in &self.ports {
            grace = grace.max(parameters.grace.unwrap_or_else(|| switch.grace(port, requests.len())));
            requests.push(PauseRequest { port, pair, rate_bps: Some(rate_bps / ports) });
        }
        match self.stop {
            Some(stop) if stop.is_live(now) => statistics.changes += 1,
            stop => {
                statistics.expiries += u64::from(stop.is_some());
                statistics.xoffs += 1;
            }
        }
        self.stop = Some(XoffEntry::new(now, rate_bps, parameters.expiry, grace));
        grace
    }
}

units::pack_fields!(BackpressureStatistics { xoffs, changes, xons, expiries, flows_max, max_stopped_flows, untracked });
