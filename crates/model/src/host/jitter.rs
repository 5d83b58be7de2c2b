//! Delay variation (jitter) of flows at the receiving host.

use crate::network::Network;
use protocols::frame::Frame;
use stats::jitter::FlowDelays;
use std::collections::BTreeMap;
use units::Time;

/// Delays by traffic entry, source and flow.
#[derive(Debug, Default)]
pub(crate) struct Jitter {
    flows: BTreeMap<(u8, u32, u32), FlowDelays>,
}

impl Jitter {
    /// Creates the measurement, if any traffic entry requires it.
    pub fn new(network: &Network) -> Option<Box<Jitter>> {
        network.measurement.jitter.contains(&true).then(Box::default)
    }

    /// Records the delay of a frame of a measured traffic entry.
    pub fn record(&mut self, frame: &Frame, delay: Time) {
        let key = (frame.traffic, frame.src, frame.flow);
        let delay_ps = delay.as_ps();
        self.flows
            .entry(key)
            .and_modify(|delays| delays.record(delay_ps))
            .or_insert_with(|| FlowDelays::first(delay_ps));
    }

    /// Returns traffic entry and delays of each flow, ordered by traffic entry, source and number.
    pub fn flows(&self) -> impl Iterator<Item = (u8, FlowDelays)> + '_ {
        self.flows.iter().map(|(key, delays)| (key.0, *delays))
    }
}
