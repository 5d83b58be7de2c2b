//! One egress queue with what is measured of it.

use check::little::QueueArea;
use engine::Ring;
use protocols::frame::Frame;
use units::Time;

/// First in, first out; watches its own length.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    frames: Ring<Frame>,
    pub bytes: u64,
    /// The most bytes that waited since the last reset.
    pub max_bytes: u64,
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

    /// Adds a frame that arrived at `frame.at`.
    #[inline]
    pub fn push(&mut self, frame: Frame) {
        self.area.on_change(frame.at, self.frames.len() as u64);
        self.bytes += u64::from(frame.size_bytes);
        self.max_bytes = self.max_bytes.max(self.bytes);
        self.frames.push(frame);
    }

    /// Removes the oldest frame; its wait ends `now`.
    #[inline]
    pub fn pop(&mut self, now: Time) -> Option<Frame> {
        let frame = self.frames.pop()?;
        self.area.on_change(now, self.frames.len() as u64 + 1);
        self.area.on_departure(frame.at, now);
        self.bytes -= u64::from(frame.size_bytes);
        Some(frame)
    }

    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.frames.iter()
    }

    /// Forgets what was measured before `now`.
    pub fn reset(&mut self, now: Time) {
        self.max_bytes = self.bytes;
        self.area = QueueArea::starting(now);
    }

    /// Sum of the waits since the last reset up to `now`, in ps, of frames that left and that are inside.
    pub fn wait_ps(&self, now: Time) -> u128 {
        let mut area = self.area;
        area.on_change(now, self.frames.len() as u64);
        area.area_frame_ps()
    }
}
