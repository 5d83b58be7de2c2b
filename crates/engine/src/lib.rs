//! Window-synchronous (conservative) parallel execution of nodes that are connected by wires with a delay.
//!
//! ```text
//!          wire (lookahead L)                    window [t0, t1)
//!   node A ==================> mailbox | node B  runs alone on the messages that arrived before t1,
//!   node C ==================> mailbox |         in exact order, and sends into mailboxes
//! ```
//!
//! A message sent at `t` over a wire of lookahead `L` arrives no earlier than `t + L`. Let `next(n)` be the next event
//! of node `n` and `L(n)` the least lookahead of its wires. Then no message sent in the window can arrive before `t1 =
//! min over n of next(n) + L(n)`, so every node may run all its events before `t1` alone, in any order and on any
//! thread. Nodes without an event before `t1` cost nothing. A node receives the messages of one instant sorted by
//! ingress port. Results therefore depend neither on the number of threads nor on the ends of windows. If the graph of
//! wires is bipartite, the two sides run in alternate windows, each up to two lookaheads long.
//!
//! The engine is independent of the network model: a [`Node`] is any state machine, a [`Message`] any small value.

#![allow(
    unsafe_code,
    reason = "rings and trees without checks, prefetches and borrowed jobs for threads, each with its reason"
)]

mod barrier;
mod bipartition;
mod borders;
mod chains;
mod division;
mod earliest_times;
mod error;
mod exchange;
mod execution;
#[cfg(all(test, loom))]
mod loom_tests;
mod mail;
mod node;
mod order;
mod part;
mod pool;
mod prefetch;
pub mod ranks;
mod ring;
mod sync;
mod thread_policy;
mod timers;
mod windows;

pub use borders::Wires;
pub use chains::{Chain, ChainMut, Chains};
pub use earliest_times::EarliestTimes;
pub use error::EngineError;
pub use execution::{Engine, Statistics, ThreadStatistics, WireSpec};
pub use mail::Window;
pub use node::{Message, Node};
pub use prefetch::prefetch;
pub use ring::Ring;
pub use windows::Clock;
