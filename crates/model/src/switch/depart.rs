//! Departures from the ports of a switch.

use super::Switch;
use super::buffer::Transmission;
use super::core::Core;
use crate::departures::Exact;
use crate::egress::{Egress, Eligibility, block};
use crate::on_wire::{OnWire, put_on_wire};
use check::conservation::Cause;
use engine::Window;
use protocols::frame::Frame;
use stats::trace::Load;
use units::Time;

impl Switch {
    /// Serves a due port: control frames first, then the class that the scheduler picks.
    #[inline(always)] // forced, because the second caller (the traced switch) would otherwise prevent inlining
    pub(super) fn depart<const TRACED: bool>(&mut self, now: Time, port: u16, window: &mut Window<'_, OnWire>) {
        let first = if TRACED { self.core.events_noted() } else { 0 };
        let cell = self.core.egress.cell(port);
        let (holds, busy_until) = (cell.block_reasons, cell.busy_until);
        if holds & block::PREEMPTS != 0 {
            return self.depart_preempting(now, port, window);
        }
        if busy_until > now {
            // The port is due because a pause ended, but a frame of another class still occupies the wire.
            return self.core.egress.due.set(port, busy_until);
        }
        if holds & (block::CONTROL | block::STORM) != 0 && self.core.send_control_or_drop(now, port, window) {
            // A control frame was sent.
        } else {
            let Core { egress, buffer, stats, .. } = &mut self.core;
            let ready = match egress.eligible(now, port, |class| buffer.head(port, class), stats) {
                Eligibility::Now(ready) => ready,
                Eligibility::At(at) => return egress.due.set(port, at),
            };
            let class = egress.pick(port, ready);
            let index = buffer.next_queue(port, class);
            let marked = self.core.steps.has_departure_hooks && self.core.run_departure_hooks(now, port, index);
            let leaving = if TRACED { self.core.note_leaving(index, marked, first) } else { None };
            let Some(came) = self.core.dequeue(now, (port, class), index, window) else {
                return self.core.egress.due.set(port, Time::MAX);
            };
            if self.core.has_release_hooks {
                self.run_release_hooks(now, port, came, window);
            }
            if TRACED {
                self.core.note_left(now, port, leaving);
            }
        }
        let egress = &mut self.core.egress;
        let cell = egress.cell(port);
        let more = cell.waiting != 0 || cell.block_reasons & block::CONTROL != 0;
        egress.due.set(port, if more { cell.busy_until } else { Time::MAX });
    }

    /// Sends the resume frames or credit grants that become due when a frame of (`in_port`, `in_class`) leaves the
    /// buffer by `egress`.
    pub(super) fn run_release_hooks(
        &mut self,
        now: Time,
        egress: u16,
        (in_port, in_class): (u16, u8),
        window: &mut Window<'_, OnWire>,
    ) {
        match &mut self.backpressure {
            None => self.core.after_release(now, in_port, in_class, window),
            Some(backpressure) => backpressure.on_departure(&mut self.core, now, egress, window),
        }
    }
}

impl Core {
    /// Transmits the first frame of `class` from the queue at `index` by `port`. Returns its ingress port and class;
    /// `None` if the queue is empty.
    #[inline(always)] // hot: runs once per packet-hop, like Switch::depart
    pub(super) fn dequeue(
        &mut self,
        now: Time,
        (port, class): (u16, u8),
        index: usize,
        window: &mut Window<'_, OnWire>,
    ) -> Option<(u16, u8)> {
        let Core { egress, buffer, .. } = self;
        let departed = buffer.dequeue::<Exact>(now, index, Scheduled { now, port, class, egress, window })?;
        if departed.is_last {
            egress.cell_mut(port).waiting &= !(1 << class);
        }
        Some((departed.in_port, departed.in_class))
    }

    /// Drops frames if a watchdog requires it, and sends the next control frame, if any. Returns whether a control
    /// frame was sent.
    #[cold]
    pub(super) fn send_control_or_drop(&mut self, now: Time, port: u16, window: &mut Window<'_, OnWire>) -> bool {
        if self.egress.cell(port).block_reasons & block::STORM != 0 {
            self.drop_stormed(now, port, window);
        }
        let control = self.egress.cell(port).block_reasons & block::CONTROL != 0;
        if control {
            let Core { egress, buffer, stats, .. } = self;
            egress.check_before_control(now, port, |class| buffer.head(port, class), stats);
            let held_bytes = |class| buffer.account_bytes(port, class);
            let granted = egress.send_next_control(now, port, held_bytes, stats, window);
            self.note_granted(now, port, granted);
        }
        control
    }

    /// Drops the frames of `port` in classes with a pause storm, if the watchdog's action is to drop.
    #[cold]
    fn drop_stormed(&mut self, now: Time, port: u16, window: &mut Window<'_, OnWire>) {
        let dropped = self.egress.dropped_classes(port) & self.egress.cell(port).waiting;
        for class in (0..8u8).filter(|class| dropped & 1 << class != 0) {
            let first = self.buffer.queue_index(port, class);
            let pair = if self.buffer.layout.bounce_offset == 0 {
                None
            } else {
                Some(first + self.buffer.layout.bounce_offset)
            };
            for index in std::iter::once(first).chain(pair) {
                self.drop_queue(now, (port, index), Cause::PauseStorm, window);
            }
            self.egress.cell_mut(port).waiting &= !(1 << class);
        }
    }

    /// Drops all frames of a queue of `port`, and sends the XON frames or credit grants that the released buffer space
    /// permits.
    #[cold]
    pub(super) fn drop_queue(
        &mut self,
        now: Time,
        (port, index): (u16, usize),
        cause: Cause,
        window: &mut Window<'_, OnWire>,
    ) {
        while let Some(frame) = self.buffer.drop_front(now, index) {
            self.stats.count_loss(&frame, cause);
            // The trace contains the remaining backlog of the queue only after a link failure.
            let left = if cause == Cause::LinkDown { self.load_of_class(port, frame.class) } else { Load::default() };
            if let Some(tracer) = &mut self.stats.tracer {
                tracer.note_loss(&frame, now, cause, (Some(frame.in_port), Some(port)), left, None);
            }
            self.after_release(now, frame.in_port, frame.in_class, window);
        }
    }
}

/// The transmission of a frame that the class scheduler picked.
struct Scheduled<'a, 'w> {
    now: Time,
    port: u16,
    class: u8,
    egress: &'a mut Egress,
    window: &'a mut Window<'w, OnWire>,
}

impl Transmission for Scheduled<'_, '_> {
    #[inline(always)] // hot: runs once per packet-hop, like Core::dequeue
    fn start(self, frame: &Frame) {
        let at = self.egress.commit(self.now, self.port, self.class, frame.size_bytes);
        put_on_wire(frame, self.port, at, self.window);
    }
}
