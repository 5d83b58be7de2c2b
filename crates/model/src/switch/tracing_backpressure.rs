//! Tracing of paused and held flows.

use super::Switch;
use super::core::Core;
use crate::trace::{Tracer, traffic};
use protocols::florax::PauseRequest;
use protocols::frame::Frame;
use stats::trace::TraceEvent;
use units::Time;

impl Core {
    /// Traces an XOFF or XON of the output `egress` at a backlog of `waiting`.
    #[cold]
    pub(super) fn trace_xoff(&mut self, now: Time, egress: u16, waiting: u64, call: PauseRequest) {
        let (port, of) = (call.port, traffic(&self.network.fabric, call.pair));
        let event = match call.rate_bps {
            Some(rate_bps) => TraceEvent::Xoff { port, egress, of, rate_bps, waiting },
            None => TraceEvent::Xon { port, egress, of, waiting },
        };
        if let Some(tracer) = &mut self.stats.tracer {
            tracer.note_port(now, event);
        }
    }
}

impl Switch {
    /// Traces a frame that joins the queue of its held flow.
    #[cold]
    pub(super) fn note_held(&self, tracer: &mut Tracer, frame: &Frame, port: u16, wanted: bool) {
        let Some(held) = self.backpressure.as_ref().map(|backpressure| &backpressure.held).filter(|_| wanted) else {
            return;
        };
        let (ahead, until) = held.ahead_of(port, frame);
        tracer.note(frame.at, frame, TraceEvent::Queued { port, ahead, wire_free: until.max(frame.at) });
    }
}
