use units::random::{Stream, purpose};

use super::*;

fn queue(node: u32) -> QueueId {
    QueueId { node, port: 1, class: 3 }
}

fn account(node: u32) -> AccountId {
    AccountId { node, port: 0, class: 3 }
}

fn paused(from: u32, by: u32, since_ns: u64) -> PausedQueue {
    PausedQueue { queue: queue(from), paused_by: account(by), paused_since: Time::from_ns(since_ns), bytes: 9_000 }
}

fn holding(node: u32, xon_bytes: u64, waiting_bytes: u64) -> Account {
    Account { id: account(node), xon_bytes, waiting: vec![(queue(node), waiting_bytes)] }
}

/// ```text
///   1 -> 2        the queue of each switch is paused by the account of the next switch,
///   ^    v        which has 9,000 bytes in the queue of that next switch
///   4 <- 3
/// ```
fn ring() -> (Vec<PausedQueue>, Vec<Account>) {
    let queues = (1..=4).map(|n| paused(n, n % 4 + 1, 100 * u64::from(n))).collect();
    (queues, (1..=4).map(|n| holding(n, 2_000, 9_000)).collect())
}

#[test]
fn a_ring_that_holds_itself_is_reported() {
    let (queues, accounts) = ring();
    let found = deadlock(&queues, &accounts).unwrap();
    let nodes: Vec<u32> = found.cycle.iter().map(|hold| hold.queue.node).collect();
    assert_eq!(nodes, [1, 2, 3, 4]);
    assert_eq!(found.cycle[3].paused_by, account(1));
    assert_eq!(found.cycle[3].held_in_next_bytes, 9_000);
    assert_eq!((found.closed, found.set_size), (Time::from_ns(400), 4));
    assert!(!verdict(Some(&found), false, 1).pass);
    assert!(verdict(Some(&found), true, 1).pass);
}

/// All four queues of a ring are paused, but the account of switch 3 has only 2,000 bytes (XON) in the paused queue.
/// Its other bytes are in a queue that drains.
#[test]
fn a_cycle_that_is_about_to_drain_is_not_a_deadlock() {
    let (queues, mut accounts) = ring();
    let free = QueueId { node: 3, port: 2, class: 3 };
    accounts[2].waiting = vec![(queue(3), 2_000), (free, 50_000)];
    assert_eq!(deadlock(&queues, &accounts), None);
    assert!(verdict(None, false, 1).pass && verdict(None, false, 1).applicable);
    assert!(!verdict(None, true, 1).pass);
    // A detector that never ran must not report the absence of a deadlock.
    assert!(!verdict(None, false, 0).applicable);
    assert!(!verdict(None, true, 0).pass);
    // With 2,001 bytes in the paused queue, the account of switch 3 stays above XON for ever.
    accounts[2].waiting[0].1 = 2_001;
    assert_eq!(deadlock(&queues, &accounts).unwrap().set_size, 4);
}

#[test]
fn an_open_ring_an_empty_queue_and_an_unknown_account_are_harmless() {
    let (queues, accounts) = ring();
    for broken in 0..4 {
        let mut open = queues.clone();
        open.remove(broken);
        assert_eq!(deadlock(&open, &accounts), None);
        let mut empty = queues.clone();
        empty[broken].bytes = 0;
        assert_eq!(deadlock(&empty, &accounts), None);
        let mut unknown = accounts.clone();
        unknown.remove(broken);
        assert_eq!(deadlock(&queues, &unknown), None);
    }
    assert_eq!(deadlock(&[], &accounts), None);
}

/// Queue 9 is paused by an account with one byte in queue 2 of the ring: it is stuck too, but not part of the cycle.
#[test]
fn a_tail_counts_in_the_set_but_not_in_the_cycle() {
    let (mut queues, mut accounts) = ring();
    let side = AccountId { node: 2, port: 7, class: 3 };
    queues.push(PausedQueue { queue: queue(9), paused_by: side, paused_since: Time::from_us(5), bytes: 64 });
    accounts.push(Account { id: side, xon_bytes: 0, waiting: vec![(queue(2), 1)] });
    let found = deadlock(&queues, &accounts).unwrap();
    assert_eq!((found.cycle.len(), found.set_size), (4, 5));
    assert_eq!(found.closed, Time::from_ns(400));
}

#[test]
fn huge_counts_do_not_overflow() {
    let (mut queues, mut accounts) = ring();
    accounts[0].waiting = vec![(queue(1), u64::MAX), (queue(1), u64::MAX)];
    queues[0].bytes = u64::MAX;
    let found = deadlock(&queues, &accounts).unwrap();
    assert_eq!(found.cycle[3].held_in_next_bytes, u64::MAX);
}

/// If an account is listed twice, its bytes add up and the higher XON applies; if a pause is listed twice, the earlier
/// start applies. The order of the entries does not matter.
#[test]
fn the_higher_xon_level_the_sum_of_the_bytes_and_the_earliest_start_count() {
    let (mut queues, mut accounts) = ring();
    queues.push(paused(4, 1, 50));
    accounts[0] = holding(1, 3_000, 2_000);
    for (more, stuck) in [(holding(1, 3_500, 1_501), true), (holding(1, 3_500, 1_500), false)] {
        let mut listed = accounts.clone();
        listed.push(more);
        let found = deadlock(&queues, &listed);
        assert_eq!(found.as_ref().map(|found| found.closed), stuck.then_some(Time::from_ns(300)));
        listed.reverse();
        queues.reverse();
        assert_eq!(deadlock(&queues, &listed), found);
    }
}

/// A chain of 50,000 accounts that resume one after the other, and the same chain closed to a ring, with node numbers
/// that rise and that fall along the chain. The algorithm takes time linear in the length, including the search for the
/// cycle.
#[test]
fn a_chain_of_fifty_thousand_releases_in_one_pass() {
    let nodes = 50_000;
    let accounts: Vec<_> = (1..=nodes).map(|n| holding(n, 0, 1)).collect();
    let mut rising: Vec<_> = (1..nodes).map(|n| paused(n, n + 1, 1)).collect();
    let mut falling: Vec<_> = (1..nodes).map(|n| paused(n + 1, n, 1)).collect();
    for (chain, last) in [(&mut rising, paused(nodes, 1, 2)), (&mut falling, paused(1, nodes, 2))] {
        assert_eq!(deadlock(chain, &accounts), None);
        chain.push(last);
        assert_eq!(deadlock(chain, &accounts).unwrap().cycle.len(), nodes as usize);
    }
}

/// Makes a random instance with few nodes and ports and small numbers, so that cycles, ties and accounts with exactly
/// XON bytes are frequent. Every other instance is sparse, with one or two successors per queue, so that the shortest
/// cycles are long.
fn random_instance(random: &mut Stream) -> (Vec<PausedQueue>, Vec<Account>) {
    let sparse = random.below(2) == 0;
    let nodes = if sparse { 5 } else { 1 + random.below(5) as u32 };
    let mut queues = Vec::new();
    let mut accounts = Vec::new();
    let sides: Vec<(u32, u16)> = (0..nodes).flat_map(|node| [(node, 0), (node, 1)]).collect();
    for &(node, port) in &sides {
        let id = |port: u64| QueueId { node, port: port as u16, class: 0 };
        let account = AccountId { node, port, class: 0 };
        let (xon_bytes, mut waiting) = (random.below(if sparse { 2 } else { 4 }), Vec::new());
        if sparse {
            // Each account has 2 bytes in total, more than its XON of 0 or 1; if they are in two queues, the byte in
            // one of these queues may be at most XON.
            let successors = 1 + random.below(4) / 3;
            (0..successors).for_each(|_| waiting.push((id(random.below(2)), 3 - successors)));
        } else {
            // Port 2 is never paused: its queues drain.
            (0..3).filter(|_| random.below(2) == 0).for_each(|port| waiting.push((id(port), 0)));
            waiting.iter_mut().for_each(|(_, bytes)| *bytes = random.below(4));
        }
        accounts.push(Account { id: account, xon_bytes, waiting });
    }
    for &(node, port) in &sides {
        // Sometimes two accounts pause one queue, sometimes an account is not listed.
        let pauses = if sparse { 1 } else { [1, 1, 1, 0, 2][random.below(5) as usize] };
        for _ in 0..pauses {
            let by = random.below(u64::from(nodes) + u64::from(!sparse)) as u32;
            let paused_by = AccountId { node: by, port: random.below(2) as u16, class: 0 };
            let queue = QueueId { node, port, class: 0 };
            if queues.iter().all(|known: &PausedQueue| known.queue != queue || known.paused_by != paused_by) {
                let paused_since = Time::from_ps(random.below(100));
                let bytes = u64::from(sparse || random.below(8) > 0);
                queues.push(PausedQueue { queue, paused_by, paused_since, bytes });
            }
        }
    }
    (queues, accounts)
}

/// Returns whether account `by` has more than XON bytes in the queues of `set`, so that by the definition it cannot
/// resume.
fn never_resumes(by: AccountId, set: &[QueueId], accounts: &[Account]) -> bool {
    accounts.iter().filter(|account| account.id == by).any(|account| {
        let kept = account.waiting.iter().filter(|(queue, _)| set.contains(queue));
        kept.map(|(_, bytes)| bytes).sum::<u64>() > account.xon_bytes
    })
}

fn closed_set(set: &[QueueId], queues: &[PausedQueue], accounts: &[Account]) -> bool {
    set.iter()
        .all(|id| queues.iter().any(|q| q.queue == *id && q.bytes > 0 && never_resumes(q.paused_by, set, accounts)))
}

/// Returns the greatest deadlock: the largest subset of the queues that satisfies the definition.
fn greatest_set(queues: &[PausedQueue], accounts: &[Account]) -> Vec<QueueId> {
    let mut ids: Vec<QueueId> = queues.iter().map(|q| q.queue).collect();
    ids.sort();
    ids.dedup();
    let subsets = 0u32..1 << ids.len();
    let members =
        |mask: u32| -> Vec<QueueId> { (0..ids.len()).filter(|i| mask >> i & 1 == 1).map(|i| ids[i]).collect() };
    let union = subsets.filter(|&mask| closed_set(&members(mask), queues, accounts)).fold(0, |all, mask| all | mask);
    assert!(closed_set(&members(union), queues, accounts), "the union of such sets is such a set");
    members(union)
}

/// Finds all simple cycles within `set`, by walking every path from each cycle's smallest queue, and returns the
/// lexicographically first of the shortest cycles.
fn first_shortest_cycle(set: &[QueueId], queues: &[PausedQueue], accounts: &[Account]) -> Option<Vec<QueueId>> {
    let next = |from: QueueId| -> Vec<QueueId> {
        let holders =
            queues.iter().filter(|q| q.queue == from && q.bytes > 0 && never_resumes(q.paused_by, set, accounts));
        let kept = holders.flat_map(|q| accounts.iter().filter(move |a| a.id == q.paused_by)).flat_map(|a| &a.waiting);
        kept.filter(|(to, bytes)| *bytes > 0 && set.contains(to)).map(|(to, _)| *to).collect()
    };
    let mut cycles = Vec::new();
    let mut paths: Vec<Vec<QueueId>> = set.iter().map(|&start| vec![start]).collect();
    while let Some(path) = paths.pop() {
        for to in next(path[path.len() - 1]) {
            if to == path[0] {
                cycles.push(path.clone());
            } else if to > path[0] && !path.contains(&to) {
                paths.push([path.as_slice(), &[to]].concat());
            }
        }
    }
    cycles.into_iter().min_by_key(|cycle| (cycle.len(), cycle.clone()))
}

#[test]
fn agrees_with_brute_force_in_any_order() {
    let mut random = Stream::new(1, 0, purpose("deadlock"));
    let (mut stuck, mut free, mut tails, mut long) = (0, 0, 0, 0);
    for _ in 0..3_000 {
        let (mut queues, mut accounts) = random_instance(&mut random);
        let set = greatest_set(&queues, &accounts);
        let found = deadlock(&queues, &accounts);
        assert_eq!(found.as_ref().map_or(0, |found| found.set_size), set.len(), "{queues:?} {accounts:?}");
        let cycle = first_shortest_cycle(&set, &queues, &accounts);
        let found_ids = found.as_ref().map(|found| found.cycle.iter().map(|hold| hold.queue).collect::<Vec<_>>());
        assert_eq!(found_ids, cycle, "{queues:?} {accounts:?}");
        assert_eq!(cycle.is_none(), set.is_empty(), "a non-empty set holds a cycle");
        match &found {
            None => free += 1,
            Some(found) => {
                stuck += 1;
                tails += usize::from(found.set_size > found.cycle.len());
                long += usize::from(found.cycle.len() > 2);
                assert_holds(found, &accounts);
            }
        }
        random.shuffle(&mut queues);
        random.shuffle(&mut accounts);
        accounts.iter_mut().for_each(|account| random.shuffle(&mut account.waiting));
        assert_eq!(deadlock(&queues, &accounts), found);
    }
    // Deadlocks, instances without one, stuck queues outside the cycle, and long cycles must all be frequent.
    assert!(stuck > 300 && free > 300 && tails > 100 && long > 30, "{stuck} {free} {tails} {long}");
}

/// Asserts that the account of each edge has the stated number of bytes in the queue of the next edge.
fn assert_holds(found: &Deadlock, accounts: &[Account]) {
    for (step, hold) in found.cycle.iter().enumerate() {
        let next = found.cycle[(step + 1) % found.cycle.len()].queue;
        let account = accounts.iter().find(|account| account.id == hold.paused_by).unwrap();
        let kept: u64 = account.waiting.iter().filter(|(queue, _)| *queue == next).map(|(_, bytes)| bytes).sum();
        assert!(kept > 0);
        assert_eq!(hold.held_in_next_bytes, kept);
    }
    assert_eq!(found.closed, found.cycle.iter().map(|hold| hold.paused_since).max().unwrap());
}

/// Simulates the switches: drains all bytes of unpaused queues one by one in random order, and resumes accounts at XON.
/// The bytes that remain must be in the queues that the check reports as stuck.
#[test]
fn what_is_reported_never_drains_and_everything_else_does() {
    let mut random = Stream::new(2, 0, purpose("deadlock"));
    for _ in 0..3_000 {
        let (queues, mut accounts) = random_instance(&mut random);
        let claimed = deadlock(&queues, &accounts).map_or(0, |found| found.set_size);
        let mut pauses: Vec<PausedQueue> = queues.into_iter().filter(|q| q.bytes > 0).collect();
        loop {
            pauses.retain(|pause| {
                let account = accounts.iter().find(|account| account.id == pause.paused_by);
                account.is_some_and(|a| a.waiting.iter().map(|(_, bytes)| bytes).sum::<u64>() > a.xon_bytes)
            });
            let mut movable: Vec<&mut u64> = accounts
                .iter_mut()
                .flat_map(|account| &mut account.waiting)
                .filter(|(queue, bytes)| *bytes > 0 && pauses.iter().all(|pause| pause.queue != *queue))
                .map(|(_, bytes)| bytes)
                .collect();
            if movable.is_empty() {
                break;
            }
            let index = random.below(movable.len() as u64) as usize;
            *movable[index] -= 1;
        }
        let mut still: Vec<QueueId> = pauses.iter().map(|pause| pause.queue).collect();
        still.sort();
        still.dedup();
        assert_eq!(claimed, still.len(), "{accounts:?}");
    }
}
