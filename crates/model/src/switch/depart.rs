//! What leaves a port, and when.

use super::Switch;
use crate::node::OnWire;
use engine::Window;
use protocols::frame::Frame;
use units::{Time, WIRE_OVERHEAD_BYTES};

impl Switch {
    /// The port may be free and something may wait: control frames first, then the class whose turn it is.
    pub(super) fn depart(&mut self, now: Time, egress: u16, window: &mut Window<'_, OnWire>) {
        let port = &mut self.ports[usize::from(egress)];
        debug_assert!(port.busy_until <= now);
        if let Some(mut control) = port.control.pop() {
            control.at = now;
            self.transmit(now, egress, control, window);
        } else {
            let ready = port.waiting & !port.pause.blocked(now);
            let Some(class) = port.turn.pick(ready) else {
                let at = if port.waiting == 0 { Time::MAX } else { port.pause.ask_again_at(port.waiting) };
                return self.due.set(egress, at);
            };
            let index = self.queue_index(egress, class);
            let frame = self.queues[index].pop(now).expect("a waiting class has a frame");
            let port = &mut self.ports[usize::from(egress)];
            port.turn.charge(class, u64::from(frame.size_bytes) + WIRE_OVERHEAD_BYTES);
            if self.queues[index].is_empty() {
                port.waiting &= !(1 << class);
            }
            self.release(&frame);
            self.transmit(now, egress, frame, window);
            self.resume_if_possible(now, &frame, window);
        }
        let port = &self.ports[usize::from(egress)];
        let more = port.waiting != 0 || !port.control.is_empty();
        self.due.set(egress, if more { port.busy_until } else { Time::MAX });
    }

    /// Puts a frame on the free wire of `egress`.
    #[inline]
    pub(super) fn transmit(&mut self, now: Time, egress: u16, mut frame: Frame, window: &mut Window<'_, OnWire>) {
        let port = &mut self.ports[usize::from(egress)];
        port.busy_until = now + port.link.serialise(frame.size_bytes);
        port.sent_frames += 1;
        port.sent_bytes += u64::from(frame.size_bytes);
        frame.at = port.busy_until + port.link.delay;
        window.send(egress, OnWire(frame));
    }

    /// Sends a MAC control frame of our own, ahead of every queue.
    pub(super) fn send_control(&mut self, now: Time, egress: u16, mut frame: Frame, window: &mut Window<'_, OnWire>) {
        self.ledger.control_sent += 1;
        let port = &mut self.ports[usize::from(egress)];
        if port.link.down {
            self.ledger.control_lost += 1;
        } else if port.busy_until <= now && port.control.is_empty() {
            self.transmit(now, egress, frame, window);
            let port = &self.ports[usize::from(egress)];
            if self.due.at(egress) < port.busy_until {
                // Something was about to go at this very instant: it now waits for the control frame.
                self.due.set(egress, port.busy_until);
            }
        } else {
            frame.at = now;
            port.control.push(frame);
            let free = port.busy_until.max(now);
            if self.due.at(egress) > free {
                self.due.set(egress, free);
            }
        }
    }
}
