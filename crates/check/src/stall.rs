//! No lossless frame stands still without a reason that ends.
//!
//! A queue *stands* if it holds a frame of a lossless class and has sent nothing for so long that its port, which no
//! pause, credit or gate kept from sending it, could have sent everything that its switch can hold; if a host pauses it
//! that will not cease to do so; or if an output downstream stops it that hosts keep full which ignore that output, for
//! as long as the output takes to send all that it can hold. The model says which queues stand. A queue that is stopped
//! is explained by the accounts that stop it, and those by the queues in which their bytes wait:
//!
//! ```text
//!   stopped queue --> account downstream, above XON --> queues that hold its bytes --+--> sends: will be released
//!        ^                                                                           +--> stands: a stall
//!        +---------------------------------- is stopped itself <---------------------+
//! ```
//!
//! So all that is stopped is taken as stalled, except what is released in turn, from the queues that send on: the rule
//! of [`mod@crate::deadlock`], with each queue that stands as if it stopped itself. A run that ends while queues drain
//! has no stall. What stands without a queue of this kind is a deadlock, and the business of that check; if it was not
//! looked for, it is a stall.

use crate::deadlock::{Account, PausedQueue, stuck};
use crate::place::{AccountId, QueueId};
use crate::verdict::Verdict;
use std::collections::BTreeSet;
use std::fmt;
use units::Time;

const NAME: &str = "stall";

/// How many queues of each kind a failure names.
const NAMED: usize = 4;

/// Why a queue stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StandCause {
    /// Higher classes take the link, under strict priority.
    StrictPriority,
    /// Its gate is never open for as long as its first frame takes.
    Gate,
    /// The host at the other end pauses it, and does not cease to do so.
    PausingHost,
    /// The output downstream that stops it holds frames of hosts that ignore its calls.
    NonconformingHost,
    /// Nothing is known that keeps its first frame from leaving.
    Unknown,
}

units::pack_variants!(StandCause { 0 StrictPriority, 1 Gate, 2 PausingHost, 3 NonconformingHost, 4 Unknown });

impl fmt::Display for StandCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StandCause::StrictPriority => "higher classes take the link (strict priority)",
            StandCause::Gate => "its gate never opens for a frame",
            StandCause::PausingHost => "the host keeps pausing it",
            StandCause::NonconformingHost => "hosts that ignore XOFF keep the output behind it full",
            StandCause::Unknown => "without a known reason",
        })
    }
}

/// A queue that stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Standing {
    /// Since when.
    pub since: Time,
    /// The queue.
    pub queue: QueueId,
    /// What waits in it; 0 for a flow that waits at its host.
    pub bytes: u64,
    /// Why.
    pub cause: StandCause,
}

units::pack_fields!(Standing { since, queue, bytes, cause });

impl Standing {
    /// What stops a queue that stands, for the rule of deadlocks: an account of its own, which keeps its bytes in it.
    /// No port has accounts of such a class.
    pub fn account(&self) -> AccountId {
        let QueueId { node, port, class } = self.queue;
        AccountId { node, port, class: 8 | class }
    }
}

/// What stands still at the end of a run, and what is stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stalls {
    /// Queues that are stopped, and those that stand.
    stopped: u64,
    standing: Vec<Standing>,
    /// Stopped for these, and since when.
    behind: Vec<(Time, QueueId)>,
    /// Stopped in a cycle, or for one.
    deadlocked: Vec<(Time, QueueId)>,
}

impl Stalls {
    /// Judges a network in which so many queues are `stopped`: those of them that are `paused` by an account and may be
    /// stalled, and the `accounts` that hold bytes of these and of queues that stand. Each of the latter is paused by
    /// its [own account](Standing::account).
    pub fn find(
        stopped: u64,
        paused: &[PausedQueue],
        mut accounts: Vec<Account>,
        mut standing: Vec<Standing>,
    ) -> Stalls {
        standing.sort_unstable();
        let roots: BTreeSet<QueueId> = standing.iter().map(|root| root.queue).collect();
        let others: Vec<PausedQueue> = paused.iter().filter(|it| !roots.contains(&it.queue)).copied().collect();
        let deadlocked = stuck(&others, &accounts);
        accounts.extend(standing.iter().map(|root| Account {
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
        Stalls { stopped, standing, behind: since(stalled), deadlocked: since(deadlocked) }
    }

    /// The check "stall". `looked` says that another check judges deadlocks; `name` names a node.
    pub fn verdict(&self, looked: bool, name: impl Fn(u32) -> String) -> Verdict {
        let Stalls { stopped, standing, behind, deadlocked } = self;
        let place = |queue: &QueueId| format!("{} port {} class {}", name(queue.node), queue.port, queue.class);
        let listed = |queues: &[(Time, QueueId)]| {
            let named = queues.iter().take(NAMED).map(|(since, queue)| format!("{} since {since}", place(queue)));
            let more = queues.len().saturating_sub(NAMED);
            named.chain((more > 0).then(|| format!("{more} more"))).collect::<Vec<_>>().join(", ")
        };
        let mut faults = Vec::new();
        if !standing.is_empty() {
            let roots = standing.iter().take(NAMED);
            let roots = roots.map(|root| {
                let bytes = if root.bytes == 0 { String::new() } else { format!(" ({} B)", root.bytes) };
                format!("{}{bytes} since {}: {}", place(&root.queue), root.since, root.cause)
            });
            let more = standing.len().saturating_sub(NAMED);
            let roots: Vec<String> = roots.chain((more > 0).then(|| format!("{more} more"))).collect();
            let plural = if standing.len() == 1 { "queue stands" } else { "queues stand" };
            faults.push(format!("{} {plural} still: {}", standing.len(), roots.join("; ")));
        }
        if !behind.is_empty() {
            faults.push(format!("stopped for that: {}", listed(behind)));
        }
        if !deadlocked.is_empty() && !looked {
            faults.push(format!("queues that stop each other in a cycle: {}", listed(deadlocked)));
        }
        let detail = match (faults.is_empty(), *stopped) {
            (false, _) => faults.join("; "),
            (true, 0) => "no queue stopped at the end".to_owned(),
            (true, 1) => "1 queue stopped at the end, for a reason that ends".to_owned(),
            (true, stopped) if deadlocked.is_empty() => {
                format!("{stopped} queues stopped at the end, each for a reason that ends")
            }
            (true, stopped) => {
                format!("{stopped} queues stopped at the end, {} of them in a deadlock", deadlocked.len())
            }
        };
        Verdict::new(NAME, faults.is_empty(), detail)
    }

    /// The check "stall" of a run without traffic in a lossless class.
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

    /// `node` is stopped by the account of the next one.
    fn stopped(node: u32) -> PausedQueue {
        let paused_by = AccountId { node: node + 1, port: 0, class: 3 };
        PausedQueue { queue: queue(node), paused_by, paused_since: Time::from_us(100 - u64::from(node)), bytes: 500 }
    }

    /// The account of `node` keeps bytes in its queue, more than XON.
    fn account(node: u32, bytes: u64) -> Account {
        Account { id: AccountId { node, port: 0, class: 3 }, xon_bytes: 300, waiting: vec![(queue(node), bytes)] }
    }

    fn root(node: u32, cause: StandCause) -> (Standing, PausedQueue) {
        let root = Standing { since: Time::from_us(50), queue: queue(node), bytes: 700, cause };
        let paused =
            PausedQueue { queue: root.queue, paused_by: root.account(), paused_since: root.since, bytes: root.bytes };
        (root, paused)
    }

    /// 1 is stopped by 2, and 2 by 3.
    #[test]
    fn a_chain_of_stops_stalls_if_and_only_if_its_end_stands() {
        let accounts = || vec![account(2, 500), account(3, 700)];
        let draining = Stalls::find(2, &[stopped(1), stopped(2)], accounts(), Vec::new());
        let verdict = draining.verdict(true, |node| format!("S{node}"));
        assert!(verdict.pass, "{verdict}");
        let (root, paused) = root(3, StandCause::StrictPriority);
        let stalls = Stalls::find(2, &[stopped(1), stopped(2), paused], accounts(), vec![root]);
        let verdict = stalls.verdict(true, |node| format!("S{node}"));
        let expected = "1 queue stands still: S3 port 1 class 3 (700 B) since 50us: higher classes take the link \
                        (strict priority); stopped for that: S2 port 1 class 3 since 98us, S1 port 1 class 3 \
                        since 99us";
        assert_eq!((verdict.pass, verdict.detail.as_str()), (false, expected));
    }

    /// The queue that stands keeps no more of the account than XON: the rest drains, and the stop ends.
    #[test]
    fn a_stop_whose_account_falls_to_xon_ends() {
        let (root, paused) = root(3, StandCause::Unknown);
        let stalls = Stalls::find(1, &[stopped(2), paused], vec![account(3, 300)], vec![root]);
        assert!(stalls.behind.is_empty() && !stalls.verdict(true, |_| String::new()).pass);
    }

    #[test]
    fn a_deadlock_is_another_check_s_business_unless_nobody_looked() {
        let back = PausedQueue { paused_by: AccountId { node: 1, port: 0, class: 3 }, ..stopped(2) };
        let stalls = Stalls::find(2, &[stopped(1), back], vec![account(1, 500), account(2, 500)], Vec::new());
        assert!(stalls.verdict(true, |_| String::new()).pass);
        let verdict = stalls.verdict(false, |node| format!("S{node}"));
        assert!(!verdict.pass && verdict.detail.contains("S2 port 1 class 3 since 98us"), "{verdict}");
    }
}
