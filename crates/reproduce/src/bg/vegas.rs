//! Figure 1.9: increase, decrease and steady phases of TCP Vegas.

use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::rates::{Bench, mean};
use crate::registry::{Choice, VEGAS};
use crate::trial::Trial;
use record::control::ControlSample;
use text::lines::{Line, Panel, Scale, svg};
use text::{Layout, table};

/// Figure 1.9 does not specify the alpha and beta thresholds: those of Brakmo et al. are used.
pub const CHOICES: &[Choice] =
    &[Choice { source: &VEGAS, key: "host.transport.vegas_alpha", alternatives: &["1", "3"] }];

/// Payload of a segment, in bytes.
const SEGMENT: u64 = 1460;

/// Congestion window samples of one flow in a run.
struct Seen {
    samples: Vec<ControlSample>,
    /// Minimum RTT, in ps.
    base_ps: f64,
}

impl Seen {
    fn of(trial: &Trial, control: &str, segments: u64) -> Result<Seen, Failure> {
        // The whole `host.transport` table is replaced, because other congestion controls reject the keys of the Vegas
        // thresholds.
        let window = segments * SEGMENT;
        let other = format!(
            "{{ kind = \"tcp\", congestion_control = \"{control}\", delayed_ack = false, \
             initial_ssthresh = \"{SEGMENT}B\", initial_window = \"{window}B\" }}"
        );
        let changes = match control {
            "vegas" => [("host.transport.initial_window", format!("\"{window}B\""))],
            _ => [("host.transport", other)],
        };
        let bench = Bench::run(trial, &VEGAS, &changes)?;
        let samples: Vec<ControlSample> = bench.controls.get(&0).cloned().unwrap_or_default();
        let base_ps = samples.iter().filter_map(|sample| sample.rtt_ps).min().unwrap_or(0) as f64;
        Ok(Seen { samples, base_ps })
    }

    /// Returns the samples between two times in ms that have both a window and an RTT, as (time in ms, window in
    /// segments, RTT in ps).
    fn between(&self, from_ms: f64, to_ms: f64) -> Vec<(f64, f64, f64)> {
        let sample = |sample: &ControlSample| {
            let at_ms = sample.at.as_ps() as f64 / 1e9;
            let known = sample.window_bytes.zip(sample.rtt_ps).filter(|_| (from_ms..=to_ms).contains(&at_ms));
            known.map(|(window, rtt)| (at_ms, window as f64 / SEGMENT as f64, rtt as f64))
        };
        self.samples.iter().filter_map(sample).collect()
    }

    /// Returns the slope of the congestion window, in segments per RTT.
    fn slope(&self, from_ms: f64, to_ms: f64) -> f64 {
        let samples = self.between(from_ms, to_ms);
        let rounds: f64 = samples.windows(2).map(|pair| (pair[1].0 - pair[0].0) * 1e9 / pair[1].2).sum();
        let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return f64::NAN };
        (last.1 - first.1) / rounds
    }

    /// Returns the mean number of queued segments, which is Vegas's Diff times the minimum RTT.
    fn waiting(&self, base_ps: f64, from_ms: f64, to_ms: f64) -> f64 {
        let samples = self.between(from_ms, to_ms);
        mean(&samples.iter().map(|sample| sample.1 * (sample.2 - base_ps) / sample.2).collect::<Vec<_>>())
    }
}

/// Runs the experiment `bg/fig1.9`.
pub fn vegas(trial: &mut Trial) -> Result<(), Failure> {
    // The bandwidth-delay product is 81.3 segments. The three initial windows are 40 segments (half of it), 84 segments
    // (3 above it) and 111 segments (30 above it).
    let (below, between, above) =
        (Seen::of(trial, "vegas", 40)?, Seen::of(trial, "vegas", 84)?, Seen::of(trial, "vegas", 111)?);
    // The minimum RTT of the run with the smallest initial window is the RTT of the path with an empty queue.
    let base_ps = below.base_ps;
    let reno = Seen::of(trial, "newreno", 84)?;
    let (from, to, end) = (5.0, 20.0, 300.0);
    let mut rows = Vec::new();
    for (name, seen, relation, expected) in [
        ("below alpha", &below, Relation::Above, 1.0),
        ("between alpha and beta", &between, Relation::Equal, 0.0),
        ("above beta", &above, Relation::Below, -1.0),
    ] {
        let slope = seen.slope(from, to);
        trial.check(Check::new(
            format!("figure 1.9, Vegas with Diff {name}: slope of the window"),
            "segments/RTT",
            slope,
            relation,
            0.0,
            0.0,
        ));
        let name = format!("Vegas with Diff {name}: a segment in each round trip, or none");
        // Tolerance: the sampling interval is a tenth of an RTT, and the smoothed RTT lags behind the RTT.
        trial.check(Check::new(name.clone(), "segments/RTT", slope, Relation::Equal, expected, 0.1));
        let waiting = [seen.waiting(base_ps, from, to), seen.waiting(base_ps, 250.0, end)];
        rows.push(vec![
            name.split(':').next().unwrap_or_default().to_owned(),
            format!("{:.2}", waiting[0]),
            format!("{slope:.3}"),
            format!("{:.2}", waiting[1]),
            format!("{:.3}", seen.slope(250.0, end)),
        ]);
    }
    for (name, seen) in [("from below", &below), ("from above", &above)] {
        let hovers = seen.waiting(base_ps, 250.0, end);
        let claim = format!("{name} the window comes to hover: segments that wait, between alpha and beta");
        trial.check(Check::new(claim, "segments", hovers, Relation::Equal, 3.0, 1.0));
        let claim = format!("{name} the window comes to hover: slope at the end");
        trial.check(Check::new(claim, "segments/RTT", seen.slope(250.0, end), Relation::Equal, 0.0, 0.001));
    }
    let claim = "negative control: NewReno with Diff between alpha and beta grows all the same";
    trial.check(Check::new(claim, "segments/RTT", reno.slope(from, to), Relation::Equal, 1.0, 0.1).consistency());
    trial.show("  segments that wait and slope of the window from 5 to 20 ms, and from 250 to 300 ms\n");
    trial.show(&table(&["", "waiting", "slope", "waiting", "slope"], &rows, 1, Layout::Fixed, 2));
    let curve = |name: &str, seen: &Seen| {
        Line::curve(name.to_owned(), seen.between(0.0, 100.0).into_iter().map(|sample| (sample.0, sample.1)).collect())
    };
    let lines = vec![
        curve("Diff below alpha", &below),
        curve("between", &between),
        curve("above beta", &above),
        curve("NewReno", &reno),
    ];
    let panel = Panel { x: "time, ms", y: "window, segments", scale: Scale::Linear, lines };
    trial.plots.push(("bg-fig1.9".to_owned(), svg("TCP Vegas: the window by what waits", &[panel])));
    Ok(())
}
