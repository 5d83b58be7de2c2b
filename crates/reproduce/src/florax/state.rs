//! State and control overhead of FLORAX: size of the flow table and number of control frames as a function of the
//! number of flows through one port.

use super::series::Series;
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::growth::{Growth, svg};
use crate::plot::bars;
use crate::registry::{Choice, FLORAX_STATE};
use crate::trial::Trial;
use text::{Layout, table};
use traffic::{DatagramSource, Flow, Load, PlanBuilder, Process};
use units::Rate;

/// Number of hosts on each side of the dumbbell; the number of flows is its square.
const SIDES: [u32; 5] = [3, 10, 32, 100, 316];
/// Limit of the flow table in the runs with a bounded table, in entries; equal to the default.
const BOUND: u64 = 4096;
/// Total offered load: 1.2 times the rate of the bottleneck link.
const LOAD_BPS: u64 = 12_000_000_000;

/// Parameters that the paper does not specify.
pub const STATE_CHOICES: &[Choice] = &[
    Choice { source: &FLORAX_STATE, key: "switch.flow_control.expiry", alternatives: &["1ms"] },
    Choice { source: &FLORAX_STATE, key: "switch.queue", alternatives: &["\"250 packets\""] },
];

/// Runs the scenario with `side` hosts on each side and a flow table of `bound` entries.
fn run(trial: &Trial, side: u32, bound: u64) -> Result<Series, Failure> {
    let changes = [
        ("fabric.left", side.to_string()),
        ("fabric.right", side.to_string()),
        ("switch.flow_control.flows", bound.to_string()),
    ];
    let mut setup = trial.setup(&FLORAX_STATE, &changes)?;
    // One flow per pair of a left and a right host, each with the scenario's flow parameters and an equal share of the
    // load.
    let pairs = u64::from(side) * u64::from(side);
    let Some(pattern) = setup.traffic.flows.first().cloned() else { return Ok(Series::default()) };
    let mut plan = PlanBuilder::new();
    for (src, dst) in (0..side).flat_map(|src| (side..2 * side).map(move |dst| (src, dst))) {
        let load = match &pattern.load {
            Load::Datagrams(source) => {
                let rate = Rate::from_bps(LOAD_BPS / pairs).unwrap_or(Rate::MIN);
                Load::Datagrams(Box::new(DatagramSource { process: Process::Poisson { rate }, ..**source }))
            }
            Load::Transport => Load::Transport,
        };
        plan.flow(Flow { src, dst, load, ..pattern.clone() });
    }
    let hosts = setup.fabric.hosts().len() as u32;
    setup.traffic = plan.build(hosts).map_err(|error| Failure::input(error.to_string(), ""))?;
    Series::of(setup, &FLORAX_STATE)
}

/// Runs the experiment `florax/state-cost`.
pub fn state_cost(trial: &mut Trial) -> Result<(), Failure> {
    let sizes = trial.shorten("numbers of flows", SIDES.len() as u64, 3) as usize;
    let names = ["bytes of the fullest table", "bytes of control frames"];
    let mut growths = names.map(|name| Growth { name, points: Vec::new() });
    let (mut rows, mut plot, mut entries) = (Vec::new(), Vec::new(), Vec::new());
    for &side in &SIDES[..sizes] {
        let flows = u64::from(side) * u64::from(side);
        for (name, bound) in [("", 1_000_000), (", bounded", BOUND)] {
            if bound == BOUND && flows < BOUND {
                continue;
            }
            let run = run(trial, side, bound)?;
            let pressure = run.pressure();
            let result = [
                pressure.max_table_flows,
                pressure.table_bytes,
                pressure.max_stopped_flows,
                pressure.xoffs,
                pressure.xons,
                pressure.control_packets,
                pressure.control_bytes,
                pressure.untracked_packets,
                run.lost_by("lossless queue full"),
                run.lost_by("nonconforming"),
            ];
            rows.push([vec![format!("{flows}{name}")], result.map(|count| count.to_string()).to_vec()].concat());
            if name.is_empty() {
                let values = [pressure.table_bytes, pressure.control_bytes];
                for (growth, value) in growths.iter_mut().zip(values) {
                    growth.points.push((flows as f64, value.max(1) as f64));
                }
            }
            let log = |count: u64| (count.max(1) as f64).log10();
            plot.push((
                format!("{flows}{}", if name.is_empty() { "" } else { " *" }),
                vec![log(pressure.table_bytes), log(pressure.control_bytes)],
            ));
            entries.push((flows, bound, pressure.max_table_flows, run.lost_by("nonconforming")));
        }
    }
    trial.show("  flows through one port of 10 Gbps, 20 % too much of them\n");
    let heads =
        ["flows", "entries", "bytes", "stopped", "XOFFs", "XONs", "control", "its bytes", "untold", "lost", "dropped"];
    trial.show(&table(&heads, &rows, 1, Layout::Fixed, 2));
    trial.show("  powers of ten: bytes of the fullest table, bytes of control frames (* bounded)\n");
    trial.show(&bars("flows", &["table", "control"], 9.0, &plot));
    let title = "FLORAX: what flows through one port cost";
    trial.plots.push(("florax-state-cost".to_owned(), svg(title, "flows", &growths, 100.0)));
    let active =
        Growth { name: "", points: growths[0].points.iter().copied().filter(|point| point.0 <= 1e4).collect() };
    let exponent = active.exponent(0.0).unwrap_or(f64::NAN);
    let name = "bytes of the flow table over active flows, up to 10,000: exponent of their growth";
    let check = Check::new(name, "", exponent, Relation::Equal, 1.0, 0.01);
    trial.check(check.note("\"proportional to number of active flows\": all are active up to there; 0.01 is ours"));
    for (flows, bound, table, dropped) in entries {
        let most = flows.min(bound) as f64;
        let name = format!("{flows} flows, table of {bound}: entries are no more than either");
        trial.check(Check::exact(name, "entries", table as f64, Relation::AtMost, most).consistency());
        let name = format!("{flows} flows, table of {bound}: frames of hosts that obey, dropped for not conforming");
        trial.check(Check::exact(name, "frames", dropped as f64, Relation::Equal, 0.0).consistency());
    }
    Ok(())
}
