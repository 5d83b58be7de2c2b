//! Selection of frames to trace and capture.

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
    /// Index into [`RecordParameters::capture`].
    pub capture: usize,
    /// Time of the first bit if sent, of the last bit if received.
    pub at: Time,
    /// Whether the frame was sent, not received, at the port.
    pub outbound: bool,
    /// The frame as it was at the port.
    pub frame: Frame,
}

/// Selection of frames to trace and capture in a run.
#[derive(Debug)]
pub(crate) struct Selection {
    trace: Option<TraceParameters>,
    captures: Vec<CaptureParameters>,
    numbering: Numbering,
}

/// Returns the kind of packet of a frame. `None` for MAC control frames: they exist on one link only and are not
/// packets.
pub(crate) fn packet_kind(frame: &Frame) -> Option<PacketKind> {
    match frame.kind {
        // A trimmed or returned header keeps the packet number of its data frame.
        Kind::Data | Kind::Trimmed | Kind::Returned => Some(PacketKind::Data),
        Kind::Ack if frame.has(flags::NAK) => Some(PacketKind::Nak),
        Kind::Ack => Some(PacketKind::Ack),
        Kind::Cnp | Kind::Cnm => Some(PacketKind::Cnp),
        Kind::Pull | Kind::Probe | Kind::Control => Some(PacketKind::Control),
        Kind::Pause | Kind::Pfc | Kind::Credit | Kind::Xoff | Kind::Xon | Kind::Trigger => None,
    }
}

impl Selection {
    /// Returns the selection of `record`; `None` if empty. A selected message also selects its connection, because
    /// frames carry the number of the connection.
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

    /// Returns whether `node` records events. With a trace, every node records events, because pauses propagate from
    /// node to node.
    pub fn traces(&self, node: NodeId) -> bool {
        self.trace.is_some() || self.captures.iter().any(|capture| capture.node == node)
    }

    /// Returns, for each port of `node`, whether the port list of the trace contains it.
    pub(super) fn traced_ports(&self, fabric: &Fabric, node: NodeId) -> Vec<bool> {
        let mut ports = vec![false; fabric.ports(node).len()];
        for &(_, port) in self.trace.iter().flat_map(|trace| &trace.ports).filter(|chosen| chosen.0 == node) {
            if let Some(port) = ports.get_mut(usize::from(port)) {
                *port = true;
            }
        }
        ports
    }

    /// Returns the captures at ports of `node`: port, index, parameters.
    pub(super) fn captures_at(&self, node: NodeId) -> Vec<(u16, usize, CaptureParameters)> {
        let captures = self.captures.iter().enumerate().filter(|(_, capture)| capture.node == node);
        captures.map(|(index, &capture)| (capture.port, index, capture)).collect()
    }

    /// Returns whether events of `frame` at `now` are traced at all nodes.
    pub(super) fn selects(&self, now: Time, frame: &Frame) -> bool {
        let Some(trace) = &self.trace else { return false };
        if now < trace.from || now >= trace.until {
            return false;
        }
        let all = trace.flows.is_empty() && trace.ports.is_empty();
        all || (!trace.flows.is_empty() && trace.flows.binary_search(&self.numbering.of_frame(frame)).is_ok())
    }

    /// Returns whether events at selected ports are traced at `now`.
    pub(super) fn selects_ports(&self, now: Time) -> bool {
        self.trace.as_ref().is_some_and(|trace| now >= trace.from && now < trace.until)
    }

    /// Returns whether a pause at `now` is traced. Pauses before the start of the trace are included, because they may
    /// extend into it.
    pub(super) fn selects_pauses(&self, now: Time) -> bool {
        self.trace.as_ref().is_some_and(|trace| now < trace.until)
    }

    /// Returns the [`Numbering`] of flows.
    pub fn numbering(&self) -> Numbering {
        self.numbering
    }
}

units::pack_fields!(CapturedFrame { capture, at, outbound, frame });
