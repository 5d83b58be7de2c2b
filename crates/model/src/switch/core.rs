//! The switch state that every frame uses: ports, buffer, routes, marking. Mechanisms own their state and receive a
//! `&mut Core`.

use super::buffer::PacketBuffer;
use super::forwarding::{Failures, Routing};
use super::mechanisms::Mechanisms;
use super::outcome::{Crossing, FrameFate, Redirected};
use super::overload::action::{Action, Decision};
use crate::account::Counters;
use crate::departures::{Departures, Exact};
use crate::egress::Egress;
use crate::network::Network;
use crate::node_stats::NodeStats;
use crate::on_wire::{OnWire, put_on_wire};
use check::conservation::Cause;
use engine::Window;
use fabric::NodeId;
use protocols::frame::{Frame, Kind, flags};
use protocols::port::Hooks;
use protocols::telemetry::Hop;
use std::mem::offset_of;
use std::sync::Arc;
use units::random::{Stream, purpose};
use units::{Rate, Time};

/// Bits of [`crate::egress::Cell::ingress`]: extra steps for frames that arrive at a port.
pub(super) mod ingress {
    /// The link can lose frames.
    pub const LOSSY_LINK: u8 = 1;
    /// The link uses credit-based flow control.
    pub const CREDITED: u8 = 2;
    /// Frames carry tags, which the switch rewrites.
    pub const TAGGED: u8 = 4;
    /// Frames enter a pipeline of the switch model.
    pub const PIPELINE: u8 = 8;
    /// Flow control is output backpressure, triggered by the egress queue.
    pub const BACKPRESSURE: u8 = 16;
    /// Some port of the switch has mechanisms with hooks at arrival.
    pub const HOOKS: u8 = 32;
}

/// The steps of a switch in addition to routing, admission and departure. They are set at the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EnabledHooks {
    /// Bitmask of the classes with a step besides admission: an overload decision before it or a mechanism's hook after
    /// it.
    pub hook_classes: u8,
    /// Bitmask of the classes with an overload decision before admission.
    pub overload_classes: u8,
    /// Bitmask of the lossless classes with accounts that send PAUSE or PFC.
    pub pausing_classes: u8,
    /// Hooks of the mechanisms of all ports.
    pub hooks: Hooks,
    /// Whether a frame needs a step when it leaves its queue: a mechanism's hook or telemetry.
    pub has_departure_hooks: bool,
    /// Whether links use credit-based flow control.
    pub has_credits: bool,
    /// Whether flow control is output backpressure: triggered by egress queues, not by ingress accounts.
    pub has_backpressure: bool,
}

/// The core of a switch.
///
/// With few frames in flight, the switch has left the first-level cache before the next frame arrives. Therefore the
/// fields that every frame uses, besides its port and queue, share two cache lines: [`Egress::cells`] to
/// [`Counters::hops`].
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Core {
    /// Pending renewals: time and key. The key is a paused account whose pause must be renewed, or
    /// [`super::pause::WATCHDOG_SAMPLE`] plus a port for the next watchdog sample. Under credits: one entry for the
    /// next repetition of all grants. With output backpressure: an output port with XOFFs to renew.
    pub(super) renewals: Vec<(Time, u32)>,
    /// Port mechanisms of the switch.
    pub(super) mechanisms: Box<Mechanisms>,
    pub(super) random: Box<Stream>,
    pub failures: Box<Failures>,
    pub egress: Egress,
    /// Lower bound of the time of the next timer event: link change, release of a held flow, pipeline event or renewal.
    pub(super) next_timer: Time,
    pub network: Arc<Network>,
    /// Instants with at least one arrival so far.
    pub(super) instants: u32,
    /// Whether a departure from the buffer needs a further step: there are `renewals`, or flow control is output
    /// backpressure.
    pub(super) has_release_hooks: bool,
    /// Windows until the next test for lazy departures. `None` if this switch never allows them.
    pub(super) lazy_in: Option<u8>,
    pub routing: Routing,
    pub stats: NodeStats,
    pub buffer: PacketBuffer,
    pub(super) steps: EnabledHooks,
}

/// Bytes of a cache line.
const LINE: usize = 64;

// Compile-time check that the hot fields fit into two cache lines.
const _: () = {
    let first = offset_of!(Core, egress) + offset_of!(Egress, cells);
    let last = offset_of!(Core, stats) + offset_of!(NodeStats, counters) + offset_of!(Counters, hops);
    assert!(first.is_multiple_of(LINE) && last + size_of::<u64>() <= first + 2 * LINE);
};

impl Core {
    /// Creates the core of `node`; `fails` returns whether the link of a port may fail.
    pub fn new(node: NodeId, network: &Arc<Network>, fails: impl Fn(u16) -> bool) -> Core {
        let parameters = &network.switch;
        let control = network.flow_control_of(node);
        let mut egress = Egress::new(network, node, true, fails);
        let hooks = egress.states.iter().fold(Hooks::NONE, |hooks, state| hooks.with(state.mechanisms.hooks()));
        for (cell, rules) in egress.cells.iter_mut().zip(&egress.states) {
            let bit = |enabled: bool, bit: u8| if enabled { bit } else { 0 };
            cell.ingress = bit(rules.link.can_lose, ingress::LOSSY_LINK)
                | bit(rules.credit.is_some(), ingress::CREDITED)
                | bit(network.routing.tags.is_some(), ingress::TAGGED)
                | bit(parameters.overload.pipelines().is_some(), ingress::PIPELINE)
                | bit(control.backpressure().is_some(), ingress::BACKPRESSURE)
                | bit(hooks.meet(Hooks::ARRIVAL), ingress::HOOKS);
        }
        let regrant = control.credit().map(|credit| (credit.regrant, 0));
        Core {
            instants: 0,
            buffer: PacketBuffer::new(network, node, &egress.states),
            mechanisms: Box::new(Mechanisms::new(node, network, &egress)),
            egress,
            routing: Routing::new(network, node),
            failures: Box::default(),
            has_release_hooks: false,
            next_timer: Time::MAX,
            steps: EnabledHooks {
                hook_classes: 0,
                overload_classes: 0,
                pausing_classes: if control.pause().is_some() { control.lossless() } else { 0 },
                hooks,
                has_departure_hooks: hooks.meet(Hooks::DEPARTURE) || network.telemetry.is_some(),
                has_credits: regrant.is_some(),
                has_backpressure: control.backpressure().is_some(),
            },
            renewals: regrant.into_iter().collect(),
            lazy_in: None,
            random: Box::new(Stream::new(network.seed, u64::from(node.0), purpose("switch"))),
            stats: NodeStats::new(network, node),
            network: Arc::clone(network),
        }
    }

    /// Returns the egress port of `frame`, which arrived by `in_port`. `None` without a live route.
    #[inline(always)] // hot: runs once per packet-hop, like Switch::handle
    pub fn route(&mut self, frame: &Frame, in_port: u16) -> Option<u16> {
        let port = self.routing.port(&self.network, frame, in_port);
        let here = (self.node(), self.routing.salt);
        if port.is_some() { port } else { self.failures.port(&self.network, here, frame, in_port) }
    }

    #[inline]
    pub fn node(&self) -> NodeId {
        self.stats.node
    }

    pub fn link_rate(&self, port: u16) -> Rate {
        self.egress.state(port).link.rate
    }

    /// Ensures that the switch timer fires no later than `at`.
    pub fn wake_at(&mut self, at: Time) {
        self.next_timer = self.next_timer.min(at);
    }

    /// Updates the timer and `has_release_hooks` after a change of `renewals`.
    pub(super) fn update_timer(&mut self) {
        let next = self.renewals.iter().map(|renewal| renewal.0).min().unwrap_or(Time::MAX);
        self.wake_at(next);
        self.has_release_hooks = !self.renewals.is_empty() || self.steps.has_backpressure;
    }

    /// Returns whether a frame of this class and length would start on the wire of `port` at `now`.
    pub fn can_start_now(&mut self, now: Time, port: u16, frame: (u8, u16)) -> bool {
        let Core { egress, buffer, stats, .. } = self;
        egress.can_start_now(now, port, frame, |class| buffer.head(port, class), stats)
    }

    /// Forwards a frame: directly onto an idle wire, or into the queue if there is room, or to the overload action.
    #[inline(always)] // hot: runs once per packet-hop, like Switch::handle
    pub fn forward(
        &mut self,
        overload: &mut impl Action,
        crossing: &Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate {
        if let Some(marked) = self.send_at_once(crossing, frame, window) {
            return FrameFate::Sent { egress: crossing.egress, marked };
        }
        self.wait_or_refuse(overload, crossing, frame, window)
    }

    /// Transmits a frame if the wire is free and no other frame has precedence. Returns whether the transmitted frame
    /// was ECN-marked; `None` if the frame was not transmitted.
    #[inline(always)] // hot: runs once per packet-hop, like forward
    pub(super) fn send_at_once(
        &mut self,
        crossing: &Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> Option<bool> {
        let (now, &Crossing { egress, class, .. }) = (frame.at, crossing);
        let Core { egress: ports, buffer, stats, network, .. } = self;
        let head = |class| buffer.head(egress, class);
        let collect = |hop: Hop| network.collect(frame, Hop { queue_bytes: buffer.waiting_bytes(egress), ..hop });
        let at = ports.send_at_once(now, egress, (class, frame.size_bytes), head, collect, stats)?;
        if self.steps.hooks.meet(Hooks::TRANSMIT) {
            return Some(self.put_on_wire_with_hooks(frame, crossing, at, window));
        }
        count_hop(frame, put_on_wire(frame, egress, at, window));
        Some(false)
    }

    /// Runs the hooks of the transmission, copies the frame onto the wire and counts its hop. Returns whether the frame
    /// was ECN-marked.
    #[cold]
    fn put_on_wire_with_hooks(
        &mut self,
        frame: &Frame,
        crossing: &Crossing,
        at: Time,
        window: &mut Window<'_, OnWire>,
    ) -> bool {
        let mut frame = *frame;
        let marked = self.run_transmit_hooks(crossing.egress, crossing.class, &mut frame);
        count_hop(&frame, put_on_wire(&frame, crossing.egress, at, window));
        marked
    }

    /// Queues a frame that cannot start at once, or passes it to the overload action.
    #[inline(always)] // hot: runs once per packet-hop, like forward
    pub(super) fn wait_or_refuse(
        &mut self,
        overload: &mut impl Action,
        crossing: &Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate {
        if self.steps.hook_classes & (1 << crossing.class) != 0 {
            return self.admit_with_hooks(overload, *crossing, frame, window);
        }
        self.admit_or_refuse(overload, crossing, frame, window)
    }

    /// Admits a frame to its queue, or passes it to the overload action.
    #[inline(always)] // hot: runs once per packet-hop, like forward
    pub fn admit_or_refuse(
        &mut self,
        overload: &mut impl Action,
        crossing: &Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate {
        let index = self.buffer.queue_index(crossing.egress, crossing.class);
        if !self.buffer.admit::<Exact>(index, *crossing, frame.size_bytes) {
            return self.refuse(overload, *crossing, frame, window);
        }
        self.queue(index, crossing, frame, window)
    }

    /// Lets the overload action decide about a frame that was not admitted.
    #[cold]
    #[inline(never)]
    fn refuse(
        &mut self,
        overload: &mut impl Action,
        mut crossing: Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate {
        let decision = overload.refuse(self, &mut crossing, frame, true);
        self.carry_out(overload, &crossing, frame, decision, window)
    }

    /// Enqueues an admitted frame, and pauses its neighbour if its account is now above XOFF.
    #[inline(always)] // hot: runs once per packet-hop, like forward
    fn queue(
        &mut self,
        index: usize,
        crossing: &Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate {
        let fate = self.enqueue::<Exact>(index, *crossing, frame);
        if self.steps.pausing_classes & (1 << crossing.in_class) != 0 {
            self.pause_if_needed(frame.at, crossing.in_port, crossing.in_class, window);
        }
        fate
    }

    /// Carries out the decision about a frame.
    #[inline(always)] // hot: runs for each frame of a class with an overload decision
    pub(super) fn carry_out(
        &mut self,
        overload: &mut impl Action,
        crossing: &Crossing,
        frame: &Frame,
        decision: Decision,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate {
        match decision {
            Decision::Queue { index, changed } => {
                self.queue(index, crossing, changed.as_ref().unwrap_or(frame), window)
            }
            _ => self.carry_out_other(overload, crossing, frame, &decision, window),
        }
    }

    /// Carries out decisions other than to queue the frame. Traces the steps of trimmed headers, because one decision
    /// may move several frames.
    #[inline(never)]
    fn carry_out_other(
        &mut self,
        overload: &mut impl Action,
        &crossing: &Crossing,
        frame: &Frame,
        decision: &Decision,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate {
        match *decision {
            Decision::Queue { .. } => self.carry_out(overload, &crossing, frame, *decision, window),
            Decision::Redirect { port, index, ref frame, detour } => {
                let marked = match index {
                    Some(index) => {
                        let crossing = Crossing { egress: port, ..crossing };
                        self.enqueue::<Exact>(index, crossing, frame).is_queued_with_mark()
                    }
                    None => self.send_on(port, frame, window),
                };
                let queue = index.map(|index| index as u32);
                let redirected = Redirected { port, queue, bounces: frame.bounces, detour, marked };
                FrameFate::Redirected { egress: crossing.egress, redirected }
            }
            Decision::Forward { header } => {
                let fate = self.forward(overload, &crossing, &header, window);
                self.trace_outcome(crossing, &header, fate)
            }
            Decision::Displace { tail } => {
                if let Some((path, header)) = tail {
                    let fate = self.forward(overload, &path, &header, window);
                    self.trace_outcome(path, &header, fate);
                }
                let index = self.buffer.queue_index(crossing.egress, crossing.class);
                if self.buffer.admit::<Exact>(index, crossing, frame.size_bytes) {
                    let fate = self.queue(index, &crossing, frame, window);
                    let traced = self.trace_outcome(crossing, frame, fate);
                    self.run_queued_hooks(overload, crossing, frame, fate, window);
                    return traced;
                }
                let mut crossing = crossing;
                let decision = overload.refuse(self, &mut crossing, frame, false);
                self.carry_out(overload, &crossing, frame, decision, window)
            }
            Decision::Hold => FrameFate::Recorded { egress: crossing.egress },
            Decision::Drop { cause } => self.lose(crossing, frame, cause),
            Decision::DropHeader { cause, header } => {
                let fate = self.lose(crossing, &header, cause);
                self.trace_outcome(crossing, &header, fate)
            }
        }
    }

    /// Reserves room for a detour of `frame` by `port` and counts it. `None` if that port has no room.
    pub(super) fn detour(&mut self, crossing: Crossing, frame: &Frame, port: u16) -> Option<Decision> {
        let index = self.buffer.queue_index(port, crossing.class);
        let at_once = self.can_start_now(frame.at, port, (crossing.class, frame.size_bytes));
        if !at_once && !self.buffer.admit::<Exact>(index, crossing, frame.size_bytes) {
            return None;
        }
        self.stats.counters.note_detour(frame);
        let frame = Frame { bounces: frame.bounces.saturating_add(1), ..*frame };
        Some(Decision::Redirect { port, index: (!at_once).then_some(index), frame, detour: true })
    }

    /// Enqueues a frame, for which the caller has reserved room, at `index`.
    #[inline(always)] // hot: runs once per packet-hop, like forward
    pub fn enqueue<D: Departures>(&mut self, index: usize, crossing: Crossing, frame: &Frame) -> FrameFate {
        let marked = self.marks_at_enqueue(crossing.egress, index, frame);
        self.buffer.push(index, crossing, frame, if marked { flags::CE } else { 0 });
        if D::LAZY {
            self.egress.wait_lazily(crossing.egress, crossing.class);
        } else {
            self.egress.wait(frame.at, crossing.egress, crossing.class);
        }
        FrameFate::Queued { egress: crossing.egress, index: index as u32, marked }
    }

    /// Transmits a frame by `port`; its wire must be free. Returns whether the frame was ECN-marked.
    pub fn send_on(&mut self, port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) -> bool {
        let mut flags = frame.flags;
        let mut marked = false;
        if self.steps.hooks.meet(Hooks::TRANSMIT) {
            let mut frame = *frame;
            marked = self.run_transmit_hooks(port, frame.class, &mut frame);
            flags = frame.flags;
        }
        if self.network.telemetry.is_some() {
            let waiting_bytes = self.buffer.waiting_bytes(port);
            let probe_bytes = self.network.collect(frame, self.egress.hop(frame.at, port, waiting_bytes));
            self.egress.count_probe(port, probe_bytes);
        }
        if self.steps.hooks.meet(Hooks::CHARGE) {
            self.egress.charge_mechanisms(frame.at, port, frame.class, frame.size_bytes);
        }
        let at = self.egress.start(frame.at, port, frame.size_bytes);
        let sent = put_on_wire(frame, port, at, window);
        (sent.ttl, sent.hops, sent.flags) = (frame.ttl - 1, frame.hops.saturating_add(1), flags);
        marked
    }

    /// Sends a MAC control frame of this switch, ahead of all queues.
    pub fn send_control(&mut self, now: Time, port: u16, frame: Frame, window: &mut Window<'_, OnWire>) {
        let Core { egress, buffer, stats, .. } = self;
        egress.check_before_control(now, port, |class| buffer.head(port, class), stats);
        egress.send_control(now, port, frame, stats, window);
    }

    /// Counts a frame as lost on its path to `crossing.egress`, for `cause`.
    #[cold]
    pub fn lose(&mut self, crossing: Crossing, frame: &Frame, cause: Cause) -> FrameFate {
        self.stats.lose(crossing.in_port, crossing.in_class, frame, cause);
        FrameFate::Dropped { egress: Some(crossing.egress), cause }
    }

    /// Counts a frame as lost before its egress port was determined.
    #[cold]
    pub fn lose_unrouted(&mut self, in_port: u16, frame: &Frame, cause: Cause) -> FrameFate {
        self.stats.lose(in_port, frame.class, frame, cause);
        FrameFate::Dropped { egress: None, cause }
    }

    /// Returns the loss cause of a frame without room. The loss of a lossless frame is a violation only if the nodes at
    /// both ends of the ingress link take part in flow control.
    #[cold]
    pub fn cause_without_room(&self, crossing: Crossing, frame: &Frame) -> Cause {
        let network = &self.network;
        if network.switch.flow_control.lossless() & (1 << crossing.class) == 0 {
            return no_room(frame);
        }
        let peer = network.fabric.ports(self.node()).get(usize::from(crossing.in_port)).map(|port| port.peer);
        let reached = network.has_flow_control(self.node()) && peer.is_none_or(|peer| network.has_flow_control(peer));
        if reached { Cause::LosslessNoRoom } else { Cause::OutsideFlowControl }
    }

    /// Returns the decision to drop a frame for which there is no room and no overload action.
    #[cold]
    pub fn drop_without_room(&self, crossing: Crossing, frame: &Frame) -> Decision {
        Decision::drop(self.cause_without_room(crossing, frame))
    }
}

/// Counts the hop of `frame` in `sent`, its copy on the wire. The hop of a frame that waits is counted when it joins a
/// queue.
#[inline(always)] // hot: runs once per packet-hop
pub(super) fn count_hop(frame: &Frame, sent: &mut Frame) {
    (sent.ttl, sent.hops) = (frame.ttl - 1, frame.hops.saturating_add(1));
    // An idle port has empty queues, so no bounce threshold can apply and `distance` just counts down.
    sent.distance = frame.distance.saturating_sub(1);
}

/// Returns the loss cause of a frame without room in a lossy queue.
pub(super) fn no_room(frame: &Frame) -> Cause {
    if matches!(frame.kind, Kind::Trimmed | Kind::Returned) { Cause::HeaderNoRoom } else { Cause::NoRoom }
}
