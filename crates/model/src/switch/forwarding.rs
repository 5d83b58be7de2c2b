//! Choice of the egress port: regular routes, pinned routes, and reroutes after link failures.

use crate::network::Network;
use crate::parameters::Reroute;
use crate::routes::Routes;
use fabric::NodeId;
use fabric::routing::{FailedPorts, select};
use protocols::frame::{Frame, flags};
use std::collections::BTreeMap;

/// The routes of one switch.
#[derive(Debug)]
#[repr(C)] // see [`super::core::Core`]
pub(crate) struct Routing {
    pub routes: Routes,
    pub salt: u32,
    /// Whether all frames without an explicit path use the regular routes: no link has failed, and no route is pinned.
    regular: bool,
}

/// The failed links of one switch, and the reroutes that avoid them.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    dead: FailedPorts,
    /// Fallback ports by destination host, for destinations without a live regular port.
    detours: BTreeMap<u32, Vec<u16>>,
}

impl Routing {
    pub fn new(network: &Network, node: NodeId) -> Routing {
        Routing {
            routes: Routes::new(network, node),
            salt: network.salt(node),
            regular: !network.has_static_routes(node),
        }
    }

    /// Returns the egress port of `frame`, which arrived by `in_port`; `None` if it does not use the regular routes.
    #[inline(always)] // hot: runs once per packet-hop, like Switch::handle
    pub fn port(&self, network: &Network, frame: &Frame, in_port: u16) -> Option<u16> {
        let ordinary = self.regular && frame.flags & flags::EXPLICIT_PATH == 0;
        if ordinary { self.routes.port(network, frame, self.salt, in_port) } else { None }
    }
}

impl Failures {
    /// Returns whether the link of `port` has failed.
    pub fn is_dead(&self, port: u16) -> bool {
        self.dead.contains(port)
    }

    /// Applies a failure or repair of the link of `port`; `routing` is that of the switch `node`.
    pub fn change(&mut self, routing: &mut Routing, network: &Network, node: NodeId, port: u16, fails: bool) {
        self.detours.clear();
        if fails {
            self.dead.insert(port);
        } else {
            self.dead.remove(port);
        }
        routing.regular = self.dead.is_empty() && !network.has_static_routes(node);
    }

    /// Returns the egress port of a frame that does not use the regular routes. It arrived at `node` by `in_port`;
    /// `salt` is the hash salt of the node.
    #[cold]
    pub fn port(&mut self, network: &Network, (node, salt): (NodeId, u32), frame: &Frame, in_port: u16) -> Option<u16> {
        // The index into an explicit path counts this switch too.
        let frame = Frame { hops: frame.hops.saturating_add(1), ..*frame };
        if let Some(port) = self.pinned(network, (node, salt), &frame) {
            return Some(port);
        }
        if self.dead.is_empty() {
            network.route(node, salt, &frame, in_port)
        } else {
            self.route_around(network, (node, salt), &frame, in_port)
        }
    }

    /// Returns the live port of the pinned route of this frame, if one is in force.
    fn pinned(&self, network: &Network, (node, salt): (NodeId, u32), frame: &Frame) -> Option<u16> {
        if frame.flags & flags::EXPLICIT_PATH != 0 {
            return None;
        }
        let in_force = network.static_routes_of(node).iter().find(|route| {
            route.to == frame.dst
                && route.from.is_none_or(|from| from == frame.src)
                && route.at <= frame.at
                && route.until.is_none_or(|until| frame.at < until)
        })?;
        let port = match in_force.ports[..] {
            [] => return None,
            [only] => only,
            ref ports => ports[select(frame.entropy, salt, ports.len())],
        };
        (!self.dead.contains(port)).then_some(port)
    }

    /// Returns the egress port of `frame` after failures: a live port of its route. Without one, under local rerouting,
    /// a live neighbour nearest to its destination.
    fn route_around(
        &mut self,
        network: &Network,
        (node, salt): (NodeId, u32),
        frame: &Frame,
        in_port: u16,
    ) -> Option<u16> {
        let regular = network.route(node, salt, frame, in_port)?;
        if !self.dead.contains(regular) {
            return Some(regular);
        }
        let candidates = network.candidates(node, frame, in_port).iter().copied();
        let live: Vec<u16> = candidates.filter(|&port| !self.dead.contains(port)).collect();
        if !live.is_empty() {
            return Some(live[select(frame.entropy, salt, live.len())]);
        }
        if network.routing.reroute == Reroute::None {
            return None;
        }
        let dead = &self.dead;
        let ports = self
            .detours
            .entry(frame.dst)
            .or_insert_with(|| network.routing.forwarding.fallback(&network.fabric, node, frame.dst, dead));
        // The ingress port is the last resort.
        let onward: Vec<u16> = ports.iter().copied().filter(|&port| port != in_port).collect();
        let choice = if onward.is_empty() { ports.as_slice() } else { &onward };
        if choice.is_empty() { None } else { Some(choice[select(frame.entropy, salt, choice.len())]) }
    }
}
