//! Outputs that decide whom to stop: FLORAX, backpressure by destination, and 802.3x decided at the output.
//!
//! ```text
//!  arrive -> route -> flow counted at its output -> in excess of an XOFF? -> lost
//!                                                -> held by the next switch? -> a queue of its own (held.rs)
//!                                                -> onward as ever -> above a threshold? XOFF back by the flow's port
//!  depart -> below the lower threshold? -> XON back
//! ```

use super::Switch;
use super::held::Held;
use crate::link::Attachment;
use crate::network::Network;
use crate::node::OnWire;
use crate::parameters::{Buffer, QueueLimit};
use check::HighWater;
use check::conservation::Cause;
use engine::Window;
use fabric::NodeId;
use protocols::florax::{Call, Guard, GuardParameters, GuardStatistics, Neighbours, Pair, Whom};
use protocols::frame::{Frame, MIN_FRAME_BYTES};
use protocols::pause::quanta_time;
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

/// A pause in 802.3x, in quanta: what lasts this long on the link, at most what the field can say.
fn quanta(expiry: Time, rate: Rate) -> u16 {
    let quantum = quanta_time(1, rate).as_ps().max(1);
    u16::try_from(expiry.as_ps().div_ceil(quantum)).unwrap_or(u16::MAX)
}

/// What a switch needs whose outputs are guarded.
#[derive(Debug)]
pub(crate) struct Guarded {
    pub parameters: GuardParameters,
    pub limit: QueueLimit,
    /// The most that ever waited at each port, held flows too, in the unit of the limit.
    pub most: Vec<HighWater>,
    /// The largest frame, on the wire.
    mtu_bytes: u64,
    /// By output port.
    pub guards: Vec<Guard>,
    /// What neighbours told this switch to hold.
    pub held: Held,
    calls: Vec<Call>,
}

impl Guarded {
    /// For the switch `node` of `ports` ports; `None` where flow control is of another kind.
    pub fn new(node: NodeId, network: &Network, ports: usize) -> Option<Box<Guarded>> {
        let mut parameters = *network.flow_control_of(node).guard()?;
        if parameters.renewed {
            // No more than the field of a pause can say on any of its links.
            let links = network.fabric.ports(node).iter().map(|peer| network.fabric.link(peer.link).rate);
            let longest = links.map(|rate| quanta_time(u16::MAX, rate)).min().unwrap_or(Time::MAX);
            parameters.expiry = parameters.expiry.min(longest);
        }
        let limit = match network.switch.buffer {
            Buffer::PerQueue { limit } => limit,
            Buffer::Shared { bytes, .. } => QueueLimit::Bytes(bytes),
        };
        Some(Box::new(Guarded {
            parameters,
            limit,
            most: vec![HighWater::default(); ports],
            mtu_bytes: u64::from(network.host.mtu_bytes) + WIRE_OVERHEAD_BYTES,
            guards: vec![Guard::new(&parameters); ports],
            held: Held::new(ports),
            calls: Vec::new(),
        }))
    }

    /// What all guards did, and the flows that are stopped at `now`.
    pub fn statistics(&self, now: Time) -> impl Iterator<Item = (GuardStatistics, u64)> + '_ {
        self.guards.iter().map(move |guard| guard.statistics(now))
    }
}

/// What a guard may ask.
struct Around<'a> {
    network: &'a Network,
    details: &'a [super::Detail],
    held: &'a Held,
    egress: u16,
    mtu_bytes: u64,
    limit: QueueLimit,
}

impl Neighbours for Around<'_> {
    fn held_bps(&self, pair: Pair) -> Option<u64> {
        self.held.rate_bps(self.egress, pair)
    }

    fn agreed_bps(&self, pair: Pair) -> u64 {
        self.network.agreements.get(&pair).copied().unwrap_or(0)
    }

    fn held(&self, to: Pair) -> u64 {
        let load = self.held.load_of(self.egress, to);
        if matches!(self.limit, QueueLimit::Packets(_)) { load.frames } else { load.bytes }
    }

    fn grace(&self, port: u16, ahead: usize) -> Time {
        let detail = &self.details[usize::from(port)];
        let Attachment { rate, delay, .. } = detail.link;
        // A frame of ours holds the call back, the neighbour finishes one of its own, and the next may be on its way into
        // the wire: as with PFC's headroom. Other calls go first.
        let calls = (1 + ahead + detail.control.len()) as u64;
        let call = u64::from(MIN_FRAME_BYTES) + WIRE_OVERHEAD_BYTES;
        delay * 2 + rate.serialise(3 * self.mtu_bytes + calls * call)
    }
}

impl Switch {
    /// What waits at a port, held frames too, in the unit of its limit.
    fn occupancy(&self, guarded: &Guarded, egress: u16) -> u64 {
        let queues = &self.queues[usize::from(egress) * self.slots..(usize::from(egress) + 1) * self.slots];
        let held = guarded.held.load(egress);
        match guarded.limit {
            QueueLimit::Packets(_) => queues.iter().map(|queue| queue.len() as u64).sum::<u64>() + held.frames,
            QueueLimit::Bytes(_) => queues.iter().map(|queue| u64::from(queue.bytes)).sum::<u64>() + held.bytes,
        }
    }

    /// A frame for an output that is guarded.
    #[inline(never)]
    pub(super) fn forward_guarded(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        let Some(egress) = self.route(frame, in_port) else {
            return self.lose(in_port, frame, Cause::NoRoute);
        };
        let Some(mut guarded) = self.guarded.take() else { return };
        let now = frame.at;
        let mut calls = std::mem::take(&mut guarded.calls);
        let at = (now, in_port, Guard::pair(&guarded.parameters, frame.src, frame.dst));
        let rate = self.details[usize::from(egress)].link.rate;
        let bytes = (u64::from(frame.size_bytes) + WIRE_OVERHEAD_BYTES, guarded.mtu_bytes);
        let guard = &mut guarded.guards[usize::from(egress)];
        guard.count_sender(&guarded.parameters, (now, in_port, Pair { src: frame.src, dst: frame.dst }), bytes.0, rate);
        if guard.count(&guarded.parameters, at, bytes, rate, &mut calls) {
            self.take_in(&mut guarded, egress, in_port, frame, window);
            let occupancy = self.occupancy(&guarded, egress);
            guarded.most[usize::from(egress)].raise(occupancy);
            let Guarded { parameters, guards, held, mtu_bytes, limit, .. } = &mut *guarded;
            let (network, details, mtu_bytes, limit) = (&self.network, &self.details, *mtu_bytes, *limit);
            let around = Around { network, details, held, egress, mtu_bytes, limit };
            guards[usize::from(egress)].decide(parameters, at, occupancy, rate, &around, &mut calls);
        } else {
            self.lose(in_port, frame, Cause::Nonconforming);
        }
        self.call(now, egress, &guarded, &calls, window);
        calls.clear();
        guarded.calls = calls;
        self.guarded = Some(guarded);
    }

    /// Sends a frame on, or lets it wait: with the flow that is held, else in its class.
    fn take_in(
        &mut self,
        guarded: &mut Guarded,
        egress: u16,
        in_port: u16,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) {
        let now = frame.at;
        let held = guarded.held.must_wait(egress, frame);
        if !held && self.is_free(egress, frame) {
            return self.forward(egress, in_port, frame, window);
        }
        let occupancy = self.occupancy(guarded, egress);
        let fits = match guarded.limit {
            QueueLimit::Packets(most) => occupancy < u64::from(most),
            QueueLimit::Bytes(most) => occupancy + u64::from(frame.size_bytes) <= most,
        };
        if !fits {
            self.lose(in_port, frame, self.cause_without_room(in_port, frame.class, frame));
        } else if held {
            self.charge(in_port, frame.class, frame.size_bytes);
            guarded.held.push(now, egress, &Frame { in_port, in_class: frame.class, ..*frame });
            if let Some(tracer) = &mut self.tracer {
                tracer.held = true;
            }
            self.set_timer_with(guarded);
        } else {
            self.forward(egress, in_port, frame, window);
        }
    }

    /// A frame left the buffer of `egress`: those who were stopped for it may go on.
    pub(super) fn let_go(&mut self, now: Time, egress: u16, window: &mut Window<'_, OnWire>) {
        let Some(mut guarded) = self.guarded.take() else { return };
        let mut calls = std::mem::take(&mut guarded.calls);
        let occupancy = self.occupancy(&guarded, egress);
        let Guarded { parameters, guards, held, mtu_bytes, limit, .. } = &mut *guarded;
        let (network, details, mtu_bytes, limit) = (&self.network, &self.details, *mtu_bytes, *limit);
        let around = Around { network, details, held, egress, mtu_bytes, limit };
        guards[usize::from(egress)].on_departure(parameters, now, occupancy, &around, &mut calls);
        self.call(now, egress, &guarded, &calls, window);
        calls.clear();
        guarded.calls = calls;
        self.guarded = Some(guarded);
    }

    /// Tells the neighbours.
    fn call(&mut self, now: Time, egress: u16, guarded: &Guarded, calls: &[Call], window: &mut Window<'_, OnWire>) {
        let expiry = guarded.parameters.expiry;
        for &Call { port, pair, rate_bps } in calls {
            let still_stopped = |other: usize| other != usize::from(egress) && guarded.guards[other].stops(port, now);
            if guarded.parameters.whom == Whom::Everybody
                && rate_bps.is_none()
                && (0..guarded.guards.len()).any(still_stopped)
            {
                // A pause stops the whole port: another output, that is long too, lets it go on when it can.
                continue;
            }
            let frame = match (guarded.parameters.whom, rate_bps) {
                (Whom::Everybody, None) => Frame::pause(0),
                (Whom::Everybody, Some(_)) => Frame::pause(quanta(expiry, self.details[usize::from(port)].link.rate)),
                (_, None) => Frame::xon(pair.src, pair.dst),
                (_, Some(rate_bps)) => Frame::xoff(pair.src, pair.dst, rate_bps, expiry),
            };
            if self.tracer.is_some() {
                let occupancy = self.occupancy(guarded, egress);
                self.note_call(now, egress, occupancy, Call { port, pair, rate_bps });
            }
            self.send_control(now, port, frame, window);
        }
        let renews = guarded.parameters.renewed && calls.iter().any(|call| call.rate_bps.is_some());
        if renews && self.renewals.iter().all(|renewal| renewal.1 != u32::from(egress)) {
            let half = now + expiry / 2;
            self.renewals.push((half, egress.into()));
            self.wakes_at = self.wakes_at.min(half);
        }
    }

    /// Outputs whose stops are at half their time tell them again while they must last.
    #[cold]
    pub(super) fn renew_stops(&mut self, now: Time, window: &mut Window<'_, OnWire>) {
        let Some(mut guarded) = self.guarded.take() else { return };
        while let Some(index) = self.renewals.iter().position(|renewal| renewal.0 <= now) {
            let (_, egress) = self.renewals.remove(index);
            let mut calls = std::mem::take(&mut guarded.calls);
            guarded.guards[egress as usize].renew(&guarded.parameters, now, &mut calls);
            self.call(now, egress as u16, &guarded, &calls, window);
            calls.clear();
            guarded.calls = calls;
        }
        self.guarded = Some(guarded);
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
