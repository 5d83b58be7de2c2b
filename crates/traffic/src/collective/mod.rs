//! Collective operations of distributed training, as flows with dependencies.
//!
//! An algorithm produces a [`Schedule`]: messages with sender, receiver and size, and the messages that each of them
//! waits for. It does not depend on time or flows. [`collective`] repeats the schedule for each chunk of the data and
//! each iteration, and creates the flows.

mod direct;
mod halving;
mod hierarchical;
mod ring;
mod schedule;
#[cfg(test)]
mod tests;
mod tree;

use crate::entry::Entry;
use crate::error::TrafficError;
use crate::operation::{Algorithm, Operation};
use crate::pairs::require_hosts;
use crate::plan::{Collection, FlowEvent, PlanBuilder, Start};
use crate::sizes::ENDLESS;
use schedule::{Schedule, share};
use units::Time;

/// A collective operation with its repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective {
    /// Collective operation.
    pub operation: Operation,
    /// Algorithm of the operation.
    pub algorithm: Algorithm,
    /// Data size in bytes. All-reduce, reduce and broadcast: the data of each host (or of the root). Reduce-scatter
    /// and all-to-all: the data of each host before the operation. All-gather: the data of each host after the
    /// operation.
    pub total_bytes: u64,
    /// Number of chunks into which the data is split; each chunk is transferred independently.
    pub chunks: u32,
    /// Maximum number of chunks that a host has in flight for the same message of the schedule, at least 1.
    pub chunks_in_flight: u32,
    /// Delay from the last arrival that a message waits for to the start of the message, for reduction or software.
    pub step_delay: Time,
    /// Number of repetitions, at least 1.
    pub iterations: u32,
    /// Compute time of a host between two iterations. It starts when all messages of the iteration that the host
    /// sends or receives are complete.
    pub compute: Time,
    /// Number of connections that carry the messages from one host to another, round robin (NCCL's
    /// `NCCL_IB_QPS_PER_CONNECTION` queue pairs), at least 1; `None`: one connection per message.
    pub qps_per_connection: Option<u32>,
}

impl Collective {
    /// Creates a collective operation with one iteration and one chunk, without delays, with one connection per pair
    /// of hosts.
    pub fn new(operation: Operation, algorithm: Algorithm, total_bytes: u64) -> Collective {
        Collective {
            operation,
            algorithm,
            total_bytes,
            chunks: 1,
            chunks_in_flight: 2,
            step_delay: Time::ZERO,
            iterations: 1,
            compute: Time::ZERO,
            qps_per_connection: Some(1),
        }
    }

    /// Returns the number of messages per chunk among `ranks`, and an upper bound of the number of their
    /// dependencies.
    fn count(&self, ranks: u32) -> (u128, u128) {
        let (n, twice) = (u128::from(ranks), 1 + u128::from(self.operation == Operation::AllReduce));
        let rooted = matches!(self.operation, Operation::Broadcast { .. } | Operation::Reduce { .. });
        match self.algorithm {
            Algorithm::Ring if rooted => (n - 1, n),
            Algorithm::Ring => (twice * n * (n - 1), 2 * twice * n * n),
            Algorithm::Tree => (2 * twice * (n - 1), 4 * twice * n),
            Algorithm::HalvingDoubling => {
                let steps = twice * u128::from(ranks.ilog2());
                (steps * n, steps * steps * n)
            }
            Algorithm::Hierarchical { group } => {
                let group = u128::from(group.max(1));
                let messages = twice * n * (group + n / group - 2);
                (messages, 4 * messages)
            }
            Algorithm::Direct { window } => {
                let first = n * u128::from(window).min(n - 1) * (n - 1) * (twice - 1);
                (twice * n * (n - 1), twice * n * n + first)
            }
        }
    }

    /// Returns the messages of one chunk of `bytes` among `ranks`.
    fn schedule(&self, ranks: u32, root: u32, bytes: u64) -> Result<Schedule, TrafficError> {
        use Operation as O;
        let all: Vec<u32> = (0..ranks).collect();
        let mut to = Schedule::default();
        let (schedule, nothing) = (&mut to, vec![Vec::new(); all.len()]);
        match (self.algorithm, self.operation) {
            (Algorithm::Ring, O::AllReduce) => {
                ring::all_reduce(schedule, &all, bytes, &nothing);
            }
            (Algorithm::Ring, O::ReduceScatter) => {
                ring::reduce_scatter(schedule, &all, &share(bytes, all.len()), &nothing);
            }
            (Algorithm::Ring, O::AllGather) => {
                ring::all_gather(schedule, &all, &share(bytes, all.len()), &nothing);
            }
            (Algorithm::Ring, O::Broadcast { .. }) => ring::chain(schedule, ranks, root, bytes),
            (Algorithm::Ring, O::Reduce { .. }) => ring::chain(schedule, ranks, (root + 1) % ranks, bytes),
            (Algorithm::Tree, O::AllReduce) => tree::all_reduce(schedule, ranks, bytes),
            (Algorithm::Tree, O::Broadcast { .. }) => tree::broadcast(schedule, ranks, root, bytes),
            (Algorithm::Tree, O::Reduce { .. }) => tree::reduce(schedule, ranks, root, bytes),
            (Algorithm::HalvingDoubling, O::AllReduce | O::ReduceScatter | O::AllGather)
                if !ranks.is_power_of_two() =>
            {
                let why = format!("halving-doubling needs 2, 4, 8, 16, ... hosts, and here are {ranks}: use a ring");
                return Err(TrafficError::parameter("algorithm", why));
            }
            (Algorithm::HalvingDoubling, O::AllReduce) => {
                let summed = halving::reduce_scatter(schedule, ranks, bytes);
                halving::all_gather(schedule, ranks, bytes, summed);
            }
            (Algorithm::HalvingDoubling, O::ReduceScatter) => {
                halving::reduce_scatter(schedule, ranks, bytes);
            }
            (Algorithm::HalvingDoubling, O::AllGather) => halving::all_gather(schedule, ranks, bytes, nothing),
            (Algorithm::Hierarchical { group }, O::AllReduce | O::ReduceScatter | O::AllGather) => {
                if group < 2 || group >= ranks || !ranks.is_multiple_of(group) {
                    let why =
                        format!("{ranks} hosts cannot be cut into more than one group of {group}, of two or more");
                    return Err(TrafficError::parameter("group", why));
                }
                hierarchical::schedule(schedule, self.operation, ranks, group, bytes);
            }
            (Algorithm::Direct { window }, O::AllToAll | O::AllReduce | O::ReduceScatter | O::AllGather) => {
                direct::schedule(schedule, self.operation, ranks, window, bytes);
            }
            (algorithm, operation) => {
                let (algorithm, operation) = (algorithm.name(), operation.name());
                let why = format!("there is no {operation} by `{algorithm}`: {}", known(self.operation));
                return Err(TrafficError::parameter("algorithm", why));
            }
        }
        Ok(to)
    }
}

/// Returns the help text that lists the algorithms of an operation.
fn known(operation: Operation) -> &'static str {
    match operation {
        Operation::AllReduce => "use ring, tree, halving-doubling, hierarchical or direct",
        Operation::ReduceScatter | Operation::AllGather => "use ring, halving-doubling, hierarchical or direct",
        Operation::Broadcast { .. } | Operation::Reduce { .. } => "use ring or tree",
        Operation::AllToAll => "use direct",
    }
}

/// Returns the depth of each message in the schedule: the length of the longest chain of messages that it waits for.
/// A connection carries its messages in the order of depth, like a program that sends them.
fn depths(schedule: &Schedule) -> Vec<u32> {
    let mut depths = vec![0; schedule.messages.len()];
    for wait in &schedule.waits {
        depths[wait.message as usize] = depths[wait.message as usize].max(depths[wait.on as usize] + 1);
    }
    depths
}

/// Appends the flows of all iterations, ordered by iteration, by chunk, and by the order of the schedule.
///
/// The messages from one host to another use `qps_per_connection` connections, round robin. They are ordered by
/// iteration, then by their depth in the schedule, then by chunk. A connection carries its messages in this order,
/// even if a later message is ready earlier.
///
/// A message starts when all its data has arrived at its sender, and the same message of the chunk `chunks_in_flight`
/// earlier has been sent. From the second iteration on, its sender must also have sent and received all its messages
/// of the previous iteration, and its compute time must have passed.
///
/// # Errors
/// If there are fewer than two hosts, a host occurs twice, the root is not one of the hosts, the algorithm does not
/// implement the operation, a message would have no bytes, a count (chunks, iterations, window) is zero, or the plan
/// would exceed its limits.
pub fn collective(
    what: &Collective,
    hosts: &[u32],
    entry: &Entry,
    builder: &mut PlanBuilder,
) -> Result<(), TrafficError> {
    const WHAT: &str = "a collective operation";
    require_hosts(WHAT, hosts, 2)?;
    check(what)?;
    let (ranks, chunks) = (hosts.len() as u32, what.chunks);
    let root = match what.operation {
        Operation::Broadcast { root: Some(root) } | Operation::Reduce { root: Some(root) } => {
            let at = hosts.iter().position(|host| *host == root);
            at.ok_or_else(|| TrafficError::parameter("root", "the root is not one of the hosts"))? as u32
        }
        _ => 0,
    };
    // Checks the limits of a plan before any large allocation. Between iterations, each message notifies two joins
    // (those of sender and receiver) and is released by one.
    let (messages, waits) = what.count(ranks);
    let (pieces_in_all, later) = (u128::from(what.iterations) * u128::from(chunks), u128::from(what.iterations - 1));
    let between = later * u128::from(chunks) * messages * 3;
    builder.reserve(WHAT, pieces_in_all * messages, pieces_in_all * (messages + waits) + between)?;
    let sizes = share(what.total_bytes, chunks as usize);
    let larger = what.schedule(ranks, root, sizes[0])?;
    let smaller = what.schedule(ranks, root, sizes[sizes.len() - 1])?;
    if smaller.messages.iter().any(|message| message.bytes == 0) {
        let why = "some of its messages would have no bytes: write a larger size, or fewer chunks";
        return Err(TrafficError::parameter("size", why));
    }
    let messages = larger.messages.len();

    let mut jitter = entry.jitter_stream();
    let (first_flow, flows) = (builder.len() as u32, messages as u32 * chunks);
    let mut starts_alone = vec![true; messages];
    larger.waits.iter().for_each(|wait| starts_alone[wait.message as usize] = false);
    for iteration in 0..what.iterations {
        let base = first_flow + iteration * flows;
        let joins = (iteration > 0).then(|| -> Vec<u32> {
            let joins: Vec<u32> = hosts.iter().map(|host| builder.join(*host, what.compute)).collect();
            // A host has finished the previous iteration when all messages that it sends or receives are complete.
            for before in 0..flows {
                let message = larger.messages[before as usize % messages];
                builder.notify(base - flows + before, FlowEvent::Sent, joins[message.from as usize]);
                builder.notify(base - flows + before, FlowEvent::Delivered, joins[message.to as usize]);
            }
            joins
        });
        for (chunk, bytes) in sizes.iter().enumerate() {
            let schedule = if *bytes == sizes[0] { &larger } else { &smaller };
            let mut waits = schedule.waits.iter().peekable();
            for (at, message) in schedule.messages.iter().enumerate() {
                // Pipelining: the same message of the chunk `chunks_in_flight` earlier must have been sent.
                let behind = chunk.checked_sub(what.chunks_in_flight as usize);
                let alone = starts_alone[at] && behind.is_none();
                // `notify` and `release` below increment `waits_for`. A message without dependencies in its iteration
                // has no step delay.
                let start = match &joins {
                    None if alone => entry.start_at(&mut jitter),
                    _ if alone => Start::After { waits_for: 0, delay: Time::ZERO },
                    _ => Start::After { waits_for: 0, delay: what.step_delay },
                };
                let (from, to) = (hosts[message.from as usize], hosts[message.to as usize]);
                let flow = builder.flow(entry.flow(from, to, message.bytes, start));
                let of_chunk = base + (chunk * messages) as u32;
                while let Some(wait) = waits.next_if(|wait| wait.message as usize == at) {
                    builder.notify(of_chunk + wait.on, wait.when, flow);
                }
                if let Some(behind) = behind {
                    builder.notify(base + (behind * messages + at) as u32, FlowEvent::Sent, flow);
                }
                if let Some(joins) = &joins {
                    builder.release(joins[message.from as usize], flow);
                }
            }
        }
    }
    if let Some(queue_pairs) = what.qps_per_connection {
        let depths = depths(&larger);
        let mut order: Vec<(u32, u32, u32, u32)> = (0..flows)
            .map(|flow| {
                let (chunk, at) = (flow / messages as u32, flow as usize % messages);
                let (from, to) = (larger.messages[at].from, larger.messages[at].to);
                (from, to, depths[at] + chunk / what.chunks_in_flight, flow)
            })
            .collect();
        // Sorted by pair of hosts, then by depth. The dependency on the chunk `chunks_in_flight` earlier adds to the
        // depth.
        order.sort_unstable();
        for pair in order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let all = (0..what.iterations).flat_map(|iteration| pair.iter().map(move |it| (iteration, it.3)));
            let mut last = vec![None; queue_pairs.min(pair.len() as u32 * what.iterations) as usize];
            for (number, (iteration, flow)) in all.enumerate() {
                let flow = first_flow + iteration * flows + flow;
                let queue_pair = number % last.len();
                if let Some(before) = last[queue_pair].replace(flow) {
                    builder.continues(before, flow);
                }
            }
        }
    }
    let Collective { operation, algorithm, total_bytes, iterations, qps_per_connection, .. } = *what;
    let traffic = entry.traffic;
    builder.collective(Collection {
        traffic,
        operation,
        algorithm,
        ranks,
        total_bytes,
        first_flow,
        flows,
        iterations,
        qps_per_connection,
    });
    Ok(())
}

fn check(what: &Collective) -> Result<(), TrafficError> {
    let wrong = |key, why: &str| Err(TrafficError::parameter(key, why));
    if what.total_bytes == 0 || what.total_bytes == ENDLESS {
        return wrong("size", "it must be finite and at least 1 byte");
    }
    if what.chunks == 0 || u64::from(what.chunks) > what.total_bytes {
        return wrong("chunks", "there is at least 1 chunk, of at least 1 byte");
    }
    if what.chunks_in_flight == 0 {
        return wrong("chunks_in_flight", "at least 1 chunk must be in flight");
    }
    if what.qps_per_connection == Some(0) {
        return wrong("qps_per_connection", "there is at least 1 connection");
    }
    if what.iterations == 0 {
        return wrong("iterations", "at least 1 iteration is needed");
    }
    match what.algorithm {
        Algorithm::Direct { window: 0 } => wrong("window", "at least 1 round must be in flight"),
        _ => Ok(()),
    }
}
