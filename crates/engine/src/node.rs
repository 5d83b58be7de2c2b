//! Traits of nodes and of the messages between them.

use crate::mail::Window;
use units::Time;

/// A message on a wire: a small value that contains its arrival time.
pub trait Message: Copy + Send + Default {
    /// Returns the arrival time at the receiving node.
    fn at(&self) -> Time;
}

/// A state machine that owns all state that interacts without delay.
pub trait Node: Send {
    /// The type of messages on the node's wires.
    type Message: Message;

    /// Runs all arrivals and all own events before [`Window::end`] in order of time. Must take all arrivals before
    /// the end. Returns the time of the node's next own event, which is at or after the end; [`Time::MAX`] for none.
    fn run(&mut self, window: &mut Window<'_, Self::Message>) -> Time;

    /// Returns the work done so far, in a unit common to all nodes; never decreases. Nodes are divided among threads by
    /// recent work, or by their number of wires if all return 0.
    fn work(&self) -> u64 {
        0
    }

    /// Prefetches the state of this node, which runs `distance` (3, 2 or 1) nodes later: at 3 the node itself, at 2
    /// the memory that the node points to, at 1 the memory that the memory of step 2 points to.
    fn prefetch(&self, distance: usize) {
        let _ = distance;
    }
}
