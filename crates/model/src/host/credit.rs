//! Credit-based flow control at a host: the buffer space of arriving frames is released at once, and frames start only
//! if the credits from the switch cover them.

use super::Host;
use super::timers::Event;
use crate::on_wire::OnWire;
use engine::Window;
use protocols::frame::Frame;
use units::Time;

impl Host {
    /// Charges a frame that arrived by a credited port, and releases its buffer space at once.
    pub(super) fn take_room(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        let Some(credit) = &mut self.egress.state_mut(in_port).credit else { return };
        credit.receive(frame.class, u64::from(frame.size_bytes));
        if self.egress.note_room(in_port, frame.class, 0) {
            self.send_pending_grants(frame.at, in_port, window);
        }
    }

    /// Sends the pending grants of `port`: at once if the wire is free, otherwise when it becomes free.
    pub(super) fn send_pending_grants(&mut self, now: Time, port: u16, window: &mut Window<'_, OnWire>) {
        self.judge_before_control(now, port);
        self.egress.send_pending_grants(now, port, |_| 0, &mut self.stats, window);
    }

    /// Handles a credit message that arrived by `in_port`.
    #[inline(never)] // spares its callers the registers, like Host::on_event
    pub(super) fn on_credit(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        let now = frame.at;
        let (class, goes_on) = self.egress.on_credit(in_port, frame, &mut self.stats);
        if self.egress.note_room(in_port, class, 0) {
            self.send_pending_grants(now, in_port, window);
        }
        if goes_on {
            self.serve(now, in_port, window);
        }
    }

    /// Repeats the grants of all ports.
    pub(super) fn regrant(&mut self, now: Time, window: &mut Window<'_, OnWire>) {
        let Some(parameters) = self.network.switch.flow_control.credit().copied() else { return };
        self.schedule(now + parameters.regrant, Event::Regrant);
        for port in 0..self.egress.len() as u16 {
            if self.egress.queue_all_grants(port) {
                self.send_pending_grants(now, port, window);
            }
        }
    }
}
