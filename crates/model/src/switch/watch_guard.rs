//! What a watched switch notes of flows that are stopped and held.

use super::Switch;
use crate::trace::Tracer;
use fabric::Fabric;
use protocols::florax::{Call, Pair};
use protocols::frame::{ANY_SOURCE, Frame, Kind, XoffCall};
use record::trace::{TraceEvent, Traffic};
use units::Time;

fn traffic(fabric: &Fabric, pair: Pair) -> Traffic {
    let named = |host: u32| (host != ANY_SOURCE).then(|| fabric.host_node(host).0);
    Traffic { src: named(pair.src), dst: named(pair.dst) }
}

impl Switch {
    /// The output `egress`, where `waiting` waits, calls a neighbour.
    #[cold]
    pub(super) fn note_call(&mut self, now: Time, egress: u16, waiting: u64, call: Call) {
        let (port, of) = (call.port, traffic(&self.network.fabric, call.pair));
        let event = match call.rate_bps {
            Some(rate_bps) => TraceEvent::Xoff { port, egress, of, rate_bps, waiting },
            None => TraceEvent::Xon { port, egress, of, waiting },
        };
        if let Some(tracer) = &mut self.tracer {
            tracer.note_port(now, event);
        }
    }

    /// The frame waits behind others of its flow, which is held.
    #[cold]
    pub(super) fn note_held(&self, tracer: &mut Tracer, frame: &Frame, port: u16, wanted: bool) {
        let Some(held) = self.guarded.as_ref().map(|guarded| &guarded.held).filter(|_| wanted) else { return };
        let (ahead, until) = held.ahead_of(port, frame);
        tracer.note(frame.at, frame, TraceEvent::Queued { port, ahead, wire_free: until.max(frame.at) });
    }
}

impl Tracer {
    /// An XOFF or XON came in by `port`.
    #[cold]
    pub fn note_call_heard(&mut self, fabric: &Fabric, port: u16, frame: &Frame) {
        let of = traffic(fabric, Pair { src: frame.src, dst: frame.dst });
        let event = if frame.kind == Kind::Xoff {
            let XoffCall { rate_bps, expiry } = frame.xoff_call();
            TraceEvent::Held { port, of, rate_bps, until: frame.at.saturating_add(expiry) }
        } else {
            TraceEvent::Freed { port, of }
        };
        self.note_port(frame.at, event);
    }
}
