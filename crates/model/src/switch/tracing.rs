//! Traced variants of the event handlers of a switch, which also record the result of each frame.

use super::Switch;
use super::core::Core;
use super::outcome::{Crossing, FrameFate, Redirected};
use crate::on_wire::OnWire;
use crate::trace::Tracer;
use check::conservation::Cause;
use engine::Window;
use protocols::frame::{Frame, flags};
use stats::trace::{Load, TraceEvent};
use units::Time;

/// A frame about to leave its queue.
pub(super) struct DepartingFrame {
    frame: Frame,
    marked: bool,
    /// Number of trace events before the departure.
    first: usize,
}

impl Switch {
    /// Like [`Switch::arrive`], with tracing.
    #[cold]
    #[inline(never)]
    pub(super) fn arrive_traced(&mut self, window: &mut Window<'_, OnWire>) {
        let (in_port, OnWire(frame)) = window.take();
        let first = self.core.events_noted();
        let outcome = self.handle(in_port, &frame, window);
        if let Some(mut tracer) = self.core.stats.tracer.take() {
            self.note_arrival(&mut tracer, in_port, &frame, outcome, first);
            self.core.stats.tracer = Some(tracer);
        }
    }

    /// Traces the result of a frame that arrived by `in_port`; `first` is the number of trace events before the
    /// arrival.
    fn note_arrival(&self, tracer: &mut Tracer, in_port: u16, frame: &Frame, outcome: FrameFate, first: usize) {
        let now = frame.at;
        let Some(egress) = outcome.egress() else {
            let mut lost_on_link = false;
            if let FrameFate::Dropped { cause, .. } = outcome {
                lost_on_link = matches!(cause, Cause::LinkDown | Cause::LinkLoss | Cause::BitError);
                if !frame.is_mac_control() {
                    tracer.note_loss(frame, now, cause, (Some(in_port), None), Load::default(), None);
                }
            }
            if !lost_on_link {
                tracer.capture_received(now, in_port, frame);
            }
            return;
        };
        tracer.capture_received(now, in_port, frame);
        let wanted = tracer.selects(now, frame, Some(in_port), Some(egress));
        // Events that the frame caused, such as a pause, must follow the events of the frame in the trace.
        let caused = if wanted { tracer.events.split_off(first) } else { Vec::new() };
        if wanted {
            tracer.note(now, frame, TraceEvent::Arrived { in_port });
        }
        let core = &self.core;
        let (account, queue_class, class) = core.rewritten(in_port, egress, frame.class);
        match outcome {
            FrameFate::Held { .. } => self.note_held(tracer, frame, egress, wanted),
            FrameFate::Dropped { cause, .. } => {
                let pair = if frame.bounces > 0 { core.buffer.layout.bounce_offset } else { 0 };
                let index = core.buffer.queue_index(egress, queue_class) + pair;
                if wanted {
                    tracer.note_ahead(now, frame, egress, core.buffer.queues.frames(index));
                }
                let account = (core.buffer.limits.lossless & 1 << account != 0)
                    .then(|| core.buffer.account_bytes(in_port, account));
                tracer.note_loss(frame, now, cause, (Some(in_port), Some(egress)), core.load(index), account);
            }
            _ => core.note_outcome(tracer, (frame, class), outcome, wanted),
        }
        tracer.events.extend(caused);
    }

    /// Like [`Switch::depart`], with tracing.
    #[cold]
    #[inline(never)]
    pub(super) fn depart_traced(&mut self, now: Time, egress: u16, window: &mut Window<'_, OnWire>) {
        self.depart::<true>(now, egress, window);
    }
}

impl Core {
    /// Returns the backlog of the queue at `index`.
    fn load(&self, index: usize) -> Load {
        let queue = &self.buffer.queues[index];
        Load { frames: queue.len() as u64, bytes: u64::from(queue.bytes) }
    }

    /// Returns the backlog of the queue of (`port`, `class`).
    pub(super) fn load_of_class(&self, port: u16, class: u8) -> Load {
        self.load(self.buffer.queue_index(port, class))
    }

    /// Traces an event of a frame, if the frame is selected.
    #[inline]
    pub(super) fn note(&mut self, crossing: Crossing, frame: &Frame, event: TraceEvent) {
        if let Some(tracer) = &mut self.stats.tracer
            && tracer.selects(frame.at, frame, Some(crossing.in_port), Some(crossing.egress))
        {
            tracer.note(frame.at, frame, event);
        }
    }

    /// Traces the result of a frame that did not arrive but originates at the switch, such as a trimmed header.
    #[inline]
    pub(super) fn trace_outcome(&mut self, crossing: Crossing, frame: &Frame, outcome: FrameFate) -> FrameFate {
        if let Some(mut tracer) = self.stats.tracer.take() {
            let (in_port, egress) = (Some(crossing.in_port), Some(crossing.egress));
            if let FrameFate::Dropped { cause, .. } = outcome {
                let load = self.load_of_class(crossing.egress, crossing.class);
                tracer.note_loss(frame, frame.at, cause, (in_port, egress), load, None);
            } else {
                let wanted = tracer.selects(frame.at, frame, in_port, egress);
                self.note_outcome(&mut tracer, (frame, frame.class), outcome, wanted);
            }
            self.stats.tracer = Some(tracer);
        }
        FrameFate::Recorded { egress: crossing.egress }
    }

    /// Traces the result of a frame that continues in `class`.
    fn note_outcome(&self, tracer: &mut Tracer, (frame, class): (&Frame, u8), outcome: FrameFate, wanted: bool) {
        match outcome {
            FrameFate::Sent { egress, marked } => {
                let mut sent = Frame { class, flags: frame.flags | mark_flag(marked), ..*frame };
                if marked && wanted {
                    tracer.note(frame.at, frame, TraceEvent::Marked { port: egress });
                }
                (sent.ttl, sent.hops) = (frame.ttl.saturating_sub(1), frame.hops.saturating_add(1));
                self.note_sent(tracer, frame.at, egress, &sent, frame.at, wanted);
            }
            FrameFate::Queued { egress, index, marked } if wanted => {
                self.note_queued(tracer, frame, egress, index as usize);
                if marked {
                    tracer.note(frame.at, frame, TraceEvent::Marked { port: egress });
                }
            }
            FrameFate::Redirected { egress, redirected } => self.trace_redirected(tracer, frame, egress, redirected),
            _ => {}
        }
    }

    /// Traces a frame that has just joined the queue at `index` of `port`.
    fn note_queued(&self, tracer: &mut Tracer, frame: &Frame, port: u16, index: usize) {
        let now = frame.at;
        let Load { frames, bytes } = self.load(index);
        let ahead = Load { frames: frames.saturating_sub(1), bytes: bytes.saturating_sub(frame.size_bytes.into()) };
        let wire_free = self.egress.cell(port).busy_until.max(now);
        tracer.note(now, frame, TraceEvent::Queued { port, ahead, wire_free });
        tracer.note_ahead(now, frame, port, self.buffer.queues.frames(index).take(ahead.frames as usize));
    }

    /// Traces a bounce or detour of a frame that found no room at port `full`.
    fn trace_redirected(&self, tracer: &mut Tracer, frame: &Frame, full: u16, redirected: Redirected) {
        let (now, Redirected { port, queue, bounces, detour, marked }) = (frame.at, redirected);
        let wanted = tracer.selects(now, frame, Some(full), Some(port));
        if wanted && detour {
            tracer.note(now, frame, TraceEvent::Detoured { port, full_port: full, bounces });
        } else if wanted {
            tracer.note(now, frame, TraceEvent::Bounced { port, full_port: full, bounces });
        }
        if let Some(index) = queue
            && wanted
        {
            self.note_queued(tracer, frame, port, index as usize);
        }
        if marked && wanted {
            tracer.note(now, frame, TraceEvent::Marked { port });
        }
        if queue.is_none() {
            let sent = Frame { bounces, flags: frame.flags | mark_flag(marked), ..*frame };
            self.note_sent(tracer, now, port, &sent, now, wanted);
        }
    }

    /// Traces the start of a transmission by `egress`.
    fn note_sent(&self, tracer: &mut Tracer, now: Time, egress: u16, frame: &Frame, since: Time, wanted: bool) {
        tracer.capture_sent(now, egress, frame);
        if wanted {
            let until = now + self.egress.state(egress).link.latency(frame.size_bytes);
            tracer.note(now, frame, TraceEvent::Started { port: egress, since, until });
        }
    }

    /// Captures the head of the queue at `index` before it leaves; `marked` if it was ECN-marked at dequeue, `first` is
    /// the number of trace events before the departure.
    pub(super) fn note_leaving(&self, index: usize, marked: bool, first: usize) -> Option<DepartingFrame> {
        let frame = *self.buffer.queues[index].front()?;
        Some(DepartingFrame { frame, marked, first })
    }

    /// Returns the number of trace events so far.
    pub(super) fn events_noted(&self) -> usize {
        self.stats.tracer.as_ref().map_or(0, |tracer| tracer.events.len())
    }

    /// Traces the departure of a frame by `egress`.
    pub(super) fn note_left(&mut self, now: Time, egress: u16, leaving: Option<DepartingFrame>) {
        let Some(DepartingFrame { frame, marked, first }) = leaving else { return };
        let Some(mut tracer) = self.stats.tracer.take() else { return };
        let wanted = tracer.selects(now, &frame, Some(frame.in_port), Some(egress));
        // Events that the departure caused must follow the departure in the trace.
        let caused = if wanted { tracer.events.split_off(first) } else { Vec::new() };
        if wanted && marked {
            tracer.note(now, &frame, TraceEvent::Marked { port: egress });
        }
        self.note_sent(&mut tracer, now, egress, &frame, frame.at, wanted);
        tracer.events.extend(caused);
        self.stats.tracer = Some(tracer);
    }

    /// Traces an XOFF or renewal of an account that holds more than `limit_bytes`. Under credit-based flow control,
    /// traces the start of a credit stall: `limit_bytes` are the credited bytes.
    #[cold]
    pub(super) fn trace_pause(&mut self, now: Time, account: usize, limit_bytes: u64, renewal: bool) {
        let Some(mut tracer) = self.stats.tracer.take() else { return };
        let (port, class) = self.account_name(account);
        let account_bytes = u64::from(self.buffer.accounts[account].bytes);
        tracer.note_port(now, TraceEvent::PauseSent { port, class, account_bytes, limit_bytes, renewal });
        // Finds the queues that contain the frames of the account: their ports are the congested ports that cause the
        // pause.
        let mut behind: Vec<(u16, u8, Load)> = Vec::new();
        for index in 0..self.buffer.queues.len() {
            let mut load = Load::default();
            for frame in self
                .buffer
                .queues
                .frames(index)
                .filter(|frame| self.buffer.account_index(frame.in_port, frame.in_class) == account)
            {
                load.frames += 1;
                load.bytes += u64::from(frame.size_bytes);
            }
            if load.frames > 0 {
                let index = if self.buffer.layout.bounce_offset == 0 {
                    index
                } else {
                    index % self.buffer.layout.bounce_offset
                };
                behind.push((
                    (index / self.buffer.layout.slots) as u16,
                    self.network.classes[index % self.buffer.layout.slots],
                    load,
                ));
            }
        }
        behind.sort_by_key(|&(port, class, load)| (std::cmp::Reverse(load.bytes), port, class));
        for &(egress, egress_class, load) in behind.iter().take(4) {
            tracer.note_port(now, TraceEvent::AccountQueue { port, class, egress, egress_class, load });
        }
        self.stats.tracer = Some(tracer);
    }

    /// Traces an XON of an account.
    #[cold]
    pub(super) fn trace_resume(&mut self, now: Time, account: usize) {
        let (port, class) = self.account_name(account);
        let account_bytes = u64::from(self.buffer.accounts[account].bytes);
        if let Some(tracer) = &mut self.stats.tracer {
            tracer.note_port(now, TraceEvent::ResumeSent { port, class, account_bytes });
        }
    }

    /// Returns the port and class of an account. The class is `None` under 802.3x, where an account covers all classes.
    fn account_name(&self, account: usize) -> (u16, Option<u8>) {
        let all = matches!(self.network.switch.flow_control, crate::parameters::FlowControl::Pause(_));
        let class = (!all).then(|| self.network.classes[account % self.buffer.layout.account_slots]);
        ((account / self.buffer.layout.account_slots) as u16, class)
    }
}

/// Returns the flag that an ECN mark adds to a frame.
fn mark_flag(marked: bool) -> u8 {
    if marked { flags::CE } else { 0 }
}
