//! Tests of the work-conservation check: it must fail in networks with injected lost wake-ups, and pass in random
//! networks without faults.

use crate::faults::bench::{datagrams, flow, link, pause, plan, setup, transport};
use crate::faults::packets;
use crate::node::SimulatedNode;
use crate::parameters::*;
use crate::simulation::Simulation;
use crate::watcher::NullWatcher;
use fabric::generate::{TierLinks, leaf_spine, line, single_switch};
use fabric::routing::Failure;
use protocols::gates::GateList;
use protocols::preemption::{Fragments, PreemptionParameters};
use protocols::shaping::IdleSlopes;
use protocols::watchdog::{StormAction, WatchdogParameters};
use stats::Outcome;
use stats::summary::Check;
use std::sync::Arc;
use traffic::{ENDLESS, Flow, Process, Start};
use units::random::Stream;
use units::{Rate, Time};

/// Nodes with the injected fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Hosts,
    Switches,
}

fn check(outcome: &Outcome) -> &Check {
    outcome.checks.iter().find(|check| check.name == "work conservation").expect("always on")
}

/// Injects the fault into all nodes of the kind `at`: postpones the due time of each port by 3 us and, with lazy
/// departures, clears the set of backlogged ports.
fn delay_wake_ups(simulation: &mut Simulation, at: At) {
    for index in 0..simulation.engine.len() {
        let egress = match (simulation.engine.node_mut(index), at) {
            (SimulatedNode::Switch(switch), At::Switches) => &mut switch.core.egress,
            (SimulatedNode::Host(host), At::Hosts) => &mut host.egress,
            _ => continue,
        };
        egress.backlogged_ports = 0;
        for port in 0..egress.len() as u16 {
            let due = egress.due.at(port);
            if due < Time::MAX {
                egress.due.set(port, due + Time::from_us(3));
            }
        }
    }
}

fn run(setup: Setup, faulty: Option<At>) -> Outcome {
    let (duration, mut simulation) = (setup.duration, Simulation::new(setup).unwrap());
    for step in 1..=20 {
        simulation.timeline.duration = duration / 20 * step;
        simulation.run(&mut NullWatcher);
        if let Some(at) = faulty.filter(|_| step >= 5) {
            delay_wake_ups(&mut simulation, at);
        }
    }
    simulation.finish(&mut NullWatcher, false)
}

/// Three hosts send constant-rate datagrams (2.1, 3.3 and 3.9 Gbps) in these classes to host 3 through a switch with 10
/// Gbps links.
fn converging(classes: [u8; 3]) -> Setup {
    let source = |src: usize, mbps| Flow {
        class: classes[src],
        ..datagrams(src as u32, 3, Process::Constant { rate: Rate::from_mbps(mbps) }, 1000 + 100 * src as u16, ENDLESS)
    };
    let fabric = single_switch(4, link(10, 1000)).unwrap();
    let mut setup = setup(fabric, plan(4, [source(0, 2_100), source(1, 3_300), source(2, 3_900)]));
    setup.duration = Time::from_us(400);
    setup
}

fn timing(change: impl FnOnce(&mut Setup, (fabric::NodeId, u16))) -> Setup {
    let mut setup = converging([0, 5, 6]);
    let node = setup.fabric.switches().next().unwrap();
    change(&mut setup, (node, 3));
    setup
}

fn slopes(class: usize, rate: Rate) -> IdleSlopes {
    let mut slopes = IdleSlopes::default();
    slopes.by_class[class] = Some(rate);
    slopes
}

type Case = (&'static str, At, fn() -> Setup);

const CASES: &[Case] = &[
    ("switch, at its time", At::Switches, || {
        let mut setup = converging([3, 3, 3]);
        setup.switch.scheduler = Scheduler::Wrr { weights: [1; 8] };
        setup
    }),
    ("switch, lazy departures", At::Switches, || {
        let mut setup = converging([3, 3, 3]);
        // Three senders at 9 Gbps congest the 10 Gbps link, with enough arrivals per window for lazy departures.
        let process = Process::Constant { rate: Rate::from_gbps(9) };
        setup.traffic = plan(4, (0..3).map(|src| datagrams(src, 3, process, 200, 110_000)));
        setup
    }),
    ("switch, pfc", At::Switches, || {
        let mut setup = converging([3, 5, 5]);
        let process = Process::Constant { rate: Rate::from_gbps(9) };
        let source = |src: u32| Flow { class: [3, 5, 5][src as usize], ..datagrams(src, 3, process, 1000, 130_000) };
        setup.traffic = plan(4, (0..3).map(source));
        setup.host.pause_storm =
            Some(PauseStorm { node: setup.fabric.host_node(3), at: Time::from_us(50), until: None });
        setup.switch.flow_control = FlowControl::Pfc(pause(60_000));
        setup
    }),
    ("switch, credits", At::Switches, || {
        let mut setup = converging([3, 3, 3]);
        let parameters = CreditParameters {
            classes: 1 << 3,
            credits_bytes: Some(6_000),
            update_bytes: None,
            regrant: Time::from_us(100),
        };
        setup.switch.flow_control = FlowControl::Credit(parameters);
        setup
    }),
    ("gates", At::Switches, || {
        timing(|setup, port| {
            let (open, shut) = (Time::from_us(7), Time::from_us(5));
            let list = GateList::new(&[(0xf0, open), (0x0f, shut)]).unwrap();
            setup.timing.gates = [(port, Arc::new(list))].into();
        })
    }),
    ("gates that hold", At::Switches, || {
        timing(|setup, port| {
            let list = GateList::new(&[(0x40, Time::from_us(5)), (0x21, Time::from_us(7))]).unwrap();
            setup.timing.gates = [(port, Arc::new(list))].into();
            let fragments = Fragments::Standard;
            setup.timing.preemption = Some(PreemptionParameters { express: 1 << 6, fragments });
        })
    }),
    ("shaper", At::Switches, || {
        timing(|setup, port| setup.timing.shaping = [(port, slopes(6, Rate::from_gbps(4)))].into())
    }),
    ("preemption", At::Switches, || {
        timing(|setup, _| {
            let fragments = Fragments::Standard;
            setup.timing.preemption = Some(PreemptionParameters { express: 1 << 6, fragments });
        })
    }),
    ("host, paced flow", At::Hosts, || converging([3, 3, 3])),
    ("host, window", At::Hosts, || {
        let mut setup = converging([3, 3, 3]);
        setup.traffic = plan(4, (0..3).map(|src| flow(src, 3, 400_000)));
        setup.host.transport = transport("tcp", &[]);
        setup
    }),
    ("host, pfc", At::Hosts, || {
        let mut setup = converging([3, 3, 3]);
        setup.traffic = plan(4, (0..3).map(|src| flow(src, 3, 400_000)));
        setup.switch.flow_control = FlowControl::Pfc(pause(20_000));
        setup
    }),
];

#[test]
fn a_lost_wake_up_turns_the_check_red() {
    let mut wrong = Vec::new();
    for (name, at, setup) in CASES {
        let sound = run(setup(), None);
        assert!(check(&sound).pass && check(&sound).applicable, "{name}: {:?}", check(&sound));
        let faulty = run(setup(), Some(*at));
        if check(&faulty).pass {
            wrong.push(format!("{name}: {:?}", check(&faulty)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A random network with several classes: random topology, flows, transport, scheduler, flow control, gates, shaper,
/// preemption and link failure.
fn random_setup(seed: u64) -> Setup {
    let mut random = Stream::new(seed, 5, 0);
    let mut any = |below: u64| random.below(below);
    let (gbps, delay_ns) = ([1, 10, 25, 100][any(4) as usize], [50, 700, 4_000][any(3) as usize]);
    let spec = link(gbps, delay_ns);
    let slower = link([1, 10, 10][any(3) as usize], delay_ns);
    let (fabric, hosts) = match any(3) {
        0 => (single_switch(5, spec).unwrap(), 5),
        1 => (line(3, 2, slower, spec).unwrap(), 6),
        _ => (leaf_spine(2, 2, 2, 1, TierLinks::uniform(spec)).unwrap(), 4),
    };
    let count = 4 + any(12);
    let flows: Vec<Flow> = (0..count)
        .map(|_| {
            let dst = if any(2) == 0 { 0 } else { any(hosts) };
            let src = (dst + 1 + any(hosts - 1)) % hosts;
            let class = [0, 1, 3, 5, 6, 7][any(6) as usize];
            let start = Start::At(Time::from_ns(any(60_000)));
            let bytes = 64 + any(1_400) as u16;
            let rate = Rate::from_mbps(100 + any(gbps * 1_000));
            let size = 1 + any(150_000);
            let of = match any(4) {
                0 => datagrams(src as u32, dst as u32, Process::Poisson { rate }, bytes, size),
                1 => datagrams(src as u32, dst as u32, Process::Constant { rate }, bytes, size),
                _ => flow(src as u32, dst as u32, size),
            };
            Flow { class, start, traffic: 0, ..of }
        })
        .collect();
    let mut setup = setup(fabric, plan(hosts as u32, flows));
    let kind = ["roce", "tcp", "dctcp", "roce", "ndp"][any(5) as usize];
    setup.host.transport = transport(kind, &[]);
    setup.host.reply_class = [None, Some(6), Some(2)][any(3) as usize];
    setup.switch.scheduler = match any(4) {
        0 => Scheduler::Wrr { weights: [1, 2, 1, 3, 1, 1, 2, 1] },
        1 => Scheduler::Drr { quantum_bytes: [1500, 3000, 500, 1500, 1500, 900, 1500, 1500] },
        _ => Scheduler::Strict,
    };
    let classes = [1 << 3, 0xff, 0b10_1010, 1 << 5 | 1 << 6][any(4) as usize];
    let watchdog = WatchdogParameters {
        detection_time: Time::from_us(20 + any(60)),
        restoration_time: Time::from_us(20 + any(60)),
        action: [StormAction::Drop, StormAction::Forward][any(2) as usize],
    };
    let paused = PauseParameters {
        classes,
        quanta: [65_535, 60, 400][any(3) as usize],
        watchdog: (any(3) == 0).then_some(watchdog),
        ..pause(10_000 + any(40_000))
    };
    setup.switch.flow_control = match any(5) {
        0 => FlowControl::None,
        1 => FlowControl::Pause(PauseParameters { classes: 0xff, ..paused }),
        2 => FlowControl::Credit(CreditParameters {
            classes,
            credits_bytes: (any(2) == 0).then(|| 4_000 + any(20_000)),
            update_bytes: None,
            regrant: Time::from_us(50 + any(200)),
        }),
        _ => FlowControl::Pfc(paused),
    };
    if matches!(setup.switch.flow_control, FlowControl::None) && any(2) == 0 {
        setup.switch.buffer = packets(10);
    }
    if matches!(setup.switch.flow_control, FlowControl::Pfc(_)) && any(3) == 0 {
        let node = setup.fabric.host_node(any(hosts) as u32);
        let at = Time::from_us(any(100));
        setup.host.pause_storm = Some(PauseStorm { node, at, until: (any(2) == 0).then_some(at * 2) });
    }
    let ports: Vec<(fabric::NodeId, u16)> = setup
        .fabric
        .switches()
        .flat_map(|node| (0..setup.fabric.ports(node).len() as u16).map(move |port| (node, port)))
        .collect();
    if any(3) == 0 {
        let us = |few: u64| Time::from_us(20 + few);
        let list = GateList::new(&[(0xf0, us(any(30))), (0x0f, us(any(30))), (0xff, us(any(30)))]).unwrap();
        setup.timing.gates = ports.iter().map(|&port| (port, Arc::new(list.clone()))).collect();
    }
    if any(3) == 0 {
        let slope = slopes([0, 3, 5, 6][any(4) as usize], Rate::from_mbps(20 + any(gbps * 900)));
        setup.timing.shaping = ports.iter().map(|&port| (port, slope)).collect();
    }
    if any(3) == 0 {
        let fragments = [Fragments::Standard, Fragments::Ideal][any(2) as usize];
        // The gate states above hold preemptable frames (802.1Qbu) only if they open express classes alone.
        let express = [any(256) as u8, 0xf0, 0x0f][any(3) as usize];
        setup.timing.preemption = Some(PreemptionParameters { express, fragments });
    }
    if any(4) == 0 {
        let link = setup.fabric.ports(setup.fabric.host_node(any(hosts) as u32))[0].link;
        let down_at = Time::from_us(any(150));
        setup.failures.push(Failure { link, down_at, up_at: Some(down_at + Time::from_us(any(50))) });
    }
    setup.duration = Time::from_us(100 + any(400));
    setup.seed = seed;
    setup
}

#[test]
fn no_random_network_loses_a_wake_up() {
    let mut judged = 0;
    for seed in 0..400 {
        // Some random combinations of parameters are invalid; `Simulation::new` rejects them.
        let Ok(mut simulation) = Simulation::new(random_setup(seed)) else { continue };
        assert!(simulation.run(&mut NullWatcher));
        let outcome = simulation.finish(&mut NullWatcher, false);
        assert!(check(&outcome).pass, "{seed}: {:?}", check(&outcome));
        judged += u64::from(check(&outcome).applicable);
    }
    assert!(judged > 300, "{judged}");
}
