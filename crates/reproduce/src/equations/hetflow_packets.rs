//! HetFlow: fluid models compared with packet-level simulations.

use super::hetflow::{LINK, TAU, model, parameters};
use super::track::Track;
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::rates::{Bench, mean};
use crate::registry::HETFLOW_DUMBBELL;
use crate::trial::Trial;
use fluid::models::hetflow::Parameters;
use fluid::models::{Bottleneck, Flows, HetFlow};
use record::control::ControlSample;
use text::lines::{Line, Panel, Scale, svg};
use text::{Layout, table};
use units::Time;

/// Runs the packet-level simulation of the dumbbell of figure 3.8, with `flows` flows that start with a total rate of
/// 80 % of the link rate.
fn packets(trial: &Trial, flows: u64, milliseconds: u64) -> Result<Bench, Failure> {
    let pairs = (1..=flows).map(|flow| format!("[\"H{flow}\", \"H{}\"]", flow + flows)).collect::<Vec<_>>().join(", ");
    let changes = [
        ("fabric.left", flows.to_string()),
        ("fabric.right", flows.to_string()),
        ("traffic.0.pairs", format!("[{pairs}]")),
        ("host.transport.initial_rate", format!("\"{}Mbps\"", 8000 / flows)),
        ("measure.warm_up", format!("\"{}ms\"", milliseconds / 2)),
        ("duration", format!("\"{milliseconds}ms\"")),
    ];
    Bench::run(trial, &HETFLOW_DUMBBELL, &changes)
}

/// Mean rate per flow in Gbps, and mean queue in KB.
type Means = (f64, f64);

/// Fluid models that are compared with the packet-level simulation. `alike`: flows with equal rates. `apart`: flows
/// with different initial rates as in the packet-level simulation, in total 80 % of the link rate. `half as old`: flows
/// with equal rates and half the delay of the queue slope in (3.7), because half a sampling interval is the mean age of
/// a slope that is averaged over this interval.
const FLUIDS: [&str; 3] = ["alike", "apart", "half as old"];

/// Returns the means over the second half of a run, of the packet-level simulation and then of each model in
/// [`FLUIDS`].
fn means_of(trial: &Trial, flows: u64, milliseconds: u64) -> Result<[Means; 4], Failure> {
    let bench = packets(trial, flows, milliseconds)?;
    let kb: Vec<f64> = bench.queue_bytes().into_iter().map(|bytes| bytes / 1e3).collect();
    let end = milliseconds as f64 / 1e3;
    let fluid = |mut model: HetFlow, kinds: usize| {
        let track = Track::of(&mut model, [end / 2.0, end], 1e-4);
        let rate = track.mean(|state| state[..kinds].iter().sum::<f64>()) / kinds as f64 / 1e9;
        (rate, track.mean(|state| state[kinds] / 8e3))
    };
    let share = 0.8 * LINK / flows as f64;
    let of_its_own = |at: u64| {
        let rate = share * (0.5 + (at as f64 + 0.5) / flows as f64);
        Flows { count: 1, start: 0.0, rtt: TAU, rate }
    };
    let bottleneck = Bottleneck { rate: LINK, buffer: 8e6 };
    let apart = HetFlow::new(bottleneck, (0..flows).map(of_its_own).collect(), parameters(1500.0));
    let packets = (mean(&bench.cross_gbps()) / flows as f64, mean(&kb));
    let alike = |slope_age: f64| fluid(model(flows as u32, Parameters { slope_age, ..parameters(1500.0) }), 1);
    Ok([packets, alike(1.0), fluid(apart, flows as usize), alike(0.5)])
}

/// Figure 3.6: mean rates of the fluid model and of the packet-level simulation.
pub fn means(trial: &mut Trial) -> Result<(), Failure> {
    let milliseconds = trial.shorten("simulated ms", 600, 200);
    let mut rows = Vec::new();
    for flows in [2, 5, 10] {
        let result = means_of(trial, flows, milliseconds)?;
        let [(rate, _), (of_fluid, _), ..] = result;
        let name = format!("{flows} flows: mean rate of the fluid off that of packets");
        trial.check(Check::new(name, "%", 100.0 * (of_fluid / rate - 1.0).abs(), Relation::Below, 10.0, 0.0));
        rows.push(row(flows, result));
    }
    show(trial, &rows);
    Ok(())
}

fn row(flows: u64, result: [Means; 4]) -> Vec<String> {
    let numbers = result.map(|result| result.0).into_iter().chain(result.map(|result| result.1));
    std::iter::once(flows.to_string()).chain(numbers.map(|number| format!("{number:.3}"))).collect()
}

fn show(trial: &mut Trial, rows: &[Vec<String>]) {
    trial.show(
        "  packets, a fluid of flows that are alike, one of flows apart, one of slopes half as old: mean rates in \
         Gbps, queues in KB\n",
    );
    let columns = [&["flows", "rate"], &FLUIDS[..], &["queue"], &FLUIDS[..]].concat();
    trial.show(&table(&columns, rows, 0, Layout::Fixed, 2));
}

/// Runs the experiment `fluid/hetflow`.
pub fn beside(trial: &mut Trial) -> Result<(), Failure> {
    const OFF: f64 = 0.1;
    let milliseconds = trial.shorten("simulated ms", 600, 200);
    let mut rows = Vec::new();
    for flows in [2, 10, 50] {
        let result = means_of(trial, flows, milliseconds)?;
        let [(rate, queue), fluids @ ..] = result;
        for ((of_fluid, fluid_queue), which) in fluids.into_iter().zip(FLUIDS) {
            let name = format!("{flows} flows, {which}: mean rate of a flow beside packets");
            // The thesis's model has slopes of full age.
            let own = which == FLUIDS[2];
            trial.check(Check::new(name, "Gbps", of_fluid, Relation::Equal, rate, OFF * rate).consistency_if(own));
            let name = format!("{flows} flows, {which}: mean queue beside packets");
            trial.check(Check::new(name, "KB", fluid_queue, Relation::Equal, queue, OFF * queue).consistency_if(own));
        }
        rows.push(row(flows, result));
    }
    show(trial, &rows);
    Ok(())
}

/// Figure 3.5 in the packet-level simulation: a burst of another flow causes a rate cut. Afterwards the first flow is
/// alone, recovers and exceeds the rate that it had before the cut.
pub fn recovery(trial: &mut Trial) -> Result<(), Failure> {
    let changes = [
        ("fabric.left", "2".to_owned()),
        ("fabric.right", "2".to_owned()),
        ("traffic.0.pairs", "[[\"H1\", \"H3\"], [\"H2\", \"H4\"]]".to_owned()),
        ("traffic.0.jitter", "\"0s\"".to_owned()),
        ("host.transport.initial_rate", "\"6Gbps\"".to_owned()),
        ("measure.warm_up", "\"1ms\"".to_owned()),
        ("duration", "\"40ms\"".to_owned()),
        ("record.control", "{ every = \"100us\" }".to_owned()),
    ];
    let mut setup = trial.setup(&HETFLOW_DUMBBELL, &changes)?;
    // The other flow sends 1 MB: the queue grows, both senders receive notifications, and the other flow completes.
    setup.traffic.flows[1].size_bytes = 1_000_000;
    let bench = Bench::of(setup, &HETFLOW_DUMBBELL)?;
    let samples = bench.controls.get(&0).map_or(&[][..], Vec::as_slice);
    let rate = |sample: &ControlSample| sample.rate_bps.unwrap_or(0) as f64 / 1e9;
    let cut = (1..samples.len()).rev().find(|&at| rate(&samples[at]) < rate(&samples[at - 1])).unwrap_or(0);
    let target = samples.get(cut).and_then(|sample| sample.target_bps).unwrap_or(0) as f64 / 1e9;
    let least = samples.get(cut).map_or(f64::NAN, rate);
    // The sampling interval and the interval of rate updates are 100 us, a hundredth of sigma.
    let after = |ms: u64| samples.get(cut + 10 * ms as usize).map_or(f64::NAN, rate);
    for (name, ours, expected) in [
        ("packets, 10 ms after the last notification: the rate is that before it", after(10), target),
        (
            "packets, 20 ms after it: as far above that as the cut was below",
            after(20),
            (2.0 * target - least).min(LINK / 1e9),
        ),
    ] {
        trial.check(Check::new(name, "Gbps", ours, Relation::Equal, expected, 0.03 * expected));
    }
    let curve = samples.iter().map(|sample| (sample.at.as_secs_f64() * 1e3, rate(sample))).collect();
    let lines = vec![Line::curve("flow 0", curve)];
    let panel = Panel { x: "time, ms", y: "rate, Gbps", scale: Scale::Linear, lines };
    trial
        .plots
        .push(("hetflow-fig3.5-packets".to_owned(), svg("HetFlow in packets: a cut and the way back", &[panel])));
    Ok(())
}

/// Results of the testbed experiment of figure 3.15: two hosts offer 6 Gbps each to a link of 10 Gbps.
struct Pair {
    rates: Vec<f64>,
    link: Vec<f64>,
    lost: f64,
}

impl Pair {
    fn of(trial: &Trial, milliseconds: u64) -> Result<(Pair, Bench), Failure> {
        let changes = [
            ("fabric.left", "2".to_owned()),
            ("fabric.right", "1".to_owned()),
            ("traffic.0.pairs", "[[\"H1\", \"H3\"], [\"H2\", \"H3\"]]".to_owned()),
            ("host.transport.payload", "\"1438B\"".to_owned()),
            ("host.transport.rate", "\"6Gbps\"".to_owned()),
            ("host.transport.initial_rate", "\"6Gbps\"".to_owned()),
            ("measure.warm_up", format!("\"{}ms\"", milliseconds / 2)),
            ("duration", format!("\"{milliseconds}ms\"")),
        ];
        let mut setup = trial.setup(&HETFLOW_DUMBBELL, &changes)?;
        setup.traffic.flows[1].traffic = 1;
        let bench = Bench::of(setup, &HETFLOW_DUMBBELL)?;
        let link = bench.link_gbps().into_iter().map(|sample| sample.1).collect();
        Ok((Pair { rates: bench.flow_gbps(), link, lost: bench.lost() }, bench))
    }
}

/// Runs the experiment `hetflow/fig3.15`.
pub fn testbed(trial: &mut Trial) -> Result<(), Failure> {
    let milliseconds = trial.shorten("simulated ms", 4000, 400);
    let (pair, bench) = Pair::of(trial, milliseconds)?;
    for (host, rate) in pair.rates.iter().enumerate() {
        let name = format!("mean rate of host {host}, of about half the link");
        trial.check_in_full(Check::new(name, "Gbps", *rate, Relation::Equal, 5.0, 0.5));
    }
    let most = pair.link.iter().copied().fold(0.0, f64::max);
    trial.check(
        Check::new("cross traffic, the most in a millisecond", "Gbps", most, Relation::AtMost, 10.0, 0.02)
            .consistency(),
    );
    trial.check(Check::exact("frames lost", "frames", pair.lost, Relation::Equal, 0.0));
    let data = bench.arrived_gbps(Time::ZERO);
    let of_host = |host: usize| data.iter().map(|(at, row)| (*at, row[host])).collect();
    let lines = (0..2).map(|host| Line::curve(format!("flow {host}"), of_host(host))).collect();
    let panel = Panel { x: "time, ms", y: "rate, Gbps", scale: Scale::Linear, lines };
    trial.plots.push(("hetflow-fig3.15".to_owned(), svg("HetFlow: two hosts that want 6 Gbps each", &[panel])));
    Ok(())
}

/// Runs the experiment `hetflow/drift`.
pub fn drift(trial: &mut Trial) -> Result<(), Failure> {
    let milliseconds = trial.shorten("simulated ms", 2000, 400);
    let mut rows = Vec::new();
    let mut all = Vec::new();
    for (name, clock) in [("exact clocks", ""), ("10 us/s", "{ offset = \"1s\", drift_ppm = 10 }")] {
        let mut changes =
            vec![("duration", format!("\"{milliseconds}ms\"")), ("measure.warm_up", "\"150ms\"".to_owned())];
        if !clock.is_empty() {
            changes.push(("host.clock", clock.to_owned()));
        }
        let bench = Bench::run(trial, &HETFLOW_DUMBBELL, &changes)?;
        let result = (mean(&bench.cross_gbps()), mean(&bench.queue_bytes()) / 1e3);
        rows.push(vec![
            name.to_owned(),
            format!("{:.4}", result.0),
            format!("{:.3}", result.1),
            format!("{}", bench.lost()),
        ]);
        all.push((result, bench.lost()));
    }
    let ((exact, exact_queue), _) = all[0];
    let ((drifting, drifting_queue), lost) = all[1];
    let change = 100.0 * (drifting / exact - 1.0).abs();
    let name = "clocks that are off by up to 1 s and drift by up to 10 us/s: change of the mean rate";
    trial.check(Check::new(name, "%", change, Relation::Below, 1.0, 0.0));
    let name = "clocks that drift: what the mean queue gains";
    trial.check(
        Check::new(name, "KB", drifting_queue - exact_queue, Relation::Below, 1.5, 0.0).note("1.5 KB is a frame"),
    );
    trial.check(Check::exact("clocks that drift: frames lost", "frames", lost, Relation::Equal, 0.0).consistency());
    trial.show("  mean rate of four flows in all in Gbps, mean queue in KB, frames lost\n");
    trial.show(&table(&["clocks", "rate", "queue", "lost"], &rows, 1, Layout::Fixed, 2));
    Ok(())
}
