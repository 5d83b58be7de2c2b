//! Figures 1.2 and 1.3: propagation of PFC pauses (congestion spreading), and victim flows.

use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::plot::bars;
use crate::registry::{Choice, SPREADING};
use crate::trial::{Trial, TrialResult};
use fabric::{Fabric, NodeId};
use text::{Layout, table};
use units::Time;

/// The source does not specify thresholds: alternatives for the XOFF threshold.
pub const CHOICES: &[Choice] =
    &[Choice { source: &SPREADING, key: "switch.flow_control.xoff", alternatives: &["20KB", "300KB", "auto"] }];

/// Traffic entry of the victim flow from `H1x` to `H2x`, which does not cross the congested port.
const VICTIM: usize = 2;
const MEASURED: &str = "the source only compares: the other side is measured";

/// Results of one run, with the fabric to look up node names.
struct Spread {
    fabric: Fabric,
    result: TrialResult,
}

impl Spread {
    /// Returns the time of the first pause frame that `node` receives from `peer`.
    fn first(&self, node: &str, peer: &str) -> Option<Time> {
        let (node, peer) = (self.fabric.find(node)?, self.fabric.find(peer)?);
        let port = self.fabric.port_towards(node, peer)?;
        let is_pause_of_port = |event: &&(Time, NodeId, u16, bool)| event.1 == node && event.2 == port && event.3;
        self.result.pauses.iter().find(is_pause_of_port).map(|event| event.0)
    }

    fn count(&self, node: &str, peer: &str) -> usize {
        let found = self.fabric.find(node).zip(self.fabric.find(peer));
        let Some((node, peer)) = found else { return 0 };
        let port = self.fabric.port_towards(node, peer);
        self.result.pauses.iter().filter(|event| event.1 == node && Some(event.2) == port && event.3).count()
    }
}

fn run(trial: &Trial, changes: &[(&str, String)]) -> Result<Spread, Failure> {
    let setup = trial.setup(&SPREADING, changes)?;
    let fabric = setup.fabric.clone();
    Ok(Spread { fabric, result: TrialResult::of(setup, &SPREADING)? })
}

/// Runs the experiment `bg/fig1.2`.
pub fn spreading(trial: &mut Trial) -> Result<(), Failure> {
    let spread = run(trial, &[])?;
    let steps = [("S1", "L3"), ("S2", "L3"), ("L1", "S1"), ("L1", "S2"), ("H1", "L1"), ("H2", "L1"), ("H3", "L1")];
    let us = |at: Option<Time>| at.map_or(f64::NAN, |at| at.as_ps() as f64 / 1e6);
    let row = |&(node, by): &(&str, &str)| {
        let first = format!("{:.3}", us(spread.first(node, by)));
        vec![node.to_owned(), by.to_owned(), first, spread.count(node, by).to_string()]
    };
    trial.show("  pauses: receiver, sender, first time (us), number\n");
    let rows: Vec<Vec<String>> = steps.iter().map(row).collect();
    trial.show(&table(&["node", "by", "first", "pauses"], &rows, 2, Layout::Fixed, 2));
    for (node, by, what) in [
        ("S1", "L3", "SW3 stops spine 1"),
        ("S2", "L3", "SW3 stops spine 2"),
        ("L1", "S1", "spine 1 stops SW1"),
        ("L1", "S2", "spine 2 stops SW1"),
        ("H1", "L1", "SW1 stops H11"),
        ("H2", "L1", "SW1 stops H12"),
        ("H3", "L1", "SW1 stops H1x, which sends elsewhere"),
    ] {
        let count = spread.count(node, by) as f64;
        trial.check(Check::exact(format!("{what}: pauses"), "pauses", count, Relation::AtLeast, 1.0));
    }
    let order = "hop by hop, backwards from the congested port: the other side is measured";
    for (what, near, far) in [
        ("spine 1 is stopped before SW1 by it", ("S1", "L3"), ("L1", "S1")),
        ("spine 2 is stopped before SW1 by it", ("S2", "L3"), ("L1", "S2")),
        ("SW1 is stopped before H11", ("L1", "S1"), ("H1", "L1")),
        ("SW1 is stopped before H1x", ("L1", "S1"), ("H3", "L1")),
    ] {
        let (near, far) = (us(spread.first(near.0, near.1)), us(spread.first(far.0, far.1)));
        trial.check(Check::exact(what, "us", near, Relation::Below, far).note(order));
    }
    let overflowed = spread.result.overflowed() as f64;
    trial.check(Check::exact("frames lost to full queues", "frames", overflowed, Relation::Equal, 0.0));
    let failed = spread.result.failed_checks() as f64;
    trial.check(Check::exact("the run's own checks that fail", "checks", failed, Relation::Equal, 0.0).consistency());
    let without = run(trial, &[("switch.flow_control", "\"none\"".to_owned())])?;
    let name = "negative control: pauses without PFC";
    trial.check(Check::exact(name, "pauses", without.result.pauses.len() as f64, Relation::Equal, 0.0).consistency());
    let drops = without.result.overflowed() as f64;
    trial.check(
        Check::exact("negative control: frames lost without PFC", "frames", drops, Relation::Above, 0.0).consistency(),
    );
    Ok(())
}

/// Returns the goodput of the three traffic entries in Gbps, and the number of frames dropped by full queues.
fn goodputs(trial: &Trial, changes: &[(&str, String)]) -> Result<(Vec<f64>, u64), Failure> {
    let result = run(trial, changes)?.result;
    Ok(((0..3).map(|entry| result.goodput(entry) / 1e9).collect(), result.overflowed()))
}

/// Runs the experiment `bg/fig1.3`.
pub fn blocking(trial: &mut Trial) -> Result<(), Failure> {
    let text = |value: &str| value.to_owned();
    let (pfc, lost) = goodputs(trial, &[])?;
    // With 1 byte each, the flows of H11 and H12 complete before the measurement interval begins.
    let (alone, _) = goodputs(trial, &[("traffic.0.size", text("1B")), ("traffic.1.size", text("1B"))])?;
    let (dropping, dropped) = goodputs(trial, &[("switch.flow_control", text("\"none\""))])?;
    let other_class = [("switch.flow_control.priorities", text("[3, 4]")), ("traffic.2.class", text("4"))];
    let (apart, _) = goodputs(trial, &other_class)?;
    // DCQCN is an end-to-end congestion control: it reduces the rate of the senders that fill the queue, but not of the
    // victim flow.
    let duration_ms = trial.shorten("simulated ms under DCQCN", 40, 20);
    let per_flow = [
        ("host.transport", text("{ kind = \"dcqcn\", payload = \"1000B\" }")),
        ("switch.marking", text("{ kind = \"ecn\", k_min = \"5KB\", k_max = \"50KB\", p_max = 0.1 }")),
        ("duration", format!("\"{duration_ms}ms\"")),
        ("measure.warm_up", format!("\"{}ms\"", duration_ms / 2)),
    ];
    let (controlled, _) = goodputs(trial, &per_flow)?;
    let rows: Vec<(String, Vec<f64>)> =
        [("alone", &alone), ("PFC", &pfc), ("no PFC", &dropping), ("own class", &apart), ("DCQCN", &controlled)]
            .into_iter()
            .map(|(name, values)| (name.to_owned(), values.clone()))
            .collect();
    trial.show("  goodput in Gbps\n");
    trial.show(&bars("", &["H11 to H3x", "H12 to H3x", "H1x to H2x"], 10.0, &rows));
    let victim = alone[VICTIM];
    let capacity = 10.0 * 1000.0 / 1082.0;
    trial.check(
        Check::new("H1x to H2x alone fills its link", "Gbps", victim, Relation::Equal, capacity, 0.01 * capacity)
            .consistency(),
    );
    let name = "under PFC H1x to H2x loses more than a third, though its path is free";
    trial.check(Check::new(name, "Gbps", pfc[VICTIM], Relation::Below, victim * 2.0 / 3.0, 0.0).note(MEASURED));
    trial.check(Check::exact("under PFC frames lost to full queues", "frames", lost as f64, Relation::Equal, 0.0));
    let sum = pfc[0] + pfc[1];
    let name = "under PFC H11 and H12 fill the link to H3x";
    trial.check(Check::new(name, "Gbps", sum, Relation::Equal, capacity, 0.02 * capacity).consistency());
    let name = "negative control: without PFC H1x to H2x keeps its rate";
    trial.check(
        Check::new(name, "Gbps", dropping[VICTIM], Relation::Equal, victim, 0.01 * victim).consistency().note(MEASURED),
    );
    let name = "negative control: without PFC frames are lost";
    trial.check(Check::exact(name, "frames", dropped as f64, Relation::Above, 0.0).consistency());
    let name = "negative control: in a lossless class of its own H1x to H2x keeps its rate";
    trial.check(
        Check::new(name, "Gbps", apart[VICTIM], Relation::Equal, victim, 0.01 * victim).consistency().note(MEASURED),
    );
    let name = "with control per flow (DCQCN) H1x to H2x gets more than under PFC alone";
    trial.check(Check::new(name, "Gbps", controlled[VICTIM], Relation::Above, pfc[VICTIM] * 1.25, 0.0).note(MEASURED));
    Ok(())
}
