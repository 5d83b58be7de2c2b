//! Cyclic queuing and forwarding at a switch (IEEE 802.1Qch): of a pair of queues, a frame waits in that of the cycle
//! in which it came.

use super::core::Core;
use super::outcome::Crossing;
use units::Time;

impl Core {
    /// A frame that came `at` waits in the queue of its cycle, where its port has cycles.
    #[cold]
    pub(super) fn choose_cycle(&self, crossing: &mut Crossing, at: Time) {
        if let Some(cycles) = &self.egress.rules(crossing.egress).cycles {
            crossing.class = cycles.class_at(at, crossing.class);
        }
    }

    /// The frame at the head of the queue at `index` leaves `port`: counts it where it should leave in a cycle of its
    /// own, and whether it does.
    pub(super) fn note_cycle(&mut self, now: Time, port: u16, index: usize) {
        let Some(cycles) = &self.egress.rules(port).cycles else { return };
        if let Some(frame) = self.buffer.queues[index].front().filter(|frame| cycles.carries(frame.class)) {
            self.books.ledger.cyclic_frames += 1;
            self.books.ledger.missed_cycles += u64::from(cycles.misses(frame.at, now));
        }
    }
}
