//! Tracing at a host.

use super::Host;
use crate::trace::Tracer;
use check::conservation::Cause;
use protocols::frame::{Frame, Kind};
use stats::trace::{Load, TraceEvent};
use units::Time;

impl Tracer {
    /// Traces a data frame created at `since`, with its first bit sent at `now` and its last bit received at
    /// `frame.at`.
    #[cold]
    pub fn note_segment(&mut self, now: Time, since: Time, port: u16, frame: &Frame) {
        self.capture_sent(now, port, frame);
        if self.selects(now, frame, None, Some(port)) {
            self.note(now, frame, TraceEvent::Created { since });
            self.note(now, frame, TraceEvent::Started { port, since: now, until: frame.at });
        }
    }
}

impl Host {
    /// Traces the arrival of a frame, and its end if this host is the destination.
    #[cold]
    pub(super) fn note_arrival(&mut self, in_port: u16, frame: &Frame) {
        let (now, mine) = (frame.at, frame.dst == self.identity.index);
        let Some(tracer) = &mut self.stats.tracer else { return };
        tracer.capture_received(now, in_port, frame);
        if tracer.selects(now, frame, Some(in_port), None) {
            tracer.note(now, frame, TraceEvent::Arrived { in_port });
            if mine {
                let end = match frame.kind {
                    Kind::Data | Kind::Trimmed => TraceEvent::Delivered,
                    _ => TraceEvent::Consumed,
                };
                tracer.note(now, frame, end);
            }
        }
    }

    /// Traces a reply that this host has just created for `port`, before the reply waits in a queue or for the end of a
    /// hold.
    #[cold]
    pub(super) fn note_created(&mut self, now: Time, port: u16, frame: &Frame) {
        if frame.src == self.identity.index
            && frame.hops == 0
            && let Some(tracer) = &mut self.stats.tracer
            && tracer.selects(now, frame, None, Some(port))
        {
            tracer.note(now, frame, TraceEvent::Created { since: now });
        }
    }

    /// Traces a reply or relayed frame that joins the queue of `port`.
    #[cold]
    pub(super) fn note_queued(&mut self, now: Time, port: u16, frame: &Frame) {
        let class_slot = self.slot_of(frame.class);
        let queues = &self.port_queues[usize::from(port)];
        let waiting = || queues.queued(class_slot);
        let ahead = waiting().fold(Load::default(), |load, other| Load {
            frames: load.frames + 1,
            bytes: load.bytes + u64::from(other.size_bytes),
        });
        let Some(tracer) = &mut self.stats.tracer else { return };
        if tracer.selects(now, frame, None, Some(port)) {
            let wire_free = self.egress.cell(port).busy_until.max(now);
            tracer.note(now, frame, TraceEvent::Queued { port, ahead, wire_free });
            tracer.note_ahead(now, frame, port, waiting());
        }
    }

    /// Traces the start of the first frame of a queue of `port`; its last bit arrives at `until`.
    #[cold]
    pub(super) fn note_queue_sent(&mut self, now: Time, port: u16, class_slot: usize, until: Time) {
        let Some(&frame) = self.port_queues[usize::from(port)].queued(class_slot).next() else { return };
        let Some(tracer) = &mut self.stats.tracer else { return };
        tracer.capture_sent(now, port, &frame);
        if tracer.selects(now, &frame, None, Some(port)) {
            tracer.note(now, &frame, TraceEvent::Started { port, since: frame.at, until });
        }
    }

    /// Traces a frame lost on the link to this host or for lack of a route.
    #[cold]
    pub(super) fn note_loss(&mut self, frame: &Frame, in_port: Option<u16>, cause: Cause) {
        if let Some(tracer) = &mut self.stats.tracer {
            tracer.note_loss(frame, frame.at, cause, (in_port, None), Load::default(), None);
        }
    }
}
