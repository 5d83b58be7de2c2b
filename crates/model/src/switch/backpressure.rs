//! Output backpressure: FLORAX, backpressure by destination, and 802.3x triggered by the output queue.
//!
//! ```text
//!  arrive -> route -> count the flow at its output -> violates an XOFF? -> drop
//!                                                  -> held by the next switch? -> own queue (held.rs)
//!                                                  -> forward -> above a threshold? -> XOFF by the flow's ingress port
//!  depart -> below the lower threshold? -> XON
//! ```

use super::core::Core;
use super::outcome::{Crossing, FrameFate};
use super::overload::Overload;
use crate::egress::PortState;
use crate::holds::HeldFlows;
use crate::network::Network;
use crate::on_wire::OnWire;
use crate::parameters::{Buffer, QueueLimit};
use check::HighWater;
use check::conservation::Cause;
use engine::Window;
use fabric::NodeId;
use protocols::florax::{
    BackpressureParameters, BackpressureStatistics, HostPair, Neighbours, OutputBackpressure, PauseRequest, StopTarget,
};
use protocols::frame::{Frame, MIN_FRAME_BYTES};
use protocols::pause::quanta_time;
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

/// Returns the quanta of an 802.3x pause that lasts `expiry` on a link of `rate`, capped by the 16-bit field.
fn quanta(expiry: Time, rate: Rate) -> u16 {
    let quantum = quanta_time(1, rate).as_ps().max(1);
    u16::try_from(expiry.as_ps().div_ceil(quantum)).unwrap_or(u16::MAX)
}

/// State of a switch with output backpressure.
#[derive(Debug)]
pub(crate) struct Backpressure {
    pub parameters: BackpressureParameters,
    pub limit: QueueLimit,
    /// Maximum backlog of each port, with held flows, in the unit of `limit`.
    pub max: Vec<HighWater>,
    /// Bytes of the largest frame on the wire, with preamble and gap.
    mtu_bytes: u64,
    /// Output backpressure of each output port.
    pub outputs: Vec<OutputBackpressure>,
    /// Flows that neighbours stopped or limited by XOFF at this switch.
    pub held: HeldFlows,
    requests: Vec<PauseRequest>,
}

impl Backpressure {
    /// Creates the state of `node` with `ports` ports; `None` under other flow controls.
    pub fn new(node: NodeId, network: &Network, ports: usize) -> Option<Box<Backpressure>> {
        let mut parameters = *network.flow_control_of(node).backpressure()?;
        if parameters.renewed {
            // The 16-bit pause field limits the duration of a pause. The limit is shortest on the fastest link.
            let links = network.fabric.ports(node).iter().map(|peer| network.fabric.link(peer.link).rate);
            let longest = links.map(|rate| quanta_time(u16::MAX, rate)).min().unwrap_or(Time::MAX);
            parameters.expiry = parameters.expiry.min(longest);
        }
        let limit = match network.switch_of(node).buffer {
            Buffer::PerQueue { limit } => limit,
            Buffer::Shared { bytes, .. } => QueueLimit::Bytes(bytes),
        };
        Some(Box::new(Backpressure {
            parameters,
            limit,
            max: vec![HighWater::default(); ports],
            mtu_bytes: u64::from(network.host.mtu_bytes) + WIRE_OVERHEAD_BYTES,
            outputs: vec![OutputBackpressure::new(&parameters); ports],
            held: HeldFlows::new(ports),
            requests: Vec::new(),
        }))
    }

    /// Returns whether the output `egress` stops traffic that arrives by `in_port`.
    pub fn stops(&self, egress: u16, in_port: u16, now: Time) -> bool {
        self.outputs[usize::from(egress)].stops(in_port, now)
    }

    /// Returns the statistics of each output port, and the number of flows that the output port pauses at `now`.
    pub fn statistics(&self, now: Time) -> impl Iterator<Item = (BackpressureStatistics, u64)> + '_ {
        self.outputs.iter().map(move |output| output.statistics(now))
    }
}

/// The state of the switch that output backpressure reads.
struct NeighbourView<'a> {
    network: &'a Network,
    states: &'a [PortState],
    held: &'a HeldFlows,
    egress: u16,
    mtu_bytes: u64,
    limit: QueueLimit,
}

impl<'a> NeighbourView<'a> {
    fn new(core: &'a Core, held: &'a HeldFlows, egress: u16, mtu_bytes: u64, limit: QueueLimit) -> NeighbourView<'a> {
        NeighbourView { network: &core.network, states: &core.egress.states, held, egress, mtu_bytes, limit }
    }
}

impl Neighbours for NeighbourView<'_> {
    fn held_bps(&self, pair: HostPair) -> Option<u64> {
        self.held.rate_bps(self.egress, pair)
    }

    fn committed_bps(&self, pair: HostPair) -> u64 {
        self.network.switches.committed_rates.get(&pair).copied().unwrap_or(0)
    }

    fn held(&self, to: HostPair) -> u64 {
        let load = self.held.load_of(self.egress, to);
        if matches!(self.limit, QueueLimit::Packets(_)) { load.frames } else { load.bytes }
    }

    fn grace(&self, port: u16, ahead: usize) -> Time {
        let state = &self.states[usize::from(port)];
        let (rate, delay) = (state.link.rate, state.link.delay);
        // As for PFC headroom: the XOFF waits for a frame of this switch in transmission, the neighbour finishes its
        // own frame in transmission, and may have committed to a further one. Control frames that were queued earlier
        // precede the XOFF.
        let requests = (1 + ahead + state.control_waiting() as usize) as u64;
        let call = u64::from(MIN_FRAME_BYTES) + WIRE_OVERHEAD_BYTES;
        delay * 2 + rate.serialise(3 * self.mtu_bytes + requests * call)
    }
}

impl Core {
    /// Returns the backlog in the queues of a port, in the unit of `limit`.
    fn queued_at(&self, egress: u16, limit: QueueLimit) -> u64 {
        if self.egress.cell(egress).waiting == 0 {
            return 0;
        }
        let slots = self.buffer.layout.slots;
        let queues = &self.buffer.queues[usize::from(egress) * slots..(usize::from(egress) + 1) * slots];
        match limit {
            QueueLimit::Packets(_) => queues.iter().map(|queue| queue.len() as u64).sum(),
            QueueLimit::Bytes(_) => queues.iter().map(|queue| u64::from(queue.bytes)).sum(),
        }
    }
}

impl Backpressure {
    /// Returns the backlog of a port, including held frames, in the unit of its limit.
    #[inline(always)] // hot: runs twice per packet-hop
    fn occupancy(&self, core: &Core, egress: u16) -> u64 {
        let held = self.held.load(egress);
        let held = if matches!(self.limit, QueueLimit::Packets(_)) { held.frames } else { held.bytes };
        core.queued_at(egress, self.limit) + held
    }

    /// Forwards a frame under output backpressure.
    #[inline(never)]
    pub(super) fn forward(
        &mut self,
        core: &mut Core,
        overload: &mut Overload,
        crossing: Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate {
        let Crossing { in_port, egress, .. } = crossing;
        let now = frame.at;
        let mut requests = std::mem::take(&mut self.requests);
        let at = (now, in_port, OutputBackpressure::pair(&self.parameters, frame.src, frame.dst));
        let rate = core.link_rate(egress);
        let bytes = (u64::from(frame.size_bytes) + WIRE_OVERHEAD_BYTES, self.mtu_bytes);
        let output = &mut self.outputs[usize::from(egress)];
        output.count_sender(
            &self.parameters,
            (now, in_port, HostPair { src: frame.src, dst: frame.dst }),
            bytes.0,
            rate,
        );
        // The frame is counted before admission, because a frame that violates an XOFF is dropped even if there is
        // room.
        let outcome = if output.count(&self.parameters, at, bytes, rate, &mut requests) {
            let outcome = self.take_in(core, overload, crossing, frame, window);
            if let Some((back, message)) = core.take_pending_notification() {
                let outcome = self.take_in(core, overload, back, &message, window);
                core.trace_outcome(back, &message, outcome);
                let occupancy = self.occupancy(core, back.egress);
                self.max[usize::from(back.egress)].raise(occupancy);
            }
            let occupancy = self.occupancy(core, egress);
            self.max[usize::from(egress)].raise(occupancy);
            let Backpressure { parameters, outputs, held, mtu_bytes, limit, .. } = &mut *self;
            let around = NeighbourView::new(core, held, egress, *mtu_bytes, *limit);
            outputs[usize::from(egress)].decide(parameters, at, occupancy, rate, &around, &mut requests);
            outcome
        } else {
            core.lose(crossing, frame, Cause::Nonconforming)
        };
        self.send_requests(core, now, egress, requests, window);
        outcome
    }

    /// Transmits a frame or enqueues it: in the queue of its flow if the flow is held, otherwise in the queue of its
    /// class.
    fn take_in(
        &mut self,
        core: &mut Core,
        overload: &mut Overload,
        crossing: Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate {
        let Crossing { in_port, egress, in_class, class } = crossing;
        let now = frame.at;
        let held = self.held.must_wait(egress, frame);
        if !held && core.can_start_now(now, egress, (class, frame.size_bytes)) {
            return core.forward(overload, &crossing, frame, window);
        }
        let occupancy = self.occupancy(core, egress);
        let fits = match self.limit {
            QueueLimit::Packets(most) => occupancy < u64::from(most),
            QueueLimit::Bytes(most) => occupancy + u64::from(frame.size_bytes) <= most,
        };
        if !fits {
            core.lose(crossing, frame, core.cause_without_room(crossing, frame))
        } else if held {
            core.buffer.admit_unlimited(in_port, in_class, frame.size_bytes);
            self.held.push(now, egress, &Frame { in_port, in_class, ..*frame });
            core.wake_at(self.held.next_event());
            FrameFate::Held { egress }
        } else {
            core.forward(overload, &crossing, frame, window)
        }
    }

    /// Resumes flows that `egress` paused, if its queue is short enough after a departure.
    pub(super) fn on_departure(&mut self, core: &mut Core, now: Time, egress: u16, window: &mut Window<'_, OnWire>) {
        let mut requests = std::mem::take(&mut self.requests);
        let occupancy = self.occupancy(core, egress);
        let Backpressure { parameters, outputs, held, mtu_bytes, limit, .. } = &mut *self;
        let around = NeighbourView::new(core, held, egress, *mtu_bytes, *limit);
        outputs[usize::from(egress)].on_departure(parameters, now, occupancy, &around, &mut requests);
        self.send_requests(core, now, egress, requests, window);
    }

    /// Sends the requests of the output `egress` to the neighbours, if there are any.
    #[inline]
    fn send_requests(
        &mut self,
        core: &mut Core,
        now: Time,
        egress: u16,
        requests: Vec<PauseRequest>,
        window: &mut Window<'_, OnWire>,
    ) {
        if requests.is_empty() {
            self.requests = requests;
        } else {
            self.send_all(core, now, egress, requests, window);
        }
    }

    #[cold]
    #[inline(never)]
    fn send_all(
        &mut self,
        core: &mut Core,
        now: Time,
        egress: u16,
        mut requests: Vec<PauseRequest>,
        window: &mut Window<'_, OnWire>,
    ) {
        let expiry = self.parameters.expiry;
        for &PauseRequest { port, pair, rate_bps } in &requests {
            let still_stopped = |other: usize| other != usize::from(egress) && self.outputs[other].stops(port, now);
            if self.parameters.target == StopTarget::WholePort
                && rate_bps.is_none()
                && (0..self.outputs.len()).any(still_stopped)
            {
                // The PAUSE stopped the whole port, and another output port still requires it: do not resume the
                // neighbour yet.
                continue;
            }
            let frame = match (self.parameters.target, rate_bps) {
                (StopTarget::WholePort, None) => Frame::pause(0),
                (StopTarget::WholePort, Some(_)) => Frame::pause(quanta(expiry, core.link_rate(port))),
                (_, None) => Frame::xon(pair.src, pair.dst),
                (_, Some(rate_bps)) => Frame::xoff(pair.src, pair.dst, rate_bps, expiry),
            };
            if core.stats.tracer.is_some() {
                let waiting = self.occupancy(core, egress);
                core.trace_xoff(now, egress, waiting, PauseRequest { port, pair, rate_bps });
            }
            core.send_control(now, port, frame, window);
        }
        let renews = self.parameters.renewed && requests.iter().any(|call| call.rate_bps.is_some());
        if renews && core.renewals.iter().all(|renewal| renewal.1 != u32::from(egress)) {
            core.renewals.push((now + expiry / 2, egress.into()));
            core.update_timer();
        }
        requests.clear();
        self.requests = requests;
    }

    /// Renews the XOFFs of the output ports whose renewal is due, after half the expiry time, if the XOFF is still
    /// needed.
    #[cold]
    pub(super) fn renew(&mut self, core: &mut Core, now: Time, window: &mut Window<'_, OnWire>) {
        while let Some(index) = core.renewals.iter().position(|renewal| renewal.0 <= now) {
            let (_, egress) = core.renewals.remove(index);
            let mut requests = std::mem::take(&mut self.requests);
            self.outputs[egress as usize].renew(&self.parameters, now, &mut requests);
            self.send_requests(core, now, egress as u16, requests, window);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_lasts_at_least_its_expiry() {
        let rate = Rate::from_mbps(100);
        assert_eq!(quanta(Time::from_ms(5), rate), 977);
        assert!(quanta_time(977, rate) >= Time::from_ms(5) && quanta_time(976, rate) < Time::from_ms(5));
        assert_eq!(quanta(Time::from_s(1), rate), u16::MAX);
    }
}
