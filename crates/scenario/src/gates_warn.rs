//! Finds the gates on the paths of each traffic class, and warns if they are never open long enough for a frame.

use crate::gates_part::Gates;
use crate::section::Context;
use fabric::routing::{Forwarding, PathId, PathTable};
use fabric::{Fabric, NodeId, PortIndex};
use protocols::hold::HeldGates;
use protocols::preemption::PreemptionParameters;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use traffic::{Load, Plan};
use units::{Time, WIRE_OVERHEAD_BYTES};

/// Longest frame in bytes, by class and egress port.
type Longest = BTreeMap<(u8, NodeId, PortIndex), u16>;

/// Sources of frame paths: routing tables before any failure and without manual routes, and explicit paths of flows.
pub(crate) struct FramePaths<'a> {
    pub fabric: &'a Fabric,
    pub forwarding: &'a Forwarding,
    pub paths: &'a PathTable,
}

impl FramePaths<'_> {
    /// Returns the longest frame that each egress port transmits, per class.
    fn longest(&self, plan: &Plan, transport_mtu_bytes: u16) -> Longest {
        let mut longest = Longest::new();
        // Longest frame of each source, by destination and class, so that each path is walked only once.
        let mut routed = BTreeMap::<(u32, u8), BTreeMap<u32, u16>>::new();
        let mut add = |src: u32, dst: u32, class: u8, frame: u16| {
            let known = routed.entry((dst, class)).or_default().entry(src).or_default();
            *known = frame.max(*known);
        };
        for flow in &plan.flows {
            let frame = match &flow.load {
                Load::Datagrams(source) => source.longest_bytes(),
                Load::Transport => transport_mtu_bytes,
            };
            match flow.path {
                None => add(flow.src, flow.dst, flow.class, frame),
                Some(path) => self.along(flow.src, PathId(path), (flow.class, frame), &mut longest),
            }
        }
        for arrivals in &plan.arrivals {
            for &dst in arrivals.destinations().iter().filter(|&&dst| dst != arrivals.src) {
                add(arrivals.src, dst, arrivals.class, transport_mtu_bytes);
            }
        }
        for ((dst, class), sources) in routed {
            self.towards(dst, class, &sources, &mut longest);
        }
        longest
    }

    /// Adds the egress ports on the path of a flow with an explicit path.
    fn along(&self, src: u32, path: PathId, (class, frame): (u8, u16), longest: &mut Longest) {
        let mut node = self.fabric.host_node(src);
        for &port in self.paths.ports(path) {
            raise(longest, (class, node, port), frame);
            node = self.fabric.ports(node)[usize::from(port)].peer;
        }
    }

    /// Adds the egress ports on all paths from `sources` to a host. `sources` has the longest frame in bytes that each
    /// source sends to this host.
    fn towards(&self, dst: u32, class: u8, sources: &BTreeMap<u32, u16>, longest: &mut Longest) {
        let end = self.fabric.host_node(dst);
        let mut seen = BTreeMap::<(NodeId, Option<PortIndex>), u16>::new();
        let first = |(&src, &frame): (&u32, &u16)| ((self.fabric.host_node(src), None), frame);
        let mut open: Vec<_> = sources.iter().map(first).collect();
        while let Some(((node, ingress), frame)) = open.pop() {
            let known = seen.entry((node, ingress)).or_default();
            if node == end || *known >= frame {
                continue;
            }
            *known = frame;
            let group = match ingress {
                None => self.forwarding.lookup(node, dst),
                Some(ingress) => self.forwarding.lookup_from(node, dst, ingress),
            };
            for &port in group {
                raise(longest, (class, node, port), frame);
                let peer = &self.fabric.ports(node)[usize::from(port)];
                open.push(((peer.peer, Some(peer.peer_port)), frame));
            }
        }
    }
}

fn raise(longest: &mut Longest, key: (u8, NodeId, PortIndex), frame: u16) {
    let known = longest.entry(key).or_default();
    *known = frame.max(*known);
}

/// Warns of classes whose gates on a path never open, or never for the transmission time of their longest frame.
pub(crate) fn warn(
    context: &Context<'_>,
    paths: &FramePaths<'_>,
    (gates, preemption): (&Gates, Option<PreemptionParameters>),
    plan: &Plan,
    transport_mtu_bytes: u16,
) {
    if gates.is_empty() {
        return;
    }
    let fabric = paths.fabric;
    let mut worst = BTreeMap::<u8, (Time, Reverse<u16>, Time, NodeId, PortIndex, Time)>::new();
    for ((class, node, port), frame) in paths.longest(plan, transport_mtu_bytes) {
        let Some(list) = gates.get(&(node, port)) else { continue };
        let rate = fabric.link(fabric.ports(node)[usize::from(port)].link).rate;
        let needed = rate.serialise(u64::from(frame) + WIRE_OVERHEAD_BYTES);
        let preempts = preemption.filter(|_| fabric.host_index(node).is_none());
        let held = preempts.and_then(|it| HeldGates::at_rate(list, it, rate)).filter(|it| !it.is_express(class));
        let open = held.as_ref().map_or(list.longest(class), |it| it.longest(class));
        let passes = match &held {
            Some(held) => held.opens_at(Time::ZERO, class, needed, Time::ZERO) < Time::MAX,
            None => open >= needed,
        };
        if !passes {
            let opens = list.longest(class) > Time::ZERO;
            let advance = held.filter(|_| opens).map_or(Time::ZERO, |it| it.hold_advance());
            // Keep the shortest open interval; for equal intervals, the longest frame.
            let found = (open, Reverse(frame), needed, node, port, advance);
            worst.entry(class).and_modify(|known| *known = found.min(*known)).or_insert(found);
        }
    }
    for (class, (open, Reverse(frame), needed, node, port, advance)) in worst {
        let location = format!("port {port} of `{}`", fabric.name(node));
        let message = if advance > Time::ZERO {
            format!(
                "class {class} may start or continue at {location} for at most {open} at a time (gate open, MAC \
                 released); a frame of {frame} bytes needs {needed}, or more than {advance} ahead of a hold: its \
                 frames are never sent"
            )
        } else if open == Time::ZERO {
            format!("class {class} has traffic, but its gate at {location} never opens: its frames are never sent")
        } else {
            format!(
                "frames of class {class} have up to {frame} bytes and need {needed} at {location}, but its gate there \
                 is open for at most {open} at a time: they are never sent"
            )
        };
        context.warn("gates", message);
    }
}
