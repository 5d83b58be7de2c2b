//! Departures from ports with frame preemption. Like [`super::depart`], but the port keeps a frame in transmission
//! until it can no longer be preempted, and only then passes it to the link.

use super::Switch;
use super::buffer::Transmission;
use super::core::Core;
use crate::departures::Exact;
use crate::egress::{Busy, Egress, Eligibility, Head, block};
use crate::node_stats::NodeStats;
use crate::on_wire::{OnWire, put_on_wire};
use check::conservation::Cause;
use engine::Window;
use protocols::frame::Frame;
use stats::trace::Load;
use units::Time;

impl Switch {
    /// Like [`Switch::depart`], for ports with preemption.
    #[cold]
    #[inline(never)]
    pub(super) fn depart_preempting(&mut self, now: Time, port: u16, window: &mut Window<'_, OnWire>) {
        if self.core.egress.cell(port).busy_until > now {
            return self.core.serve_while_busy(now, port, window);
        }
        // The wire is free, so the transmission of the previous frame is complete. If the port still keeps the frame,
        // pass it to the link.
        if let Busy::Commit(frame) = self.core.egress.serve_busy(now, port, false) {
            put_on_wire(&frame, port, frame.at, window);
        }
        let first = self.core.events_noted();
        let special = self.core.egress.cell(port).block_reasons & (block::CONTROL | block::STORM) != 0;
        if special && self.core.send_control_or_drop(now, port, window) {
            return self.core.schedule_after_start(port);
        }
        let Core { egress, buffer, stats, .. } = &mut self.core;
        let ready = match egress.eligible(now, port, |class| buffer.head(port, class), stats) {
            Eligibility::Now(ready) => ready,
            Eligibility::At(at) => {
                // A frame that becomes eligible before the end of the resumed fragment may preempt it.
                let again = egress.resume(now, port, stats).unwrap_or(Time::MAX);
                return egress.due.set(port, again.min(at));
            }
        };
        // Express frames precede all preemptable ones (802.3-2018, clause 99.4).
        let express = ready & egress.express(port);
        let class = egress.pick(port, if express != 0 { express } else { ready });
        let index = buffer.next_queue(port, class);
        let marked = self.core.steps.has_departure_hooks && self.core.run_departure_hooks(now, port, index);
        let leaving = self.core.note_leaving(index, marked, first).filter(|_| self.core.stats.tracer.is_some());
        let Core { egress, buffer, stats, .. } = &mut self.core;
        let mut certain = Time::MAX;
        let transmission = Interruptible { now, port, class, egress, stats, certain: &mut certain, window };
        let departed = buffer.dequeue::<Exact>(now, index, transmission);
        let Some(departed) = departed else { return egress.due.set(port, Time::MAX) };
        if departed.is_last {
            egress.cell_mut(port).waiting &= !(1 << class);
        }
        if self.core.has_release_hooks {
            self.run_release_hooks(now, port, (departed.in_port, departed.in_class), window);
        }
        self.core.note_left(now, port, leaving);
        self.core.schedule_after_start(port);
        self.core.egress.schedule(port, certain);
        if certain < Time::MAX {
            // An express frame that is blocked now may preempt this frame later.
            let Core { egress, buffer, .. } = &mut self.core;
            let at = egress.opens_at(now, port, egress.express(port), |class| buffer.head(port, class));
            egress.schedule(port, at);
        }
    }
}

impl Core {
    /// Serves a port with a busy wire: preempts the frame for an express frame or a hold request, or passes it to the
    /// link if it can no longer be preempted.
    fn serve_while_busy(&mut self, now: Time, port: u16, window: &mut Window<'_, OnWire>) {
        let Core { egress, buffer, stats, .. } = self;
        let (wants, later) = if egress.pending(port).is_some() {
            let held_at = egress.holds_at(now, port);
            match egress.eligible_express(now, port, |class| buffer.head(port, class), stats) {
                Eligibility::Now(_) => (true, Time::MAX),
                Eligibility::At(at) if held_at <= now => (true, at),
                Eligibility::At(at) => (false, at.min(held_at)),
            }
        } else {
            (false, Time::MAX)
        };
        match egress.serve_busy(now, port, wants) {
            Busy::Until(at) => egress.due.set(port, at.min(later.max(now + Time::from_ps(1)))),
            Busy::Commit(frame) => {
                put_on_wire(&frame, port, frame.at, window);
                self.schedule_after_start(port);
            }
        }
    }

    /// Schedules `port` for the end of the frame on its wire, if further frames or fragments wait.
    fn schedule_after_start(&mut self, port: u16) {
        let cell = self.egress.cell(port);
        let more = cell.waiting != 0 || cell.block_reasons & block::CONTROL != 0 || self.egress.pending(port).is_some();
        let at = if more { cell.busy_until } else { Time::MAX };
        self.egress.due.set(port, at);
    }

    /// Counts the loss of the frame in transmission on the failed link of `port`.
    pub(super) fn lose_kept(&mut self, now: Time, port: u16) {
        let Some(frame) = self.egress.lose_pending(port) else { return };
        self.stats.count_loss(&frame, Cause::LinkDown);
        if let Some(tracer) = &mut self.stats.tracer {
            tracer.note_loss(&frame, now, Cause::LinkDown, (Some(frame.in_port), Some(port)), Load::default(), None);
        }
    }
}

/// The transmission of a frame that may be preempted.
struct Interruptible<'a, 'w> {
    now: Time,
    port: u16,
    class: u8,
    egress: &'a mut Egress,
    stats: &'a mut NodeStats,
    /// Output: the time from which the frame can no longer be preempted. Unchanged if the frame is not preemptable.
    certain: &'a mut Time,
    window: &'a mut Window<'w, OnWire>,
}

impl Transmission for Interruptible<'_, '_> {
    fn start(self, frame: &Frame) {
        let Interruptible { now, port, class, egress, .. } = self;
        egress.check_interruption(now, port, class, Head::of(frame), self.stats);
        let at = egress.commit(now, port, class, frame.size_bytes);
        if egress.is_preemptable(port, class, frame.size_bytes) {
            *self.certain = egress.set_pending(now, port, Frame { at, ..*frame });
        } else {
            put_on_wire(frame, port, at, self.window);
        }
    }
}
