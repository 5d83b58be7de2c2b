//! What a watched host notes of its frames.

use super::Host;
use crate::trace::Tracer;
use check::conservation::Cause;
use protocols::frame::{Frame, Kind};
use stats::trace::{Load, TraceEvent};
use units::Time;

impl Tracer {
    /// A host made a data frame at `since`, and its first bit leaves `now`; `frame.at` is when the last one arrives.
    #[cold]
    pub fn note_segment(&mut self, now: Time, since: Time, port: u16, frame: &Frame) {
        self.sees_out(now, port, frame);
        if self.wants(now, frame, None, Some(port)) {
            self.note(now, frame, TraceEvent::Created { since });
            self.note(now, frame, TraceEvent::Started { port, since: now, until: frame.at });
        }
    }
}

impl Host {
    /// A frame arrived whole: here its way ends, unless it is somebody else's.
    #[cold]
    pub(super) fn note_arrival(&mut self, in_port: u16, frame: &Frame) {
        let (now, mine) = (frame.at, frame.dst == self.index);
        let Some(tracer) = &mut self.books.tracer else { return };
        tracer.sees_in(now, in_port, frame);
        if tracer.wants(now, frame, Some(in_port), None) {
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

    /// A reply, or a frame that this host carries on, joins the queue of `port`.
    #[cold]
    pub(super) fn note_queued(&mut self, now: Time, port: u16, frame: &Frame) {
        let class_slot = self.slot_of(frame.class);
        let nic = &self.nics[usize::from(port)];
        let waiting = || nic.queued(class_slot);
        let ahead = waiting().fold(Load::default(), |load, other| Load {
            frames: load.frames + 1,
            bytes: load.bytes + u64::from(other.size_bytes),
        });
        let Some(tracer) = &mut self.books.tracer else { return };
        if tracer.wants(now, frame, None, Some(port)) {
            if frame.src == self.index && frame.hops == 0 {
                tracer.note(now, frame, TraceEvent::Created { since: now });
            }
            let wire_free = self.egress.cell(port).busy_until.max(now);
            tracer.note(now, frame, TraceEvent::Queued { port, ahead, wire_free });
            tracer.note_ahead(now, frame, port, waiting());
        }
    }

    /// The first frame of a queue of `port` begins to leave; its last bit arrives at `until`.
    #[cold]
    pub(super) fn note_queue_sent(&mut self, now: Time, port: u16, class_slot: usize, until: Time) {
        let Some(&frame) = self.nics[usize::from(port)].queued(class_slot).next() else { return };
        let Some(tracer) = &mut self.books.tracer else { return };
        tracer.sees_out(now, port, &frame);
        if tracer.wants(now, &frame, None, Some(port)) {
            tracer.note(now, &frame, TraceEvent::Started { port, since: frame.at, until });
        }
    }

    /// A frame was lost on its way into this host, or found none out of it.
    #[cold]
    pub(super) fn note_loss(&mut self, frame: &Frame, in_port: Option<u16>, cause: Cause) {
        if let Some(tracer) = &mut self.books.tracer {
            tracer.note_loss(frame, frame.at, cause, (in_port, None), Load::default(), None);
        }
    }
}
