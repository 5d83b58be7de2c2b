//! A host: senders and receivers of flows, and the ports to the fabric.
//!
//! ```text
//!  start (planned, drawn, or after others) -> Outgoing --ready--> port: class scheduler -> wire
//!                                                ^  Offer of its sender: paced, blocked or done
//!  data arrives -> Incoming -> reply queue of the port, ahead of data of its class
//!  acknowledgement or notification arrives -> Outgoing
//! ```

mod agent_control;
mod agents;
mod arrive;
mod bounced;
mod control;
mod credit;
mod delays;
mod flow_schedule;
mod flows;
mod held;
mod hop_counts;
mod jitter;
mod measured;
mod messages;
mod nic;
mod paths;
mod pause;
mod pull;
mod pull_slots;
mod reorder;
mod send;
mod serve;
mod skipped_poll;
mod start;
mod storm;
mod timers;
mod trimmed;
mod watch;

pub(crate) use agents::{AgentControl, AgentFlows};
pub(crate) use flow_schedule::FlowSchedule;
pub use flows::{Delivery, FlowEnd, FlowReport, Progress};
pub use hop_counts::HopCounts;

use crate::clock::NodeClock;
use crate::egress::{Cell, Egress};
use crate::network::Network;
use crate::node_stats::NodeStats;
use crate::on_wire::OnWire;
use engine::Window;
use fabric::NodeId;
use fabric::routing::mix32;
use flows::{Outgoing, Receivers, Senders};
use held::HostHolds;
use measured::Measured;
use nic::PortQueues;
use protocols::endpoint::Reply;
use protocols::frame::Frame;
use protocols::telemetry::Hop;
use stats::trace::TraceEvent;
use std::collections::BTreeMap;
use std::sync::Arc;
use timers::{Event, Timers};
use units::Time;
use units::random::{Stream, purpose};

/// Bits of [`crate::egress::Cell::ingress`] at a host: extra steps for frames that arrive at a port.
mod ingress {
    /// The link can lose frames.
    pub const LOSSY_LINK: u8 = 1;
    /// The link uses credit-based flow control.
    pub const CREDITED: u8 = 2;
}

/// Constants of a host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostIdentity {
    pub node: NodeId,
    /// Index of the host among the hosts.
    index: u32,
    salt: u32,
    /// Clock of the host; `None` if the clock is exact.
    clock: Option<NodeClock>,
}

/// Buffers that are reused, to avoid allocations.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    replies: Vec<Reply>,
    /// Telemetry of the frame that is being handled.
    hops: Vec<Hop>,
    /// Reports of flows that ended since the last collection.
    pub completed_flows: Vec<FlowReport>,
}

/// One host of the fabric.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) identity: HostIdentity,
    network: Arc<Network>,
    pub(crate) egress: Egress,
    /// Queues by port.
    port_queues: Vec<PortQueues>,
    timers: Timers,
    senders: Senders,
    receivers: Receivers,
    flow_schedule: FlowSchedule,
    /// Instants with at least one arrival so far.
    instants: u32,
    random: Stream,
    pub(crate) scratch: Scratch,
    pub(crate) stats: NodeStats,
    pub(crate) measured: Measured,
    /// Held flows.
    pub(crate) flow_blocks: Option<Box<HostHolds>>,
}

impl Host {
    pub fn new(node: NodeId, network: &Arc<Network>, flow_schedule: FlowSchedule) -> Self {
        let index = network.fabric.host_index(node).expect("a host");
        let mut egress = Egress::new(network, node, network.host.obeys_pause, |_| false);
        for (cell, rules) in egress.cells.iter_mut().zip(&egress.states) {
            cell.ingress = if rules.link.can_lose { ingress::LOSSY_LINK } else { 0 }
                | if rules.credit.is_some() { ingress::CREDITED } else { 0 };
        }
        let port_queues = (0..egress.len()).map(|_| PortQueues::new(network.classes.len())).collect();
        let mut host = Host {
            identity: HostIdentity { node, index, salt: network.salt(node), clock: network.clock(index).copied() },
            egress,
            port_queues,
            timers: Timers::default(),
            senders: Senders::default(),
            receivers: Receivers { pull_queues: pull::queues(network, node), ..Receivers::default() },
            flow_schedule,
            instants: 0,
            random: Stream::new(network.seed, u64::from(node.0), purpose("host")),
            scratch: Scratch::default(),
            stats: NodeStats::new(network, node),
            measured: Measured::new(network),
            flow_blocks: None,
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

    /// Returns whether the host `node` can be created at its first arrival, provided that it starts no flow: it must
    /// not be traced and must have no earlier event.
    pub fn can_be_lazy_allocated(node: NodeId, network: &Network) -> bool {
        let storms = network.host.pause_storm.is_some_and(|storm| storm.node == node);
        let traced = network.measurement.selection.as_ref().is_some_and(|selection| selection.traces(node));
        !storms && !traced && network.switch.flow_control.credit().is_none()
    }

    /// Schedules a failure or repair of the link of `port` at `at`.
    pub fn schedule_change(&mut self, at: Time, port: u16, fails: bool) {
        self.egress.state_mut(port).link.can_lose = true;
        self.egress.cell_mut(port).ingress |= ingress::LOSSY_LINK;
        self.schedule(at, Event::LinkChange(port, fails));
    }

    fn schedule(&mut self, at: Time, event: Event) {
        self.timers.schedule(at, event);
    }

    /// Prefetches the memory that the next call of [`Host::run`] uses. `distance` is 2 or 1, see
    /// [`engine::Node::prefetch`].
    pub fn prefetch(&self, distance: usize) {
        if distance == 2 {
            engine::prefetch::<[Cell]>(&self.egress.cells);
            self.egress.due.prefetch();
            engine::prefetch(&self.senders.flows[..self.senders.flows.len().min(2)]);
            engine::prefetch(&self.receivers.flows[..self.receivers.flows.len().min(2)]);
        } else {
            self.port_queues.iter().for_each(PortQueues::prefetch);
            self.senders.flows.iter().take(2).for_each(Outgoing::prefetch);
        }
    }

    /// Handles departures, arrivals and timers of each instant in this order, up to the window's end. Returns the time
    /// of the next departure or timer.
    pub fn run(&mut self, window: &mut Window<'_, OnWire>) -> Time {
        loop {
            let due = self.egress.due.earliest();
            let arrival = window.next_arrival();
            let event = self.timers.next();
            if due.min(arrival).min(event) >= window.end() {
                return due.min(event);
            }
            if due <= arrival && due <= event {
                self.resume_poll(due);
                let port = self.egress.due.earliest_port();
                self.serve(due, port, window);
            } else if arrival <= event {
                window.rotate_ties(|| mix32(self.instants));
                self.instants = self.instants.wrapping_add(1);
                while window.next_arrival() == arrival {
                    self.resume_poll(arrival);
                    window.take_in_place(|port, OnWire(frame), window| self.arrive(port, frame, window));
                }
            } else if let Some((now, event)) = self.timers.pop() {
                self.resume_poll(now);
                self.on_event(now, event, window);
            }
        }
    }

    // Not inlined, because every frame would otherwise save and restore the registers that this function uses.
    #[inline(never)]
    fn on_event(&mut self, now: Time, event: Event, window: &mut Window<'_, OnWire>) {
        match event {
            Event::Start(flow) => self.start_planned(now, flow, window),
            Event::Joined(join) => self.joined(now, join),
            Event::Arrival(source) => self.start_arrival(now, source, window),
            Event::Sender(slot, generation) => self.on_sender_timer(now, slot, generation, window),
            Event::Receiver(slot) => self.on_receiver_timer(now, slot, window),
            Event::Pull(port) => self.on_pull_slot(now, port, window),
            Event::LinkChange(port, fails) => self.change(now, port, fails, window),
            Event::Regrant => self.regrant(now, window),
            Event::Held => self.serve_held(now, window),
            Event::Storm => self.storm(now, window),
        }
    }

    fn change(&mut self, now: Time, port: u16, fails: bool, window: &mut Window<'_, OnWire>) {
        if let Some(tracer) = &mut self.stats.tracer {
            tracer.note_port(now, if fails { TraceEvent::LinkDown { port } } else { TraceEvent::LinkUp { port } });
        }
        if fails {
            self.egress.fail(now, port, &mut self.stats);
        } else {
            self.egress.repair(now, port);
            if self.egress.queue_all_grants(port) {
                self.send_pending_grants(now, port, window);
            }
            self.egress.due.set(port, now);
        }
    }

    /// Returns the frames that wait in this host: replies, relayed and held frames.
    pub fn waiting_frames(&self) -> impl Iterator<Item = &Frame> {
        let held = self.flow_blocks.iter().flat_map(|holds| holds.held.frames());
        self.port_queues.iter().flat_map(PortQueues::waiting_frames).chain(held)
    }

    /// Returns the delivery of the flow `key`, if this host has received all of its bytes.
    pub fn delivery(&self, key: (u32, u32)) -> Option<Delivery> {
        self.receivers.delivery(key)
    }

    /// Returns whether the sender of `flow` at this host is active.
    pub fn sends(&self, flow: u32) -> bool {
        let slot_of = |flow: u32| self.senders.by_flow.get(&flow);
        let slot = slot_of(flow).or_else(|| slot_of(self.network.traffic.connections.of(flow)));
        slot.is_some_and(|&slot| {
            let outgoing = &self.senders.flows[slot as usize];
            match &outgoing.outbox {
                None => outgoing.flow == flow,
                Some(outbox) => outbox.messages(&self.network).any(|(message, _)| message == flow),
            }
        })
    }

    /// See [`Host::expired_deliveries`].
    pub fn has_expired_deliveries(&self) -> bool {
        !self.receivers.expired_deliveries.is_empty()
    }

    /// Returns the deliveries of complete flows whose receiver state has expired: no duplicates are expected any more.
    pub fn expired_deliveries(&mut self) -> &mut BTreeMap<(u32, u32), Delivery> {
        &mut self.receivers.expired_deliveries
    }

    /// Returns the records of flows that this host has started and that have not ended.
    pub fn unfinished(&self) -> impl Iterator<Item = FlowEnd> + '_ {
        let active = self.senders.flows.iter().filter(|flow| flow.active);
        let unfinished = active.flat_map(|flow| {
            let alone = flow.outbox.is_none().then(|| self.end_of(flow));
            alone.into_iter().chain(flow.open_messages(&self.network))
        });
        unfinished.chain(self.waiting_messages())
    }

    /// Returns the progress of the flows; `None` while a flow of finite size is active or random arrivals are pending.
    pub fn progress(&self) -> Option<Progress> {
        let mut flows = self.senders.flows.iter().filter(|flow| flow.active);
        let draws = self.flow_schedule.arrivals.iter().any(|(_, next)| next.is_some());
        let is_finite = |flow: &Outgoing| flow.size_bytes != traffic::ENDLESS;
        let endless = flows.clone().any(|flow| !is_finite(flow));
        (!draws && !flows.any(is_finite)).then_some(Progress { finished: self.senders.finished, endless })
    }

    /// Discards the reordering density measured so far, for tests of the checks.
    #[cfg(test)]
    pub(crate) fn forget_order(&mut self) {
        self.measured.reordering = reorder::density(&self.network);
    }

    /// Restarts all measurements at `now`.
    pub fn reset(&mut self, now: Time) {
        let active = self.receivers.flows.iter().filter(|flow| flow.active);
        let carried = active.flat_map(|flow| &flow.reorder).map(|it| it.pending()).sum();
        self.measured.reset(&self.network, carried);
        self.egress.reset(now);
    }
}
