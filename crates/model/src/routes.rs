//! One switch's routes, laid out for its hot path: one dense row of ports per destination.

use crate::network::{Network, choose};
use fabric::NodeId;
use fabric::routing::Mode;
use protocols::frame::Frame;

/// The frame's destination hangs on this very switch.
const LOCAL: u16 = u16::MAX;

/// The ports towards one group of destinations: where they stand, and how many.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    start: u16,
    count: u16,
}

/// What [`fabric::routing::Forwarding`] says about one node, without a detour through shared tables.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    groups: Vec<Group>,
    ports: Vec<u16>,
}

impl Routes {
    /// The routes of `node`; empty where they depend on the ingress port (up-down) or would not fit, and
    /// the shared tables must be asked.
    pub fn new(network: &Network, node: NodeId) -> Routes {
        let forwarding = &network.forwarding;
        if matches!(forwarding.mode(), Mode::UpDown { .. }) {
            return Routes::default();
        }
        let mut routes = Routes::default();
        let mut last: (Vec<u16>, Group) = (Vec::new(), Group::default());
        for row in 0..forwarding.row_count() as u32 {
            if forwarding.row_switch(row) == Some(node) {
                routes.groups.push(Group { start: 0, count: LOCAL });
                continue;
            }
            let ports = forwarding.ports(node, row);
            if last.0 != ports {
                let start = match routes.ports.windows(ports.len().max(1)).position(|known| known == ports) {
                    Some(start) => start,
                    None => {
                        routes.ports.extend_from_slice(ports);
                        routes.ports.len() - ports.len()
                    }
                };
                let (Ok(start), Ok(count)) = (u16::try_from(start), u16::try_from(ports.len())) else {
                    return Routes::default();
                };
                last = (ports.to_vec(), Group { start, count });
            }
            routes.groups.push(last.1);
        }
        routes
    }

    /// Asks the processor for the table.
    pub fn prefetch(&self) {
        engine::prefetch(self.groups.as_slice());
        engine::prefetch(self.ports.as_slice());
    }

    /// The port for a frame that came by `in_port`; `None` if the shared tables must be asked
    /// (no route included).
    #[inline]
    pub fn port(&self, network: &Network, frame: &Frame, salt: u32, in_port: u16) -> Option<u16> {
        let row = network.forwarding.row(frame.dst);
        let group = self.groups.get(row as usize)?;
        match group.count {
            LOCAL => Some(network.forwarding.local_port(frame.dst)),
            1 => self.ports.get(usize::from(group.start)).copied(),
            0 => None,
            count => {
                let start = usize::from(group.start);
                let ports = self.ports.get(start..start + usize::from(count))?;
                Some(choose(frame, salt, ports, in_port))
            }
        }
    }
}
