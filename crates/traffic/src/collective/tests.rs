use super::*;
use crate::Plan;
use crate::testing::finish_times;
use proptest::prelude::*;

const RING: Algorithm = Algorithm::Ring;
const TREE: Algorithm = Algorithm::Tree;
const HALVING: Algorithm = Algorithm::HalvingDoubling;
const ROOT: Option<u32> = None;

fn plan(what: &Collective, hosts: &[u32]) -> Plan {
    let mut builder = PlanBuilder::new();
    // Another entry comes first, so that flow indices do not start at 0.
    let before = Collective::new(Operation::AllToAll, Algorithm::Direct { window: 1 }, 2);
    collective(&before, &[0, 1], &Entry::new(1, 0), &mut builder).unwrap();
    collective(what, hosts, &Entry::new(1, 1), &mut builder).unwrap();
    builder.build(64).unwrap()
}

/// Returns all valid combinations of operation and algorithm for `count` hosts.
fn everything(count: u32) -> Vec<(Operation, Algorithm)> {
    use Operation::{AllGather, AllReduce, AllToAll, Broadcast, Reduce, ReduceScatter};
    let root = Some(count / 2);
    let direct = Algorithm::Direct { window: 2 };
    let mut all = vec![(AllToAll, direct), (Broadcast { root }, RING), (Reduce { root }, RING), (AllReduce, TREE)];
    all.extend([(Broadcast { root }, TREE), (Reduce { root }, TREE)]);
    for operation in [AllReduce, ReduceScatter, AllGather] {
        all.extend([(operation, RING), (operation, direct)]);
        if count.is_power_of_two() {
            all.push((operation, HALVING));
        }
        all.extend(
            (2..count)
                .filter(|group| count.is_multiple_of(*group))
                .map(|group| (operation, Algorithm::Hierarchical { group })),
        );
    }
    all
}

/// Executes the messages in order. Returns for each rank the set of ranks whose data it has; a message carries only
/// data that arrived by messages it waits for.
fn known(schedule: &Schedule, ranks: u32) -> Vec<u128> {
    let mut carried: Vec<u128> = Vec::new();
    let mut seen: Vec<u128> = (0..ranks).map(|rank| 1 << rank).collect();
    for (number, message) in schedule.messages.iter().enumerate() {
        let waits =
            schedule.waits.iter().filter(|wait| wait.message as usize == number && wait.when == FlowEvent::Delivered);
        carried.push(waits.fold(1 << message.from, |set, wait| set | carried[wait.on as usize]));
    }
    for (message, set) in schedule.messages.iter().zip(&carried) {
        seen[message.to as usize] |= set;
    }
    seen
}

proptest! {
    /// For every operation and algorithm: the data reaches each host by a chain of dependent messages, every host
    /// receives at least the bytes of the operation, and the number of messages computed in advance is exact.
    #[test]
    fn everybody_ends_with_what_the_operation_says(count in 2u32..20, spare in 0u64..100) {
        let total = u64::from(count) * 6 + spare;
        for (operation, algorithm) in everything(count) {
            let what = Collective::new(operation, algorithm, total);
            let root = count / 2;
            let schedule = what.schedule(count, root, total).unwrap();
            let (messages, waits) = what.count(count);
            prop_assert_eq!(schedule.messages.len() as u128, messages, "{:?}", what);
            prop_assert!(schedule.waits.len() as u128 <= waits, "{:?}: {}", what, schedule.waits.len());
            let all = (1u128 << count) - 1;
            let seen = known(&schedule, count);
            let received = |rank: u32| -> u64 {
                schedule.messages.iter().filter(|message| message.to == rank).map(|message| message.bytes).sum()
            };
            let parts = share(total, count as usize);
            for rank in 0..count {
                let (set, bytes, own) = (seen[rank as usize], received(rank), parts[rank as usize]);
                match operation {
                    Operation::Broadcast { .. } => {
                        prop_assert!(set & (1 << root) != 0 && (bytes == total || rank == root), "{:?}", what);
                    }
                    Operation::Reduce { .. } if rank != root => {}
                    Operation::Reduce { .. } => {
                        // A chain reduces hop by hop; double binary trees reduce two halves of the data, both to the
                        // root.
                        prop_assert!(set == all && bytes == total, "{:?}: {}", what, bytes);
                    }
                    Operation::AllGather => prop_assert!(set == all && bytes == total - own, "{:?}: {}", what, bytes),
                    Operation::AllToAll => prop_assert!(set == all && bytes == own * u64::from(count - 1)),
                    Operation::ReduceScatter | Operation::AllReduce => prop_assert!(set == all, "{:?}: {}", what, set),
                }
            }
            // Lower bound of the bytes: in a reduce-scatter each host sends all parts except its own; an all-reduce
            // sends twice that.
            let sent: u64 = schedule.messages.iter().map(|message| message.bytes).sum();
            let least = total * u64::from(count - 1);
            match (operation, algorithm) {
                (Operation::AllReduce, Algorithm::Hierarchical { .. }) => prop_assert!(sent >= 2 * least, "{:?}", what),
                (Operation::AllReduce, _) => prop_assert_eq!(sent, 2 * least, "{:?}", what),
                (Operation::ReduceScatter, _) => prop_assert!(sent >= least, "{:?}", what),
                _ => {}
            }
        }
    }

    /// Several chunks and iterations: every flow completes, and each host starts an iteration only after it has
    /// finished the previous one and its compute time has passed.
    #[test]
    fn pieces_and_iterations_follow_each_other(
        count in 2u32..9, chunks in 1u32..5, in_flight in 1u32..4, iterations in 1u32..4,
    ) {
        let hosts: Vec<u32> = (0..count).map(|host| host * 3 + 1).collect();
        for (operation, algorithm) in everything(count) {
            let operation = match operation {
                Operation::Broadcast { .. } => Operation::Broadcast { root: ROOT },
                Operation::Reduce { .. } => Operation::Reduce { root: ROOT },
                other => other,
            };
            let compute = Time::from_us(7);
            let step_delay = Time::from_ns(100);
            let once = Collective::new(operation, algorithm, 1000);
            let what = Collective { chunks, chunks_in_flight: in_flight, iterations, compute, step_delay, ..once };
            let plan = plan(&what, &hosts);
            let of = plan.collectives[1];
            prop_assert_eq!((of.first_flow + of.flows * iterations) as usize, plan.flows.len());
            let bytes = |flow: &crate::Flow| Time::from_ns(flow.size_bytes);
            let finished = finish_times(&plan, bytes);
            let first = |iteration: u32| of.first_flow + iteration * of.flows;
            let range = |iteration: u32| first(iteration)..first(iteration + 1);
            let total: u64 = range(0).map(|flow| plan.flows[flow as usize].size_bytes).sum();
            for iteration in 1..iterations {
                prop_assert_eq!(total, range(iteration).map(|flow| plan.flows[flow as usize].size_bytes).sum::<u64>());
                for flow in range(iteration) {
                    let host = plan.flows[flow as usize].src;
                    let through = range(iteration - 1).filter(|before| {
                        let before = &plan.flows[*before as usize];
                        before.src == host || before.dst == host
                    });
                    let through = through.map(|before| finished[before as usize]).max().unwrap();
                    let started = finished[flow as usize] - bytes(&plan.flows[flow as usize]);
                    prop_assert!(started >= through + compute, "{:?}", what);
                }
            }
        }
    }
}

/// Number of steps of each algorithm: without contention, each message takes one unit of time, whatever its size.
#[test]
fn steps_are_those_of_the_algorithms() {
    let steps = |operation, algorithm, hosts: u32| {
        let plan = plan(&Collective::new(operation, algorithm, 1 << 20), &(0..hosts).collect::<Vec<_>>());
        let last = finish_times(&plan, |_| Time::from_us(1)).into_iter().skip(2).max().unwrap();
        last.as_ps() / Time::from_us(1).as_ps()
    };
    for hosts in [2u32, 4, 8, 16] {
        let (n, log) = (u64::from(hosts), u64::from(hosts.ilog2()));
        assert_eq!(steps(Operation::AllReduce, RING, hosts), 2 * (n - 1));
        assert_eq!(steps(Operation::AllGather, RING, hosts), n - 1);
        assert_eq!(steps(Operation::Broadcast { root: ROOT }, RING, hosts), n - 1);
        assert_eq!(steps(Operation::AllReduce, HALVING, hosts), 2 * log);
        assert_eq!(steps(Operation::ReduceScatter, HALVING, hosts), log);
        // Up and down the trees: rank 0 is the root, above the binary tree of the other ranks, so that each direction
        // takes log2(hosts) steps.
        assert_eq!(steps(Operation::AllReduce, TREE, hosts), 2 * log);
        assert_eq!(steps(Operation::AllToAll, Algorithm::Direct { window: 1 }, hosts), n - 1);
        assert_eq!(steps(Operation::AllToAll, Algorithm::Direct { window: 3 }, hosts), (n - 1).div_ceil(3));
    }
    // Three groups of four hosts: three steps within the groups, then both phases of the ring across the three
    // groups.
    assert_eq!(steps(Operation::AllReduce, Algorithm::Hierarchical { group: 4 }, 12), 3 + 4 + 3);
    assert_eq!(steps(Operation::AllGather, Algorithm::Hierarchical { group: 4 }, 12), 2 + 3);
}

/// The trees are those in NCCL's source for 14 ranks: rank 8 below the root, ranks 4 and 12 below rank 8, and so on,
/// with at most two children per rank and tree. At most one rank is an inner node of both trees.
#[test]
fn both_trees_share_their_load() {
    for hosts in 2..40u32 {
        let what = Collective::new(Operation::AllReduce, TREE, 4096);
        let schedule = what.schedule(hosts, 0, 4096).unwrap();
        let mut below = vec![0; hosts as usize];
        // In each tree, the first half of the messages is sent towards the root.
        for tree in schedule.messages.chunks(2 * (hosts as usize - 1)) {
            tree[..hosts as usize - 1].iter().for_each(|message| below[message.to as usize] += 1);
        }
        assert!(below.iter().all(|children| *children <= 3), "{hosts}: {below:?}");
        let busy = below.iter().filter(|children| **children > 2).count();
        assert!(busy <= 1, "{hosts}: {below:?}");
    }
    let to: Vec<(u32, u32)> = Collective::new(Operation::AllReduce, TREE, 4096)
        .schedule(14, 0, 4096)
        .unwrap()
        .messages
        .iter()
        .take(13)
        .map(|message| (message.from, message.to))
        .collect();
    for edge in [(8, 0), (4, 8), (12, 8), (2, 4), (6, 4), (10, 12), (13, 12), (1, 2), (11, 10)] {
        assert!(to.contains(&edge), "{edge:?} in {to:?}");
    }
}

#[test]
fn the_first_iteration_of_a_ring_waits_for_nothing_but_data() {
    let hosts = [4, 2, 9, 0, 7];
    let what = Collective { step_delay: Time::from_ns(100), ..Collective::new(Operation::AllReduce, RING, 1_000_003) };
    let plan = plan(&what, &hosts);
    let flows = &plan.flows[2..];
    assert_eq!(flows.len(), 2 * 4 * 5);
    let finished = finish_times(&plan, |_| Time::from_us(1));
    assert_eq!(finished.iter().max(), Some(&(Time::from_us(8) + Time::from_ns(700))), "eight steps, seven delays");
    // Each host sends 2 (n - 1) of 2 n parts, that is 2 (n - 1) / n of the total size, the minimum.
    for &host in &hosts {
        let sent: u64 = flows.iter().filter(|flow| flow.src == host).map(|flow| flow.size_bytes).sum();
        assert!((1_600_000..1_600_010).contains(&sent), "{sent}");
    }
    assert_eq!(plan.joins, []);
}

#[test]
fn bus_bandwidth_is_that_of_nccl_tests() {
    assert_eq!(Operation::AllReduce.bus_factor(8), 1.75);
    assert_eq!(Operation::AllGather.bus_factor(4), 0.75);
    assert_eq!(Operation::ReduceScatter.bus_factor(2), 0.5);
    assert_eq!(Operation::AllToAll.bus_factor(16), 0.9375);
    assert_eq!(Operation::Broadcast { root: ROOT }.bus_factor(16), 1.0);
    assert_eq!(Operation::Reduce { root: ROOT }.bus_factor(3), 1.0);
}

#[test]
fn refuses_what_cannot_run() {
    let error = |what: Collective, hosts: &[u32]| {
        collective(&what, hosts, &Entry::new(1, 0), &mut PlanBuilder::new()).unwrap_err().to_string()
    };
    let of = Collective::new;
    let ring = of(Operation::AllReduce, RING, 100);
    assert!(error(ring, &[1]).contains("at least 2 hosts"));
    assert!(error(ring, &[1, 2, 1]).contains("twice"));
    assert!(error(of(Operation::AllReduce, RING, 2), &[1, 2, 3]).contains("no bytes"));
    assert!(error(Collective { chunks: 40, ..ring }, &[1, 2, 3]).contains("fewer chunks"));
    assert!(error(Collective { chunks: 0, ..ring }, &[1, 2, 3]).contains("at least 1 chunk"));
    assert!(error(Collective { chunks_in_flight: 0, ..ring }, &[1, 2]).contains("in flight"));
    assert!(error(Collective { iterations: 0, ..ring }, &[1, 2]).contains("at least 1 iteration"));
    assert!(error(of(Operation::AllReduce, RING, 0), &[1, 2]).contains("at least 1 byte"));
    assert!(error(of(Operation::AllReduce, HALVING, 100), &[1, 2, 3]).contains("2, 4, 8, 16"));
    assert!(error(of(Operation::Broadcast { root: ROOT }, HALVING, 100), &[1, 2, 3]).contains("use ring or tree"));
    assert!(error(of(Operation::AllToAll, RING, 100), &[1, 2, 3]).contains("use direct"));
    assert!(error(of(Operation::Broadcast { root: Some(7) }, RING, 100), &[1, 2]).contains("not one of the hosts"));
    let groups = |group| of(Operation::AllReduce, Algorithm::Hierarchical { group }, 100);
    for group in [0, 1, 3, 4, 5] {
        assert!(error(groups(group), &[1, 2, 3, 4]).contains("cannot be cut"), "{group}");
    }
    assert!(error(of(Operation::AllToAll, Algorithm::Direct { window: 0 }, 100), &[1, 2]).contains("1 round"));
    let many: Vec<u32> = (0..10_000).collect();
    for what in [
        of(Operation::AllToAll, Algorithm::Direct { window: 1 }, 1 << 40),
        of(Operation::AllReduce, RING, 1 << 40),
        of(Operation::AllReduce, Algorithm::Hierarchical { group: 2 }, 1 << 40),
        Collective { iterations: u32::MAX, ..of(Operation::AllReduce, TREE, 1 << 40) },
        Collective { chunks: 1 << 30, ..of(Operation::Broadcast { root: ROOT }, RING, 1 << 40) },
    ] {
        assert!(error(what, &many).contains(" flows"), "{what:?}");
    }
}

// [CON3]
#[test]
fn messages_of_a_pair_go_in_the_order_of_a_program() {
    let once = Collective::new(Operation::AllReduce, RING, 9000);
    let what = Collective { chunks: 3, chunks_in_flight: 1, iterations: 2, ..once };
    let order = |what: &Collective, start: u32| {
        let plan = plan(what, &[0, 1, 2]);
        let of = plan.collectives.last().unwrap();
        // Four steps of three messages per chunk; the first message of each step is sent from the first host to the
        // second.
        let location = |flow: u32| {
            ((flow - of.first_flow) / 36, (flow - of.first_flow) % 36 / 12, (flow - of.first_flow) % 12 / 3)
        };
        let next = |flow: &u32| plan.connections.next(*flow);
        std::iter::successors(Some(of.first_flow + start), next).map(location).collect::<Vec<_>>()
    };
    let expected = [(0, 0), (0, 1), (1, 0), (0, 2), (1, 1), (2, 0), (0, 3), (1, 2), (2, 1), (1, 3), (2, 2), (2, 3)];
    let twice: Vec<_> = (0..2).flat_map(|iteration| expected.map(|(chunk, step)| (iteration, chunk, step))).collect();
    assert_eq!(order(&what, 0), twice);
    // With two connections the messages alternate between them; with `None`, each message has its own connection.
    let two = Collective { qps_per_connection: Some(2), ..what };
    assert_eq!(order(&two, 0), twice.iter().step_by(2).copied().collect::<Vec<_>>());
    assert_eq!(order(&Collective { qps_per_connection: None, ..what }, 0), [(0, 0, 0)]);
}
