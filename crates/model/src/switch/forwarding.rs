//! By which port a frame goes on: the regular routes, routes set by hand, and ways around links that failed.

use crate::network::Network;
use crate::parameters::Reroute;
use crate::routes::Routes;
use fabric::NodeId;
use fabric::routing::{PortSet, select};
use protocols::frame::{Frame, flags};
use std::collections::BTreeMap;

/// The routes of one switch.
#[derive(Debug)]
#[repr(C)] // see [`super::core::Core`]
pub(crate) struct Routing {
    pub routes: Routes,
    pub salt: u32,
    /// Whether every frame without an explicit path goes by the ordinary routes: no port is dead, and none pinned.
    regular: bool,
}

/// The links of one switch that have failed, and the ways around them.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    dead: PortSet,
    /// Where frames go whose every regular port is dead, by destination host.
    detours: BTreeMap<u32, Vec<u16>>,
}

impl Routing {
    pub fn new(network: &Network, node: NodeId) -> Routing {
        Routing { routes: Routes::new(network, node), salt: network.salt(node), regular: !network.has_pins(node) }
    }

    /// The port by which `frame` goes on, which came by `in_port`; `None` if it goes by no ordinary route.
    #[inline(always)] // as Switch::handle
    pub fn port(&self, network: &Network, frame: &Frame, in_port: u16) -> Option<u16> {
        let ordinary = self.regular && frame.flags & flags::EXPLICIT_PATH == 0;
        if ordinary { self.routes.port(network, frame, self.salt, in_port) } else { None }
    }
}

impl Failures {
    /// Whether the link of `port` has failed.
    pub fn is_dead(&self, port: u16) -> bool {
        self.dead.contains(port)
    }

    /// The link of `port` fails, or comes back; `routing` is that of the switch `node`.
    pub fn change(&mut self, routing: &mut Routing, network: &Network, node: NodeId, port: u16, fails: bool) {
        self.detours.clear();
        if fails {
            self.dead.insert(port);
        } else {
            self.dead.remove(port);
        }
        routing.regular = self.dead.is_empty() && !network.has_pins(node);
    }

    /// The port by which `frame` goes on that came to `node` by `in_port` and goes by no ordinary route; `salt` is that
    /// of the node's choices.
    #[cold]
    pub fn port(&mut self, network: &Network, (node, salt): (NodeId, u32), frame: &Frame, in_port: u16) -> Option<u16> {
        // Explicit paths count the switch that the frame is at.
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

    /// The port that somebody pinned this frame to.
    fn pinned(&self, network: &Network, (node, salt): (NodeId, u32), frame: &Frame) -> Option<u16> {
        if frame.flags & flags::EXPLICIT_PATH != 0 {
            return None;
        }
        let in_force = network.pins_of(node).iter().find(|pin| {
            pin.to == frame.dst
                && pin.from.is_none_or(|from| from == frame.src)
                && pin.at <= frame.at
                && pin.until.is_none_or(|until| frame.at < until)
        })?;
        let port = match in_force.ports[..] {
            [] => return None,
            [only] => only,
            ref ports => ports[select(frame.entropy, salt, ports.len())],
        };
        (!self.dead.contains(port)).then_some(port)
    }

    /// The egress port of `frame` while some ports are dead: the live ones of its route, else, with local
    /// rerouting, the live neighbours nearest to its destination.
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
        if network.reroute == Reroute::None {
            return None;
        }
        let dead = &self.dead;
        let ports = self
            .detours
            .entry(frame.dst)
            .or_insert_with(|| network.forwarding.fallback(&network.fabric, node, frame.dst, dead));
        // Back where it came from only if there is no other way.
        let onward: Vec<u16> = ports.iter().copied().filter(|&port| port != in_port).collect();
        let choice = if onward.is_empty() { ports.as_slice() } else { &onward };
        if choice.is_empty() { None } else { Some(choice[select(frame.entropy, salt, choice.len())]) }
    }
}
