//! Routes of one switch in a dense layout for the hot path: one row of ports per destination.

use crate::network::{Network, choose};
use fabric::NodeId;
use fabric::routing::{Attachment, Mode, select};
use protocols::frame::Frame;
use rustc_hash::FxHashSet;
use std::hint::select_unpredictable;
use std::sync::Arc;

/// Value of `Group::count` for destinations that are attached to this switch.
const LOCAL: u16 = u16::MAX;

/// Row number for the absence of a row.
const NONE: u32 = u32::MAX;

/// ECMP group of one row of destinations: index of its first port in [`Routes::ports`], and number of ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Group {
    start: u16,
    count: u16,
}

/// No route. `start` is beyond all ports, so the lookup fails.
const NO_ROUTE: Group = Group { start: u16::MAX, count: 0 };

/// Routes of [`fabric::routing::Forwarding`] for one node, in one flat table. Switches in equivalent positions have
/// equal tables and share them.
#[derive(Clone, Debug)]
#[repr(C)] // see [`crate::switch::Core`]
pub(crate) struct Routes {
    groups: Arc<[Group]>,
    ports: Arc<[u16]>,
    /// Row of the destinations attached to this switch. [`NONE`] unless there is exactly one.
    own: u32,
    /// Whether any row has several ports.
    chooses: bool,
}

/// Tables of the switches built so far, for sharing.
#[derive(Debug, Default)]
pub(crate) struct RouteTables(FxHashSet<Shared>);

/// Groups by row, and the ports of all groups.
type Shared = (Arc<[Group]>, Arc<[u16]>);

impl RouteTables {
    /// Replaces the tables of `routes` by equal ones of an earlier switch, if any.
    pub fn share(&mut self, routes: &mut Routes) {
        let own = (Arc::clone(&routes.groups), Arc::clone(&routes.ports));
        match self.0.get(&own) {
            Some((groups, ports)) => (routes.groups, routes.ports) = (Arc::clone(groups), Arc::clone(ports)),
            None => _ = self.0.insert(own),
        }
    }
}

impl Routes {
    /// Creates the routes of `node`. They are empty if routes depend on the ingress port (up-down) or exceed 16-bit
    /// indices; then [`Routes::port`] defers to the shared tables.
    pub fn new(network: &Network, node: NodeId) -> Routes {
        let forwarding = &network.routing.forwarding;
        let none = Routes { own: NONE, chooses: false, groups: Arc::default(), ports: Arc::default() };
        if matches!(forwarding.mode(), Mode::UpDown { .. }) {
            return none;
        }
        let (mut groups, mut ports) = (Vec::with_capacity(forwarding.row_count()), Vec::new());
        let mut last: (Vec<u16>, Group) = (Vec::new(), NO_ROUTE);
        for row in 0..forwarding.row_count() as u32 {
            if forwarding.row_switch(row) == Some(node) {
                groups.push(Group { count: LOCAL, ..NO_ROUTE });
                continue;
            }
            let towards = forwarding.ports(node, row);
            if last.0 != towards {
                let start = match ports.windows(towards.len().max(1)).position(|known| known == towards) {
                    Some(start) => start,
                    None => {
                        ports.extend_from_slice(towards);
                        ports.len() - towards.len()
                    }
                };
                let (Ok(start), Ok(count)) = (u16::try_from(start), u16::try_from(towards.len())) else {
                    return none;
                };
                let group = if count == 0 { NO_ROUTE } else { Group { start, count } };
                last = (towards.to_vec(), group);
            }
            groups.push(last.1);
        }
        if ports.len() > usize::from(NO_ROUTE.start) {
            return none;
        }
        let mut local = (0..).zip(&groups).filter(|(_, group)| group.count == LOCAL).map(|(row, _)| row);
        let own = match (local.next(), local.next()) {
            (Some(row), None) if groups.len() > 1 => row,
            _ => NONE,
        };
        if own != NONE {
            // [`Routes::port`] ignores this entry. A copy of the adjacent entry makes the tables of switches of one
            // tier equal, so that they can be shared.
            groups[own as usize] = groups[if own == 0 { 1 } else { own as usize - 1 }];
        }
        let chooses = groups.iter().any(|group| (2..LOCAL).contains(&group.count));
        Routes { own, chooses, groups: groups.into(), ports: ports.into() }
    }

    /// Prefetches the tables.
    pub fn prefetch(&self) {
        engine::prefetch(&self.groups);
        engine::prefetch(&self.ports);
    }

    /// Returns the egress port for a frame that arrived by `in_port`. `None` if the caller must use the shared tables,
    /// also if there is no route.
    #[inline(always)] // hot: runs once per packet-hop, like Switch::handle
    pub fn port(&self, network: &Network, frame: &Frame, salt: u32, in_port: u16) -> Option<u16> {
        let Attachment { row, port: local } = network.routing.forwarding.attachment(frame.dst);
        let group = self.groups.get(row as usize)?;
        let chosen = if self.chooses { select(frame.entropy, salt, usize::from(group.count)) } else { 0 };
        let Some(&onward) = self.ports.get(usize::from(group.start) + chosen) else {
            return (row == self.own || group.count == LOCAL).then_some(local);
        };
        // A branch on the direction (up or down) would often be mispredicted, so both ports are read and one is
        // selected.
        let port = select_unpredictable(row == self.own, local, onward);
        if port == in_port && self.chooses {
            self.port_except_ingress(network, frame, salt, in_port)
        } else {
            Some(port)
        }
    }

    /// Like [`Routes::port`], for a frame whose egress port would be its ingress port.
    #[cold]
    #[inline(never)]
    fn port_except_ingress(&self, network: &Network, frame: &Frame, salt: u32, in_port: u16) -> Option<u16> {
        let row = network.routing.forwarding.row(frame.dst);
        if row == self.own {
            return Some(in_port);
        }
        let group = self.groups.get(row as usize)?;
        let ports = self.ports.get(usize::from(group.start)..)?.get(..usize::from(group.count))?;
        Some(choose(frame, salt, ports, in_port))
    }
}
