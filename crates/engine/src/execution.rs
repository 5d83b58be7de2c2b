//! Nodes on their wires, and the loop over windows.

use crate::borders::Wires;
use crate::division::{Division, Scales, parts_of};
use crate::mail::{Desk, Slot, Window, Wire};
use crate::node::Node;
use crate::pace::Pace;
use crate::part::{Part, View};
use crate::pool::Pool;
use crate::ranks::{Abroad, Letters, Membership};
use crate::ring::Ring;
use crate::sides::{LONGEST_LOOKAHEAD, Turns, take_sides};
use crate::stretch::{Clock, Plan, Stretch};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use units::Time;
use units::random::{Stream, purpose};

/// Nodes that did less than this for each thread tell nothing of what they will do.
const LEAST_WORK: u64 = 1_000;

/// A wire from one node's egress port to another's ingress port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireSpec {
    /// The receiving node.
    pub node: u32,
    /// Its ingress port.
    pub port: u16,
    /// A message sent at `t` arrives at `t + lookahead` or later; positive.
    pub lookahead: Time,
}

/// Why nodes and wires make no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// A wire ends nowhere.
    #[error("wire {port} of node {node} ends at node {end}, but there are only {nodes} nodes")]
    NoSuchNode {
        /// The sender.
        node: u32,
        /// Its egress port.
        port: usize,
        /// The receiver that is missing.
        end: u32,
        /// How many nodes there are.
        nodes: usize,
    },
    /// Two nodes that influence each other without delay are one node.
    #[error("wire {port} of node {node} has no delay: nodes meet only through links with a delay")]
    NoDelay {
        /// The sender.
        node: u32,
        /// Its egress port.
        port: usize,
    },
    /// A node does not reach itself by wire: while it handles a message, nothing may be put on the wire that the
    /// message lies on.
    #[error("wire {port} of node {node} leads back to it: a node reaches itself without a wire")]
    OwnWire {
        /// The node.
        node: u32,
        /// Its egress port.
        port: usize,
    },
    /// Two wires end at the same ingress port.
    #[error("ingress port {port} of node {node} is the end of more than one wire")]
    SharedPort {
        /// The receiver.
        node: u32,
        /// Its ingress port.
        port: u16,
    },
    /// A rank without a node has nothing to do.
    #[error("{ranks} ranks are more than there are nodes: {nodes}; start no more ranks than nodes")]
    TooManyRanks {
        /// How many ranks there are.
        ranks: usize,
        /// How many nodes there are.
        nodes: usize,
    },
}

/// What the engine did so far: the same for any number of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Windows executed.
    pub windows: u64,
    /// Times a node ran, over all windows.
    pub runs: u64,
}

/// How the work was shared out, which no result depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sharing {
    /// Most threads that ran nodes at the same time.
    pub threads: usize,
    /// Of [`Statistics::runs`], those in windows that several threads shared.
    pub shared_runs: u64,
    /// How often the nodes were shared out anew by what each had had to do.
    pub weighings: u64,
}

/// Nodes, wires and the time up to which they have run.
pub struct Engine<N: Node> {
    nodes: Vec<N>,
    slots: Vec<Slot>,
    rings: Vec<Ring<N::Message>>,
    wires: Vec<Wire>,
    /// By node, as in its slot: also of nodes that another thread runs.
    lookaheads: Vec<Time>,
    /// That of every node that has a slot, if it is the same.
    lookahead: Option<Time>,
    first_rings: Vec<u32>,
    scales: Scales,
    /// Which is in force.
    division: Division<N::Message>,
    most_parts: usize,
    parts: Vec<(Desk<N::Message>, Part)>,
    pool: Pool,
    pace: Pace,
    /// Windows until the pace is asked again; windows and runs since it was.
    left: u64,
    since: (u64, u64),
    stop: Arc<AtomicBool>,
    clock: Arc<Clock>,
    turns: Turns,
    cut: bool,
    statistics: Statistics,
    sharing: Sharing,
    /// Where other nodes of the network are with other ranks.
    abroad: Option<Box<Abroad<N::Message>>>,
}

impl<N: Node> Engine<N> {
    /// An engine over `nodes`, which meet by `wires`. Up to `threads`
    /// threads (at least one), and not more than the machine has cores, share the nodes in contiguous ranges, so
    /// neighbours should stand together: ranges of about equally much work, as far as nodes tell ([`Node::work`]).
    /// Where threads are in each other's way, fewer do. Every node runs once at time zero to name its first event.
    ///
    /// # Errors
    /// If a wire ends nowhere, has no delay, leads back to its node, or shares its ingress port with another.
    pub fn new(nodes: Vec<N>, wires: &(impl Wires + ?Sized), threads: usize) -> Result<Self, EngineError> {
        Engine::build(nodes, wires, threads, None)
    }

    /// As [`Engine::new`], for one of several ranks: `nodes` are its own, which it numbers from 0, `wires` those of
    /// all nodes. The ranks run in step: each calls [`Engine::run_until`] with the same instants.
    ///
    /// # Errors
    /// As [`Engine::new`].
    ///
    /// # Panics
    /// If the nodes are not those of its share.
    pub fn of_rank(
        nodes: Vec<N>,
        wires: &(impl Wires + ?Sized),
        threads: usize,
        membership: Membership<N::Message>,
    ) -> Result<Self, EngineError> {
        Engine::build(nodes, wires, threads, Some(membership))
    }

    fn build(
        nodes: Vec<N>,
        wires: &(impl Wires + ?Sized),
        threads: usize,
        membership: Option<Membership<N::Message>>,
    ) -> Result<Self, EngineError> {
        // A node may be told without its wires: it has none.
        let told = wires.nodes();
        let count = membership.as_ref().map_or(nodes.len(), |_| told);
        let own = membership.as_ref().map_or(0..count, |membership| {
            let own = membership.borders.nodes_of(membership.ranks.rank());
            own.start as usize..own.end as usize
        });
        assert_eq!(nodes.len(), own.len(), "the nodes of the share");
        let mut ingress_ports = vec![0u32; own.len()];
        let mut wrong = None;
        for node in 0..told {
            let mut port = 0;
            wires.each(node as u32, |wire| {
                let (node_number, end) = (node as u32, wire.node as usize);
                if end >= count {
                    let mistake = EngineError::NoSuchNode { node: node_number, port, end: wire.node, nodes: count };
                    wrong.get_or_insert(mistake);
                } else if wire.lookahead == Time::ZERO {
                    wrong.get_or_insert(EngineError::NoDelay { node: node_number, port });
                } else if end == node {
                    wrong.get_or_insert(EngineError::OwnWire { node: node_number, port });
                }
                if own.contains(&end) {
                    let ports = &mut ingress_ports[end - own.start];
                    *ports = (*ports).max(u32::from(wire.port) + 1);
                }
                port += 1;
            });
        }
        if let Some(mistake) = wrong {
            return Err(mistake);
        }
        let mut first_rings = vec![0];
        for &ports in &ingress_ports {
            first_rings.push(first_rings[first_rings.len() - 1] + ports);
        }
        let ring_count = first_rings[own.len()] as usize;
        let most_parts = threads.clamp(1, own.len().max(1));
        let mut abroad =
            membership.map(|membership| Box::new(Abroad::new(membership, first_rings.clone(), most_parts)));
        let lookahead_of = |index: usize| {
            let mut least = LONGEST_LOOKAHEAD;
            if index < told {
                wires.each(index as u32, |wire| least = least.min(wire.lookahead));
            }
            least
        };
        // Those of other ranks stand behind the own ones, each once, and have no slot.
        let mut lookaheads: Vec<Time> = own.clone().map(lookahead_of).collect();
        let mut slot_of_foreign = BTreeMap::new();
        let mut taken = vec![false; ring_count];
        let mut flat = Vec::new();
        let mut slots = Vec::with_capacity(own.len());
        let mut shared = None;
        for index in 0..told.max(own.end) {
            let is_own = own.contains(&index);
            let first_wire = flat.len() as u32;
            let mut note = |WireSpec { node, port, .. }: WireSpec| {
                if own.contains(&(node as usize)) {
                    let slot = node - own.start as u32;
                    let ring = first_rings[slot as usize] + u32::from(port);
                    if std::mem::replace(&mut taken[ring as usize], true) {
                        shared.get_or_insert(EngineError::SharedPort { node, port });
                    }
                    if is_own {
                        flat.push(Wire::new(ring, slot, port));
                    }
                } else if let Some(abroad) = abroad.as_mut().filter(|_| is_own) {
                    let slot = *slot_of_foreign.entry(node).or_insert_with(|| {
                        let lookahead = lookahead_of(node as usize);
                        abroad.note(node, lookahead);
                        lookaheads.push(lookahead);
                        lookaheads.len() as u32 - 1
                    });
                    flat.push(Wire::abroad(slot, port));
                }
            };
            if index < told {
                wires.each(index as u32, &mut note);
            }
            if is_own {
                let slot = slots.len();
                slots.push(Slot {
                    next: Time::ZERO,
                    timer: Time::MAX,
                    lookahead: lookaheads[slot],
                    first_ring: first_rings[slot],
                    wires: (first_wire, flat.len() as u32),
                    side: 0,
                    pooled: true,
                    active: false,
                    ports: ingress_ports[slot] as u16,
                    waiting: 0,
                });
            }
        }
        if let Some(mistake) = shared {
            return Err(mistake);
        }
        // Several ranks meet after each lookahead, or have longer ones between them.
        let turns = if abroad.is_none() { take_sides(&mut slots, &flat) } else { Turns::TOGETHER };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut engine = Engine {
            scales: Scales::new(&slots, &flat),
            division: Division::new(vec![0, nodes.len() as u32], &first_rings),
            most_parts,
            lookahead: slots
                .first()
                .map(|slot| slot.lookahead)
                .filter(|&it| slots.iter().all(|slot| slot.lookahead == it)),
            lookaheads,
            nodes,
            slots,
            rings: (0..ring_count).map(|_| Ring::new()).collect(),
            wires: flat,
            first_rings,
            parts: Vec::new(),
            pool: Pool::new(),
            pace: Pace::measured(most_parts, cores),
            left: 0,
            since: (0, 0),
            stop: Arc::default(),
            clock: Arc::default(),
            turns,
            cut: false,
            statistics: Statistics::default(),
            sharing: Sharing { threads: 1, ..Sharing::default() },
            abroad,
        };
        engine.divide(1);
        for (node, slot) in (0..).zip(&engine.slots) {
            engine.parts[0].0.pools[slot.pool()].push(node);
        }
        Ok(engine)
    }

    /// From now on chance decides, every few windows, how many threads run the next ones, cores or not, and which nodes
    /// each of them runs: for those who want to see that no result depends on it.
    pub fn draw_threads(&mut self, seed: u64) {
        self.pace = Pace::Drawn(Stream::new(seed, 0, purpose("threads")), self.most_parts);
        self.left = 0;
    }

    /// From now on, [`Engine::run_until`] returns soon after somebody sets `stop`.
    pub fn heed(&mut self, stop: Arc<AtomicBool>) {
        self.stop = stop;
    }

    /// What tells other threads how far it is.
    pub fn clock(&self) -> &Arc<Clock> {
        &self.clock
    }

    /// Every event before this instant has been executed, unless [`Engine::run_until`] was stopped.
    pub fn now(&self) -> Time {
        if self.cut { self.turns.latest() } else { self.turns.now() }
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node at all.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Node `index`, as it is at [`Engine::now`].
    pub fn node(&self, index: usize) -> &N {
        &self.nodes[index]
    }

    /// Node `index`, to change it between two calls of [`Engine::run_until`]. It runs again in the next
    /// window, so a change may create an event at or after [`Engine::now`].
    pub fn node_mut(&mut self, index: usize) -> &mut N {
        let slot = &mut self.slots[index];
        slot.next = slot.next.min(self.turns.now());
        if !slot.pooled {
            slot.pooled = true;
            slot.timer = Time::MAX;
            let part = usize::from(self.division.part_of[index]);
            self.parts[part].0.pools[slot.pool()].push(index as u32 - self.division.nodes[part]);
        }
        &mut self.nodes[index]
    }

    /// All nodes in order.
    pub fn nodes(&self) -> impl Iterator<Item = &N> {
        self.nodes.iter()
    }

    /// The nodes that ran since the last call, each once, in no order: whoever watches a large network looks only at
    /// them. The same nodes for any number of threads.
    pub fn take_active(&mut self) -> Vec<u32> {
        let mut taken = Vec::new();
        for ((_, part), first) in self.parts.iter_mut().zip(&self.division.nodes) {
            taken.extend(part.active.drain(..).map(|slot| first + slot));
        }
        for &node in &taken {
            self.slots[node as usize].active = false;
        }
        taken
    }

    /// The messages on the wires into node `index`: by ingress port, oldest first.
    pub fn in_flight(&self, index: usize) -> impl Iterator<Item = &N::Message> {
        let slot = &self.slots[index];
        let first = slot.first_ring as usize;
        slot.waiting_ports().into_iter().flat_map(move |port| self.rings[first + port].iter())
    }

    /// When the earliest event of any node comes; [`Time::MAX`] if nothing will ever happen again.
    pub fn next_event(&self) -> Time {
        self.slots.iter().map(|slot| slot.next).min().unwrap_or(Time::MAX)
    }

    /// What was done so far.
    pub fn statistics(&self) -> Statistics {
        let runs = self.parts.iter().map(|(_, part)| part.runs).sum::<u64>();
        Statistics { runs: self.statistics.runs + runs, ..self.statistics }
    }

    /// Shares the nodes, where several threads do, by what each has done since it was last looked at. It happens by
    /// itself in a run on several threads; this is for those who want to see what would.
    pub fn share_by_work(&mut self) {
        let lately = self.scales.lately(self.nodes.iter().map(Node::work));
        self.scales.weights = lately;
    }

    /// Which of `parts` threads, if there were so many, would run each node.
    pub fn part_of(&self, parts: usize) -> Vec<u16> {
        parts_of(&self.scales.firsts(parts))
    }

    /// What other ranks were told.
    pub fn letters(&self) -> Letters {
        self.abroad.as_ref().map_or(Letters::default(), |abroad| abroad.letters())
    }

    /// Who did it.
    pub fn sharing(&self) -> Sharing {
        self.sharing
    }

    /// Executes every event before `stop`; false if somebody set what [`Engine::heed`] was given.
    ///
    /// A stop comes as soon as every thread has finished the node that it runs. Some nodes may then be ahead of others
    /// by less than two windows, and [`Engine::now`] is the window's end, which no node has passed. No message is lost
    /// or there twice, so whatever is counted over all nodes and wires adds up; but the engine cannot go on. Of several
    /// ranks all stop where one was told to.
    ///
    /// # Panics
    /// If a node panics; the panic is passed on whatever thread it came from.
    pub fn run_until(&mut self, stop: Time) -> bool {
        while self.now() < stop {
            // Several ranks stop together: each learns of it by letter.
            if self.cut || (self.abroad.is_none() && self.stop.load(Ordering::Relaxed)) {
                // One side may be ahead, though all of it has run.
                self.cut = true;
                self.clock.set(self.now());
                return false;
            }
            if self.left == 0 {
                self.share_out();
            }
            let runs = self.statistics().runs;
            let alone = self.parts.len() == 1 && self.abroad.is_none();
            let stretch = if alone { self.run_alone(stop) } else { self.run_together(stop) };
            let runs = self.statistics().runs - runs;
            (self.turns, self.cut) = (stretch.turns, stretch.cut);
            self.clock.set(self.now());
            self.statistics.windows += stretch.windows;
            self.left -= stretch.windows;
            self.since = (self.since.0 + stretch.windows, self.since.1 + runs);
            if self.parts.len() > 1 {
                self.sharing.shared_runs += runs;
            }
        }
        self.forget_timers();
        !self.cut
    }

    /// Forgets outdated timers of all parts.
    #[cold]
    #[inline(never)]
    fn forget_timers(&mut self) {
        for (index, (_, part)) in self.parts.iter_mut().enumerate() {
            let nodes = &self.division.nodes;
            part.forget_timers(&self.slots[nodes[index] as usize..nodes[index + 1] as usize]);
        }
    }

    /// Decides who runs the next windows.
    #[cold]
    fn share_out(&mut self) {
        let (windows, runs) = std::mem::take(&mut self.since);
        if windows > 0 {
            self.pace.done(windows, runs);
        }
        let (threads, windows) = self.pace.next();
        self.left = windows;
        if threads > 1 && self.weigh(threads) || threads != self.division.parts() {
            self.divide(threads);
        }
    }

    /// Looks, if it is time to, at what each node had to do lately; whether that asks for another division among so
    /// many threads.
    fn weigh(&mut self, threads: usize) -> bool {
        let (scales, nodes) = (&mut self.scales, &self.nodes);
        let Some(lately) = self.pace.weigh(nodes.len(), || scales.lately(nodes.iter().map(Node::work))) else {
            return false;
        };
        if lately.iter().sum::<u64>() < LEAST_WORK * threads as u64 {
            return false;
        }
        let known = self.division.parts() == threads;
        let in_force = if known { self.division.nodes.clone() } else { scales.firsts(threads) };
        let better = scales.weigh(lately, &in_force);
        self.sharing.weighings += u64::from(better);
        better
    }

    /// From now on the nodes stand in parts for this many threads.
    fn divide(&mut self, threads: usize) {
        // All in numbers among all nodes, for a moment.
        let (mut pool, mut active, mut timers) = (Vec::new(), Vec::new(), Vec::new());
        for ((desk, part), first) in self.parts.drain(..).zip(&self.division.nodes) {
            pool.extend(desk.pools.into_iter().flatten().map(|slot| first + slot));
            active.extend(part.active.into_iter().map(|slot| first + slot));
            timers.extend(part.timers.into_entries().map(|(at, slot)| (at, first + slot)));
            self.statistics.runs += part.runs;
        }
        let abroad = self.abroad.as_deref();
        abroad.into_iter().for_each(Abroad::parts_change);
        let mut new = Division::new(self.scales.firsts(threads), &self.first_rings);
        // To a part, other ranks are parts behind its own.
        let parts = new.parts() as u16;
        new.part_of.extend(abroad.iter().flat_map(|abroad| abroad.ranks_of_foreign()).map(|it| parts + it as u16));
        let letters = abroad.map_or(0, Abroad::count);
        self.parts = (0..new.parts()).map(|_| (Desk::new(new.parts() + letters), Part::default())).collect();
        let place = |node: u32| {
            let part = usize::from(new.part_of[node as usize]);
            (part, node - new.nodes[part])
        };
        for node in pool {
            let ((part, slot), pool) = (place(node), self.slots[node as usize].pool());
            self.parts[part].0.pools[pool].push(slot);
        }
        for (part, slot) in active.into_iter().map(place) {
            self.parts[part].1.active.push(slot);
        }
        for (at, node) in timers {
            if self.slots[node as usize].timer == at {
                let (part, slot) = place(node);
                self.parts[part].1.timers.push(at, slot);
            }
        }
        self.sharing.threads = self.sharing.threads.max(new.parts());
        self.division = new;
    }

    fn run_alone(&mut self, stop: Time) -> Stretch {
        let division = &self.division;
        let (desk, part) = &mut self.parts[0];
        let window = Window::new((&mut self.slots, &mut self.rings), (0, 0), desk, &division.part_of);
        let (wires, lookahead) = (&*self.wires, self.lookahead);
        let mut view = View { nodes: &mut self.nodes, wires, lookahead, window, part };
        let mut stretch = Stretch::from(self.turns);
        while stretch.windows < self.left && !stretch.cut {
            let end = stretch.turns.pass(&view.ahead(&stretch.turns), stop);
            if stretch.turns.now() >= stop {
                break;
            }
            stretch.cut = !view.run(&stretch.turns, end, &self.stop);
            stretch.windows += 1;
            stretch.turns.run(end);
            self.clock.set(stretch.turns.now());
        }
        stretch
    }

    fn run_together(&mut self, stop: Time) -> Stretch {
        let division = &self.division;
        division.exchange.begin();
        let mut views = Vec::with_capacity(self.parts.len());
        let (mut nodes, mut slots, mut rings) = (&mut *self.nodes, &mut *self.slots, &mut *self.rings);
        for (index, (desk, part)) in self.parts.iter_mut().enumerate() {
            let (first_slot, first_ring) = (division.nodes[index], division.rings[index]);
            let (own_nodes, own_rings) =
                (division.nodes[index + 1] - first_slot, division.rings[index + 1] - first_ring);
            let own = (take_first(&mut slots, own_nodes), take_first(&mut rings, own_rings));
            let window = Window::new(own, (first_slot, first_ring), desk, &division.part_of);
            let (nodes, wires, lookahead) = (take_first(&mut nodes, own_nodes), &*self.wires, self.lookahead);
            let view = View { nodes, wires, lookahead, window, part };
            views.push(Mutex::new(Some(view)));
        }
        let plan = Plan {
            from: self.turns,
            stop,
            windows: self.left,
            division,
            lookaheads: &self.lookaheads,
            stopped: &self.stop,
            clock: &self.clock,
            abroad: self.abroad.as_deref(),
        };
        let stretch = Mutex::new(Stretch::from(self.turns));
        self.pool.run(views.len(), &|index| {
            let view = views[index].lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(done) = view.and_then(|view| plan.follow(index, view))
                && index == 0
            {
                *stretch.lock().unwrap_or_else(PoisonError::into_inner) = done;
            }
        });
        stretch.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first `count` of `rest`, which loses them.
fn take_first<'a, T>(rest: &mut &'a mut [T], count: u32) -> &'a mut [T] {
    let (first, others) = std::mem::take(rest).split_at_mut(count as usize);
    *rest = others;
    first
}
