//! Deadlock under PAUSE and PFC, told apart from a cycle of pauses that is about to drain.
//!
//! A paused queue is released when the ingress account that paused it (at the node downstream) falls to
//! `xon_bytes` *or below*. What an account holds falls as far as the queues in which its bytes wait
//! drain. So, for a set S of paused non-empty queues, an account that keeps **more than** `xon_bytes`
//! in queues of S cannot resume as long as all of S stands still, and one that keeps exactly
//! `xon_bytes` there, or less, does resume once everything else has drained. S is a deadlock if each of
//! its queues is paused by an account of the first kind: then nothing in S ever moves.
//!
//! The union of two such sets is again such a set (an account's bytes in the union are no fewer), so
//! there is a greatest one. It is found by assuming that everything paused is stuck and releasing what
//! is not until nothing changes; each pause and each entry of an account is looked at once.
//!
//! A non-empty greatest set always holds a cycle: each of its queues is paused by an account that keeps
//! more than `xon_bytes >= 0` in the set, hence at least one byte in some queue of the set; step there,
//! and repeat. The set is finite, so the walk meets itself. The rest of the set are queues that wait
//! for the cycle without being part of it.

mod graph;
units::pack_fields!(PausedQueue { queue, paused_by, paused_since, bytes });
units::pack_fields!(Account { id, xon_bytes, waiting });

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use units::Time;

use crate::place::{AccountId, QueueId};
use crate::verdict::Verdict;
use graph::Graph;

/// An egress queue that may not send, and who told it so.
///
/// A queue that several accounts have paused is listed once for each, and moves when all have resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PausedQueue {
    /// The queue.
    pub queue: QueueId,
    /// The ingress account, at the node downstream, that paused it.
    pub paused_by: AccountId,
    /// When the pause took effect.
    pub paused_since: Time,
    /// What waits in the queue. An empty queue holds nobody up and is never part of a deadlock.
    pub bytes: u64,
}

/// An ingress account and where its bytes wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The account.
    pub id: AccountId,
    /// It resumes when what it holds falls to this or below.
    pub xon_bytes: u64,
    /// Its bytes by the egress queue of the same node in which they wait. Queues that are not paused
    /// may be left out: they drain.
    pub waiting: Vec<(QueueId, u64)>,
}

/// One step of a cycle: `queue` is paused by `paused_by`, which keeps bytes in the next step's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The queue that stands still.
    pub queue: QueueId,
    /// The account that paused it.
    pub paused_by: AccountId,
    /// When the pause took effect.
    pub paused_since: Time,
    /// What waits in the queue.
    pub bytes: u64,
    /// How much of what `paused_by` holds waits in the queue of the next step (of the first step, for
    /// the last one).
    pub held_in_next_bytes: u64,
}

/// A cycle of queues of which none will ever move again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// The shortest cycle, from its smallest [`QueueId`] on; of several the one whose ids come first.
    pub cycle: Vec<Hold>,
    /// When the last of the cycle's pauses took effect.
    pub closed: Time,
    /// How many queues are stuck: those of the cycle, of other cycles, and all that wait for them.
    pub set_size: usize,
}

/// Finds the deadlock among `queues`, if there is one (see the [module](self)). The order of the
/// arguments does not matter. An account that is not listed holds nothing, so it resumes. If an account
/// is listed twice, its bytes add up and its higher `xon_bytes` counts; if a pause is, its earliest
/// start counts.
///
/// Sorting apart, finding the stuck set costs one look at each pause and each entry of an account. Only
/// when something is stuck, a search for the shortest cycle follows, at most one from each stuck queue.
pub fn deadlock(queues: &[PausedQueue], accounts: &[Account]) -> Option<Deadlock> {
    // A queue that is paused nowhere cannot deadlock: the usual case, without any allocation.
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

/// All queues that hold each other for ever, or wait for such.
pub(crate) fn stuck(queues: &[PausedQueue], accounts: &[Account]) -> BTreeSet<QueueId> {
    let graph = Graph::new(queues, accounts);
    graph.names(&graph.stuck()).collect()
}

/// The check "deadlock" after `looks` for one: fails on a deadlock that was not `expected`, and on an expected one that
/// did not come.
pub fn verdict(found: Option<&Deadlock>, expected: bool, looks: u64) -> Verdict {
    match found {
        None if expected => Verdict::new("deadlock", false, "none, but one was expected"),
        None if looks == 0 => Verdict::not_applicable("deadlock", "the detector was off or never ran"),
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
