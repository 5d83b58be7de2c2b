//! What is traced and captured in a run.

use crate::numbering::Numbering;
use crate::parameters::{CaptureParameters, RecordParameters, TraceParameters};
use fabric::{Fabric, NodeId};
use protocols::frame::{Frame, Kind, flags};
use stats::trace::PacketKind;
use traffic::Connections;
use units::Time;

/// A frame that passed a captured port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturedFrame {
    /// Which of [`RecordParameters::capture`], by index.
    pub capture: usize,
    /// When its first bit left, or its last bit had come.
    pub at: Time,
    /// Whether it left.
    pub outbound: bool,
    /// The frame as it was there.
    pub frame: Frame,
}

/// What is traced and captured in a run.
#[derive(Debug)]
pub(crate) struct Selection {
    trace: Option<TraceParameters>,
    captures: Vec<CaptureParameters>,
    numbering: Numbering,
}

/// What results call a frame; MAC control frames live for one link and are no packets.
pub(crate) fn packet_kind(frame: &Frame) -> Option<PacketKind> {
    match frame.kind {
        // A header is still the packet that it was.
        Kind::Data | Kind::Trimmed | Kind::Returned => Some(PacketKind::Data),
        Kind::Ack if frame.has(flags::NAK) => Some(PacketKind::Nak),
        Kind::Ack => Some(PacketKind::Ack),
        Kind::Cnp | Kind::Cnm => Some(PacketKind::Cnp),
        Kind::Pull | Kind::Probe | Kind::Control => Some(PacketKind::Control),
        Kind::Pause | Kind::Pfc | Kind::Credit | Kind::Xoff | Kind::Xon | Kind::Trigger => None,
    }
}

impl Selection {
    /// What `record` chooses; `None` if nothing. A message chooses its connection, whose number its frames carry.
    pub fn new(record: &RecordParameters, numbering: Numbering, connections: &Connections) -> Option<Selection> {
        if record.trace.is_none() && record.capture.is_empty() {
            return None;
        }
        let mut trace = record.trace.clone();
        if let Some(trace) = &mut trace {
            let of = |&flow: &u64| u32::try_from(flow).map_or(flow, |flow| connections.of(flow).into());
            let carried: Vec<u64> = trace.flows.iter().map(of).collect();
            trace.flows.extend(carried);
            trace.flows.sort_unstable();
            trace.flows.dedup();
        }
        Some(Selection { trace, captures: record.capture.clone(), numbering })
    }

    /// Whether `node` notes anything: with a trace every node does, for pauses are followed from node to node.
    pub fn watches(&self, node: NodeId) -> bool {
        self.trace.is_some() || self.captures.iter().any(|capture| capture.node == node)
    }

    /// For each port of `node`: whether it is traced for itself.
    pub(super) fn traced_ports(&self, fabric: &Fabric, node: NodeId) -> Vec<bool> {
        let mut ports = vec![false; fabric.ports(node).len()];
        for &(_, port) in self.trace.iter().flat_map(|trace| &trace.ports).filter(|chosen| chosen.0 == node) {
            if let Some(port) = ports.get_mut(usize::from(port)) {
                *port = true;
            }
        }
        ports
    }

    /// The captures at ports of `node`: port, index, which directions.
    pub(super) fn captures_at(&self, node: NodeId) -> Vec<(u16, usize, CaptureParameters)> {
        let captures = self.captures.iter().enumerate().filter(|(_, capture)| capture.node == node);
        captures.map(|(index, &capture)| (capture.port, index, capture)).collect()
    }

    /// Whether something that happens to `frame` at `now` is noted, wherever it happens.
    pub(super) fn chooses(&self, now: Time, frame: &Frame) -> bool {
        let Some(trace) = &self.trace else { return false };
        if now < trace.from || now >= trace.until {
            return false;
        }
        let all = trace.flows.is_empty() && trace.ports.is_empty();
        all || (!trace.flows.is_empty() && trace.flows.binary_search(&self.numbering.of_frame(frame)).is_ok())
    }

    /// Whether something that happens at `now` to a frame at a port that is traced for itself is noted.
    pub(super) fn chooses_ports(&self, now: Time) -> bool {
        self.trace.as_ref().is_some_and(|trace| now >= trace.from && now < trace.until)
    }

    /// Whether a pause at `now` is noted: from the beginning, for it may last into the chosen time.
    pub(super) fn chooses_pauses(&self, now: Time) -> bool {
        self.trace.as_ref().is_some_and(|trace| now < trace.until)
    }

    /// See [`Numbering`].
    pub fn numbering(&self) -> Numbering {
        self.numbering
    }
}

units::pack_fields!(CapturedFrame { capture, at, outbound, frame });
