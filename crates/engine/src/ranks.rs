//! Distributed execution: each rank (process) runs a contiguous range of the nodes. All ranks synchronise at equal
//! instants, at which each sends one message batch (letter) to each rank that its nodes can reach.
//!
//! ```text
//!   rank 0: nodes 0..a          letter: lookahead bounds of 0,     rank 1: nodes a..b
//!     windows -> pack   =======> whether it was cut, and    =====>   unpack -> mailboxes -> windows
//!                                messages for nodes a..b
//! ```
//!
//! A batch without messages is a null message: it guarantees that no message arrives before the next synchronisation.
//! Two bounds are safe for that instant, and the later one is used. First, no message arrives anywhere before the end
//! of the window that all nodes together allow. Second, no message crosses ranks before the earliest event of any rank
//! plus the least lookahead of the cut wires; until then each rank runs windows of its own. So cuts should be at long
//! wires.
//!
//! Both bounds and the stop flag are reductions over all ranks. If each rank writes to each, the batches carry them.
//! Otherwise each writes to its neighbours, and a dissemination reduction (votes) follows: in step k each rank sends
//! its partial result to the rank 2^k after it, for as many steps as the number of ranks has bits. The scheme with
//! fewer batches and votes is used; at a tie, the one without votes.
//!
//! [`Ranks`] abstracts the transport: channels between threads for tests, MPI between machines.

use crate::mail::{Parcel, Wire};
use crate::node::Message;
use std::fmt::Debug;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use units::Time;
use units::pack::{Pack, packed, unpacked};

pub use crate::borders::{Borders, shares};

/// The ranks of one simulation, from the view of one of them.
pub trait Ranks: Send + Sync + Debug {
    /// Returns the index of this rank, from 0.
    fn rank(&self) -> usize;

    /// Returns the number of ranks.
    fn count(&self) -> usize;

    /// Sends `letters[r]` to each rank `r` of `to`, and replaces `letters[r]` by the data received from each rank `r`
    /// of `from`; other entries are unspecified afterwards. Neither list contains this rank. Every letter in `to` has
    /// an entry in `from` at its receiver, and letters from one rank to another stay in order. If a rank is gone this
    /// does not return, as the simulation cannot continue.
    fn exchange(&self, letters: &mut [Vec<u8>], to: &[usize], from: &[usize]);
}

/// Returns all ranks but this one, starting after it, so that not all ranks write first to one.
pub fn others(ranks: &dyn Ranks) -> Vec<usize> {
    (1..ranks.count()).map(|step| (ranks.rank() + step) % ranks.count()).collect()
}

/// Serialisation of messages to other ranks.
pub trait Post<M>: Send + Sync {
    /// Appends `message`, which leaves this rank.
    fn pack(&self, message: &M, to: &mut Vec<u8>);

    /// Takes a message from the beginning of `from`. Returns `None` if the bytes are invalid.
    fn unpack(&self, from: &mut &[u8]) -> Option<M>;
}

/// Configuration of one rank in a network of several.
pub struct Membership<M> {
    /// Transport to the other ranks.
    pub ranks: Arc<dyn Ranks>,
    /// Serialisation of messages.
    pub post: Box<dyn Post<M>>,
    /// Assignment of nodes to ranks, and the wires between ranks.
    pub borders: Borders,
}

/// Counts of data that a rank has sent to others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Letters {
    /// Number of synchronisations.
    pub meetings: u64,
    /// Number of letters, including those without messages, and votes.
    pub letters: u64,
    /// Bytes of letters and votes.
    pub bytes: u64,
    /// Number of messages in the letters.
    pub messages: u64,
}

/// First byte of a letter, by which ranks that are out of step detect it.
const WINDOW: u8 = b'w';

/// First byte of a vote.
const VOTE: u8 = b'v';

/// Ranks that a rank exchanges data with at each synchronisation.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Circle {
    /// Receivers: ranks of nodes at the ends of its nodes' wires, or all.
    to: Vec<usize>,
    /// Senders: ranks whose wires lead to its nodes, or all.
    from: Vec<usize>,
    /// Steps of the reduction after that: (receiver, sender) of each vote.
    votes: Vec<(usize, usize)>,
}

impl Circle {
    /// Computes the exchange of `rank`.
    fn new(borders: &Borders, rank: usize) -> Circle {
        let count = borders.ranks();
        let others = || (1..count).map(|step| (rank + step) % count);
        let steps = || std::iter::successors(Some(1), |step| Some(2 * step)).take_while(|&step| step < count);
        let neighbours: usize = (0..count).map(|from| (0..count).filter(|&to| borders.reaches(from, to)).count()).sum();
        // All to all: neighbours plus votes, or at most as many letters without votes, which are sequential.
        let all_meet = neighbours + count * steps().count() >= count * (count - 1);
        let steps = steps().filter(|_| !all_meet);
        Circle {
            to: others().filter(|&other| all_meet || borders.reaches(rank, other)).collect(),
            from: others().filter(|&other| all_meet || borders.reaches(other, rank)).collect(),
            votes: steps.map(|step| ((rank + step) % count, (rank + count - step) % count)).collect(),
        }
    }
}

/// A node of another rank at the end of a wire of this one.
#[derive(Clone, Copy, Debug)]
struct Foreign {
    rank: u32,
    /// Its number in its rank.
    node: u32,
    /// Least lookahead of its wires.
    lookahead: Time,
}

/// Data that the threads of a rank pass to the thread that writes letters, and receive from it.
pub(crate) struct Abroad<M> {
    ranks: Arc<dyn Ranks>,
    post: Box<dyn Post<M>>,
    circle: Circle,
    borders: Borders,
    foreign: Vec<Foreign>,
    /// First ring of each node here, and the number of rings.
    first_rings: Vec<u32>,
    /// Packed messages by part and rank.
    outbox: Vec<Mutex<Outbox>>,
    /// Received messages, by part.
    inbox: Vec<Mutex<Vec<Parcel<M>>>>,
    /// Earliest event of each part.
    next: Vec<Mutex<Time>>,
    desk: Mutex<Correspondence>,
}

/// Messages of one part to one rank since the last synchronisation, over all windows.
struct Outbox {
    bytes: Vec<u8>,
    messages: u64,
    /// Earliest arrival, and earliest arrival of an effect of one of these messages.
    next: Time,
    horizon: Time,
}

impl Default for Outbox {
    fn default() -> Self {
        Outbox { bytes: Vec::new(), messages: 0, next: Time::MAX, horizon: Time::MAX }
    }
}

impl Outbox {
    /// Moves the content of `later` to the end of this one.
    fn append(&mut self, later: &mut Outbox) {
        self.bytes.append(&mut later.bytes);
        self.messages += std::mem::take(&mut later.messages);
        self.next = self.next.min(std::mem::replace(&mut later.next, Time::MAX));
        self.horizon = self.horizon.min(std::mem::replace(&mut later.horizon, Time::MAX));
    }
}

#[derive(Default)]
struct Correspondence {
    letters: Vec<Vec<u8>>,
    sent: Letters,
    /// State agreed in the last letters.
    known: Known,
}

/// State agreed by all ranks at a synchronisation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// No message arrives anywhere before this.
    pub(crate) horizon: Time,
    /// Time of the next synchronisation.
    pub(crate) until: Time,
    /// Whether a rank stopped before all of its nodes had run.
    pub(crate) cut: bool,
}

/// Lookahead bounds of a rank.
#[derive(Clone, Copy, Debug)]
struct Sight {
    /// No message from its nodes arrives anywhere before this.
    horizon: Time,
    /// Its earliest event.
    next: Time,
    cut: bool,
}
units::pack_fields!(Sight { horizon, next, cut });

impl Sight {
    /// Merges the bounds of two ranks.
    fn and(self, other: Sight) -> Sight {
        Sight { horizon: self.horizon.min(other.horizon), next: self.next.min(other.next), cut: self.cut || other.cut }
    }
}

impl<M> Abroad<M> {
    /// Creates the exchange of one rank, whose nodes' rings begin at `first_rings`; at most `parts` threads run the
    /// nodes.
    pub(crate) fn new(membership: Membership<M>, first_rings: Vec<u32>, parts: usize) -> Self {
        let Membership { ranks, post, borders } = membership;
        let count = ranks.count();
        let circle = Circle::new(&borders, ranks.rank());
        Abroad {
            ranks,
            post,
            circle,
            borders,
            foreign: Vec::new(),
            first_rings,
            outbox: (0..parts * count).map(|_| Mutex::default()).collect(),
            inbox: (0..parts).map(|_| Mutex::default()).collect(),
            next: (0..parts).map(|_| Mutex::new(Time::MAX)).collect(),
            desk: Mutex::default(),
        }
    }

    /// Returns the number of ranks.
    pub(crate) fn count(&self) -> usize {
        self.ranks.count()
    }

    /// Registers node `node` (network index, of another rank), which a wire of this rank reaches. `lookahead` is the
    /// least of the node's own wires.
    pub(crate) fn note(&mut self, node: u32, lookahead: Time) {
        let rank = self.borders.rank_of(node);
        let node = node - self.borders.nodes_of(rank).start;
        self.foreign.push(Foreign { rank: rank as u32, node, lookahead });
    }

    /// Returns the rank of each foreign node, in order of registration.
    pub(crate) fn ranks_of_foreign(&self) -> impl Iterator<Item = u32> {
        self.foreign.iter().map(|foreign| foreign.rank)
    }

    /// Returns the counts of sent data.
    pub(crate) fn letters(&self) -> Letters {
        lock(&self.desk).sent
    }

    /// Prepares for a new division: moves waiting messages ahead of those that nodes send from their new parts, so that
    /// each wire stays in order.
    pub(crate) fn parts_change(&self) {
        for to in 0..self.count() {
            let mut boxes = self.outbox[to..].iter().step_by(self.count()).map(lock);
            if let Some(mut first) = boxes.next() {
                boxes.for_each(|mut later| first.append(&mut later));
            }
        }
    }

    /// Packs the messages of part `from` for rank `to`.
    #[inline(never)] // Not inlined, like `read` and `collect`, so that profiles show the cost of crossing ranks.
    pub(crate) fn put(&self, from: usize, to: usize, parcels: &mut Vec<Parcel<M>>)
    where
        M: Message,
    {
        let mut outbox = lock(&self.outbox[from * self.count() + to]);
        let Outbox { bytes, messages, next, horizon } = &mut *outbox;
        *messages += parcels.len() as u64;
        let slots = self.first_rings.len() as u32 - 1;
        for Parcel { wire, message } in parcels.drain(..) {
            // Foreign nodes are numbered after those of this rank.
            let Foreign { node, lookahead, .. } = self.foreign[(wire.slot - slots) as usize];
            let at = message.at();
            (*next, *horizon) = ((*next).min(at), (*horizon).min(at.saturating_add(lookahead)));
            node.pack(bytes);
            wire.port_abroad().pack(bytes);
            self.post.pack(&message, bytes);
        }
    }

    /// Records the earliest event of part `from`, over its nodes and its messages just sent to other parts.
    pub(crate) fn set_next(&self, from: usize, next: Time) {
        *lock(&self.next[from]) = next;
    }

    /// Synchronises with the other ranks. No message from nodes of this rank arrives before `horizon`; `cut` reports a
    /// stop. Received messages go to the part of their node in `part_of`. No rank goes beyond `stop`. Call on one
    /// thread while the others of its `parts` wait.
    pub(crate) fn meet(&self, (horizon, cut): (Time, bool), stop: Time, parts: usize, part_of: &[u16]) {
        let mut desk = lock(&self.desk);
        let Correspondence { letters, sent, known } = &mut *desk;
        let Circle { to, from, votes } = &self.circle;
        let next = self.next[..parts].iter().map(|next| *lock(next)).min().unwrap_or(Time::MAX);
        let mut sight = Sight { horizon, next, cut };
        // The bounds must cover messages sent since the last synchronisation: other ranks have not received them yet.
        for outbox in &self.outbox {
            let outbox = lock(outbox);
            sight = sight.and(Sight { horizon: outbox.horizon, next: outbox.next, cut });
        }
        letters.resize_with(self.count(), Vec::new);
        for &rank in to {
            let mut letter = Outbox { bytes: std::mem::take(&mut letters[rank]), ..Outbox::default() };
            letter.bytes.clear();
            (WINDOW, sight).pack(&mut letter.bytes);
            self.outbox[rank..].iter().step_by(self.count()).for_each(|outbox| letter.append(&mut lock(outbox)));
            sent.bytes += letter.bytes.len() as u64;
            sent.messages += letter.messages;
            letters[rank] = letter.bytes;
        }
        sent.meetings += 1;
        sent.letters += to.len() as u64;
        self.ranks.exchange(letters, to, from);
        for &rank in from {
            let other = self.read(&letters[rank], part_of);
            sight = sight.and(other.unwrap_or_else(|| self.out_of_step(rank)));
        }
        for &(to, from) in votes {
            let vote = packed(&(VOTE, sight));
            sent.letters += 1;
            sent.bytes += vote.len() as u64;
            letters[to] = vote;
            self.ranks.exchange(letters, &[to], &[from]);
            let heard = unpacked::<(u8, Sight)>(&letters[from]).filter(|heard| heard.0 == VOTE);
            sight = sight.and(heard.unwrap_or_else(|| self.out_of_step(from)).1);
        }
        // The later of two safe bounds: see the module.
        let until = sight.horizon.max(sight.next.saturating_add(self.borders.window())).min(stop);
        *known = Known { horizon: sight.horizon, until, cut: sight.cut };
    }

    fn out_of_step(&self, other: usize) -> ! {
        panic!("ranks {other} and {} are out of step", self.ranks.rank())
    }

    #[inline(never)] // like `put`
    fn read(&self, mut letter: &[u8], part_of: &[u16]) -> Option<Sight> {
        let (kind, sight) = <(u8, Sight)>::unpack(&mut letter)?;
        if kind != WINDOW {
            return None;
        }
        while !letter.is_empty() {
            let (slot, port) = <(u32, u16)>::unpack(&mut letter)?;
            let message = self.post.unpack(&mut letter)?;
            let ring = self.first_rings[slot as usize] + u32::from(port);
            lock(&self.inbox[usize::from(part_of[slot as usize])])
                .push(Parcel { wire: Wire::new(ring, slot, port), message });
        }
        Some(sight)
    }

    /// Delivers the received messages of `part`, in the order of ranks.
    #[inline(never)] // like `put`
    pub(crate) fn collect(&self, part: usize, deliver: impl FnMut(Parcel<M>)) {
        lock(&self.inbox[part]).drain(..).for_each(deliver);
    }

    /// Returns the state agreed at the last synchronisation.
    pub(crate) fn known(&self) -> Known {
        lock(&self.desk).known
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

    fn exchange(&self, letters: &mut [Vec<u8>], to: &[usize], from: &[usize]) {
        let ends = lock(&self.ends);
        let gone = |other: usize| -> ! { panic!("rank {other} is gone") };
        for &other in to {
            ends.0[other].send(std::mem::take(&mut letters[other])).unwrap_or_else(|_| gone(other));
        }
        for &other in from {
            letters[other] = ends.1[other].recv().unwrap_or_else(|_| gone(other));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::borders::tests::{row, wire};
    use crate::execution::WireSpec;

    fn circle(wires: &[Vec<WireSpec>], firsts: &[u32], rank: usize) -> Circle {
        Circle::new(&Borders::new(wires, firsts.to_vec()), rank)
    }

    #[test]
    fn a_rank_writes_to_those_that_its_wires_reach() {
        // Six ranks of two nodes in a row: wires lead upwards only, and the last node's to the first.
        let mut wires = row(&[10; 11]);
        wires[11].push(wire(0, 10));
        let firsts = [0, 2, 4, 6, 8, 10, 12];
        for rank in 0..6 {
            let circle = circle(&wires, &firsts, rank);
            let around = |step: usize| (rank + step) % 6;
            assert_eq!((circle.to, circle.from), (vec![around(1)], vec![around(5)]));
            assert_eq!(circle.votes, [(around(1), around(5)), (around(2), around(4)), (around(4), around(2))]);
        }
        // Of two ranks each writes to the other, with or without a wire.
        let both = circle(&[vec![wire(1, 10)], vec![wire(0, 10)]], &[0, 1, 2], 1);
        assert_eq!(both, Circle { to: vec![0], from: vec![0], votes: Vec::new() });
        assert_eq!(circle(&row(&[10]), &[0, 1, 2], 1), both);
        assert_eq!(circle(&row(&[10]), &[0, 2], 0), Circle { to: Vec::new(), from: Vec::new(), votes: Vec::new() });
    }

    #[test]
    fn all_write_to_all_where_that_takes_no_more_letters() {
        // Rings of ranks, each with wires to both neighbours.
        for count in 2..20 {
            let node = |rank: u32| vec![wire((rank + 1) % count, 10), wire((rank + count - 1) % count, 10)];
            let wires: Vec<_> = (0..count).map(node).collect();
            let circle = circle(&wires, &Vec::from_iter(0..=count), 0);
            let ranks = count as usize;
            let with_votes = 2 + (ranks - 1).ilog2() as usize + 1;
            let written = circle.to.len() + circle.votes.len();
            assert_eq!(circle.to.len(), circle.from.len());
            assert_eq!(written, with_votes.min(ranks - 1), "{count} ranks");
            assert_eq!(circle.votes.is_empty(), ranks <= 6, "{count} ranks");
        }
    }
}
