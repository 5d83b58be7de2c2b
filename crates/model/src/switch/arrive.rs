//! Reception of frames at a switch, after their last bit.
//!
//! ```text
//!   link faults -> MAC control? -> credits -> TTL -> route -> tags -> hooks
//!     -> pipeline | backpressure -> forward (core.rs)
//! ```
//!
//! The order decides which mechanism handles a frame first. Most ports need none of these steps, so their frames are
//! routed directly.
//!
//! A frame stays in the ring of its wire until it is copied to its destination, and only the copy is changed. A copy of
//! the whole frame directly after a change of a few bytes would stall, because store forwarding fails.

use super::Switch;
use super::core::ingress;
use super::outcome::{Crossing, FrameFate};
use crate::on_wire::OnWire;
use check::conservation::Cause;
use engine::Window;
use protocols::frame::{Frame, Kind};

impl Switch {
    /// Handles the next arrival of the window.
    #[inline]
    pub(super) fn arrive(&mut self, window: &mut Window<'_, OnWire>) {
        window.take_in_place(|in_port, OnWire(frame), window| self.handle(in_port, frame, window));
    }

    /// Handles a frame whose last bit arrived by `in_port`.
    #[inline(always)] // forced, because the second caller (the traced switch) would otherwise prevent inlining
    pub(super) fn handle(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) -> FrameFate {
        self.core.stats.counters.hops += 1;
        // A TTL of 0 identifies an expired frame or a MAC control frame.
        if self.core.egress.cell(in_port).ingress != 0 || frame.ttl == 0 {
            return self.handle_specially(in_port, frame, window);
        }
        let Some(egress) = self.core.route(frame, in_port) else {
            return self.core.lose_unrouted(in_port, frame, Cause::NoRoute);
        };
        let crossing = Crossing { in_port, egress, in_class: frame.class, class: frame.class };
        self.core.forward(&mut self.overload, &crossing, frame, window)
    }

    /// Like [`Switch::handle`], with all optional steps.
    #[inline(never)]
    fn handle_specially(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) -> FrameFate {
        let core = &mut self.core;
        let features = core.egress.cell(in_port).ingress;
        if features & ingress::LOSSY_LINK != 0
            && let Some(cause) = core.egress.state(in_port).link.verdict(frame, &mut core.random)
        {
            return core.lose_unrouted(in_port, frame, cause);
        }
        if frame.is_mac_control() {
            self.on_control(in_port, frame, window);
            return FrameFate::Consumed;
        }
        if features & ingress::CREDITED == 0 {
            return self.forward_by_stages(features, in_port, frame, window);
        }
        // The frame occupies granted buffer space. If it leaves the buffer at once, its space is granted again.
        core.take_room(in_port, frame);
        let outcome = self.forward_by_stages(features, in_port, frame, window);
        self.core.grant_free_room(in_port, frame, window);
        outcome
    }

    /// Runs the steps of a data frame from the TTL check on.
    fn forward_by_stages(
        &mut self,
        features: u8,
        in_port: u16,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate {
        let Switch { core, overload, backpressure, .. } = self;
        if frame.ttl == 0 {
            return core.lose_unrouted(in_port, frame, Cause::TtlExpired);
        }
        let Some(egress) = core.route(frame, in_port) else {
            return core.lose_unrouted(in_port, frame, Cause::NoRoute);
        };
        let mut crossing = Crossing { in_port, egress, in_class: frame.class, class: frame.class };
        let mut frame = *frame;
        if features & ingress::TAGGED != 0 {
            (crossing.in_class, crossing.class, frame.class) = core.rewritten(in_port, egress, frame.class);
        }
        let mut marked = false;
        if features & ingress::HOOKS != 0 {
            marked = match core.run_arrival_hooks(&mut crossing, &mut frame) {
                Ok(marked) => marked,
                Err(fate) => return fate,
            };
        }
        let fate = match (overload.trimming_mut(), backpressure) {
            (Some(trimming), _) if features & ingress::PIPELINE != 0 => {
                trimming.enter_pipeline(core, crossing, &frame, window)
            }
            (_, Some(backpressure)) => backpressure.forward(core, overload, crossing, &frame, window),
            _ => core.forward(overload, &crossing, &frame, window),
        };
        if marked { fate.with_mark() } else { fate }
    }

    /// Handles a MAC control frame, which this switch consumes.
    #[cold]
    fn on_control(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        match (frame.kind, &mut self.backpressure) {
            (Kind::Credit, _) => self.core.on_credit(in_port, frame, window),
            (Kind::Xoff | Kind::Xon, Some(backpressure)) => backpressure.on_xoff(&mut self.core, in_port, frame),
            (Kind::Xoff | Kind::Xon, None) => {
                self.core.stats.counters.control_received += 1;
                self.core.stats.counters.control_ignored += 1;
            }
            _ => self.core.on_pause(in_port, frame),
        }
    }
}
