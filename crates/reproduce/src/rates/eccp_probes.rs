//! Accuracy and overhead of ECCP's available-bandwidth probes: figures 2.5 and 2.19 of the thesis, and its section 2.4.

use super::bench::{Bench, mean, quantile};
use super::eccp_dumbbell::GAINS;
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::registry::{Choice, ECCP_DUMBBELL, ECCP_PROBES};
use crate::trial::{Trial, simulation};
use model::Watcher;
use record::trace::{TraceEvent, TraceRow};
use std::collections::BTreeMap;
use text::lines::{Line, Panel, Scale, SeriesStyle, svg};
use text::{Layout, table};
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

/// Parameters of figure 2.19 that the publication does not specify, with alternative values.
pub const PROBE_CHOICES: &[Choice] =
    &[Choice { source: &ECCP_PROBES, key: "traffic.0.frame", alternatives: &["64B", "1000B", "9000B"] }];

/// Frames per train, and bytes per frame.
const TRAIN: u64 = 33;
const PROBE_BYTES: u64 = 1500;

/// Arrival time of each packet of the traced flow at its receiver, by packet number.
#[derive(Default)]
struct Arrivals {
    receiver: u32,
    at: BTreeMap<u64, Time>,
}

impl Watcher for Arrivals {
    fn trace(&mut self, row: &TraceRow) {
        if let (TraceEvent::Arrived { .. }, Some(packet)) = (&row.event, &row.packet)
            && row.node == self.receiver
        {
            self.at.insert(packet.seq, row.at);
        }
    }
}

/// Returns the mean strain (2.1) of probe trains with a rate of `mu` Gbps, while constant-rate traffic leaves `free`
/// Gbps of 10 Gbps available.
fn strain(trial: &Trial, free: f64, mu: f64) -> Result<f64, Failure> {
    let wire = PROBE_BYTES + WIRE_OVERHEAD_BYTES;
    let gap = Rate::from_bps((mu * 1e9) as u64).unwrap_or(Rate::MIN).serialise(wire);
    let changes = [
        ("traffic.0.rate", format!("\"{}Mbps\"", ((10.0 - free) * 1e3).round())),
        ("traffic.1.frame_gap", format!("\"{}ps\"", gap.as_ps())),
    ];
    let setup = trial.setup(&ECCP_PROBES, &changes)?;
    let receiver = setup.fabric.hosts().last().map_or(0, |host| host.0);
    let mut arrivals = Arrivals { receiver, at: BTreeMap::new() };
    simulation(setup, &ECCP_PROBES)?.run(&mut arrivals);
    let times: Vec<Time> = arrivals.at.into_values().collect();
    let of_train = |train: &[Time]| {
        let pairs = train.windows(2).map(|pair| (pair[1] - pair[0]).as_ps() as f64 / gap.as_ps() as f64 - 1.0);
        pairs.sum::<f64>() / (train.len() - 1) as f64
    };
    Ok(mean(&times.chunks_exact(TRAIN as usize).map(of_train).collect::<Vec<_>>()))
}

/// Returns the estimated available bandwidth: the zero of the regression line through the points with a strain above
/// 0.02.
fn knee(points: &[(f64, f64)]) -> f64 {
    let strained: Vec<(f64, f64)> = points.iter().copied().filter(|point| point.1 > 0.02).collect();
    let count = strained.len() as f64;
    let (x, y) = (strained.iter().map(|p| p.0).sum::<f64>() / count, strained.iter().map(|p| p.1).sum::<f64>() / count);
    let across = strained.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>();
    let along = strained.iter().map(|p| (p.0 - x) * (p.0 - x)).sum::<f64>();
    x - y * along / across
}

/// Runs the experiment `eccp/fig2.19`.
pub fn strains(trial: &mut Trial) -> Result<(), Failure> {
    let steps = trial.shorten("probe rates", 38, 19);
    let (mut lines, mut rows) = (Vec::new(), Vec::new());
    for free in [6.0, 5.0, 1.5] {
        let mut points = Vec::new();
        for step in 1..=steps {
            let mu = 9.5 * step as f64 / steps as f64;
            points.push((mu, strain(trial, free, mu)?));
        }
        let below = points.iter().filter(|point| point.0 < 0.95 * free).map(|point| point.1.abs());
        let below = below.reduce(f64::max).unwrap_or(f64::NAN);
        let knee = knee(&points);
        let name = format!("{free} Gbps available: where strain begins, off it");
        trial.check(Check::new(name, "%", 100.0 * (knee / free - 1.0).abs(), Relation::AtMost, 5.0, 0.0));
        let name = format!("{free} Gbps available: strain of slower trains, the most");
        trial.check(Check::new(name, "1", below, Relation::Below, 0.01, 0.0));
        // At a FIFO queue, the strain of a train with rate mu is (total arrival rate - service rate) / service rate.
        let above = points.iter().filter(|point| point.0 > 1.05 * free);
        let off = above.map(|&(mu, strain)| (strain - (mu - free) / 10.0).abs());
        let off = off.reduce(f64::max).unwrap_or(f64::NAN);
        let name = format!("{free} Gbps available: strain of faster trains off (mu - available) / C, the most");
        trial.check(Check::new(name, "1", off, Relation::Below, 0.01, 0.0));
        rows.push(vec![format!("{free}"), format!("{knee:.3}"), format!("{below:.4}"), format!("{off:.4}")]);
        lines.push(Line { name: format!("{free} Gbps available"), points, mark: SeriesStyle::Points });
    }
    trial.show(
        "  available, where strain begins, in Gbps; the most strain of slower trains, and off the line of faster\n",
    );
    trial.show(&table(&["available", "begins", "slower", "faster"], &rows, 0, Layout::Fixed, 2));
    let panel = Panel { x: "probe rate, Gbps", y: "strain", scale: Scale::Linear, lines };
    trial.plots.push(("eccp-fig2.19".to_owned(), svg("Strain over the rate of probes", &[panel])));
    Ok(())
}

/// Returns the probes at the bottleneck of 10 Gbps in percent of its rate, after 200 ms. The bottleneck carries data
/// and probes: without loss and retransmissions, the rate of the probes is its throughput minus the rate of arriving
/// data.
pub fn probe_percent(bench: &Bench) -> f64 {
    let link: Vec<f64> =
        bench.link_gbps().into_iter().filter(|sample| sample.0 > 200.0).map(|sample| sample.1).collect();
    10.0 * (mean(&link) - mean(&bench.cross_gbps()))
}

/// Runs the experiment `eccp/overhead`.
pub fn overhead(trial: &mut Trial) -> Result<(), Failure> {
    let milliseconds = trial.shorten("simulated ms", 2000, 400);
    let mut rows = Vec::new();
    for estimate in ["measured", "trains"] {
        for (name, gain) in GAINS {
            let changes = [
                ("duration", format!("\"{milliseconds}ms\"")),
                ("host.transport.estimate", format!("\"{estimate}\"")),
                ("host.transport.gain", gain.to_string()),
            ];
            let bench = Bench::run(trial, &ECCP_DUMBBELL, &changes)?;
            let (cross, share) = (mean(&bench.cross_gbps()), probe_percent(&bench));
            let queue = quantile(&bench.queue_bytes(), 0.99) / 1e3;
            let name = format!("{name}, {estimate}: probes, of the link");
            let check = Check::new(name.clone(), "%", share, Relation::AtMost, 5.0, 0.0);
            trial.check(if bench.lost() > 0.0 { check.unjudged("frames were lost, and sent again") } else { check });
            rows.push(vec![name, format!("{share:.2}"), format!("{cross:.2}"), format!("{queue:.1}")]);
        }
    }
    trial.show("  probes in % of the link, cross traffic in Gbps, 99 % of queues in KB, tau = 40 us\n");
    trial.show(&table(&["", "probes", "cross", "queue"], &rows, 1, Layout::Fixed, 2));
    Ok(())
}
