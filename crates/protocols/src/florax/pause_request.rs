//! XOFFs and XONs of a congested port for its upstream neighbours, and their counters.

use super::conform::XoffEntry;
use super::parameters::BackpressureParameters;
use super::table::{Flow, HostPair};
use units::Time;

/// An XOFF or XON for the upstream neighbour of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseRequest {
    /// The input port of the flow, which connects to that neighbour.
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
    /// Returns the committed rate of a flow in bits per second; 0 without a committed rate.
    fn agreed_bps(&self, pair: HostPair) -> u64;
    /// Returns the queued amount of frames that wait because the next switch holds their destination, in the unit of
    /// the thresholds (packets or bytes).
    fn held(&self, to: HostPair) -> u64;
    /// Returns the time from a request through `port`, queued behind `ahead` other requests, to the arrival of the last
    /// frame that was sent before the request took effect.
    fn grace(&self, port: u16, ahead: usize) -> Time;
}

/// Counters of output backpressure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackpressureStatistics {
    /// XOFFs for flows without an XOFF in force.
    pub xoffs: u64,
    /// XOFFs for flows with an XOFF in force, with a new rate.
    pub changes: u64,
    /// XONs for flows with an XOFF in force.
    pub xons: u64,
    /// XOFFs that expired.
    pub expiries: u64,
    /// Maximum number of flows in the table.
    pub flows_max: u64,
    /// Maximum number of flows paused at one time.
    pub max_stopped_flows: u64,
    /// Frames of flows that did not fit the flow table.
    pub untracked: u64,
}

impl Flow {
    /// Adds XOFFs for `pair` to `requests`, one per input port of the flow; each gets an equal part of `rate_bps`.
    /// Returns the longest grace period of these ports.
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
