//! Runs that end when all flows have ended: not before, only slightly later, and with complete results.

use crate::bench::*;
use fabric::Fabric;
use fabric::generate::single_switch;
use model::parameters::{Buffer, QueueLimit};
use traffic::{ArrivalRate, ENDLESS, Entry, Poisson, Process, Sizes, poisson};
use units::{Rate, Time};

fn star(hosts: u32) -> Fabric {
    single_switch(hosts, link(10, 500)).unwrap()
}

/// The run ends at the first check after the last frame has arrived. Its results equal those of a run with the
/// configured duration.
// [M63]
#[test]
fn a_run_ends_with_its_flows_and_counts_as_the_whole_one_does() {
    let flows = || [flow(0, 3, 200_000), flow(1, 3, 300_000), flow(2, 0, 5_000)];
    let run_with = |ends_with_flows: bool, threads: usize| {
        let mut setup = setup(star(4), plan(4, flows()));
        setup.switch.flow_control = model::parameters::FlowControl::Pfc(pause(20_000));
        (setup.duration, setup.ends_with_flows, setup.threads) = (Time::from_ms(50), ends_with_flows, threads);
        run(setup)
    };
    let (whole, ended) = (run_with(false, 1), run_with(true, 1));
    let last = ended.flows.iter().filter_map(|flow| flow.acked_ps).max().unwrap();
    let (end, interval_ps) = (ended.summary.simulated_ps, Time::from_us(10).as_ps());
    assert!(end % interval_ps == 0 && end >= last && end < last + 2 * interval_ps, "{end} after {last}");
    assert_eq!(ended.summary.window.end_ps, end);
    assert!(!ended.summary.partial && ended.summary.packets.in_flight == 0 && ended.summary.flows.completed == 3);
    assert_eq!(whole.summary.simulated_ps, Time::from_ms(50).as_ps());
    assert_eq!((&whole.flows, &whole.pauses), (&ended.flows, &ended.pauses));
    assert_eq!(whole.summary.packets, ended.summary.packets);
    assert_eq!(whole.summary.goodput.bps, ended.summary.goodput.bps);
    assert_eq!(ended.summary, run_with(true, 2).summary);
}

/// The run waits for flows that start late, but not for endless flows.
#[test]
fn the_run_waits_for_late_flows_and_not_for_endless_ones() {
    let late = traffic::Flow { start: traffic::Start::At(Time::from_ms(3)), ..flow(0, 1, 5_000) };
    let mut alone = setup(star(3), plan(3, [flow(0, 1, 5_000), late.clone()]));
    (alone.duration, alone.ends_with_flows) = (Time::from_ms(50), true);
    let alone = run(alone).summary;
    assert!(alone.flows.completed == 2 && alone.simulated_ps > Time::from_ms(3).as_ps());
    assert!(alone.simulated_ps < Time::from_us(3_050).as_ps(), "{}", alone.simulated_ps);

    let constant = Process::Constant { rate: Rate::from_gbps(1) };
    let beside = datagrams(2, 0, constant, 1000, ENDLESS);
    let mut both = setup(star(3), plan(3, [flow(0, 1, 5_000), late, beside]));
    (both.duration, both.ends_with_flows) = (Time::from_ms(50), true);
    let both = run(both).summary;
    assert!(both.simulated_ps < Time::from_us(3_050).as_ps() && both.flows.completed == 2, "{}", both.simulated_ps);
}

/// The run waits for the last of the flows with random arrivals.
#[test]
fn drawn_flows_are_waited_for_up_to_the_last() {
    let mut builder = traffic::PlanBuilder::new();
    let parameters = Poisson {
        intensity: ArrivalRate::MeanGap(Time::from_us(200)),
        sizes: Sizes::Fixed(5_000),
        destinations: None,
        stop: None,
        flows_per_host: Some(20),
    };
    poisson(&parameters, &[0, 1, 2], &Entry::new(1, 0), &mut builder).unwrap();
    let mut setup = setup(star(3), builder.build(3).unwrap());
    (setup.duration, setup.ends_with_flows) = (Time::from_ms(100), true);
    let results = run(setup);
    let last = results.flows.iter().filter_map(|flow| flow.acked_ps).max().unwrap();
    assert_eq!((results.summary.flows.completed, results.flows.len()), (60, 60));
    let end = results.summary.simulated_ps;
    assert!(end >= last && end < last + 2 * Time::from_us(10).as_ps(), "{end} after {last}");
}

/// A datagram source has ended when each of its frames has arrived or is lost.
// [M63]
#[test]
fn datagrams_end_whether_they_arrive_or_not() {
    let constant = || Process::Constant { rate: Rate::from_gbps(10) };
    let to_one = |src| datagrams(src, 2, constant(), 1000, 20_000);
    let fabric = single_switch(3, link(10, 200_000)).unwrap();
    let mut setup = setup(fabric, plan(3, [to_one(0), to_one(1)]));
    setup.switch.buffer = Buffer::PerQueue { limit: QueueLimit::Packets(5) };
    (setup.duration, setup.ends_with_flows) = (Time::from_ms(50), true);
    let results = run(setup);
    let (packets, lost) =
        (&results.summary.packets, results.summary.packets.injected - results.summary.packets.delivered_whole);
    assert_eq!(packets.injected, 40);
    assert!(lost > 0 && packets.delivered_whole > 20, "{packets:?}");
    assert!(results.summary.simulated_ps < Time::from_us(900).as_ps(), "{}", results.summary.simulated_ps);
}

/// The run does not end before the warm-up, because statistics start after it.
// [M63]
#[test]
fn the_warm_up_is_waited_for() {
    let mut setup = setup(star(2), plan(2, [flow(0, 1, 5_000)]));
    (setup.duration, setup.warm_up, setup.ends_with_flows) = (Time::from_ms(5), Time::from_us(2_005), true);
    assert_eq!(run(setup).summary.simulated_ps, Time::from_us(2_010).as_ps());
}
