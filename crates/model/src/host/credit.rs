//! Credits as a host lives them: it keeps nothing of what comes, and sends what the switch has room for.

use super::{Event, Host};
use crate::node::OnWire;
use crate::switch::PauseEvent;
use engine::Window;
use protocols::frame::{CreditMessage, Frame};
use units::Time;

impl Host {
    /// A frame came by a port under credits. The host takes it out of the port's buffer at once.
    pub(super) fn take_room(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        let Some(credit) = &mut self.ports[usize::from(in_port)].credit else { return };
        credit.receive(frame.class, u64::from(frame.size_bytes));
        if credit.note_room(frame.class, 0) {
            self.serve(frame.at, in_port, window);
        }
    }

    /// A credit message came by `in_port`.
    pub(super) fn on_credit(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        self.ledger.control_heard += 1;
        let (now, CreditMessage { class, sent_bytes, limit_bytes }) = (frame.at, frame.credit_message());
        let Some(credit) = &mut self.ports[usize::from(in_port)].credit else { return };
        let goes_on = credit.hear(now, class, sent_bytes, limit_bytes);
        let owes = credit.note_room(class, 0);
        if goes_on {
            self.note_wait(now, in_port, class, false);
        }
        if goes_on || owes {
            self.serve(now, in_port, window);
        }
    }

    /// Puts a credit message that is owed on the free wire; whether there was one.
    pub(super) fn send_credit(&mut self, now: Time, port_index: u16, window: &mut Window<'_, OnWire>) -> bool {
        let port = &mut self.ports[usize::from(port_index)];
        let Some(credit) = &mut port.credit else { return false };
        let Some(class) = credit.next_owed() else { return false };
        let (sent_bytes, limit_bytes) = credit.message(class, 0);
        self.put_control(now, port_index, Frame::credit(class, sent_bytes, limit_bytes), window);
        true
    }

    /// The classes, of those with something to send by this port, that have not the credits for it. What a flow
    /// sends next is known only when it is asked: it needs room for the largest frame.
    pub(super) fn short_of_credit(&mut self, now: Time, port_index: u16) -> u8 {
        if !self.network.host.obeys_pause {
            return 0;
        }
        let mut short = 0;
        for slot in 0..self.network.classes.len() {
            let class = self.network.classes[slot];
            let port = &mut self.ports[usize::from(port_index)];
            let Some(credit) = &mut port.credit else { return 0 };
            if port.waiting & credit.classes() & 1 << class == 0 {
                continue;
            }
            let next = port.frames[slot].front().map_or(self.network.host.mtu_bytes, |frame| frame.size_bytes);
            let waited = credit.waits_since(class).is_some();
            if !credit.fits_or_waits(now, class, u64::from(next)) {
                short |= 1 << class;
                if !waited {
                    self.note_wait(now, port_index, class, true);
                }
            }
        }
        short
    }

    /// Every port repeats its credits.
    pub(super) fn regrant(&mut self, now: Time, window: &mut Window<'_, OnWire>) {
        let Some(parameters) = self.network.switch.flow_control.credit().copied() else { return };
        self.schedule(now + parameters.regrant, Event::Regrant);
        for port in 0..self.ports.len() as u16 {
            self.owe_credit(port);
            self.serve(now, port, window);
        }
    }

    /// All classes of `port` are granted anew.
    pub(super) fn owe_credit(&mut self, port: u16) {
        if let Some(credit) = &mut self.ports[usize::from(port)].credit {
            credit.owe_all();
        }
    }

    /// The link of `port` failed: nothing waits for credits any more, and none can be granted.
    pub(super) fn forget_credit(&mut self, now: Time, port: u16) {
        let Some(credit) = &mut self.ports[usize::from(port)].credit else { return };
        credit.owe_nothing();
        for class in 0..8 {
            let Some(credit) = &mut self.ports[usize::from(port)].credit else { return };
            if credit.waits_since(class).is_some() {
                credit.forget_wait(now, class);
                self.note_wait(now, port, class, false);
            }
        }
    }

    /// A class begins, or ceases, to wait for credits at `port`.
    fn note_wait(&mut self, now: Time, port: u16, class: u8, waits: bool) {
        if self.network.record_pauses {
            self.pause_events.push(PauseEvent { at: now, port, classes: 1 << class, pause: waits });
        }
        if let Some(tracer) = &mut self.tracer {
            tracer.note_wait(now, port, class, waits);
        }
    }
}
