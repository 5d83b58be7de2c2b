//! XOFF and XON requests of a congested output port to its upstream neighbours, and their counters.

use super::conform::XoffEntry;
use super::parameters::BackpressureParameters;
use super::table::{Flow, HostPair};
use units::Time;

/// An XOFF or XON request to the upstream neighbour from which a flow arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseRequest {
    /// Input port of the flow, whose link connects to the upstream neighbour.
    pub port: u16,
    /// Source and destination of the flow.
    pub pair: HostPair,
    /// XOFF with this rate in bits per second on the wire, 0 to pause; `None` is XON.
    pub rate_bps: Option<u64>,
}

/// State of the switch that the backpressure of an output port needs.
pub trait Neighbours {
    /// Returns the rate in bits per second to which the next switch limits a flow; `None` if it does not limit the
    /// flow.
    fn held_bps(&self, pair: HostPair) -> Option<u64>;
    /// Returns the committed rate of a flow in bits per second; 0 without a committed rate.
    fn committed_bps(&self, pair: HostPair) -> u64;
    /// Returns the amount of queued frames that wait because the next switch has paused their destination, in the
    /// unit of the thresholds (packets or bytes).
    fn held(&self, to: HostPair) -> u64;
    /// Returns the time from sending a request through `port`, queued behind `ahead` other requests, to the arrival
    /// of the last frame that was sent before the request took effect.
    fn grace(&self, port: u16, ahead: usize) -> Time;
}

/// Counters of an output port's backpressure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackpressureStatistics {
    /// XOFFs for flows that had no XOFF in force.
    pub xoffs: u64,
    /// XOFFs with a new rate for flows that had an XOFF in force.
    pub changes: u64,
    /// XONs for flows that had an XOFF in force.
    pub xons: u64,
    /// XOFFs that expired.
    pub expiries: u64,
    /// Maximum number of entries in the flow table.
    pub flows_max: u64,
    /// Maximum number of flows paused at one time.
    pub max_stopped_flows: u64,
    /// Frames of flows that did not fit the flow table.
    pub untracked: u64,
}

impl Flow {
    /// Adds XOFFs for `pair` to `requests`, one per input port of the flow, each with an equal part of `rate_bps`.
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
