//! A switch: combined input and output queued, one shared buffer.
//!
//! ```text
//!  arrive: MAC control? -> TTL -> route -> idle port: onto the wire at once
//!                                   |
//!                                 admit (shared buffer, ingress account, XOFF) -> mark -> egress queue
//!          (with tags: rewritten after its route, held at the ingress by the old, queued by the new: tags.rs)
//!  depart: control frame first, else the class whose turn it is among those not paused
//!          -> leaves queue, buffer and account as its transmission starts (XON) -> wire
//! ```

mod admit;
mod arrive;
mod credit;
mod depart;
mod fail;
#[cfg(test)]
mod faults;
mod guard;
mod held;
mod load;
mod pause;
mod pin;
mod pipeline;
mod tags;
mod trim;
mod turn;
mod watch;
mod watch_guard;
mod watchdog;

use crate::account::Ledger;
use crate::due::Due;
use crate::link::Attachment;
use crate::network::Network;
use crate::node::OnWire;
use crate::parameters::{Buffer, FlowControl, MarkAt, Marking, Overload, QueueLimit, Scheduler, Threshold};
use crate::queue::Queue;
use crate::routes::Routes;
use crate::trace::Tracer;
use admit::Limit;
use engine::{Ring, Window};
use fabric::NodeId;
use fabric::routing::{PortSet, mix32};
use guard::Guarded;
use load::Loads;
use pipeline::Pipelines;
use protocols::cbfc::CreditPort;
use protocols::ecn::Marker;
use protocols::frame::Frame;
use protocols::pause::{IngressAccount, PauseState};
use protocols::scheduler::ClassScheduler;
use protocols::watchdog::Watchdog;
use std::collections::BTreeMap;
use std::sync::Arc;
use trim::Trimmer;
use units::Time;
use units::random::{Stream, purpose};

pub(crate) use held::Held;
pub(crate) use pause::PauseEvent;
use turn::Turner;

/// What every frame through an egress port touches: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Port {
    /// The wire is occupied until then.
    pub busy_until: Time,
    /// Picoseconds a byte, or 0 where only the [`Attachment`] knows exactly.
    per_byte_ps: u64,
    /// Preamble and gap: what the wire is busy with besides the frame.
    overhead: Time,
    /// Preamble and propagation: what a frame takes to arrive besides its own bytes.
    lead: Time,
    pub sent_frames: u64,
    pub sent_bytes: u64,
    /// Classes whose queue holds something.
    pub waiting: u8,
    /// Why the detail must be looked at: see [`alert`].
    pub alert: u8,
}

/// Bits of [`Port::alert`].
pub(crate) mod alert {
    /// A pause is in force or on its way into effect.
    pub const PAUSE: u8 = 1;
    /// MAC control frames wait.
    pub const CONTROL: u8 = 2;
    /// The link can lose frames.
    pub const FRAGILE: u8 = 4;
    /// Frames that come by this port carry tags, which the switch rewrites.
    pub const TAGGED: u8 = 8;
    /// The link is under credits.
    pub const CREDIT: u8 = 16;
    /// Frames that come by this port belong to flows that outputs guard.
    pub const GUARDED: u8 = 64;
    /// Frames that come by this port enter a pipeline of the switch.
    pub const PIPELINE: u8 = 32;
    /// A class is in a pause storm.
    pub const STORM: u8 = 128;
}

/// What only some frames through a port touch.
#[derive(Clone, Debug)]
pub(crate) struct Detail {
    pub link: Attachment,
    pub pause: PauseState,
    pub watchdog: Watchdog,
    /// On a link under credits.
    pub credit: Option<Box<CreditPort>>,
    turn: ClassScheduler,
    /// MAC control frames of our own, ahead of everything.
    control: Ring<Frame>,
}

impl Detail {
    /// MAC control frames that wait to be sent.
    pub fn control_waiting(&self) -> u64 {
        self.control.len() as u64
    }

    fn is_short(&self) -> bool {
        self.credit.as_ref().is_some_and(|credit| credit.short() != 0)
    }

    /// Since when `class` may not leave by this port at `now`, stopped or short of credits; `None` if it may.
    pub fn held_since(&self, now: Time, class: u8) -> Option<Time> {
        let short = self.credit.as_ref().and_then(|credit| credit.waits_since(class));
        let stopped = self.pause.stopped_since_at(now, class);
        stopped.into_iter().chain(short).min()
    }

    /// Time that the classes of this port together were held up to `now`.
    pub fn total_held(&self, now: Time) -> Time {
        self.pause.total_stopped(now) + self.credit.as_ref().map_or(Time::ZERO, |credit| credit.total_waited(now))
    }
}

/// One switch of the fabric.
#[derive(Debug)]
pub(crate) struct Switch {
    pub(crate) node: NodeId,
    network: Arc<Network>,
    salt: u32,
    pub(crate) ports: Vec<Port>,
    pub(crate) details: Vec<Detail>,
    routes: Routes,
    /// Whether ports serve the highest class first and nothing is marked as it leaves.
    plain: bool,
    /// Lossless classes, a bit each.
    lossless: u8,
    /// Those of them whose accounts stop neighbours, and those under credits.
    stopping: u8,
    credited: u8,
    /// The limit of each queue, where there is no shared buffer.
    queue_limit: Option<QueueLimit>,
    egress_limit: Limit,
    xoff_limit: Limit,
    /// Classes whose frames turn around, take detours or go back as headers from a watermark on, a bit each.
    turning: u8,
    /// From a queue to the bounce queue of its pair in `queues`; 0 where there are no pairs.
    pub(crate) pairs: usize,
    pub(crate) turner: Option<Box<Turner>>,
    /// Cuts what finds no room.
    pub(crate) trimmer: Option<Box<Trimmer>>,
    /// Where outputs decide whom to stop.
    pub(crate) guarded: Option<Box<Guarded>>,
    /// Whether somebody must be asked when a frame leaves the buffer: an account is paused, or outputs are guarded.
    attends: bool,
    /// The next thing that happens by itself: a renewal, a change of a link, the end of a hold.
    wakes_at: Time,
    /// Its pipelines, where they are modelled.
    pub(crate) inside: Option<Box<Pipelines>>,
    /// By port, then slot of the class; after all of them the bounce queues in the same order.
    pub(crate) queues: Vec<Queue>,
    /// The most frames that each queue ever held, where a limit counts frames.
    pub(crate) most_frames: Option<Box<[u32]>>,
    /// By ingress port, then slot of the class (one slot for 802.3x).
    pub(crate) accounts: Vec<IngressAccount>,
    /// Room of each account beyond XOFF.
    headroom: Vec<u64>,
    /// The slot of each class.
    class_slot: [u8; 8],
    slots: usize,
    account_slots: usize,
    /// When ports that have something to send next become free.
    due: Due,
    /// Accounts that are paused and when each pause must be renewed; under credits, when they are all granted again;
    /// marked by [`watchdog::LOOK`], ports at which a watchdog looks.
    renewals: Vec<(Time, u32)>,
    /// Marks what joins a queue, and what leaves one.
    marker: Option<Marker>,
    leaving_marker: Option<Marker>,
    /// Shared buffer without headroom, and what of it is used.
    pub(crate) shared_bytes: u64,
    pub(crate) shared_used: u64,
    pub(crate) buffer_used: u64,
    pub(crate) buffer_max: u64,
    /// Instants with arrivals so far.
    instants: u32,
    random: Stream,
    /// Coming failures and repairs: time, port, whether it fails; the earliest last.
    changes: Vec<(Time, u16, bool)>,
    dead: PortSet,
    /// Whether every frame without an explicit path goes by the ordinary routes: no port is dead, and none
    /// pinned.
    regular: bool,
    /// Where frames go whose every regular port is dead, by destination host.
    detours: BTreeMap<u32, Vec<u16>>,
    pub(crate) ledger: Ledger,
    pub(crate) pause_events: Vec<PauseEvent>,
    /// Takes notes, where the switch is watched.
    pub(crate) tracer: Option<Box<Tracer>>,
    /// Where utilisation is measured.
    loads: Option<Box<Loads>>,
}

impl Switch {
    pub fn new(node: NodeId, network: &Arc<Network>, changes: Vec<(Time, u16, bool)>) -> Self {
        let parameters = &network.switch;
        let control = network.flow_control_of(node);
        let fabric = &network.fabric;
        let slots = network.classes.len();
        let account_slots = if matches!(control, FlowControl::Pause(_)) { 1 } else { slots };
        let turn = match parameters.scheduler {
            Scheduler::Strict => ClassScheduler::Strict,
            Scheduler::Wrr { weights } => ClassScheduler::wrr(weights),
            Scheduler::Drr { quantum_bytes } => ClassScheduler::drr(quantum_bytes),
        };
        let details: Vec<Detail> = fabric
            .ports(node)
            .iter()
            .enumerate()
            .map(|(port, peer)| {
                let fails = changes.iter().any(|change| change.1 as usize == port);
                let link = Attachment::new(fabric.link(peer.link), fails);
                let credit = network.credits(fabric.link(peer.link));
                Detail {
                    link,
                    pause: PauseState::default(),
                    watchdog: Watchdog::default(),
                    credit,
                    turn: turn.clone(),
                    control: Ring::new(),
                }
            })
            .collect();
        let ports: Vec<Port> = details
            .iter()
            .map(|detail| {
                let (per_byte_ps, overhead, lead) = detail.link.per_byte_ps();
                Port {
                    busy_until: Time::ZERO,
                    per_byte_ps,
                    overhead,
                    lead,
                    sent_frames: 0,
                    sent_bytes: 0,
                    waiting: 0,
                    alert: if detail.link.fragile { alert::FRAGILE } else { 0 }
                        | if network.tags.is_some() { alert::TAGGED } else { 0 }
                        | if detail.credit.is_some() { alert::CREDIT } else { 0 }
                        | if control.guard().is_some() { alert::GUARDED } else { 0 }
                        | if parameters.overload.inside().is_some() { alert::PIPELINE } else { 0 },
                }
            })
            .collect();
        let mut headroom = vec![0; ports.len() * account_slots];
        for (port, detail) in details.iter().enumerate() {
            for slot in 0..account_slots {
                headroom[port * account_slots + slot] = network.headroom(node, &detail.link, slot);
            }
        }
        let shared_bytes = match parameters.buffer {
            Buffer::Shared { bytes, .. } => bytes.saturating_sub(headroom.iter().sum()),
            Buffer::PerQueue { .. } => u64::MAX,
        };
        let (marker, leaving_marker) = match parameters.marking {
            Marking::None => (None, None),
            Marking::Ecn { k_min_bytes, k_max_bytes, p_max, at } => {
                let marker = Some(Marker::new(k_min_bytes, k_max_bytes, p_max));
                if at == MarkAt::Enqueue { (marker, None) } else { (None, marker) }
            }
        };
        let egress_limit = match parameters.buffer {
            Buffer::Shared { egress, .. } => Limit::new(egress),
            Buffer::PerQueue { .. } => Limit::NONE,
        };
        // What is under credits has its own room: nothing of it counts against the shared buffer.
        let none_shared = Limit::new(Threshold::Static { bytes: 0 });
        let xoff_limit = match *control {
            FlowControl::None | FlowControl::Florax(_) | FlowControl::Destination(_) | FlowControl::Simple(..) => {
                Limit::NONE
            }
            FlowControl::Pause(pause) | FlowControl::Pfc(pause) => Limit::new(pause.xoff),
            FlowControl::Credit(_) => none_shared,
        };
        let lossless = control.lossless();
        let regrant = control.credit().map(|credit| (credit.regrant, 0));
        let mut changes = changes;
        changes.sort_unstable_by(|a, b| b.cmp(a));
        let (turning, turner) = Turner::new(node, network);
        let trimmer = Trimmer::new(node, network);
        let turning = turning | trimmer.as_ref().map_or(0, |trimmer| trimmer.watched());
        let pairs = if matches!(parameters.overload, Overload::Bounce { .. }) { ports.len() * slots } else { 0 };
        let guarded = Guarded::new(node, network, ports.len());
        let mut switch = Switch {
            node,
            salt: network.salt(node),
            turning,
            pairs,
            turner,
            trimmer,
            attends: false,
            guarded,
            wakes_at: Time::MAX,
            inside: Pipelines::new(node, network),
            queues: vec![Queue::new(); ports.len() * slots + pairs],
            most_frames: parameters.counts_frames().then(|| vec![0; ports.len() * slots + pairs].into()),
            accounts: vec![IngressAccount::default(); ports.len() * account_slots],
            headroom,
            class_slot: network.class_slot,
            slots,
            account_slots,
            due: Due::new(ports.len()),
            renewals: regrant.into_iter().collect(),
            marker,
            leaving_marker,
            shared_bytes,
            shared_used: 0,
            buffer_used: 0,
            buffer_max: 0,
            instants: 0,
            random: Stream::new(network.seed, u64::from(node.0), purpose("switch")),
            changes,
            dead: PortSet::new(),
            regular: !network.has_pins(node),
            detours: BTreeMap::new(),
            ledger: Ledger::default(),
            tracer: Tracer::new(network, node),
            pause_events: Vec::new(),
            loads: Loads::new(network, ports.len() * slots, pairs),
            ports,
            details,
            routes: Routes::new(network, node),
            plain: parameters.scheduler == Scheduler::Strict && leaving_marker.is_none(),
            lossless,
            stopping: if control.pause().is_some() { lossless } else { 0 },
            credited: if regrant.is_some() { lossless } else { 0 },
            queue_limit: match parameters.buffer {
                Buffer::Shared { .. } => None,
                Buffer::PerQueue { limit } => Some(limit),
            },
            egress_limit,
            xoff_limit,
            network: Arc::clone(network),
        };
        switch.set_timer();
        switch
    }

    /// Asks the processor for what the next run will touch.
    pub fn approach(&self, turns: usize) {
        if turns == 2 {
            engine::prefetch(self.ports.as_slice());
            engine::prefetch(self.queues.as_slice());
            self.due.approach();
            self.routes.approach();
            if self.lossless != 0 {
                engine::prefetch(self.accounts.as_slice());
            }
        } else {
            for (port, state) in self.ports.iter().enumerate() {
                if state.waiting != 0 {
                    self.queues[port * self.slots..(port + 1) * self.slots].iter().for_each(Queue::approach);
                }
            }
        }
    }

    /// Departures, then arrivals, then timers, at each instant before the window's end.
    #[inline]
    pub fn run(&mut self, window: &mut Window<'_, OnWire>) -> Time {
        if self.tracer.is_none() { self.run_as::<false>(window) } else { self.run_as::<true>(window) }
    }

    /// Whether it is watched is decided once a window: nothing on a frame's way asks. Inlined by force: left to itself the
    /// compiler calls it once a window, which costs three instructions of a hundred where windows are short.
    #[inline(always)]
    fn run_as<const WATCHED: bool>(&mut self, window: &mut Window<'_, OnWire>) -> Time {
        loop {
            let due = self.due.earliest();
            let arrival = window.next_arrival();
            if due <= arrival {
                let timer = if self.has_timers() { self.next_timer() } else { Time::MAX };
                if due.min(timer) >= window.end() {
                    return due.min(timer);
                }
                if due <= timer {
                    if WATCHED {
                        self.depart_watched(due, self.due.port(), window);
                    } else {
                        self.depart(due, self.due.port(), window);
                    }
                } else {
                    self.on_timer(timer, window);
                }
                continue;
            }
            if self.has_timers() && self.next_timer() < arrival {
                self.on_timer(self.next_timer(), window);
                continue;
            }
            // Mixed, so that no period of the traffic can favour a port.
            window.rotate_ties(mix32(self.instants));
            self.instants = self.instants.wrapping_add(1);
            loop {
                if WATCHED {
                    self.arrive_watched(window)
                } else {
                    self.arrive(window)
                }
                if window.next_arrival() != arrival {
                    break;
                }
            }
        }
    }

    #[inline]
    fn has_timers(&self) -> bool {
        self.wakes_at != Time::MAX
    }

    #[inline]
    fn next_timer(&self) -> Time {
        self.wakes_at
    }

    /// Renewals, changes or holds are others than before.
    fn set_timer(&mut self) {
        let renewal = self.renewals.iter().map(|renewal| renewal.0).min().unwrap_or(Time::MAX);
        let change = self.changes.last().map_or(Time::MAX, |change| change.0);
        let hold = self.guarded.as_ref().map_or(Time::MAX, |guarded| guarded.held.next_event());
        let inside = self.inside.as_ref().map_or(Time::MAX, |inside| inside.next());
        self.wakes_at = renewal.min(change).min(hold).min(inside);
        self.attends = !self.renewals.is_empty() || self.guarded.is_some();
    }

    #[cold]
    fn on_timer(&mut self, now: Time, window: &mut Window<'_, OnWire>) {
        while self.changes.last().is_some_and(|change| change.0 == now) {
            self.change(now, window);
        }
        if self.inside.is_some() {
            self.run_inside(now, window);
        }
        self.renew(now, window);
        self.serve_held(now);
        self.set_timer();
    }

    #[inline]
    fn queue_index(&self, port: u16, class: u8) -> usize {
        usize::from(port) * self.slots + usize::from(self.class_slot[usize::from(class & 7)])
    }

    #[inline]
    fn account_index(&self, port: u16, class: u8) -> usize {
        let slot = if self.account_slots == 1 { 0 } else { usize::from(self.class_slot[usize::from(class & 7)]) };
        usize::from(port) * self.account_slots + slot
    }

    /// The queue of `class` at `port`.
    pub fn queue(&self, port: usize, slot: usize) -> &Queue {
        &self.queues[port * self.slots + slot]
    }

    /// The queue of bounced frames of `class` at `port`, where queues are pairs.
    pub fn bounce_queue(&self, port: usize, slot: usize) -> Option<&Queue> {
        (self.pairs != 0).then(|| &self.queues[port * self.slots + slot + self.pairs])
    }

    /// Whether a port is stopped or about to be, or waits for credits.
    pub fn has_stopped_port(&self) -> bool {
        self.ports.iter().any(|port| port.alert & alert::PAUSE != 0)
            || (self.credited != 0 && self.details.iter().any(Detail::is_short))
    }

    /// Whether it counts what came by whom.
    pub fn keeps_accounts(&self) -> bool {
        self.lossless != 0
    }

    /// Accounts that stop their neighbours, and those of them that hold nothing for which they would have to.
    pub fn standing_stops(&self) -> (u64, u64) {
        let stopping = || self.accounts.iter().filter(|account| account.paused);
        (stopping().count() as u64, stopping().filter(|account| account.bytes == 0).count() as u64)
    }

    /// Room of the account of (`port`, `class`) beyond XOFF, or all of it under credits.
    pub fn room_bytes(&self, port: u16, class: u8) -> u64 {
        self.headroom[self.account_index(port, class)]
    }

    /// Forgets what was measured before `now`.
    pub fn reset(&mut self, now: Time) {
        for queue in &mut self.queues {
            queue.reset(now);
        }
        for port in &mut self.ports {
            (port.sent_frames, port.sent_bytes) = (0, 0);
        }
        self.buffer_max = self.buffer_used;
        self.reset_loads(now);
    }
}
