//! Cost that each mechanism for CPRI streams has for data flows on shared links.

use super::Control;
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::registry::DTSCOE_PRICE;
use crate::trial::Trial;
use text::{Layout, table};

/// Results over all seeds: mean over seeds of the mean and of the 99th percentile of FCTs in us; number of lost frames;
/// maximum jitter of CPRI streams in ns.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    completed: u64,
    mean_us: f64,
    p99_us: f64,
    lost: u64,
    jitter_ns: f64,
}

/// Cyclic queuing (802.1Qch), for comparison. A cycle lasts three of the shortest periods; in one cycle, 9 KB of CPRI
/// frames arrive for one port. Neither data sources nor replies may use the second class of the pair.
const CYCLES: &str = "[{ cycle = \"1920ns\", classes = [7, 5] }]";
/// Bound of the jitter: with cyclic queuing, the delay is at least (switches - 1) and at most (switches + 1) cycles.
const CYCLES_APART_NS: f64 = 2.0 * 1920.0;

/// Runs all seeds with the mechanism `control`, or with cyclic queuing if it is `None`.
fn seen(trial: &Trial, control: Option<Control>, with_pfc: bool, seeds: u64) -> Result<Seen, Failure> {
    let mut all = Seen::default();
    for seed in 1..=seeds {
        let mut changes = vec![("seed", seed.to_string())];
        if control.is_none() {
            changes.push(("cyclic", CYCLES.to_owned()));
        }
        if control != Some(Control::Gates) {
            changes.push(("gates", "[]".to_owned()));
        }
        if let Some(fragments) = control.and_then(Control::fragments) {
            changes.push(("switch.preemption", format!("{{ express = [7], fragments = \"{fragments}\" }}")));
        }
        if with_pfc {
            changes.push(("switch.flow_control", "{ kind = \"pfc\", priorities = [0] }".to_owned()));
        }
        let result = trial.run(&DTSCOE_PRICE, &changes)?;
        let flows = result.summary.flows.by_traffic.iter().find(|entry| entry.traffic == 8);
        if let Some((flows, fct)) = flows.and_then(|flows| Some((flows, flows.fct_ns?))) {
            all.completed += flows.completed;
            all.mean_us += fct.mean / 1e3 / seeds as f64;
            all.p99_us += fct.p99 / 1e3 / seeds as f64;
        }
        all.lost += result.summary.packets.dropped_total();
        let jitter = result.summary.jitter.iter().filter(|seen| seen.traffic < 8).map(|seen| seen.jitter_ps);
        all.jitter_ns = all.jitter_ns.max(jitter.max().unwrap_or(u64::MAX) as f64 / 1e3);
    }
    Ok(all)
}

/// Runs the experiment `dtscoe/price`.
pub fn run(trial: &mut Trial) -> Result<(), Failure> {
    let seeds = trial.shorten("seeds of the flows", 10, 2);
    let (mut rows, mut worst, mut of_cycles) = (Vec::new(), 0.0_f64, 0.0_f64);
    for with_pfc in [false, true] {
        for control in Control::ALL.map(Some).into_iter().chain([None]) {
            let Seen { completed, mean_us, p99_us, lost, jitter_ns } = seen(trial, control, with_pfc, seeds)?;
            match control {
                Some(Control::Gates) => worst = worst.max(jitter_ns),
                Some(_) => {}
                None => of_cycles = of_cycles.max(jitter_ns),
            }
            let name = control.map_or("cycles of 1.92 us, 802.1Qch", Control::name);
            let pfc = if with_pfc { "PFC" } else { "-" };
            let numbers = [completed.to_string(), format!("{mean_us:.1}"), format!("{p99_us:.1}"), lost.to_string()];
            let row = [name.to_owned(), pfc.to_owned()].into_iter().chain(numbers);
            rows.push(row.chain([format!("{jitter_ns:.1}")]).collect());
        }
    }
    let columns =
        ["control of CPRI", "flows", "completed", "FCT mean, us", "p99, us", "frames lost", "CPRI jitter, ns"];
    trial.show(&table(&columns, &rows, 2, Layout::Fixed, 2));
    let name = "DTSCoE: jitter beside flows, with PFC and without";
    trial.check(Check::exact(name, "ns", worst, Relation::Equal, 0.0));
    let name = "cyclic queuing: jitter beside flows is at most two cycles";
    trial.check(Check::exact(name, "ns", of_cycles, Relation::AtMost, CYCLES_APART_NS).consistency());
    Ok(())
}
