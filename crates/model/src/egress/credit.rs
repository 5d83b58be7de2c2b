//! Ports under credits (CBFC): what may leave is what the far end has room for, and what leaves makes room.

use super::{Egress, Head, hold};
use crate::books::Books;
use crate::on_wire::OnWire;
use engine::Window;
use protocols::frame::{CreditMessage, Frame};
use units::Time;

impl Egress {
    /// A frame of `class` leaves by `port`.
    #[cold]
    pub(super) fn spend_credit(&mut self, port: u16, class: u8, size_bytes: u16) {
        if let Some(credit) = &mut self.rules_mut(port).credit {
            credit.spend(class, u64::from(size_bytes));
        }
    }

    /// Whether a frame may leave by `port` as far as credits go; if so it spends them.
    #[cold]
    pub(super) fn take_credit(&mut self, now: Time, port: u16, frame: (u8, u16), books: &mut Books) -> bool {
        let fits = self.has_credit(now, port, frame, books);
        if fits {
            self.spend_credit(port, frame.0, frame.1);
        }
        fits
    }

    /// Whether a frame of `class` may leave by `port` as far as credits go; if not, the class waits from now on.
    fn has_credit(&mut self, now: Time, port: u16, (class, size_bytes): (u8, u16), books: &mut Books) -> bool {
        let Some(credit) = &mut self.rules_mut(port).credit else { return true };
        let waited = credit.waits_since(class).is_some();
        let fits = credit.fits_or_waits(now, class, u64::from(size_bytes));
        if !fits && !waited {
            books.note_wait(now, port, class, true);
        }
        fits
    }

    /// The classes, of those that wait for `port`, whose next frame has not the credits to leave.
    #[cold]
    pub(super) fn short_of_credit(
        &mut self,
        now: Time,
        port: u16,
        head: impl Fn(u8) -> Option<Head>,
        books: &mut Books,
    ) -> u8 {
        let Some(credit) = &self.rules(port).credit else { return 0 };
        if !self.obeys_credits {
            return 0;
        }
        let mut left = self.cell(port).waiting & credit.classes();
        let mut short = 0;
        while left != 0 {
            let class = left.trailing_zeros() as u8;
            left &= left - 1;
            if head(class)
                .is_some_and(|Head { size_bytes, .. }| !self.has_credit(now, port, (class, size_bytes), books))
            {
                short |= 1 << class;
            }
        }
        short
    }

    /// A credit message came by `port`: its class, and whether that waited for it.
    pub fn on_credit(&mut self, port: u16, frame: &Frame, books: &mut Books) -> (u8, bool) {
        books.ledger.control_received += 1;
        let (now, CreditMessage { class, sent_bytes, limit_bytes }) = (frame.at, frame.credit_message());
        let Some(credit) = &mut self.rules_mut(port).credit else { return (class, false) };
        let goes_on = credit.on_message(now, class, sent_bytes, limit_bytes);
        if goes_on {
            books.note_wait(now, port, class, false);
        }
        (class, goes_on)
    }

    /// Room of `class` behind `port` may have come free, of which `held_bytes` are taken: whether it must be granted
    /// now.
    pub fn note_room(&mut self, port: u16, class: u8, held_bytes: u64) -> bool {
        self.rules_mut(port).credit.as_mut().is_some_and(|credit| credit.note_room(class, held_bytes))
    }

    /// All classes of `port` are to be granted what they may have; whether there are any.
    pub fn owe_all(&mut self, port: u16) -> bool {
        let Some(credit) = &mut self.rules_mut(port).credit else { return false };
        credit.owe_all();
        true
    }

    /// Sends what `port` owes as soon as its wire is free; `held_bytes` tells what is taken of a class's room. Returns
    /// the class of a message that left at once.
    pub fn send_owed(
        &mut self,
        now: Time,
        port: u16,
        held_bytes: impl Fn(u8) -> u64,
        books: &mut Books,
        window: &mut Window<'_, OnWire>,
    ) -> Option<u8> {
        let idle = self.cell(port).busy_until <= now;
        let rules = self.rules_mut(port);
        if rules.link.down {
            // The repair grants everything anew.
            if let Some(credit) = &mut rules.credit {
                credit.owe_nothing();
            }
            return None;
        }
        let mut sent = None;
        if idle
            && rules.control.is_empty()
            && let Some((class, frame)) = self.next_credit(port, held_bytes, books)
        {
            self.transmit_control(now, port, frame, books, window);
            let free = self.cell(port).busy_until;
            if self.due.at(port) < free {
                self.due.set(port, free);
            }
            sent = Some(class);
        }
        if self.owes(port) {
            self.cell_mut(port).holds |= hold::CONTROL;
            self.look_when_free(now, port);
        }
        sent
    }

    /// Whether `port` owes its neighbour a credit message.
    pub(super) fn owes(&self, port: u16) -> bool {
        self.rules(port).credit.as_ref().is_some_and(|credit| credit.next_owed().is_some())
    }

    /// The next credit message that `port` owes, as of the newest state, and its class.
    pub fn next_credit(&mut self, port: u16, held_bytes: impl Fn(u8) -> u64, books: &mut Books) -> Option<(u8, Frame)> {
        let credit = self.rules_mut(port).credit.as_mut()?;
        let class = credit.next_owed()?;
        let (sent_bytes, limit_bytes) = credit.message(class, held_bytes(class));
        books.ledger.control_sent += 1;
        Some((class, Frame::credit(class, sent_bytes, limit_bytes)))
    }

    /// The link of `port` failed: nothing waits for credits any more, and none can be granted.
    #[cold]
    pub(super) fn forget_credit(&mut self, now: Time, port: u16, books: &mut Books) {
        let Some(credit) = &mut self.rules_mut(port).credit else { return };
        credit.owe_nothing();
        for class in 0..8 {
            if credit.waits_since(class).is_some() {
                credit.forget_wait(now, class);
                books.note_wait(now, port, class, false);
            }
        }
    }
}
