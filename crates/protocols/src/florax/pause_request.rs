//! What a congested port tells its neighbours about a flow, and what it counts of that.

use super::BackpressureParameters;
use super::conform::Stop;
use super::table::{Flow, Pair};
use units::Time;

/// What a port tells the neighbour by which a flow comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseRequest {
    /// By this port.
    pub port: u16,
    /// About this flow.
    pub pair: Pair,
    /// XOFF with this rate in bits a second on the wire, 0 for nothing at all; `None` is XON.
    pub rate_bps: Option<u64>,
}

/// What output backpressure asks its switch.
pub trait Neighbours {
    /// What the next switch lets pass of a flow now, in bits a second; `None` where it does not hold it.
    fn held_bps(&self, pair: Pair) -> Option<u64>;
    /// The agreed rate of a flow; 0 without an agreement.
    fn agreed_bps(&self, pair: Pair) -> u64;
    /// What waits here of the frames to a destination, because the next switch holds it, in the unit of the thresholds.
    fn held(&self, to: Pair) -> u64;
    /// How long after a call by `port`, before which `ahead` others wait, what its neighbour sent before may arrive.
    fn grace(&self, port: u16, ahead: usize) -> Time;
}

/// What output backpressure has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackpressureStatistics {
    /// Flows that were told to stop or slow down, a new rate for one that was stopped already not counted.
    pub xoffs: u64,
    /// New rates for flows that were stopped already.
    pub changes: u64,
    /// Flows that were told to go on.
    pub xons: u64,
    /// Stops whose time ran out.
    pub expiries: u64,
    /// The most flows that the table held.
    pub flows_max: u64,
    /// The most of them that were stopped at a time.
    pub stopped_max: u64,
    /// Frames of flows for which the table had no place.
    pub untold: u64,
}

impl Flow {
    /// Tells `pair`, by every port that it comes by, to send no more than `rate_bps`; returns how long it may take
    /// until nothing more comes.
    pub fn tell(
        &mut self,
        parameters: &BackpressureParameters,
        now: Time,
        (pair, rate_bps): (Pair, u64),
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
        self.stop = Some(Stop::new(now, rate_bps, parameters.expiry, grace));
        grace
    }
}

units::pack_fields!(BackpressureStatistics { xoffs, changes, xons, expiries, flows_max, stopped_max, untold });
