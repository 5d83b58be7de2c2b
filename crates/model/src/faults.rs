//! Fault injection for the checks: each check must detect its faults in each kind of switch. A fault is injected during
//! a run of a congested network; the check must fail at the end of the run, and all checks must pass without a fault.
//! The functions that inject faults into switches are in `switch/faults.rs`, which is part of test builds only.

#[allow(dead_code, reason = "physics uses more of its bench than these tests do")]
#[path = "../tests/physics/bench.rs"]
pub(crate) mod bench;

use crate::node::SimulatedNode;
use crate::parameters::*;
use crate::simulation::Simulation;
use crate::switch::Switch;
use crate::watcher::NullWatcher;
use bench::{FAST, backpressure, datagrams, link, pause, plan, setup};
use fabric::generate::line;
use fabric::routing::PathTable;
use fabric::tags::{Rule, SwitchRules};
use fabric::{Fabric, generate};
use protocols::florax::StopTarget;
use protocols::pabo::BounceParameters;
use protocols::pipeline_trim::{Control, ControlParameters};
use protocols::trim::TrimParameters;
use stats::Outcome;
use traffic::{ENDLESS, Flow, Process};
use units::{Rate, Time};

/// The lists of checks that must apply to the congested networks of [`CASES`], by kind of switch.
const PLAIN: &[&str] = &["conservation", "order", "buffer", "little's law", "work conservation", "reorder"];
const PLAIN_LOAD: &[&str] =
    &["conservation", "order", "buffer", "little's law", "work conservation", "reorder", "load"];
const LOSSLESS: &[&str] = &[
    "conservation",
    "lossless",
    "pauses",
    "order",
    "buffer",
    "little's law",
    "work conservation",
    "deadlock",
    "stall",
    "reorder",
];
const STOPPED_BY_OUTPUT: &[&str] = &[
    "conservation",
    "lossless",
    "pauses",
    "order",
    "buffer",
    "little's law",
    "work conservation",
    "stall",
    "reorder",
    "load",
];
const BOUNCING: &[&str] =
    &["conservation", "bounces", "buffer", "little's law", "work conservation", "reorder", "load"];

/// Three switches in a line with two hosts each and 10 Gbps links. Five constant-rate datagram flows overload the links
/// between switches in both directions.
fn congested(buffer: Buffer, flow_control: FlowControl) -> Setup {
    congested_over(500, buffer, flow_control)
}

/// Like [`congested`], with links of this delay.
pub(crate) fn congested_over(delay_ns: u64, buffer: Buffer, flow_control: FlowControl) -> Setup {
    let fabric = line(3, 2, link(10, delay_ns), link(10, delay_ns)).unwrap();
    let flows = [(0, 4, 9_100), (1, 5, 3_700), (2, 4, 7_300), (5, 1, 9_700), (3, 0, 5_900)].map(|(src, dst, mbps)| {
        let process = Process::Constant { rate: Rate::from_mbps(mbps) };
        datagrams(src, dst, process, 1518, ENDLESS)
    });
    let mut setup = setup(fabric, plan(6, flows));
    setup.switch.buffer = buffer;
    setup.switch.flow_control = flow_control;
    setup.host.reply_class = None;
    setup.duration = Time::from_us(400);
    setup.record.reordering = Some(100);
    setup.record.utilisation = matches!(buffer, Buffer::PerQueue { .. }).then_some(0.8);
    setup
}

pub(crate) fn shared() -> Buffer {
    Buffer::Shared { bytes: 8_000_000, egress: Threshold::Static { bytes: 40_000 } }
}

pub(crate) fn packets(most: u32) -> Buffer {
    Buffer::PerQueue { limit: QueueLimit::Packets(most) }
}

fn credits() -> FlowControl {
    let regrant = Time::from_us(100);
    FlowControl::Credit(CreditParameters { classes: 1 << 3, credits_bytes: None, update_bytes: None, regrant })
}

fn overloaded(overload: Overload) -> Setup {
    let mut setup = congested(packets(20), FlowControl::None);
    setup.switch.overload = overload;
    setup
}

pub(crate) fn trimming(inside: Option<PipelineParameters>) -> Setup {
    let trim = TrimParameters { header_class: 6, classes: 1 << 3, ..TrimParameters::default() };
    overloaded(Overload::Trim { trim, header_queue: QueueLimit::Packets(1_000), inside })
}

fn pipelines() -> PipelineParameters {
    let control = ControlParameters {
        control: Control::None,
        pessimistic: Time::from_us(6),
        until_optimistic: Time::from_us(24),
        burst_bytes: 8 * 1538,
        half: (1, 2),
        share: (1, 4),
    };
    PipelineParameters {
        pipelines: 1,
        ports_per_pipeline: None,
        overflow: Overflow::Deflect,
        control,
        recirculation_rate: Rate::from_gbps(1),
        recirculation_latency: Time::from_us(1),
        deflect_queue: Some(QueueLimit::Packets(8)),
        signal_delay: Time::from_us(1),
        notified: SignalScope::All,
        signal_load: SignalLoad::None,
        metered: Metered::Data,
        stages: None,
        cycle: Time::from_ns(1),
    }
}

/// PFC by Tagger tags: S2 rewrites tag 1 to tag 2 for frames to S3.
fn tagged() -> Setup {
    let mut setup = congested(shared(), FlowControl::Pfc(PauseParameters { classes: 0b110, ..pause(60_000) }));
    setup.traffic.flows.iter_mut().for_each(|flow| flow.class = 1);
    let fabric = &setup.fabric;
    let tables = fabric.switches().map(|node| {
        let ports = fabric.ports(node).len() as u16;
        let pairs = (0..ports).flat_map(|from| (0..ports).map(move |to| (from, to)));
        let rules = pairs.flat_map(|(from, to)| {
            let peer = fabric.ports(node)[usize::from(to)].peer;
            let second = fabric.name(node) == "S2" && fabric.name(peer) == "S3";
            [1, 2].map(|tag| {
                let (in_ports, out_ports) = ([from].into_iter().collect(), [to].into_iter().collect());
                Rule { tag, in_ports, out_ports, new_tag: if second { 2 } else { tag } }
            })
        });
        SwitchRules { node, rules: rules.collect() }
    });
    let rules: Vec<SwitchRules> = tables.collect();
    setup.tags = Some(TagRules::new(fabric, &[1, 2], &rules, true).unwrap());
    setup
}

type Case = (&'static str, fn() -> Setup, &'static [&'static str]);

const CASES: &[Case] = &[
    ("plain, shared buffer", || congested(shared(), FlowControl::None), PLAIN),
    (
        "plain, queues in bytes",
        || congested(Buffer::PerQueue { limit: QueueLimit::Bytes(30_000) }, FlowControl::None),
        PLAIN_LOAD,
    ),
    ("plain, queues in packets", || congested(packets(20), FlowControl::None), PLAIN_LOAD),
    ("pfc", || congested(shared(), FlowControl::Pfc(pause(60_000))), LOSSLESS),
    ("pause", || congested(shared(), FlowControl::Pause(PauseParameters { classes: 0xff, ..pause(60_000) })), LOSSLESS),
    ("cbfc", || congested(shared(), credits()), LOSSLESS),
    ("florax", || congested(packets(100), FlowControl::Florax(backpressure(StopTarget::Flows))), STOPPED_BY_OUTPUT),
    (
        "destination",
        || congested(packets(100), FlowControl::Destination(backpressure(StopTarget::Destinations))),
        STOPPED_BY_OUTPUT,
    ),
    (
        "pause-at-output",
        || congested(packets(100), FlowControl::PauseAtOutput(backpressure(StopTarget::WholePort), FAST)),
        STOPPED_BY_OUTPUT,
    ),
    (
        "bounce",
        || overloaded(Overload::Bounce { pabo: BounceParameters::default(), queue: QueueLimit::Packets(20) }),
        BOUNCING,
    ),
    ("detour", || overloaded(Overload::Detour), BOUNCING),
    ("trim", || trimming(None), PLAIN_LOAD),
    ("pipelines", || trimming(Some(pipelines())), PLAIN_LOAD),
    ("tagger", tagged, LOSSLESS),
];

const ALL: &[&str] = &[
    "plain, shared buffer",
    "plain, queues in bytes",
    "plain, queues in packets",
    "pfc",
    "pause",
    "cbfc",
    "florax",
    "destination",
    "pause-at-output",
    "bounce",
    "detour",
    "trim",
    "pipelines",
    "tagger",
];
/// Kinds of switch in which the work-conservation check must detect postponed wake-ups: all except "cbfc", whose ports
/// mostly wait for credits.
const WOKEN: &[&str] = &[
    "plain, shared buffer",
    "plain, queues in bytes",
    "plain, queues in packets",
    "pfc",
    "pause",
    "florax",
    "destination",
    "pause-at-output",
    "bounce",
    "detour",
    "trim",
    "pipelines",
    "tagger",
];
const IN_ORDER: &[&str] = &[
    "plain, shared buffer",
    "plain, queues in bytes",
    "plain, queues in packets",
    "pfc",
    "pause",
    "cbfc",
    "florax",
    "destination",
    "pause-at-output",
    "trim",
    "pipelines",
    "tagger",
];
const SHARED: &[&str] = &["plain, shared buffer", "pfc", "pause", "cbfc", "tagger"];
const STOPPING: &[&str] = &["pfc", "pause", "tagger"];
const KEEPS_ALL: &[&str] = &["pfc", "pause", "cbfc", "florax", "destination", "pause-at-output", "tagger"];
const ONE_CLASS: &[&str] = &["pfc", "pause", "cbfc", "florax", "destination", "pause-at-output"];
const LIMITED: &[&str] = &[
    "plain, shared buffer",
    "plain, queues in bytes",
    "plain, queues in packets",
    "bounce",
    "detour",
    "trim",
    "pipelines",
];
const MEASURED: &[&str] = &[
    "plain, queues in bytes",
    "plain, queues in packets",
    "florax",
    "destination",
    "pause-at-output",
    "bounce",
    "detour",
    "trim",
    "pipelines",
];

/// A fault, the check that must detect it, and the kinds of switch.
struct Fault {
    name: &'static str,
    check: &'static str,
    kinds: &'static [&'static str],
    make: Make,
}

enum Make {
    /// Injected at the first switch that is in a suitable state.
    OneSwitch(fn(&mut Switch, Time) -> bool),
    /// Injected at all switches.
    Switches(fn(&mut Switch, Time) -> bool),
    /// Injected at all hosts.
    Hosts(fn(&mut crate::host::Host)),
}
use Make::{Hosts, OneSwitch, Switches};

const fn fault(name: &'static str, check: &'static str, kinds: &'static [&'static str], make: Make) -> Fault {
    Fault { name, check, kinds, make }
}

const FAULTS: &[Fault] = &[
    fault("a frame is lost and not counted", "conservation", ALL, OneSwitch(Switch::lose_uncounted)),
    fault("a frame is there twice", "conservation", ALL, OneSwitch(Switch::double)),
    fault(
        "a frame is delivered twice",
        "conservation",
        ALL,
        Hosts(|host| host.stats.counters.packets.delivered_whole.count(64)),
    ),
    fault(
        "a held frame is lost and not counted",
        "conservation",
        &["florax", "destination"],
        OneSwitch(Switch::lose_held_in_silence),
    ),
    fault("a deflected frame is lost and not counted", "conservation", &["pipelines"], OneSwitch(Switch::lose_inside)),
    fault("there is no headroom", "lossless", KEEPS_ALL, Switches(Switch::forget_headroom)),
    fault("a frame is dropped as if lossy", "lossless", ONE_CLASS, OneSwitch(Switch::drop_as_lossy)),
    fault("credits are forged", "lossless", &["cbfc"], Switches(Switch::grant_unlimited)),
    fault("a call to stop or go on is never sent", "pauses", KEEPS_ALL, OneSwitch(Switch::drop_pause_notification)),
    fault("a resume is forgotten", "pauses", STOPPING, OneSwitch(Switch::forget_a_stop)),
    fault("a stop stands for nothing", "pauses", STOPPING, Switches(Switch::stop_for_nothing)),
    fault("a call is heard twice", "pauses", KEEPS_ALL, Hosts(|host| host.stats.counters.control_received += 1)),
    fault("a frame is overtaken by its own flow", "order", IN_ORDER, Switches(Switch::overtake)),
    fault("queues have no limit", "buffer", LIMITED, Switches(Switch::forget_limits)),
    fault(
        "outputs have no limit and stop nobody",
        "buffer",
        &["florax", "destination", "pause-at-output"],
        Switches(Switch::forget_guards),
    ),
    fault("recirculation ports have no limit", "buffer", &["pipelines"], Switches(Switch::forget_deflect_limits)),
    fault("nobody is stopped", "buffer", STOPPING, Switches(Switch::forget_to_stop)),
    fault("room of the buffer is not given back", "buffer", ALL, OneSwitch(Switch::leak_buffer)),
    fault("room of the shared part is not given back", "buffer", SHARED, OneSwitch(Switch::leak_shared)),
    fault("room of an account is not given back", "buffer", KEEPS_ALL, OneSwitch(Switch::leak_account)),
    fault("a frame has a wrong time in its queue", "little's law", ALL, OneSwitch(Switch::misdate)),
    fault("a frame is torn out of its queue", "little's law", ALL, OneSwitch(Switch::remove_uncounted)),
    fault("a held frame vanishes", "little's law", &["florax", "destination"], OneSwitch(Switch::lose_held_in_silence)),
    fault("a deflected frame vanishes", "little's law", &["pipelines"], OneSwitch(Switch::lose_inside)),
    fault(
        "a frame counts a bounce that no switch made",
        "bounces",
        &["bounce", "detour"],
        OneSwitch(Switch::bounce_uncounted),
    ),
    fault("a frame is dropped that should bounce", "bounces", &["bounce"], OneSwitch(Switch::drop_as_lossy)),
    fault("ports are not woken", "work conservation", WOKEN, Switches(Switch::forget_wake_ups)),
    fault("credits wake no port", "work conservation", &["cbfc"], Switches(Switch::wake_no_port_for_credits)),
    fault("the order of frames is not judged", "reorder", ALL, Hosts(|host| host.forget_order())),
    fault("a queue is taken for longer than it is", "load", MEASURED, Switches(Switch::overrate_load)),
];

/// Injects the fault if a node is in a suitable state. Returns whether a fault was injected.
fn make(simulation: &mut Simulation, make: &Make) -> bool {
    let now = simulation.now();
    let (mut made, first_only) = (false, matches!(make, OneSwitch(_)));
    for index in 0..simulation.engine.len() {
        if made && first_only {
            break;
        }
        made |= match (simulation.engine.node_mut(index), make) {
            (SimulatedNode::Switch(switch), OneSwitch(make) | Switches(make)) => make(switch, now),
            (SimulatedNode::Host(host), Hosts(make)) => {
                make(host);
                true
            }
            _ => false,
        };
    }
    made
}

/// Runs to the end, and injects a fault as soon as possible after a quarter of the run. Returns `None` if no node was
/// in a suitable state up to three quarters of the run.
fn run_with(setup: Setup, fault: Option<&Make>) -> Option<Outcome> {
    let (duration, mut simulation) = (setup.duration, Simulation::new(setup).unwrap());
    let mut made = fault.is_none();
    simulation.timeline.duration = duration / 4;
    simulation.run(&mut NullWatcher);
    while !made {
        made = fault.is_some_and(|fault| make(&mut simulation, fault));
        if simulation.timeline.duration > duration / 4 * 3 {
            return None;
        }
        simulation.timeline.duration += Time::from_ns(300);
        simulation.run(&mut NullWatcher);
    }
    simulation.timeline.duration = duration;
    simulation.run(&mut NullWatcher);
    Some(simulation.finish(&mut NullWatcher, false))
}

fn check<'a>(summary: &'a Outcome, name: &str) -> Option<&'a stats::summary::Check> {
    summary.checks.iter().find(|check| check.name == name)
}

#[test]
fn without_a_fault_every_check_has_something_to_judge_and_holds() {
    for (kind, setup, expected) in CASES {
        let summary = run_with(setup(), None).unwrap();
        for check in &summary.checks {
            assert!(check.pass && check.applicable, "{kind}: {check:?}");
        }
        let mut found: Vec<&str> = summary.checks.iter().map(|check| check.name.as_str()).collect();
        let mut expected = expected.to_vec();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{kind}");
    }
}

#[test]
fn every_fault_in_every_kind_of_switch_turns_its_check_red() {
    let mut wrong = Vec::new();
    for (kind, setup, _) in CASES {
        for fault in FAULTS.iter().filter(|fault| fault.kinds.contains(kind)) {
            match run_with(setup(), Some(&fault.make)) {
                None => wrong.push(format!("{kind}: {}: no occasion", fault.name)),
                Some(summary) => match check(&summary, fault.check) {
                    Some(check) if !check.pass => {}
                    check => wrong.push(format!("{kind}: {}: {check:?}", fault.name)),
                },
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Each check has at least one fault. Deadlocks need a ring and stalls more time: see the tests below.
#[test]
fn every_check_of_every_kind_has_a_fault() {
    for (kind, _, checks) in CASES {
        for check in checks.iter().filter(|check| !["deadlock", "stall"].contains(check)) {
            let covered = FAULTS.iter().any(|fault| fault.check == *check && fault.kinds.contains(kind));
            assert!(covered, "{kind}: nothing breaks {check}");
        }
    }
    let known: Vec<&str> = CASES.iter().map(|kind| kind.0).collect();
    assert_eq!(known, ALL);
}

/// Four switches in a ring with one host each and 40 Gbps links. Each host sends 40 Gbps clockwise to the third host
/// after it, over four switches, so the buffers of the ring have a cyclic dependency.
fn ring(flow_control: FlowControl) -> Setup {
    let fabric: Fabric = generate::ring(4, 1, link(40, 1000), link(40, 1000)).unwrap();
    let mut paths = PathTable::new();
    let flows: Vec<Flow> = (0..4u32)
        .map(|src| {
            let name = |kind: &str, step: u32| format!("{kind}{}", (src + step) % 4 + 1);
            let names = [name("H", 0), name("S", 0), name("S", 1), name("S", 2), name("S", 3), name("H", 3)];
            let path = paths.push_names(&fabric, &names).unwrap();
            let process = Process::Constant { rate: Rate::from_gbps(40) };
            Flow { path: Some(path.0), ..datagrams(src, (src + 3) % 4, process, 1000, ENDLESS) }
        })
        .collect();
    let mut setup = setup(fabric, plan(4, flows));
    (setup.paths, setup.switch.flow_control) = (paths, flow_control);
    setup.duration = Time::from_ms(2);
    setup
}

#[test]
fn a_deadlocked_ring_fails_its_checks_and_is_unjudged_without_a_deadlock_check() {
    let all = PauseParameters { classes: 0xff, ..pause(100_000) };
    for flow_control in [FlowControl::Pfc(pause(100_000)), FlowControl::Pause(all), credits()] {
        let summary = run_with(ring(flow_control), None).unwrap();
        assert!(!check(&summary, "deadlock").unwrap().pass, "{flow_control:?}");
        let mut unwatched = ring(flow_control);
        unwatched.deadlock_every = None;
        let summary = run_with(unwatched, None).unwrap();
        let check = check(&summary, "deadlock").unwrap();
        assert_eq!((check.pass, check.applicable), (true, false), "{check:?}");
        let stall = summary.checks.iter().find(|check| check.name == "stall").unwrap();
        assert!(!stall.pass && stall.detail.starts_with("queues in a cycle of pauses: S"), "{stall:?}");
    }
}

/// The fault occupies a wire for ever. Only the stall check can detect it, because the other checks treat an occupied
/// wire as a transmission.
#[test]
fn a_port_that_never_sends_again_is_a_stall_in_every_kind_of_lossless_switch() {
    for (kind, setup, _) in CASES.iter().filter(|kind| KEEPS_ALL.contains(&kind.0)) {
        for (fault, pass) in [(None, true), (Some(&OneSwitch(Switch::seize_wire)), false)] {
            let mut setup = setup();
            // After the fault, the run lasts twice the time that a port needs to send the maximum backlog of its
            // switch.
            setup.duration = Time::from_ms(24);
            let summary = run_with(setup, fault).unwrap();
            let stall = check(&summary, "stall").unwrap();
            assert_eq!((stall.pass, stall.applicable), (pass, true), "{kind}: {stall:?}");
            assert!(pass || stall.detail.starts_with("1 queue blocked: S"), "{kind}: {stall:?}");
        }
    }
}

/// The fault keeps holds beyond XON and expiry. Other flows continue, so no class queue is blocked, and the stall check
/// must report the held flow.
#[test]
fn a_hold_that_never_ends_is_a_stall() {
    for kind in ["florax", "destination"] {
        let (_, setup, _) = CASES.iter().find(|case| case.0 == kind).unwrap();
        for (fault, pass) in [(None, true), (Some(&OneSwitch(Switch::keep_holds)), false)] {
            let mut setup = setup();
            setup.duration = Time::from_ms(2);
            let summary = run_with(setup, fault).unwrap();
            let stall = check(&summary, "stall").unwrap();
            assert_eq!((stall.pass, stall.applicable), (pass, true), "{kind}: {stall:?}");
            assert!(pass || stall.detail.contains("its flow is held without a reason"), "{kind}: {stall:?}");
        }
    }
}

/// The fault is injected from 100 us on, before the end of the warm-up at 300 us. Checks must cover the warm-up,
/// although measurements exclude it.
#[test]
fn a_fault_of_the_warm_up_is_found_at_the_end() {
    let kinds =
        [("plain, queues in packets", "queues have no limit"), ("pfc", "a frame has a wrong time in its queue")];
    for (kind, fault) in kinds {
        let kind = CASES.iter().find(|known| known.0 == kind).unwrap();
        let fault = FAULTS.iter().find(|known| known.name == fault).unwrap();
        let mut setup = kind.1();
        setup.warm_up = Time::from_us(300);
        let summary = run_with(setup, Some(&fault.make)).unwrap();
        assert!(!check(&summary, fault.check).unwrap().pass, "{}", fault.name);
    }
}
