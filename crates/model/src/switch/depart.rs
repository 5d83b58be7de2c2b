//! What leaves a port, and when.

use super::{Switch, alert};
use crate::node::OnWire;
use engine::Window;
use protocols::frame::{Frame, flags};
use units::{Time, WIRE_OVERHEAD_BYTES};

impl Switch {
    /// The port may be free and something may wait: control frames first, then the class whose turn it is.
    #[inline(always)] // also called by the watched switch, which must not cost the others the inlining
    pub(super) fn depart(&mut self, now: Time, egress: u16, window: &mut Window<'_, OnWire>) {
        let port = &self.ports[usize::from(egress)];
        if port.busy_until > now {
            // Due because a pause ended; meanwhile a frame of another class went ahead.
            return self.due.set(egress, port.busy_until);
        }
        if port.alert & (alert::CONTROL | alert::STORM) != 0 && self.depart_specially(now, egress, window) {
            // A control frame has gone.
        } else {
            let blocked = self.blocked(now, egress);
            let ready = self.ports[usize::from(egress)].waiting & !blocked;
            if ready == 0 {
                return self.sleep(egress);
            }
            let class = if self.plain { ready.ilog2() as u8 } else { self.take_turn(egress, ready) };
            let mut index = self.queue_index(egress, class);
            if self.pairs != 0 && !self.queues[index + self.pairs].is_empty() {
                index += self.pairs;
            }
            let Some(frame) = self.queues[index].front() else { return self.sleep(egress) };
            let (in_port, in_class, size_bytes) = (frame.in_port, frame.in_class, frame.size_bytes);
            if self.ports[usize::from(egress)].alert & alert::CREDIT != 0 {
                self.spend_credit(now, egress, class, size_bytes);
            }
            let at = self.occupy(now, egress, size_bytes);
            let queue = &mut self.queues[index];
            window.send_with(egress, |OnWire(slot)| {
                queue.take_front(now, slot);
                slot.at = at;
            });
            self.note_load(now, index);
            if self.queues[index].is_empty() && self.has_drained(index) {
                self.ports[usize::from(egress)].waiting &= !(1 << class);
            }
            if !self.plain {
                let bytes = u64::from(size_bytes) + WIRE_OVERHEAD_BYTES;
                self.details[usize::from(egress)].turn.charge(class, bytes);
            }
            self.release(in_port, in_class, size_bytes);
            if self.attends {
                self.attend(now, egress, (in_port, in_class), window);
            }
        }
        let port = &self.ports[usize::from(egress)];
        let more = port.waiting != 0 || port.alert & alert::CONTROL != 0;
        self.due.set(egress, if more { port.busy_until } else { Time::MAX });
    }

    /// A frame that had come by `in_port` in `in_class` left the buffer by `egress`: who may go on?
    fn attend(&mut self, now: Time, egress: u16, (in_port, in_class): (u16, u8), window: &mut Window<'_, OnWire>) {
        if self.guarded.is_none() {
            self.after_release(now, in_port, in_class, window);
        } else {
            self.let_go(now, egress, window);
        }
    }

    /// Whether the other queue of a pair is empty too, if there is one.
    #[inline]
    fn has_drained(&self, index: usize) -> bool {
        let other = if index < self.pairs { index + self.pairs } else { index - self.pairs };
        self.queues[other].is_empty()
    }

    /// Drops what a watchdog drops, and sends a control frame if one waits; whether it did.
    #[cold]
    fn depart_specially(&mut self, now: Time, egress: u16, window: &mut Window<'_, OnWire>) -> bool {
        if self.ports[usize::from(egress)].alert & alert::STORM != 0 {
            self.drop_stormed(now, egress, window);
        }
        let control = self.ports[usize::from(egress)].alert & alert::CONTROL != 0;
        if control {
            self.depart_control(now, egress, window);
        }
        control
    }

    fn depart_control(&mut self, now: Time, egress: u16, window: &mut Window<'_, OnWire>) {
        let frame = self.details[usize::from(egress)].control.pop().or_else(|| self.next_credit(now, egress));
        let detail = &self.details[usize::from(egress)];
        if detail.control.is_empty() && detail.credit.as_ref().is_none_or(|credit| credit.next_owed().is_none()) {
            self.ports[usize::from(egress)].alert &= !alert::CONTROL;
        }
        if let Some(frame) = frame {
            self.transmit(now, egress, frame, window);
        }
    }

    /// Nothing may leave by `egress` now: look again when a pause ends.
    #[cold]
    fn sleep(&mut self, egress: u16) {
        let waiting = self.ports[usize::from(egress)].waiting;
        let pause = &self.details[usize::from(egress)].pause;
        self.due.set(egress, if waiting == 0 { Time::MAX } else { pause.ask_again_at(waiting) });
    }

    #[cold]
    fn take_turn(&mut self, egress: u16, ready: u8) -> u8 {
        let class = self.details[usize::from(egress)].turn.pick(ready).unwrap_or(0);
        self.mark_leaving(egress, class);
        class
    }

    /// Marks the frame that leaves next, by what stays behind it: under `dequeue`.
    fn mark_leaving(&mut self, egress: u16, class: u8) {
        let Some(marker) = &self.leaving_marker else { return };
        let mut index = self.queue_index(egress, class);
        if self.pairs != 0 && !self.queues[index + self.pairs].is_empty() {
            index += self.pairs;
        }
        let behind_bytes = u64::from(self.queues[index].bytes);
        let Some(frame) = self.queues[index].front_mut() else { return };
        let behind_bytes = behind_bytes - u64::from(frame.size_bytes);
        if frame.flags & (flags::ECT | flags::CE) == flags::ECT && marker.marks(behind_bytes, &mut self.random) {
            frame.flags |= flags::CE;
            self.ledger.marks += 1;
        }
    }

    /// Occupies the free wire of `egress` with a frame; returns when it will have arrived.
    #[inline]
    pub(super) fn occupy(&mut self, now: Time, egress: u16, size_bytes: u16) -> Time {
        let port = &mut self.ports[usize::from(egress)];
        debug_assert!(port.busy_until <= now, "two frames on one wire");
        let (busy, arrives) = if port.per_byte_ps != 0 {
            let frame = Time::from_ps(u64::from(size_bytes) * port.per_byte_ps);
            (frame + port.overhead, frame + port.lead)
        } else {
            self.details[usize::from(egress)].link.occupy(size_bytes)
        };
        port.busy_until = now + busy;
        port.sent_frames += 1;
        port.sent_bytes += u64::from(size_bytes);
        now + arrives
    }

    pub(super) fn transmit(&mut self, now: Time, egress: u16, mut frame: Frame, window: &mut Window<'_, OnWire>) {
        if let Some(tracer) = self.tracer.as_mut().filter(|_| frame.is_mac_control()) {
            tracer.sees_out(now, egress, &frame);
        }
        frame.at = self.occupy(now, egress, frame.size_bytes);
        window.send(egress, OnWire(frame));
    }

    /// Sends a MAC control frame of our own, ahead of every queue.
    pub(super) fn send_control(&mut self, now: Time, egress: u16, mut frame: Frame, window: &mut Window<'_, OnWire>) {
        self.ledger.control_sent += 1;
        let port = &mut self.ports[usize::from(egress)];
        let detail = &mut self.details[usize::from(egress)];
        if detail.link.down {
            self.ledger.control_lost += 1;
        } else if port.busy_until <= now && detail.control.is_empty() {
            self.transmit(now, egress, frame, window);
            let free = self.ports[usize::from(egress)].busy_until;
            if self.due.at(egress) < free {
                // Something was about to go at this very instant: it now waits for the control frame.
                self.due.set(egress, free);
            }
        } else {
            frame.at = now;
            detail.control.push(frame);
            port.alert |= alert::CONTROL;
            let free = port.busy_until.max(now);
            if self.due.at(egress) > free {
                self.due.set(egress, free);
            }
        }
    }
}
