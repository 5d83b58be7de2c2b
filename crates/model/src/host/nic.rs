//! The queues of a host's port.

use engine::Ring;
use protocols::florax::HostPair;
use protocols::frame::Frame;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Time;

/// Flows that wait for their due time: time, slot, generation; ascending. The first flow is kept outside the heap,
/// because most ports have only one paced flow, and a heap operation costs more.
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

    /// Removes the first flow if it is due at `now` and no other flow is paced.
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

/// The queues of one class at a port.
#[derive(Clone, Debug)]
pub(super) struct ClassQueues {
    /// Complete frames: replies and relayed frames.
    pub frames: Ring<Frame>,
    /// Flows that may have a frame to send, as (slot, generation), in round-robin order.
    pub ready: Ring<(u32, u32)>,
}

impl ClassQueues {
    /// Returns whether no frame and no flow waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.ready.is_empty()
    }
}

/// The queues of one port: complete frames, and flows that create a frame when they are served.
#[derive(Debug)]
pub(crate) struct PortQueues {
    /// Queues of each class in use, in the order of `Network::classes`.
    pub(super) classes: Vec<ClassQueues>,
    /// Flows that wait for their due time.
    pub paced: Paced,
}

impl PortQueues {
    /// Creates the queues for `slots` classes.
    pub fn new(slots: usize) -> Self {
        let class_queues = ClassQueues { frames: Ring::new(), ready: Ring::new() };
        PortQueues { classes: vec![class_queues; slots], paced: Paced::default() }
    }

    /// Prefetches the queues.
    pub fn prefetch(&self) {
        engine::prefetch(&self.classes[..]);
        if let Some(second) = self.paced.rest.peek() {
            engine::prefetch(second);
        }
    }

    /// Removes the complete frames of `pair`, in order.
    #[cold]
    pub fn take_frames(&mut self, pair: HostPair, mut to: impl FnMut(Frame)) {
        for ring in self.classes.iter_mut().map(|class_queues| &mut class_queues.frames) {
            // One full rotation keeps the order of the remaining frames.
            for _ in 0..ring.len() {
                match ring.pop() {
                    Some(frame) if pair.covers(frame.src, frame.dst) => to(frame),
                    Some(frame) => ring.push(frame),
                    None => {}
                }
            }
        }
    }

    /// Returns the complete frames of a class, oldest first.
    pub fn queued(&self, class_slot: usize) -> impl Iterator<Item = &Frame> {
        self.classes[class_slot].frames.iter()
    }

    pub fn waiting_frames(&self) -> impl Iterator<Item = &Frame> {
        self.classes.iter().flat_map(|class_queues| class_queues.frames.iter())
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
