//! The wait-for graph. Queues and accounts are numbered from 0 in the order of their ids, so that results do not depend
//! on the order of the input.

use units::Time;

use super::{Account, CycleEdge, PausedQueue};
use crate::location::{AccountId, QueueId};

/// `queue` must not send until `account` has resumed.
struct Pause {
    queue: u32,
    account: u32,
    since: Time,
    queue_bytes: u64,
}

/// `bytes` of `account` wait in `queue`.
struct Wait {
    account: u32,
    queue: u32,
    bytes: u64,
}

/// Item indices grouped by one field of the items (compressed sparse rows); within a group in item order.
struct Groups {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Groups {
    fn new<T>(groups: usize, items: &[T], group_of: impl Fn(&T) -> u32) -> Self {
        let mut starts = vec![0u32; groups + 1];
        for item in items {
            starts[group_of(item) as usize + 1] += 1;
        }
        for group in 0..groups {
            starts[group + 1] += starts[group];
        }
        let mut next = starts.clone();
        let mut order = vec![0u32; items.len()];
        for (index, item) in items.iter().enumerate() {
            let slot = &mut next[group_of(item) as usize];
            order[*slot as usize] = index as u32;
            *slot += 1;
        }
        Groups { starts, items: order }
    }

    fn of(&self, group: u32) -> impl Iterator<Item = usize> + '_ {
        let range = self.starts[group as usize] as usize..self.starts[group as usize + 1] as usize;
        self.items[range].iter().map(|&index| index as usize)
    }
}

/// Wait-for graph of paused non-empty queues and the accounts that pause them.
pub(super) struct Graph {
    queues: Vec<QueueId>,
    accounts: Vec<AccountId>,
    xon_bytes: Vec<u64>,
    pauses: Vec<Pause>,
    waits: Vec<Wait>,
    pauses_of_queue: Groups,
    pauses_by_account: Groups,
    waits_of_account: Groups,
    waits_in_queue: Groups,
}

/// Queues that remain blocked after all queues that can drain have been released.
#[derive(Clone)]
pub(super) struct BlockedSubgraph {
    /// Per account: whether it resumes.
    resumes: Vec<bool>,
    /// Per account: its bytes in stuck queues. In 128 bits, so that no input overflows the sums.
    kept_bytes: Vec<u128>,
    /// Per queue: number of accounts that pause the queue and do not resume; 0 for a released queue.
    held_by: Vec<u32>,
}

impl BlockedSubgraph {
    /// Returns the number of stuck queues.
    pub(super) fn queues(&self) -> usize {
        self.held_by.iter().filter(|&&accounts| accounts > 0).count()
    }

    fn holds(&self, queue: u32) -> bool {
        self.held_by[queue as usize] > 0
    }

    /// Releases `queue`. Adds to `work` each account that thereby falls to `floor(account)` bytes in stuck queues, or
    /// below.
    fn release(&mut self, graph: &Graph, queue: u32, floor: impl Fn(usize) -> u64, work: &mut Vec<u32>) {
        self.held_by[queue as usize] = 0;
        for wait in graph.waits_in_queue.of(queue) {
            let Wait { account, bytes, .. } = graph.waits[wait];
            let waiting = account as usize;
            self.kept_bytes[waiting] -= u128::from(bytes);
            if !self.resumes[waiting] && self.kept_bytes[waiting] <= u128::from(floor(waiting)) {
                self.resumes[waiting] = true;
                work.push(account);
            }
        }
    }

    /// Resumes the accounts in `work`, and transitively all accounts that resume as a consequence.
    fn settle(&mut self, graph: &Graph, floor: impl Fn(usize) -> u64, mut work: Vec<u32>) {
        while let Some(account) = work.pop() {
            for pause in graph.pauses_by_account.of(account) {
                let queue = graph.pauses[pause].queue;
                match self.held_by[queue as usize] {
                    0 => {}
                    1 => self.release(graph, queue, &floor, &mut work),
                    holders => self.held_by[queue as usize] = holders - 1,
                }
            }
        }
    }
}

fn number_of<T: Ord>(sorted: &[T], item: &T) -> Option<u32> {
    sorted.binary_search(item).ok().map(|index| index as u32)
}

fn sorted_set<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort_unstable();
    items.dedup();
    items
}

impl Graph {
    pub(super) fn new(paused: &[PausedQueue], listed: &[Account]) -> Self {
        let holding = || paused.iter().filter(|paused| paused.bytes > 0);
        let queues = sorted_set(holding().map(|paused| paused.queue));
        let accounts = sorted_set(holding().map(|paused| paused.paused_by));

        let mut pauses: Vec<Pause> = holding()
            .filter_map(|paused| {
                let queue = number_of(&queues, &paused.queue)?;
                let account = number_of(&accounts, &paused.paused_by)?;
                Some(Pause { queue, account, since: paused.paused_since, queue_bytes: paused.bytes })
            })
            .collect();
        pauses.sort_unstable_by_key(|pause| (pause.queue, pause.account, pause.since, pause.queue_bytes));
        pauses.dedup_by_key(|pause| (pause.queue, pause.account));

        let mut xon_bytes = vec![0; accounts.len()];
        let mut waits = Vec::new();
        for account in listed {
            // An account that pauses no non-empty queue blocks nothing.
            let Some(number) = number_of(&accounts, &account.id) else { continue };
            xon_bytes[number as usize] = account.xon_bytes.max(xon_bytes[number as usize]);
            waits.extend(account.waiting.iter().filter(|(_, bytes)| *bytes > 0).filter_map(|(queue, bytes)| {
                let queue = number_of(&queues, queue)?;
                Some(Wait { account: number, queue, bytes: *bytes })
            }));
        }
        waits.sort_unstable_by_key(|wait| (wait.account, wait.queue, wait.bytes));

        Graph {
            pauses_of_queue: Groups::new(queues.len(), &pauses, |pause| pause.queue),
            pauses_by_account: Groups::new(accounts.len(), &pauses, |pause| pause.account),
            waits_of_account: Groups::new(accounts.len(), &waits, |wait| wait.account),
            waits_in_queue: Groups::new(queues.len(), &waits, |wait| wait.queue),
            queues,
            accounts,
            xon_bytes,
            pauses,
            waits,
        }
    }

    /// Computes the greatest fixpoint: assumes that all paused queues are stuck, and releases queues until nothing
    /// changes. The result is the greatest set of queues that block each other for ever.
    pub(super) fn stuck(&self) -> BlockedSubgraph {
        let mut held_by = vec![0; self.queues.len()];
        for pause in &self.pauses {
            held_by[pause.queue as usize] += 1;
        }
        let mut kept_bytes = vec![0; self.accounts.len()];
        for wait in &self.waits {
            kept_bytes[wait.account as usize] += u128::from(wait.bytes);
        }
        let resumes: Vec<bool> =
            kept_bytes.iter().zip(&self.xon_bytes).map(|(&kept, &xon)| kept <= u128::from(xon)).collect();
        let work = (0..self.accounts.len() as u32).filter(|&account| resumes[account as usize]).collect();
        let mut stuck = BlockedSubgraph { resumes, kept_bytes, held_by };
        stuck.settle(self, |account| self.xon_bytes[account], work);
        stuck
    }

    /// Returns the stuck queues.
    pub(super) fn names(&self, stuck: &BlockedSubgraph) -> impl Iterator<Item = QueueId> {
        self.queues.iter().zip(&stuck.held_by).filter(|(_, accounts)| **accounts > 0).map(|(queue, _)| *queue)
    }

    /// Returns the shortest cycle among the stuck queues, starting at its queue with the smallest id. Of several
    /// shortest cycles, returns the lexicographically first. `None` only if no queue is stuck.
    pub(super) fn shortest_cycle(&self, stuck: &BlockedSubgraph) -> Option<Vec<CycleEdge>> {
        let mut left = stuck.clone();
        let mut search = Search::new(self);
        let mut shortest: Option<Vec<CycleEdge>> = None;
        for start in 0..self.queues.len() as u32 {
            if !left.holds(start) {
                continue;
            }
            let limit = shortest.as_ref().map_or(usize::MAX, Vec::len);
            if let Some(length) = search.cycle_length(&left, start, limit) {
                shortest = Some(search.walk(&left, start, length));
            }
            // All cycles through `start` have been searched: release `start`, and all queues that wait only for it, so
            // that a large ring needs only one search. Here an account resumes at zero bytes rather than at XON,
            // because a single byte of the account in a queue suffices for an edge of a cycle.
            let mut work = Vec::new();
            left.release(self, start, |_| 0, &mut work);
            left.settle(self, |_| 0, work);
        }
        shortest
    }
}

/// Breadth-first search from downstream to upstream queues. Each visited mark stores the number of the search that set
/// it, so that marks need not be cleared between searches.
struct Search<'a> {
    graph: &'a Graph,
    /// Per queue: the last search that reached the queue, and the number of edges from the queue to `start`.
    queue_steps: Vec<(u32, usize)>,
    /// Per account: the last search that reached the account.
    account_seen: Vec<u32>,
    frontier: Vec<u32>,
}

/// Initial visited mark. No search has this number, because a search has the number of its start queue, and there are
/// fewer than 2^32 - 1 queues.
const NEVER: u32 = u32::MAX;

impl<'a> Search<'a> {
    fn new(graph: &'a Graph) -> Self {
        Search {
            graph,
            queue_steps: vec![(NEVER, 0); graph.queues.len()],
            account_seen: vec![NEVER; graph.accounts.len()],
            frontier: Vec::new(),
        }
    }

    /// Returns the length of the shortest cycle through `start` within `left`, if it is below `limit`.
    fn cycle_length(&mut self, left: &BlockedSubgraph, start: u32, limit: usize) -> Option<usize> {
        let graph = self.graph;
        self.frontier.clear();
        self.frontier.push(start);
        self.queue_steps[start as usize] = (start, 0);
        let mut next = 0;
        while let Some(&queue) = self.frontier.get(next) {
            next += 1;
            let steps = self.queue_steps[queue as usize].1 + 1;
            // A cycle of `limit` or more edges is not needed: of equally short cycles, the first found is kept.
            if steps >= limit {
                return None;
            }
            for wait in graph.waits_in_queue.of(queue) {
                let account = graph.waits[wait].account;
                if left.resumes[account as usize] || self.account_seen[account as usize] == start {
                    continue;
                }
                self.account_seen[account as usize] = start;
                for pause in graph.pauses_by_account.of(account) {
                    let upstream = graph.pauses[pause].queue;
                    if upstream == start {
                        return Some(steps);
                    }
                    if left.holds(upstream) && self.queue_steps[upstream as usize].0 != start {
                        self.queue_steps[upstream as usize] = (start, steps);
                        self.frontier.push(upstream);
                    }
                }
            }
        }
        None
    }

    /// Returns the lexicographically first shortest cycle through `start`, by the distances of the last search: each
    /// edge leads to the smallest queue at a distance to `start` of the number of remaining edges.
    fn walk(&self, left: &BlockedSubgraph, start: u32, length: usize) -> Vec<CycleEdge> {
        let graph = self.graph;
        let mut cycle = Vec::with_capacity(length);
        let mut queue = start;
        for remaining in (0..length).rev() {
            let closes = |next: u32| self.queue_steps[next as usize] == (start, remaining);
            let step = graph
                .pauses_of_queue
                .of(queue)
                .filter(|&pause| !left.resumes[graph.pauses[pause].account as usize])
                .flat_map(|pause| {
                    let waits = graph.waits_of_account.of(graph.pauses[pause].account);
                    waits.map(move |wait| (graph.waits[wait].queue, pause))
                })
                .filter(|&(next, _)| closes(next))
                .min();
            // The search has visited `queue`, so a next queue exists; if it did not, the returned cycle would be
            // incomplete.
            let Some((next, pause)) = step else { break };
            cycle.push(self.hold(pause, next));
            queue = next;
        }
        cycle
    }

    fn hold(&self, pause: usize, next: u32) -> CycleEdge {
        let graph = self.graph;
        let Pause { queue, account, since, queue_bytes } = graph.pauses[pause];
        let held = graph.waits_of_account.of(account).map(|wait| &graph.waits[wait]);
        CycleEdge {
            queue: graph.queues[queue as usize],
            paused_by: graph.accounts[account as usize],
            paused_since: since,
            bytes: queue_bytes,
            held_in_next_bytes: held
                .filter(|wait| wait.queue == next)
                .fold(0, |sum, wait| sum.saturating_add(wait.bytes)),
        }
    }
}
