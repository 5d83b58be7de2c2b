//! Ports under credit-based flow control (CBFC): a frame starts only if the credits of its class cover it, and credit
//! messages grant released buffer space to the neighbour.

use super::{Egress, Head, block};
use crate::node_stats::NodeStats;
use crate::on_wire::OnWire;
use engine::Window;
use protocols::frame::{CreditMessage, Frame};
use units::Time;

impl Egress {
    /// Charges the credits of `class` for a frame that leaves by `port`.
    #[cold]
    pub(super) fn spend_credit(&mut self, port: u16, class: u8, size_bytes: u16) {
        if let Some(credit) = &mut self.state_mut(port).credit {
            credit.spend(class, u64::from(size_bytes));
        }
    }

    /// If the credits cover a frame, spends them. Returns whether they did.
    #[cold]
    pub(super) fn take_credit(&mut self, now: Time, port: u16, frame: (u8, u16), stats: &mut NodeStats) -> bool {
        let fits = self.has_credit(now, port, frame, stats);
        if fits {
            self.spend_credit(port, frame.0, frame.1);
        }
        fits
    }

    /// Returns whether the credits cover a frame. If not, a credit stall of the class starts, unless it has already
    /// started.
    fn has_credit(&mut self, now: Time, port: u16, (class, size_bytes): (u8, u16), stats: &mut NodeStats) -> bool {
        let Some(credit) = &mut self.state_mut(port).credit else { return true };
        let waited = credit.waits_since(class).is_some();
        let fits = credit.fits_or_waits(now, class, u64::from(size_bytes));
        if !fits && !waited {
            stats.note_wait(now, port, class, true);
        }
        fits
    }

    /// Returns the bitmask of waiting classes with too few credits for their next frame.
    #[cold]
    pub(super) fn lacking_credit(
        &mut self,
        now: Time,
        port: u16,
        head: impl Fn(u8) -> Option<Head>,
        stats: &mut NodeStats,
    ) -> u8 {
        let Some(credit) = &self.state(port).credit else { return 0 };
        if !self.obeys_credits {
            return 0;
        }
        let mut left = self.cell(port).waiting & credit.classes();
        let mut short = 0;
        while left != 0 {
            let class = left.trailing_zeros() as u8;
            left &= left - 1;
            if head(class)
                .is_some_and(|Head { size_bytes, .. }| !self.has_credit(now, port, (class, size_bytes), stats))
            {
                short |= 1 << class;
            }
        }
        short
    }

    /// Handles a credit message that arrived by `port`. Returns its class, and whether it ended a credit stall of the
    /// class.
    pub fn on_credit(&mut self, port: u16, frame: &Frame, stats: &mut NodeStats) -> (u8, bool) {
        stats.counters.control_received += 1;
        let (now, CreditMessage { class, sent_bytes, limit_bytes }) = (frame.at, frame.credit_message());
        let Some(credit) = &mut self.state_mut(port).credit else { return (class, false) };
        let goes_on = credit.on_message(now, class, sent_bytes, limit_bytes);
        if goes_on {
            stats.note_wait(now, port, class, false);
        }
        (class, goes_on)
    }

    /// Records that buffer space of `class` may have become free; `held_bytes` are in use. Returns whether a grant must
    /// be sent now.
    pub fn note_room(&mut self, port: u16, class: u8, held_bytes: u64) -> bool {
        self.state_mut(port).credit.as_mut().is_some_and(|credit| credit.note_room(class, held_bytes))
    }

    /// Queues grants for all classes of `port`. Returns whether the link uses credits.
    pub fn queue_all_grants(&mut self, port: u16) -> bool {
        let Some(credit) = &mut self.state_mut(port).credit else { return false };
        credit.owe_all();
        true
    }

    /// Sends the pending grants of `port`: one at once if the wire is free, the others when the wire becomes free.
    /// `held_bytes` returns the buffer occupancy of the ingress account of a class. Returns the class of a message that
    /// was sent at once.
    pub fn send_pending_grants(
        &mut self,
        now: Time,
        port: u16,
        held_bytes: impl Fn(u8) -> u64,
        stats: &mut NodeStats,
        window: &mut Window<'_, OnWire>,
    ) -> Option<u8> {
        let idle = self.cell(port).busy_until <= now;
        let state = self.state_mut(port);
        if state.link.down {
            // Cancels the pending grants, because the repair of the link queues grants for all classes.
            if let Some(credit) = &mut state.credit {
                credit.owe_nothing();
            }
            return None;
        }
        let mut sent = None;
        if idle
            && state.control.is_empty()
            && let Some((class, frame)) = self.next_grant(port, held_bytes, stats)
        {
            self.transmit_control(now, port, frame, stats, window);
            let free = self.cell(port).busy_until;
            if self.due.at(port) < free {
                self.due.set(port, free);
            }
            sent = Some(class);
        }
        if self.has_pending_grant(port) {
            self.cell_mut(port).block_reasons |= block::CONTROL;
            self.schedule_when_free(now, port);
        }
        sent
    }

    /// Returns whether `port` has a pending credit message.
    pub(super) fn has_pending_grant(&self, port: u16) -> bool {
        self.state(port).credit.as_ref().is_some_and(|credit| credit.next_owed().is_some())
    }

    /// Returns the next pending credit message of `port` and its class, computed from the current state.
    pub fn next_grant(
        &mut self,
        port: u16,
        held_bytes: impl Fn(u8) -> u64,
        stats: &mut NodeStats,
    ) -> Option<(u8, Frame)> {
        let credit = self.state_mut(port).credit.as_mut()?;
        let class = credit.next_owed()?;
        let (sent_bytes, limit_bytes) = credit.message(class, held_bytes(class));
        stats.counters.control_sent += 1;
        Some((class, Frame::credit(class, sent_bytes, limit_bytes)))
    }

    /// Ends the credit stalls and cancels the pending grants of a port with a failed link.
    #[cold]
    pub(super) fn cancel_credit_waits(&mut self, now: Time, port: u16, stats: &mut NodeStats) {
        let Some(credit) = &mut self.state_mut(port).credit else { return };
        credit.owe_nothing();
        for class in 0..8 {
            if credit.waits_since(class).is_some() {
                credit.forget_wait(now, class);
                stats.note_wait(now, port, class, false);
            }
        }
    }
}
