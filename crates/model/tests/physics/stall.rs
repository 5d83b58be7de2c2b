//! Stalled queues: a class that higher classes starve, and queues that are paused because of it.

use crate::bench::*;
use fabric::generate::{line, single_switch};
use model::parameters::*;
use protocols::cbfc::sufficient_credits;
use protocols::florax::StopTarget;
use traffic::{DatagramSource, ENDLESS, Flow, Load, Process};
use units::{Rate, Time};

/// `H1` sends to `H3` in class 3. From 100 us on, `H2` sends to `H3` at line rate in class 5, which has strict
/// priority.
fn starved(flow_control: FlowControl, buffer: Buffer, stop: Option<Time>) -> Setup {
    let process = |mbps| Process::Constant { rate: Rate::from_mbps(mbps) };
    let source = DatagramSource { process: process(10_000), frame_bytes: 1000, lengths: Default::default(), stop };
    let bulk = Flow {
        class: 5,
        start: traffic::Start::At(Time::from_us(100)),
        load: Load::Datagrams(Box::new(source)),
        ..datagrams(1, 2, process(1), 1000, ENDLESS)
    };
    let mut setup = setup(
        single_switch(3, link(10, 500)).unwrap(),
        plan(3, [datagrams(0, 2, process(3_000), 1000, ENDLESS), bulk]),
    );
    (setup.switch.flow_control, setup.switch.buffer) = (flow_control, buffer);
    setup.duration = Time::from_ms(4);
    setup
}

fn shared() -> Buffer {
    Buffer::Shared { bytes: 1_000_000, egress: Threshold::Static { bytes: 400_000 } }
}

fn by_account() -> Vec<(&'static str, FlowControl)> {
    let credits = sufficient_credits(Rate::from_gbps(10), Time::from_ns(500), 1518, 1518);
    let credit = CreditParameters {
        classes: 1 << 3,
        credits_bytes: Some(credits),
        update_bytes: None,
        regrant: Time::from_us(100),
    };
    vec![
        ("pfc", FlowControl::Pfc(pause(20_000))),
        ("pause", FlowControl::Pause(PauseParameters { classes: 0xff, ..pause(20_000) })),
        ("cbfc", FlowControl::Credit(credit)),
    ]
}

fn stall(results: &Results) -> &stats::summary::Check {
    results.summary.checks.iter().find(|check| check.name == "stall").unwrap()
}

#[test]
fn a_starved_class_is_a_stall_with_port_class_time_and_cause() {
    for (kind, flow_control) in by_account() {
        let results = run(starved(flow_control, shared(), None));
        let check = stall(&results);
        assert!(!check.pass, "{kind}: {}", check.detail);
        assert!(check.detail.starts_with("1 queue blocked: S1 port 2 class 3 ("), "{kind}: {}", check.detail);
        for part in ["since 10", "us: higher classes occupy the link (strict priority)", "H1 port 0 class 3 since 1"] {
            assert!(check.detail.contains(part), "{kind}: {}", check.detail);
        }
        let red = results.summary.checks.iter().filter(|check| !check.pass).count();
        assert_eq!(red, 1, "{kind}: no other check sees it: {:?}", results.summary.checks);
    }
}

/// `H1` sends to `H3` in class 3 and, from 100 us on, at line rate in class 5, which also has strict priority at `H1`.
#[test]
fn a_class_that_starves_at_its_host_is_a_stall() {
    let within_host = |flow_control: FlowControl| {
        let mut setup = starved(flow_control, shared(), None);
        let mut flows = setup.traffic.flows.clone();
        flows[1].src = 0;
        setup.traffic = plan(3, flows);
        setup
    };
    for (kind, flow_control) in by_account() {
        let results = run(within_host(flow_control));
        let check = stall(&results);
        assert!(!check.pass, "{kind}: {}", check.detail);
        let expected = "1 queue blocked: H1 port 0 class 3 since 10";
        assert!(check.detail.starts_with(expected), "{kind}: {}", check.detail);
        assert!(check.detail.contains("higher classes occupy the link (strict priority)"), "{kind}: {}", check.detail);
        let mut fair = within_host(flow_control);
        fair.switch.scheduler = Scheduler::Wrr { weights: [1; 8] };
        let results = run(fair);
        assert!(stall(&results).pass, "{kind}, fair: {}", stall(&results).detail);
    }
}

/// No stall is reported if the scheduler gives the class a share, if the other class ends, or if the run ends before
/// the port could have sent the largest backlog of its switch.
#[test]
fn a_class_that_waits_for_a_reason_that_ends_is_none() {
    for (kind, flow_control) in by_account() {
        let mut fair = starved(flow_control, shared(), None);
        fair.switch.scheduler = Scheduler::Wrr { weights: [1; 8] };
        let mut soon = starved(flow_control, shared(), None);
        soon.duration = Time::from_ms(1);
        let over = starved(flow_control, shared(), Some(Time::from_ms(3)));
        for (name, setup) in [("fair", fair), ("soon", soon), ("over", over)] {
            let results = run(setup);
            assert!(stall(&results).pass, "{kind}, {name}: {}", stall(&results).detail);
        }
    }
}

/// Output backpressure pauses the class that starves the other class, so that no host is stalled.
#[test]
fn flow_control_at_outputs_starves_no_host() {
    let kinds = [
        FlowControl::Florax(backpressure(StopTarget::Flows)),
        FlowControl::Destination(backpressure(StopTarget::Destinations)),
        FlowControl::PauseAtOutput(backpressure(StopTarget::WholePort), FAST),
    ];
    for flow_control in kinds {
        let packets = Buffer::PerQueue { limit: QueueLimit::Packets(100) };
        let results = run(starved(flow_control, packets, None));
        assert!(stall(&results).pass, "{flow_control:?}: {}", stall(&results).detail);
    }
}

/// Three congested switches in a line under PFC; the run ends at any time: no stall, because the paused queues depend
/// on queues that drain.
#[test]
fn a_run_that_ends_while_queues_drain_has_no_stall() {
    let mut stopped = 0;
    for step in 1..60 {
        let flows = [(0, 4), (1, 4), (2, 4), (3, 4), (0, 5), (2, 5)]
            .map(|(src, dst)| datagrams(src, dst, Process::Constant { rate: Rate::from_mbps(5_000) }, 1518, ENDLESS));
        let mut setup = setup(line(3, 2, link(10, 500), link(10, 500)).unwrap(), plan(6, flows));
        setup.switch.flow_control = FlowControl::Pfc(pause(20_000));
        setup.switch.buffer = Buffer::Shared { bytes: 400_000, egress: Threshold::Static { bytes: 400_000 } };
        setup.duration = Time::from_ns(7_300 * step);
        let results = run(setup);
        let check = stall(&results);
        assert!(check.pass, "{step}: {}", check.detail);
        stopped += u32::from(check.detail != "no queue stopped at the end");
    }
    assert!(stopped > 10, "{stopped}");
}
