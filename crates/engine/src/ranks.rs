//! One network over several processes: each rank runs a contiguous range of the nodes. All ranks meet at equal
//! instants, where each sends one letter to each that its nodes can reach.
//!
//! ```text
//!   rank 0: nodes 0..a          letter: how far rank 0 sees,       rank 1: nodes a..b
//!     windows -> pack   =======> whether it was cut, and    =====>   unpack -> mailboxes -> windows
//!                                messages for nodes a..b
//! ```
//!
//! A letter without messages is a promise: nothing of mine arrives before we meet again. Two instants are safe for
//! that, and the later one counts. Nothing arrives anywhere before the end of the window that all nodes together
//! allow. And nothing crosses from rank to rank before the earliest event of any rank and the least lookahead of
//! the wires that the ranks cut; until then each rank runs windows of its own. So cuts belong where wires are long.
//!
//! Both instants, and whether somebody wants to stop, need a word of every rank. Where each writes to each, letters
//! carry it. Where many are not neighbours, each writes to its neighbours, and a vote follows: each rank tells the one
//! 1, 2, 4, ... behind it what it has heard so far, and after as many steps as the number of ranks has bits each has
//! heard of all. Whichever takes fewer letters and votes is done; of as many, without votes.
//!
//! How letters travel is somebody else's business ([`Ranks`]): between threads for tests, by MPI between machines.

use crate::mail::{Parcel, Wire};
use crate::node::Message;
use std::fmt::Debug;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use units::Time;
use units::pack::{Pack, packed, unpacked};

pub use crate::borders::{Borders, shares};

/// The ranks of one simulation, as one of them sees them.
pub trait Ranks: Send + Sync + Debug {
    /// Which it is, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn count(&self) -> usize;

    /// Sends `letters[r]` to each rank `r` of `to`, and puts into `letters[r]` what each rank `r` of `from` has sent;
    /// what stands in other places afterwards means nothing. None of them is this one. Each letter is asked for by
    /// whom it was sent to, and letters from one rank to another keep their order. Where a rank is gone it does not
    /// return: there is nothing to go on with.
    fn exchange(&self, letters: &mut [Vec<u8>], to: &[usize], from: &[usize]);
}

/// All ranks but this one, first the one behind it, so that not all write to the same one first.
pub fn others(ranks: &dyn Ranks) -> Vec<usize> {
    (1..ranks.count()).map(|step| (ranks.rank() + step) % ranks.count()).collect()
}

/// How messages become bytes, on their way to another rank.
pub trait Post<M>: Send + Sync {
    /// Appends `message`, which leaves this rank.
    fn pack(&self, message: &M, to: &mut Vec<u8>);

    /// Takes a message that arrived from the beginning of `from`; `None` if these bytes are none.
    fn unpack(&self, from: &mut &[u8]) -> Option<M>;
}

/// The part of a rank in a network of several.
pub struct Membership<M> {
    /// Who the others are.
    pub ranks: Arc<dyn Ranks>,
    /// How to write to them.
    pub post: Box<dyn Post<M>>,
    /// Which nodes are whose, and what joins them.
    pub borders: Borders,
}

/// What a rank has sent to others so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Letters {
    /// How often the ranks have met.
    pub meetings: u64,
    /// Letters, those of meetings alone, and votes.
    pub letters: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Messages in them.
    pub messages: u64,
}

/// What a window's letter begins with, so that ranks that are out of step find out.
const WINDOW: u8 = b'w';

/// What a vote begins with.
const VOTE: u8 = b'v';

/// Whom a rank hears and tells at each meeting.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Circle {
    /// The ranks of nodes that its nodes' wires lead to, or all.
    to: Vec<usize>,
    /// Those whose wires lead to its nodes, or all.
    from: Vec<usize>,
    /// Then, one after the other, whom it tells what it has heard, and who tells it.
    votes: Vec<(usize, usize)>,
}

impl Circle {
    /// Of `rank`.
    fn new(borders: &Borders, rank: usize) -> Circle {
        let count = borders.ranks();
        let others = || (1..count).map(|step| (rank + step) % count);
        let steps = || std::iter::successors(Some(1), |step| Some(2 * step)).take_while(|&step| step < count);
        let neighbours: usize = (0..count).map(|from| (0..count).filter(|&to| borders.reaches(from, to)).count()).sum();
        // All ranks together: neighbours and votes, or as many letters and no votes, which wait for each other.
        let all_meet = neighbours + count * steps().count() >= count * (count - 1);
        let steps = steps().filter(|_| !all_meet);
        Circle {
            to: others().filter(|&other| all_meet || borders.reaches(rank, other)).collect(),
            from: others().filter(|&other| all_meet || borders.reaches(other, rank)).collect(),
            votes: steps.map(|step| ((rank + step) % count, (rank + count - step) % count)).collect(),
        }
    }
}

/// A node of another rank that a node of this one can reach.
#[derive(Clone, Copy, Debug)]
struct Foreign {
    rank: u32,
    /// Its number there.
    node: u32,
    /// The least of its wires.
    lookahead: Time,
}

/// What the threads of a rank hand to the one that writes letters, and get from it.
pub(crate) struct Abroad<M> {
    ranks: Arc<dyn Ranks>,
    post: Box<dyn Post<M>>,
    circle: Circle,
    borders: Borders,
    foreign: Vec<Foreign>,
    /// Of all nodes here, the first ring; and the number of rings.
    first_rings: Vec<u32>,
    /// Packed messages by part and rank.
    outbox: Vec<Mutex<Outbox>>,
    /// Messages that arrived, by part.
    inbox: Vec<Mutex<Vec<Parcel<M>>>>,
    /// The earliest event that a part knows of, by part.
    next: Vec<Mutex<Time>>,
    desk: Mutex<Correspondence>,
}

/// What one part has for one rank since they met, in however many windows.
struct Outbox {
    bytes: Vec<u8>,
    messages: u64,
    /// When the earliest arrives; and when something can arrive that one of them causes.
    next: Time,
    horizon: Time,
}

impl Default for Outbox {
    fn default() -> Self {
        Outbox { bytes: Vec::new(), messages: 0, next: Time::MAX, horizon: Time::MAX }
    }
}

impl Outbox {
    /// Takes what `later` holds, behind its own.
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
    /// What the last letters said.
    known: Known,
}

/// What all ranks know since they met.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// Nothing arrives anywhere before.
    pub(crate) horizon: Time,
    /// When they meet again.
    pub(crate) until: Time,
    /// Whether one of them stopped before all of its nodes had run.
    pub(crate) cut: bool,
}

/// How far a rank sees.
#[derive(Clone, Copy, Debug)]
struct Sight {
    /// As far as its nodes allow, nothing arrives anywhere before this.
    horizon: Time,
    /// Its earliest event.
    next: Time,
    cut: bool,
}
units::pack_fields!(Sight { horizon, next, cut });

impl Sight {
    /// With what another rank sees.
    fn and(self, other: Sight) -> Sight {
        Sight { horizon: self.horizon.min(other.horizon), next: self.next.min(other.next), cut: self.cut || other.cut }
    }
}

impl<M> Abroad<M> {
    /// For the nodes of one rank, whose rings begin at `first_rings`; at most `parts` threads run them.
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

    /// How many ranks there are.
    pub(crate) fn count(&self) -> usize {
        self.ranks.count()
    }

    /// Node `node` of the whole network, one of another rank, can be reached from here; no wire of its is shorter than
    /// `lookahead`.
    pub(crate) fn note(&mut self, node: u32, lookahead: Time) {
        let rank = self.borders.rank_of(node);
        let node = node - self.borders.nodes_of(rank).start;
        self.foreign.push(Foreign { rank: rank as u32, node, lookahead });
    }

    /// Which rank each foreign node belongs to, in the order in which they were noted.
    pub(crate) fn ranks_of_foreign(&self) -> impl Iterator<Item = u32> {
        self.foreign.iter().map(|foreign| foreign.rank)
    }

    /// What was sent so far.
    pub(crate) fn letters(&self) -> Letters {
        lock(&self.desk).sent
    }

    /// Nodes will stand in other parts. What waits goes ahead of what they send from there: a wire keeps its order.
    pub(crate) fn parts_change(&self) {
        for to in 0..self.count() {
            let mut boxes = self.outbox[to..].iter().step_by(self.count()).map(lock);
            if let Some(mut first) = boxes.next() {
                boxes.for_each(|mut later| first.append(&mut later));
            }
        }
    }

    /// Leaves what part `from` has for rank `to`.
    #[inline(never)] // Profiles shall show what crossing costs: here, in `read` and in `collect`.
    pub(crate) fn put(&self, from: usize, to: usize, parcels: &mut Vec<Parcel<M>>)
    where
        M: Message,
    {
        let mut outbox = lock(&self.outbox[from * self.count() + to]);
        let Outbox { bytes, messages, next, horizon } = &mut *outbox;
        *messages += parcels.len() as u64;
        let slots = self.first_rings.len() as u32 - 1;
        for Parcel { wire, message } in parcels.drain(..) {
            // Foreign nodes stand behind those of this rank.
            let Foreign { node, lookahead, .. } = self.foreign[(wire.slot - slots) as usize];
            let at = message.at();
            (*next, *horizon) = ((*next).min(at), (*horizon).min(at.saturating_add(lookahead)));
            node.pack(bytes);
            wire.port_abroad().pack(bytes);
            self.post.pack(&message, bytes);
        }
    }

    /// The earliest event that part `from` knows of, of its nodes and of what it has just sent to other parts, comes at
    /// `next`.
    pub(crate) fn set_next(&self, from: usize, next: Time) {
        *lock(&self.next[from]) = next;
    }

    /// Exchanges letters: as far as this rank's nodes allow, nothing arrives before `horizon`; and it was `cut` or not.
    /// Parcels that come are for the part of `part_of` their node. No rank goes beyond `stop`. To be called by one
    /// thread while the others of its `parts` wait.
    pub(crate) fn meet(&self, (horizon, cut): (Time, bool), stop: Time, parts: usize, part_of: &[u16]) {
        let mut desk = lock(&self.desk);
        let Correspondence { letters, sent, known } = &mut *desk;
        let Circle { to, from, votes } = &self.circle;
        let next = self.next[..parts].iter().map(|next| *lock(next)).min().unwrap_or(Time::MAX);
        let mut sight = Sight { horizon, next, cut };
        // Nobody else knows yet of what was sent since they met, in whichever window of this rank.
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
        let until = sight.horizon.max(sight.next.saturating_add(self.borders.window())).min(stop);
        *known = Known { horizon: sight.horizon, until, cut: sight.cut };
    }

    fn out_of_step(&self, other: usize) -> ! {
        panic!("ranks {other} and {} are out of step", self.ranks.rank())
    }

    #[inline(never)] // as put
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

    /// Hands over what came for `part`, in the order of ranks.
    #[inline(never)] // as put
    pub(crate) fn collect(&self, part: usize, deliver: impl FnMut(Parcel<M>)) {
        lock(&self.inbox[part]).drain(..).for_each(deliver);
    }

    /// What all ranks know since they met.
    pub(crate) fn known(&self) -> Known {
        lock(&self.desk).known
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // A thread that panicked ends the run.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ranks on the threads of one process, in order.
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

/// A rank in the same process as the others.
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
        // Six ranks of two nodes in a row: wires lead upwards alone, and the last leads to the first.
        let mut wires = row(&[10; 11]);
        wires[11].push(wire(0, 10));
        let firsts = [0, 2, 4, 6, 8, 10, 12];
        for rank in 0..6 {
            let circle = circle(&wires, &firsts, rank);
            let around = |step: usize| (rank + step) % 6;
            assert_eq!((circle.to, circle.from), (vec![around(1)], vec![around(5)]));
            assert_eq!(circle.votes, [(around(1), around(5)), (around(2), around(4)), (around(4), around(2))]);
        }
        // Of two ranks each writes to the other, whether a wire leads there or not.
        let both = circle(&[vec![wire(1, 10)], vec![wire(0, 10)]], &[0, 1, 2], 1);
        assert_eq!(both, Circle { to: vec![0], from: vec![0], votes: Vec::new() });
        assert_eq!(circle(&row(&[10]), &[0, 1, 2], 1), both);
        assert_eq!(circle(&row(&[10]), &[0, 2], 0), Circle { to: Vec::new(), from: Vec::new(), votes: Vec::new() });
    }

    #[test]
    fn all_write_to_all_where_that_takes_no_more_letters() {
        // Rings of ranks, each with wires to both of its neighbours.
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
