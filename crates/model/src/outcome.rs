//! Results of a run: the packet account, the checks, the statistics.

use crate::account::Counters;
use crate::bounce_storms::Storms;
use crate::egress::{PortState, PortTotals};
use crate::host::{HopCounts, Host};
use crate::measured::WindowMeasurements;
use crate::node::SimulatedNode;
use crate::parameters::FlowControl;
use crate::simulation::Simulation;
use crate::switch::Switch;
use crate::watcher::Watcher;
use check::ReorderDensity;
use check::Verdict;
use check::bounces::BounceLedger;
use check::conservation::{Cause, FrameCount};
use check::pauses::PauseLedger;
use protocols::frame::Frame;
use stats::Outcome;
use stats::histogram::Histogram;
use stats::jitter::{FlowDelays, JitterSummary};
use stats::summary::{
    ByteAccount, Check, Deadlock, DeadlockEdge, Distribution, EventCounts, Goodput, LinkSummary, LosslessLoss,
    MAX_LOSS_PLACES, NodeLosses, PacketAccount, PauseSummary, PortLoad, Reordering, Utilisation, Window,
};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use units::Time;

/// Maximum number of ports in each list of the summary.
const LISTED_PORTS: usize = 10;

impl Simulation {
    /// Returns the measurements since the warm-up.
    pub(crate) fn measure(&self, now: Time) -> WindowMeasurements {
        let (mut own_delay, mut own_travel) = (Histogram::new(), HopCounts::default());
        let (mut carried, mut late, mut last_payload) = (0, 0, Time::ZERO);
        self.network.measurement.delays.add_to(&mut own_delay);
        for host in self.hosts() {
            host.measured.delays.add_to(&mut own_delay);
            host.measured.hop_counts.iter().for_each(|other| own_travel.merge(other));
            (carried, late) = (carried + host.measured.order_carried, late + host.measured.order_late);
            last_payload = last_payload.max(host.measured.last_payload);
        }
        let (mut delay, mut hop_counts) = (Histogram::new(), HopCounts::default());
        let parts = self.gather((own_delay, own_travel, (carried, late), last_payload));
        (carried, late) = (0, 0);
        for part in parts {
            delay.merge(&part.0);
            hop_counts.merge(&part.1);
            (carried, late) = (carried + part.2.0, late + part.2.1);
            last_payload = last_payload.max(part.3);
        }
        let reordering_arrivals = (delay.count() + carried).saturating_sub(late);
        WindowMeasurements {
            end: now,
            delay,
            links: self.links(now),
            hop_counts,
            jitter: self.jitter(),
            reordering: self.reordering(),
            reordering_arrivals,
            utilisation: self.utilisation(now),
            queue_lengths: self.queue_lengths(now),
            load: self.load_verdict(now),
            payload_bytes: self.payload_bytes(),
            last_payload,
        }
    }

    /// Summarises the run at the current time. Passes unfinished flows to `watcher`; they count as completed if their
    /// last byte has arrived. `expect_deadlock` inverts the deadlock check. All ranks must call it: rank 0 returns the
    /// result, the other ranks return the result of an empty network.
    pub fn finish(&mut self, watcher: &mut dyn Watcher, expect_deadlock: bool) -> Outcome {
        let now = self.now();
        let own = self.hosts().map(|host| host.measured.flows_started).sum::<u64>();
        let started = self.gather(own).iter().sum();
        self.collect_remaining(watcher);
        self.sample_last_interval(now, watcher);
        let unfinished = self.flows_without_row();
        for end in &unfinished {
            self.flow_ended(end, watcher);
        }
        // Lost datagrams are not retransmitted, so a datagram flow with losses counts as complete.
        let all_complete = unfinished.iter().all(|end| end.delivered.is_some() || !end.open);
        self.check_backlog_at_end(now);
        let counters = self.counters(now);
        let mut flows = self.results.flows.summary();
        if self.timeline.warm_up == Time::ZERO && self.timeline.measure_end == self.timeline.duration {
            flows.started = started;
        }
        let completed = flows.completed;
        let measured = self.measured.clone().unwrap_or_else(|| self.measure(now));
        let goodput = self.goodput(&measured, all_complete);
        let WindowMeasurements { end, delay, links, hop_counts, jitter, reordering, reordering_arrivals, .. } =
            measured;
        if let Some(density) = &reordering {
            density
                .iter()
                .for_each(|(displacement, frames)| watcher.reordering(displacement, frames, density.packets()));
        }
        watcher.delays(&delay);
        let packets = &counters.packets;
        let mut account = PacketAccount {
            injected: packets.injected.frames,
            created_in_network: packets.created_in_network.frames,
            delivered_whole: packets.delivered_whole.frames,
            delivered_trimmed: packets.delivered_trimmed.frames,
            returned_to_source: packets.returned_to_source.frames,
            consumed: packets.consumed.frames,
            dropped: dropped(&counters),
            in_flight: packets.in_flight.frames,
            closed: false,
        };
        account.close();
        let mut checks = self.checks(&counters, now, expect_deadlock);
        checks.extend(reordering.as_ref().map(|density| density.verdict(reordering_arrivals)));
        checks.extend(measured.load);
        checks.extend(self.results.collectives.as_ref().map(|collectives| collectives.verdict(&self.network)));
        Outcome {
            partial: now < self.timeline.duration || self.timeline.stopped_early,
            window: Window { start_ps: self.timeline.warm_up.min(now).as_ps(), end_ps: end.as_ps() },
            simulated_ps: now.as_ps(),
            events: counters.hops,
            packet_hops: counters.hops,
            packets: account,
            losses: self.losses(),
            lossless_losses: lossless_losses(&counters),
            event_counts: EventCounts {
                bounces: counters.bounces,
                marks: counters.marks,
                trims: packets.cut.frames,
                detours: counters.detours,
                retransmissions: counters.retransmissions,
            },
            bytes: ByteAccount {
                injected: packets.injected.bytes,
                delivered: packets.delivered_whole.bytes,
                dropped: packets.dropped_total().bytes,
                retransmitted: counters.retransmitted_bytes,
                consumed: packets.consumed.bytes,
            },
            flows,
            requests: self.results.requests.iter().flat_map(|requests| requests.summary()).collect(),
            collectives: self.results.collectives.iter().flat_map(|collectives| collectives.summary()).collect(),
            goodput,
            delay_ns: Distribution::from_ps(&delay),
            jitter,
            reordering: reordering.as_ref().map(describe_reordering),
            queue_utilisation: measured.utilisation,
            queue_lengths: measured.queue_lengths,
            pauses: self.pauses(&counters, now),
            pause_storms: self.pause_storms(&counters, now),
            backpressure: self.backpressure(&counters, now),
            links,
            deadlock: self.deadlock_report(),
            trims: self.trims(&counters, now),
            mechanisms: counters.mechanisms.by_name(),
            bounces: self.network.can_bounce().then(|| self.bounce_summary(&counters, &hop_counts)),
            pipelines: self.network.switch.overload.pipelines().and_then(|_| self.pipeline_summary(now)),
            warnings: self.warnings(&counters, completed),
            checks: checks
                .into_iter()
                .map(|Verdict { name, pass, applicable, detail }| Check { name, pass, applicable, detail })
                .collect(),
        }
    }

    /// Runs the work-conservation check on the backlog of this rank's ports at `now`, the end of the run: see
    /// [`check::work`].
    fn check_backlog_at_end(&mut self, now: Time) {
        // In a run that was stopped early, nodes may not have reached `now`.
        let nodes = if self.timeline.stopped_early { 0 } else { self.engine.len() };
        for index in 0..nodes {
            match self.engine.node_mut(index) {
                SimulatedNode::Switch(switch) => switch.judge_at_end(now),
                SimulatedNode::Host(host) => host.judge_at_end(now),
                SimulatedNode::Dormant(..) => {}
            }
        }
    }

    /// Returns the goodput of the measurement window. If all flows are complete, the window ends at the last arrival of
    /// payload.
    fn goodput(&self, measured: &WindowMeasurements, all_complete: bool) -> Goodput {
        let before = self.warmed_up.payload_bytes.iter().chain(std::iter::repeat(&0));
        let payload_bytes = measured.payload_bytes.iter().zip(before).map(|(bytes, before)| bytes - before).collect();
        let start = self.timeline.warm_up.min(measured.end);
        let last = if all_complete && self.results.last_completion > start {
            // Datagrams of flows that never complete may arrive after the last flow completion.
            self.results.last_completion.max(measured.last_payload)
        } else {
            measured.end
        };
        Goodput::new(start.as_ps(), last.min(measured.end).as_ps(), payload_bytes)
    }

    /// Returns the jitter per traffic entry, if measured.
    fn jitter(&self) -> Vec<JitterSummary> {
        let mut flows: BTreeMap<u8, Vec<FlowDelays>> = BTreeMap::new();
        // In node order, because sums of floating-point numbers depend on the order, and the engine order depends on
        // the partition.
        let of_host = |host: &Host| Some(host.measured.jitter.as_ref()?.flows().collect::<Vec<_>>());
        for (traffic, delays) in self.map_hosts(of_host).flat_map(|(_, flows)| flows) {
            flows.entry(traffic).or_default().push(delays);
        }
        flows.iter().map(|(traffic, flows)| JitterSummary::of(u32::from(*traffic), flows)).collect()
    }

    /// Returns the losses by node and cause, in descending order of packets, then by node and cause.
    fn losses(&self) -> Vec<NodeLosses> {
        // In node order, because the engine order depends on the partition.
        let dropped_at = |machine: &SimulatedNode| {
            let packets = &machine.counters().packets;
            (packets.dropped_total().frames > 0).then_some(packets.dropped)
        };
        let mut losses = Vec::new();
        for (node, dropped) in self.map_machines(dropped_at) {
            let causes = Cause::ALL.into_iter().map(|cause| (dropped[cause.index()].frames, node, cause));
            losses.extend(causes.filter(|loss| loss.0 > 0));
        }
        losses.sort_by_key(|loss| std::cmp::Reverse(loss.0));
        losses.truncate(MAX_LOSS_PLACES);
        let named = |(packets, node, cause): (u64, fabric::NodeId, Cause)| {
            let node = self.network.fabric.name(node).to_owned();
            NodeLosses { node, cause: cause.name().to_owned(), packets }
        };
        losses.into_iter().map(named).collect()
    }

    /// Returns the largest occupancy of any switch buffer of this rank since the warm-up, in bytes.
    pub fn buffer_peak_bytes(&self) -> u64 {
        self.switches().map(|switch| switch.core.buffer.occupancy.max).max().unwrap_or(0)
    }

    /// Returns the counters of all nodes, plus frames in flight. All ranks must call it. Rank 0 gets the result.
    pub fn counters(&self, now: Time) -> Counters {
        let mut total = Counters::default();
        self.gather(self.own_counters(now)).iter().for_each(|part| total.merge(part));
        total
    }

    /// Like [`Simulation::counters`], for this rank only.
    pub(crate) fn own_counters(&self, now: Time) -> Counters {
        let mut total = Counters::default();
        // Each frame in flight is counted exactly once: on a wire, in a queue, in a held flow, in a pipeline, at a
        // host, or at a port with preemption.
        let can_bounce = self.network.can_bounce();
        for index in 0..self.engine.len() {
            let machine = self.engine.node(index);
            total.merge(machine.counters());
            for wire in self.engine.in_flight(index) {
                total.control_in_flight += u64::from(wire.0.is_mac_control());
                if !wire.0.is_mac_control() && wire.0.kind != protocols::frame::Kind::Trigger {
                    total.packets.in_flight.count(u64::from(wire.0.size_bytes));
                    count_in_flight(&mut total.bounces_in_frames, &wire.0);
                }
            }
            match machine {
                SimulatedNode::Switch(switch) => {
                    for (index, queue) in switch.core.buffer.queues.iter().enumerate() {
                        total.packets.in_flight.frames += queue.len() as u64;
                        total.packets.in_flight.bytes += u64::from(queue.bytes);
                        if can_bounce {
                            switch
                                .core
                                .buffer
                                .queues
                                .frames(index)
                                .for_each(|frame| count_in_flight(&mut total.bounces_in_frames, frame));
                        }
                    }
                    for frame in switch.backpressure.iter().flat_map(|backpressure| backpressure.held.frames()) {
                        total.packets.in_flight.count(u64::from(frame.size_bytes));
                    }
                    for frame in switch.pipelines().into_iter().flat_map(|pipes| pipes.frames()) {
                        total.packets.in_flight.count(u64::from(frame.size_bytes));
                    }
                }
                SimulatedNode::Host(host) => {
                    for frame in host.waiting_frames() {
                        total.packets.in_flight.count(u64::from(frame.size_bytes));
                        count_in_flight(&mut total.bounces_in_frames, frame);
                    }
                }
                SimulatedNode::Dormant(..) => {}
            }
            for state in machine.egress().into_iter().flat_map(|egress| &egress.states) {
                total.control_in_flight += state.control_waiting();
                let PortState { pause, credit, preemption, mechanisms, .. } = state;
                mechanisms.iter().for_each(|mechanism| total.mechanisms.add(mechanism));
                if let Some(frame) = preemption.as_ref().and_then(|preemption| preemption.kept()) {
                    total.packets.in_flight.count(u64::from(frame.size_bytes));
                    count_in_flight(&mut total.bounces_in_frames, frame);
                }
                let (pauses, resumes, expiries, still_paused) = pause.counts(now);
                total.pauses.merge(&PauseLedger { pauses, resumes, expiries, still_paused });
                if let Some(credit) = credit {
                    let (pauses, resumes, still_paused) = credit.counts();
                    total.pauses.merge(&PauseLedger { pauses, resumes, expiries: 0, still_paused });
                }
            }
        }
        self.holds().for_each(|held| total.pauses.merge(&held.pauses()));
        total
    }

    fn pauses(&self, counters: &Counters, now: Time) -> PauseSummary {
        let by_port =
            matches!(self.network.switch.flow_control, FlowControl::Pause(_) | FlowControl::PauseAtOutput(..));
        let mut total = Time::ZERO;
        let mut longest = Time::ZERO;
        let mut waits = (0u64, 0u64);
        for index in 0..self.engine.len() {
            let state = self.engine.node(index).egress().into_iter().flat_map(|egress| &egress.states);
            for PortState { pause, credit, .. } in state {
                // PAUSE stops the whole port, so its duration counts once, not once per class.
                total += if by_port { pause.port_stopped_time(now) } else { pause.total_stopped(now) };
                longest = longest.max(pause.longest_stop(now));
                if let Some(credit) = credit {
                    let (begun, ended, _) = credit.counts();
                    waits = (waits.0 + begun, waits.1 + ended);
                    total += credit.total_waited(now);
                    longest = longest.max(credit.longest_wait(now));
                }
            }
        }
        for held in self.holds() {
            let (all, most) = held.time_held(now);
            total += all;
            longest = longest.max(most);
        }
        let (total, longest, waits) = self
            .gather((total, longest, waits))
            .into_iter()
            .reduce(|a, b| (a.0 + b.0, a.1.max(b.1), (a.2.0 + b.2.0, a.2.1 + b.2.1)))
            .unwrap_or_default();
        let totals = self.backpressure_totals(now);
        PauseSummary {
            count: counters.pauses_sent + waits.0 + totals.xoffs,
            resumes: counters.resumes_sent + waits.1 + totals.xons,
            total_ps: total.as_ps(),
            max_ps: longest.as_ps(),
            ignored: counters.control_ignored,
        }
    }

    /// Returns the reordering density so far, if measured.
    fn reordering(&self) -> Option<ReorderDensity> {
        let threshold = self.network.measurement.reordering?;
        let mut own = ReorderDensity::new(threshold);
        self.hosts().for_each(|host| host.add_reordering(&mut own));
        let mut total = ReorderDensity::new(threshold);
        self.gather(own).iter().for_each(|part| total.merge(part));
        Some(total)
    }

    /// Returns the utilisation of queues so far, if measured.
    fn utilisation(&self, now: Time) -> Option<Utilisation> {
        let threshold = self.network.measurement.utilisation?;
        let of_switch = |switch: &Switch| Some(switch.loads().collect::<Vec<_>>());
        let loads: Vec<_> = self.map_switches(of_switch).flat_map(|(_, loads)| loads).collect();
        let found =
            check::load::summary(now, loads.iter().map(|(load, capacity, watched)| (load, *capacity, *watched)));
        Some(Utilisation {
            threshold,
            queues: found.queues,
            queues_used: found.offered,
            mean: found.mean,
            variance: found.variance,
            variance_of_means: found.variance_of_means,
            time_ratio: found.time_ratio,
        })
    }

    fn links(&self, now: Time) -> LinkSummary {
        let fabric = &self.network.fabric;
        let span = now.saturating_sub(self.timeline.warm_up);
        // Excludes ports that sent nothing and had no backlog. The mean utilisation includes them with a utilisation of
        // 0.
        let active_ports = |machine: &SimulatedNode| {
            // Ports of a dormant host have not sent a frame.
            let (egress, node) = (machine.egress()?, machine.stats()?.node);
            let used = |port: usize| {
                let PortTotals { bytes, busy, blocked, .. } = egress.measured(now, port as u16);
                let longest = |switch: &Switch| {
                    let slots = 0..self.network.classes.len();
                    slots.map(|slot| u64::from(switch.longest_bytes(port, slot))).max().unwrap_or(0)
                };
                let queue = if let SimulatedNode::Switch(switch) = machine { longest(switch) } else { 0 };
                let utilisation = share_of(busy, span);
                (busy > Time::ZERO || bytes > 0 || queue > 0).then_some((port, bytes, utilisation, queue, blocked))
            };
            // Link ports have a cell; ports for notifications between hosts have none.
            let ports: Vec<_> = (0..egress.len().min(fabric.ports(node).len())).filter_map(used).collect();
            (!ports.is_empty()).then_some(ports)
        };
        // Each list contains only the highest-ranked ports, because a fabric may have half a million ports.
        let (mut busiest, mut longest_queues) = (Vec::new(), Vec::new());
        let (mut total, count) = (0.0, fabric.port_count());
        for (node, ports) in self.map_machines(active_ports) {
            for (port, bytes, utilisation, queue, paused) in ports {
                total += utilisation;
                let load = (node, port, fabric.ports(node)[port].peer, bytes, utilisation, queue, paused);
                if bytes > 0 {
                    insert_ranked(&mut busiest, load, |a, b| b.4.total_cmp(&a.4).then((a.0, a.1).cmp(&(b.0, b.1))));
                }
                if queue > 0 {
                    insert_ranked(&mut longest_queues, load, |a, b| b.5.cmp(&a.5).then((a.0, a.1).cmp(&(b.0, b.1))));
                }
            }
        }
        let mean_utilisation = if count == 0 { 0.0 } else { total / count as f64 };
        let describe =
            |(node, port, peer, tx_bytes, utilisation, queue, paused): (_, usize, _, _, _, _, Time)| PortLoad {
                node: fabric.name(node).to_owned(),
                port: port as u32,
                peer: fabric.name(peer).to_owned(),
                tx_bytes,
                utilisation,
                max_queue_bytes: queue,
                paused_ps: paused.as_ps(),
            };
        let busiest = busiest.into_iter().map(describe).collect();
        let longest_queues = longest_queues.into_iter().map(describe).collect();
        LinkSummary { mean_utilisation, busiest, longest_queues }
    }

    /// Returns the description of a deadlock, with node names in place of numbers.
    pub(crate) fn deadlock_words(&self, found: &check::deadlock::Deadlock, expected: bool) -> String {
        let name = |node: u32| self.network.fabric.name(fabric::NodeId(node));
        let step = |hold: &check::deadlock::CycleEdge| {
            let (queue, account) = (&hold.queue, &hold.paused_by);
            format!(
                "{} port {} class {} ({} B) is paused by {} port {}",
                name(queue.node),
                queue.port,
                queue.class,
                hold.bytes,
                name(account.node),
                account.port
            )
        };
        let cycle: Vec<String> = found.cycle.iter().map(step).collect();
        let expected = if expected { "expected: " } else { "" };
        let (stuck, closed) = (found.set_size, found.closed.as_ps());
        format!(
            "{expected}{stuck} queues stuck; a cycle of {} closed at {closed} ps: {}",
            cycle.len(),
            cycle.join("; ")
        )
    }

    fn deadlock_report(&self) -> Option<Deadlock> {
        let found = self.detection.deadlock.as_ref()?;
        let name = |node: u32| self.network.fabric.name(fabric::NodeId(node)).to_owned();
        let edge = |hold: &check::deadlock::CycleEdge| DeadlockEdge {
            node: name(hold.queue.node),
            port: u32::from(hold.queue.port),
            class: hold.queue.class,
            peer: name(hold.paused_by.node),
        };
        Some(Deadlock { closed_ps: found.closed.as_ps(), cycle: found.cycle.iter().map(edge).collect() })
    }

    fn warnings(&self, counters: &Counters, completed: u64) -> Vec<String> {
        let mut warnings = Vec::new();
        let faster = self.results.flows.faster_than_alone();
        if faster > 0 {
            let flows = if faster == 1 { "1 flow was".to_owned() } else { format!("{faster} flows were") };
            warnings.push(format!("{flows} faster than in an idle network: the baseline is wrong"));
        }
        if completed > 0 && self.results.unfinished > completed {
            let all = completed + self.results.unfinished + self.results.undelivered;
            warnings.push(format!(
                "only {completed} of {all} flows completed: completion times and slowdowns cover only these and are \
                 biased towards fast flows; run longer, or set an earlier measure.end"
            ));
        }
        warnings.extend(Cause::ALL.into_iter().filter_map(|cause| lossless_warning(counters, cause)));
        warnings.extend(self.header_warning(counters));
        if counters.pause_storms > 0 && counters.lossless_losses.by(Cause::PauseStorm).frames == 0 {
            let plural = if counters.pause_storms == 1 { "" } else { "s" };
            warnings
                .push(format!("watchdogs found {} pause storm{plural} and dropped no frame", counters.pause_storms));
        }
        if let Some(cycles) = counters.mechanisms.by_name().get("cyclic")
            && cycles["missed"] > 0
        {
            warnings.push(format!(
                "{} of {} frames missed the cycle after their arrival: the cycle is too short for the load of a port, \
                 or clocks are too far apart",
                cycles["missed"], cycles["frames"]
            ));
        }
        warnings.extend(self.detection.storms.as_ref().and_then(Storms::warning));
        warnings
    }
}

/// Returns `part / span`, limited to 0..=1, and 0 for an empty span.
pub(crate) fn share_of(part: Time, span: Time) -> f64 {
    if span == Time::ZERO { 0.0 } else { part.min(span).as_ps() as f64 / span.as_ps() as f64 }
}

fn count_in_flight(bounces: &mut BounceLedger, frame: &Frame) {
    bounces.under_way(frame.bounces, frame.max_distance, frame.distance);
}

fn describe_reordering(density: &ReorderDensity) -> Reordering {
    let (earliest, latest) = density.extent();
    Reordering {
        threshold_packets: density.threshold(),
        packets: density.packets(),
        displaced: density.displaced(),
        entropy_nats: density.entropy(),
        mean_displacement_packets: density.mean_displacement(),
        earliest_packets: earliest.unsigned_abs(),
        latest_packets: latest.unsigned_abs(),
        lost: density.lost(),
        too_early: density.beyond(),
        ignored: density.ignored(),
    }
}

fn dropped(counters: &Counters) -> std::collections::BTreeMap<String, u64> {
    Cause::ALL
        .iter()
        .map(|&cause| (cause.name().to_owned(), counters.packets.dropped_by(cause).frames))
        .filter(|(_, count)| *count > 0)
        .collect()
}

fn lossless_losses(counters: &Counters) -> Vec<LosslessLoss> {
    let loss = |(cause, class, lost): (Cause, u8, FrameCount)| LosslessLoss {
        class,
        cause: cause.name().to_owned(),
        packets: lost.frames,
        bytes: lost.bytes,
    };
    counters.lossless_losses.iter().map(loss).collect()
}

/// Returns the warning for losses of lossless classes by `cause`. `None` if a check covers this cause.
fn lossless_warning(counters: &Counters, cause: Cause) -> Option<String> {
    let frames = counters.lossless_losses.by(cause).frames;
    if frames == 0 {
        return None;
    }
    let why = match cause {
        Cause::NoRoom | Cause::LosslessNoRoom => return None,
        Cause::PauseStorm => {
            let storms = counters.pause_storms;
            return Some(format!(
                "watchdogs found {storms} pause storm{} and dropped {frames} frames of lossless classes that waited in \
                 {}",
                if storms == 1 { "" } else { "s" },
                if storms == 1 { "it" } else { "them" },
            ));
        }
        Cause::OutsideFlowControl => "outside flow control: at switches without it, or from neighbours without it",
        Cause::LinkDown => "with links that had failed",
        Cause::NoRoute => "because no port with a live link leads to their destination",
        Cause::LinkLoss => "by the configured loss of links: flow control cannot prevent that",
        Cause::BitError => "to bit errors: flow control cannot prevent that",
        Cause::TtlExpired => "at their hop limit: routes are longer than host.ttl, or close a loop",
        Cause::Nonconforming => "as nonconforming: their senders exceeded the allowed rate",
        Cause::HeaderNoRoom
        | Cause::BounceQueueFull
        | Cause::BounceLimit
        | Cause::RecirculationQueueFull
        | Cause::QueueManagement => {
            return Some(format!("{frames} frames of lossless classes were lost ({cause})"));
        }
    };
    Some(format!("{frames} frames of lossless classes were lost {why}"))
}

/// Inserts `item` into a list that is sorted by `compare`, and truncates the list to [`LISTED_PORTS`] entries.
fn insert_ranked<T>(listed: &mut Vec<T>, item: T, compare: impl Fn(&T, &T) -> Ordering) {
    let at = listed.partition_point(|before| compare(before, &item).is_le());
    if at < LISTED_PORTS {
        listed.insert(at, item);
        listed.truncate(LISTED_PORTS);
    }
}
