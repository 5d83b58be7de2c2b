//! Collects the input of the checks from all nodes, and evaluates the checks.

use crate::account::Counters;
use crate::measured::WarmUpState;
use crate::node::SimulatedNode;
use crate::parameters::{Buffer, Overload, QueueLimit, Threshold};
use crate::simulation::Simulation;
use crate::stall;
use crate::switch::Switch;
use check::buffer::{self, HighWaterMark, OccupancyRecount, Unit};
use check::little::{LittleFindings, QueueArea};
use check::lossless::LosslessGuarantee;
use check::stall::Stalls;
use check::{AccountId, BufferLocation, ControlLedger, PauseDecisions, QueueId, Verdict};
use protocols::frame::MIN_FRAME_BYTES;
use units::Time;

impl Simulation {
    /// Returns the state of checks and counters at the end of the warm-up.
    pub(crate) fn warm_up_state(&self, now: Time) -> WarmUpState {
        let little = LittleFindings::of_part(now, self.areas());
        WarmUpState { little, marks: self.marks().collect(), payload_bytes: self.payload_bytes() }
    }

    /// Returns the verdicts of all checks that apply to the setup.
    pub(crate) fn checks(&self, counters: &Counters, now: Time, expect_deadlock: bool) -> Vec<Verdict> {
        let mut checks = vec![counters.packets.verdict()];
        if self.network.switch.flow_control.lossless() != 0 {
            let first = counters.first_lossless_drop.map(|(at, node, port, class)| {
                format!("at {at} at {}, ingress port {port}, class {class}", self.name_of(node))
            });
            let losses = &counters.lossless_losses;
            checks.push(check::lossless::verdict(&counters.packets, losses, self.promise(), first.as_deref()));
            let Counters { control_sent: sent, control_received: received, control_lost: lost, .. } = *counters;
            let control = ControlLedger { sent, received, lost, in_flight: counters.control_in_flight };
            checks.push(counters.pauses.verdict(&control, &self.stops(counters, now)));
        }
        if self.network.can_bounce() {
            checks.push(counters.bounces_in_frames.verdict(self.wrong_drops(counters)));
        }
        if self.network.measurement.in_order {
            checks.push(counters.order.verdict(counters.packets.delivered_whole.frames));
        }
        let WarmUpState { little: before, marks: at_warm_up, .. } = &self.warmed_up;
        // Both iterators yield the same resources in the same order, because the set of resources depends only on the
        // setup.
        let mut at_warm_up = at_warm_up.iter();
        let marks = self.marks().map(|mark| HighWaterMark {
            peak: at_warm_up.next().map_or(mark.peak, |it| it.peak.max(mark.peak)),
            ..mark
        });
        // A network may have half a million ports, so each rank evaluates its own ports.
        let parts = self.gather(buffer::OccupancyFindings::of(marks, self.books()));
        checks.push(
            parts
                .into_iter()
                .reduce(buffer::OccupancyFindings::beside)
                .unwrap_or_default()
                .verdict(|node| self.name_of(node)),
        );
        let warms_up = self.timeline.warm_up > Time::ZERO;
        let since =
            if warms_up { LittleFindings::of_part(now, self.areas()) } else { LittleFindings::of(now, self.areas()) };
        let spans = self.gather((before.clone(), since));
        let spans = spans.into_iter().reduce(|all, part| (all.0.beside(part.0), all.1.beside(part.1)));
        let (before, since) = spans.unwrap_or_default();
        checks.push(before.and_then(since).verdict(|node| self.name_of(node)));
        let own = self.ports_that_sent();
        let ports = self.gather(own).iter().sum();
        checks.push(counters.work.verdict(ports, !self.timeline.stopped_early, |node| self.name_of(node)));
        if self.network.switch.flow_control.can_deadlock() {
            let mut verdict = check::deadlock::verdict(
                self.detection.deadlock.as_ref(),
                expect_deadlock,
                self.detection.deadlock_checks,
            );
            if let Some(found) = &self.detection.deadlock {
                verdict.detail = self.deadlock_words(found, expect_deadlock);
            }
            checks.push(verdict);
        }
        if self.network.switch.flow_control.lossless() != 0 {
            // A collective call, so all ranks must make it, even if its result is not used.
            let stalls = stall::find(self, now);
            // PFC watchdogs resolve deadlocks, so queues in a deadlock at the end of the run are no fault.
            let breaks = self.network.switch.flow_control.pause().is_some_and(|pause| pause.watchdog.is_some());
            let deadlocks_checked = self.detection.deadlock.is_some() || expect_deadlock || breaks;
            checks.push(match self.promise() {
                LosslessGuarantee::Nothing => Stalls::nothing(),
                _ => stalls.verdict(deadlocks_checked, |node| self.name_of(node)),
            });
        }
        checks
    }

    /// Returns the name of a node.
    fn name_of(&self, node: u32) -> String {
        self.network.fabric.name(fabric::NodeId(node)).to_owned()
    }

    /// Returns the number of ports of this rank that sent a frame.
    fn ports_that_sent(&self) -> u64 {
        let machines = (0..self.engine.len()).map(|index| self.engine.node(index));
        let ports = machines
            .filter_map(SimulatedNode::egress)
            .flat_map(|egress| (0..egress.len() as u16).map(move |port| (egress, port)));
        ports.filter(|(egress, port)| egress.cell(*port).sent_bytes > 0).count() as u64
    }

    /// Returns the extent of the lossless guarantee.
    fn promise(&self) -> LosslessGuarantee {
        let network = &self.network;
        let lossless = network.switch.flow_control.lossless();
        let is_lossless = |class: &u8| lossless >> class & 1 == 1;
        let none_has_flow_control = || network.fabric.switches().all(|switch| !network.has_flow_control(switch));
        if !network.classes.iter().any(is_lossless) || none_has_flow_control() {
            LosslessGuarantee::Nothing
        } else if network.classes.iter().all(is_lossless) {
            LosslessGuarantee::AllClasses
        } else {
            LosslessGuarantee::SomeClasses
        }
    }

    /// Returns the number of pauses that switches started, ended and still keep in force. Credit-based flow control
    /// has none: a sender without credits stops without a message.
    fn stops(&self, counters: &Counters, now: Time) -> PauseDecisions {
        if self.network.switch.flow_control.backpressure().is_some() {
            let totals = self.backpressure_totals(now);
            let outputs = self.switches().filter_map(|switch| switch.backpressure.as_ref());
            let standing = outputs.flat_map(|backpressure| backpressure.statistics(now)).map(|one| one.1).sum::<u64>();
            let standing = self.gather(standing).iter().sum();
            return PauseDecisions { stops: totals.xoffs, ended: totals.xons + totals.expiries, standing, idle: 0 };
        }
        let mut stops =
            PauseDecisions { stops: counters.pauses_sent, ended: counters.resumes_sent, ..PauseDecisions::default() };
        let own = self.switches().map(Switch::paused_accounts).fold((0, 0), |all, it| (all.0 + it.0, all.1 + it.1));
        for (standing, idle) in self.gather(own) {
            (stops.standing, stops.idle) = (stops.standing + standing, stops.idle + idle);
        }
        stops
    }

    /// Returns the peak occupancy and the limit of all limited resources of this rank.
    fn marks(&self) -> impl Iterator<Item = HighWaterMark> {
        self.switches().flat_map(|switch| self.marks_of(switch))
    }

    fn marks_of(&self, switch: &Switch) -> Vec<HighWaterMark> {
        let mut marks = Vec::new();
        let node = switch.node().0;
        if let Buffer::Shared { bytes, .. } = self.network.switch_of(switch.node()).buffer {
            let location = BufferLocation::Buffer { node };
            marks.push(HighWaterMark {
                location,
                peak: switch.core.buffer.occupancy.max,
                limit: bytes,
                unit: Unit::Bytes,
            });
        }
        self.mark_queues(switch, &mut marks);
        for (port, account, limit) in self.headrooms(switch) {
            let location = BufferLocation::Account(AccountId { node, port, class: account.0 });
            marks.push(HighWaterMark { location, peak: account.1, limit, unit: Unit::Bytes });
        }
        for (port, most) in switch.backpressure.iter().flat_map(|backpressure| backpressure.max.iter().enumerate()) {
            let location = BufferLocation::Port { node, port: port as u16 };
            if let Buffer::PerQueue { limit } = self.network.switch_of(switch.node()).buffer {
                let (limit, unit) = parts(limit);
                marks.push(HighWaterMark { location, peak: most.peak(), limit, unit });
            }
        }
        let room = self.network.switch.overload.pipelines().and_then(|pipes| pipes.deflect_queue);
        if let Some((pipes, limit)) = switch.pipelines().zip(room) {
            for (pipeline, peak) in pipes.max_waiting(limit).enumerate() {
                let location = BufferLocation::Recirculation { node, pipeline: pipeline as u16 };
                let (limit, unit) = parts(limit);
                marks.push(HighWaterMark { location, peak, limit, unit });
            }
        }
        marks
    }

    fn mark_queues(&self, switch: &Switch, marks: &mut Vec<HighWaterMark>) {
        let (network, node) = (&self.network, switch.node().0);
        let lossless = network.flow_control_of(switch.node()).lossless();
        for port in 0..switch.core.egress.len() {
            for (slot, &class) in network.classes.iter().enumerate() {
                let location = BufferLocation::Queue(QueueId { node, port: port as u16, class });
                let mut mark = |index: usize, limit: QueueLimit| {
                    let (limit, unit) = parts(limit);
                    let peak = match (unit, &switch.core.buffer.max_frames) {
                        (Unit::Bytes, _) => switch.core.buffer.queues[index].max_bytes.into(),
                        (Unit::Frames, most) => most.as_ref().map_or(0, |most| most[index].into()),
                    };
                    marks.push(HighWaterMark { location, peak, limit, unit });
                };
                let index = port * network.classes.len() + slot;
                let limit = match network.switch_of(switch.node()).buffer {
                    Buffer::PerQueue { limit } => limit,
                    // Lossless queues may fill the buffer. Their ingress accounts are limited instead.
                    Buffer::Shared { egress: Threshold::Static { bytes }, .. } if lossless >> class & 1 == 0 => {
                        QueueLimit::Bytes(bytes)
                    }
                    Buffer::Shared { .. } => continue,
                };
                mark(index, self.with_headers(class, limit));
                if let Overload::Bounce { queue, .. } = network.switch.overload {
                    mark(index + switch.core.buffer.layout.bounce_offset, queue);
                }
            }
        }
    }

    /// Returns the limit of a queue of `class`. A header queue may have a limit above `limit`.
    fn with_headers(&self, class: u8, limit: QueueLimit) -> QueueLimit {
        let network = &self.network;
        let Overload::Trim { trim, header_queue, .. } = network.switch.overload else { return limit };
        if !trim.headers_wait_in(class) || matches!(network.switch.buffer, Buffer::Shared { .. }) {
            return limit;
        }
        let (least, most) = (u64::from(MIN_FRAME_BYTES), u64::from(network.host.mtu_bytes));
        match (limit, header_queue) {
            (QueueLimit::Bytes(data), QueueLimit::Bytes(headers)) => QueueLimit::Bytes(data.max(headers)),
            (QueueLimit::Packets(data), QueueLimit::Packets(headers)) => QueueLimit::Packets(data.max(headers)),
            // Data in one unit and headers in the other: converts the header limit to the unit of `limit`, rounded
            // up.
            (QueueLimit::Bytes(data), QueueLimit::Packets(headers)) => {
                QueueLimit::Bytes(data.max(u64::from(headers) * most))
            }
            (QueueLimit::Packets(data), QueueLimit::Bytes(headers)) => {
                QueueLimit::Packets(data.max(u32::try_from(headers / least).unwrap_or(u32::MAX)))
            }
        }
    }

    /// Returns the accounts of `switch` with headroom: port, (class, peak use in bytes), headroom in bytes.
    fn headrooms(&self, switch: &Switch) -> impl Iterator<Item = (u16, (u8, u64), u64)> {
        let network = &self.network;
        let slots = switch.core.buffer.accounts.len() / switch.core.egress.len().max(1);
        switch.core.buffer.accounts.iter().enumerate().filter_map(move |(index, account)| {
            let (port, slot) = (index / slots, index % slots);
            let limit = {
                let link = &switch.core.egress.states[port].link;
                network.headroom(switch.node(), link.rate, link.delay, slot)
            };
            let class = if slots == 1 { 0 } else { network.classes[slot] };
            (limit > 0).then(|| (port as u16, (class, account.headroom_max_bytes.into()), limit))
        })
    }

    /// Returns each byte counter of each switch of this rank, with the bytes recounted from the queues of the switch.
    fn books(&self) -> impl Iterator<Item = OccupancyRecount> {
        self.switches().flat_map(|switch| {
            let held = switch.backpressure.iter().flat_map(|backpressure| backpressure.held.frames());
            let found_bytes = switch.core.buffer.queues.iter().map(|queue| u64::from(queue.bytes)).sum::<u64>()
                + held.map(|frame| u64::from(frame.size_bytes)).sum::<u64>();
            let location = BufferLocation::Buffer { node: switch.node().0 };
            let mut counted = vec![switch.core.buffer.occupancy.used];
            if switch.keeps_accounts() {
                counted.push(switch.core.buffer.accounts.iter().map(|account| u64::from(account.bytes)).sum());
            }
            if let Buffer::Shared { .. } = self.network.switch.buffer {
                let headroom =
                    switch.core.buffer.accounts.iter().map(|account| u64::from(account.headroom_bytes)).sum::<u64>();
                counted.push(switch.core.buffer.occupancy.shared_used + headroom);
            }
            counted.into_iter().map(move |counted_bytes| OccupancyRecount { location, counted_bytes, found_bytes })
        })
    }

    /// Returns the input of the check of Little's law for all queues of this rank (class queues, held flows, and queues
    /// of recirculation ports): location, time integral of the queue length, length, and arrival time of each queued
    /// frame.
    fn areas(&self) -> impl Iterator<Item = (BufferLocation, &QueueArea, u64, Vec<Time>)> {
        let slots = self.network.classes.len();
        let of_classes = self.switches().flat_map(move |switch| {
            switch.core.buffer.queues.iter().enumerate().map(move |(index, queue)| {
                let location = self.location_of(switch, index, slots);
                (
                    location,
                    &queue.area,
                    queue.len() as u64,
                    switch.core.buffer.queues.frames(index).map(|frame| frame.at).collect(),
                )
            })
        });
        let held_at_switches =
            self.switches().filter_map(|switch| Some((switch.node().0, &switch.backpressure.as_ref()?.held)));
        let held_at_hosts =
            self.hosts().filter_map(|host| Some((host.identity.node.0, &host.flow_blocks.as_ref()?.held)));
        let of_flows = held_at_switches.chain(held_at_hosts).flat_map(|(node, held)| {
            let location = move |port| BufferLocation::Held { node, port: port as u16 };
            held.areas().enumerate().map(move |(port, (area, length, since))| (location(port), area, length, since))
        });
        let of_pipelines = self.switches().flat_map(|switch| {
            switch.pipelines().into_iter().flat_map(|pipes| pipes.areas().enumerate()).map(
                move |(pipeline, (area, length, since))| {
                    let location = BufferLocation::Recirculation { node: switch.node().0, pipeline: pipeline as u16 };
                    (location, area, length, since.collect())
                },
            )
        });
        of_classes.chain(of_flows).chain(of_pipelines)
    }

    /// Returns the location of the queue at `index`. The normal queues of a switch have the lowest indices; the bounce
    /// queues follow.
    fn location_of(&self, switch: &Switch, index: usize, slots: usize) -> BufferLocation {
        let (pair, ports) = (index / slots, switch.core.egress.len());
        let class = self.network.classes[index % slots];
        let queue = QueueId { node: switch.node().0, port: (pair % ports) as u16, class };
        if pair < ports { BufferLocation::Queue(queue) } else { BufferLocation::BouncedQueue(queue) }
    }

    /// Returns the verdict on the utilisation statistics, or `None` if utilisation is not measured.
    pub(crate) fn load_verdict(&self, now: Time) -> Option<Verdict> {
        self.network.measurement.utilisation?;
        let slots = self.network.classes.len();
        let queues_of = |switch: &Switch| {
            let queues = switch.loads().enumerate().map(|(index, (load, capacity, _))| {
                let queue = &switch.core.buffer.queues[index];
                let area = switch.core.buffer.load_counts_frames(index).then_some((queue.area, queue.len() as u64));
                (self.location_of(switch, index, slots), load, capacity, area)
            });
            Some(queues.collect::<Vec<_>>())
        };
        let loads: Vec<_> = self.map_switches(queues_of).flat_map(|(_, queues)| queues).collect();
        let queues = loads.iter().map(|(location, load, capacity, area)| {
            (*location, load, *capacity, area.as_ref().map(|(area, length)| (area, *length)))
        });
        Some(check::load::verdict(now, queues, |node| self.name_of(node)))
    }
}

fn parts(limit: QueueLimit) -> (u64, Unit) {
    match limit {
        QueueLimit::Bytes(most) => (most, Unit::Bytes),
        QueueLimit::Packets(most) => (most.into(), Unit::Frames),
    }
}
