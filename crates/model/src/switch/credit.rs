//! Credits as a switch lives them: what may leave is what the far end has room for, and what leaves makes room.

use super::{Detail, PauseEvent, Switch, alert};
use crate::node::OnWire;
use engine::Window;
use protocols::frame::{CreditMessage, Frame};
use units::Time;

impl Switch {
    /// A frame came by a port under credits: it takes room, and whatever it does not keep is granted again.
    pub(super) fn forward_credited(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        let class = frame.class;
        if let Some(credit) = &mut self.details[usize::from(in_port)].credit {
            credit.receive(class, u64::from(frame.size_bytes));
        }
        self.forward_unless_old(in_port, frame, window);
        self.grant_if_due(frame.at, in_port, class, window);
        if self.tracer.is_some() {
            self.note_withheld(frame.at, in_port, class);
        }
    }

    /// Whether a frame of `class` may leave by `egress` as far as credits go; if so it does, and spends them.
    #[cold]
    pub(super) fn spend_credit(&mut self, now: Time, egress: u16, class: u8, size_bytes: u16) -> bool {
        let fits = self.has_credit(now, egress, class, size_bytes);
        if fits && let Some(credit) = &mut self.details[usize::from(egress)].credit {
            credit.spend(class, u64::from(size_bytes));
        }
        fits
    }

    /// As [`Switch::spend_credit`], for a frame that may not go after all.
    fn has_credit(&mut self, now: Time, egress: u16, class: u8, size_bytes: u16) -> bool {
        let Some(credit) = &mut self.details[usize::from(egress)].credit else { return true };
        let waited = credit.waits_since(class).is_some();
        let fits = credit.fits_or_waits(now, class, u64::from(size_bytes));
        if !fits && !waited {
            self.note_wait(now, egress, class, true);
        }
        fits
    }

    /// The classes, of those that wait at `egress`, whose next frame has not the credits to leave.
    #[cold]
    pub(super) fn short_of_credit(&mut self, now: Time, egress: u16) -> u8 {
        let waiting = self.ports[usize::from(egress)].waiting & self.credited;
        let mut short = 0;
        for class in (0..8u8).filter(|class| waiting & 1 << class != 0) {
            let next = self.queues[self.queue_index(egress, class)].front().map(|frame| frame.size_bytes);
            if next.is_some_and(|size_bytes| !self.has_credit(now, egress, class, size_bytes)) {
                short |= 1 << class;
            }
        }
        short
    }

    /// Room of (`in_port`, `class`) may have come free: grants it when it is enough.
    pub(super) fn grant_if_due(&mut self, now: Time, in_port: u16, class: u8, window: &mut Window<'_, OnWire>) {
        let held = u64::from(self.accounts[self.account_index(in_port, class)].bytes);
        let Some(credit) = &mut self.details[usize::from(in_port)].credit else { return };
        if credit.note_room(class, held) {
            self.send_owed(now, in_port, window);
        }
    }

    /// Sends what `port` owes as soon as its wire is free.
    fn send_owed(&mut self, now: Time, port: u16, window: &mut Window<'_, OnWire>) {
        let state = &mut self.ports[usize::from(port)];
        let detail = &mut self.details[usize::from(port)];
        if detail.link.down {
            // The repair grants everything anew.
            if let Some(credit) = &mut detail.credit {
                credit.owe_nothing();
            }
            return;
        }
        let free = state.busy_until.max(now);
        let idle = state.busy_until <= now && detail.control.is_empty();
        if idle && let Some(frame) = self.next_credit(now, port) {
            self.transmit(now, port, frame, window);
            let free = self.ports[usize::from(port)].busy_until;
            if self.due.at(port) < free {
                self.due.set(port, free);
            }
        }
        let owes = self.details[usize::from(port)].credit.as_ref().is_some_and(|credit| credit.next_owed().is_some());
        if owes {
            let state = &mut self.ports[usize::from(port)];
            state.alert |= alert::CONTROL;
            let free = state.busy_until.max(free);
            if self.due.at(port) > free {
                self.due.set(port, free);
            }
        }
    }

    /// The next credit message that `port` owes, as of the newest state.
    pub(super) fn next_credit(&mut self, now: Time, port: u16) -> Option<Frame> {
        let class = self.details[usize::from(port)].credit.as_ref()?.next_owed()?;
        let held = u64::from(self.accounts[self.account_index(port, class)].bytes);
        let (sent_bytes, limit_bytes) = self.details[usize::from(port)].credit.as_mut()?.message(class, held);
        self.ledger.control_sent += 1;
        if self.tracer.is_some() {
            self.note_withheld(now, port, class);
        }
        Some(Frame::credit(class, sent_bytes, limit_bytes))
    }

    /// A credit message came by `in_port`.
    pub(super) fn on_credit(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        self.ledger.control_heard += 1;
        let (now, CreditMessage { class, sent_bytes, limit_bytes }) = (frame.at, frame.credit_message());
        let Some(credit) = &mut self.details[usize::from(in_port)].credit else { return };
        if credit.hear(now, class, sent_bytes, limit_bytes) {
            self.note_wait(now, in_port, class, false);
            let port = &self.ports[usize::from(in_port)];
            if port.waiting & 1 << class != 0 {
                let look = now.max(port.busy_until);
                if look < self.due.at(in_port) {
                    self.due.set(in_port, look);
                }
            }
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
        for port in 0..self.ports.len() as u16 {
            self.grant_all(now, port, window);
        }
    }

    /// `port` grants all classes what they may have.
    #[cold]
    pub(super) fn grant_all(&mut self, now: Time, port: u16, window: &mut Window<'_, OnWire>) {
        if let Some(credit) = &mut self.details[usize::from(port)].credit {
            credit.owe_all();
            self.send_owed(now, port, window);
        }
    }

    /// The link of `port` failed: nothing waits for credits any more, and none can be granted.
    #[cold]
    pub(super) fn forget_credit(&mut self, now: Time, port: u16) {
        let Some(credit) = &mut self.details[usize::from(port)].credit else { return };
        credit.owe_nothing();
        for class in 0..8 {
            let Some(credit) = &mut self.details[usize::from(port)].credit else { return };
            if credit.waits_since(class).is_some() {
                credit.forget_wait(now, class);
                self.note_wait(now, port, class, false);
            }
        }
    }

    /// What came by `port` and waits here begins, or ceases, to keep its sender from using the link: under credits that
    /// is what telling to stop, and to go on, are under pauses.
    #[cold]
    fn note_withheld(&mut self, now: Time, port: u16, class: u8) {
        let account = self.account_index(port, class);
        let held_bytes = self.accounts[account].bytes;
        let Detail { link, credit, .. } = &self.details[usize::from(port)];
        let Some(credit) = credit else { return };
        let (lacks, credits_bytes) = (credit.holds_back(class, link.rate, link.delay), credit.credits_bytes());
        // Where it goes on for long it is told anew, once all that waits may be other frames.
        let again = link.delay * 2 + link.rate.serialise(credits_bytes);
        let Some(tracer) = &mut self.tracer else { return };
        let noted = tracer.withheld.get(&(port, class)).copied();
        if noted.is_some_and(|noted| !lacks || noted + again <= now) {
            tracer.withheld.remove(&(port, class));
            self.note_go(now, account);
        } else if noted.is_some() {
            return;
        }
        if lacks && held_bytes > 0 {
            if let Some(tracer) = &mut self.tracer {
                tracer.withheld.insert((port, class), now);
            }
            self.note_stop(now, account, credits_bytes, false);
        }
    }

    /// A class begins, or ceases, to wait for credits at `port`.
    #[cold]
    fn note_wait(&mut self, now: Time, port: u16, class: u8, waits: bool) {
        if self.network.record_pauses {
            self.pause_events.push(PauseEvent { at: now, port, classes: 1 << class, pause: waits });
        }
        if let Some(tracer) = &mut self.tracer {
            tracer.note_wait(now, port, class, waits);
        }
    }
}
