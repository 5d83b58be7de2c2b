//! Distinguishes a deadlock under PAUSE and PFC from a cycle of pauses that will drain.
//!
//! A paused queue is released when the ingress account that paused it (at the downstream node) falls to `xon_bytes`
//! *or below*. An account drains with the queues that contain its bytes. Let S be a set of paused non-empty queues.
//! While all of S is blocked, an account with **more than** `xon_bytes` in queues of S cannot resume; an account with
//! at most `xon_bytes` in queues of S resumes once all other queues have drained. S is a deadlock if each of its
//! queues is paused by an account that cannot resume: then no queue of S ever sends.
//!
//! The union of two deadlocks is a deadlock (an account has no fewer bytes in the union), so there is a greatest
//! deadlock. To find it, assume that all paused queues are stuck, and release queues until no more can be released; the
//! algorithm visits each pause, and each entry of an account, once.
//!
//! A non-empty greatest set always contains a cycle: each of its queues is paused by an account with more than
//! `xon_bytes >= 0` in the set, hence with at least one byte in some queue of the set. Continue from that queue in the
//! same way: since the set is finite, the walk returns to a visited queue. The other queues of the set wait for the
//! cycle.

mod graph;
units::pack_fields!(PausedQueue { queue, paused_by, paused_since, bytes });
units::pack_fields!(Account { id, xon_bytes, waiting });

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use units::Time;

use crate::location::{AccountId, QueueId};
use crate::verdict::Verdict;
use graph::Graph;

/// A paused egress queue and the account that paused it.
///
/// A queue paused by several accounts has one entry per account, and resumes when all these accounts have resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PausedQueue {
    /// The queue.
    pub queue: QueueId,
    /// The ingress account, at the downstream node, that paused it.
    pub paused_by: AccountId,
    /// Start of the pause.
    pub paused_since: Time,
    /// Backlog of the queue in bytes. An empty queue blocks nothing and is never part of a deadlock.
    pub bytes: u64,
}

/// An ingress account and the queues that contain its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The account.
    pub id: AccountId,
    /// The resume threshold (XON) in bytes: the account resumes at this level or below.
    pub xon_bytes: u64,
    /// Bytes of the account, by the egress queue of its node that contains them. Queues that are not paused may be
    /// omitted, because they drain.
    pub waiting: Vec<(QueueId, u64)>,
}

/// One edge of a cycle: `queue` is paused by `paused_by`, which has bytes in the queue of the next edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleEdge {
    /// The blocked queue.
    pub queue: QueueId,
    /// The account that paused it.
    pub paused_by: AccountId,
    /// Start of the pause.
    pub paused_since: Time,
    /// Backlog of the queue in bytes.
    pub bytes: u64,
    /// Bytes of `paused_by` in the queue of the next edge (for the last edge: of the first edge).
    pub held_in_next_bytes: u64,
}

/// A deadlock: queues in a cyclic buffer dependency that never drain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// The shortest cycle, starting at its smallest [`QueueId`]; of several, the lexicographically first.
    pub cycle: Vec<CycleEdge>,
    /// Time at which the cycle closed: the latest start of a pause in the cycle.
    pub closed: Time,
    /// Number of stuck queues: those of this cycle and of other cycles, and all queues that wait for a cycle.
    pub set_size: usize,
}

/// Finds the deadlock among `queues`, if there is one (see the [module](self)). The order of the arguments does not
/// matter. An account that is not listed has no bytes, so it resumes. If an account is listed twice, its bytes add up
/// and the higher `xon_bytes` applies; if a pause is listed twice, the earlier start applies.
///
/// Apart from sorting, the stuck set takes one visit to each pause and each entry of an account. Only if a queue is
/// stuck, searches for the shortest cycle follow, at most one per stuck queue.
pub fn deadlock(queues: &[PausedQueue], accounts: &[Account]) -> Option<Deadlock> {
    // Fast path without allocation: without a paused non-empty queue there is no deadlock.
    if queues.iter().all(|paused| paused.bytes == 0) {
        return None;
    }
    let graph = Graph::new(queues, accounts);
    let stuck = graph.stuck();
    let set_size = stuck.queues();
    let cycle = graph.shortest_cycle(&stuck)?;
    let closed = cycle.iter().map(|hold| hold.paused_since).max()?;
    Some(Deadlock { cycle, closed, set_size })
}

/// Returns all queues that block each other forever, or wait for such queues.
pub(crate) fn stuck(queues: &[PausedQueue], accounts: &[Account]) -> BTreeSet<QueueId> {
    let graph = Graph::new(queues, accounts);
    graph.names(&graph.stuck()).collect()
}

/// Returns the verdict "deadlock" after `detector_runs` runs of the detector. It fails if a deadlock was found but not
/// expected, or expected but not found.
pub fn verdict(found: Option<&Deadlock>, expected: bool, detector_runs: u64) -> Verdict {
    match found {
        None if expected => Verdict::new("deadlock", false, "none, but one was expected"),
        None if detector_runs == 0 => Verdict::not_applicable("deadlock", "the detector was off or never ran"),
        None => Verdict::new("deadlock", true, "none"),
        Some(deadlock) if expected => Verdict::new("deadlock", true, format!("expected: {deadlock}")),
        Some(deadlock) => Verdict::new("deadlock", false, deadlock.to_string()),
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} queues stuck; a cycle of {} closed at {} ps: ",
            self.set_size,
            self.cycle.len(),
            self.closed.as_ps()
        )?;
        for (step, hold) in self.cycle.iter().enumerate() {
            let separator = if step == 0 { "" } else { "; " };
            write!(f, "{separator}{} ({} B) paused by {}", hold.queue, hold.bytes, hold.paused_by)?;
        }
        Ok(())
    }
}
