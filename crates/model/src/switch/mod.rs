//! A switch: combined input and output queued, one shared packet buffer.
//!
//! ```text
//!   arrive   link faults, MAC control, TTL, route, tags ...           arrive.rs, forwarding.rs, tags.rs
//!   forward  idle port: transmit at once; otherwise admit, mark, enqueue           core.rs, buffer.rs
//!   overload no room: drop, bounce, detour or trim the frame                       overload/, one file each
//!   depart   control frames first, then the scheduler's choice of classes          depart.rs, ../egress/
//! ```
//!
//! [`Core`] holds the state that every frame uses. Each mechanism is a struct beside it that owns its own state and
//! receives `&mut Core`. Mechanisms do not access each other, with one exception: backpressure forwards frames through
//! the overload action.

mod arrive;
mod backpressure;
mod buffer;
mod core;
mod credit;
mod depart;
mod fail;
#[cfg(test)]
mod faults;
mod forwarding;
mod held;
pub(crate) mod lazy;
mod load;
mod mechanisms;
mod outcome;
mod overload;
mod pause;
mod preempt;
mod tags;
mod tracing;
mod tracing_backpressure;

use crate::egress::Cell;
use crate::network::Network;
use crate::on_wire::OnWire;
use crate::queue::Queue;
use backpressure::Backpressure;
use check::load::QueueLoad;
use engine::Window;
use fabric::NodeId;
use fabric::routing::mix32;
use overload::Overload;
use overload::action::Action;
use overload::pipeline::Pipelines;
use protocols::frame::Frame;
use std::sync::Arc;
use units::Time;

pub(crate) use self::core::Core;
pub(crate) use self::load::PortLength;

/// One switch of the fabric.
#[derive(Debug)]
#[repr(C)] // so that the core starts at a cache line
pub(crate) struct Switch {
    pub(crate) core: Core,
    pub(crate) overload: Overload,
    /// State of output backpressure.
    pub(crate) backpressure: Option<Box<Backpressure>>,
    /// Future failures (`true`) and repairs of links: time, port. Sorted descending, so that the earliest is last.
    link_changes: Vec<(Time, u16, bool)>,
}

impl Switch {
    pub fn new(node: NodeId, network: &Arc<Network>, mut link_changes: Vec<(Time, u16, bool)>) -> Self {
        link_changes.sort_unstable_by(|a, b| b.cmp(a));
        let mut core = Core::new(node, network, |port| link_changes.iter().any(|change| change.1 == port));
        let overload = Overload::new(node, network);
        core.steps.hooks = core.steps.hooks.with(overload.hooks());
        core.steps.overload_classes = overload.decided_classes();
        core.steps.hook_classes = core.steps.overload_classes | core.mechanisms.queued_classes;
        let backpressure = Backpressure::new(node, network, core.egress.len());
        let mut switch = Switch { core, overload, backpressure, link_changes };
        switch.core.lazy_in = switch.can_be_lazy().then_some(0);
        switch.set_timer();
        switch
    }

    /// Prefetches the memory that the next run uses. `distance` is the prefetch distance in nodes: 2 prefetches the
    /// arrays, 1 prefetches the frames of non-empty queues.
    pub fn prefetch(&self, distance: usize) {
        let Core { egress, buffer, routing, .. } = &self.core;
        if distance == 2 {
            engine::prefetch::<[Cell]>(&egress.cells);
            engine::prefetch::<[Queue]>(&buffer.queues);
            if !egress.lazy {
                egress.due.prefetch();
            }
            routing.routes.prefetch();
            if buffer.limits.lossless != 0 {
                engine::prefetch(buffer.accounts.as_slice());
            }
        } else {
            for (port, cell) in egress.cells.iter().enumerate() {
                if cell.waiting != 0 {
                    (port * buffer.layout.slots..(port + 1) * buffer.layout.slots)
                        .for_each(|index| buffer.queues[index].prefetch());
                }
            }
        }
    }

    /// Handles departures, arrivals and timers of each instant in this order, up to the window's end. Returns the time
    /// of the next departure or timer.
    #[inline]
    pub fn run(&mut self, window: &mut Window<'_, OnWire>) -> Time {
        // Neither function is inlined, because each call would then also save and restore the registers that only the
        // other function uses.
        if self.core.is_lazy(window) { self.run_lazily(window) } else { self.run_eager(window) }
    }

    /// Like [`Switch::run`], with every departure at its exact time.
    #[inline(never)]
    fn run_eager(&mut self, window: &mut Window<'_, OnWire>) -> Time {
        if self.core.stats.tracer.is_none() { self.run_as::<false>(window) } else { self.run_as::<true>(window) }
    }

    /// `WATCHED` selects tracing once per window, so that there is no test per frame. `inline(always)`, because a call
    /// per window costs 3 % of the instructions when windows are short.
    #[inline(always)]
    fn run_as<const WATCHED: bool>(&mut self, window: &mut Window<'_, OnWire>) -> Time {
        loop {
            let due = self.core.egress.due.earliest();
            let arrival = window.next_arrival();
            if due <= arrival {
                let timer = self.core.next_timer;
                if due.min(timer) >= window.end() {
                    return due.min(timer);
                }
                if due <= timer {
                    let port = self.core.egress.due.earliest_port();
                    if WATCHED {
                        self.depart_traced(due, port, window);
                    } else {
                        self.depart::<false>(due, port, window);
                    }
                } else {
                    self.on_timer(timer, window);
                }
                continue;
            }
            if self.core.next_timer < arrival {
                self.on_timer(self.core.next_timer, window);
                continue;
            }
            // Rotate the order of simultaneous arrivals pseudo-randomly, so that no traffic period favours a port.
            window.rotate_ties(|| mix32(self.core.instants));
            self.core.instants = self.core.instants.wrapping_add(1);
            loop {
                if WATCHED {
                    self.arrive_traced(window)
                } else {
                    self.arrive(window)
                }
                if window.next_arrival() != arrival {
                    break;
                }
            }
        }
    }

    /// Sets the switch timer to the earliest link change, release of a held flow, pipeline event or renewal.
    fn set_timer(&mut self) {
        let change = self.link_changes.last().map_or(Time::MAX, |change| change.0);
        let hold = self.backpressure.as_ref().map_or(Time::MAX, |backpressure| backpressure.held.next_event());
        let inside = self.pipelines().map_or(Time::MAX, Pipelines::next);
        self.core.next_timer = change.min(hold).min(inside);
        self.core.update_timer();
    }

    #[cold]
    fn on_timer(&mut self, now: Time, window: &mut Window<'_, OnWire>) {
        // Fixed order within an instant: link changes, pipeline events, renewals, held flows.
        while self.link_changes.last().is_some_and(|change| change.0 == now) {
            self.change(now, window);
        }
        if let Some(trimming) = self.overload.trimming_mut() {
            trimming.run_pipelines(&mut self.core, now, window);
        }
        if self.core.renewals.iter().any(|renewal| renewal.0 <= now) {
            match &mut self.backpressure {
                Some(backpressure) => backpressure.renew(&mut self.core, now, window),
                None if self.core.steps.has_credits => self.core.regrant(now, window),
                None => self.core.renew_pauses(now, window),
            }
        }
        if let Some(backpressure) = &mut self.backpressure {
            backpressure.serve_held(&mut self.core, now);
        }
        self.set_timer();
    }

    /// Checks work conservation of the frames that still wait when the run ends at `now`.
    pub fn judge_at_end(&mut self, now: Time) {
        let Core { egress, buffer, stats, .. } = &mut self.core;
        for port in 0..egress.len() as u16 {
            egress.check_at_end(now, port, |class| buffer.head(port, class), stats);
        }
    }

    pub fn node(&self) -> NodeId {
        self.core.node()
    }

    /// See [`Action::redirections`].
    pub fn redirections(&self) -> Option<&[u64]> {
        self.overload.redirections()
    }

    /// Returns the pipeline model, if the scenario has one.
    pub fn pipelines(&self) -> Option<&Pipelines> {
        self.overload.trimming()?.pipelines.as_deref()
    }

    /// Returns the normal queue of the class in `slot` at `port`.
    pub fn queue(&self, port: usize, slot: usize) -> &Queue {
        let buffer = &self.core.buffer;
        &buffer.queues[port * buffer.layout.slots + slot]
    }

    /// Returns the maximum length in bytes of the queue of the class in `slot` at `port`. If there are bounce queues,
    /// returns the larger maximum of the normal queue and the bounce queue.
    pub fn longest_bytes(&self, port: usize, slot: usize) -> u32 {
        let buffer = &self.core.buffer;
        let index = port * buffer.layout.slots + slot;
        buffer.queues[index].max_bytes.max(buffer.queues[index + buffer.layout.bounce_offset].max_bytes)
    }

    /// Returns the frames in the normal queue of the class in `slot` at `port`, oldest first.
    pub fn frames(&self, port: usize, slot: usize) -> impl Iterator<Item = &Frame> {
        let buffer = &self.core.buffer;
        buffer.queues.frames(port * buffer.layout.slots + slot)
    }

    /// Returns the bounce queue of the class in `slot` at `port`, if the switch has bounce queues.
    pub fn bounce_queue(&self, port: usize, slot: usize) -> Option<&Queue> {
        let buffer = &self.core.buffer;
        (buffer.layout.bounce_offset != 0)
            .then(|| &buffer.queues[port * buffer.layout.slots + slot + buffer.layout.bounce_offset])
    }

    /// Returns utilisation statistics, capacity and threshold length of each queue. Capacity and threshold are in the
    /// unit of the queue limit.
    pub fn loads(&self) -> impl Iterator<Item = (QueueLoad, u64, u64)> {
        let egress = &self.core.egress;
        self.core.buffer.loads(|port| port < egress.len() && egress.is_used(port as u16))
    }

    /// Returns whether bytes are counted per ingress account.
    pub fn keeps_accounts(&self) -> bool {
        self.core.buffer.limits.lossless != 0
    }

    /// Returns the number of ingress accounts that pause their neighbour, and the number of these accounts that are
    /// empty.
    pub fn paused_accounts(&self) -> (u64, u64) {
        let stopping = || self.core.buffer.accounts.iter().filter(|account| account.paused);
        (stopping().count() as u64, stopping().filter(|account| account.bytes == 0).count() as u64)
    }

    /// Returns the headroom in bytes of the account of `class` at `port`. Under credit-based flow control, returns the
    /// whole buffer space of the account.
    pub fn room_bytes(&self, port: u16, class: u8) -> u64 {
        let buffer = &self.core.buffer;
        buffer.headroom[buffer.account_index(port, class)]
    }

    /// Restarts all measurements at `now`.
    pub fn reset(&mut self, now: Time) {
        self.core.buffer.reset(now);
        self.core.egress.reset(now);
    }
}
