//! Flow records: one row per started flow, marked as complete if its last byte has arrived. Random networks with all
//! transports, run to the end or stopped at any time, on several threads and ranks.

use crate::bench::*;
use crate::conservation::network;
use model::parameters::Setup;
use model::{NullWatcher, Simulation, in_one_process};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use traffic::{
    ArrivalRate, ENDLESS, Entry, Plan, PlanBuilder, Poisson, Process, RequestReply, Rounds, Servers, Service, Sizes,
};
use units::random::Stream;
use units::{Rate, Time};

/// All transports, in each variant that has a different sender or receiver implementation.
const TRANSPORTS: &[(&str, &[(&str, &str)])] = &[
    ("roce", &[]),
    ("roce", &[("loss_recovery", "selective")]),
    ("dcqcn", &[("ack_every", "5")]),
    ("timely", &[]),
    ("hetflow", &[]),
    ("qcn", &[]),
    ("eccp", &[]),
    ("swift", &[]),
    ("tcp", &[]),
    ("tcp", &[("sack", "true")]),
    ("dctcp", &[]),
    ("ndp", &[]),
    ("eqds", &[]),
    ("datagram", &[]),
];

/// Flows with random arrivals, whose numbers are not in the plan.
fn drawn(hosts: u32, seed: u64) -> Plan {
    let mut builder = PlanBuilder::new();
    let parameters = Poisson {
        intensity: ArrivalRate::MeanGap(Time::from_us(8)),
        sizes: Sizes::Fixed(9_000),
        destinations: None,
        stop: None,
        flows_per_host: None,
    };
    let all: Vec<u32> = (0..hosts).collect();
    traffic::poisson(&parameters, &all, &Entry::new(seed, 0), &mut builder).unwrap();
    builder.build(hosts).unwrap()
}

/// Host 0 sends requests to host 1 over three connections; on each, a request follows the reply to the previous one.
fn requests(hosts: u32, seed: u64) -> Plan {
    let mut builder = PlanBuilder::new();
    let parameters = RequestReply {
        client: 0,
        servers: Servers::List(vec![1]),
        request_bytes: 200,
        reply_bytes: 5_000,
        connections: 3,
        requests: 50,
        think: Time::ZERO,
        service: Service::Constant(Time::from_us(1)),
        rounds: Rounds::Independent,
        persistent_connection: seed.is_multiple_of(2),
    };
    let all: Vec<u32> = (0..hosts).collect();
    traffic::request_reply(&parameters, &all, &Entry::new(seed, 0), &mut builder).unwrap();
    builder.build(hosts).unwrap()
}

/// Datagram sources that share ports, so that a source may wait for its round-robin turn after its last frame has
/// arrived.
fn sources(hosts: u32, seed: u64) -> Plan {
    let process = |flow: u64| match flow % 3 {
        0 => Process::Constant { rate: Rate::from_gbps(4) },
        1 => Process::Poisson { rate: Rate::from_gbps(2) },
        _ => Process::OnOff { rate: Rate::from_gbps(9), mean_on: Time::from_us(5), mean_off: Time::from_us(2) },
    };
    let of = |flow: u64| {
        let (src, dst) = ((flow % u64::from(hosts)) as u32, ((flow + 1 + seed) % u64::from(hosts)) as u32);
        let dst = if dst == src { (dst + 1) % hosts } else { dst };
        let size_bytes = if flow.is_multiple_of(7) { ENDLESS } else { 700 * (1 + flow % 40) };
        let mut flow = datagrams(src, dst, process(flow), 64 + 37 * (flow % 30) as u16, size_bytes);
        (flow.traffic, flow.dst_port) = (0, 4_000);
        if let traffic::Load::Datagrams(source) = &mut flow.load
            && size_bytes == ENDLESS
        {
            source.stop = Some(Time::from_us(40));
        }
        flow
    };
    plan(hosts, (0..u64::from(hosts) * 4).map(of))
}

fn case(seed: u64, threads: usize) -> Setup {
    let mut setup = network(seed, threads).0;
    let hosts = setup.fabric.hosts().len() as u32;
    let (kind, settings) = TRANSPORTS[seed as usize % TRANSPORTS.len()];
    setup.host.transport = transport(kind, settings);
    match seed % 5 {
        0 => setup.traffic = drawn(hosts, seed),
        1 => setup.traffic = requests(hosts, seed),
        2 => setup.traffic = sources(hosts, seed),
        _ => {}
    }
    Setup { warm_up: Time::ZERO, ..setup }
}

/// Runs until `until` at most, and summarises at that time.
fn run_to(setup: Setup, until: Time) -> Results {
    let (mut results, drawn) = (Results::default(), (setup.threads > 1).then_some(setup.seed));
    let mut simulation = Simulation::new(setup).unwrap();
    drawn.into_iter().for_each(|seed| simulation.randomise_threads(seed));
    simulation.run_until(until, &mut results);
    results.summary = simulation.finish(&mut results, false);
    results
}

/// Checks that each started flow has exactly one row, and that the counts in the summary agree with the rows.
fn each_flow_has_one_row(results: &Results, what: &str) {
    let (summary, rows) = (&results.summary.flows, &results.flows);
    let numbers: BTreeSet<u64> = rows.iter().map(|row| row.flow).collect();
    assert_eq!(numbers.len(), rows.len(), "{what}: a flow has two rows");
    assert_eq!(rows.len() as u64, summary.started, "{what}: a flow has no row");
    let completed = rows.iter().filter(|row| row.delivered_ps.is_some()).count() as u64;
    assert_eq!(completed, summary.completed, "{what}");
    assert_eq!(rows.iter().filter(|row| row.awaits_ack).count() as u64, summary.unacknowledged, "{what}");
    assert_eq!(summary.by_traffic.iter().map(|entry| entry.started).sum::<u64>(), summary.started, "{what}");
    for row in rows {
        assert!(row.delivered_ps.is_none_or(|at| at >= row.start_ps + row.baseline_fct_ps.min(1)), "{what}: {row:?}");
        assert!(row.acked_ps.is_none_or(|acked| row.delivered_ps.is_some_and(|at| at <= acked)), "{what}: {row:?}");
        assert!(!row.awaits_ack || row.acked_ps.is_none() && row.delivered_ps.is_some(), "{what}: {row:?}");
    }
}

/// A run that ends earlier has the rows of the complete run up to that time: flows are complete or acknowledged if they
/// are so at that time in the complete run.
#[test]
fn each_flow_has_one_row_wherever_a_run_ends() {
    let (mut awaiting, mut unacknowledged, mut lost) = (0, 0, 0);
    for seed in 0..70 {
        let setup = case(seed, 1);
        let (duration, kind) = (setup.duration, TRANSPORTS[seed as usize % TRANSPORTS.len()].0);
        let whole = run_to(setup, Time::MAX);
        each_flow_has_one_row(&whole, &format!("seed {seed}, {kind}"));
        let known: BTreeMap<u64, _> = whole.flows.iter().map(|row| (row.flow, row)).collect();
        lost += whole.flows.iter().filter(|row| row.delivered_ps.is_none()).count();
        let mut random = Stream::new(seed, 0, 7);
        for _ in 0..4 {
            let until = Time::from_ps(1 + random.below(duration.as_ps()));
            let part = run_to(case(seed, 1), until);
            let what = format!("seed {seed}, {kind}, to {until}");
            each_flow_has_one_row(&part, &what);
            for row in &part.flows {
                let later = known[&row.flow];
                let by_then = |at: Option<u64>| at.filter(|&at| at < until.as_ps());
                assert_eq!(row.delivered_ps, by_then(later.delivered_ps), "{what}: {row:?}, then {later:?}");
                assert_eq!(row.acked_ps, by_then(later.acked_ps), "{what}: {row:?}, then {later:?}");
                let fixed = |row: &stats::flows::FlowRecord| (row.start_ps, row.class, row.dst_port, row.dst_host);
                assert_eq!(fixed(row), fixed(later), "{what}");
                awaiting += u32::from(row.awaits_ack);
                unacknowledged += u32::from(row.delivered_ps.is_some() && row.acked_ps.is_none() && !row.awaits_ack);
            }
            for threads in [2, 3] {
                let other = run_to(case(seed, threads), until);
                assert_eq!((&other.flows, &other.summary), (&part.flows, &part.summary), "{what}, {threads} threads");
            }
        }
    }
    assert!(awaiting > 20 && unacknowledged > 20 && lost > 20, "{awaiting} {unacknowledged} {lost}");
}

/// On two and three ranks, rank 0 returns the rows of a run in one process, also for flows whose source and
/// destination belong to different ranks.
#[test]
fn ranks_make_the_rows_of_one_process() {
    for seed in 0..35 {
        let setup = case(seed, 1);
        let until = Time::from_ps(1 + Stream::new(seed, 0, 8).below(setup.duration.as_ps()));
        let nodes = setup.fabric.node_ids().count();
        let alone = run_to(setup, until);
        for count in [2, 3].into_iter().filter(|&count| count <= nodes) {
            let of_rank = |ranks| {
                let mut results = Results::default();
                let mut simulation = Simulation::of_rank(case(seed, 1), ranks).unwrap();
                simulation.run_until(until, &mut results);
                results.summary = simulation.finish(&mut results, false);
                results
            };
            let found: Vec<Results> = std::thread::scope(|scope| {
                let of_rank = &of_rank;
                let ranks: Vec<_> =
                    in_one_process(count).into_iter().map(|ranks| scope.spawn(move || of_rank(ranks))).collect();
                ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
            });
            assert_eq!(found[0].flows, alone.flows, "seed {seed} on {count} ranks");
            assert_eq!(found[0].summary, alone.summary, "seed {seed} on {count} ranks");
            assert!(found[1..].iter().all(|rank| rank.flows.is_empty()));
        }
    }
}

/// A stop flag ends a run at an arbitrary time, at which some nodes have simulated further than others.
#[test]
fn each_flow_has_one_row_in_a_run_that_a_flag_stops() {
    for seed in 0..30 {
        for threads in [1, 2] {
            let setup = case(seed, threads);
            let (mut random, duration) = (Stream::new(seed, threads as u64, 9), setup.duration);
            let mut simulation = Simulation::new(setup).unwrap();
            if threads > 1 {
                simulation.randomise_threads(seed);
            }
            let stop = Arc::new(AtomicBool::new(false));
            simulation.set_stop_flag(Arc::clone(&stop));
            let mut results = Results::default();
            simulation.run_until(Time::from_ps(1 + random.below(duration.as_ps())), &mut results);
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            simulation.run_until(Time::MAX, &mut results);
            results.summary = simulation.finish(&mut results, false);
            each_flow_has_one_row(&results, &format!("seed {seed}, {threads} threads"));
        }
    }
}

/// Ten packets arrive, but their acknowledgements are lost for longer than a receiver keeps the state of complete
/// flows, while other flows complete at this receiver. The flow remains complete in its row.
#[test]
fn a_flow_stays_complete_when_its_receiver_has_forgotten_it() {
    let late = |at_us: u64| traffic::Flow { start: traffic::Start::At(Time::from_us(at_us)), ..flow(2, 1, 3_000) };
    let flows = (0..10).map(|number| late(5_000 * (number + 1))).chain([flow(0, 1, 10_000)]);
    let fabric = fabric::generate::single_switch(3, link(10, 1_000)).unwrap();
    let down_at = Time::from_us(10);
    let mut setup = setup(fabric, plan(3, flows));
    setup.host.transport = transport("roce", &[("ack_every", "10"), ("timeout", "100us")]);
    setup.failures = vec![fabric::routing::Failure { link: fabric::LinkId(0), down_at, up_at: None }];
    setup.duration = Time::from_ms(60);
    let mut simulation = Simulation::new(setup).unwrap();
    simulation.run(&mut NullWatcher);
    let mut results = Results::default();
    results.summary = simulation.finish(&mut results, false);
    let last = &results.flows[0];
    assert_eq!(
        (results.flows.len(), results.summary.flows.completed, results.summary.flows.unacknowledged),
        (1, 11, 1)
    );
    assert!(last.awaits_ack && last.flow == 10 && last.timeouts > 10, "{last:?}");
    assert!(last.delivered_ps.is_some_and(|at| at < 20_000_000), "{last:?}");
}
