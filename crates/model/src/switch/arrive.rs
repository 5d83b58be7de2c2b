//! What happens to a frame whose last bit has come.
//!
//! A frame is taken off its wire, copied to where it goes, and changed only there: between a change of a few
//! bytes and a copy of the whole the processor would wait for its own stores.

use super::{Detail, Switch, alert};
use crate::node::OnWire;
use check::conservation::Cause;
use engine::Window;
use protocols::frame::{Frame, Kind, flags};
use units::Time;

impl Switch {
    /// Handles the next arrival of the window.
    #[inline]
    pub(super) fn arrive(&mut self, window: &mut Window<'_, OnWire>) {
        let (in_port, OnWire(frame)) = window.take();
        self.handle(in_port, &frame, window);
    }

    /// What happens to a frame whose last bit came by `in_port`.
    #[inline(always)] // also called by the watched switch, which must not cost the others the inlining
    pub(super) fn handle(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        self.ledger.hops += 1;
        let rare = alert::FRAGILE | alert::TAGGED | alert::CREDIT | alert::GUARDED | alert::PIPELINE;
        let special = self.ports[usize::from(in_port)].alert & rare != 0 || frame.is_mac_control() || frame.ttl == 0;
        if special && self.divert(in_port, frame, window) {
            return;
        }
        match self.route(frame, in_port) {
            Some(egress) => self.forward(egress, in_port, frame, window),
            None => self.lose(in_port, frame, Cause::NoRoute),
        }
    }

    /// Frames that go no further: lost on the link, meant for this switch, or too old; those whose tag the switch
    /// rewrites, those that came for credits, and those that a
    /// pipeline takes. False for all others.
    #[cold]
    fn divert(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) -> bool {
        if self.ports[usize::from(in_port)].alert & alert::FRAGILE != 0
            && let Some(cause) = self.details[usize::from(in_port)].link.verdict(frame, &mut self.random)
        {
            self.lose(in_port, frame, cause);
        } else if frame.kind == Kind::Credit {
            self.on_credit(in_port, frame, window);
        } else if matches!(frame.kind, Kind::Xoff | Kind::Xon) {
            self.on_xoff(in_port, frame);
        } else if frame.is_mac_control() {
            self.on_pause(in_port, frame);
        } else if self.ports[usize::from(in_port)].alert & alert::CREDIT != 0 {
            self.forward_credited(in_port, frame, window);
        } else if frame.ttl > 0 && self.ports[usize::from(in_port)].alert & alert::PIPELINE != 0 {
            self.enter_pipeline(in_port, frame, window);
        } else if frame.ttl == 0 || self.ports[usize::from(in_port)].alert & alert::TAGGED != 0 {
            self.forward_unless_old(in_port, frame, window);
        } else if self.guarded.is_some() {
            self.forward_guarded(in_port, frame, window);
        } else {
            return false;
        }
        true
    }

    /// Sends a frame on, whatever it is.
    pub(super) fn forward_unless_old(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        if frame.ttl == 0 {
            self.lose(in_port, frame, Cause::TtlExpired);
        } else if self.ports[usize::from(in_port)].alert & alert::TAGGED != 0 {
            self.forward_tagged(in_port, frame, window);
        } else {
            match self.route(frame, in_port) {
                Some(egress) => self.forward(egress, in_port, frame, window),
                None => self.lose(in_port, frame, Cause::NoRoute),
            }
        }
    }

    #[inline(always)] // as handle
    pub(super) fn route(&mut self, frame: &Frame, in_port: u16) -> Option<u16> {
        if self.regular && frame.flags & flags::EXPLICIT_PATH == 0 {
            let port = self.routes.port(&self.network, frame, self.salt, in_port);
            if port.is_some() {
                return port;
            }
        }
        self.route_slowly(frame, in_port)
    }

    #[cold]
    fn route_slowly(&mut self, frame: &Frame, in_port: u16) -> Option<u16> {
        // Explicit paths count the switch that the frame is at.
        let frame = Frame { hops: frame.hops.saturating_add(1), ..*frame };
        if let Some(port) = self.pinned(&frame) {
            return Some(port);
        }
        if self.dead.is_empty() {
            self.network.route(self.node, self.salt, &frame, in_port)
        } else {
            self.route_around(&frame, in_port)
        }
    }

    /// Sends a frame on by `egress`: at once where the wire is free and nothing may go before it, else
    /// through the queue.
    #[inline]
    pub(super) fn forward(&mut self, egress: u16, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        self.forward_as(egress, in_port, (frame.class, frame.class), frame, window);
    }

    /// As [`Switch::forward`], for a frame that the ingress account holds under the first class and that waits
    /// in the queue of the second.
    #[inline(always)]
    pub(super) fn forward_as(
        &mut self,
        egress: u16,
        in_port: u16,
        (in_class, class): (u8, u8),
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) {
        let now = frame.at;
        let port = &self.ports[usize::from(egress)];
        if port.busy_until <= now {
            let at_once = if port.alert & (alert::PAUSE | alert::CONTROL | alert::CREDIT | alert::STORM) == 0 {
                port.waiting == 0
            } else {
                self.may_overtake(now, egress, class) && self.spend_credit(now, egress, class, frame.size_bytes)
            };
            if at_once {
                let at = self.occupy(now, egress, frame.size_bytes);
                // An idle port is empty: whatever theta is, nothing bounces there.
                let distance = frame.distance.saturating_sub(1);
                return window.send_with(egress, |OnWire(slot)| {
                    *slot = *frame;
                    (slot.at, slot.ttl, slot.hops) = (at, frame.ttl - 1, frame.hops.saturating_add(1));
                    slot.distance = distance;
                });
            }
        }
        if self.turning & (1 << class) != 0 {
            return self.forward_or_turn(egress, in_port, frame, window);
        }
        let queue = self.queue_index(egress, class);
        if self.admit_as(queue, in_port, (in_class, class), frame.size_bytes) {
            self.enqueue_as(egress, queue, in_port, (in_class, class), frame);
            if self.stopping & (1 << in_class) != 0 {
                self.pause_if_needed(now, in_port, in_class, window);
            }
        } else {
            self.refuse(egress, in_port, (in_class, class), frame, window);
        }
    }

    #[inline]
    pub(super) fn enqueue(&mut self, egress: u16, index: usize, in_port: u16, frame: &Frame) {
        self.enqueue_as(egress, index, in_port, (frame.class, frame.class), frame);
    }

    /// As [`Switch::enqueue`], for a frame that came in the first class and waits in the second.
    #[inline(always)]
    pub(super) fn enqueue_as(
        &mut self,
        egress: u16,
        index: usize,
        in_port: u16,
        (in_class, class): (u8, u8),
        frame: &Frame,
    ) {
        let now = frame.at;
        let queue = &mut self.queues[index];
        let mark = match &self.marker {
            Some(marker) if frame.flags & (flags::ECT | flags::CE) == flags::ECT => {
                marker.marks(u64::from(queue.bytes), &mut self.random)
            }
            _ => false,
        };
        self.ledger.marks += u64::from(mark);
        queue.push(frame, |slot| {
            (slot.in_port, slot.in_class) = (in_port, in_class);
            (slot.ttl, slot.hops) = (frame.ttl - 1, frame.hops.saturating_add(1));
            slot.flags = frame.flags | if mark { flags::CE } else { 0 };
        });
        if let Some(most) = &mut self.most_frames {
            most[index] = most[index].max(queue.len() as u32);
        }
        self.note_load(now, index);
        let port = &mut self.ports[usize::from(egress)];
        port.waiting |= 1 << class;
        let stormed = port.alert & alert::STORM != 0;
        if self.due.at(egress) == Time::MAX || stormed {
            // An idle port is blocked for this class, else the frame would be on the wire; or a watchdog drops it.
            let at = if port.busy_until > now || stormed {
                port.busy_until.max(now)
            } else {
                self.details[usize::from(egress)].pause.ask_again_at(1 << class).max(now)
            };
            if at < self.due.at(egress) {
                self.due.lower(egress, at);
            }
        }
    }

    /// Whether a frame of `class` may go at once although some class is stopped: whatever waits must be.
    #[cold]
    pub(super) fn may_overtake(&mut self, now: Time, egress: u16, class: u8) -> bool {
        let blocked = self.blocked(now, egress) | self.dropped_classes(egress);
        let port = &self.ports[usize::from(egress)];
        port.alert & alert::CONTROL == 0 && port.waiting & !blocked == 0 && blocked & (1 << class) == 0
    }

    /// The classes that may not leave by `egress` now.
    #[inline]
    pub(super) fn blocked(&mut self, now: Time, egress: u16) -> u8 {
        let port = &mut self.ports[usize::from(egress)];
        if port.alert & (alert::PAUSE | alert::CREDIT) == 0 {
            return 0;
        }
        let credited = port.alert & alert::CREDIT != 0;
        let Detail { pause, watchdog, .. } = &mut self.details[usize::from(egress)];
        let blocked = pause.blocked(now) & !watchdog.stormed();
        if pause.is_clear() {
            port.alert &= !alert::PAUSE;
        }
        if credited { blocked | self.short_of_credit(now, egress) } else { blocked }
    }

    /// A frame that came by `in_port` is gone; the ledger says why.
    #[cold]
    pub(super) fn lose(&mut self, in_port: u16, frame: &Frame, cause: Cause) {
        self.lose_as(in_port, frame.class, frame, cause);
    }

    /// As [`Switch::lose`], for a frame that came in `in_class`.
    #[cold]
    pub(super) fn lose_as(&mut self, in_port: u16, in_class: u8, frame: &Frame, cause: Cause) {
        if let Some(tracer) = &mut self.tracer {
            tracer.lost = Some(cause);
        }
        if frame.is_mac_control() {
            self.ledger.control_lost += 1;
        } else {
            let frame = Frame { in_port, in_class, ..*frame };
            self.ledger.lose(self.node.0, &frame, cause);
        }
    }
}
