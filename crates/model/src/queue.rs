//! The egress queues of a switch, with what is measured of them.

use check::little::QueueArea;
use engine::{Chain, ChainMut, Chains};
use protocols::frame::Frame;
use std::ops::Deref;
use units::Time;

/// A queue, first in, first out, that watches its own length.
pub(crate) type Queue = Chain<Frame, Watch>;

/// What a queue knows of its length.
#[derive(Debug)]
pub(crate) struct Watch {
    pub bytes: u32,
    /// The most bytes that waited since the last reset.
    pub max_bytes: u32,
    /// Length over time since the last reset, and the waits that make it up.
    pub area: QueueArea,
}

/// All queues of a switch, whose frames lie in one store.
#[derive(Debug)]
pub(crate) struct Queues(Chains<Frame, Watch>);

impl Deref for Queues {
    type Target = Chains<Frame, Watch>;
    #[inline]
    fn deref(&self) -> &Chains<Frame, Watch> {
        &self.0
    }
}

impl Queues {
    /// `count` of them, empty.
    pub fn new(count: usize) -> Self {
        Queues(Chains::new(count, || Watch { bytes: 0, max_bytes: 0, area: QueueArea::starting(Time::ZERO) }))
    }

    /// The queue at `index`, to be changed.
    #[inline(always)] // once a packet-hop
    pub fn at(&mut self, index: usize) -> QueueMut<'_> {
        QueueMut(self.0.at(index))
    }

    /// The frames in the queue at `index`, the oldest first.
    pub fn frames(&self, index: usize) -> impl Iterator<Item = &Frame> {
        self.0.values(index)
    }

    /// Forgets what was measured before `now`.
    pub fn reset(&mut self, now: Time) {
        for watch in self.0.beside_mut() {
            watch.max_bytes = watch.bytes;
            watch.area = QueueArea::starting(now);
        }
    }
}

/// One queue of [`Queues`], to be changed.
#[derive(Debug)]
pub(crate) struct QueueMut<'a>(ChainMut<'a, Frame, Watch>);

impl Deref for QueueMut<'_> {
    type Target = Queue;
    #[inline]
    fn deref(&self) -> &Queue {
        &self.0
    }
}

impl QueueMut<'_> {
    /// Adds a copy of `frame`, which arrived at `frame.at`, as `change` leaves it.
    #[inline(always)] // once a packet-hop
    pub fn push(&mut self, frame: &Frame, change: impl FnOnce(&mut Frame)) {
        let length = self.0.len() as u64;
        let watch = self.0.beside();
        watch.area.on_change(frame.at, length);
        watch.bytes += u32::from(frame.size_bytes);
        watch.max_bytes = watch.max_bytes.max(watch.bytes);
        let slot = self.0.push_slot();
        *slot = *frame;
        change(slot);
    }

    /// The oldest frame, to be changed in all but its length.
    pub fn front_mut(&mut self) -> Option<&mut Frame> {
        self.0.front_mut()
    }

    /// Forgets the oldest frame, which came `at` and is `size_bytes` long; its wait ends `now`.
    #[inline(always)] // once a packet-hop
    pub fn forget_front(&mut self, now: Time, at: Time, size_bytes: u16) {
        self.end_wait(now, at, size_bytes);
        self.0.drop_front();
    }

    /// The wait of a frame that came `at` ends `now`; it is still among the frames.
    #[inline(always)] // once a packet-hop
    fn end_wait(&mut self, now: Time, at: Time, size_bytes: u16) {
        let length = self.0.len() as u64;
        let watch = self.0.beside();
        watch.area.on_change(now, length);
        watch.area.on_departure(at, now);
        watch.bytes -= u32::from(size_bytes);
    }

    /// Removes the oldest frame; its wait ends `now`.
    #[inline]
    pub fn drop_front(&mut self, now: Time) {
        if let Some(frame) = self.0.front() {
            let (at, size_bytes) = (frame.at, frame.size_bytes);
            self.forget_front(now, at, size_bytes);
        }
    }

    /// Removes the youngest frame; its wait ends `now`.
    pub fn drop_back(&mut self, now: Time) {
        if let Some(frame) = self.0.back() {
            let (at, size_bytes) = (frame.at, frame.size_bytes);
            self.end_wait(now, at, size_bytes);
            self.0.drop_back();
        }
    }

    /// Takes out the frames that `moves` says, in order; their wait here ends `now`.
    #[cold]
    pub fn take_matching(&mut self, now: Time, moves: impl Fn(&Frame) -> bool, mut to: impl FnMut(Frame)) {
        for _ in 0..self.0.len() {
            let Some(&frame) = self.0.front() else { return };
            if moves(&frame) {
                self.drop_front(now);
                to(frame);
            } else {
                self.0.drop_front();
                *self.0.push_slot() = frame;
            }
        }
    }

    /// For tests of the checks: changes what waits, behind the back of all that is measured of it.
    #[cfg(test)]
    pub fn tamper(&mut self, change: impl FnOnce(&mut Vec<Frame>)) {
        let mut frames = Vec::new();
        while let Some(&frame) = self.0.front() {
            frames.push(frame);
            self.0.drop_front();
        }
        change(&mut frames);
        frames.into_iter().for_each(|frame| *self.0.push_slot() = frame);
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
