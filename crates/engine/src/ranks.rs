//! Distributed execution: each rank (process) runs a contiguous range of the nodes. All ranks synchronise at equal
//! simulated times. At each synchronisation a rank sends one batch of messages to each rank that its nodes can reach.
//!
//! ```text
//!   rank 0: nodes 0..a          batch:  lookahead bounds of 0,     rank 1: nodes a..b
//!     windows -> pack   =======> whether it was cut, and    =====>   unpack -> mailboxes -> windows
//!                                messages for nodes a..b
//! ```
//!
//! A batch without messages is a null message: it guarantees that no message arrives before the next synchronisation.
//! Two times are safe for the next synchronisation, and the later one is used. First, no message arrives anywhere
//! before the earliest effect of the next events of all nodes (the horizon). Second, no message crosses ranks before
//! the earliest event of any rank plus the least lookahead of the cut wires; until then each rank runs its own
//! windows. So the wires cut should have long lookaheads.
//!
//! Both bounds and the stop flag are reductions over all ranks. If each rank writes to all others, the batches carry
//! the values. Otherwise each rank writes to its neighbours, and a dissemination reduction (votes) follows: in step k
//! each rank sends its partial result to the rank 2^k after it, until 2^k reaches the number of ranks. The scheme
//! with fewer batches and votes is used; at a tie, the scheme without votes.
//!
//! [`Ranks`] abstracts the transport: channels between threads for tests, MPI between machines.

use crate::mail::{CrossPartMessage, Wire};
use crate::node::Message;
use std::fmt::Debug;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use units::Time;
use units::pack::{Pack, packed, unpacked};

pub use crate::borders::{RankPartition, divide_ranks};

/// The ranks of one simulation, from the view of one rank.
pub trait Ranks: Send + Sync + Debug {
    /// Returns the index of this rank, from 0.
    fn rank(&self) -> usize;

    /// Returns the number of ranks.
    fn count(&self) -> usize;

    /// Sends `batches[r]` to each rank `r` of `to`, and replaces `batches[r]` by the data received from each rank `r`
    /// of `from`; other entries are unspecified afterwards. Neither list contains this rank. If `to` of rank a
    /// contains b, `from` of rank b must contain a. Batches from one rank to another stay in order. If a rank has
    /// ended, this function does not return, because the simulation cannot continue.
    fn exchange(&self, batches: &mut [Vec<u8>], to: &[usize], from: &[usize]);
}

/// Returns all other ranks, starting with the next one, so that not all ranks write to the same rank first.
pub fn others(ranks: &dyn Ranks) -> Vec<usize> {
    (1..ranks.count()).map(|step| (ranks.rank() + step) % ranks.count()).collect()
}

/// Serialisation of messages to other ranks.
pub trait MessageCodec<M>: Send + Sync {
    /// Appends `message`, which is sent to another rank.
    fn pack(&self, message: &M, to: &mut Vec<u8>);

    /// Takes a message from the beginning of `from`. Returns `None` if the bytes are invalid.
    fn unpack(&self, from: &mut &[u8]) -> Option<M>;
}

/// Configuration of one rank in a network of several.
pub struct Membership<M> {
    /// Transport to the other ranks.
    pub ranks: Arc<dyn Ranks>,
    /// Serialisation of messages.
    pub codec: Box<dyn MessageCodec<M>>,
    /// Assignment of nodes to ranks, and the wires between ranks.
    pub borders: RankPartition,
}

/// Counts of data that a rank has sent to others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransferCounts {
    /// Number of synchronisations.
    pub barriers: u64,
    /// Number of batches, including those without messages, and votes.
    pub batches: u64,
    /// Bytes of batches and votes.
    pub bytes: u64,
    /// Number of messages in the batches.
    pub messages: u64,
}

/// First byte of a batch, by which a rank detects that another rank is out of step.
const WINDOW: u8 = b'w';

/// First byte of a vote.
const VOTE: u8 = b'v';

/// Ranks that a rank exchanges data with at each synchronisation.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ExchangePlan {
    /// Receivers: ranks that the wires of this rank's nodes reach, or all.
    to: Vec<usize>,
    /// Senders: ranks whose wires lead to nodes of this rank, or all.
    from: Vec<usize>,
    /// Steps of the reduction after the batches: (receiver, sender) of each vote.
    votes: Vec<(usize, usize)>,
}

impl ExchangePlan {
    /// Computes the exchange of `rank`.
    fn new(borders: &RankPartition, rank: usize) -> ExchangePlan {
        let count = borders.ranks();
        let others = || (1..count).map(|step| (rank + step) % count);
        let steps = || std::iter::successors(Some(1), |step| Some(2 * step)).take_while(|&step| step < count);
        let neighbours: usize = (0..count).map(|from| (0..count).filter(|&to| borders.reaches(from, to)).count()).sum();
        // All-to-all is used if it needs no more batches than neighbour exchange needs batches and votes: votes are
        // sequential.
        let all_to_all = neighbours + count * steps().count() >= count * (count - 1);
        let steps = steps().filter(|_| !all_to_all);
        ExchangePlan {
            to: others().filter(|&other| all_to_all || borders.reaches(rank, other)).collect(),
            from: others().filter(|&other| all_to_all || borders.reaches(other, rank)).collect(),
            votes: steps.map(|step| ((rank + step) % count, (rank + count - step) % count)).collect(),
        }
    }
}

/// A node of another rank that is the receiver of a wire of this rank.
#[derive(Clone, Copy, Debug)]
struct RemoteNode {
    rank: u32,
    /// Index of the node in its rank.
    node: u32,
    /// Least lookahead of the node's wires.
    lookahead: Time,
}

/// Data exchanged between the threads of a rank and the thread that writes batches.
pub(crate) struct RemoteRanks<M> {
    ranks: Arc<dyn Ranks>,
    codec: Box<dyn MessageCodec<M>>,
    plan: ExchangePlan,
    borders: RankPartition,
    nodes: Vec<RemoteNode>,
    /// First ring of each node of this rank, followed by the number of rings.
    first_rings: Vec<u32>,
    /// Packed messages, by partition and rank.
    outbox: Vec<Mutex<Outbox>>,
    /// Received messages, by partition.
    inbox: Vec<Mutex<Vec<CrossPartMessage<M>>>>,
    /// Time of the earliest event of each partition.
    next: Vec<Mutex<Time>>,
    buffers: Mutex<SyncBuffers>,
}

/// Messages of one partition to one rank since the last synchronisation, over all windows.
struct Outbox {
    bytes: Vec<u8>,
    messages: u64,
    /// Earliest arrival of these messages, and earliest arrival of an effect of these messages at a further node.
    next: Time,
    horizon: Time,
}

impl Default for Outbox {
    fn default() -> Self {
        Outbox { bytes: Vec::new(), messages: 0, next: Time::MAX, horizon: Time::MAX }
    }
}

impl Outbox {
    /// Moves the content of `later` to the end of this outbox.
    fn append(&mut self, later: &mut Outbox) {
        self.bytes.append(&mut later.bytes);
        self.messages += std::mem::take(&mut later.messages);
        self.next = self.next.min(std::mem::replace(&mut later.next, Time::MAX));
        self.horizon = self.horizon.min(std::mem::replace(&mut later.horizon, Time::MAX));
    }
}

#[derive(Default)]
struct SyncBuffers {
    batches: Vec<Vec<u8>>,
    sent: TransferCounts,
    /// State agreed at the last synchronisation.
    agreed: SyncState,
}

/// State agreed by all ranks at a synchronisation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SyncState {
    /// Lower bound of the arrival times of all messages.
    pub(crate) horizon: Time,
    /// Time of the next synchronisation.
    pub(crate) until: Time,
    /// Whether a rank stopped before all of its nodes had run.
    pub(crate) cut: bool,
}

/// Bounds that a rank contributes to a synchronisation.
#[derive(Clone, Copy, Debug)]
struct LookaheadBounds {
    /// Lower bound of the arrival times of messages from the rank's nodes.
    horizon: Time,
    /// Time of the rank's earliest event.
    next: Time,
    cut: bool,
}
units::pack_fields!(LookaheadBounds { horizon, next, cut });

impl LookaheadBounds {
    /// Merges the bounds of two ranks.
    fn and(self, other: LookaheadBounds) -> LookaheadBounds {
        LookaheadBounds {
            horizon: self.horizon.min(other.horizon),
            next: self.next.min(other.next),
            cut: self.cut || other.cut,
        }
    }
}

impl<M> RemoteRanks<M> {
    /// Creates the exchange of one rank, whose nodes' rings begin at `first_rings`; at most `parts` threads run the
    /// nodes.
    pub(crate) fn new(membership: Membership<M>, first_rings: Vec<u32>, parts: usize) -> Self {
        let Membership { ranks, codec, borders } = membership;
        let count = ranks.count();
        let plan = ExchangePlan::new(&borders, ranks.rank());
        RemoteRanks {
            ranks,
            codec,
            plan,
            borders,
            nodes: Vec::new(),
            first_rings,
            outbox: (0..parts * count).map(|_| Mutex::default()).collect(),
            inbox: (0..parts).map(|_| Mutex::default()).collect(),
            next: (0..parts).map(|_| Mutex::new(Time::MAX)).collect(),
            buffers: Mutex::default(),
        }
    }

    /// Returns the number of ranks.
    pub(crate) fn count(&self) -> usize {
        self.ranks.count()
    }

    /// Registers node `node` (network index, of another rank), which a wire of this rank reaches. `lookahead` is the
    /// least lookahead of the node's own wires.
    pub(crate) fn register(&mut self, node: u32, lookahead: Time) {
        let rank = self.borders.rank_of(node);
        let node = node - self.borders.nodes_of(rank).start;
        self.nodes.push(RemoteNode { rank: rank as u32, node, lookahead });
    }

    /// Returns the rank of each remote node, in order of registration.
    pub(crate) fn ranks_of_nodes(&self) -> impl Iterator<Item = u32> {
        self.nodes.iter().map(|node| node.rank)
    }

    /// Returns the counts of sent data.
    pub(crate) fn transfer_counts(&self) -> TransferCounts {
        lock(&self.buffers).sent
    }

    /// Prepares for a new division: moves waiting messages to the first partition's outbox, before the messages that
    /// nodes send from their new partitions, so that each wire stays in order.
    pub(crate) fn prepare_division(&self) {
        for to in 0..self.count() {
            let mut boxes = self.outbox[to..].iter().step_by(self.count()).map(lock);
            if let Some(mut first) = boxes.next() {
                boxes.for_each(|mut later| first.append(&mut later));
            }
        }
    }

    /// Packs the messages of partition `from` for rank `to`.
    #[inline(never)] // so that profiles show the cost of crossing ranks, as for `read` and `receive`
    pub(crate) fn pack(&self, from: usize, to: usize, sent: &mut Vec<CrossPartMessage<M>>)
    where
        M: Message,
    {
        let mut outbox = lock(&self.outbox[from * self.count() + to]);
        let Outbox { bytes, messages, next, horizon } = &mut *outbox;
        *messages += sent.len() as u64;
        let slots = self.first_rings.len() as u32 - 1;
        for CrossPartMessage { wire, message } in sent.drain(..) {
            // Remote nodes are numbered after those of this rank.
            let RemoteNode { node, lookahead, .. } = self.nodes[(wire.slot - slots) as usize];
            let at = message.at();
            (*next, *horizon) = ((*next).min(at), (*horizon).min(at.saturating_add(lookahead)));
            node.pack(bytes);
            wire.remote_port().pack(bytes);
            self.codec.pack(&message, bytes);
        }
    }

    /// Records the earliest event of partition `from`, over its nodes and the messages that it just sent to other
    /// partitions.
    pub(crate) fn set_next(&self, from: usize, next: Time) {
        *lock(&self.next[from]) = next;
    }

    /// Synchronises with the other ranks. `horizon` is a lower bound of the arrival times of messages from this rank;
    /// `cut` reports a stop. Received messages are stored for the partition of their receiver in `part_of`. The next
    /// synchronisation is at `stop` at the latest. Must be called on one thread while the other threads of the
    /// `parts` wait.
    pub(crate) fn synchronise(&self, (horizon, cut): (Time, bool), stop: Time, parts: usize, part_of: &[u16]) {
        let mut buffers = lock(&self.buffers);
        let SyncBuffers { batches, sent, agreed } = &mut *buffers;
        let ExchangePlan { to, from, votes } = &self.plan;
        let next = self.next[..parts].iter().map(|next| *lock(next)).min().unwrap_or(Time::MAX);
        let mut bounds = LookaheadBounds { horizon, next, cut };
        // The bounds must include messages sent since the last synchronisation, because other ranks have not received
        // them yet.
        for outbox in &self.outbox {
            let outbox = lock(outbox);
            bounds = bounds.and(LookaheadBounds { horizon: outbox.horizon, next: outbox.next, cut });
        }
        batches.resize_with(self.count(), Vec::new);
        for &rank in to {
            let mut batch = Outbox { bytes: std::mem::take(&mut batches[rank]), ..Outbox::default() };
            batch.bytes.clear();
            (WINDOW, bounds).pack(&mut batch.bytes);
            self.outbox[rank..].iter().step_by(self.count()).for_each(|outbox| batch.append(&mut lock(outbox)));
            sent.bytes += batch.bytes.len() as u64;
            sent.messages += batch.messages;
            batches[rank] = batch.bytes;
        }
        sent.barriers += 1;
        sent.batches += to.len() as u64;
        self.ranks.exchange(batches, to, from);
        for &rank in from {
            let other = self.read(&batches[rank], part_of);
            bounds = bounds.and(other.unwrap_or_else(|| self.out_of_step(rank)));
        }
        for &(to, from) in votes {
            let vote = packed(&(VOTE, bounds));
            sent.batches += 1;
            sent.bytes += vote.len() as u64;
            batches[to] = vote;
            self.ranks.exchange(batches, &[to], &[from]);
            let received = unpacked::<(u8, LookaheadBounds)>(&batches[from]).filter(|vote| vote.0 == VOTE);
            bounds = bounds.and(received.unwrap_or_else(|| self.out_of_step(from)).1);
        }
        // The later of two safe bounds: see the module documentation.
        let until = bounds.horizon.max(bounds.next.saturating_add(self.borders.cut_lookahead())).min(stop);
        *agreed = SyncState { horizon: bounds.horizon, until, cut: bounds.cut };
    }

    fn out_of_step(&self, other: usize) -> ! {
        panic!("ranks {other} and {} are out of step", self.ranks.rank())
    }

    #[inline(never)] // like `pack`
    fn read(&self, mut batch: &[u8], part_of: &[u16]) -> Option<LookaheadBounds> {
        let (kind, bounds) = <(u8, LookaheadBounds)>::unpack(&mut batch)?;
        if kind != WINDOW {
            return None;
        }
        while !batch.is_empty() {
            let (slot, port) = <(u32, u16)>::unpack(&mut batch)?;
            let message = self.codec.unpack(&mut batch)?;
            let ring = self.first_rings[slot as usize] + u32::from(port);
            lock(&self.inbox[usize::from(part_of[slot as usize])])
                .push(CrossPartMessage { wire: Wire::new(ring, slot, port), message });
        }
        Some(bounds)
    }

    /// Delivers the received messages of `part`, in the order of ranks.
    #[inline(never)] // like `pack`
    pub(crate) fn receive(&self, part: usize, deliver: impl FnMut(CrossPartMessage<M>)) {
        lock(&self.inbox[part]).drain(..).for_each(deliver);
    }

    /// Returns the state agreed at the last synchronisation.
    pub(crate) fn agreed(&self) -> SyncState {
        lock(&self.buffers).agreed
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // A panic on a thread ends the run, so a poisoned lock is harmless.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates ranks on the threads of one process, in order.
pub fn in_one_process(count: usize) -> Vec<Arc<dyn Ranks>> {
    let mut ends: Vec<(Vec<_>, Vec<_>)> = (0..count).map(|_| Default::default()).collect();
    for from in 0..count {
        for to in 0..count {
            let (sender, receiver) = channel();
            ends[from].0.push(sender);
            ends[to].1.push(receiver);
        }
    }
    let neighbour = |(rank, (senders, receivers))| -> Arc<dyn Ranks> {
        Arc::new(Neighbour { rank, count, ends: Mutex::new((senders, receivers)) })
    };
    ends.into_iter().enumerate().map(neighbour).collect()
}

type Ends = (Vec<Sender<Vec<u8>>>, Vec<Receiver<Vec<u8>>>);

/// A rank connected by channels in one process.
#[derive(Debug)]
struct Neighbour {
    rank: usize,
    count: usize,
    ends: Mutex<Ends>,
}

impl Ranks for Neighbour {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.count
    }

    fn exchange(&self, batches: &mut [Vec<u8>], to: &[usize], from: &[usize]) {
        let ends = lock(&self.ends);
        let gone = |other: usize| -> ! { panic!("rank {other} is gone") };
        for &other in to {
            ends.0[other].send(std::mem::take(&mut batches[other])).unwrap_or_else(|_| gone(other));
        }
        for &other in from {
            batches[other] = ends.1[other].recv().unwrap_or_else(|_| gone(other));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::borders::tests::{row, wire};
    use crate::execution::WireSpec;

    fn plan(wires: &[Vec<WireSpec>], firsts: &[u32], rank: usize) -> ExchangePlan {
        ExchangePlan::new(&RankPartition::new(wires, firsts.to_vec()), rank)
    }

    #[test]
    fn a_rank_writes_to_those_that_its_wires_reach() {
        // Six ranks of two nodes in a row: each node has a wire to the next one, and the last node to the first.
        let mut wires = row(&[10; 11]);
        wires[11].push(wire(0, 10));
        let firsts = [0, 2, 4, 6, 8, 10, 12];
        for rank in 0..6 {
            let plan = plan(&wires, &firsts, rank);
            let around = |step: usize| (rank + step) % 6;
            assert_eq!((plan.to, plan.from), (vec![around(1)], vec![around(5)]));
            assert_eq!(plan.votes, [(around(1), around(5)), (around(2), around(4)), (around(4), around(2))]);
        }
        // With two ranks, each rank writes to the other, with or without a wire between them.
        let both = plan(&[vec![wire(1, 10)], vec![wire(0, 10)]], &[0, 1, 2], 1);
        assert_eq!(both, ExchangePlan { to: vec![0], from: vec![0], votes: Vec::new() });
        assert_eq!(plan(&row(&[10]), &[0, 1, 2], 1), both);
        assert_eq!(plan(&row(&[10]), &[0, 2], 0), ExchangePlan { to: Vec::new(), from: Vec::new(), votes: Vec::new() });
    }

    #[test]
    fn all_write_to_all_if_that_takes_no_more_batches() {
        // Rings of ranks, each with wires to both neighbours.
        for count in 2..20 {
            let node = |rank: u32| vec![wire((rank + 1) % count, 10), wire((rank + count - 1) % count, 10)];
            let wires: Vec<_> = (0..count).map(node).collect();
            let plan = plan(&wires, &Vec::from_iter(0..=count), 0);
            let ranks = count as usize;
            let with_votes = 2 + (ranks - 1).ilog2() as usize + 1;
            let written = plan.to.len() + plan.votes.len();
            assert_eq!(plan.to.len(), plan.from.len());
            assert_eq!(written, with_votes.min(ranks - 1), "{count} ranks");
            assert_eq!(plan.votes.is_empty(), ranks <= 6, "{count} ranks");
        }
    }
}
