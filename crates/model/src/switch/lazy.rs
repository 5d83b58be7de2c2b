//! Lazy departures: departures are applied in batches, not as one event each.
//!
//! If no port is blocked and no neighbour is paused, the next departure of a port depends on that port alone: a frame
//! leaves as soon as the wire is free. The only effect on other ports is a lower buffer occupancy. So no event is
//! handled at the instant of a departure:
//!
//! ```text
//!   a frame arrives for a port   the frames that left that port by then are dequeued, in order
//!   buffer nearly full           the frames that left any port by then are dequeued; then the counters are exact
//!   the window ends              the frames that left any port by then are dequeued
//!   any other event              as at the window's end; from then on every departure is an event
//! ```
//!
//! Until then, the counters include frames that have already left. A frame that is admitted by these counters, without
//! XOFF, is admitted by exact ones too. So every result equals that of exact departures. This avoids the search for the
//! port with the next departure.

use super::Switch;
use super::buffer::{PacketBuffer, Transmission};
use super::core::{Core, count_hop};
use super::outcome::Crossing;
use crate::departures::Lazy;
use crate::egress::Cell;
use crate::on_wire::{OnWire, put_on_wire};
use crate::parameters::FlowControl;
use engine::Window;
use fabric::routing::mix32;
use protocols::frame::Frame;
use protocols::port::Hooks;
use units::Time;

/// Up to this number of arrivals in a window, the catch-up costs more instructions than lazy departures save.
const MIN_ARRIVALS: usize = 3;

/// Number of windows with exact departures before the next test whether departures can be lazy.
const RETRY_WINDOWS: u8 = 32;

impl Switch {
    /// Returns whether no feature of this switch rules out lazy departures.
    pub(super) fn can_be_lazy(&self) -> bool {
        let Switch { core, backpressure, .. } = self;
        let is_plain = core
            .egress
            .cells
            .iter()
            .all(|cell| cell.ingress == 0 && !cell.has_accounting && cell.has_integral_byte_time());
        is_plain
            && core.egress.is_strict()
            && core.stats.tracer.is_none()
            && backpressure.is_none()
            && !core.steps.has_departure_hooks
            && !core.steps.hooks.without(Hooks::LAZY).meet(Hooks::ALL)
            && core.buffer.limits.pause_rule.is_none()
            && core.buffer.loads.is_none()
            && matches!(
                core.network.flow_control_of(core.node()),
                FlowControl::None | FlowControl::Pause(_) | FlowControl::Pfc(_)
            )
    }

    /// Runs the window like [`Switch::run`], with lazy departures until a frame or a timer requires exact ones.
    #[inline(never)]
    pub(super) fn run_lazily(&mut self, window: &mut Window<'_, OnWire>) -> Time {
        // Arrivals lie before the window's end; without one, `next_arrival` is `Time::MAX`.
        let mut last = self.core.next_timer.min(window.end());
        loop {
            let arrival = window.next_arrival();
            if arrival > last {
                let Core { egress, next_timer, .. } = &self.core;
                // Short cut: a switch without backlog and without a timer event in this window has no further events.
                if egress.backlogged_ports == 0 && *next_timer >= window.end() {
                    return *next_timer;
                }
                return self.end_lazily(window);
            }
            // Rotates the order of simultaneous arrivals pseudo-randomly, so that no port is preferred, as in `run_as`.
            window.rotate_ties(|| mix32(self.core.instants));
            self.core.instants = self.core.instants.wrapping_add(1);
            loop {
                let handled = |in_port, OnWire(frame): &OnWire, window: &mut Window<'_, OnWire>| {
                    self.handle_lazily(in_port, frame, window)
                };
                if !window.take_in_place(handled) {
                    if !self.core.egress.lazy {
                        self.drain_instant(arrival, window);
                        return self.run_eager(window);
                    }
                    last = self.core.next_timer.min(window.end());
                }
                if window.next_arrival() != arrival {
                    break;
                }
            }
        }
    }

    /// Dequeues the frames that left before the window's end. If the switch timer is due before, ends lazy departures
    /// at that time and runs the rest of the window with exact departures.
    #[inline(never)]
    fn end_lazily(&mut self, window: &mut Window<'_, OnWire>) -> Time {
        let timer = self.core.next_timer;
        if timer < window.end() {
            self.core.end_lazy(timer, window);
            return self.run_eager(window);
        }
        self.core.catch_up_to_end(window).min(timer)
    }

    /// Like [`Switch::handle`] with lazy departures. Returns false if they may have ended, or if the switch timer has
    /// changed.
    #[inline(always)] // hot: runs once per packet-hop
    fn handle_lazily(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) -> bool {
        let core = &mut self.core;
        // A TTL of 0 identifies an expired frame or a MAC control frame.
        if frame.ttl == 0 {
            self.handle_eager(in_port, frame, window);
            return false;
        }
        let Some(egress) = core.route(frame, in_port) else {
            self.handle_eager(in_port, frame, window);
            return false;
        };
        core.stats.counters.hops += 1;
        if core.send_lazily(egress, frame, window) {
            return true;
        }
        let crossing = Crossing { in_port, egress, in_class: frame.class, class: frame.class };
        // The maximum of the buffer must be exact to the byte, so a possible new maximum takes the slow path.
        if core.buffer.stays_below_peak(frame.size_bytes) && core.admit_lazily(&crossing, frame) {
            return true;
        }
        self.admit_exact(crossing, frame, window);
        false
    }

    /// Slow path of [`Switch::handle_lazily`], for decisions that depend on the exact backlog.
    #[cold]
    #[inline(never)]
    fn admit_exact(&mut self, crossing: Crossing, frame: &Frame, window: &mut Window<'_, OnWire>) {
        let Switch { core, overload, .. } = self;
        core.catch_up(frame.at, window);
        if core.admit_lazily(&crossing, frame) {
            core.buffer.update_peak();
        } else {
            // From now on, an account may send XOFF, which requires exact departures.
            if core.steps.pausing_classes != 0 {
                core.end_lazy(frame.at, window);
            }
            core.wait_or_refuse(overload, &crossing, frame, window);
        }
    }

    /// Handles the remaining arrivals of the instant `arrival` with exact departures.
    #[cold]
    #[inline(never)]
    fn drain_instant(&mut self, arrival: Time, window: &mut Window<'_, OnWire>) {
        while window.next_arrival() == arrival {
            let (in_port, OnWire(frame)) = window.take();
            self.handle(in_port, &frame, window);
        }
    }

    /// Ends lazy departures, then handles the frame.
    #[cold]
    #[inline(never)]
    fn handle_eager(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        self.core.end_lazy(frame.at, window);
        self.handle(in_port, frame, window);
    }
}

impl Core {
    /// Returns whether departures are lazy in the window that begins.
    #[inline]
    pub(super) fn is_lazy(&mut self, window: &Window<'_, OnWire>) -> bool {
        self.egress.lazy || self.lazy_in.is_some() && window.arrivals() > MIN_ARRIVALS && self.try_lazy()
    }

    /// Tests, every few windows, whether departures can be lazy from now on.
    fn try_lazy(&mut self) -> bool {
        match &mut self.lazy_in {
            None => return false,
            Some(0) => self.lazy_in = Some(RETRY_WINDOWS),
            Some(windows) => {
                *windows -= 1;
                return false;
            }
        }
        let egress = &mut self.egress;
        let mut ports = (0u16..).zip(&egress.cells);
        // A due time other than the end of the current frame means that something else than this frame blocks the port.
        let due = |port, waiting, busy_until| if waiting == 0 { true } else { egress.due.at(port) == busy_until };
        if self.has_release_hooks
            || ports.any(|(port, cell)| cell.block_reasons != 0 || !due(port, cell.waiting, cell.busy_until))
        {
            return false;
        }
        let busy = egress.cells.iter().enumerate().filter(|(_, cell)| cell.waiting != 0);
        egress.backlogged_ports = busy.fold(0, |busy, (port, _)| busy | 1 << (port % 64));
        egress.lazy = true;
        true
    }

    /// Enqueues a frame if the counters admit it, although they may include frames that have already left. Returns
    /// whether the frame was enqueued.
    #[inline(always)] // hot: runs once per packet-hop
    fn admit_lazily(&mut self, crossing: &Crossing, frame: &Frame) -> bool {
        let index = self.buffer.queue_index(crossing.egress, crossing.class);
        let admitted = self.steps.hook_classes & (1 << crossing.class) == 0
            && self.buffer.admit::<Lazy>(index, *crossing, frame.size_bytes);
        if admitted {
            self.enqueue::<Lazy>(index, *crossing, frame);
        }
        admitted
    }

    /// Dequeues the frames that left `port` by the arrival of `frame`, then transmits `frame` if the wire is free.
    /// Returns whether `frame` was transmitted. `cells` is indexed once, because each indexing costs five instructions.
    #[inline(always)] // hot: runs once per packet-hop
    fn send_lazily(&mut self, port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) -> bool {
        let (now, Core { egress, buffer, .. }) = (frame.at, self);
        let cell = egress.cell_mut(port);
        debug_assert!(cell.block_reasons == 0, "lazy departures require unblocked ports");
        if cell.busy_until > now {
            return false;
        }
        if cell.waiting != 0 {
            dequeue(cell, buffer, port, window);
            // The loop for further frames is a separate function, because usually only one frame leaves a port between
            // two arrivals for it.
            if cell.busy_until <= now && cell.waiting != 0 {
                dequeue_more(cell, buffer, (port, now), window);
            }
            if cell.busy_until > now {
                return false;
            }
        }
        let at = cell.start::<Lazy>(now, frame.size_bytes, &[], port);
        count_hop(frame, put_on_wire(frame, port, at, window));
        true
    }

    /// Ends lazy departures: dequeues all frames that left by `now`, and schedules the ports.
    #[cold]
    #[inline(never)]
    fn end_lazy(&mut self, now: Time, window: &mut Window<'_, OnWire>) {
        self.catch_up(now, window);
        let Core { egress, buffer, stats, .. } = &mut *self;
        for port in 0..egress.len() as u16 {
            let cell = egress.cell(port);
            if cell.waiting != 0 && cell.busy_until < now {
                egress.check_waiting(now, port, |class| buffer.head(port, class), stats);
            }
        }
        let egress = &mut self.egress;
        egress.lazy = false;
        for (port, cell) in (0u16..).zip(&egress.cells) {
            egress.due.set(port, if cell.waiting != 0 { cell.busy_until } else { Time::MAX });
        }
        self.lazy_in = Some(RETRY_WINDOWS);
    }

    /// Dequeues the frames that left any port before the window's end. Returns the time of the next departure.
    #[inline]
    fn catch_up_to_end(&mut self, window: &mut Window<'_, OnWire>) -> Time {
        // A departure at the window's end belongs to the next window.
        self.catch_up(window.end() - Time::from_ps(1), window)
    }

    /// Dequeues the frames that left any port by `now`. Afterwards the counters are exact. Returns the time of the next
    /// departure.
    #[inline(never)]
    fn catch_up(&mut self, now: Time, window: &mut Window<'_, OnWire>) -> Time {
        let (mut next, ports) = (Time::MAX, self.egress.len());
        let (mut left, mut busy) = (self.egress.backlogged_ports, 0);
        while left != 0 {
            let bit = left.trailing_zeros();
            left &= left - 1;
            for port in (bit as usize..ports).step_by(64) {
                let cell = &mut self.egress.cells[port];
                while cell.waiting != 0 && cell.busy_until <= now {
                    dequeue(cell, &mut self.buffer, port as u16, window);
                }
                if cell.waiting != 0 {
                    busy |= 1 << bit;
                    next = next.min(cell.busy_until);
                }
            }
        }
        self.egress.backlogged_ports = busy;
        next
    }
}

/// Dequeues the head of `port`, whose state is `cell`, at the time at which the wire becomes free. Like
/// [`Core::dequeue`], without the steps that rule out lazy departures.
#[inline(always)] // hot: runs once per packet-hop
fn dequeue(cell: &mut Cell, buffer: &mut PacketBuffer, port: u16, window: &mut Window<'_, OnWire>) {
    debug_assert!(
        !cell.has_accounting && buffer.layout.bounce_offset == 0 && buffer.loads.is_none(),
        "see Switch::can_be_lazy"
    );
    let (now, class) = (cell.busy_until, cell.waiting.ilog2() as u8);
    let index = buffer.queue_index(port, class);
    let Some(departed) = buffer.dequeue::<Lazy>(now, index, Unscheduled { now, port, cell, window }) else {
        debug_assert!(false, "a waiting class has no frame");
        cell.waiting &= !(1 << class);
        return;
    };
    cell.waiting &= !(u8::from(departed.is_last) << class);
}

/// The transmission of a frame at the time at which the wire becomes free.
struct Unscheduled<'a, 'w> {
    now: Time,
    port: u16,
    cell: &'a mut Cell,
    window: &'a mut Window<'w, OnWire>,
}

impl Transmission for Unscheduled<'_, '_> {
    #[inline(always)] // hot: runs once per packet-hop
    fn start(self, frame: &Frame) {
        let at = self.cell.start::<Lazy>(self.now, frame.size_bytes, &[], self.port);
        put_on_wire(frame, self.port, at, self.window);
    }
}

/// Dequeues the further frames that left by `now`. Not inlined, because every arrival would execute the setup of its
/// loop.
#[inline(never)]
fn dequeue_more(cell: &mut Cell, buffer: &mut PacketBuffer, (port, now): (u16, Time), window: &mut Window<'_, OnWire>) {
    while cell.waiting != 0 && cell.busy_until <= now {
        dequeue(cell, buffer, port, window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::bench::{datagrams, pause, plan};
    use crate::faults::{congested_over, packets, shared, trimming};
    use crate::node::SimulatedNode;
    use crate::parameters::{Buffer, Overload, PauseParameters, QueueLimit, Setup, Threshold};
    use crate::simulation::Simulation;
    use crate::watcher::{QueueSample, Watcher};
    use fabric::NodeId;
    use protocols::pabo::BounceParameters;
    use stats::flows::FlowRecord;
    use stats::histogram::Histogram;
    use traffic::{ENDLESS, Process};
    use units::Rate;
    use units::random::Stream;

    /// The complete output of a run.
    #[derive(Default)]
    struct Log(Vec<String>);

    impl Watcher for Log {
        fn flow(&mut self, flow: &FlowRecord) {
            self.0.push(format!("{flow:?}"));
        }
        fn queue(&mut self, sample: QueueSample) {
            self.0.push(format!("{sample:?}"));
        }
        fn link(&mut self, at: Time, node: NodeId, port: u16, bytes: u64, _: f64) {
            self.0.push(format!("{at:?} {node:?} {port} {bytes}"));
        }
        fn pause(&mut self, at: Time, node: NodeId, port: u16, classes: u8, pause: bool) {
            self.0.push(format!("{at:?} {node:?} {port} {classes} {pause}"));
        }
        fn delays(&mut self, delays: &Histogram) {
            self.0.push(format!("{delays:?}"));
        }
    }

    type Case = (&'static str, fn() -> Setup);

    /// Uses links with a delay of 10 us, so that a window holds many frames.
    fn long(buffer: Buffer, flow_control: FlowControl) -> Setup {
        congested_over(10_000, buffer, flow_control)
    }

    const CASES: &[Case] = &[
        ("shared buffer", || long(shared(), FlowControl::None)),
        ("small dynamic buffer", || {
            let egress = Threshold::Dynamic { alpha: (1, 2) };
            long(Buffer::Shared { bytes: 60_000, egress }, FlowControl::None)
        }),
        ("queues in bytes", || long(Buffer::PerQueue { limit: QueueLimit::Bytes(30_000) }, FlowControl::None)),
        ("queues in packets", || long(packets(20), FlowControl::None)),
        ("pfc", || long(shared(), FlowControl::Pfc(pause(60_000)))),
        ("pause", || long(shared(), FlowControl::Pause(PauseParameters { classes: 0xff, ..pause(60_000) }))),
        ("trim", || {
            let overload = trimming(None).switch.overload;
            let mut setup = long(packets(20), FlowControl::None);
            setup.switch.overload = overload;
            setup
        }),
        ("short links", || congested_over(500, shared(), FlowControl::None)),
    ];

    /// Returns the output and the summary of a run, and whether some switch was lazy at a sample.
    fn run(setup: Setup, lazy: bool) -> (Vec<String>, String, bool) {
        let mut simulation = Simulation::new(setup).unwrap();
        if !lazy {
            for index in 0..simulation.engine.len() {
                if let SimulatedNode::Switch(switch) = simulation.engine.node_mut(index) {
                    switch.core.lazy_in = None;
                }
            }
        }
        let mut log = Log::default();
        let mut was_lazy = false;
        for step in 1..=40 {
            simulation.run_until(Time::from_us(10 * step), &mut log);
            was_lazy |= simulation.switches().any(|switch| switch.core.egress.lazy);
        }
        let outcome = simulation.finish(&mut log, false);
        let peaks: Vec<u64> = simulation.switches().map(|switch| switch.core.buffer.occupancy.max).collect();
        (log.0, format!("{outcome:?} {peaks:?}"), was_lazy)
    }

    #[test]
    fn results_are_as_if_each_departure_had_happened_at_its_time() {
        let mut random = Stream::new(11, 0, 0);
        for (name, kind) in CASES {
            let mut lazy_runs = 0;
            for round in 0..24 {
                // Loads from light to heavy, in several classes, with several frame lengths.
                let most_mbps = [500, 2_000, 5_000, 9_000][round % 4];
                let flows: Vec<_> = (0..12)
                    .map(|_| {
                        let src = random.below(6) as u32;
                        let dst = (src + 1 + random.below(5) as u32) % 6;
                        let rate = Rate::from_mbps(100 + random.below(most_mbps));
                        let process =
                            if random.below(2) == 0 { Process::Poisson { rate } } else { Process::Constant { rate } };
                        let bytes = 64 + random.below(1_455) as u16;
                        let mut flow = datagrams(src, dst, process, bytes, ENDLESS);
                        flow.class = [3, 3, 1, 6][random.below(4) as usize];
                        flow
                    })
                    .collect();
                let setup = || {
                    let mut setup = kind();
                    setup.traffic = plan(6, flows.iter().cloned());
                    setup.record.utilisation = None;
                    setup.record.queues_every = Some(Time::from_ns(700));
                    setup.record.links_every = Some(Time::from_us(3));
                    setup.record.pauses = true;
                    setup.duration = Time::from_us(400);
                    setup
                };
                let (at_once, lazily) = (run(setup(), false), run(setup(), true));
                assert!(!at_once.2);
                lazy_runs += u32::from(lazily.2);
                let first = at_once.0.iter().zip(&lazily.0).find(|(a, b)| a != b);
                assert_eq!((first, at_once.0.len()), (None, lazily.0.len()), "{name}, round {round}");
                assert_eq!(at_once.1, lazily.1, "{name}, round {round}");
            }
            assert!(lazy_runs > 5, "{name}: {lazy_runs}");
        }
    }

    /// A decision that reads other ports needs their departures to be exact, so only trimming is lazy.
    #[test]
    fn overload_actions_that_redirect_frames_rule_out_lazy_departures() {
        let is_lazy = |overload: Overload| {
            let mut setup = long(packets(20), FlowControl::None);
            setup.switch.overload = overload;
            setup.record.utilisation = None;
            let simulation = Simulation::new(setup).unwrap();
            simulation.switches().any(|switch| switch.core.lazy_in.is_some())
        };
        let pabo = Overload::Bounce { pabo: BounceParameters::default(), queue: QueueLimit::Packets(20) };
        assert!(is_lazy(Overload::Drop) && is_lazy(trimming(None).switch.overload));
        assert!(!is_lazy(Overload::Detour) && !is_lazy(pabo));
    }
}
