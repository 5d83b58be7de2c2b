//! Hooks of port mechanisms ([`protocols::port`]) at a switch.

use super::core::Core;
use super::outcome::{Crossing, FrameFate};
use super::overload::action::Action;
use crate::clock::{NodeClock, local};
use crate::egress::{Cell, Egress, Installed};
use crate::network::Network;
use crate::on_wire::OnWire;
use crate::switch::buffer::PacketBuffer;
use check::conservation::Cause;
use engine::Window;
use fabric::NodeId;
use protocols::frame::{Frame, flags};
use protocols::port::{Admit, Hooks, PortView};
use protocols::port_mechanisms::AnyPortMechanism;
use stats::trace::TraceEvent;
use units::Time;
use units::random::{Stream, purpose};

/// Port mechanisms of one switch; the state of each port is in [`crate::egress::PortState`].
#[derive(Debug)]
pub(crate) struct Mechanisms {
    /// Bitmask of the classes with [`Hooks::QUEUED`].
    pub queued_classes: u8,
    /// Random streams of mechanisms with a separate stream, by [`AnyPortMechanism::kind`]. Empty if there are none.
    random: Box<[Stream]>,
    /// Clock of the switch; `None` if the clock is exact.
    clock: Option<NodeClock>,
    /// Under output backpressure: the notification that the frame in admission caused, until it is admitted.
    pending_notification: Option<Box<(Crossing, Frame)>>,
}

impl Mechanisms {
    pub fn new(node: NodeId, network: &Network, egress: &Egress) -> Mechanisms {
        let all = || egress.states.iter().flat_map(|state| state.mechanisms.iter());
        let queued = all().filter(|it| it.hooks().meet(Hooks::QUEUED)).map(AnyPortMechanism::queued_classes);
        let mut random: Vec<Stream> = Vec::new();
        for (kind, name) in all().filter_map(|it| Some((it.kind(), it.random()?))) {
            let stream = |name| Stream::new(network.seed, u64::from(node.0), purpose(name));
            random.resize_with(random.len().max(kind + 1), || stream(name));
            random[kind] = stream(name);
        }
        Mechanisms {
            queued_classes: queued.fold(0, |classes, own| classes | own),
            random: random.into(),
            clock: network.node_clock(node),
            pending_notification: None,
        }
    }

    /// Returns the random stream of `mechanism`: its separate stream, or the common stream of the switch.
    fn stream<'a>(random: &'a mut [Stream], common: &'a mut Stream, mechanism: &AnyPortMechanism) -> &'a mut Stream {
        if mechanism.random().is_none() { common } else { &mut random[mechanism.kind()] }
    }
}

/// The state of a port that a hook can read.
struct View<'a> {
    now: Time,
    port: u16,
    /// Index of the frame's queue in the buffer.
    index: usize,
    /// See [`PortView::queue_bytes`].
    queue_bytes: u64,
    cell: &'a Cell,
    buffer: &'a PacketBuffer,
    clock: Option<&'a NodeClock>,
    network: &'a Network,
}

impl PortView for View<'_> {
    fn now(&self) -> Time {
        self.now
    }

    fn local(&self, at: Time) -> Time {
        local(self.clock, at)
    }

    fn queue(&self) -> usize {
        self.buffer.queue_of_port(self.port, self.index)
    }

    fn queue_bytes(&self) -> u64 {
        self.queue_bytes
    }

    fn waiting_bytes(&self) -> u64 {
        self.buffer.waiting_bytes(self.port)
    }

    fn sent_bytes(&self) -> u64 {
        self.cell.sent_bytes
    }

    fn is_lossless(&self) -> bool {
        let slot = self.queue() % self.buffer.layout.slots;
        self.buffer.limits.lossless & 1 << self.network.classes[slot] != 0
    }
}

/// Evaluates `$body` for each mechanism of `$port` that has one of `$hooks`. The view is that of a frame of the queue
/// at `$index`, in which `$queue_bytes` wait.
macro_rules! for_each_mechanism {
    ($core:ident, ($now:expr, $port:expr, $index:expr, $queue_bytes:expr), $hooks:expr,
        |$mechanism:ident, $view:ident, $random:ident| $body:expr) => {{
        let Core { egress, buffer, mechanisms, random, network, .. } = &mut *$core;
        let Egress { states, cells, .. } = egress;
        let port = usize::from($port);
        let $view = View {
            now: $now,
            port: $port,
            index: $index,
            queue_bytes: $queue_bytes,
            cell: &cells[port],
            buffer,
            clock: mechanisms.clock.as_ref(),
            network,
        };
        for Installed { mechanism: $mechanism, hooks } in states[port].mechanisms.iter_mut() {
            if hooks.meet($hooks) {
                let $random = Mechanisms::stream(&mut mechanisms.random, random, $mechanism);
                $body
            }
        }
    }};
}

impl Core {
    /// Returns whether the mechanisms of the port mark `frame`, which is about to join the queue at `index`.
    #[inline(always)] // hot: runs for each enqueued frame
    pub(super) fn marks_at_enqueue(&mut self, port: u16, index: usize, frame: &Frame) -> bool {
        frame.can_be_marked()
            && self.buffer.queues[index].bytes >= self.egress.cell(port).enqueue_from_bytes
            && self.run_enqueue_hooks(port, index, frame)
    }

    /// Slow path of [`Core::marks_at_enqueue`]. Not inlined, because frames without the hook would then also save the
    /// registers that this function uses.
    #[inline(never)]
    fn run_enqueue_hooks(&mut self, port: u16, index: usize, frame: &Frame) -> bool {
        let mut mark = false;
        let queue_bytes = u64::from(self.buffer.queues[index].bytes);
        for_each_mechanism!(self, (frame.at, port, index, queue_bytes), Hooks::ENQUEUE, |it, view, random| {
            mark |= it.enqueue(&view, frame, random)
        });
        self.stats.counters.marks += u64::from(mark);
        mark
    }

    /// Runs the hooks of a frame that arrived for `crossing.egress`, before it is forwarded: selects its queue, marks
    /// it, or drops it. A drop is the `Err` result. Returns whether it was marked.
    #[cold]
    #[inline(never)]
    pub(super) fn run_arrival_hooks(&mut self, crossing: &mut Crossing, frame: &mut Frame) -> Result<bool, FrameFate> {
        let (now, port) = (frame.at, crossing.egress);
        if self.steps.hooks.meet(Hooks::SELECT) {
            let index = self.buffer.queue_index(port, crossing.class);
            for_each_mechanism!(self, (now, port, index, 0), Hooks::SELECT, |it, view, _random| {
                crossing.class = it.select(&view, crossing.class)
            });
        }
        if !self.steps.hooks.meet(Hooks::ADMIT) {
            return Ok(false);
        }
        let index = self.buffer.queue_index(port, crossing.class);
        let queue_bytes = u64::from(self.buffer.queues[index].bytes);
        let (mut mark, mut drop) = (false, false);
        for_each_mechanism!(self, (now, port, index, queue_bytes), Hooks::ADMIT, |it, view, random| {
            match it.admit(&view, frame, random) {
                Admit::Pass => {}
                Admit::Mark => mark = true,
                Admit::Drop => drop = true,
            }
        });
        if drop && self.buffer.limits.lossless & 1 << crossing.class == 0 {
            return Err(self.lose(*crossing, frame, Cause::QueueManagement));
        }
        Ok(self.mark(frame, mark))
    }

    /// Runs the transmit hooks of `frame`, which `port` transmits without enqueueing it in the queue of `class`.
    /// Returns whether it was marked.
    pub(super) fn run_transmit_hooks(&mut self, port: u16, class: u8, frame: &mut Frame) -> bool {
        let mut mark = false;
        if self.steps.hooks.meet(Hooks::TRANSMIT) {
            let index = self.buffer.queue_index(port, class);
            for_each_mechanism!(self, (frame.at, port, index, 0), Hooks::TRANSMIT, |it, view, random| {
                mark |= it.transmit(&view, frame, random)
            });
        }
        self.mark(frame, mark)
    }

    /// Runs the hooks of the head of the queue at `index`, which leaves next by `port`. Returns whether it was marked.
    #[cold]
    pub(super) fn run_departure_hooks(&mut self, now: Time, port: u16, index: usize) -> bool {
        let queue = &self.buffer.queues[index];
        let Some(mut frame) = queue.front().copied() else { return false };
        let behind_bytes = u64::from(queue.bytes) - u64::from(frame.size_bytes);
        let (mut marked, was_marked) = (false, frame.flags & flags::CE != 0);
        if self.steps.hooks.meet(Hooks::DEPARTURE) {
            for_each_mechanism!(self, (now, port, index, behind_bytes), Hooks::DEPARTURE, |it, view, random| {
                // A mark by `dequeue` is set before the mechanisms that follow in the loop run, so that they see it.
                let hooks = it.hooks();
                let mark = hooks.meet(Hooks::DEQUEUE) && it.dequeue(&view, &frame, random);
                if (hooks.meet(Hooks::TRANSMIT) && it.transmit(&view, &frame, random) || mark) && frame.can_be_marked()
                {
                    frame.flags |= flags::CE;
                }
            });
            marked = !was_marked && frame.flags & flags::CE != 0;
            self.stats.counters.marks += u64::from(marked);
            if marked && let Some(front) = self.buffer.queues.at(index).front_mut() {
                front.flags = frame.flags;
            }
        }
        if self.network.telemetry.is_some() {
            let queue_bytes = self.buffer.waiting_bytes(port) - u64::from(frame.size_bytes);
            let probe_bytes = self.network.collect(&frame, self.egress.hop(now, port, queue_bytes));
            self.egress.count_probe(port, probe_bytes);
        }
        marked
    }

    /// Marks `frame` if `mark` and if it can be marked. Returns whether it was marked.
    fn mark(&mut self, frame: &mut Frame, mark: bool) -> bool {
        let marks = mark && frame.can_be_marked();
        if marks {
            frame.flags |= flags::CE;
            self.stats.counters.marks += 1;
        }
        marks
    }

    /// Handles a frame that cannot start transmission at once, in a class with an overload decision before admission or
    /// a hook after admission.
    #[inline(never)]
    pub(super) fn admit_with_hooks(
        &mut self,
        overload: &mut impl Action,
        crossing: Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate {
        let fate = if self.steps.overload_classes & (1 << crossing.class) != 0 {
            let mut crossing = crossing;
            let decision = overload.decide(self, &mut crossing, frame);
            self.carry_out(overload, &crossing, frame, decision, window)
        } else {
            self.admit_or_refuse(overload, &crossing, frame, window)
        };
        if self.mechanisms.queued_classes & (1 << crossing.class) != 0 {
            self.run_queued_hooks(overload, crossing, frame, fate, window);
        }
        fate
    }

    /// If the `fate` of `frame` is that it joined a queue, runs the hooks for queued frames.
    pub(super) fn run_queued_hooks(
        &mut self,
        overload: &mut impl Action,
        crossing: Crossing,
        frame: &Frame,
        fate: FrameFate,
        window: &mut Window<'_, OnWire>,
    ) {
        if let FrameFate::Queued { egress, index, .. } = fate
            && self.mechanisms.queued_classes & (1 << crossing.class) != 0
        {
            let (now, index) = (frame.at, index as usize);
            let queue_bytes = u64::from(self.buffer.queues[index].bytes);
            let mut notification = None;
            for_each_mechanism!(self, (now, egress, index, queue_bytes), Hooks::QUEUED, |it, view, random| {
                if it.queued_classes() & (1 << crossing.class) != 0 {
                    notification = notification.or(it.queued(&view, frame, random))
                }
            });
            if let Some(notification) = notification {
                self.notify_source(overload, crossing, (frame, notification), window);
            }
        }
    }

    /// Sends a notification to the source of a frame. The notification is admitted to the buffer like an arriving
    /// frame. Under output backpressure, the caller admits it later, to the output port of the notification.
    #[cold]
    fn notify_source(
        &mut self,
        overload: &mut impl Action,
        crossing: Crossing,
        (cause, notification): (&Frame, Frame),
        window: &mut Window<'_, OnWire>,
    ) {
        let frame = Frame {
            at: cause.at,
            stamp: cause.stamp,
            seq: identifier(self.node(), crossing.egress, crossing.class),
            flow: cause.flow,
            src: cause.dst,
            dst: cause.src,
            entropy: cause.entropy,
            ttl: self.network.host.ttl,
            traffic: cause.traffic,
            ..notification
        };
        let class = frame.class;
        self.stats.counters.packets.created_in_network.count(u64::from(frame.size_bytes));
        // The notification takes a new route, so no port is excluded as ingress port.
        let Some(egress) = self.route(&frame, u16::MAX) else {
            self.lose(crossing, &frame, Cause::NoRoute);
            return;
        };
        let back = Crossing { in_port: crossing.in_port, egress, in_class: class, class };
        self.note(back, &frame, TraceEvent::Created { since: frame.at });
        if self.steps.has_backpressure {
            self.mechanisms.pending_notification = Some(Box::new((back, frame)));
            return;
        }
        let fate = self.forward(overload, &back, &frame, window);
        self.trace_outcome(back, &frame, fate);
    }

    /// Takes the notification that has yet to be admitted.
    pub(super) fn take_pending_notification(&mut self) -> Option<(Crossing, Frame)> {
        self.mechanisms.pending_notification.take().map(|pending| *pending)
    }
}

/// Returns the congestion point identifier (CPID) for notifications: port address and class.
fn identifier(node: NodeId, port: u16, class: u8) -> u64 {
    let [_, a, b, c] = node.0.to_be_bytes();
    let [d, e] = port.to_be_bytes();
    u64::from_be_bytes([6, a, b, c, d, e, 0, class])
}
