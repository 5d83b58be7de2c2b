//! Immutable data that all nodes of a run share: routes, traffic, parameters.

use crate::all_delays::AllDelays;
use crate::clock::NodeClock;
use crate::custom::{CustomOverload, CustomPause};
use crate::link_kinds::LinkKinds;
use crate::numbering::Numbering;
use crate::parameters::{
    CLASSES, FlowControl, HostParameters, Overload, Reroute, Spread, StaticRoute, SwitchParameters, TagRules, Timing,
};
use crate::telemetry::Telemetry;
use crate::trace::selection::Selection;
use fabric::routing::{Forwarding, PathTable, select};
use fabric::{Fabric, NodeId, PortIndex};
use protocols::cbfc::CreditPort;
use protocols::florax::HostPair;
use protocols::frame::{Frame, Kind, flags};
use protocols::gates::GateList;
use protocols::preemption::PreemptionParameters;
use protocols::telemetry::Hop;
use protocols::transport::TransportParameters;
use std::collections::BTreeMap;
use std::sync::Arc;
use traffic::{JOIN, Load};
use units::{Rate, Time};

/// Selects one of the ECMP group `ports` (at least two) by the frame's entropy, but not `in_port`. On a regular route
/// only a frame that was rerouted around a failed link could leave by its ingress port, and it would then loop to that
/// link forever. A bounced frame may leave by `in_port`, because it resumes its regular route.
#[inline]
pub(crate) fn choose(frame: &Frame, salt: u32, ports: &[PortIndex], in_port: PortIndex) -> PortIndex {
    let port = ports[select(frame.entropy, salt, ports.len())];
    if port == in_port { choose_onward(frame, salt, ports, in_port) } else { port }
}

#[cold]
fn choose_onward(frame: &Frame, salt: u32, ports: &[PortIndex], in_port: PortIndex) -> PortIndex {
    if frame.bounces > 0 {
        return in_port;
    }
    let others = ports.len() - 1;
    ports.iter().copied().filter(|&port| port != in_port).nth(select(frame.entropy, salt, others)).unwrap_or(in_port)
}

/// Routing input: routes, paths and load balancing.
#[derive(Debug)]
pub(crate) struct RoutingInput {
    pub forwarding: Forwarding,
    pub paths: PathTable,
    /// Manual routes, sorted by node, then in input order.
    pub static_routes: Vec<StaticRoute>,
    /// Tag rewriting at switches.
    pub tags: Option<TagRules>,
    pub spread: Spread,
    pub reroute: Reroute,
}

/// Overrides of [`Network::switch`] for switches and ports, and rules of library users.
#[derive(Debug)]
pub(crate) struct SwitchInput {
    /// Parameters of switches with overrides.
    pub switch_overrides: BTreeMap<NodeId, SwitchParameters>,
    /// Parameters of ports with their own marking or scheduler.
    pub port_overrides: BTreeMap<(NodeId, PortIndex), SwitchParameters>,
    /// User-defined overload action.
    pub overload_rule: Option<CustomOverload>,
    /// User-defined rule for XOFF and XON.
    pub pause_rule: Option<CustomPause>,
    /// Switches outside flow control, ascending.
    pub without_flow_control: Vec<NodeId>,
    /// Committed rates in bits per second, by source and destination.
    pub committed_rates: BTreeMap<HostPair, u64>,
}

/// Measurements and their storage.
#[derive(Debug)]
pub(crate) struct Measurement {
    /// Whether jitter is measured, by traffic entry.
    pub jitter: Box<[bool]>,
    /// Delays that hosts measured since the last reset.
    pub delays: AllDelays,
    /// Whether the frames of a flow must arrive in order, because they take the same path and queues.
    pub in_order: bool,
    /// Selection of the trace and the captures.
    pub selection: Option<Arc<Selection>>,
    /// Numbering of flows in results.
    pub numbering: Numbering,
    /// Whether pauses are recorded.
    pub record_pauses: bool,
    /// Maximum displacement of the reordering density (RFC 5236: `D_T`), in frames. `None` if not measured.
    pub reordering: Option<u32>,
    /// Whether lengths of output queues are measured.
    pub queue_lengths: bool,
    /// Utilisation threshold: share of the queue limit above which the time is measured. `None` if not measured.
    pub utilisation: Option<f64>,
}

/// Parameters of hosts that are not in [`Network::host`].
#[derive(Debug)]
pub(crate) struct HostInput {
    /// Transport of each traffic entry.
    pub transports: Box<[TransportParameters]>,
    /// Clock of each host. `None` if all are exact.
    pub clocks: Option<Box<[NodeClock]>>,
    /// Delay of a notification between hosts.
    pub notification_delay: Time,
}

/// Parts of [`crate::parameters::Setup`] that nodes read.
#[derive(Debug)]
pub(crate) struct Network {
    pub fabric: Fabric,
    pub links: LinkKinds,
    pub switch: SwitchParameters,
    pub host: HostParameters,
    /// Planned flows and their dependencies. Hosts generate random flows themselves.
    pub traffic: traffic::Plan,
    pub seed: u64,
    /// Slot of each class: its index among the classes in use.
    pub class_slot: [u8; CLASSES],
    /// Gates, and clocks of switches.
    pub timing: Timing,
    /// Storage of telemetry records, if any transport collects telemetry.
    pub telemetry: Option<Telemetry>,
    /// Classes in use, ascending.
    pub classes: Vec<u8>,
    pub routing: RoutingInput,
    pub switches: SwitchInput,
    pub measurement: Measurement,
    pub hosts: HostInput,
}

impl Network {
    /// Returns the host that a notification is sent to: the source of the target flow, or the host of the target join.
    pub fn host_of(&self, target: u32) -> u32 {
        match self.traffic.joins.get((target & !JOIN) as usize) {
            Some(join) if target & JOIN != 0 => join.host,
            _ => self.traffic.flows[target as usize].src,
        }
    }

    /// Returns the parameters of the switch `node`, with its overrides. The kinds of buffer, flow control and overload
    /// always equal those of [`Network::switch`]. Hosts use the defaults.
    pub fn switch_of(&self, node: NodeId) -> &SwitchParameters {
        self.switches.switch_overrides.get(&node).unwrap_or(&self.switch)
    }

    /// Returns the parameters of a port, for marking and scheduling.
    pub fn port_of(&self, node: NodeId, port: PortIndex) -> &SwitchParameters {
        self.switches.port_overrides.get(&(node, port)).unwrap_or_else(|| self.switch_of(node))
    }

    /// Returns the number of traffic entries.
    pub fn traffic_entries(&self) -> usize {
        self.hosts.transports.len()
    }

    /// Returns the transport of a traffic entry.
    #[inline]
    pub fn transport(&self, traffic: u8) -> &TransportParameters {
        &self.hosts.transports[usize::from(traffic)]
    }

    /// Returns whether `flow` of this traffic entry consists of datagrams, which receivers do not acknowledge.
    pub fn is_datagram(&self, flow: u32, traffic: u8) -> bool {
        match self.traffic.flows.get(flow as usize) {
            Some(flow) if matches!(flow.load, Load::Datagrams(_)) => true,
            _ => matches!(self.transport(traffic), TransportParameters::Datagram(_)),
        }
    }

    /// Returns whether `flow` of this traffic entry is one of several messages of a connection.
    #[inline]
    pub fn carries_messages(&self, flow: u32, traffic: u8) -> bool {
        self.traffic.connections.are_shared_by(flow) && self.transport(traffic).has_connections()
    }

    /// Returns the receiver-driven transport, if there is one.
    pub fn receiver_driven(&self) -> Option<&TransportParameters> {
        self.hosts.transports.iter().find(|transport| transport.receiver_driven().is_some())
    }

    /// Returns the clock of a host, or `None` if it is exact.
    #[inline]
    pub fn clock(&self, host: u32) -> Option<&NodeClock> {
        self.hosts.clocks.as_ref().map(|clocks| &clocks[host as usize])
    }

    /// Returns the bitmask of the classes whose queues the neighbour on `port` pauses if the ingress account of
    /// `class` sends a PFC frame.
    pub fn stops(&self, node: NodeId, port: PortIndex, class: u8) -> u8 {
        let peer = self.fabric.ports(node)[usize::from(port)];
        let far = self.fabric.port_number(peer.peer, peer.peer_port);
        self.routing.tags.as_ref().map_or(1 << class, |tags| tags.stops(far, class))
    }

    /// Returns the class of the neighbour's ingress account whose PFC frames pause the queue of `class` at this port.
    pub fn stopped_by(&self, node: NodeId, port: PortIndex, class: u8) -> u8 {
        let number = || self.fabric.port_number(node, port);
        self.routing.tags.as_ref().map_or(class, |tags| tags.stopped_by(number(), class))
    }

    /// Returns the gates of a port, if any.
    pub fn gates(&self, node: NodeId, port: PortIndex) -> Option<Arc<GateList>> {
        let of_cycles = || self.timing.cycles.get(&(node, port)).and_then(|cycles| cycles.gates().ok()).map(Arc::new);
        self.timing.gates.get(&(node, port)).cloned().or_else(of_cycles)
    }

    /// Returns the number of queues of a switch port: one per class in use, or two per class if switches bounce frames.
    pub fn queues_per_port(&self) -> usize {
        let pairs = matches!(self.switch.overload, Overload::Bounce { .. });
        self.classes.len() * if pairs { 2 } else { 1 }
    }

    /// Returns the clock of a host or a switch, or `None` if it is exact.
    pub fn node_clock(&self, node: NodeId) -> Option<NodeClock> {
        match self.fabric.host_index(node) {
            Some(host) => self.clock(host).copied(),
            None => self.timing.clocks.of_switch(node.0, self.seed),
        }
    }

    /// Returns the preemption parameters of `node`. Only switches preempt.
    pub fn preemption_at(&self, node: NodeId) -> Option<PreemptionParameters> {
        self.timing.preemption.filter(|_| self.fabric.host_index(node).is_none())
    }

    /// Appends the telemetry of one hop when a frame that collects telemetry starts transmission at a switch. Returns
    /// the bytes of the frame if it is a probe, else 0.
    #[cold]
    pub fn collect(&self, frame: &Frame, hop: Hop) -> u64 {
        if let (Some(telemetry), Some(record)) = (&self.telemetry, frame.record().filter(|_| frame.goes_forward())) {
            telemetry.append(record, hop);
        }
        if frame.kind == Kind::Probe { frame.size_bytes.into() } else { 0 }
    }

    /// Returns the candidate egress ports for `frame` at `node`, ascending.
    #[inline]
    pub fn candidates(&self, node: NodeId, frame: &Frame, in_port: PortIndex) -> &[PortIndex] {
        self.routing.forwarding.lookup_from(node, frame.dst, in_port)
    }

    /// Returns the port by which `frame` leaves `node`, or `None` without a route.
    #[inline]
    pub fn route(&self, node: NodeId, salt: u32, frame: &Frame, in_port: PortIndex) -> Option<PortIndex> {
        if frame.flags & flags::EXPLICIT_PATH != 0 {
            return self.explicit(node, salt, frame, in_port);
        }
        match self.candidates(node, frame, in_port) {
            [] => None,
            &[only] => Some(only),
            ports => Some(choose(frame, salt, ports, in_port)),
        }
    }

    #[cold]
    fn explicit(&self, node: NodeId, salt: u32, frame: &Frame, in_port: PortIndex) -> Option<PortIndex> {
        let path = fabric::routing::PathId(frame.entropy);
        // Hop 0 is the host's own port. A frame beyond the end of its path follows the routing tables.
        match self.routing.paths.port(path, u32::from(frame.hops)) {
            Some(port) => Some(port),
            None => {
                let frame = Frame { flags: frame.flags & !flags::EXPLICIT_PATH, ..*frame };
                self.route(node, salt, &frame, in_port)
            }
        }
    }

    /// Returns the manual routes of a node.
    pub fn static_routes_of(&self, node: NodeId) -> &[StaticRoute] {
        let from = self.routing.static_routes.partition_point(|route| route.node < node);
        let count = self.routing.static_routes[from..].partition_point(|route| route.node == node);
        &self.routing.static_routes[from..from + count]
    }

    /// Returns whether a node has manual routes.
    pub fn has_static_routes(&self, node: NodeId) -> bool {
        !self.static_routes_of(node).is_empty()
    }

    /// Returns the hash salt of a node.
    pub fn salt(&self, node: NodeId) -> u32 {
        self.routing.forwarding.salt(node)
    }
}

impl Network {
    /// Returns whether switches bounce or detour frames.
    pub fn can_bounce(&self) -> bool {
        self.switches.overload_rule.is_some()
            || matches!(self.switch.overload, Overload::Bounce { .. } | Overload::Detour)
    }

    /// Returns the ingress port of `frame` at the switch `node` on its regular route from the source, whether or not it
    /// took that route. `None` if the route does not contain `node`.
    pub fn first_arrival(&self, node: NodeId, frame: &Frame) -> Option<PortIndex> {
        let mut at = self.fabric.host_node(frame.src);
        let mut ingress = PortIndex::MAX;
        // A regular route contains each node at most once, which bounds the loop.
        for _ in 0..=self.fabric.nodes().len() {
            if at == node {
                return Some(ingress);
            }
            let ports = self.candidates(at, frame, ingress);
            let port = match ports {
                [] => return None,
                &[only] => only,
                ports => ports[select(frame.entropy, self.salt(at), ports.len())],
            };
            let peer = self.fabric.ports(at)[usize::from(port)];
            (at, ingress) = (peer.peer, peer.peer_port);
        }
        None
    }

    /// Returns whether `node` is part of flow control. Hosts always are.
    pub fn has_flow_control(&self, node: NodeId) -> bool {
        self.switches.without_flow_control.binary_search(&node).is_err()
    }

    /// Returns the flow control that applies at the switch `node`.
    pub fn flow_control_of(&self, node: NodeId) -> &FlowControl {
        if self.has_flow_control(node) { &self.switch_of(node).flow_control } else { &FlowControl::None }
    }

    /// Returns the state of credit-based flow control of a port on `link`, if the nodes at both ends use it.
    pub fn credits(&self, link: &fabric::Link) -> Option<Box<CreditPort>> {
        let parameters = self.switch.flow_control.credit()?;
        if ![link.a.node, link.b.node].into_iter().all(|end| self.has_flow_control(end)) {
            return None;
        }
        let in_use = self.classes.iter().fold(0u8, |classes, &class| classes | 1 << class);
        let mtu = u64::from(self.host.mtu_bytes);
        let (credits, update) = parameters.on_link(link.rate, link.delay, mtu);
        Some(Box::new(CreditPort::new(parameters.classes & in_use, credits, update, mtu)))
    }

    /// Returns the headroom in bytes of the account in `slot` of a port of `switch`. Under credit-based flow control,
    /// returns the buffer space that the credits cover. Lossy classes have no headroom. The account of a neighbour
    /// outside flow control has the same headroom. Frames beyond it are dropped, so such a neighbour uses no buffer
    /// space of other accounts.
    pub fn headroom(&self, switch: NodeId, rate: Rate, delay: Time, slot: usize) -> u64 {
        match *self.flow_control_of(switch) {
            FlowControl::Pfc(parameters) if parameters.classes & (1 << self.classes[slot]) == 0 => 0,
            FlowControl::Credit(parameters) if parameters.classes & (1 << self.classes[slot]) == 0 => 0,
            FlowControl::Credit(parameters) => parameters.on_link(rate, delay, u64::from(self.host.mtu_bytes)).0,
            FlowControl::Pause(parameters) | FlowControl::Pfc(parameters) => {
                let used = self.classes.iter().fold(0, |used, &class| used | 1 << class);
                let control = &self.switch_of(switch).flow_control;
                let computed = || control.computed_headroom(rate, delay, self.host.mtu_bytes, used);
                parameters.headroom_bytes.or_else(|| computed().map(|headroom| headroom.bytes)).unwrap_or(0)
            }
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // [M29] [M32]
    #[test]
    fn a_frame_does_not_turn_around_on_a_regular_route() {
        let ports = [1, 4, 5, 9];
        for entropy in (0..u32::MAX).step_by(0x0101_0101) {
            let frame = Frame { entropy, ..Frame::default() };
            let port = ports[select(entropy, 7, 4)];
            assert_eq!(choose(&frame, 7, &ports, 3), port);
            let others: Vec<PortIndex> = ports.into_iter().filter(|&other| other != port).collect();
            assert_eq!(choose(&frame, 7, &ports, port), others[select(entropy, 7, 3)]);
        }
    }
}
