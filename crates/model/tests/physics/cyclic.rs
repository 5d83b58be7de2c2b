//! Cyclic queuing and forwarding, checked by traces: ports send frames in the cycle after their arrival.

use crate::bench::{Results, datagrams, link, plan, run, setup};
use fabric::generate::line;
use fabric::{Fabric, NodeId};
use model::parameters::*;
use protocols::cyclic::Cycles;
use stats::trace::TraceEvent;
use std::collections::BTreeMap;
use traffic::{Flow, Process, Start};
use units::random::Stream;
use units::{Rate, Time};

const CYCLE: Time = Time::from_us(20);
const DELAY: Time = Time::from_ns(300);

/// Cyclic queuing parameters for all ports of all switches.
pub fn everywhere(fabric: &Fabric, cycles: Cycles) -> BTreeMap<(NodeId, u16), Cycles> {
    let of = |node: NodeId| (0..fabric.ports(node).len() as u16).map(move |port| ((node, port), cycles));
    fabric.switches().flat_map(of).collect()
}

fn traced(fabric: Fabric, flows: Vec<Flow>, guard: Time) -> Setup {
    let hosts = fabric.hosts().len() as u32;
    let cycles = everywhere(&fabric, Cycles::new(CYCLE, [5, 3], guard).unwrap());
    let mut setup = setup(fabric, plan(hosts, flows));
    setup.timing.cycles = cycles;
    setup.record.trace = Some(TraceParameters::everything());
    setup
}

/// Returns the number of frames of classes 3 and 5 that switches sent, and the number of these that were not sent in
/// the cycle after their arrival. Panics if a frame arrives at the next node after the cycle in which it was sent.
fn left(results: &Results, switches: &[NodeId]) -> (u64, u64) {
    let number = |at: Time| at.as_ps() / CYCLE.as_ps();
    let (mut frames, mut missed) = (0, 0);
    for row in results.trace.iter().filter(|row| switches.iter().any(|node| node.0 == row.node)) {
        let Some(packet) = &row.packet else { continue };
        if let TraceEvent::Started { since, until, .. } = row.event
            && matches!(packet.class, 3 | 5)
        {
            frames += 1;
            missed += u64::from(number(row.at) != number(since) + 1);
            assert_eq!(number(until), number(row.at), "{row:?}");
        }
    }
    (frames, missed)
}

fn random_flows(random: &mut Stream, hosts: u64, flows: u64, most_mbps: u64) -> Vec<Flow> {
    (0..flows)
        .map(|_| {
            let src = random.below(hosts) as u32;
            let dst = ((u64::from(src) + 1 + random.below(hosts - 1)) % hosts) as u32;
            let process = Process::Poisson { rate: Rate::from_mbps(50 + random.below(most_mbps)) };
            let bytes = 64 + random.below(1400) as u16;
            let class = [0, 3, 5, 7][random.below(4) as usize];
            let start = Start::At(Time::from_ns(random.below(50_000)));
            Flow { class, start, ..datagrams(src, dst, process, bytes, u64::from(bytes) * 40) }
        })
        .collect()
}

/// Random light load: each frame of the two classes is sent in the cycle after its arrival, and arrives at the next
/// node in that cycle, regardless of other classes. The counters in the summary agree with the trace.
#[test]
fn frames_leave_in_the_cycle_after_that_in_which_they_came() {
    let mut random = Stream::new(11, 0, 0);
    for seed in 0..12 {
        let fabric = line(3, 2, link(10, 300), link(10, 300)).unwrap();
        let switches: Vec<NodeId> = fabric.switches().collect();
        let mut setup = traced(fabric, random_flows(&mut random, 6, 12, 300), DELAY);
        (setup.seed, setup.duration) = (seed, Time::from_ms(30));
        let results = run(setup);
        results.all_hold();
        let (frames, missed) = left(&results, &switches);
        let cycles = &results.summary.mechanisms["cyclic"];
        assert!(frames > 20, "{frames}");
        assert_eq!((cycles["frames"], cycles["missed"]), (frames, missed));
        assert_eq!(missed, 0);
    }
}

/// More frames arrive in a cycle than fit into the next: excess frames wait for a second cycle, are counted as
/// `missed`, cause a warning, and are not lost.
#[test]
fn frames_beyond_a_cycle_miss_it_and_are_counted() {
    let fabric = line(2, 6, link(10, 300), link(10, 300)).unwrap();
    let switches: Vec<NodeId> = fabric.switches().collect();
    // Five hosts send 4 x 1500 B simultaneously over one link: 20 x 1.216 us = 24.3 us of wire time, but a cycle has
    // 19.7 us.
    let burst = |src: u32| {
        let flow = datagrams(src, 6 + src, Process::Constant { rate: Rate::from_gbps(10) }, 1500, 6000);
        Flow { class: 3, start: Start::At(Time::from_us(1)), ..flow }
    };
    let results = run(traced(fabric, (0..5).map(burst).collect(), DELAY));
    assert!(results.summary.passes());
    let (frames, missed) = left(&results, &switches);
    let cycles = &results.summary.mechanisms["cyclic"];
    assert_eq!((cycles["frames"], cycles["missed"]), (frames, missed));
    // 16 frames of 1.216 us fit into 19.7 us; 4 of the 20 frames miss the next cycle at the first switch. Both
    // switches together send 40 frames.
    assert_eq!((frames, missed, results.summary.packets.delivered_whole), (40, 4, 20));
    assert!(results.summary.warnings.iter().any(|warning| warning.starts_with("4 of 40 frames")));
}

/// Ports without cyclic queuing forward frames of these classes on arrival. First no switch, then only the last
/// switch has cyclic queuing.
#[test]
fn ports_without_cycles_know_nothing_of_them() {
    let fabric = line(2, 1, link(10, 300), link(10, 300)).unwrap();
    let flows =
        || vec![Flow { class: 3, ..datagrams(0, 1, Process::Constant { rate: Rate::from_gbps(1) }, 500, 5000) }];
    let delay = |at_last: bool| {
        let mut setup = traced(fabric.clone(), flows(), DELAY);
        let last = fabric.switches().last().unwrap();
        setup.timing.cycles.retain(|&(node, _), _| at_last && node == last);
        run(setup).summary.delay_ns.unwrap()
    };
    assert!(delay(false).max < 3_000.0 && delay(true).max > 3_000.0);
}
