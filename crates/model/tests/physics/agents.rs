//! Agents that set sending rates: senders follow the rates, observation has no effect, and results do not depend on the
//! number of threads.

use crate::bench::*;
use fabric::generate::{dumbbell, single_switch};
use model::parameters::*;
use model::{AgentSample, AgentScope, ModelError, Simulation};
use stats::flows::FlowRecord;
use units::Time;
use units::random::{Stream, purpose};

/// Eight hosts send to host 0 under PFC, with ECN marking above 50 kB; the flows have different sizes and start
/// times.
fn incast(kind: &str, settings: &[(&str, &str)]) -> Setup {
    let fabric = single_switch(9, link(100, 1_000)).unwrap();
    let flows = (1..9).map(|src| {
        let start = traffic::Start::At(Time::from_us(u64::from(src % 3) * 13));
        traffic::Flow { start, ..flow(src, 0, 50_000 + 40_000 * u64::from(src)) }
    });
    let mut setup = setup(fabric, plan(9, flows));
    setup.switch.flow_control = FlowControl::Pfc(pause(100_000));
    setup.switch.marking = Marking::Ecn(EcnParameters {
        k_min_bytes: 50_000,
        k_max_bytes: Some(50_000),
        p_max: 1.0,
        of_rate: None,
        at: MarkEvent::Enqueue,
    });
    setup.host.transport = transport(kind, settings);
    setup.record.control_every = Some(Time::from_us(9));
    setup.duration = Time::from_ms(3);
    setup
}

/// Results of a run with agents, and all samples of these agents.
struct Steered {
    flows: Vec<FlowRecord>,
    outcome: stats::Outcome,
    samples: Vec<Vec<AgentSample>>,
}

impl PartialEq for Steered {
    fn eq(&self, other: &Self) -> bool {
        let same = |one: &stats::Outcome, other: &stats::Outcome| format!("{one:?}") == format!("{other:?}");
        self.flows == other.flows && same(&self.outcome, &other.outcome) && self.samples == other.samples
    }
}

/// Runs in steps of `step`. Before each step, `act` receives the samples of all agents and returns one share of the
/// link rate per agent.
fn steered(setup: Setup, steers: AgentScope, step: Time, mut act: impl FnMut(&[AgentSample]) -> Vec<f64>) -> Steered {
    let (threads, mut results) = (setup.threads, Results::default());
    let mut simulation = Simulation::new(setup).unwrap();
    if threads > 1 {
        simulation.randomise_threads(7);
    }
    simulation.create_agents(steers).unwrap();
    let mut samples = vec![simulation.sample_agents()];
    while !simulation.is_over() {
        simulation.set_rates(&act(&samples[samples.len() - 1]));
        let until = simulation.now() + step;
        assert!(simulation.run_until(until, &mut results));
        samples.push(simulation.sample_agents());
    }
    let outcome = simulation.finish(&mut results, false);
    Steered { flows: results.flows, outcome, samples }
}

/// An agent sets the constant share 0.25 of 100 Gbps per flow, for any initial rate and any step length. The results
/// equal those of transport `external` at 25 Gbps without agents, and those of RoCE at 25 Gbps.
#[test]
fn a_constant_rate_is_that_of_the_scenario() {
    let results = run(incast("external", &[("initial_rate", "25Gbps")]));
    let of_scenario = (results.flows, format!("{:?}", results.summary));
    let of_roce = run(incast("roce", &[("rate", "25Gbps"), ("ecn", "true")]));
    assert!(of_scenario.0.iter().all(|flow| flow.delivered_ps.is_some()) && of_scenario.0.len() == 8);
    assert!(of_roce.flows == of_scenario.0 && format!("{:?}", of_roce.summary) == of_scenario.1);
    for initial_rate in ["25Gbps", "line", "1Gbps"] {
        for step in [Time::from_ns(7_301), Time::from_us(10), Time::from_ms(20)] {
            let setup = incast("external", &[("initial_rate", initial_rate)]);
            let of_agents = steered(setup, AgentScope::Flow, step, |samples| vec![0.25; samples.len()]);
            assert!(of_agents.flows == of_scenario.0, "{initial_rate} {step}");
            assert_eq!(format!("{:?}", of_agents.outcome), of_scenario.1, "{initial_rate} {step}");
        }
    }
}

/// Random shares for flows or hosts: flow records and samples are equal on any number of threads, and differ for
/// another seed.
#[test]
fn random_shares_are_exact_on_any_number_of_threads() {
    for (steers, recovery) in
        [(AgentScope::Flow, "go-back-n"), (AgentScope::Flow, "selective"), (AgentScope::Host, "go-back-n")]
    {
        let of = |threads: usize, seed: u64| {
            let mut setup = incast("external", &[("loss_recovery", recovery)]);
            setup.threads = threads;
            let mut random = Stream::new(seed, 0, purpose("shares"));
            steered(setup, steers, Time::from_us(5), |samples| samples.iter().map(|_| random.unit()).collect())
        };
        let one = of(1, 1);
        assert!(one.outcome.passes() && one.outcome.flows.completed == 8, "{:?}", one.outcome.checks);
        assert!(one == of(1, 1) && one == of(2, 1) && one == of(3, 1), "{steers:?}");
        assert!(one.flows != of(1, 2).flows);
        // The sum of the acknowledged bytes over all samples equals the sum of the flow sizes: each byte is in
        // exactly one sample.
        let seen: u64 = one.samples.iter().flatten().map(|sample| sample.acknowledged_bytes).sum();
        assert_eq!(seen, (1..9).map(|src| 50_000 + 40_000 * src).sum::<u64>());
        assert!(one.samples.iter().flatten().any(|sample| sample.marked_bytes > 0));
        assert!(
            one.samples[0].iter().all(|sample| sample.under_way == 0 && !sample.done && sample.rate == sample.line)
        );
        assert!(one.samples.last().unwrap().iter().all(|sample| sample.done));
    }
}

/// The bytes sent in a step equal rate * step length, within one packet (1082 B on the wire). A packet that waits at
/// the minimum rate (86 us at 100 Mbps) is sent as soon as the rate increases. In an idle network, the sampled RTT is
/// at most the idle RTT of the path, and at least 0.9 times it.
#[test]
fn flows_send_at_the_rate_that_was_set() {
    let fabric = dumbbell(1, 1, link(10, 1_000), link(10, 1_000)).unwrap();
    let mut setup = setup(fabric, plan(2, [flow(0, 1, traffic::ENDLESS)]));
    setup.host.transport = transport("external", &[("rate", "8Gbps")]);
    setup.duration = Time::from_ms(2);
    let shares = [1.0, 0.5, 0.0, 0.0, 0.8, 0.0, 0.25, 0.4];
    let (mut at, step) = (0, Time::from_us(50));
    let of_steps = steered(setup, AgentScope::Flow, step, |_| {
        at += 1;
        vec![shares[(at - 1) % shares.len()]]
    });
    let (mut round_trips, wire_bytes) = (0, 1082);
    for (at, samples) in of_steps.samples[1..].iter().enumerate() {
        let share: f64 = shares[at % shares.len()];
        let rate = (share * 1e10).clamp(1e8, 8e9);
        assert_eq!(samples[0].rate.as_bps(), rate as u64);
        let sent = rate * step.as_secs_f64() / 8.0;
        let off = samples[0].sent_bytes as f64 - sent;
        assert!(off.abs() <= f64::from(wire_bytes), "step {at}: {} for {sent}", samples[0].sent_bytes);
        if samples[0].acknowledgements > 0 {
            round_trips += 1;
            let ratio = samples[0].least_rtt_ratio;
            assert!((0.9..=1.0).contains(&ratio), "step {at}: {ratio}");
            assert!(samples[0].rtt_sum <= samples[0].idle_rtt_sum);
        }
        assert!(samples[0].under_way == 1 && !samples[0].done && samples[0].marked_bytes == 0);
    }
    assert!(round_trips > 30);
}

/// Without flow control, a burst overflows the buffer of 60 kB: the samples report the losses, and the flows
/// complete.
#[test]
fn losses_are_seen() {
    let mut setup = incast("external", &[("nak_interval", "20us"), ("timeout", "200us")]);
    setup.switch.flow_control = FlowControl::None;
    setup.switch.buffer = Buffer::Shared { bytes: 60_000, egress: Threshold::Static { bytes: 60_000 } };
    let of_steps = steered(setup, AgentScope::Flow, Time::from_us(10), |samples| vec![0.2; samples.len()]);
    assert!(of_steps.outcome.packets.dropped.values().sum::<u64>() > 0);
    assert!(of_steps.samples.iter().flatten().map(|sample| sample.losses).sum::<u64>() > 0);
    assert_eq!(of_steps.outcome.flows.completed, 8);
}

#[test]
fn without_anything_to_set_there_are_no_agents() {
    let error = |setup: Setup, steers: AgentScope| Simulation::new(setup).unwrap().create_agents(steers).unwrap_err();
    assert_eq!(error(incast("roce", &[]), AgentScope::Flow), ModelError::NoAgents);
    assert_eq!(error(incast("dcqcn", &[]), AgentScope::Host), ModelError::NoAgents);
    // Agents control only flows with transport `external`: here, one flow, whose traffic entry has this transport.
    let mut setup = incast("roce", &[]);
    setup.traffic.flows[3].traffic = 1;
    setup.host.transports.insert(1, transport("external", &[]));
    let agents = Simulation::new(setup).unwrap().create_agents(AgentScope::Flow).unwrap();
    assert_eq!(agents, [model::Agent { host: 4, flow: Some(3) }]);
}
