//! Merges the trace events of the nodes into rows in order of time, with one number per packet.

use super::selection::{CapturedFrame, Selection, packet_kind};
use super::tracer::RawEvent;
use crate::watcher::Watcher;
use fabric::NodeId;
use protocols::frame::{Detail, Frame};
use rustc_hash::FxHashMap;
use stats::trace::{PacketKind, TraceRow, TracedPacket};
use std::sync::Arc;
use units::Time;

/// Maximum number of packets in one generation of the number table: the number of packets in flight in a large network.
const REMEMBERED: usize = 1 << 19;

/// Key of a packet: flow, kind, sequence number, creation time, and detail.
type PacketKey = (u64, PacketKind, u64, Time, Detail);

/// Collector of the trace events of all nodes.
#[derive(Debug)]
pub(crate) struct Collector {
    selection: Arc<Selection>,
    next: u64,
    /// Numbers of packets in flight, in two generations. A full `young` replaces `old`, which evicts packets whose end
    /// is not traced.
    young: FxHashMap<PacketKey, u64>,
    old: FxHashMap<PacketKey, u64>,
    events: Vec<(NodeId, RawEvent)>,
    captured: Vec<CapturedFrame>,
}

impl Collector {
    pub fn new(selection: Arc<Selection>) -> Self {
        let (young, old) = Default::default();
        Collector { selection, next: 0, young, old, events: Vec::new(), captured: Vec::new() }
    }

    /// Appends the events of `node`. Callers must append nodes in ascending order: the sort by time is stable, so
    /// simultaneous events stay in order of nodes.
    pub fn take(&mut self, node: NodeId, events: &mut Vec<RawEvent>, captured: &mut Vec<CapturedFrame>) {
        self.events.extend(events.drain(..).map(|event| (node, event)));
        self.captured.append(captured);
    }

    /// Passes all events since the last call to `watcher`, in order of time.
    pub fn flush(&mut self, watcher: &mut dyn Watcher) {
        let mut events = std::mem::take(&mut self.events);
        events.sort_by_key(|(_, event)| event.at);
        for (node, event) in events.drain(..) {
            let packet = event.frame.as_ref().and_then(|frame| self.packet(frame, event.event.is_end()));
            watcher.trace(&TraceRow { at: event.at, node: node.0, packet, event: event.event });
        }
        self.events = events;
        self.captured.sort_by_key(|captured| captured.at);
        for captured in self.captured.drain(..) {
            watcher.captured(&captured);
        }
    }

    fn packet(&mut self, frame: &Frame, ends: bool) -> Option<TracedPacket> {
        let kind = packet_kind(frame)?;
        let flow = self.selection.numbering().of_frame(frame);
        // The time stamp identifies a data frame; several acknowledgements may carry the time stamp of one frame, so
        // their key includes the detail.
        let more = if kind == PacketKind::Data || frame.record().is_some() { Detail::NONE } else { frame.detail };
        let identity = (flow, kind, frame.seq, frame.stamp, more);
        let known = self.young.get(&identity).or_else(|| self.old.get(&identity)).copied();
        let number = known.unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        if ends {
            self.young.remove(&identity);
            self.old.remove(&identity);
        } else {
            if self.young.len() >= REMEMBERED {
                self.old = std::mem::take(&mut self.young);
            }
            self.young.insert(identity, number);
        }
        Some(TracedPacket {
            number,
            flow,
            kind,
            seq: frame.seq,
            payload_bytes: frame.payload_bytes,
            size_bytes: frame.size_bytes,
            class: frame.class,
            retransmission: kind == PacketKind::Data && frame.has(protocols::frame::flags::RETRANSMISSION),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbering::Numbering;
    use crate::parameters::{RecordParameters, TraceParameters};
    use protocols::frame::Kind;
    use stats::trace::TraceEvent;

    fn collector() -> Collector {
        let record = RecordParameters { trace: Some(TraceParameters::everything()), ..RecordParameters::default() };
        Collector::new(Arc::new(
            Selection::new(&record, Numbering { planned: 4, hosts: 2 }, &Default::default()).unwrap(),
        ))
    }

    struct Rows(Vec<(u64, u32, Option<u64>)>);
    impl Watcher for Rows {
        fn trace(&mut self, row: &TraceRow) {
            self.0.push((row.at.as_ps(), row.node, row.packet.map(|packet| packet.number)));
        }
    }

    #[test]
    fn rows_stand_by_time_then_node_and_a_packet_keeps_its_number_until_its_end() {
        let frame = |seq| Frame { seq, flow: 1, ..Frame::default() };
        let event = |at, seq, event| RawEvent { at: Time::from_ps(at), frame: Some(frame(seq)), event };
        let started = || TraceEvent::Started { port: 0, since: Time::ZERO, until: Time::ZERO };
        let mut collector = collector();
        let mut rows = Rows(Vec::new());
        collector.take(NodeId(0), &mut vec![event(5, 0, started()), event(9, 7, started())], &mut Vec::new());
        collector.take(NodeId(1), &mut vec![event(3, 7, started()), event(5, 0, TraceEvent::Delivered)], &mut vec![]);
        collector.flush(&mut rows);
        assert_eq!(rows.0, [(3, 1, Some(0)), (5, 0, Some(1)), (5, 1, Some(1)), (9, 0, Some(0))]);
        // The packet with seq 0 was delivered, so its key gets the new number 2. The packet with seq 7 keeps number 0.
        rows.0.clear();
        collector.take(NodeId(0), &mut vec![event(10, 0, started()), event(11, 7, started())], &mut Vec::new());
        collector.flush(&mut rows);
        assert_eq!(rows.0, [(10, 0, Some(2)), (11, 0, Some(0))]);
    }

    #[test]
    fn flows_have_numbers_that_do_not_meet() {
        let numbering = Numbering { planned: 4, hosts: 3 };
        let drawn = crate::numbering::DRAWN;
        let numbers = [numbering.of(9, 3), numbering.of(0, drawn), numbering.of(2, drawn), numbering.of(0, drawn | 1)];
        assert_eq!(numbers, [3, 4, 6, 7]);
        let ack = Frame { kind: Kind::Ack, src: 1, dst: 2, flow: drawn, ..Frame::default() };
        assert_eq!(numbering.of_frame(&ack), 6, "an acknowledgement is of the flow of the host that it goes to");
    }
}
