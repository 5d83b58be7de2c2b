//! Credits as a switch lives them: what leaves its buffer makes room, and the neighbour is told of it.

use super::core::Core;
use crate::egress::Rules;
use crate::on_wire::OnWire;
use engine::Window;
use protocols::frame::Frame;
use units::Time;

impl Core {
    /// A frame came by a port under credits: it takes room.
    pub(super) fn take_room(&mut self, in_port: u16, frame: &Frame) {
        if let Some(credit) = &mut self.egress.rules_mut(in_port).credit {
            credit.receive(frame.class, u64::from(frame.size_bytes));
        }
    }

    /// What room `frame` did not keep is granted again.
    pub(super) fn grant_what_is_left(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        self.grant_if_due(frame.at, in_port, frame.class, window);
        self.note_withheld(frame.at, in_port, frame.class);
    }

    /// Room of (`in_port`, `class`) may have come free: grants it when it is enough.
    pub(super) fn grant_if_due(&mut self, now: Time, in_port: u16, class: u8, window: &mut Window<'_, OnWire>) {
        let held_bytes = self.buffer.account_bytes(in_port, class);
        if self.egress.note_room(in_port, class, held_bytes) {
            self.send_owed(now, in_port, window);
        }
    }

    /// Sends what `port` owes as soon as its wire is free.
    fn send_owed(&mut self, now: Time, port: u16, window: &mut Window<'_, OnWire>) {
        let Core { egress, buffer, books, .. } = self;
        egress.judge_before_control(now, port, |class| buffer.head(port, class), books);
        let held_bytes = |class| buffer.account_bytes(port, class);
        let granted = egress.send_owed(now, port, held_bytes, books, window);
        self.note_granted(now, port, granted);
    }

    /// A credit message for the class left by `port`, if one did.
    pub(super) fn note_granted(&mut self, now: Time, port: u16, class: Option<u8>) {
        if let Some(class) = class {
            self.note_withheld(now, port, class);
        }
    }

    /// A credit message came by `in_port`.
    pub(super) fn on_credit(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        let now = frame.at;
        let (class, goes_on) = self.egress.on_credit(in_port, frame, &mut self.books);
        if goes_on && self.egress.cell(in_port).waiting & 1 << class != 0 {
            self.egress.look_when_free(now, in_port);
        }
        // It may have told of frames that were lost on their way.
        self.grant_if_due(now, in_port, class, window);
    }

    /// Every port repeats its credits; those that have just sent some do no harm.
    #[cold]
    pub(super) fn regrant(&mut self, now: Time, window: &mut Window<'_, OnWire>) {
        let Some(parameters) = self.network.switch.flow_control.credit().copied() else { return };
        self.renewals.clear();
        self.renewals.push((now + parameters.regrant, 0));
        for port in 0..self.egress.len() as u16 {
            self.grant_all(now, port, window);
        }
    }

    /// `port` grants all classes what they may have.
    #[cold]
    pub(super) fn grant_all(&mut self, now: Time, port: u16, window: &mut Window<'_, OnWire>) {
        if self.egress.owe_all(port) {
            self.send_owed(now, port, window);
        }
    }

    /// What came by `port` and waits here begins, or ceases, to keep its sender from using the link: under credits that
    /// is what telling to stop, and to go on, are under pauses.
    fn note_withheld(&mut self, now: Time, port: u16, class: u8) {
        if self.books.tracer.is_none() {
            return;
        }
        let account = self.buffer.account_index(port, class);
        let held_bytes = self.buffer.accounts[account].bytes;
        let Rules { link, credit, .. } = self.egress.rules(port);
        let Some(credit) = credit else { return };
        let (lacks, credits_bytes) = (credit.holds_back(class, link.rate, link.delay), credit.credits_bytes());
        // Where it goes on for long it is told anew, once all that waits may be other frames.
        let again = link.delay * 2 + link.rate.serialise(credits_bytes);
        let Some(tracer) = &mut self.books.tracer else { return };
        let noted = tracer.withheld.get(&(port, class)).copied();
        if noted.is_some_and(|noted| !lacks || noted + again <= now) {
            tracer.withheld.remove(&(port, class));
            self.note_go(now, account);
        } else if noted.is_some() {
            return;
        }
        if lacks && held_bytes > 0 {
            if let Some(tracer) = &mut self.books.tracer {
                tracer.withheld.insert((port, class), now);
            }
            self.note_stop(now, account, credits_bytes, false);
        }
    }
}
