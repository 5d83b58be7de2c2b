//! A host's port: whose frame goes next.

use engine::Ring;
use protocols::florax::Pair;
use protocols::frame::Frame;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Time;

/// What waits to leave by one port: frames that are made already, and flows that make them when it is their turn.
#[derive(Debug)]
pub(crate) struct Nic {
    /// Frames that are made already: replies, and what this host relays. By slot of the class.
    pub(super) frames: Vec<Ring<Frame>>,
    /// Flows that may have something to send, as (slot, generation), by slot of the class, in
    /// round-robin order.
    pub ready: Vec<Ring<(u32, u32)>>,
    /// Flows that wait for their next instant: time, slot, generation.
    pub paced: BinaryHeap<Reverse<(Time, u32, u32)>>,
}

impl Nic {
    /// For `slots` classes.
    pub fn new(slots: usize) -> Self {
        Nic { frames: vec![Ring::new(); slots], ready: vec![Ring::new(); slots], paced: BinaryHeap::new() }
    }

    /// Asks the processor for what the port will look at first.
    pub fn approach(&self) {
        engine::prefetch(&self.ready[..]);
        engine::prefetch(&self.frames[..]);
        if let Some(first) = self.paced.peek() {
            engine::prefetch(first);
        }
    }

    /// Takes out the made frames of `pair`, in order.
    #[cold]
    pub fn take_frames(&mut self, pair: Pair, mut to: impl FnMut(Frame)) {
        for ring in &mut self.frames {
            for _ in 0..ring.len() {
                match ring.pop() {
                    Some(frame) if pair.covers(frame.src, frame.dst) => to(frame),
                    Some(frame) => ring.push(frame),
                    None => {}
                }
            }
        }
    }

    /// Whether nothing of a class waits.
    pub fn is_empty(&self, class_slot: usize) -> bool {
        self.frames[class_slot].is_empty() && self.ready[class_slot].is_empty()
    }

    /// The frames that wait in a class, the oldest first.
    pub fn queued(&self, class_slot: usize) -> impl Iterator<Item = &Frame> {
        self.frames[class_slot].iter()
    }

    pub fn waiting_frames(&self) -> impl Iterator<Item = &Frame> {
        self.frames.iter().flat_map(|ring| ring.iter())
    }
}
