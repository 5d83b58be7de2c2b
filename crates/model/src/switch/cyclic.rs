//! Cyclic queuing and forwarding at a switch (IEEE 802.1Qch): a frame waits in the queue of the cycle in which it
//! arrived.

use super::core::Core;
use super::outcome::Crossing;
use units::Time;

impl Core {
    /// Selects the queue of the arrival's cycle, if the egress port has cycles.
    #[cold]
    pub(super) fn choose_cycle(&self, crossing: &mut Crossing, at: Time) {
        if let Some(cycles) = &self.egress.state(crossing.egress).cycles {
            crossing.class = cycles.class_at(at, crossing.class);
        }
    }

    /// Counts the head of the queue at `index`, which leaves by `port`, if its class is cyclic, and whether it misses
    /// its cycle.
    pub(super) fn note_cycle(&mut self, now: Time, port: u16, index: usize) {
        let Some(cycles) = &self.egress.state(port).cycles else { return };
        if let Some(frame) = self.buffer.queues[index].front().filter(|frame| cycles.carries(frame.class)) {
            self.stats.counters.cyclic_frames += 1;
            self.stats.counters.missed_cycles += u64::from(cycles.misses(frame.at, now));
        }
    }
}
