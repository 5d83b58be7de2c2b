//! PFC deadlock in a ring of four switches, and negative controls without deadlock.

use super::check::{Check, Relation};
use super::registry::{Experiment, RING};
use super::trial::{Trial, TrialResult};
use crate::failure::Failure;
use fabric::Fabric;
use text::{Layout, table};
use units::Time;
use units::random::{Stream, purpose};

/// Deadlock experiments.
pub static EXPERIMENTS: &[Experiment] = &[Experiment {
    id: "deadlock/ring",
    title: "four switches in a ring lock up under PFC, and only then",
    source: "Dally and Seitz, 1987: a cycle of waiting buffers",
    seconds: 1,
    quick_seconds: 1,
    choices: &[],
    run: ring,
}];

/// Runs the experiment `deadlock/ring`.
pub fn ring(trial: &mut Trial) -> Result<(), Failure> {
    let result = trial.run(&RING, &[])?;
    let found = result.summary.deadlock.clone().unwrap_or_default();
    let rows: Vec<Vec<String>> = found
        .cycle
        .iter()
        .map(|edge| vec![edge.node.clone(), edge.port.to_string(), edge.class.to_string(), edge.peer.clone()])
        .collect();
    trial.show(&format!(
        "  closed at {:.3} us: who waits at which port, in which class, for whom\n",
        found.closed_ps as f64 / 1e6
    ));
    trial.show(&table(&["node", "port", "class", "waits for"], &rows, 1, Layout::Fixed, 2));
    trial.check(Check::exact(
        "queues of the cycle that is reported",
        "queues",
        found.cycle.len() as f64,
        Relation::Equal,
        4.0,
    ));
    let chained = (0..found.cycle.len())
        .filter(|&at| found.cycle[at].peer == found.cycle[(at + 1) % found.cycle.len()].node)
        .count();
    trial.check(Check::exact("of them wait for the next of the cycle", "queues", chained as f64, Relation::Equal, 4.0));
    let longer = trial.run(&RING, &[("duration", "\"4ms\"".to_owned())])?;
    let moved = longer.summary.packets.delivered_whole - result.summary.packets.delivered_whole;
    trial.check(Check::exact("frames delivered in the 2 ms after", "frames", moved as f64, Relation::Equal, 0.0));
    let lost = result.overflowed() as f64;
    trial.check(Check::exact("lossless frames lost", "frames", lost, Relation::Equal, 0.0));
    // H3 and H4 send only 1000 B, so the link from S4 to S1 carries no traffic and there is no cyclic buffer
    // dependency.
    let silent = [("traffic.2.size", "1000B".to_owned()), ("traffic.3.size", "1000B".to_owned())];
    let without = trial.run(&RING, &silent)?;
    let name = "negative control: deadlocks without the traffic of one link";
    trial.check(Check::exact(name, "deadlocks", deadlocks(&without), Relation::Equal, 0.0).consistency());
    let without = trial.run(&RING, &[("switch.flow_control", "\"none\"".to_owned())])?;
    let name = "negative control: deadlocks without flow control";
    trial.check(Check::exact(name, "deadlocks", deadlocks(&without), Relation::Equal, 0.0).consistency());
    let name = "negative control: frames lost without flow control";
    trial.check(Check::exact(name, "frames", without.overflowed() as f64, Relation::Above, 0.0).consistency());
    bursts(trial)
}

fn deadlocks(result: &TrialResult) -> f64 {
    if result.summary.deadlock.is_some() { 1.0 } else { 0.0 }
}

/// Returns `true` if the egress ports of all four links of the ring were paused at the same time.
fn around(fabric: &Fabric, result: &TrialResult) -> bool {
    let ring: Vec<_> = (1..=4)
        .filter_map(|number| {
            let (node, next) = (fabric.find(&format!("S{number}"))?, fabric.find(&format!("S{}", number % 4 + 1))?);
            Some((node, fabric.port_towards(node, next)?))
        })
        .collect();
    let mut stopped = vec![false; ring.len()];
    result.pauses.iter().any(|&(_, node, port, pause)| {
        if let Some(at) = ring.iter().position(|&known| known == (node, port)) {
            stopped[at] = pause;
        }
        stopped.iter().all(|&stopped| stopped)
    })
}

/// Runs random bursts. In some runs the ring deadlocks; in others all four ports of the ring are paused simultaneously
/// and later drain without intervention.
fn bursts(trial: &mut Trial) -> Result<(), Failure> {
    let runs = trial.shorten("runs with bursts", 300, 100);
    let mut stream = Stream::new(11, 0, purpose("bursts"));
    let (mut stuck, mut transient, mut wrong) = (0, 0, 0);
    for _ in 0..runs {
        let mut setup = trial.setup(&RING, &[("duration", "\"500us\"".to_owned())])?;
        for flow in &mut setup.traffic.flows {
            flow.size_bytes = 1000 * (240 + stream.below(80));
            flow.start = traffic::Start::At(Time::from_ns(stream.below(4_000)));
        }
        let fabric = setup.fabric.clone();
        let result = TrialResult::of(setup, &RING)?;
        let everything = result.summary.packets.in_flight == 0;
        wrong += u64::from(result.summary.deadlock.is_none() != everything);
        stuck += u64::from(!everything);
        transient += u64::from(everything && around(&fabric, &result));
    }
    trial.show(&format!(
        "  {runs} runs with bursts of random sizes: {stuck} got stuck, {transient} stopped all around and drained by \
         themselves\n"
    ));
    let unit = "runs";
    trial.check(Check::exact("bursts: runs that got stuck", unit, stuck as f64, Relation::Above, 0.0).consistency());
    let name = "bursts: runs that stopped all around the ring and drained by themselves";
    trial.check(Check::exact(name, unit, transient as f64, Relation::Above, 0.0).consistency());
    let name = "bursts: runs whose report is wrong: stuck and not reported, or reported and not stuck";
    trial.check(Check::exact(name, unit, wrong as f64, Relation::Equal, 0.0).consistency());
    Ok(())
}
