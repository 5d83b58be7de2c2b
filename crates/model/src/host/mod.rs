//! A host: flows, their two ends, and the ports by which they reach the fabric.
//!
//! ```text
//!  start (planned, drawn, or notified) -> Outgoing --ready--> port: class whose turn it is -> wire
//!                                            ^  paced, blocked or done as its sender offers
//!  data arrives -> Incoming -> replies queue of the port, ahead of data of the same class
//!  acknowledgement or notification arrives -> Outgoing
//! ```

mod arrive;
mod credit;
mod delays;
mod flows;
mod held;
mod nic;
mod paths;
mod pull;
mod reorder;
mod starts;
mod storm;
mod trimmed;
mod turned;
mod watch;

pub use flows::FlowEnd;
pub(crate) use starts::{DRAWN, Starts};
pub use turned::Travel;

use crate::account::Ledger;
use crate::due::Due;
use crate::network::Network;
use crate::node::OnWire;
use crate::switch::PauseEvent;
use crate::trace::Tracer;
use check::ReorderDensity;
use delays::Delays;
use engine::Window;
use fabric::NodeId;
use fabric::routing::mix32;
use flows::{Incoming, Outgoing};
use held::HostHolds;
use nic::Port;
use protocols::bounce_reaction::Returns;
use protocols::endpoint::Reply;
use protocols::frame::Frame;
use protocols::transport::SenderState;
use pull::Pulls;
use record::trace::TraceEvent;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::Arc;
use units::Time;
use units::random::{Stream, purpose};

/// What a host does at a time of its own, beside departures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A planned flow starts.
    Start(u32),
    /// The next flow of a source of arrivals starts.
    Arrival(u32),
    /// A sender's timer: slot and generation.
    Sender(u32, u32),
    /// A receiver's timer: slot.
    Receiver(u32),
    /// Some flow's turn to ask for more: port.
    Pull(u16),
    /// A link fails or comes back: port, and whether it fails.
    Change(u16, bool),
    /// All ports repeat their credits.
    Regrant,
    /// A flow that is held may send, or is held no more.
    Held,
    /// The pause-storm fault: the network card tells its switch to stop once more.
    Storm,
}

/// One host of the fabric.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) node: NodeId,
    /// Its host index.
    index: u32,
    network: Arc<Network>,
    salt: u32,
    pub(crate) ports: Vec<Port>,
    due: Due,
    timers: BinaryHeap<Reverse<(Time, u64, Event)>>,
    /// Orders events of one instant by their creation.
    created: u64,
    outgoing: Vec<Outgoing>,
    free: Vec<u32>,
    /// Slot of each own flow that is under way.
    by_flow: FxHashMap<u32, u32>,
    incoming: Vec<Incoming>,
    /// Slot of each flow that arrives, by source and flow.
    by_source: FxHashMap<(u32, u32), u32>,
    /// Flows that are complete, by source and flow, and when they became so.
    completed: FxHashMap<(u32, u32), Time>,
    /// When each of them is forgotten: time, source, flow.
    retired: VecDeque<(Time, u32, u32)>,
    free_incoming: Vec<u32>,
    /// Where senders choose paths: numbers that lead by different ones, by row of the destination.
    known_paths: FxHashMap<u32, Box<[u32]>>,
    /// Where receivers ask for more: who does so when, by port.
    pulls: Vec<Pulls>,
    starts: Starts,
    /// Senders whose connection a flow that starts later goes on with, by that flow.
    sessions: FxHashMap<u32, SenderState>,
    /// Instants with arrivals so far.
    instants: u32,
    random: Stream,
    replies: Vec<Reply>,
    pub(crate) ledger: Ledger,
    pub(crate) pause_events: Vec<PauseEvent>,
    /// Flows that ended here since they were last collected.
    pub(crate) ends: Vec<FlowEnd>,
    pub(crate) flows_started: u64,
    pub(crate) flows_completed: u64,
    /// Payload that arrived for the first time, by traffic entry, since the start.
    pub(crate) goodput_bytes: Vec<u64>,
    /// One-way delay of data frames in ps, from their making to their arrival, since the last reset.
    pub(crate) delays: Delays,
    /// How frames that arrived since the last reset had travelled, where switches turn frames around.
    pub(crate) travel: Option<Box<Travel>>,
    /// Flows that it was told to hold.
    pub(crate) holds: Option<Box<HostHolds>>,
    /// What came back of own flows, by flow, where senders slow down for it.
    returns: BTreeMap<u32, Returns>,
    /// Takes notes, where the host is watched.
    pub(crate) tracer: Option<Box<Tracer>>,
    /// Data frames since the last reset of flows that were complete, whose order is judged no more; and frames before it
    /// whose order was not judged yet.
    pub(crate) order_late: u64,
    /// See `order_late`.
    pub(crate) order_carried: u64,
    /// How far frames came out of order since the last reset, where it is measured.
    reordering: Option<Box<ReorderDensity>>,
}

impl Host {
    pub fn new(node: NodeId, network: &Arc<Network>, starts: Starts) -> Self {
        let index = network.fabric.host_index(node).expect("a host");
        let ports: Vec<Port> = network.fabric.ports(node).iter().map(|peer| Port::new(network, peer)).collect();
        let mut host = Host {
            node,
            index,
            salt: network.salt(node),
            due: Due::new(ports.len()),
            ports,
            timers: BinaryHeap::new(),
            created: 0,
            outgoing: Vec::new(),
            free: Vec::new(),
            by_flow: FxHashMap::default(),
            incoming: Vec::new(),
            by_source: FxHashMap::default(),
            completed: FxHashMap::default(),
            retired: VecDeque::new(),
            free_incoming: Vec::new(),
            known_paths: FxHashMap::default(),
            pulls: pull::queues(network, node),
            starts,
            sessions: FxHashMap::default(),
            instants: 0,
            random: Stream::new(network.seed, u64::from(node.0), purpose("host")),
            replies: Vec::new(),
            ledger: Ledger::default(),
            pause_events: Vec::new(),
            ends: Vec::new(),
            flows_started: 0,
            flows_completed: 0,
            goodput_bytes: vec![0; network.traffic_entries],
            delays: Delays::new(),
            travel: network.turns().then(Box::default),
            holds: None,
            returns: BTreeMap::new(),
            tracer: Tracer::new(network, node),
            reordering: reorder::density(network),
            order_late: 0,
            order_carried: 0,
            network: Arc::clone(network),
        };
        host.schedule_first_starts();
        if let Some(storm) = network.host.pause_storm.filter(|storm| storm.node == node) {
            host.schedule(storm.at, Event::Storm);
        }
        if let Some(credit) = network.switch.flow_control.credit() {
            host.schedule(credit.regrant, Event::Regrant);
        }
        host
    }

    /// Lets port `port` fail or come back at `at`.
    pub fn schedule_change(&mut self, at: Time, port: u16, fails: bool) {
        self.ports[usize::from(port)].link.fragile = true;
        self.schedule(at, Event::Change(port, fails));
    }

    fn schedule(&mut self, at: Time, event: Event) {
        if at < Time::MAX {
            self.timers.push(Reverse((at, self.created, event)));
            self.created += 1;
        }
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.timers.peek().map_or(Time::MAX, |Reverse((at, ..))| *at)
    }

    /// Asks the processor for what the next run will touch.
    pub fn approach(&self, turns: usize) {
        if turns == 2 {
            engine::prefetch(self.ports.as_slice());
            self.due.approach();
            engine::prefetch(&self.outgoing[..self.outgoing.len().min(2)]);
            engine::prefetch(&self.incoming[..self.incoming.len().min(2)]);
        } else {
            self.ports.iter().for_each(Port::approach);
            self.outgoing.iter().take(2).for_each(Outgoing::approach);
        }
    }

    /// Departures, then arrivals, then timers, at each instant before the window's end.
    pub fn run(&mut self, window: &mut Window<'_, OnWire>) -> Time {
        loop {
            let due = self.due.earliest();
            let arrival = window.next_arrival();
            let event = self.next_event();
            if due.min(arrival).min(event) >= window.end() {
                return due.min(event);
            }
            if due <= arrival && due <= event {
                let port = self.due.port();
                self.due.set(port, Time::MAX);
                self.serve(due, port, window);
            } else if arrival <= event {
                window.rotate_ties(mix32(self.instants));
                self.instants = self.instants.wrapping_add(1);
                while window.next_arrival() == arrival {
                    let (port, OnWire(frame)) = window.take();
                    self.arrive(port, frame, window);
                }
            } else if let Some(Reverse((now, _, event))) = self.timers.pop() {
                self.on_event(now, event, window);
            }
        }
    }

    fn on_event(&mut self, now: Time, event: Event, window: &mut Window<'_, OnWire>) {
        match event {
            Event::Start(flow) => self.start_planned(now, flow, window),
            Event::Arrival(source) => self.start_arrival(now, source, window),
            Event::Sender(slot, generation) => self.on_sender_timer(now, slot, generation, window),
            Event::Receiver(slot) => self.on_receiver_timer(now, slot, window),
            Event::Pull(port) => self.on_pull_turn(now, port, window),
            Event::Change(port, fails) => self.change(now, port, fails),
            Event::Regrant => self.regrant(now, window),
            Event::Held => self.serve_held(now, window),
            Event::Storm => self.storm(now, window),
        }
    }

    fn change(&mut self, now: Time, port: u16, fails: bool) {
        if let Some(tracer) = &mut self.tracer {
            tracer.note_port(now, if fails { TraceEvent::LinkDown { port } } else { TraceEvent::LinkUp { port } });
        }
        let link = &mut self.ports[usize::from(port)].link;
        if fails {
            link.fail(now);
            self.forget_credit(now, port);
        } else {
            link.repair();
            self.owe_credit(port);
            self.due.set(port, now);
        }
    }

    /// Frames that wait in this host: replies, and what it relays.
    pub fn waiting_frames(&self) -> impl Iterator<Item = &Frame> {
        let held = self.holds.iter().flat_map(|holds| holds.held.frames());
        self.ports.iter().flat_map(Port::waiting_frames).chain(held)
    }

    /// Flows that have started here and not ended: with their start and what is known of them.
    pub fn unfinished(&self) -> impl Iterator<Item = FlowEnd> + '_ {
        self.outgoing.iter().filter(|flow| flow.active).map(|flow| flow.end(self.index))
    }

    /// For tests of the checks: how frames came until now was not judged.
    #[cfg(test)]
    pub(crate) fn forget_order(&mut self) {
        self.reordering = reorder::density(&self.network);
    }

    /// Forgets what was measured before now.
    pub fn reset(&mut self) {
        self.delays = Delays::new();
        self.travel = self.network.turns().then(Box::default);
        self.reordering = reorder::density(&self.network);
        self.order_late = 0;
        self.order_carried =
            self.incoming.iter().filter(|flow| flow.active).flat_map(|flow| &flow.reorder).map(|it| it.pending()).sum();
        for port in &mut self.ports {
            (port.sent_frames, port.sent_bytes) = (0, 0);
        }
    }
}
