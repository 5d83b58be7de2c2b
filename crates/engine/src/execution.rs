//! Engine: nodes, their wires, and the loop over windows.

use crate::bipartition::{MAX_LOOKAHEAD, SideSchedule, bipartite_schedule};
use crate::borders::Wires;
use crate::division::{LoadModel, Partitioning, parts_of};
use crate::error::EngineError;
use crate::mail::{PartMail, Slot, Window, Wire};
use crate::node::Node;
use crate::part::{Part, View};
use crate::pool::Pool;
use crate::ranks::{Membership, RemoteRanks, TransferCounts};
use crate::ring::Ring;
use crate::thread_policy::ThreadPolicy;
use crate::windows::{Clock, Plan, WindowSequence};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use units::Time;
use units::random::{Stream, purpose};

/// Least work per thread that justifies a new division: less work is too little to predict the load.
const LEAST_WORK: u64 = 1_000;

/// A wire from one node's egress port to another's ingress port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireSpec {
    /// The receiving node.
    pub node: u32,
    /// Ingress port of the receiving node.
    pub port: u16,
    /// A message sent at `t` arrives at `t + lookahead` or later; positive.
    pub lookahead: Time,
}

/// Counts of executed work, independent of the number of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Executed windows.
    pub windows: u64,
    /// Node runs over all windows.
    pub runs: u64,
}

/// Statistics of the division of work among threads; no result depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadStatistics {
    /// Maximum number of threads that ran nodes concurrently.
    pub threads: usize,
    /// Number of [`Statistics::runs`] in windows shared by several threads.
    pub shared_runs: u64,
    /// Number of new divisions by measured work.
    pub rebalances: u64,
}

/// Nodes, wires and the time up to which they have run.
pub struct Engine<N: Node> {
    nodes: Vec<N>,
    slots: Vec<Slot>,
    rings: Vec<Ring<N::Message>>,
    wires: Vec<Wire>,
    /// Lookahead of each node, as in the slot of the node; includes nodes of other threads and ranks.
    lookaheads: Vec<Time>,
    /// The lookahead of all nodes with a slot, if all of them have the same.
    lookahead: Option<Time>,
    first_rings: Vec<u32>,
    load_model: LoadModel,
    /// The current division.
    division: Partitioning<N::Message>,
    max_parts: usize,
    parts: Vec<(PartMail<N::Message>, Part)>,
    pool: Pool,
    thread_policy: ThreadPolicy,
    /// Windows until the next decision of the thread policy; windows and runs since the last decision.
    windows_left: u64,
    since_decision: (u64, u64),
    stop: Arc<AtomicBool>,
    clock: Arc<Clock>,
    schedule: SideSchedule,
    cut: bool,
    statistics: Statistics,
    sharing: ThreadStatistics,
    /// Exchange with other ranks; `None` if this process has all nodes.
    remote_ranks: Option<Box<RemoteRanks<N::Message>>>,
}

impl<N: Node> Engine<N> {
    /// Creates an engine over `nodes`, connected by `wires`.
    /// At most `threads` threads (at least one), and no more than the machine has cores, run contiguous ranges of
    /// nodes of about equal work (by [`Node::work`], else by number of wires), so neighbours should have adjacent
    /// indices. Fewer threads run if that is faster. Every node runs once at time zero to return its first event.
    ///
    /// # Errors
    /// If a wire ends at no node, has no delay, leads back to its node, or shares its ingress port with another.
    pub fn new(nodes: Vec<N>, wires: &(impl Wires + ?Sized), threads: usize) -> Result<Self, EngineError> {
        Engine::build(nodes, wires, threads, None)
    }

    /// Creates an engine like [`Engine::new`], for one of several ranks. `nodes` has the nodes of this rank, numbered
    /// from 0; `wires` has the wires of all nodes. Every rank must call [`Engine::run_until`] with the same times.
    ///
    /// # Errors
    /// As [`Engine::new`].
    ///
    /// # Panics
    /// If the number of nodes differs from the rank's share.
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
        // Nodes absent from `wires` have no wires.
        let wired_nodes = wires.nodes();
        let count = membership.as_ref().map_or(nodes.len(), |_| wired_nodes);
        let own = membership.as_ref().map_or(0..count, |membership| {
            let own = membership.borders.nodes_of(membership.ranks.rank());
            own.start as usize..own.end as usize
        });
        assert_eq!(nodes.len(), own.len(), "the nodes of the share");
        let mut ingress_ports = vec![0u32; own.len()];
        let mut wrong = None;
        for node in 0..wired_nodes {
            let mut port = 0;
            wires.for_each(node as u32, |wire| {
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
        let max_parts = threads.clamp(1, own.len().max(1));
        let mut remote_ranks =
            membership.map(|membership| Box::new(RemoteRanks::new(membership, first_rings.clone(), max_parts)));
        let lookahead_of = |index: usize| {
            let mut least = MAX_LOOKAHEAD;
            if index < wired_nodes {
                wires.for_each(index as u32, |wire| least = least.min(wire.lookahead));
            }
            least
        };
        // Nodes of other ranks follow this rank's nodes in the numbering, each once, and have no slot.
        let mut lookaheads: Vec<Time> = own.clone().map(lookahead_of).collect();
        let mut slot_of_remote = BTreeMap::new();
        let mut taken = vec![false; ring_count];
        let mut flat = Vec::new();
        let mut slots = Vec::with_capacity(own.len());
        let mut shared = None;
        for index in 0..wired_nodes.max(own.end) {
            let is_own = own.contains(&index);
            let first_wire = flat.len() as u32;
            let mut add_wire = |WireSpec { node, port, .. }: WireSpec| {
                if own.contains(&(node as usize)) {
                    let slot = node - own.start as u32;
                    let ring = first_rings[slot as usize] + u32::from(port);
                    if std::mem::replace(&mut taken[ring as usize], true) {
                        shared.get_or_insert(EngineError::SharedPort { node, port });
                    }
                    if is_own {
                        flat.push(Wire::new(ring, slot, port));
                    }
                } else if let Some(remote_ranks) = remote_ranks.as_mut().filter(|_| is_own) {
                    let slot = *slot_of_remote.entry(node).or_insert_with(|| {
                        let lookahead = lookahead_of(node as usize);
                        remote_ranks.register(node, lookahead);
                        lookaheads.push(lookahead);
                        lookaheads.len() as u32 - 1
                    });
                    flat.push(Wire::to_remote_rank(slot, port));
                }
            };
            if index < wired_nodes {
                wires.for_each(index as u32, &mut add_wire);
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
                    in_pool: true,
                    active: false,
                    ports: ingress_ports[slot] as u16,
                    nonempty_ports: 0,
                });
            }
        }
        if let Some(mistake) = shared {
            return Err(mistake);
        }
        // Ranks do not use alternate windows, because they synchronise once per lookahead of the cut wires, which may
        // be longer.
        let schedule =
            if remote_ranks.is_none() { bipartite_schedule(&mut slots, &flat) } else { SideSchedule::ONE_SIDE };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut engine = Engine {
            load_model: LoadModel::new(&slots, &flat),
            division: Partitioning::new(vec![0, nodes.len() as u32], &first_rings),
            max_parts,
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
            thread_policy: ThreadPolicy::measured(max_parts, cores),
            windows_left: 0,
            since_decision: (0, 0),
            stop: Arc::default(),
            clock: Arc::default(),
            schedule,
            cut: false,
            statistics: Statistics::default(),
            sharing: ThreadStatistics { threads: 1, ..ThreadStatistics::default() },
            remote_ranks,
        };
        engine.divide(1);
        for (node, slot) in (0..).zip(&engine.slots) {
            engine.parts[0].0.pools[slot.pool()].push(node);
        }
        Ok(engine)
    }

    /// Every few windows, chooses the division and the number of threads at random, up to `max_parts` even on fewer
    /// cores. Tests use this to show that results depend on neither.
    pub fn randomise_threads(&mut self, seed: u64) {
        self.thread_policy = ThreadPolicy::Random(Stream::new(seed, 0, purpose("threads")), self.max_parts);
        self.windows_left = 0;
    }

    /// Makes [`Engine::run_until`] return soon after `stop` is set.
    pub fn set_stop_flag(&mut self, stop: Arc<AtomicBool>) {
        self.stop = stop;
    }

    /// Returns the clock that other threads can read while the engine runs.
    pub fn clock(&self) -> &Arc<Clock> {
        &self.clock
    }

    /// Returns the time before which all events have been executed; after a stop, see [`Engine::run_until`].
    pub fn now(&self) -> Time {
        if self.cut { self.schedule.latest() } else { self.schedule.now() }
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns node `index`, in its state at [`Engine::now`].
    pub fn node(&self, index: usize) -> &N {
        &self.nodes[index]
    }

    /// Returns node `index` for changes between two calls of [`Engine::run_until`]. The node runs again in the next
    /// window, so a change may create an event at or after [`Engine::now`].
    pub fn node_mut(&mut self, index: usize) -> &mut N {
        let slot = &mut self.slots[index];
        slot.next = slot.next.min(self.schedule.now());
        if !slot.in_pool {
            slot.in_pool = true;
            // The reset invalidates the node's entry among the timers, because the node is now in its pool.
            slot.timer = Time::MAX;
            let part = usize::from(self.division.part_of[index]);
            self.parts[part].0.pools[slot.pool()].push(index as u32 - self.division.nodes[part]);
        }
        &mut self.nodes[index]
    }

    /// Returns all nodes in order.
    pub fn nodes(&self) -> impl Iterator<Item = &N> {
        self.nodes.iter()
    }

    /// Returns the nodes that ran since the last call, each once, in unspecified order; the set is independent of the
    /// number of threads. A display of a large network needs to update only these nodes.
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

    /// Returns the messages in flight to node `index`, by ingress port, oldest first.
    pub fn in_flight(&self, index: usize) -> impl Iterator<Item = &N::Message> {
        let slot = &self.slots[index];
        let first = slot.first_ring as usize;
        slot.list_nonempty_ports().into_iter().flat_map(move |port| self.rings[first + port].iter())
    }

    /// Returns the time of the earliest event of any node; [`Time::MAX`] if there is none.
    pub fn next_event(&self) -> Time {
        self.slots.iter().map(|slot| slot.next).min().unwrap_or(Time::MAX)
    }

    /// Returns the counts of executed work.
    pub fn statistics(&self) -> Statistics {
        let runs = self.parts.iter().map(|(_, part)| part.runs).sum::<u64>();
        Statistics { runs: self.statistics.runs + runs, ..self.statistics }
    }

    /// Sets the weight of each node to its work since the last call. Runs on several threads do so automatically.
    pub fn rebalance(&mut self) {
        let recent_work = self.load_model.work_since_last(self.nodes.iter().map(Node::work));
        self.load_model.weights = recent_work;
    }

    /// Returns the partition of each node in a division into `parts`.
    pub fn part_of(&self, parts: usize) -> Vec<u16> {
        parts_of(&self.load_model.firsts(parts))
    }

    /// Returns the counts of data sent to other ranks.
    pub fn transfer_counts(&self) -> TransferCounts {
        self.remote_ranks.as_ref().map_or(TransferCounts::default(), |remote_ranks| remote_ranks.transfer_counts())
    }

    /// Returns statistics of the division among threads.
    pub fn sharing(&self) -> ThreadStatistics {
        self.sharing
    }

    /// Executes every event before `stop`. Returns false if the flag of [`Engine::set_stop_flag`] was set.
    ///
    /// A stop takes effect when every thread has finished its current node. Some nodes may then be ahead of others by
    /// less than two windows, and [`Engine::now`] is the end of the window, an upper bound for all nodes. No message is
    /// lost or duplicated, so counts over all nodes and wires are consistent, but the engine cannot continue. If one
    /// rank is stopped, all stop.
    ///
    /// # Panics
    /// If a node panics, on any thread.
    pub fn run_until(&mut self, stop: Time) -> bool {
        while self.now() < stop {
            // With several ranks, a stop must take effect on all of them, so it is sent with the next batches.
            if self.cut || (self.remote_ranks.is_none() && self.stop.load(Ordering::Relaxed)) {
                // The last window may be complete, but one side of the bipartition may be ahead of the other: after a
                // cut, `now` returns the later time.
                self.cut = true;
                self.clock.set(self.now());
                return false;
            }
            if self.windows_left == 0 {
                self.decide_division();
            }
            let runs = self.statistics().runs;
            let alone = self.parts.len() == 1 && self.remote_ranks.is_none();
            let sequence = if alone { self.run_alone(stop) } else { self.run_together(stop) };
            let runs = self.statistics().runs - runs;
            (self.schedule, self.cut) = (sequence.schedule, sequence.cut);
            self.clock.set(self.now());
            self.statistics.windows += sequence.windows;
            self.windows_left -= sequence.windows;
            self.since_decision = (self.since_decision.0 + sequence.windows, self.since_decision.1 + runs);
            if self.parts.len() > 1 {
                self.sharing.shared_runs += runs;
            }
        }
        self.remove_outdated_timers();
        !self.cut
    }

    /// Removes outdated timers of all partitions.
    #[cold]
    #[inline(never)]
    fn remove_outdated_timers(&mut self) {
        for (index, (_, part)) in self.parts.iter_mut().enumerate() {
            let nodes = &self.division.nodes;
            part.remove_outdated_timers(&self.slots[nodes[index] as usize..nodes[index + 1] as usize]);
        }
    }

    /// Selects the number of threads and the division of the next windows.
    #[cold]
    fn decide_division(&mut self) {
        let (windows, runs) = std::mem::take(&mut self.since_decision);
        if windows > 0 {
            self.thread_policy.report(windows, runs);
        }
        let (threads, windows) = self.thread_policy.next_threads();
        self.windows_left = windows;
        if threads > 1 && self.measure_work(threads) || threads != self.division.parts() {
            self.divide(threads);
        }
    }

    /// Measures the recent work of the nodes, if a measurement is due. Returns whether a new division among `threads`
    /// threads is needed.
    fn measure_work(&mut self, threads: usize) -> bool {
        let (model, nodes) = (&mut self.load_model, &self.nodes);
        let Some(recent_work) =
            self.thread_policy.measure_work(nodes.len(), || model.work_since_last(nodes.iter().map(Node::work)))
        else {
            return false;
        };
        if recent_work.iter().sum::<u64>() < LEAST_WORK * threads as u64 {
            return false;
        }
        let in_force =
            if self.division.parts() == threads { self.division.nodes.clone() } else { model.firsts(threads) };
        let better = model.adopt_if_better(recent_work, &in_force);
        self.sharing.rebalances += u64::from(better);
        better
    }

    /// Divides the nodes among this many threads.
    fn divide(&mut self, threads: usize) {
        // Nodes are temporarily numbered by their index in the whole network, because the partitions change.
        let (mut pool, mut active, mut timers) = (Vec::new(), Vec::new(), Vec::new());
        for ((mail, part), first) in self.parts.drain(..).zip(&self.division.nodes) {
            pool.extend(mail.pools.into_iter().flatten().map(|slot| first + slot));
            active.extend(part.active.into_iter().map(|slot| first + slot));
            timers.extend(part.timers.into_entries().map(|(at, slot)| (at, first + slot)));
            self.statistics.runs += part.runs;
        }
        let remote_ranks = self.remote_ranks.as_deref();
        remote_ranks.into_iter().for_each(RemoteRanks::prepare_division);
        let mut new = Partitioning::new(self.load_model.firsts(threads), &self.first_rings);
        // Other ranks are numbered as partitions after the partitions of this rank.
        let parts = new.parts() as u16;
        new.part_of.extend(
            remote_ranks.iter().flat_map(|remote_ranks| remote_ranks.ranks_of_nodes()).map(|it| parts + it as u16),
        );
        let other_ranks = remote_ranks.map_or(0, RemoteRanks::count);
        self.parts = (0..new.parts()).map(|_| (PartMail::new(new.parts() + other_ranks), Part::default())).collect();
        let part_and_slot = |node: u32| {
            let part = usize::from(new.part_of[node as usize]);
            (part, node - new.nodes[part])
        };
        for node in pool {
            let ((part, slot), pool) = (part_and_slot(node), self.slots[node as usize].pool());
            self.parts[part].0.pools[pool].push(slot);
        }
        for (part, slot) in active.into_iter().map(part_and_slot) {
            self.parts[part].1.active.push(slot);
        }
        for (at, node) in timers {
            if self.slots[node as usize].timer == at {
                let (part, slot) = part_and_slot(node);
                self.parts[part].1.timers.push(at, slot);
            }
        }
        self.sharing.threads = self.sharing.threads.max(new.parts());
        self.division = new;
    }

    fn run_alone(&mut self, stop: Time) -> WindowSequence {
        let division = &self.division;
        let (mail, part) = &mut self.parts[0];
        let window = Window::new((&mut self.slots, &mut self.rings), (0, 0), mail, &division.part_of);
        let (wires, lookahead) = (&*self.wires, self.lookahead);
        let mut view = View { nodes: &mut self.nodes, wires, lookahead, window, part };
        let mut sequence = WindowSequence::from(self.schedule);
        while sequence.windows < self.windows_left && !sequence.cut {
            let end = sequence.schedule.skip_idle(&view.next_events(&sequence.schedule), stop);
            if sequence.schedule.now() >= stop {
                break;
            }
            sequence.cut = !view.run(&sequence.schedule, end, &self.stop);
            sequence.windows += 1;
            sequence.schedule.advance(end);
            self.clock.set(sequence.schedule.now());
        }
        sequence
    }

    fn run_together(&mut self, stop: Time) -> WindowSequence {
        let division = &self.division;
        division.exchange.begin();
        let mut views = Vec::with_capacity(self.parts.len());
        let (mut nodes, mut slots, mut rings) = (&mut *self.nodes, &mut *self.slots, &mut *self.rings);
        for (index, (mail, part)) in self.parts.iter_mut().enumerate() {
            let (first_slot, first_ring) = (division.nodes[index], division.rings[index]);
            let (own_nodes, own_rings) =
                (division.nodes[index + 1] - first_slot, division.rings[index + 1] - first_ring);
            let own = (take_first(&mut slots, own_nodes), take_first(&mut rings, own_rings));
            let window = Window::new(own, (first_slot, first_ring), mail, &division.part_of);
            let (nodes, wires, lookahead) = (take_first(&mut nodes, own_nodes), &*self.wires, self.lookahead);
            let view = View { nodes, wires, lookahead, window, part };
            views.push(Mutex::new(Some(view)));
        }
        let plan = Plan {
            from: self.schedule,
            stop,
            windows: self.windows_left,
            division,
            lookaheads: &self.lookaheads,
            stopped: &self.stop,
            clock: &self.clock,
            remote_ranks: self.remote_ranks.as_deref(),
        };
        let sequence = Mutex::new(WindowSequence::from(self.schedule));
        self.pool.run(views.len(), &|index| {
            let view = views[index].lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(done) = view.and_then(|view| plan.run_part(index, view))
                && index == 0
            {
                *sequence.lock().unwrap_or_else(PoisonError::into_inner) = done;
            }
        });
        sequence.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Splits the first `count` elements off `rest`.
fn take_first<'a, T>(rest: &mut &'a mut [T], count: u32) -> &'a mut [T] {
    let (first, others) = std::mem::take(rest).split_at_mut(count as usize);
    *rest = others;
    first
}
