//! One egress queue with what is measured of it.

use check::little::QueueArea;
use engine::Ring;
use protocols::frame::Frame;
use units::Time;

/// First in, first out; watches its own length.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Queue {
    frames: Ring<Frame>,
    pub bytes: u32,
    /// The most bytes that waited since the last reset.
    pub max_bytes: u32,
    /// Length over time since the last reset, and the waits that make it up.
    pub area: QueueArea,
}

impl Queue {
    pub fn new() -> Self {
        Queue { frames: Ring::new(), bytes: 0, max_bytes: 0, area: QueueArea::starting(Time::ZERO) }
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Adds a copy of `frame`, which arrived at `frame.at`, as `change` leaves it.
    #[inline]
    pub fn push(&mut self, frame: &Frame, change: impl FnOnce(&mut Frame)) {
        self.area.on_change(frame.at, self.frames.len() as u64);
        self.bytes += u32::from(frame.size_bytes);
        self.max_bytes = self.max_bytes.max(self.bytes);
        let slot = self.frames.push_slot();
        *slot = *frame;
        change(slot);
    }

    /// The oldest frame.
    #[inline]
    pub fn front(&self) -> Option<&Frame> {
        self.frames.front()
    }

    /// The oldest frame, to be changed in all but its length.
    pub fn front_mut(&mut self) -> Option<&mut Frame> {
        self.frames.front_mut()
    }

    /// Forgets the oldest frame, which came `at` and is `size_bytes` long; its wait ends `now`.
    #[inline]
    pub fn forget_front(&mut self, now: Time, at: Time, size_bytes: u16) {
        self.end_wait(now, at, size_bytes);
        self.frames.drop_front();
    }

    /// The wait of a frame that came `at` ends `now`; it is still among the frames.
    #[inline]
    fn end_wait(&mut self, now: Time, at: Time, size_bytes: u16) {
        self.area.on_change(now, self.frames.len() as u64);
        self.area.on_departure(at, now);
        self.bytes -= u32::from(size_bytes);
    }

    /// Removes the oldest frame; its wait ends `now`.
    #[inline]
    pub fn drop_front(&mut self, now: Time) {
        if let Some(frame) = self.frames.front() {
            let (at, size_bytes) = (frame.at, frame.size_bytes);
            self.forget_front(now, at, size_bytes);
        }
    }

    /// The youngest frame.
    pub fn back(&self) -> Option<&Frame> {
        self.frames.back()
    }

    /// Removes the youngest frame; its wait ends `now`.
    pub fn drop_back(&mut self, now: Time) {
        if let Some(frame) = self.frames.back() {
            let (at, size_bytes) = (frame.at, frame.size_bytes);
            self.end_wait(now, at, size_bytes);
            self.frames.drop_back();
        }
    }

    /// Takes out the frames that `moves` says, in order; their wait here ends `now`.
    #[cold]
    pub fn take_matching(&mut self, now: Time, moves: impl Fn(&Frame) -> bool, mut to: impl FnMut(Frame)) {
        for _ in 0..self.frames.len() {
            let Some(frame) = self.frames.pop() else { return };
            if moves(&frame) {
                // The rest of the ring, and what was put back behind it.
                self.area.on_change(now, self.frames.len() as u64 + 1);
                self.area.on_departure(frame.at, now);
                self.bytes -= u32::from(frame.size_bytes);
                to(frame);
            } else {
                self.frames.push(frame);
            }
        }
    }

    /// Asks the processor for the frames that leave next.
    pub fn prefetch(&self) {
        self.frames.prefetch(4);
    }

    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.frames.iter()
    }

    /// For tests of the checks: changes what waits, behind the back of all that is measured of it.
    #[cfg(test)]
    pub fn tamper(&mut self, change: impl FnOnce(&mut Vec<Frame>)) {
        let mut frames = Vec::new();
        while let Some(frame) = self.frames.pop() {
            frames.push(frame);
        }
        change(&mut frames);
        frames.into_iter().for_each(|frame| self.frames.push(frame));
    }

    /// Forgets what was measured before `now`.
    pub fn reset(&mut self, now: Time) {
        self.max_bytes = self.bytes;
        self.area = QueueArea::starting(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_one_cache_line() {
        assert_eq!(size_of::<Queue>(), 64);
    }
}
