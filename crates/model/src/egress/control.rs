//! Own MAC control frames of a node. They live for one link and precede all waiting frames.

use super::{Egress, hold};
use crate::books::Books;
use crate::on_wire::OnWire;
use engine::Window;
use protocols::frame::Frame;
use units::Time;

impl Egress {
    /// Sends a MAC control frame by `port`: at once if the wire is free, otherwise when it is.
    pub fn send_control(
        &mut self,
        now: Time,
        port: u16,
        mut frame: Frame,
        books: &mut Books,
        window: &mut Window<'_, OnWire>,
    ) {
        books.ledger.control_sent += 1;
        let idle = self.cell(port).busy_until <= now;
        let rules = self.rules_mut(port);
        if rules.link.down {
            books.ledger.control_lost += 1;
        } else if idle && rules.control.is_empty() {
            self.transmit_control(now, port, frame, books, window);
            let free = self.cell(port).busy_until;
            if self.due.at(port) < free {
                // A frame was due at this instant; it waits for the control frame now.
                self.due.set(port, free);
            }
        } else {
            frame.at = now;
            rules.control.push(frame);
            self.cell_mut(port).holds |= hold::CONTROL;
            self.look_when_free(now, port);
        }
    }

    /// Transmits the next control frame of `port` on its free wire, if any: queued frames first, then pending credit
    /// messages. `held_bytes` returns the used room of a class. Returns the class of a credit message.
    pub fn send_next_control(
        &mut self,
        now: Time,
        port: u16,
        held_bytes: impl Fn(u8) -> u64,
        books: &mut Books,
        window: &mut Window<'_, OnWire>,
    ) -> Option<u8> {
        let waiting = self.rules_mut(port).control.pop().map(|frame| (None, frame));
        // A credit message is sent as it becomes due, unless the wire is busy.
        self.judge_control(now, port, waiting.as_ref().map_or(Time::ZERO, |(_, frame)| frame.at), books);
        let next = waiting.or_else(|| {
            let owed = self.next_credit(port, held_bytes, books);
            owed.map(|(class, frame)| (Some(class), frame))
        });
        if self.rules(port).control.is_empty() && !self.owes(port) {
            self.cell_mut(port).holds &= !hold::CONTROL;
        }
        let (class, frame) = next?;
        self.transmit_control(now, port, frame, books, window);
        class
    }

    /// Transmits a control frame on the free wire of `port`.
    pub(super) fn transmit_control(
        &mut self,
        now: Time,
        port: u16,
        mut frame: Frame,
        books: &mut Books,
        window: &mut Window<'_, OnWire>,
    ) {
        if let Some(tracer) = &mut books.tracer {
            tracer.sees_out(now, port, &frame);
        }
        frame.at = self.start(now, port, frame.size_bytes);
        window.send(port, OnWire(frame));
    }

    /// Drops the waiting control frames of a port with a failed link.
    pub(super) fn lose_control(&mut self, port: u16, books: &mut Books) {
        while self.rules_mut(port).control.pop().is_some() {
            books.ledger.control_lost += 1;
        }
        self.cell_mut(port).holds &= !hold::CONTROL;
    }

    /// Removes a waiting control frame without counting it, for tests of the checks.
    #[cfg(test)]
    pub fn lose_control_in_silence(&mut self) -> bool {
        let Some(port) = self.rules.iter().position(|rules| !rules.control.is_empty()) else { return false };
        self.rules[port].control.pop();
        if self.rules[port].control.is_empty() {
            self.cells[port].holds &= !hold::CONTROL;
        }
        true
    }
}
