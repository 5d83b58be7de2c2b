//! What the paper measured on hardware: flows that share, who trims how much, and the first microseconds.

use super::bench::{Arrival, Cut, START, Seen, inside, join, mean, pairs, range, unlost};
use super::pictures::leave;
use crate::failure::Failure;
use crate::reproduce::check::{Check, Relation};
use crate::reproduce::lines::{Line, Mark, Panel, Scale};
use crate::reproduce::plot::bars;
use crate::reproduce::registry::TRIM_HARDWARE;
use crate::reproduce::trial::{Trial, simulation};
use model::Watcher;
use text::numbers::counted;
use traffic::Start;
use units::Time;

/// Payload in Gbps by step of a ms and traffic entry, and of the first four entries by look.
#[derive(Default)]
struct Steps(Vec<[f64; 8]>, [Vec<(f64, f64)>; 4]);

/// From look to look.
const LOOK: Time = Time::from_us(20);

impl Watcher for Steps {
    fn throughput(&mut self, at: Time, traffic: u8, bytes: u64) {
        let step = at.as_ps().div_ceil(1_000_000_000) as usize;
        if self.0.len() < step {
            self.0.resize(step, [0.0; 8]);
        }
        self.0[step - 1][usize::from(traffic)] += bytes as f64 * 8e-6;
        if let Some(looks) = self.1.get_mut(usize::from(traffic)) {
            looks.push((at.as_ps() as f64 * 1e-9, bytes as f64 * 8e-9 / LOOK.as_secs_f64()));
        }
    }
}

/// Goodput of each flow in each step, in Gbps, and frames lost and checks failed.
fn shares(trial: &Trial, changes: &[(&str, String)]) -> Result<(Steps, u64), Failure> {
    let mut setup = trial.setup(&TRIM_HARDWARE, changes)?;
    setup.record.throughput_every = Some(LOOK);
    let mut simulation = simulation(setup, &TRIM_HARDWARE)?;
    let mut steps = Steps::default();
    simulation.run(&mut steps);
    let summary = simulation.finish(&mut steps, false);
    let (failed, lost) = unlost(&summary);
    Ok((steps, failed + lost))
}

/// How far the flows that run in a step are apart, in % of their mean.
fn spread(step: usize, shares: &[f64]) -> f64 {
    let running = &shares[..=step];
    let (least, most) = range(running);
    100.0 * (most - least) / mean(running)
}

/// Runs `trim/fig11`.
///
/// # Errors
/// If the scenario is wrong.
pub fn sharing(trial: &mut Trial) -> Result<(), Failure> {
    let (steps, wrong) = shares(trial, &[])?;
    trial.show("  goodput of the four flows to H8, Gbps, by ms\n");
    let row = |(step, shares): (usize, &[f64; 8])| (counted(step as u64 + 1, "flow"), shares[..4].to_vec());
    let rows: Vec<(String, Vec<f64>)> = steps.0.iter().enumerate().map(row).collect();
    trial.show(&bars("", &["red 1", "red 2", "red 3", "red 4"], 100.0, &rows));
    let line = |(at, looks): (usize, &Vec<(f64, f64)>)| Line::curve(format!("flow {}", at + 1), looks.clone());
    let lines = steps.1.iter().enumerate().map(line).collect();
    let panel = Panel { x: "time, ms", y: "goodput, Gbps", scale: Scale::Linear, lines };
    leave(trial, "fig11", "goodput of four flows to one port, over pieces of 20 us", &[panel]);
    for (step, shares) in steps.0.iter().enumerate() {
        for (name, shares) in [("H8", &shares[..4]), ("H9", &shares[4..])] {
            let name = format!("{} flows to {name}: the greatest above the least", step + 1);
            trial.check(Check::new(name, "%", spread(step, shares), Relation::AtMost, 5.0, 0.0));
        }
    }
    trial.check(Check::exact("checks of the run failed, frames lost", "", wrong as f64, Relation::Equal, 0.0));
    // Ports of one generator share a clock; here each has its own, within the 100 ppm of IEEE 802.3.
    let apart: Vec<(String, String)> = (0..8)
        .map(|entry| {
            (format!("traffic.{entry}.load"), format!("{}", 1.0 - 1e-4 * f64::from(entry / 2 % 2 + entry / 4) / 2.0))
        })
        .collect();
    let apart: Vec<(&str, String)> = apart.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    let (drifting, _) = shares(trial, &apart)?;
    let last = drifting.0.last().map_or(f64::NAN, |shares| spread(3, &shares[..4]));
    trial
        .show(&format!("  with clocks up to 100 ppm apart: 4 flows to H8: the greatest {last:.1} % above the least\n"));
    let deaf = [("switch.overload.model", "dod".to_owned())];
    let (steps, _) = shares(trial, &deaf)?;
    let last = steps.0.last().map_or(0.0, |shares| shares[..4].iter().sum());
    let name = "negative control: deflection only carries four flows too; what it lacks are their headers";
    trial.check(Check::new(name, "Gbps", last, Relation::Above, 50.0, 0.0));
    Ok(())
}

/// Runs `trim/table-trims`.
///
/// # Errors
/// If the scenario is wrong.
pub fn who_trims(trial: &mut Trial) -> Result<(), Failure> {
    // 20 000 packets of four flows, one a pipeline, into one receiver.
    let incast = ("traffic.0.pairs", "[[0, 64], [16, 64], [32, 64], [48, 64]]".to_owned());
    let packets = ("traffic.0.size", "7500000B".to_owned());
    let base = [incast, packets, ("duration", "1ms".to_owned())];
    let run = |trial: &Trial, more: &[(&'static str, String)]| trial.run(START, &join(&[base.to_vec(), more.to_vec()]));
    let told = run(trial, &[])?;
    let (failed, lost) = unlost(&told.summary);
    let told = inside(&told.summary);
    let note = "OPEN: when the four flows begin; together here, and then the ports are pessimistic throughout";
    for (name, paper, ours) in
        [("trims at ingress", 13_490.0, told.ingress_trims), ("deflected", 682.0, told.recirculated)]
    {
        let name = format!("20 000 packets 4:1: {name}");
        trial.check(Check::new(name, "packets", ours as f64, Relation::Equal, paper, 0.1 * paper).note(note));
    }
    let total = (told.ingress_trims + told.recirculated) as f64;
    let name = "20 000 packets 4:1: trimmed in all";
    trial.check(Check::new(name, "%", total / 200.0, Relation::Equal, 70.9, 5.0).note(note));
    let name = "most trims happen at ingress: their share";
    let share = 100.0 * told.ingress_trims as f64 / total;
    trial.check(Check::new(name, "%", share, Relation::Equal, 95.2, 2.0));
    // What must be: of four packets a quarter passes, and headers take their part of the port from what passes.
    let passing = (1520.0 - 4.0 * 84.0) / (1520.0 - 84.0) / 4.0;
    let name = "trimmed in all, by arithmetic: 4 x passes, the rest as headers, fill the port";
    trial.check(Check::new(name, "%", total / 200.0, Relation::Equal, 100.0 * (1.0 - passing), 1.0));
    trial.check(Check::exact(
        "checks of the run failed, frames lost",
        "",
        (failed + lost) as f64,
        Relation::Equal,
        0.0,
    ));
    trial.show("  how the four flows begin: trims at ingress, deflected\n");
    let mut rows = Vec::new();
    for jitter in ["0s", "121ns", "100us", "200us", "400us"] {
        let told = inside(&run(trial, &[("traffic.0.jitter", jitter.to_owned())])?.summary);
        rows.push((format!("within {jitter}"), vec![told.ingress_trims as f64, told.recirculated as f64]));
    }
    trial.show(&bars("", &["at ingress", "deflected"], 16_000.0, &rows));
    let told = inside(&run(trial, &[("switch.overload.model", "dod".to_owned())])?.summary);
    let name = "negative control: without signals: trims at ingress";
    trial.check(Check::exact(name, "packets", told.ingress_trims as f64, Relation::Equal, 0.0));
    let one = pairs(1, 16);
    let told = inside(&trial.run(START, &[one])?.summary);
    let name = "negative control: one flow alone: trims";
    let trims = told.ingress_trims + told.recirculated;
    trial.check(Check::exact(name, "packets", trims as f64, Relation::Equal, 0.0));
    Ok(())
}

/// When the second flow's first packet leaves its host, in us.
const SECOND: f64 = 50.0;

/// Runs `trim/fig12`.
///
/// # Errors
/// If the scenario is wrong.
pub fn second_flow(trial: &mut Trial) -> Result<(), Failure> {
    let run = |trial: &Trial, second: bool| {
        let mut setup = trial.setup(&TRIM_HARDWARE, &[])?;
        (setup.duration, setup.measure_end) = (Time::from_us(130), Time::from_us(130));
        for (at, flow) in setup.traffic.flows.iter_mut().enumerate() {
            flow.start = Start::At(match at {
                0 => Time::ZERO,
                1 if second => Time::from_us(SECOND as u64),
                // After the end.
                _ => Time::from_ms(3),
            });
        }
        Seen::of_setup(setup, &TRIM_HARDWARE, &[])
    };
    let seen = run(trial, true)?;
    // From host to host without a queue: two links of 500 ns, two times 121.6 ns; a frame's first bit to its last.
    let base = 1.0 + 2.0 * 0.1216;
    let of_first = |arrival: &&Arrival| arrival.flow == 0;
    let since = |arrival: &Arrival| arrival.at_us - SECOND - base;
    let first = |cut: Cut| seen.arrivals.iter().filter(|arrival| arrival.cut == cut).map(since).next();
    let inside = seen.inside();
    let overflow = inside
        .switches
        .first()
        .and_then(|switch| switch.pipelines.iter().filter_map(|pipeline| pipeline.first_recirculated_ps).min());
    // At the switch: half of the way.
    let overflow = overflow.map_or(f64::NAN, |ps| ps as f64 * 1e-6 - SECOND - base / 2.0);
    let name = "the queue overflows after the second flow's first packet";
    let note = "set by the queue of 39 packets, which is taken from this figure";
    trial.check(Check::new(name, "us", overflow, Relation::Equal, 4.7, 0.3).note(note));
    let ingress = first(Cut::Ingress).unwrap_or(f64::NAN);
    let name = "the first header that was cut at ingress arrives";
    trial.check(Check::new(name, "us", ingress, Relation::Equal, 6.0, 0.5));
    let deflected = first(Cut::Deflected).unwrap_or(f64::NAN);
    trial.show(&format!(
        "  overflow {overflow:.2} us, first header from ingress {ingress:.2}, from deflection {deflected:.2}\n"
    ));
    // Where each packet of the first flow would be without the second: one a frame's time.
    let late = |arrival: &Arrival| {
        let sent = arrival.seq as f64 / 1482.0 * 0.1216;
        arrival.at_us - sent - base
    };
    let mut rows = Vec::new();
    for from in (0..40).step_by(2) {
        let (low, high) = (f64::from(from), f64::from(from) + 2.0);
        let within = |arrival: &&Arrival| of_first(arrival) && (low..high).contains(&since(arrival));
        let (mut whole, mut headers) = (Vec::new(), Vec::new());
        for arrival in seen.arrivals.iter().filter(within) {
            if arrival.cut == Cut::Whole { whole.push(late(arrival)) } else { headers.push(late(arrival)) }
        }
        let or_zero = |values: &[f64]| if values.is_empty() { 0.0 } else { mean(values) };
        rows.push((
            format!("{from} us"),
            vec![
                or_zero(&whole),
                or_zero(&headers),
                headers.len() as f64 / (whole.len() + headers.len()).max(1) as f64,
            ],
        ));
    }
    trial.show("  packets of the first flow by arrival: how late whole ones and headers come (us), share of headers\n");
    trial.show(&bars("", &["whole, us late", "headers, us late", "headers"], 5.0, &rows));
    let dots = |(name, cut): (&str, Cut)| {
        let shown =
            |arrival: &&Arrival| arrival.cut == cut && of_first(arrival) && (0.0..40.0).contains(&since(arrival));
        let points =
            seen.arrivals.iter().filter(shown).map(|arrival| (since(arrival), late(arrival).max(0.0))).collect();
        Line { name: name.to_owned(), points, mark: Mark::Dots }
    };
    let kinds = [("whole", Cut::Whole), ("cut at ingress", Cut::Ingress), ("cut after deflection", Cut::Deflected)];
    let lines = kinds.map(dots).to_vec();
    let x = "arrival, us after the second flow's first packet could arrive";
    let panel = Panel { x, y: "later than alone, us", scale: Scale::Linear, lines };
    leave(trial, "fig12", "packets of the first flow", &[panel]);
    let settled = |arrival: &&Arrival| of_first(arrival) && since(arrival) >= 10.0 && since(arrival) < 70.0;
    let (mut trimmed, mut all) = (0.0, 0.0);
    for arrival in seen.arrivals.iter().filter(settled) {
        (trimmed, all) = (trimmed + f64::from(u8::from(arrival.cut != Cut::Whole)), all + 1.0);
    }
    let name = "from 10 us on: share of the first flow that arrives as headers";
    trial.check(Check::new(name, "%", 100.0 * trimmed / all, Relation::Equal, 50.0, 10.0));
    let peak = rows.iter().map(|row| row.1[0]).fold(0.0, f64::max);
    let at_ten = rows[5].1[0];
    let name = "from 10 to 12 us: lateness of whole packets, at most half of its peak";
    trial.check(Check::new(name, "us", at_ten, Relation::AtMost, peak / 2.0, 0.0).note("the other side is measured"));
    let alone = run(trial, false)?;
    let name = "negative control: without the second flow: headers";
    trial.check(Check::exact(name, "packets", alone.headers_us.len() as f64, Relation::Equal, 0.0));
    Ok(())
}
