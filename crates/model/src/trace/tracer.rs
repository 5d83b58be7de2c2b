//! Trace recorder of one node.

use super::selection::{CapturedFrame, Selection};
use crate::network::Network;
use crate::parameters::CaptureParameters;
use check::conservation::Cause;
use fabric::NodeId;
use protocols::frame::Frame;
use stats::trace::{Load, TraceEvent};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use units::Time;

/// A trace event of a node. The collector assigns the packet number.
#[derive(Clone, Debug)]
pub(crate) struct RawEvent {
    pub at: Time,
    pub frame: Option<Frame>,
    pub event: TraceEvent,
}

/// Events and captures recorded by a traced node.
#[derive(Debug)]
pub(crate) struct Tracer {
    selection: Arc<Selection>,
    /// For each port, whether the port list of the trace contains it.
    ports: Vec<bool>,
    captures: Vec<(u16, usize, CaptureParameters)>,
    pub events: Vec<RawEvent>,
    pub captured: Vec<CapturedFrame>,
    /// Ports and classes whose neighbour is stalled because it lacks credits of this node, with the time of the last
    /// trace event of the stall.
    pub credit_stalls: BTreeMap<(u16, u8), Time>,
}

impl Tracer {
    /// Creates the tracer of `node`; `None` if it is not traced.
    pub fn new(network: &Network, node: NodeId) -> Option<Box<Tracer>> {
        let selection = network.measurement.selection.as_ref().filter(|selection| selection.traces(node))?;
        Some(Box::new(Tracer {
            selection: Arc::clone(selection),
            ports: selection.traced_ports(&network.fabric, node),
            captures: selection.captures_at(node),
            events: Vec::new(),
            captured: Vec::new(),
            credit_stalls: BTreeMap::new(),
        }))
    }

    /// Returns whether events of `frame` with these ingress and egress ports are traced.
    pub fn selects(&self, now: Time, frame: &Frame, in_port: Option<u16>, out_port: Option<u16>) -> bool {
        let at = |port: Option<u16>| port.is_some_and(|port| self.ports[usize::from(port)]);
        !frame.is_mac_control()
            && (self.selection.selects(now, frame)
                || ((at(in_port) || at(out_port)) && self.selection.selects_ports(now)))
    }

    /// Traces an event of a [selected](Self::selects) frame.
    pub fn note(&mut self, at: Time, frame: &Frame, event: TraceEvent) {
        self.events.push(RawEvent { at, frame: Some(*frame), event });
    }

    /// Traces an event of a port.
    pub fn note_port(&mut self, at: Time, event: TraceEvent) {
        if self.selection.selects_pauses(at) {
            self.events.push(RawEvent { at, frame: None, event });
        }
    }

    /// Traces the loss of a frame towards `out_port` with the backlog `queue`, if the frame is selected.
    pub fn note_loss(
        &mut self,
        frame: &Frame,
        at: Time,
        cause: Cause,
        (in_port, out_port): (Option<u16>, Option<u16>),
        queue: Load,
        account_bytes: Option<u64>,
    ) {
        if self.selects(at, frame, in_port, out_port) {
            let cause = Cow::Borrowed(cause.name());
            self.note(at, frame, TraceEvent::Dropped { cause, port: out_port, in_port, queue, account_bytes });
        }
    }

    /// Traces the flows with the most bytes ahead of `frame` in `queue`, in descending order of bytes.
    pub fn note_ahead<'f>(&mut self, at: Time, frame: &Frame, port: u16, queue: impl Iterator<Item = &'f Frame>) {
        /// Maximum number of traced flows.
        const NAMED: usize = 4;
        let mut flows: BTreeMap<u64, Load> = BTreeMap::new();
        for other in queue {
            let load = flows.entry(self.selection.numbering().of_frame(other)).or_default();
            load.frames += 1;
            load.bytes += u64::from(other.size_bytes);
        }
        let mut flows: Vec<(u64, Load)> = flows.into_iter().collect();
        flows.sort_by_key(|&(flow, load)| (std::cmp::Reverse(load.bytes), flow));
        for (flow, load) in flows.into_iter().take(NAMED) {
            self.note(at, frame, TraceEvent::Ahead { port, flow, load });
        }
    }

    /// Captures a frame that `port` sends. `at` is the time of its first bit.
    pub fn capture_sent(&mut self, at: Time, port: u16, frame: &Frame) {
        self.capture(at, port, frame, true);
    }

    /// Captures a frame that `port` received. `at` is the time of its last bit.
    pub fn capture_received(&mut self, at: Time, port: u16, frame: &Frame) {
        self.capture(at, port, frame, false);
    }

    fn capture(&mut self, at: Time, port: u16, frame: &Frame, outbound: bool) {
        for &(_, capture, parameters) in self.captures.iter().filter(|capture| capture.0 == port) {
            let direction = if outbound { parameters.outbound } else { parameters.inbound };
            if direction && at >= parameters.from && at < parameters.until {
                self.captured.push(CapturedFrame { capture, at, outbound, frame: *frame });
            }
        }
    }
}

units::pack_fields!(RawEvent { at, frame, event });
