//! Window-synchronous execution of nodes that meet only through wires with a delay.
//!
//! ```text
//!          wire (lookahead L)                    window [t0, t1)
//!   node A ==================> mailbox | node B  runs alone on what arrived before t1,
//!   node C ==================> mailbox |         in exact order, and sends into mailboxes
//! ```
//!
//! A message sent at `t` over a wire of lookahead `L` arrives no earlier than `t + L`. With `next(n)` the
//! next event of node `n` and `L(n)` the least lookahead of its wires, nothing can reach any node before
//! `t1 = min over n of next(n) + L(n)`: every node may run all its events before `t1` alone, in any order
//! and on any thread. Nodes without an event before `t1` cost nothing. A node sees the messages of an
//! instant sorted by ingress port, whatever thread sent them, so the results do not depend on the number
//! of threads; nor do they depend on where a window ends.
//!
//! The engine knows no network: a [`Node`] is any state machine, a [`Message`] any small value.

#![allow(unsafe_code, reason = "rings without checks, prefetches and borrowed jobs for threads, each with its reason")]

mod agenda;
mod barrier;
mod division;
mod exchange;
mod execution;
#[cfg(all(test, loom))]
mod loom_tests;
mod mail;
mod pace;
mod part;
mod pool;
mod prefetch;
mod ring;
mod sync;

pub use execution::{Clock, Engine, EngineError, Sharing, Statistics, WireSpec};
pub use mail::Window;
pub use prefetch::prefetch;
pub use ring::Ring;

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

    /// Will run `turns` (3, 2 or 1) nodes from now: a good moment to [`prefetch`], first the node itself,
    /// then what it points at, then what that points at.
    fn approach(&self, turns: usize) {
        let _ = turns;
    }
}
