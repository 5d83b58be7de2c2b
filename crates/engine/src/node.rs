//! What the engine runs, and what travels between.

use crate::mail::Window;
use units::Time;

/// What travels on a wire: a small value that knows when it arrives.
pub trait Message: Copy + Send + Default {
    /// When it reaches the node at the wire's end.
    fn at(&self) -> Time;
}

/// A state machine that owns everything inside it that interacts without delay.
pub trait Node: Send {
    /// What its wires carry.
    type Message: Message;

    /// Runs every arrival and every event of its own that lies before [`Window::end`], in order of time,
    /// and returns the time of its next own event ([`Time::MAX`] for none), which is at or after the end.
    /// All arrivals before the end must be taken.
    fn run(&mut self, window: &mut Window<'_, Self::Message>) -> Time;

    /// How much it has done so far, in a unit that is the same for all nodes; it never falls. Threads share the nodes
    /// by what each did lately; by their wires, where all say 0.
    fn work(&self) -> u64 {
        0
    }

    /// Will run `turns` (3, 2 or 1) nodes from now: a good moment to fetch what it will touch, first the node itself,
    /// then what it points at, then what that points at.
    fn prefetch(&self, turns: usize) {
        let _ = turns;
    }
}
