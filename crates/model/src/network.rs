//! What all nodes of a run share and never change: routes, traffic, parameters.

use crate::all_delays::AllDelays;
use crate::clock::NodeClock;
use crate::custom::{CustomOverload, CustomStop};
use crate::link_kinds::LinkKinds;
use crate::numbering::Numbering;
use crate::parameters::{
    CLASSES, FlowControl, HostParameters, Overload, Pin, Reroute, Spread, SwitchParameters, TagRules, Timing,
};
use crate::telemetry::Telemetry;
use crate::trace::selection::Selection;
use fabric::routing::{Forwarding, PathTable, select};
use fabric::{Fabric, NodeId, PortIndex};
use protocols::cbfc::CreditPort;
use protocols::cyclic::Cycles;
use protocols::florax::Pair;
use protocols::frame::{Frame, flags};
use protocols::gates::GateList;
use protocols::preemption::PreemptionParameters;
use protocols::telemetry::Hop;
use protocols::transport::TransportParameters;
use std::collections::BTreeMap;
use std::sync::Arc;
use traffic::{JOIN, Load};
use units::{Rate, Time};

/// One of at least two `ports`, by the frame's entropy; not `in_port`: only a frame on a detour around a failed
/// link would turn around on a regular route, and come back to that link for ever. A frame that was bounced takes
/// its own route again.
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

/// The parts of a [`crate::parameters::Setup`] that every node looks up.
#[derive(Debug)]
pub(crate) struct Network {
    pub fabric: Fabric,
    pub links: LinkKinds,
    pub forwarding: Forwarding,
    pub paths: PathTable,
    /// Routes set by hand, by node, then in the order in which they were given.
    pub pins: Vec<Pin>,
    /// How switches rewrite tags.
    pub tags: Option<TagRules>,
    pub spread: Spread,
    pub reroute: Reroute,
    pub switch: SwitchParameters,
    /// Those of switches that do something otherwise.
    pub own_switch: BTreeMap<NodeId, SwitchParameters>,
    /// Those of ports whose marking or scheduler is otherwise.
    pub own_port: BTreeMap<(NodeId, PortIndex), SwitchParameters>,
    /// What becomes of frames that cannot leave at once, where a library user says it.
    pub overload_rule: Option<CustomOverload>,
    /// When accounts stop their neighbours, where a library user says it.
    pub stop_rule: Option<CustomStop>,
    /// Switches that take no part in its flow control, ascending.
    pub outside: Vec<NodeId>,
    pub host: HostParameters,
    /// Planned flows and who waits for whom; drawn flows are with their hosts.
    pub traffic: traffic::Plan,
    /// How many traffic entries there are.
    pub traffic_entries: usize,
    pub seed: u64,
    /// Position among the classes in use, by class.
    pub class_slot: [u8; CLASSES],
    /// What carries flows, by traffic entry.
    pub transports: Box<[TransportParameters]>,
    /// What hosts take for the time, by host; `None` where all are exact.
    pub clocks: Option<Box<[NodeClock]>>,
    /// Of which traffic entries jitter is measured.
    pub jitter: Box<[bool]>,
    /// Delays that hosts have seen since the last reset.
    pub delays: AllDelays,
    /// Gates, and what switches take for the time.
    pub timing: Timing,
    /// Where telemetry is kept that frames collect, where any do.
    pub telemetry: Option<Telemetry>,
    /// The classes in use, ascending.
    pub classes: Vec<u8>,
    /// Agreed rates in bits a second, by source and destination.
    pub agreements: BTreeMap<Pair, u64>,
    /// Delay of a notification between hosts.
    pub notification_delay: Time,
    /// Whether a flow's frames cannot overtake each other.
    pub in_order: bool,
    /// What is traced and captured.
    pub selection: Option<Arc<Selection>>,
    /// How flows are numbered in results.
    pub numbering: Numbering,
    /// Whether pauses are written down.
    pub record_pauses: bool,
    /// Up to which displacement reordering is measured, if it is.
    pub reordering: Option<u32>,
    /// Whether lengths of output queues are measured.
    pub queue_lengths: bool,
    /// Above which share of a queue time is measured, if it is.
    pub utilisation: Option<f64>,
}

impl Network {
    /// The host at which the target of a notification waits: that of a flow's source, or of a join.
    pub fn host_of(&self, target: u32) -> u32 {
        match self.traffic.joins.get((target & !JOIN) as usize) {
            Some(join) if target & JOIN != 0 => join.host,
            _ => self.traffic.flows[target as usize].src,
        }
    }

    /// What `node` is as a switch; hosts have what all have. Its kinds of buffer, flow control and overload are those
    /// of [`Network::switch`].
    pub fn switch_of(&self, node: NodeId) -> &SwitchParameters {
        self.own_switch.get(&node).unwrap_or(&self.switch)
    }

    /// How the port `port` of `node` marks and schedules.
    pub fn port_of(&self, node: NodeId, port: PortIndex) -> &SwitchParameters {
        self.own_port.get(&(node, port)).unwrap_or_else(|| self.switch_of(node))
    }

    /// What carries the flows of a traffic entry.
    #[inline]
    pub fn transport(&self, traffic: u8) -> &TransportParameters {
        &self.transports[usize::from(traffic)]
    }

    /// Whether `flow` of this entry of the traffic consists of datagrams, which receivers do not acknowledge.
    pub fn is_datagram(&self, flow: u32, traffic: u8) -> bool {
        match self.traffic.flows.get(flow as usize) {
            Some(flow) if matches!(flow.load, Load::Datagrams(_)) => true,
            _ => matches!(self.transport(traffic), TransportParameters::Datagram(_)),
        }
    }

    /// Whether `flow` of this entry of the traffic is a message of a connection with several.
    #[inline]
    pub fn carries_messages(&self, flow: u32, traffic: u8) -> bool {
        self.traffic.connections.are_shared_by(flow) && self.transport(traffic).has_connections()
    }

    /// The transport whose receivers ask for what is sent, if one does.
    pub fn receiver_driven(&self) -> Option<&TransportParameters> {
        self.transports.iter().find(|transport| transport.receiver_driven().is_some())
    }

    /// The clock of a host; `None` if it is exact.
    #[inline]
    pub fn clock(&self, host: u32) -> Option<&NodeClock> {
        self.clocks.as_ref().map(|clocks| &clocks[host as usize])
    }

    /// The gates of a port, where it has any, and the clock that they go by; `None` is exact.
    pub fn gates(&self, node: NodeId, port: PortIndex) -> Option<(Arc<GateList>, Option<NodeClock>)> {
        let of_cycles = || self.timing.cycles.get(&(node, port)).and_then(|cycles| cycles.gates().ok()).map(Arc::new);
        let list = self.timing.gates.get(&(node, port)).cloned().or_else(of_cycles)?;
        Some((list, self.node_clock(node)))
    }

    /// The cycles of a port of a switch, where it has any, and the clock that they go by; `None` is exact.
    pub fn cycles(&self, node: NodeId, port: PortIndex) -> Option<(Cycles, Option<NodeClock>)> {
        Some((*self.timing.cycles.get(&(node, port))?, self.node_clock(node)))
    }

    /// The clock of a host or a switch; `None` if it is exact.
    fn node_clock(&self, node: NodeId) -> Option<NodeClock> {
        match self.fabric.host_index(node) {
            Some(host) => self.clock(host).copied(),
            None => self.timing.clocks.of_switch(node.0, self.seed),
        }
    }

    /// Who interrupts whom at the ports of `node`: at switches alone.
    pub fn preemption_at(&self, node: NodeId) -> Option<PreemptionParameters> {
        self.timing.preemption.filter(|_| self.fabric.host_index(node).is_none())
    }

    /// A frame that collects telemetry starts to leave a switch by a port.
    #[cold]
    pub fn collect(&self, frame: &Frame, hop: Hop) {
        if let (Some(telemetry), Some(record)) = (&self.telemetry, frame.record().filter(|_| frame.goes_forward())) {
            telemetry.append(record, hop);
        }
    }

    /// The candidate egress ports for `frame` at `node`, by ascending port.
    #[inline]
    pub fn candidates(&self, node: NodeId, frame: &Frame, in_port: PortIndex) -> &[PortIndex] {
        self.forwarding.lookup_from(node, frame.dst, in_port)
    }

    /// The port by which `frame` leaves `node`; `None` without a route.
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
        // Hop 0 is the host's own port. A frame beyond its path's end goes on by the ordinary tables.
        match self.paths.port(path, u32::from(frame.hops)) {
            Some(port) => Some(port),
            None => {
                let frame = Frame { flags: frame.flags & !flags::EXPLICIT_PATH, ..*frame };
                self.route(node, salt, &frame, in_port)
            }
        }
    }

    /// The pins of a node.
    pub fn pins_of(&self, node: NodeId) -> &[Pin] {
        let from = self.pins.partition_point(|pin| pin.node < node);
        let count = self.pins[from..].partition_point(|pin| pin.node == node);
        &self.pins[from..from + count]
    }

    /// Whether a node has pins.
    pub fn has_pins(&self, node: NodeId) -> bool {
        !self.pins_of(node).is_empty()
    }

    /// The salt of a node's choices.
    pub fn salt(&self, node: NodeId) -> u32 {
        self.forwarding.salt(node)
    }
}

impl Network {
    /// Whether switches turn frames around or send them by other ports than their routes'.
    pub fn turns(&self) -> bool {
        self.overload_rule.is_some() || matches!(self.switch.overload, Overload::Bounce { .. } | Overload::Detour)
    }

    /// The port by which `frame` came, or would have come, to the switch `node` on its way from its source along
    /// regular routes; `None` where these do not pass there.
    pub fn first_arrival(&self, node: NodeId, frame: &Frame) -> Option<PortIndex> {
        let mut at = self.fabric.host_node(frame.src);
        let mut ingress = PortIndex::MAX;
        // Each node is passed at most once on a regular route.
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

    /// Whether flow control reaches `node`: hosts always, and switches but for those left out.
    pub fn takes_part(&self, node: NodeId) -> bool {
        self.outside.binary_search(&node).is_err()
    }

    /// Flow control as the switch `node` lives it.
    pub fn flow_control_of(&self, node: NodeId) -> &FlowControl {
        if self.takes_part(node) { &self.switch_of(node).flow_control } else { &FlowControl::None }
    }

    /// The credits of a port on `link`, where there are any: both ends must know of them.
    pub fn credits(&self, link: &fabric::Link) -> Option<Box<CreditPort>> {
        let parameters = self.switch.flow_control.credit()?;
        if ![link.a.node, link.b.node].into_iter().all(|end| self.takes_part(end)) {
            return None;
        }
        let in_use = self.classes.iter().fold(0u8, |classes, &class| classes | 1 << class);
        let mtu = u64::from(self.host.mtu_bytes);
        let (credits, update) = parameters.on_link(link.rate, link.delay, mtu);
        Some(Box::new(CreditPort::new(parameters.classes & in_use, credits, update, mtu)))
    }

    /// The headroom of the account in `slot` of a port of `switch` on `link`, with credits the room that they stand
    /// for: zero for lossy classes. A neighbour that takes no part gets the same, beyond which its frames are lost: it
    /// takes nothing from others.
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
