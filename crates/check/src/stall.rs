//! Checks that every lossless queue that is paused at the end of a run waits for a queue that drains.
//!
//! A queue is *blocked* in four cases. First, it contains a frame of a lossless class, no pause, credit or gate stops
//! it, and its port has sent no frame of this queue for the time in which the port can send the whole buffer of its
//! switch. Second, a faulty host pauses it permanently. Third, its flow is still held although the hold has expired, or
//! although the neighbour that requested the hold is empty. Fourth, a downstream output has paused it, and hosts that
//! ignore the XOFF of this output have kept the output full for the time in which it can send its whole capacity. The
//! model lists these queues. For every other paused queue, the check follows the accounts that pause it to the queues
//! that contain their bytes:
//!
//! ```text
//!   paused queue --> account downstream, above XON --> queues that hold its bytes --+--> drains: will be resumed
//!        ^                                                                          +--> blocked: a stall
//!        +---------------------------------- is paused itself <---------------------+
//! ```
//!
//! The fixpoint is that of [`mod@crate::deadlock`], in which each blocked queue is paused by an artificial account of
//! its own. A run that ends while queues drain has no stall. A cycle of paused queues without a blocked queue is a
//! deadlock, which the deadlock check reports; if the detector was off or did not find it, the cycle is a stall.

use crate::deadlock::{Account, PausedQueue, stuck};
use crate::location::{AccountId, QueueId};
use crate::verdict::Verdict;
use std::collections::BTreeSet;
use std::fmt;
use units::Time;

const NAME: &str = "stall";

/// Maximum number of queues of each kind named in a failure.
const NAMED: usize = 4;

/// Cause of a blocked queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlockCause {
    /// Higher classes occupy the link, under strict priority.
    StrictPriority,
    /// The gate of the queue is never open for the transmission time of its first frame.
    Gate,
    /// The host at the other end of the link pauses the queue permanently.
    PausingHost,
    /// The downstream output that sends XOFF to the queue holds frames of hosts that ignore XOFF.
    NonconformingHost,
    /// The queue belongs to a held flow: the hold has expired, or the downstream neighbour is empty.
    EndedHold,
    /// No cause was found.
    Unknown,
}

units::pack_variants!(BlockCause {
    0 StrictPriority,
    1 Gate,
    2 PausingHost,
    3 NonconformingHost,
    4 EndedHold,
    5 Unknown,
});

impl fmt::Display for BlockCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BlockCause::StrictPriority => "higher classes occupy the link (strict priority)",
            BlockCause::Gate => "its gate never opens for a frame",
            BlockCause::PausingHost => "the host pauses it continuously",
            BlockCause::NonconformingHost => "frames of hosts that ignore XOFF fill the downstream output",
            BlockCause::EndedHold => {
                "its flow is held without a reason: the hold has expired, or the neighbour is empty"
            }
            BlockCause::Unknown => "no cause found",
        })
    }
}

/// A blocked queue: see the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlockedQueue {
    /// Time from which it could have sent.
    pub since: Time,
    /// The queue.
    pub queue: QueueId,
    /// Backlog in bytes; 0 for a flow that waits at its host.
    pub bytes: u64,
    /// The cause.
    pub cause: BlockCause,
}

units::pack_fields!(BlockedQueue { since, queue, bytes, cause });

impl BlockedQueue {
    /// Returns the artificial account that pauses a blocked queue in the deadlock graph and contains the queue's
    /// bytes. No port has accounts of such a class.
    pub fn account(&self) -> AccountId {
        let QueueId { node, port, class } = self.queue;
        AccountId { node, port, class: 8 | class }
    }
}

/// Blocked and paused queues at the end of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stalls {
    /// Number of paused queues.
    stopped: u64,
    blocked: Vec<BlockedQueue>,
    /// Queues paused because of blocked queues, with the start of the pause.
    behind: Vec<(Time, QueueId)>,
    /// Queues paused in a cycle, or because of one.
    deadlocked: Vec<(Time, QueueId)>,
}

impl Stalls {
    /// Finds the stalls of a network with this number of paused queues (`stopped`). `paused` has the queues that an
    /// account pauses and that may be stalled, and each blocked queue as paused by its [own
    /// account](BlockedQueue::account). `accounts` has the accounts with bytes in paused or blocked queues.
    pub fn find(
        stopped: u64,
        paused: &[PausedQueue],
        mut accounts: Vec<Account>,
        mut blocked: Vec<BlockedQueue>,
    ) -> Stalls {
        blocked.sort_unstable();
        let roots: BTreeSet<QueueId> = blocked.iter().map(|root| root.queue).collect();
        let others: Vec<PausedQueue> = paused.iter().filter(|it| !roots.contains(&it.queue)).copied().collect();
        // Without the blocked queues, only cycles, and queues that wait for them, are stuck.
        let deadlocked = stuck(&others, &accounts);
        accounts.extend(blocked.iter().map(|root| Account {
            id: root.account(),
            xon_bytes: 0,
            waiting: vec![(root.queue, root.bytes)],
        }));
        let mut stalled = stuck(paused, &accounts);
        stalled.retain(|queue| !deadlocked.contains(queue) && !roots.contains(queue));
        let since = |queues: BTreeSet<QueueId>| {
            let mut found: Vec<(Time, QueueId)> = queues
                .into_iter()
                .filter_map(|queue| others.iter().find(|it| it.queue == queue).map(|it| (it.paused_since, queue)))
                .collect();
            found.sort_unstable();
            found
        };
        Stalls { stopped, blocked, behind: since(stalled), deadlocked: since(deadlocked) }
    }

    /// Returns the verdict "stall". `deadlocks_checked` is set if another check covers deadlocks; `name` returns
    /// the name of a node.
    pub fn verdict(&self, deadlocks_checked: bool, name: impl Fn(u32) -> String) -> Verdict {
        let Stalls { stopped, blocked, behind, deadlocked } = self;
        let location = |queue: &QueueId| format!("{} port {} class {}", name(queue.node), queue.port, queue.class);
        let listed = |queues: &[(Time, QueueId)]| {
            let named = queues.iter().take(NAMED).map(|(since, queue)| format!("{} since {since}", location(queue)));
            let more = queues.len().saturating_sub(NAMED);
            named.chain((more > 0).then(|| format!("{more} more"))).collect::<Vec<_>>().join(", ")
        };
        let mut faults = Vec::new();
        if !blocked.is_empty() {
            let roots = blocked.iter().take(NAMED);
            let roots = roots.map(|root| {
                let bytes = if root.bytes == 0 { String::new() } else { format!(" ({} B)", root.bytes) };
                format!("{}{bytes} since {}: {}", location(&root.queue), root.since, root.cause)
            });
            let more = blocked.len().saturating_sub(NAMED);
            let roots: Vec<String> = roots.chain((more > 0).then(|| format!("{more} more"))).collect();
            let plural = if blocked.len() == 1 { "queue" } else { "queues" };
            faults.push(format!("{} {plural} blocked: {}", blocked.len(), roots.join("; ")));
        }
        if !behind.is_empty() {
            faults.push(format!("stopped by these: {}", listed(behind)));
        }
        if !deadlocked.is_empty() && !deadlocks_checked {
            faults.push(format!("queues in a cycle of pauses: {}", listed(deadlocked)));
        }
        let detail = match (faults.is_empty(), *stopped) {
            (false, _) => faults.join("; "),
            (true, 0) => "no queue stopped at the end".to_owned(),
            (true, 1) => "1 queue stopped at the end, waiting for a queue that drains".to_owned(),
            (true, stopped) if deadlocked.is_empty() => {
                format!("{stopped} queues stopped at the end, each waiting for a queue that drains")
            }
            (true, stopped) => {
                format!("{stopped} queues stopped at the end, {} of them in a deadlock", deadlocked.len())
            }
        };
        Verdict::new(NAME, faults.is_empty(), detail)
    }

    /// Returns the verdict "stall" of a run without traffic in a lossless class.
    pub fn nothing() -> Verdict {
        Verdict::not_applicable(NAME, "no traffic in a lossless class")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn queue(node: u32) -> QueueId {
        QueueId { node, port: 1, class: 3 }
    }

    /// Returns the queue of `node`, paused by the account of the next node.
    fn stopped(node: u32) -> PausedQueue {
        let paused_by = AccountId { node: node + 1, port: 0, class: 3 };
        PausedQueue { queue: queue(node), paused_by, paused_since: Time::from_us(100 - u64::from(node)), bytes: 500 }
    }

    /// Returns the account of `node` with `bytes` in its queue, with an XON of 300 bytes.
    fn account(node: u32, bytes: u64) -> Account {
        Account { id: AccountId { node, port: 0, class: 3 }, xon_bytes: 300, waiting: vec![(queue(node), bytes)] }
    }

    fn root(node: u32, cause: BlockCause) -> (BlockedQueue, PausedQueue) {
        let root = BlockedQueue { since: Time::from_us(50), queue: queue(node), bytes: 700, cause };
        let paused =
            PausedQueue { queue: root.queue, paused_by: root.account(), paused_since: root.since, bytes: root.bytes };
        (root, paused)
    }

    /// Queue 1 is paused by node 2, and queue 2 by node 3. This is a stall only if queue 3 is blocked.
    #[test]
    fn a_chain_of_stops_stalls_if_and_only_if_its_end_is_blocked() {
        let accounts = || vec![account(2, 500), account(3, 700)];
        let draining = Stalls::find(2, &[stopped(1), stopped(2)], accounts(), Vec::new());
        let verdict = draining.verdict(true, |node| format!("S{node}"));
        assert!(verdict.pass, "{verdict}");
        let (root, paused) = root(3, BlockCause::StrictPriority);
        let stalls = Stalls::find(2, &[stopped(1), stopped(2), paused], accounts(), vec![root]);
        let verdict = stalls.verdict(true, |node| format!("S{node}"));
        let expected = "1 queue blocked: S3 port 1 class 3 (700 B) since 50us: higher classes occupy the link (strict \
                        priority); stopped by these: S2 port 1 class 3 since 98us, S1 port 1 class 3 since 99us";
        assert_eq!((verdict.pass, verdict.detail.as_str()), (false, expected));
    }

    /// The blocked queue contains only XON bytes of the account: the account's other bytes drain, and the pause ends.
    #[test]
    fn a_stop_whose_account_falls_to_xon_ends() {
        let (root, paused) = root(3, BlockCause::Unknown);
        let stalls = Stalls::find(1, &[stopped(2), paused], vec![account(3, 300)], vec![root]);
        assert!(stalls.behind.is_empty() && !stalls.verdict(true, |_| String::new()).pass);
    }

    #[test]
    fn a_deadlock_fails_only_without_another_check() {
        let back = PausedQueue { paused_by: AccountId { node: 1, port: 0, class: 3 }, ..stopped(2) };
        let stalls = Stalls::find(2, &[stopped(1), back], vec![account(1, 500), account(2, 500)], Vec::new());
        assert!(stalls.verdict(true, |_| String::new()).pass);
        let verdict = stalls.verdict(false, |node| format!("S{node}"));
        assert!(!verdict.pass && verdict.detail.contains("S2 port 1 class 3 since 98us"), "{verdict}");
    }
}
