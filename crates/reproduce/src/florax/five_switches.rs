//! Figures 4 to 11: flows 1 to 3 share switch D, flows 4 and 5 share switch E.

use super::series::{DROP_TAIL, SIMPLE, Series, over_time, picture};
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::plot::no_minus;
use crate::registry::{Choice, FLORAX_FIG3};
use crate::trial::Trial;
use text::lines::{Line, Panel, Scale, svg};
use text::{Layout, table};
use units::{Time, WIRE_OVERHEAD_BYTES};

/// Parameters that the paper does not specify: all except the source-destination pairs.
pub const CHOICES: &[Choice] = &[
    Choice { source: &FLORAX_FIG3, key: "fabric.file", alternatives: &["fig3-access.json", "fig3-equal.json"] },
    Choice { source: &FLORAX_FIG3, key: "switch.queue", alternatives: &["\"50 packets\"", "\"200 packets\""] },
    Choice { source: &FLORAX_FIG3, key: "host.on_pause", alternatives: &["none"] },
    Choice { source: &FLORAX_FIG3, key: "host.transport.advertised_window", alternatives: &["29200B", "262144B"] },
    Choice { source: &FLORAX_FIG3, key: "switch.flow_control.upper", alternatives: &["0.3", "0.7"] },
    Choice { source: &FLORAX_FIG3, key: "switch.flow_control.lower", alternatives: &["0.1", "0.4"] },
    Choice { source: &FLORAX_FIG3, key: "switch.flow_control.max_upper", alternatives: &["0.6", "0.9"] },
    Choice { source: &FLORAX_FIG3, key: "switch.flow_control.raise", alternatives: &["0", "0.3"] },
    Choice { source: &FLORAX_FIG3, key: "switch.flow_control.expiry", alternatives: &["5ms", "15ms", "100ms"] },
    Choice { source: &FLORAX_FIG3, key: "switch.flow_control.burst_gap", alternatives: &["2ms", "50ms"] },
];

/// Parameters of FLORAX itself, for the sensitivity analysis of these figures.
const OWN: &[(&str, &[&str])] = &[
    ("switch.flow_control.upper", &["0.3", "0.7"]),
    ("switch.flow_control.lower", &["0.1", "0.4"]),
    ("switch.flow_control.max_upper", &["0.6", "0.9"]),
    ("switch.flow_control.raise", &["0", "0.3"]),
    ("switch.flow_control.expiry", &["5ms", "15ms", "100ms"]),
    ("switch.flow_control.burst_gap", &["2ms", "50ms"]),
];

const MEASURED: &str = "the paper only compares: the other side is measured";
/// Start time of flow 5.
const STREAM: Time = Time::from_s(1);
/// Sampling interval of the link utilisation.
const SAMPLE_INTERVAL: Time = Time::from_ms(10);

/// Results under the three flow control schemes that the paper compares.
struct Three {
    droptail: Series,
    simple: Series,
    per_flow: Series,
}

impl Three {
    fn run(trial: &Trial, duration_s: u64) -> Result<Three, Failure> {
        let run = |flow_control: Option<&str>| {
            let mut changes =
                vec![("duration", format!("\"{duration_s}s\"")), ("record.links", "{ every = \"10ms\" }".to_owned())];
            changes.extend(flow_control.map(|control| ("switch.flow_control", control.to_owned())));
            Series::run(trial, &FLORAX_FIG3, &changes)
        };
        Ok(Three { droptail: run(Some(DROP_TAIL.1))?, simple: run(Some(SIMPLE.1))?, per_flow: run(None)? })
    }

    fn named(&self) -> [(&str, &Series); 3] {
        [("per flow", &self.per_flow), ("simple", &self.simple), ("drop-tail", &self.droptail)]
    }
}

/// Returns the mean payload rate of `flow` (0 to 2) under each scheme, over the time in which flows 1 to 3 are active
/// under all schemes. These rates are the slopes of figures 4 to 6.
fn slopes(trial: &mut Trial, flow: usize, duration_s: u64) -> Result<(Three, [f64; 3]), Failure> {
    let three = Three::run(trial, duration_s)?;
    let done = three.named().iter().flat_map(|(_, run)| (0..3).map(|flow| run.done_s(flow))).fold(f64::MAX, f64::min);
    // The end of this time is rounded down to a tenth of a second, which is a multiple of the sampling interval.
    let until = Time::from_ms(((done * 10.0).floor().clamp(1.0, duration_s as f64 * 10.0) * 100.0) as u64);
    let rates = three.named().map(|(_, run)| run.mbps(flow, Time::ZERO, until));
    trial.show(&format!("  flow {}: payload that has arrived, MB (the slope up to {until} is compared)\n", flow + 1));
    let so_far = |run: &Series, _: Time, to: Time| run.mbps(flow, Time::ZERO, to) * to.as_secs_f64() / 8.0;
    trial.show(&over_time(&three.named(), Time::from_ms(5_500), Time::from_ms(500), so_far, 20.0));
    let (name, title) = (format!("florax-fig{}", flow + 4), format!("flow {}: payload that has arrived", flow + 1));
    let what = (&name[..], &title[..], "MB");
    picture(trial, what, &three.named(), Time::from_ms(5_500), Time::from_ms(50), so_far);
    Ok((three, rates))
}

fn slow_flow(trial: &mut Trial, flow: usize) -> Result<(), Failure> {
    let (three, [per_flow, simple, droptail]) = slopes(trial, flow, 6)?;
    let number = flow + 1;
    let name = format!("flow {number}, on a slow link: per flow is faster than simple");
    trial.check(Check::new(name, "Mbps", per_flow, Relation::Above, simple, 0.0).note(MEASURED));
    let name = format!("flow {number}: per flow is faster than drop-tail");
    trial.check(Check::new(name, "Mbps", per_flow, Relation::Above, droptail, 0.0).note(MEASURED));
    let again = three.per_flow.sent_again(flow as u64) as f64;
    trial.check(Check::exact(
        format!("flow {number}: payload sent again under per flow"),
        "B",
        again,
        Relation::Equal,
        0.0,
    ));
    Ok(())
}

/// Runs the experiment `florax/fig4`.
pub fn fig4(trial: &mut Trial) -> Result<(), Failure> {
    slow_flow(trial, 0)
}

/// Runs the experiment `florax/fig5`.
pub fn fig5(trial: &mut Trial) -> Result<(), Failure> {
    slow_flow(trial, 1)
}

/// Runs the experiment `florax/fig6`.
pub fn fig6(trial: &mut Trial) -> Result<(), Failure> {
    let (three, [per_flow, simple, droptail]) = slopes(trial, 2, 6)?;
    let name = "flow 3, on the fast link: per flow is slower than simple";
    trial.check(Check::new(name, "Mbps", per_flow, Relation::Below, simple, 0.0).note(MEASURED));
    let name = "flow 3: per flow is slower than drop-tail";
    trial.check(Check::new(name, "Mbps", per_flow, Relation::Below, droptail, 0.0).note(MEASURED));
    let other = three.simple.mbps(0, Time::ZERO, Time::from_s(1));
    let own = three.simple.mbps(2, Time::ZERO, Time::from_s(1));
    let name = "simple rewards the flow that congests: flow 3 over flow 1 in the first second";
    trial.check(Check::new(name, "Mbps", own, Relation::Above, other, 0.0).note(MEASURED));
    let lost = three.per_flow.lost() as f64;
    trial.check(Check::exact("per flow: frames lost, of any flow", "frames", lost, Relation::Equal, 0.0));
    let again: u64 = (0..3).map(|flow| three.droptail.sent_again(flow)).sum();
    let name = "drop-tail: flows 1 to 3 fall back and send again";
    trial.check(Check::exact(name, "B", again as f64, Relation::Above, 0.0));
    Ok(())
}

/// Returns the payload rates of flows 4 and 5 in Mbps, measured from 1 s after the start of flow 5.
fn two(run: &Series) -> (f64, f64) {
    let from = STREAM + Time::from_s(1);
    (run.mbps_after(3, from), run.mbps_after(4, from))
}

/// Runs the experiment `florax/fig7`.
pub fn fig7(trial: &mut Trial) -> Result<(), Failure> {
    let duration = Time::from_s(trial.shorten("seconds", 10, 6));
    let three = Three::run(trial, duration.as_ps() / Time::from_s(1).as_ps())?;
    trial.show("  flow 4: payload in Mbps\n");
    let rate = |run: &Series, from: Time, to: Time| run.mbps(3, from, to);
    trial.show(&over_time(&three.named(), duration, Time::from_ms(500), rate, 100.0));
    let so_far = |run: &Series, _: Time, to: Time| run.mbps(3, Time::ZERO, to) * to.as_secs_f64() / 8.0;
    let what = ("florax-fig7", "flow 4: payload that has arrived", "MB");
    picture(trial, what, &three.named(), duration, Time::from_ms(50), so_far);
    for (name, run) in &three.named()[..2] {
        let mean = run.mbps_after(3, STREAM);
        let (_, least) = run.extent(3, STREAM, duration, Time::from_s(1));
        let name = format!("{name}: from 1 s on flow 4 keeps its slope: its worst second over the mean");
        trial.check(
            Check::new(name, "ratio", least / mean, Relation::AtLeast, 0.8, 0.0)
                .note("within 20 %: our reading of constant"),
        );
    }
    let (before, after) = (three.droptail.mbps(3, Time::ZERO, STREAM), three.droptail.mbps(3, STREAM, STREAM * 2));
    let name = "drop-tail: the slope of flow 4 breaks when the stream starts, at 1 s";
    trial.check(Check::new(name, "Mbps", after, Relation::Below, 0.5 * before, 0.0).note(MEASURED));
    let slope = |from_ms, to_ms| three.droptail.mbps(3, Time::from_ms(from_ms), Time::from_ms(to_ms));
    let name = "drop-tail: the slope of flow 4 does not break before 1 s: that from 0.8 s over that from 0.2 to 0.8 s";
    let check = Check::new(name, "ratio", slope(800, 1000) / slope(200, 800), Relation::AtLeast, 0.8, 0.0);
    trial.check(check.note("\"piecewise discontinuity ... at 1 sec\"; within 20 %, as for a constant slope"));
    let second = |from: u64| three.droptail.mbps(3, Time::from_s(from), Time::from_s(from + 1));
    let (before, after) = (second(3), second(4));
    let name = "drop-tail: the slope of flow 4 breaks again at 4 s, when TCP decreases its window";
    let check = Check::new(name, "Mbps", after, Relation::Below, 0.5 * before, 0.0);
    trial.check(check.note("the seconds before and after it; half, as at 1 s, is our reading of a break"));
    let (simple, droptail) = (three.simple.mbps_after(3, STREAM), three.droptail.mbps_after(3, STREAM));
    let name = "flow 4 gets further under simple than under drop-tail";
    trial.check(Check::new(name, "Mbps", simple, Relation::Above, droptail, 0.0).note(MEASURED));
    Ok(())
}

/// Shows the throughput over time under one scheme. Returns the results of all schemes, and the rates of flows 4 and 5
/// under this scheme.
fn throughput(trial: &mut Trial, figure: u8, choose: fn(&Three) -> &Series) -> Result<(Three, f64, f64), Failure> {
    let duration = Time::from_s(trial.shorten("seconds", 10, 6));
    let three = Three::run(trial, duration.as_ps() / Time::from_s(1).as_ps())?;
    trial.show("  payload in Mbps: flow 4 (TCP) and flow 5 (UDP)\n");
    let run = choose(&three);
    let line = |name: &str, entry: usize| {
        let step = Time::from_ms(50);
        let at = |number: u64| {
            let from = step * number;
            ((from + step).as_secs_f64(), run.mbps(entry, from, from + step))
        };
        Line::curve(name, (0..duration.as_ps() / step.as_ps()).map(at).collect())
    };
    let title = format!("figure {figure}: throughput over pieces of 50 ms");
    let lines = vec![line("flow 4 (TCP)", 3), line("flow 5 (UDP)", 4)];
    let picture = svg(&title, &[Panel { x: "time, s", y: "Mbps", scale: Scale::Linear, lines }]);
    trial.plots.push((format!("florax-fig{figure}"), picture));
    let step = Time::from_ms(500);
    let mut rows = Vec::new();
    let mut at = Time::ZERO;
    while at < duration {
        rows.push((format!("{}", at + step), vec![run.mbps(3, at, at + step), run.mbps(4, at, at + step)]));
        at += step;
    }
    trial.show(&crate::plot::bars("until", &["flow 4", "flow 5"], 100.0, &rows));
    let (tcp, udp) = two(run);
    Ok((three, tcp, udp))
}

/// Runs the experiment `florax/fig8`.
pub fn fig8(trial: &mut Trial) -> Result<(), Failure> {
    let (three, tcp, udp) = throughput(trial, 8, |three| &three.droptail)?;
    let share = 100.0 * udp / (tcp + udp);
    trial.check(Check::new("drop-tail: UDP takes the link", "% of both", share, Relation::Above, 80.0, 0.0));
    let (tcp, udp) = two(&three.per_flow);
    let name = "negative control, per flow: it does not";
    trial.check(Check::new(name, "% of both", 100.0 * udp / (tcp + udp), Relation::Below, 80.0, 0.0).consistency());
    Ok(())
}

fn equal(name: &str, tcp: f64, udp: f64) -> Check {
    let off = 100.0 * (tcp - udp).abs() / ((tcp + udp) / 2.0);
    let note = format!("flow 4 {tcp:.1} and flow 5 {udp:.1} Mbps; within 20 %: our reading of equally");
    Check::new(format!("{name}: flows 4 and 5 differ by"), "%", off, Relation::AtMost, 20.0, 0.0).note(note)
}

/// Runs the experiment `florax/fig9`.
pub fn fig9(trial: &mut Trial) -> Result<(), Failure> {
    let (_, tcp, udp) = throughput(trial, 9, |three| &three.simple)?;
    trial.check(equal("simple", tcp, udp));
    Ok(())
}

/// Runs the experiment `florax/fig10`.
pub fn fig10(trial: &mut Trial) -> Result<(), Failure> {
    let (three, tcp, udp) = throughput(trial, 10, |three| &three.per_flow)?;
    trial.check(equal("per flow", tcp, udp));
    let ripple = |run: &Series| {
        let (most, least) = run.extent(4, STREAM * 2, Time::from_s(6), Time::from_ms(50));
        most - least
    };
    let name = "per flow: the throughput of flow 5 ripples more than under simple (over 50 ms)";
    let (ours, other) = (ripple(&three.per_flow), ripple(&three.simple));
    trial.check(Check::new(name, "Mbps", ours, Relation::Above, other, 0.0).note(MEASURED));
    let pressure = three.per_flow.pressure();
    trial.check(Check::exact("per flow: XOFFs", "XOFFs", pressure.xoffs as f64, Relation::Above, 0.0).consistency());
    trial.check(Check::exact("per flow: XONs", "XONs", pressure.xons as f64, Relation::Above, 0.0).consistency());
    Ok(())
}

/// Returns the time in s at which the last of flows 1 to 3 completes.
fn done(run: &Series) -> f64 {
    (0..3).map(|flow| run.done_s(flow)).fold(0.0, f64::max)
}

/// Runs the experiment `florax/fig11`.
pub fn fig11(trial: &mut Trial) -> Result<(), Failure> {
    let setup = trial.setup(&FLORAX_FIG3, &[])?;
    let fabric = &setup.fabric;
    let ends = fabric.find("D").zip(fabric.find("E"));
    let link = ends.and_then(|(d, e)| fabric.port_towards(d, e).map(|port| (d, port)));
    let Some((node, port)) = link else { return Ok(()) };
    let rate = fabric.link(fabric.ports(node)[usize::from(port)].link).rate.as_bps() as f64;
    let (payload, header) = (setup.host.transport.payload_bytes(), setup.host.transport.header_bytes());
    let frame = f64::from(payload) + f64::from(header) + WIRE_OVERHEAD_BYTES as f64;
    let floor = 60e6 * frame / f64::from(payload) * 8.0 / rate;
    let three = Three::run(trial, 8)?;
    trial.show("  how busy D-E is, % of the time\n");
    let busy = |run: &Series, from: Time, to: Time| 100.0 * run.busy(node.0, port, from, to, SAMPLE_INTERVAL);
    trial.show(&over_time(&three.named(), Time::from_s(6), Time::from_ms(500), busy, 100.0));
    let what = ("florax-fig11", "how busy the link from D to E is", "%");
    picture(trial, what, &three.named(), Time::from_s(6), Time::from_ms(50), busy);
    let mut rows = Vec::new();
    for (name, run) in three.named() {
        let end = done(run);
        let until = Time::from_ms(((end * 100.0).floor().min(800.0) * 10.0) as u64);
        let idle = (1.0 - run.busy(node.0, port, Time::ZERO, until, SAMPLE_INTERVAL)) * until.as_secs_f64();
        let each = (0..3).map(|flow| format!("{:.3}", run.done_s(flow)));
        let mut row = vec![name.to_owned()];
        row.extend(each);
        row.extend([end, 100.0 * (end / floor - 1.0), idle].map(|number| format!("{:.3}", no_minus(number))));
        rows.push(row);
    }
    trial.show(&format!(
        "  when the files are there, in s; the excess over the floor of {floor:.3} s in %; D-E idle until then, s\n"
    ));
    trial.show(&table(&["scheme", "flow 1", "flow 2", "flow 3", "all", "excess", "idle"], &rows, 1, Layout::Fixed, 2));
    let [per_flow, simple, droptail] = three.named().map(|(_, run)| done(run));
    let name = "per flow is done before simple";
    let open = "D-E works whenever it has something: a scheme that keeps it busy ends at the floor, whoever goes first";
    trial.check(Check::new(name, "s", per_flow, Relation::Below, simple, 0.0).note(open));
    let name = "per flow is done before drop-tail";
    trial.check(Check::new(name, "s", per_flow, Relation::Below, droptail, 0.0).note(open));
    let name = "simple and drop-tail are done at about the same time";
    let gain = (droptail.max(simple) - per_flow).max(0.0);
    let note = "half of what per flow gains on the later of them: a wider tolerance would hide that gain";
    trial.check(Check::new(name, "s", simple, Relation::Equal, droptail, gain / 2.0).note(note));
    let name = "nobody is done before the floor";
    let first = per_flow.min(simple).min(droptail);
    trial.check(
        Check::new(name, "s", first, Relation::AtLeast, floor, 0.0).consistency().note("60 MB with headers over D-E"),
    );
    sensitivity(trial)
}

/// Shows how the claims about per-flow backpressure depend on FLORAX's own parameters; only in full runs.
fn sensitivity(trial: &mut Trial) -> Result<(), Failure> {
    if trial.quick {
        trial.shortened.push("the sensitivity of per flow to its thresholds and times is left out".to_owned());
        return Ok(());
    }
    let mut rows = Vec::new();
    for (key, values) in OWN {
        for value in *values {
            let changes = [(*key, (*value).to_owned()), ("duration", "\"8s\"".to_owned())];
            let run = Series::run(trial, &FLORAX_FIG3, &changes)?;
            let second = Time::from_s(1);
            let mut row = vec![format!("{} = {value}", key.trim_start_matches("switch.flow_control."))];
            row.extend((0..3).map(|flow| format!("{:.1}", run.mbps(flow, Time::ZERO, second * 4))));
            let (tcp, udp) = two(&run);
            row.extend([tcp, udp].map(|rate| format!("{rate:.1}")));
            let pressure = run.pressure();
            row.extend([run.lost(), pressure.xoffs, pressure.xons, pressure.expiries].map(|count| count.to_string()));
            rows.push(row);
        }
    }
    trial.show(
        "  per flow under other numbers: flows 1 to 3 until 4 s, flows 4 and 5 after 2 s, in Mbps; frames lost; calls\n\
         ",
    );
    let heads = ["", "flow 1", "flow 2", "flow 3", "flow 4", "flow 5", "lost", "XOFFs", "XONs", "expired"];
    trial.show(&table(&heads, &rows, 1, Layout::Fixed, 2));
    Ok(())
}
