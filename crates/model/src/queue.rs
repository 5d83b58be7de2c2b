//! Egress queues of a switch, with their statistics.

use check::little::QueueArea;
use engine::{Chain, ChainMut, Chains};
use protocols::frame::Frame;
use std::ops::Deref;
use units::Time;

/// A FIFO queue that measures its length.
pub(crate) type Queue = Chain<Frame, LengthStats>;

/// Length statistics of a queue.
#[derive(Debug)]
pub(crate) struct LengthStats {
    pub bytes: u32,
    /// Largest length in bytes since the last reset.
    pub max_bytes: u32,
    /// Time integral of the length and sojourn times since the last reset, for Little's law.
    pub area: QueueArea,
}

/// All queues of a switch, with a common frame store.
#[derive(Debug)]
pub(crate) struct Queues(Chains<Frame, LengthStats>);

impl Deref for Queues {
    type Target = Chains<Frame, LengthStats>;
    #[inline]
    fn deref(&self) -> &Chains<Frame, LengthStats> {
        &self.0
    }
}

impl Queues {
    /// Creates `count` empty queues.
    pub fn new(count: usize) -> Self {
        Queues(Chains::new(count, || LengthStats { bytes: 0, max_bytes: 0, area: QueueArea::starting(Time::ZERO) }))
    }

    /// Returns a mutable handle to the queue at `index`.
    #[inline(always)] // hot: runs once per packet-hop
    pub fn at(&mut self, index: usize) -> QueueMut<'_> {
        QueueMut(self.0.at(index))
    }

    /// Returns the frames in the queue at `index`, oldest first.
    pub fn frames(&self, index: usize) -> impl Iterator<Item = &Frame> {
        self.0.values(index)
    }

    /// Restarts the statistics at `now`.
    pub fn reset(&mut self, now: Time) {
        for watch in self.0.owner_data_mut() {
            watch.max_bytes = watch.bytes;
            watch.area = QueueArea::starting(now);
        }
    }
}

/// Mutable access to one queue of [`Queues`].
#[derive(Debug)]
pub(crate) struct QueueMut<'a>(ChainMut<'a, Frame, LengthStats>);

impl Deref for QueueMut<'_> {
    type Target = Queue;
    #[inline]
    fn deref(&self) -> &Queue {
        &self.0
    }
}

impl QueueMut<'_> {
    /// Appends a copy of `frame`, which arrived at `frame.at`, after applying `change`.
    #[inline(always)] // hot: runs once per packet-hop
    pub fn push(&mut self, frame: &Frame, change: impl FnOnce(&mut Frame)) {
        let length = self.0.len() as u64;
        let watch = self.0.owner_data();
        watch.area.on_change(frame.at, length);
        watch.bytes += u32::from(frame.size_bytes);
        watch.max_bytes = watch.max_bytes.max(watch.bytes);
        let slot = self.0.push_slot();
        *slot = *frame;
        change(slot);
    }

    /// Returns the oldest frame. The caller must not change the length of the frame.
    pub fn front_mut(&mut self) -> Option<&mut Frame> {
        self.0.front_mut()
    }

    /// Removes the oldest frame at `now`. It arrived at `at` and has `size_bytes`.
    #[inline(always)] // hot: runs once per packet-hop
    pub fn pop_front_known(&mut self, now: Time, at: Time, size_bytes: u16) {
        self.end_wait(now, at, size_bytes);
        self.0.drop_front();
    }

    /// Updates the statistics for the departure of a frame that arrived at `at`. The frame must still be in the queue.
    #[inline(always)] // hot: runs once per packet-hop
    fn end_wait(&mut self, now: Time, at: Time, size_bytes: u16) {
        let length = self.0.len() as u64;
        let watch = self.0.owner_data();
        watch.area.on_change(now, length);
        watch.area.on_departure(at, now);
        watch.bytes -= u32::from(size_bytes);
    }

    /// Removes the oldest frame at `now`.
    #[inline]
    pub fn drop_front(&mut self, now: Time) {
        if let Some(frame) = self.0.front() {
            let (at, size_bytes) = (frame.at, frame.size_bytes);
            self.pop_front_known(now, at, size_bytes);
        }
    }

    /// Removes the youngest frame at `now`.
    pub fn drop_back(&mut self, now: Time) {
        if let Some(frame) = self.0.back() {
            let (at, size_bytes) = (frame.at, frame.size_bytes);
            self.end_wait(now, at, size_bytes);
            self.0.drop_back();
        }
    }

    /// Removes the frames that match `moves` and passes them to `to`, in queue order, at `now`.
    #[cold]
    pub fn take_matching(&mut self, now: Time, moves: impl Fn(&Frame) -> bool, mut to: impl FnMut(Frame)) {
        // Rotates the whole queue once, so that the remaining frames keep their order. Their sojourn times continue.
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

    /// Fault injection: changes the frames without updating the statistics.
    #[cfg(test)]
    pub fn corrupt(&mut self, change: impl FnOnce(&mut Vec<Frame>)) {
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
