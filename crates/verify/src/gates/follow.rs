//! Simulation of gate control lists without transmission slots. Frames wait in the FIFO queue of their class until the
//! gate stays open for the whole transmission. The simulation ends when its state repeats.

use super::faults::{Faults, port_of, shown};
use super::judge::{Check, Judgement, Windows, common, link_of, times};
use super::lists::Lists;
use fabric::{Fabric, NodeKind};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

/// Maximum number of simulated transmissions.
const MOST_FRAMES: u64 = 5_000_000;
/// Maximum number of hyperperiods after which the state must repeat.
const MOST_CYCLES: u64 = 32;

/// A frame in flight: its flow, the index of its next hop, and the time in picoseconds at which the source released it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Frame {
    flow: usize,
    hop: usize,
    released_ps: u64,
}

/// An event. At equal times, releases and arrivals precede transmissions; further ties are ordered by flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Release { flow: usize, instance: u64 },
    Arrive { port: usize, frame: Frame },
    Try { port: usize },
}

/// Intervals in which the gate of a class is open. They cover two gating cycles, so that an interval across the cycle
/// boundary is not split.
struct GateWindows {
    cycle_ps: u64,
    open: Vec<(u64, u64)>,
}

impl GateWindows {
    /// Returns the earliest time not before `at` from which the gate is open for `length`.
    fn next(&self, at: u64, length: u64) -> Option<u64> {
        if self.open == [(0, 2 * self.cycle_ps)] {
            return Some(at);
        }
        let into = at % self.cycle_ps;
        let fits = |&&(from, to): &&(u64, u64)| from < 2 * self.cycle_ps && from.max(into).saturating_add(length) <= to;
        self.open.iter().find(fits).map(|&(from, _)| at + from.max(into) - into)
    }
}

/// An egress port on the path of a stream.
struct PortState<'a> {
    name: String,
    list: Option<(Windows<'a>, u64)>,
    classes: Vec<GateWindows>,
    queues: [VecDeque<Frame>; 8],
    free_ps: u64,
    next_try: u64,
}

/// A hop of a flow: egress port, class, time for which a frame occupies the link, time until its last bit is sent, and
/// time until the next node has processed it.
struct Step {
    port: usize,
    class: usize,
    busy_ps: u64,
    sent_ps: u64,
    on_ps: u64,
}

struct Run<'a> {
    lists: &'a Lists,
    port_states: Vec<PortState<'a>>,
    steps: Vec<Vec<Step>>,
    due: BinaryHeap<Reverse<(u64, Due)>>,
    now: u64,
    frames: u64,
    /// Minimum and maximum latency in picoseconds, and number of delivered frames, per flow.
    latencies_ps: Vec<(u64, u64, u64)>,
    /// Frames whose gate never stays open for their transmission time, by port and flow.
    closed: Faults<(usize, usize)>,
    open: Faults<(usize, usize)>,
    /// Missed deadlines, by flow.
    deadlines: Faults<usize>,
    /// Streams whose frames are longer than a port accepts; one text per stream and port.
    dropped: Vec<String>,
    stuck: BTreeSet<(usize, usize)>,
}

/// Simulates the gate control lists on a fabric and judges them.
pub fn follow(lists: &Lists, fabric: &Fabric) -> Judgement {
    let (mut paths, mut settles) = (Vec::new(), Vec::new());
    let mut run = Run::new(lists, fabric, &mut paths);
    let warnings = run.warnings(fabric);
    let cycles = lists.flows.iter().map(|flow| u128::from(flow.period_ps) * flow.offsets_ps.len() as u128);
    let cycles = cycles.chain(lists.ports.iter().map(|port| port.cycle_ps.into()));
    let cycle = cycles.fold(1u128, |a, b| (a / common(a, b)).saturating_mul(b));
    match u64::try_from(cycle).ok().filter(|&cycle| cycle < u64::MAX / (4 * MOST_CYCLES)) {
        None => settles.push("the common cycle of streams and gates is too long to be followed".to_owned()),
        Some(cycle) if paths.is_empty() => {
            if let Err(why) = run.until_it_repeats(cycle) {
                settles.push(why);
            }
        }
        Some(_) => {}
    }
    let ideal = |flow: usize| run.steps[flow].iter().map(|step| step.on_ps).sum::<u64>() - lists.processing_ps;
    let came = (0..run.latencies_ps.len()).filter(|&flow| run.latencies_ps[flow].2 > 0);
    let waits: Vec<[u64; 3]> = came
        .map(|flow| (run.latencies_ps[flow], ideal(flow)))
        .map(|((a, b, _), ideal)| [b - ideal, b, b - a])
        .collect();
    let most = |what: usize| waits.iter().map(|wait| wait[what]).max().unwrap_or(0);
    let check = |name, claim, faults| Check { name, claim, faults };
    let mut checks = vec![
        check("paths", "each stream goes from port to port of the fabric, to a host", paths),
        check("gates-open", "the gate of its class opens for as long as each frame takes", run.closed.finish()),
        check("gates-closed", "all other gates are closed while a frame is sent", run.open.finish()),
        check("settles", "queues empty as fast as they fill: the frames in flight repeat", settles),
        check("deadlines", "each frame comes by its deadline", run.deadlines.finish()),
    ];
    if !lists.longest.is_empty() {
        checks.push(check("max-sdu", "no frame is longer than the max-sdu of its class", run.dropped));
    }
    Judgement {
        frames: run.frames,
        longest_wait_ps: most(0),
        longest_latency_ps: most(1),
        jitter_ps: most(2),
        warnings,
        checks,
    }
}

impl<'a> Run<'a> {
    fn new(lists: &'a Lists, fabric: &Fabric, paths: &mut Vec<String>) -> Run<'a> {
        let of_port: BTreeMap<(&str, u16), _> =
            lists.ports.iter().map(|list| ((list.node.as_str(), list.port), list)).collect();
        let mut numbers: BTreeMap<(&str, u16), usize> = BTreeMap::new();
        let (mut port_states, mut steps, mut dropped) = (Vec::new(), Vec::new(), Vec::new());
        for flow in &lists.flows {
            let (mut from, mut to_host, mut of_flow) = (None, false, Vec::new());
            for hop in &flow.hops {
                let Some((link, peer)) = link_of(fabric, &hop.node, hop.port) else {
                    paths
                        .push(format!("stream `{}`: the fabric has no port {} of `{}`", flow.name, hop.port, hop.node));
                    break;
                };
                if from.is_some_and(|from| from != hop.node) {
                    let from = from.unwrap_or_default();
                    paths.push(format!(
                        "stream `{}`: it has come to `{from}` and goes on from `{}`",
                        flow.name, hop.node
                    ));
                    break;
                }
                let port = *numbers.entry((&hop.node, hop.port)).or_insert_with(|| {
                    let list = of_port.get(&(hop.node.as_str(), hop.port)).copied();
                    port_states.push(PortState {
                        name: port_of(fabric, &hop.node, hop.port),
                        list: list.map(|list| (Windows::new(list), list.cycle_ps)),
                        classes: list.map_or_else(Vec::new, |list| (0..8).map(|class| openings(list, class)).collect()),
                        queues: Default::default(),
                        free_ps: 0,
                        next_try: u64::MAX,
                    });
                    port_states.len() - 1
                });
                let most = lists.longest.get(&(hop.node.clone(), hop.port));
                let most = most.map_or(u64::MAX, |of_classes| of_classes[usize::from(hop.class & 7)]);
                if flow.frame_bytes > most {
                    dropped.push(format!(
                        "{}: frames of `{}` have {} bytes, and the max-sdu of class {} drops those above {most}",
                        port_of(fabric, &hop.node, hop.port),
                        flow.name,
                        flow.frame_bytes,
                        hop.class
                    ));
                }
                let (busy_ps, sent_ps) = times(lists.wire, link, flow.frame_bytes);
                let on_ps = sent_ps.saturating_add(link.delay.as_ps()).saturating_add(lists.processing_ps);
                of_flow.push(Step { port, class: usize::from(hop.class), busy_ps, sent_ps, on_ps });
                (from, to_host) = (Some(peer.0), peer.1 == NodeKind::Host);
            }
            if !to_host && paths.is_empty() {
                paths.push(format!("stream `{}` ends at a switch, not at a host", flow.name));
            }
            steps.push(of_flow);
        }
        let latencies_ps = vec![(u64::MAX, 0, 0); steps.len()];
        let (due, stuck) = (BinaryHeap::new(), BTreeSet::new());
        let (closed, open, deadlines) = (Faults::new(), Faults::new(), Faults::new());
        Run { lists, port_states, steps, due, now: 0, frames: 0, latencies_ps, closed, open, deadlines, dropped, stuck }
    }

    /// Warns of source ports without gates, which are assumed to send nothing else; reports a fault for switch ports
    /// without gates.
    fn warnings(&mut self, fabric: &Fabric) -> Vec<String> {
        let mut all = self.lists.warnings.clone();
        let mut seen = BTreeSet::new();
        for (flow, steps) in self.lists.flows.iter().zip(&self.steps) {
            for (hop, step) in flow.hops.iter().zip(steps) {
                if self.port_states[step.port].list.is_some() || !seen.insert(step.port) {
                    continue;
                }
                let name = &self.port_states[step.port].name;
                let host = fabric.find(&hop.node).is_some_and(|node| !fabric.node(node).forwards());
                match host {
                    true => {
                        all.push(format!("{name}: it has no gates, and is taken to send nothing else in the slots"))
                    }
                    false => self.open.note((step.port, usize::MAX), || {
                        format!("{name}: it has no gates, so other classes may send")
                    }),
                }
            }
        }
        all
    }

    fn until_it_repeats(&mut self, cycle: u64) -> Result<(), String> {
        for flow in 0..self.steps.len() {
            self.release(flow, 0);
        }
        let mut before = None;
        for count in 1..=MOST_CYCLES {
            let end = cycle * count;
            while self.due.peek().is_some_and(|Reverse((at, _))| *at < end) {
                let Some(Reverse((at, due))) = self.due.pop() else { break };
                self.now = at;
                self.step(due);
                if self.frames > MOST_FRAMES {
                    return Err(format!("more than {MOST_FRAMES} transmissions before it repeats"));
                }
            }
            let state = self.state(end);
            // Both states are at multiples of the hyperperiod: if they are equal, all later hyperperiods are equal too.
            if before.as_ref() == Some(&state) {
                return Ok(());
            }
            before = Some(state);
        }
        let waiting: usize = self.port_states.iter().flat_map(|port_state| &port_state.queues).map(VecDeque::len).sum();
        let most =
            self.port_states.iter().max_by_key(|port_state| port_state.queues.iter().map(VecDeque::len).sum::<usize>());
        let most = most.map_or("", |port_state| &port_state.name);
        Err(format!("after {MOST_CYCLES} cycles {waiting} frames wait, most at {most}, and nothing repeats yet"))
    }

    /// Returns the frames in queues and on links, and the times at which ports become free, relative to `end`.
    fn state(&self, end: u64) -> Vec<(i128, usize, usize, usize, i128)> {
        let ago = |at: u64| i128::from(at) - i128::from(end);
        let mut all = Vec::new();
        for (number, port_state) in self.port_states.iter().enumerate() {
            // A port that became free before `end` is equivalent to one that becomes free at `end`.
            let free = port_state.free_ps.max(end);
            all.push((ago(free), number, usize::MAX, 0, 0));
            for (class, queue) in port_state.queues.iter().enumerate() {
                let waits = |frame: &Frame| (0, number, class, frame.flow, ago(frame.released_ps));
                all.extend(queue.iter().map(waits));
            }
        }
        let mut coming: Vec<_> = self
            .due
            .iter()
            .filter_map(|Reverse((at, due))| match *due {
                Due::Arrive { port, frame } => Some((ago(*at), port, frame.hop, frame.flow, ago(frame.released_ps))),
                _ => None,
            })
            .collect();
        coming.sort_unstable();
        all.extend(coming);
        all
    }

    fn release(&mut self, flow: usize, instance: u64) {
        let spec = &self.lists.flows[flow];
        let offset = spec.offsets_ps[(instance % spec.offsets_ps.len() as u64) as usize];
        let at = (instance * spec.period_ps).saturating_add(offset);
        self.due.push(Reverse((at, Due::Release { flow, instance })));
    }

    fn step(&mut self, due: Due) {
        match due {
            Due::Release { flow, instance } => {
                let frame = Frame { flow, hop: 0, released_ps: self.now };
                if let Some(step) = self.steps[flow].first() {
                    self.due.push(Reverse((self.now, Due::Arrive { port: step.port, frame })));
                }
                self.release(flow, instance + 1);
            }
            Due::Arrive { port, frame } => {
                let class = self.steps[frame.flow][frame.hop].class;
                self.port_states[port].queues[class].push_back(frame);
                self.plan(port);
            }
            Due::Try { port } if self.port_states[port].next_try == self.now => {
                self.port_states[port].next_try = u64::MAX;
                self.send(port);
                self.plan(port);
            }
            Due::Try { .. } => {}
        }
    }

    /// Returns the earliest time at which the head-of-line frame of a class can start.
    fn starts(&self, port_state: &PortState<'_>, class: usize) -> Option<u64> {
        let frame = port_state.queues[class].front()?;
        let step = &self.steps[frame.flow][frame.hop];
        let at = self.now.max(port_state.free_ps);
        match port_state.classes.get(class) {
            Some(openings) => openings.next(at, step.sent_ps),
            None => Some(at),
        }
    }

    /// Schedules the next transmission of the port. A frame that is longer than every gate interval is reported and
    /// dropped.
    fn plan(&mut self, port: usize) {
        let mut first: Option<u64> = None;
        for class in 0..8 {
            while let Some(&frame) = self.port_states[port].queues[class].front() {
                if let Some(start) = self.starts(&self.port_states[port], class) {
                    first = Some(first.map_or(start, |first| first.min(start)));
                    break;
                }
                self.port_states[port].queues[class].pop_front();
                if self.stuck.insert((port, frame.flow)) {
                    let (name, flow) = (&self.port_states[port].name, &self.lists.flows[frame.flow].name);
                    let takes = shown(self.steps[frame.flow][frame.hop].sent_ps);
                    self.closed.note((port, frame.flow), || {
                        format!("{name}: the gate of class {class} never opens for {takes}: a frame of `{flow}`")
                    });
                }
            }
        }
        if let Some(at) = first.filter(|&at| at != self.port_states[port].next_try) {
            self.port_states[port].next_try = at;
            self.due.push(Reverse((at, Due::Try { port })));
        }
    }

    /// Sends the head-of-line frame of the highest class that can start now.
    fn send(&mut self, port: usize) {
        let ready = (0..8).rev().find(|&class| self.starts(&self.port_states[port], class) == Some(self.now));
        let Some((class, frame)) =
            ready.and_then(|class| Some((class, self.port_states[port].queues[class].pop_front()?)))
        else {
            return;
        };
        let step = &self.steps[frame.flow][frame.hop];
        let port_state = &mut self.port_states[port];
        (port_state.free_ps, self.frames) = (self.now + step.busy_ps, self.frames + 1);
        let spec = &self.lists.flows[frame.flow];
        if let Some((windows, cycle)) = &port_state.list
            && !windows.is(self.now % cycle, step.sent_ps, |state| state & !(1 << class) == 0)
        {
            let shown = shown(self.now % cycle);
            self.open.note((port, frame.flow), || {
                format!("{}: another gate is open during the frame of `{}` at {shown}", port_state.name, spec.name)
            });
        }
        let arrives = self.now.saturating_add(step.on_ps);
        if let Some(next) = self.steps[frame.flow].get(frame.hop + 1) {
            let frame = Frame { hop: frame.hop + 1, ..frame };
            self.due.push(Reverse((arrives, Due::Arrive { port: next.port, frame })));
            return;
        }
        let latency_ps = arrives - self.lists.processing_ps - frame.released_ps;
        let (least, most, count) = &mut self.latencies_ps[frame.flow];
        (*least, *most, *count) = ((*least).min(latency_ps), (*most).max(latency_ps), *count + 1);
        if let Some(deadline) = spec.deadline_ps.filter(|&deadline| latency_ps > deadline) {
            let (took, since) = (shown(latency_ps), shown(frame.released_ps));
            let deadline = shown(deadline);
            self.deadlines.note(frame.flow, || {
                format!("stream `{}`: the frame of {since} takes {took}, and its deadline is {deadline}", spec.name)
            });
        }
    }
}

fn openings(list: &super::file::Port, class: usize) -> GateWindows {
    let mut open: Vec<(u64, u64)> = Vec::new();
    let mut at = 0;
    for state in list.entries.iter().chain(&list.entries) {
        let end = at + state.interval_ps;
        if state.gates >> class & 1 == 1 && end > at {
            match open.last_mut().filter(|last| last.1 == at) {
                Some(last) => last.1 = end,
                None => open.push((at, end)),
            }
        }
        at = end;
    }
    GateWindows { cycle_ps: list.cycle_ps, open }
}

#[cfg(test)]
mod tests {
    use super::super::lists::{Flow, FlowHop};
    use super::*;
    use fabric::{FabricBuilder, LinkSpec};
    use units::{Rate, Time};

    /// Hosts a, b and c at switch s, with links of 1 Gbps and 100 ns delay.
    fn fabric() -> Fabric {
        let mut builder = FabricBuilder::new("test");
        let switch = builder.add_switch("s", 1);
        for name in ["a", "b", "c"] {
            let host = builder.add_host(name);
            builder.connect(switch, host, LinkSpec::new(Rate::from_gbps(1), Time::from_ns(100)));
        }
        builder.build().unwrap()
    }

    /// Streams to c with a frame of 100 bytes (800 ns) every 10 us, and the gates of the switch port to c.
    fn lists(offsets_ns: &[(&str, u64, u8)], gates: &str) -> Lists {
        let fabric = fabric();
        let mut lists = Lists::new(0, true);
        for (at, &(from, offset, class)) in offsets_ns.iter().enumerate() {
            let hop = |node: &str, port, class| FlowHop { node: node.to_owned(), port, class };
            let to = fabric.port_towards(fabric.find("s").unwrap(), fabric.find("c").unwrap()).unwrap();
            let flow = Flow {
                name: format!("f{at}"),
                period_ps: 10_000_000,
                frame_bytes: 100,
                deadline_ps: Some(8_000_000),
                offsets_ps: vec![offset * 1000],
                hops: vec![hop(from, 0, class), hop("s", to, class)],
            };
            lists.add_flow(flow).unwrap();
        }
        let queues = "queues 1@0 1@1 1@2 1@3 1@4 1@5 1@6 1@7 base-time 0 clockid CLOCK_TAI";
        let head = "tc qdisc replace dev eth2 parent root taprio num_tc 8 map 0 1 2 3 4 5 6 7";
        let text = format!("{head} {queues} {gates}");
        lists.add_gates(&fabric, vec![("s".to_owned(), super::super::taprio::parse(&text).unwrap())]).unwrap();
        lists
    }

    fn faults(judgement: &Judgement) -> Vec<&'static str> {
        judgement.checks.iter().filter(|check| !check.faults.is_empty()).map(|check| check.name).collect()
    }

    #[test]
    fn frames_wait_for_their_gate_and_latencies_are_reported() {
        // The frame arrives at the switch at 900 ns (800 ns transmission + 100 ns delay) and waits 1.1 us for the gate,
        // which opens at 2 us.
        let gates = "sched-entry S 7f 2000 sched-entry S 80 1000 sched-entry S 7f 7000";
        let found = follow(&lists(&[("a", 0, 7)], gates), &fabric());
        assert_eq!(faults(&found), Vec::<&str>::new(), "{:?}", found.checks);
        assert_eq!((found.longest_wait_ps, found.longest_latency_ps, found.jitter_ps), (1_100_000, 2_900_000, 0));
        assert_eq!(found.warnings.len(), 1, "{:?}", found.warnings);
    }

    #[test]
    fn a_gate_that_is_too_short_is_reported() {
        let gates = "sched-entry S 7f 2000 sched-entry S 80 700 sched-entry S 7f 7300";
        assert_eq!(faults(&follow(&lists(&[("a", 0, 7)], gates), &fabric())), ["gates-open"]);
        // Across the cycle boundary, the two intervals of 500 ns form one of 1,000 ns, which suffices for the frame
        // (800 ns).
        let gates = "sched-entry S 80 500 sched-entry S 7f 9000 sched-entry S 80 500";
        assert_eq!(faults(&follow(&lists(&[("a", 4000, 7)], gates), &fabric())), Vec::<&str>::new());
    }

    #[test]
    fn a_frame_that_comes_first_leaves_first_and_the_other_misses_its_window() {
        // The gate is open for 1,600 ns, enough for two frames of 800 ns. The second frame arrives 100 ns after the
        // first, and waits 700 ns.
        let gates = "sched-entry S 7f 900 sched-entry S 80 1600 sched-entry S 7f 7500";
        let found = follow(&lists(&[("a", 0, 7), ("b", 100, 7)], gates), &fabric());
        assert_eq!((faults(&found), found.longest_wait_ps), (vec![], 700_000));
        // A gate that is open for 900 ns per cycle passes only one of the two frames per cycle, so that the queue
        // grows.
        let gates = "sched-entry S 7f 900 sched-entry S 80 900 sched-entry S 7f 8200";
        let found = follow(&lists(&[("a", 0, 7), ("b", 100, 7)], gates), &fabric());
        assert_eq!(faults(&found), ["settles", "deadlines"]);
    }

    #[test]
    fn another_open_gate_and_a_missed_deadline_are_reported() {
        let gates = "sched-entry S ff 10000";
        assert_eq!(faults(&follow(&lists(&[("a", 0, 7)], gates), &fabric())), ["gates-closed"]);
        let gates = "sched-entry S 7f 9000 sched-entry S 80 1000";
        assert_eq!(faults(&follow(&lists(&[("a", 0, 7)], gates), &fabric())), ["deadlines"]);
    }

    #[test]
    fn jitter_is_what_changes_from_frame_to_frame() {
        // A frame is sent every 10 us, and the gate opens every 7.5 us, so that the waiting time varies between frames.
        let gates = "sched-entry S 80 3000 sched-entry S 7f 4500 sched-entry S 80 3000 sched-entry S 7f 4500";
        let found = follow(&lists(&[("a", 0, 7)], gates), &fabric());
        assert!(found.jitter_ps > 0 && faults(&found).is_empty(), "{found:?}");
    }

    #[test]
    fn frames_longer_than_the_max_sdu_of_their_class_are_dropped() {
        let gates = "sched-entry S 7f 2000 sched-entry S 80 1000 sched-entry S 7f 7000";
        let with =
            |sdu: &str| follow(&lists(&[("a", 0, 7)], &format!("{gates} max-sdu 0 0 0 0 0 0 0 {sdu}")), &fabric());
        // A frame of 100 bytes has 82 bytes of payload and 18 bytes of addresses, type and FCS.
        assert_eq!(faults(&with("82")), Vec::<&str>::new());
        assert!(with("82").checks.iter().any(|check| check.name == "max-sdu"));
        let dropped = with("81");
        assert_eq!(faults(&dropped), ["max-sdu"]);
        let message = "port 2 of `s`: frames of `f0` have 100 bytes, and the max-sdu of class 7 drops those above 99";
        assert_eq!(dropped.checks.iter().flat_map(|check| check.faults.clone()).collect::<Vec<_>>(), [message]);
        let without = follow(&lists(&[("a", 0, 7)], gates), &fabric());
        assert!(without.checks.iter().all(|check| check.name != "max-sdu"));
    }

    #[test]
    fn unjudged_parts_are_warnings_and_each_fault_is_reported_once() {
        let found = follow(&lists(&[("a", 0, 7)], "sched-entry S ff 10000 fp E E E E E E E P"), &fabric());
        let preempts = "`fp` of `s` makes classes preemptable: preemption is not judged";
        assert!(found.warnings.iter().any(|warning| warning == preempts), "{:?}", found.warnings);
        // The stream has a frame in each of several simulated cycles: the same fault in all of them is reported once.
        let open: Vec<&String> = found.checks.iter().flat_map(|check| &check.faults).collect();
        assert_eq!(open.len(), 1, "{open:?}");
        let begin = "port 2 of `s`: another gate is open during the frame of `f0` at 900ns (and ";
        assert!(open[0].starts_with(begin), "{open:?}");
    }
}
