//! The first microseconds after the start of a second flow: figure 12.

use super::bench::{Arrival, Changes, Cut, Seen, mean};
use super::pictures::leave;
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::plot::bars;
use crate::registry::TRIM_HARDWARE;
use crate::trial::Trial;
use text::lines::{Line, Panel, Scale, SeriesStyle};
use text::{Layout, table};
use traffic::Start;
use units::Time;

/// Start of the second flow at its host, in us.
const SECOND: f64 = 50.0;
/// End-to-end delay without queueing, in us: propagation over two links of 500 ns and two serialisations of 121.6 ns.
const BASE: f64 = 1.0 + 2.0 * 0.1216;

/// Statistics of the packets of the first flow that arrive within an interval of 2 us: mean additional delay of whole
/// packets and of headers in us, and the share of headers.
#[derive(Clone, Copy, Debug)]
struct Span {
    whole: f64,
    headers: f64,
    share: f64,
}

/// Events after the start of the second flow. Times are in us since the earliest possible arrival of its first packet.
#[derive(Debug)]
struct Moments {
    seen: Seen,
    /// Time at which the first packet arrives at the switch and finds the queue full.
    overflow: f64,
    /// Arrival times of the first header trimmed at ingress, and of the first header trimmed after deflection.
    ingress: f64,
    deflected: f64,
    /// Intervals of 2 us from 0 to 40 us.
    spans: Vec<Span>,
}

fn since(arrival: &Arrival) -> f64 {
    arrival.at_us - SECOND - BASE
}

/// Returns the additional delay of a packet in us, relative to a run without the second flow, in which one packet
/// arrives per frame time.
fn late(arrival: &Arrival) -> f64 {
    arrival.at_us - arrival.seq as f64 / 1482.0 * 0.1216 - BASE
}

impl Moments {
    fn of(trial: &Trial, changes: &Changes, second: bool) -> Result<Moments, Failure> {
        let mut setup = trial.setup(&TRIM_HARDWARE, changes)?;
        (setup.duration, setup.measure_end) = (Time::from_us(130), Time::from_us(130));
        for (at, flow) in setup.traffic.flows.iter_mut().enumerate() {
            flow.start = Start::At(match at {
                0 => Time::ZERO,
                1 if second => Time::from_us(SECOND as u64),
                // After the end of the run.
                _ => Time::from_ms(3),
            });
        }
        let seen = Seen::of_setup(setup, &TRIM_HARDWARE, &[])?;
        let first = |cut: Cut| seen.arrivals.iter().filter(|arrival| arrival.cut == cut).map(since).next();
        let inside = seen.inside();
        let pipelines = inside.switches.first().map_or(&[][..], |switch| &switch.pipelines);
        let overflow = pipelines.iter().filter_map(|pipeline| pipeline.first_recirculated_ps).min();
        // A packet reaches the switch after half of the end-to-end delay.
        let overflow = overflow.map_or(f64::NAN, |ps| ps as f64 * 1e-6 - SECOND - BASE / 2.0);
        let (ingress, deflected) = [Cut::Ingress, Cut::Deflected].map(|cut| first(cut).unwrap_or(f64::NAN)).into();
        let span = |from: u32| {
            let (low, high) = (f64::from(from), f64::from(from) + 2.0);
            let within = |arrival: &&Arrival| arrival.flow == 0 && (low..high).contains(&since(arrival));
            let (mut whole, mut headers) = (Vec::new(), Vec::new());
            for arrival in seen.arrivals.iter().filter(within) {
                if arrival.cut == Cut::Whole { whole.push(late(arrival)) } else { headers.push(late(arrival)) }
            }
            let or_zero = |values: &[f64]| if values.is_empty() { 0.0 } else { mean(values) };
            let share = headers.len() as f64 / (whole.len() + headers.len()).max(1) as f64;
            Span { whole: or_zero(&whole), headers: or_zero(&headers), share }
        };
        let spans = (0..40).step_by(2).map(span).collect();
        Ok(Moments { overflow, ingress, deflected, spans, seen })
    }

    /// Returns the mean additional delay of whole packets that arrive between 10 and 12 us, and its maximum over all
    /// intervals.
    fn settling(&self) -> (f64, f64) {
        (self.spans[5].whole, self.spans.iter().map(|span| span.whole).fold(0.0, f64::max))
    }
}

/// Shows the times of the three events of figure 12 (queue full, first header trimmed at ingress, first header trimmed
/// after deflection) for other queue limits and response times.
fn others(trial: &mut Trial) -> Result<(), Failure> {
    let set = |pairs: &[(&'static str, &str)]| pairs.iter().map(|&(key, value)| (key, value.to_owned())).collect();
    let all = ("switch.overload.response", "all");
    let twenty = ("switch.queue", "20 packets");
    let cases: [(&str, Changes); 5] = [
        ("39 packets", set(&[])),
        ("39 packets, all trimmed", set(&[all, ("switch.overload.half", "0s")])),
        ("20 packets", set(&[twenty])),
        ("20 packets, signals twice round", set(&[twenty, ("switch.overload.signal_delay", "2us")])),
        ("12 packets", set(&[("switch.queue", "12 packets")])),
    ];
    let mut rows = Vec::new();
    for (name, changes) in cases {
        let moments = Moments::of(trial, &changes, true)?;
        let (at_ten, most) = moments.settling();
        let numbers = [moments.overflow, moments.ingress, at_ten, most].map(|number| format!("{number:.2}"));
        rows.push(std::iter::once(name.to_owned()).chain(numbers).collect::<Vec<String>>());
    }
    trial.show(
        "  us: the queue overflows, the first header from ingress arrives; how late whole packets are that arrive from \
         10 to 12 us, and at most\n",
    );
    trial.show(&table(&["", "overflow", "header", "late at 10", "most"], &rows, 1, Layout::Fixed, 2));
    Ok(())
}

/// Runs the experiment `trim/fig12`.
pub fn second_flow(trial: &mut Trial) -> Result<(), Failure> {
    let moments = Moments::of(trial, &Vec::new(), true)?;
    let Moments { overflow, ingress, deflected, spans, seen } = &moments;
    trial.show(&format!(
        "  overflow {overflow:.2} us, set by a queue of 39 packets to be the figure's 4.7; first header from ingress \
         {ingress:.2}, from deflection {deflected:.2}\n"
    ));
    let name = "the first header that was cut at ingress arrives";
    let check = Check::new(name, "us", *ingress, Relation::Equal, 6.0, 0.5);
    trial.check(check.note("0.5 us: the paper's own numbers are whole us, but for the overflow"));
    let row = |(at, span): (usize, &Span)| (format!("{} us", 2 * at), vec![span.whole, span.headers, span.share]);
    let rows: Vec<(String, Vec<f64>)> = spans.iter().enumerate().map(row).collect();
    trial.show("  packets of the first flow by arrival: how late whole ones and headers come (us), share of headers\n");
    trial.show(&bars("", &["whole, us late", "headers, us late", "headers"], 5.0, &rows));
    let of_first = |arrival: &&Arrival| arrival.flow == 0;
    let dots = |(name, cut): (&str, Cut)| {
        let shown =
            |arrival: &&Arrival| arrival.cut == cut && of_first(arrival) && (0.0..40.0).contains(&since(arrival));
        let points =
            seen.arrivals.iter().filter(shown).map(|arrival| (since(arrival), late(arrival).max(0.0))).collect();
        Line { name: name.to_owned(), points, mark: SeriesStyle::Dots }
    };
    let kinds = [("whole", Cut::Whole), ("cut at ingress", Cut::Ingress), ("cut after deflection", Cut::Deflected)];
    let lines = kinds.map(dots).to_vec();
    let x = "arrival, us after the second flow's first packet could arrive";
    let panel = Panel { x, y: "later than alone, us", scale: Scale::Linear, lines };
    leave(trial, "fig12", "packets of the first flow", &[panel]);
    let settled = |arrival: &&Arrival| of_first(arrival) && (10.0..70.0).contains(&since(arrival));
    let (mut trimmed, mut all) = (0.0, 0.0);
    for arrival in seen.arrivals.iter().filter(settled) {
        (trimmed, all) = (trimmed + f64::from(u8::from(arrival.cut != Cut::Whole)), all + 1.0);
    }
    let name = "from 10 us on: share of the first flow that arrives as headers";
    let check = Check::new(name, "%", 100.0 * trimmed / all, Relation::Equal, 50.0, 10.0);
    trial.check(check.note("10 %: more than what headers take of the port, 5 %, and less than a third is from a half"));
    let (at_ten, peak) = moments.settling();
    let name = "from 10 to 12 us: lateness of whole packets, at most half of its peak";
    let note = "the other side is measured; what joins 39 packets at 5.8 us cannot arrive before 10.5";
    trial.check(Check::new(name, "us", at_ten, Relation::AtMost, peak / 2.0, 0.0).note(note));
    others(trial)?;
    let alone = Moments::of(trial, &Vec::new(), false)?.seen;
    let name = "negative control: without the second flow: headers";
    trial.check(Check::exact(name, "packets", alone.headers_us.len() as f64, Relation::Equal, 0.0).consistency());
    Ok(())
}
