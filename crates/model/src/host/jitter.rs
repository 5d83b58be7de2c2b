//! How the delays of flows vary, at the host that receives them.

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
    /// If it is measured of any entry.
    pub fn new(network: &Network) -> Option<Box<Jitter>> {
        network.jitter.contains(&true).then(Box::default)
    }

    /// A frame of an entry that is measured arrived.
    pub fn record(&mut self, frame: &Frame, delay: Time) {
        let key = (frame.traffic, frame.src, frame.flow);
        let delay_ps = delay.as_ps();
        self.flows
            .entry(key)
            .and_modify(|delays| delays.record(delay_ps))
            .or_insert_with(|| FlowDelays::first(delay_ps));
    }

    /// The flows, by traffic entry, source and number.
    pub fn flows(&self) -> impl Iterator<Item = (u8, FlowDelays)> + '_ {
        self.flows.iter().map(|(key, delays)| (key.0, *delays))
    }
}
