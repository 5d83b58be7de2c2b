//! Reaction of a host to 802.3x, PFC and XOFF of its switch.

use super::Host;
use super::flows::{FlowSource, FlowState, with_ctx};
use super::held::HostHolds;
use super::timers::Event;
use crate::holds::HeldFlows;
use crate::on_wire::OnWire;
use engine::Window;
use protocols::endpoint::Sender;
use protocols::florax::HostPair;
use protocols::frame::{Frame, Kind, XoffMessage};
use units::{Time, WIRE_OVERHEAD_BYTES};

impl Host {
    /// Returns whether this host obeys PAUSE, PFC and XOFF.
    pub(super) fn obeys_pause(&self) -> bool {
        let stopping = &self.network.host.stopping;
        self.network.host.obeys_pause && stopping.ignore_pause.binary_search(&self.identity.index).is_err()
    }

    /// Handles an XOFF or XON that arrived by `in_port`.
    #[cold]
    pub(super) fn on_xoff(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        self.stats.counters.control_received += 1;
        if !self.obeys_pause() {
            self.stats.counters.control_ignored += 1;
            return;
        }
        if let Some(tracer) = &mut self.stats.tracer {
            tracer.trace_xoff_received(&self.network.fabric, in_port, frame);
        }
        let (now, pair) = (frame.at, HostPair { src: frame.src, dst: frame.dst });
        let ports = self.egress.len();
        let mut holds = self.flow_blocks.take().unwrap_or_else(|| Box::new(HostHolds::new(ports)));
        if frame.kind == Kind::Xoff {
            let XoffMessage { rate_bps, expiry } = frame.xoff_message();
            if holds.held.hold(now, in_port, pair, rate_bps, expiry) {
                self.port_queues[usize::from(in_port)].take_frames(pair, |frame| holds.held.push(now, in_port, &frame));
                let index = self.identity.index;
                self.report_stop(now, in_port, |dst, _| pair.covers(index, dst));
            }
        } else {
            for frame in holds.held.release(now, in_port, pair, true) {
                self.queue_now(now, in_port, frame);
            }
        }
        self.flow_blocks = Some(holds);
        self.schedule_held();
        self.wake_held(now, in_port, pair);
        self.serve(now, in_port, window);
    }

    /// Returns the held flows; `None` under flow control that does not hold single flows.
    pub(crate) fn held(&self) -> Option<&HeldFlows> {
        self.flow_blocks.as_ref().map(|holds| &holds.held)
    }

    /// Returns, for each hold with rate 0, at most one flow with data that waits for its end: port, start of the hold,
    /// class of the flow.
    pub(crate) fn held_flows(&self) -> impl Iterator<Item = (u16, Time, u8)> {
        let stopped = self.flow_blocks.iter().flat_map(|holds| holds.stopped());
        let waiting = stopped.filter_map(|(port, _, since, slot)| Some((port, since, slot? as usize)));
        waiting.filter_map(|(port, since, slot)| {
            let flow = self.senders.flows.get(slot)?;
            (flow.active && flow.state == FlowState::Held).then_some((port, since, flow.class))
        })
    }

    /// If senders reduce their rate on pauses, reports an XOFF or pause to the senders of the flows at `port` for which
    /// `concerns` returns true.
    pub(super) fn report_stop(&mut self, now: Time, port: u16, concerns: impl Fn(u32, u8) -> bool) {
        if !self.network.host.stopping.halves_rate {
            return;
        }
        for slot in 0..self.senders.flows.len() {
            let flow = &mut self.senders.flows[slot];
            if !flow.active || flow.port != port || !concerns(flow.dst, flow.class) {
                continue;
            }
            let number = flow.flow;
            let FlowSource::Transport(sender) = &mut flow.source else { continue };
            let returns = self.senders.returns.entry(number).or_default();
            let slowed = with_ctx!(self, now, |ctx| sender.on_returned(ctx, returns, 1));
            self.stats.counters.source_slowdowns += u64::from(slowed);
            if !self.scratch.replies.is_empty() {
                self.queue_controls(now, slot as u32);
            }
        }
    }

    /// Returns the time until which the flow in `slot`, to `dst`, must wait, and adds the flow to the flows that wait
    /// for the hold. `None` if the flow may send.
    #[cold]
    pub(super) fn hold_time(&mut self, now: Time, port: u16, slot: u32, dst: u32) -> Option<Time> {
        let holds = self.flow_blocks.as_mut()?;
        let until = holds.held.waits_until(now, port, self.identity.index, dst)?;
        holds.wait(port, (self.identity.index, dst), slot);
        Some(until)
    }

    /// Charges a frame of `size_bytes` to `dst`, sent by `port`, to the hold of its flow.
    #[cold]
    pub(super) fn note_sent(&mut self, now: Time, port: u16, dst: u32, size_bytes: u16) {
        if let Some(holds) = &mut self.flow_blocks {
            holds.held.sent(now, port, (self.identity.index, dst), u64::from(size_bytes) + WIRE_OVERHEAD_BYTES);
        }
    }

    /// If the flow of a complete frame is held, appends the frame to the queue of the flow and returns true.
    #[cold]
    pub(super) fn queue_if_held(&mut self, now: Time, port: u16, frame: &Frame) -> bool {
        let Some(holds) = &mut self.flow_blocks else { return false };
        let waits = holds.held.must_wait(port, &Frame { at: now, ..*frame });
        if waits {
            holds.held.push(now, port, frame);
            self.schedule_held();
        }
        waits
    }

    fn schedule_held(&mut self) {
        let Some(holds) = &mut self.flow_blocks else { return };
        let next = holds.held.next_event();
        if next < holds.due {
            holds.due = next;
            self.schedule(next, Event::Held);
        }
    }

    /// Makes the flows ready that waited for the end of the hold of `pair`.
    fn wake_held(&mut self, now: Time, port: u16, pair: HostPair) {
        let waiting = self.flow_blocks.as_mut().and_then(|holds| holds.waiting.remove(&(port, pair)));
        for slot in waiting.unwrap_or_default() {
            let flow = &self.senders.flows[slot as usize];
            if flow.active
                && flow.state == FlowState::Held
                && flow.port == port
                && pair.covers(self.identity.index, flow.dst)
            {
                self.make_ready(now, slot);
            }
        }
    }

    /// Sends the frames of held flows that are due by rate or expiry.
    pub(super) fn serve_held(&mut self, now: Time, window: &mut Window<'_, OnWire>) {
        let Some(mut holds) = self.flow_blocks.take() else { return };
        holds.due = Time::MAX;
        let mut freed = Vec::new();
        let mut ports = Vec::new();
        while let Some((port, frame)) = holds.held.next_due(now, &mut freed) {
            self.queue_now(now, port, frame);
            ports.push(port);
        }
        for (port, frame) in freed {
            self.queue_now(now, port, frame);
            ports.push(port);
        }
        self.flow_blocks = Some(holds);
        self.schedule_held();
        ports.sort_unstable();
        ports.dedup();
        for port in ports {
            self.serve(now, port, window);
        }
    }
}
