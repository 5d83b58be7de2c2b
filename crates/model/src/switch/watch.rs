//! A switch that is watched: the same steps as ever, with a look before and after each.

use super::Switch;
use crate::node::OnWire;
use crate::trace::{Tracer, Turned};
use check::conservation::Cause;
use engine::Window;
use protocols::frame::Frame;
use record::trace::{Load, TraceEvent};
use units::Time;

/// What an egress port looks like to a frame that comes for it.
#[derive(Clone, Copy, Debug, Default)]
struct Glance {
    queue: Load,
    busy_until: Time,
    marks: u64,
}

impl Switch {
    fn glance(&self, egress: u16, index: usize) -> Glance {
        let queue = &self.queues[index];
        Glance {
            queue: Load { frames: queue.len() as u64, bytes: u64::from(queue.bytes) },
            busy_until: self.ports[usize::from(egress)].busy_until,
            marks: self.ledger.marks,
        }
    }

    /// The queue that `frame` joins at `egress`, where it does not turn, and the class with which it leaves.
    fn own_queue(&self, egress: u16, in_port: u16, frame: &Frame) -> (usize, u8) {
        let (queue_class, class) = self.rewritten(in_port, egress, frame.class);
        (self.queue_index(egress, queue_class) + if frame.bounces > 0 { self.pairs } else { 0 }, class)
    }

    /// [`Switch::arrive`], looked at.
    #[cold]
    #[inline(never)]
    pub(super) fn arrive_watched(&mut self, window: &mut Window<'_, OnWire>) {
        let (in_port, OnWire(frame)) = window.take();
        let now = frame.at;
        let ends_here = frame.is_mac_control() || frame.ttl == 0;
        let egress = if ends_here { None } else { self.route(&frame, in_port) };
        let own = egress.map_or((0, frame.class), |egress| self.own_queue(egress, in_port, &frame));
        let before = egress.map(|egress| self.glance(egress, own.0)).unwrap_or_default();
        let account = (self.lossless & 1 << frame.class != 0)
            .then(|| u64::from(self.accounts[self.account_index(in_port, frame.class)].bytes));
        let first = self.tracer.as_mut().map_or(0, |tracer| {
            (tracer.lost, tracer.turned, tracer.told, tracer.held) = (None, None, false, false);
            tracer.events.len()
        });
        self.handle(in_port, &frame, window);

        let Some(mut tracer) = self.tracer.take() else { return };
        let lost_on_link = matches!(tracer.lost, Some(Cause::LinkDown | Cause::LinkLoss | Cause::BitError));
        if lost_on_link || tracer.lost == Some(Cause::TtlExpired) || egress.is_none() {
            if let Some(cause) = tracer.lost.filter(|_| !frame.is_mac_control()) {
                tracer.note_loss(&frame, now, cause, (Some(in_port), None), Load::default(), None);
            }
            if !lost_on_link {
                tracer.sees_in(now, in_port, &frame);
            }
        } else if let Some(egress) = egress {
            tracer.sees_in(now, in_port, &frame);
            let wanted = tracer.wants(now, &frame, Some(in_port), Some(egress));
            // What the frame set off, such as a pause, comes after it.
            let caused = if wanted { tracer.events.split_off(first) } else { Vec::new() };
            if wanted {
                tracer.note(now, &frame, TraceEvent::Arrived { in_port });
            }
            if tracer.told {
                // A switch that trims notes what became of whom itself.
            } else if let Some(cause) = tracer.lost {
                if wanted {
                    let queue = &self.queues[own.0];
                    tracer.note_ahead(now, &frame, egress, queue.frames());
                }
                tracer.note_loss(&frame, now, cause, (Some(in_port), Some(egress)), before.queue, account);
            } else if let Some(turned) = tracer.turned {
                self.note_turned(&mut tracer, &frame, egress, turned);
            } else if tracer.held {
                self.note_held(&mut tracer, &frame, egress, wanted);
            } else {
                self.note_forwarded(&mut tracer, &frame, (egress, own), before, wanted);
            }
            tracer.events.extend(caused);
        }
        self.tracer = Some(tracer);
    }

    /// The frame went on: at once, or into the queue.
    fn note_forwarded(
        &self,
        tracer: &mut Tracer,
        frame: &Frame,
        (egress, (index, class)): (u16, (usize, u8)),
        before: Glance,
        wanted: bool,
    ) {
        let now = frame.at;
        let after = self.glance(egress, index);
        if after.queue.frames == before.queue.frames {
            let mut sent = Frame { class, ..*frame };
            (sent.ttl, sent.hops) = (frame.ttl.saturating_sub(1), frame.hops.saturating_add(1));
            self.note_sent(tracer, now, egress, &sent, now, wanted);
        } else if wanted {
            let event = TraceEvent::Queued { port: egress, ahead: before.queue, wire_free: before.busy_until.max(now) };
            tracer.note(now, frame, event);
            let ahead = self.queues[index].frames().take(before.queue.frames as usize);
            tracer.note_ahead(now, frame, egress, ahead);
            if after.marks > before.marks {
                tracer.note(now, frame, TraceEvent::Marked { port: egress });
            }
        }
    }

    /// `frame` lost `cut_bytes` for want of room at `egress`.
    pub(super) fn note_trim(&mut self, egress: u16, in_port: u16, frame: &Frame, cut_bytes: u16) {
        let Some(tracer) = &mut self.tracer else { return };
        tracer.told = true;
        if tracer.wants(frame.at, frame, Some(in_port), Some(egress)) {
            tracer.note(frame.at, frame, TraceEvent::Trimmed { port: egress, cut_bytes });
        }
    }

    /// The header `frame` found no room for `full` and goes back by `port`.
    pub(super) fn note_return(&mut self, full: u16, port: u16, in_port: u16, frame: &Frame) {
        let Some(tracer) = &mut self.tracer else { return };
        tracer.told = true;
        if tracer.wants(frame.at, frame, Some(in_port), Some(port)) {
            tracer.note(frame.at, frame, TraceEvent::Returned { port, full_port: full });
        }
    }

    /// Sends a header on by `egress`, and notes what becomes of it.
    pub(super) fn place(
        &mut self,
        egress: u16,
        in_port: u16,
        classes: (u8, u8),
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) {
        let index = self.queue_index(egress, classes.1);
        let before = self.glance(egress, index);
        if let Some(tracer) = &mut self.tracer {
            tracer.told = false;
        }
        self.forward_as(egress, in_port, classes, frame, window);
        let Some(mut tracer) = self.tracer.take() else { return };
        if !std::mem::replace(&mut tracer.told, true) {
            let wanted = tracer.wants(frame.at, frame, Some(in_port), Some(egress));
            match tracer.lost.take() {
                Some(cause) => {
                    let places = (Some(in_port), Some(egress));
                    tracer.note_loss(frame, frame.at, cause, places, before.queue, None);
                }
                None => self.note_forwarded(&mut tracer, frame, (egress, (index, frame.class)), before, wanted),
            }
        }
        self.tracer = Some(tracer);
    }

    /// Puts a frame that has found room after all into its queue, and notes it if another was trimmed for it.
    pub(super) fn place_admitted(&mut self, egress: u16, index: usize, in_port: u16, classes: (u8, u8), frame: &Frame) {
        let before = self.glance(egress, index);
        self.enqueue_as(egress, index, in_port, classes, frame);
        if !self.tracer.as_ref().is_some_and(|tracer| tracer.told) {
            return;
        }
        let Some(mut tracer) = self.tracer.take() else { return };
        let wanted = tracer.wants(frame.at, frame, Some(in_port), Some(egress));
        self.note_forwarded(&mut tracer, frame, (egress, (index, frame.class)), before, wanted);
        self.tracer = Some(tracer);
    }

    /// The frame found no room for `full`, and went back or by another port.
    fn note_turned(&self, tracer: &mut Tracer, frame: &Frame, full: u16, turned: Turned) {
        let (now, Turned { port, queue, bounces, detour }) = (frame.at, turned);
        let wanted = tracer.wants(now, frame, Some(full), Some(port));
        if wanted && detour {
            tracer.note(now, frame, TraceEvent::Detoured { port, full_port: full, bounces });
        } else if wanted {
            tracer.note(now, frame, TraceEvent::Bounced { port, full_port: full, bounces });
        }
        match queue {
            None => self.note_sent(tracer, now, port, &Frame { bounces, ..*frame }, now, wanted),
            Some(index) if wanted => {
                let after = self.glance(port, index);
                let others = after.queue.frames.saturating_sub(1);
                let bytes = after.queue.bytes - u64::from(frame.size_bytes);
                let ahead = Load { frames: others, bytes };
                let wire_free = after.busy_until.max(now);
                tracer.note(now, frame, TraceEvent::Queued { port, ahead, wire_free });
                tracer.note_ahead(now, frame, port, self.queues[index].frames().take(others as usize));
            }
            Some(_) => {}
        }
    }

    /// The frame has just begun to leave by `egress`.
    fn note_sent(&self, tracer: &mut Tracer, now: Time, egress: u16, frame: &Frame, since: Time, wanted: bool) {
        tracer.sees_out(now, egress, frame);
        if wanted {
            let until = now + self.details[usize::from(egress)].link.flight(frame.size_bytes);
            tracer.note(now, frame, TraceEvent::Started { port: egress, since, until });
        }
    }

    /// [`Switch::depart`], looked at.
    #[cold]
    #[inline(never)]
    pub(super) fn depart_watched(&mut self, now: Time, egress: u16, window: &mut Window<'_, OnWire>) {
        let first = usize::from(egress) * self.slots;
        // Bounce queues, where there are any, stand behind all others.
        let pairs = if self.pairs == 0 { 0..0 } else { first + self.pairs..first + self.pairs + self.slots };
        let heads: Vec<(usize, usize, Option<Frame>)> = (first..first + self.slots)
            .chain(pairs)
            .map(|index| (index, self.queues[index].len(), self.queues[index].front().copied()))
            .collect();
        let noted = self.tracer.as_ref().map_or(0, |tracer| tracer.events.len());
        let marks = self.ledger.marks;
        self.depart(now, egress, window);

        let dropped = self.dropped_classes(egress);
        let Some(mut tracer) = self.tracer.take() else { return };
        for (index, count, head) in heads {
            // What a watchdog dropped has left the queue, and not by the wire.
            let left = self.queues[index].len() < count && dropped & 1 << self.network.classes[index % self.slots] == 0;
            if let Some(frame) = head.filter(|_| left) {
                let wanted = tracer.wants(now, &frame, Some(frame.in_port), Some(egress));
                let caused = if wanted { tracer.events.split_off(noted) } else { Vec::new() };
                if wanted && self.ledger.marks > marks {
                    tracer.note(now, &frame, TraceEvent::Marked { port: egress });
                }
                self.note_sent(&mut tracer, now, egress, &frame, frame.at, wanted);
                tracer.events.extend(caused);
            }
        }
        self.tracer = Some(tracer);
    }

    /// A frame that waited for a link was lost with it.
    #[cold]
    pub(super) fn note_lost_with_link(&mut self, now: Time, egress: u16, frame: &Frame) {
        let queue = &self.queues[self.queue_index(egress, frame.class)];
        let left = Load { frames: queue.len() as u64, bytes: u64::from(queue.bytes) };
        if let Some(tracer) = &mut self.tracer {
            tracer.note_loss(frame, now, Cause::LinkDown, (Some(frame.in_port), Some(egress)), left, None);
        }
    }

    /// An account told its neighbour to stop, or to stop longer, for it holds more than `limit_bytes`; under credits,
    /// so many of the `limit_bytes` that there are that the link cannot be used.
    #[cold]
    pub(super) fn note_stop(&mut self, now: Time, account: usize, limit_bytes: u64, renewal: bool) {
        let Some(mut tracer) = self.tracer.take() else { return };
        let (port, class) = self.account_name(account);
        let account_bytes = u64::from(self.accounts[account].bytes);
        tracer.note_port(now, TraceEvent::Stop { port, class, account_bytes, limit_bytes, renewal });
        // Where its bytes wait: the congested ports behind this pause.
        let mut behind: Vec<(u16, u8, Load)> = Vec::new();
        for (index, queue) in self.queues.iter().enumerate() {
            let mut load = Load::default();
            for frame in queue.frames().filter(|frame| self.account_index(frame.in_port, frame.in_class) == account) {
                load.frames += 1;
                load.bytes += u64::from(frame.size_bytes);
            }
            if load.frames > 0 {
                let index = if self.pairs == 0 { index } else { index % self.pairs };
                behind.push(((index / self.slots) as u16, self.network.classes[index % self.slots], load));
            }
        }
        behind.sort_by_key(|&(port, class, load)| (std::cmp::Reverse(load.bytes), port, class));
        for &(egress, egress_class, load) in behind.iter().take(4) {
            tracer.note_port(now, TraceEvent::Behind { port, class, egress, egress_class, load });
        }
        self.tracer = Some(tracer);
    }

    /// An account told its neighbour to go on.
    #[cold]
    pub(super) fn note_go(&mut self, now: Time, account: usize) {
        let (port, class) = self.account_name(account);
        let account_bytes = u64::from(self.accounts[account].bytes);
        if let Some(tracer) = &mut self.tracer {
            tracer.note_port(now, TraceEvent::Go { port, class, account_bytes });
        }
    }

    /// Port and class of an account; those of 802.3x are of all classes.
    fn account_name(&self, account: usize) -> (u16, Option<u8>) {
        let all = matches!(self.network.switch.flow_control, crate::parameters::FlowControl::Pause(_));
        let class = (!all).then(|| self.network.classes[account % self.account_slots]);
        ((account / self.account_slots) as u16, class)
    }
}

impl Tracer {
    /// A class begins, or ceases, to wait for credits at `port`.
    #[cold]
    pub fn note_wait(&mut self, now: Time, port: u16, class: u8, waits: bool) {
        let (class, from) = (Some(class), now);
        let begins = TraceEvent::Paused { port, class, from, until: Time::MAX };
        self.note_port(now, if waits { begins } else { TraceEvent::Resumed { port, class, from } });
    }

    /// A neighbour's pause or resume came in by `port`.
    #[cold]
    pub fn note_heard(&mut self, now: Time, port: u16, frame: &Frame, reaction: Time, span: Time) {
        let from = now + reaction;
        let mut note = |class: Option<u8>| {
            let until = now.saturating_add(span).max(from);
            let paused = TraceEvent::Paused { port, class, from, until };
            let event = if span > Time::ZERO { paused } else { TraceEvent::Resumed { port, class, from } };
            self.note_port(now, event);
        };
        if frame.kind == protocols::frame::Kind::Pfc {
            let classes = frame.pause_call().classes;
            (0..8).filter(|class| classes & 1 << class != 0).for_each(|class| note(Some(class)));
        } else {
            note(None);
        }
    }
}
