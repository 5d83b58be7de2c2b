//! A host's port: whose frame goes next.

use engine::Ring;
use protocols::florax::Pair;
use protocols::frame::Frame;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Time;

/// Flows that wait for their next instant: time, slot, generation; ascending. The first stands apart: most ports have
/// one flow that is paced, and a heap of one costs as much as any.
#[derive(Debug, Default)]
pub(super) struct Paced {
    first: Option<(Time, u32, u32)>,
    rest: BinaryHeap<Reverse<(Time, u32, u32)>>,
}

impl Paced {
    #[inline]
    pub fn first(&self) -> Option<(Time, u32, u32)> {
        self.first
    }

    #[inline]
    pub fn push(&mut self, flow: (Time, u32, u32)) {
        match self.first {
            None => self.first = Some(flow),
            Some(first) if flow < first => {
                self.rest.push(Reverse(first));
                self.first = Some(flow);
            }
            Some(_) => self.rest.push(Reverse(flow)),
        }
    }

    /// Takes out the flow that is due `now`, if no other waits.
    #[inline]
    pub fn pop_only(&mut self, now: Time) -> Option<(Time, u32, u32)> {
        match self.first {
            Some(flow) if flow.0 <= now && self.rest.is_empty() => {
                self.first = None;
                Some(flow)
            }
            _ => None,
        }
    }

    #[inline]
    pub fn pop(&mut self) -> Option<(Time, u32, u32)> {
        let first = self.first.take();
        if !self.rest.is_empty() {
            self.first = self.rest.pop().map(|Reverse(flow)| flow);
        }
        first
    }
}

/// What waits to leave by one port in one class.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    /// Frames that are made already: replies, and what this host relays.
    pub frames: Ring<Frame>,
    /// Flows that may have something to send, as (slot, generation), in round-robin order.
    pub ready: Ring<(u32, u32)>,
}

impl Lane {
    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.ready.is_empty()
    }
}

/// What waits to leave by one port: frames that are made already, and flows that make them when it is their turn.
#[derive(Debug)]
pub(crate) struct Nic {
    /// By slot of the class.
    pub(super) lanes: Vec<Lane>,
    /// Flows that wait for their next instant: time, slot, generation.
    pub paced: Paced,
}

impl Nic {
    /// For `slots` classes.
    pub fn new(slots: usize) -> Self {
        let lane = Lane { frames: Ring::new(), ready: Ring::new() };
        Nic { lanes: vec![lane; slots], paced: Paced::default() }
    }

    /// Asks the processor for what the port will look at first.
    pub fn prefetch(&self) {
        engine::prefetch(&self.lanes[..]);
        if let Some(second) = self.paced.rest.peek() {
            engine::prefetch(second);
        }
    }

    /// Takes out the made frames of `pair`, in order.
    #[cold]
    pub fn take_frames(&mut self, pair: Pair, mut to: impl FnMut(Frame)) {
        for ring in self.lanes.iter_mut().map(|lane| &mut lane.frames) {
            for _ in 0..ring.len() {
                match ring.pop() {
                    Some(frame) if pair.covers(frame.src, frame.dst) => to(frame),
                    Some(frame) => ring.push(frame),
                    None => {}
                }
            }
        }
    }

    /// The frames that wait in a class, the oldest first.
    pub fn queued(&self, class_slot: usize) -> impl Iterator<Item = &Frame> {
        self.lanes[class_slot].frames.iter()
    }

    pub fn waiting_frames(&self) -> impl Iterator<Item = &Frame> {
        self.lanes.iter().flat_map(|lane| lane.frames.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    #[test]
    fn paced_flows_come_in_order() {
        let mut random = Stream::new(3, 0, 0);
        let (mut paced, mut known) = (Paced::default(), Vec::<(Time, u32, u32)>::new());
        for number in 0..5_000 {
            if random.below(4) == 0 {
                let now = Time::from_ps(random.below(50));
                let only = (known.len() == 1 && known[0].0 <= now).then(|| known.remove(0));
                assert_eq!(paced.pop_only(now), only);
            } else if random.below(2) == 0 {
                let flow = (Time::from_ps(random.below(50)), number, 0);
                paced.push(flow);
                known.push(flow);
                known.sort_unstable();
            } else {
                let expected = (!known.is_empty()).then(|| known.remove(0));
                assert_eq!((paced.first(), paced.pop()), (expected, expected));
            }
        }
    }
}
