//! Congestion signals of rate-based congestion controls: QCN feedback samples (figure 1.6) and TIMELY's RTT (figure
//! 1.10).

use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::rates::{Bench, mean};
use crate::registry::{Choice, SAMPLES, TIMELY_RTT};
use crate::trial::{Trial, simulation};
use model::{CapturedFrame, Watcher};
use protocols::frame::Kind;
use std::collections::BTreeMap;
use text::lines::{Line, Panel, Scale, SeriesStyle, svg};
use text::{Layout, table};
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

/// Parameters of figure 1.6 that the publication does not specify, with alternative values.
pub const SAMPLES_CHOICES: &[Choice] =
    &[Choice { source: &SAMPLES, key: "traffic.0.frame", alternatives: &["1000B", "500B"] }];
/// Parameters of figure 1.10 that the publication does not specify, with alternative values.
pub const RTT_CHOICES: &[Choice] = &[Choice { source: &TIMELY_RTT, key: "fabric.link.delay", alternatives: &["10us"] }];

/// QCN congestion notification messages received by hosts: time and quantised feedback.
#[derive(Default)]
struct FeedbackLog(Vec<(Time, u8)>);

impl Watcher for FeedbackLog {
    fn captured(&mut self, captured: &CapturedFrame) {
        if captured.frame.kind == Kind::Cnm {
            self.0.push((captured.at, captured.frame.congestion_message().feedback));
        }
    }
}

/// Runs the experiment `bg/fig1.6`.
pub fn samples(trial: &mut Trial) -> Result<(), Failure> {
    let seeds = trial.shorten("seeds", 20, 8);
    let mut frames: BTreeMap<u8, Vec<f64>> = BTreeMap::new();
    for seed in 1..=seeds {
        let setup = trial.setup(&SAMPLES, &[("seed", seed.to_string())])?;
        let sends = setup.traffic.flows.iter().filter_map(|flow| match &flow.load {
            traffic::Load::Datagrams(source) => Some(u64::from(source.frame_bytes)),
            traffic::Load::Transport => None,
        });
        let wire = sends.max().unwrap_or(0) + WIRE_OVERHEAD_BYTES;
        let mut feedback = FeedbackLog::default();
        simulation(setup, &SAMPLES)?.run(&mut feedback);
        feedback.0.sort_unstable();
        // The offered load exceeds the link rate, and no sender reduces its rate. Therefore the time between two
        // notifications is proportional to the number of frames that arrive between them.
        let rate = 2.0 * 5.01e9 / 8.0 / wire as f64;
        for pair in feedback.0.windows(2) {
            let between = (pair[1].0 - pair[0].0).as_secs_f64() * rate;
            frames.entry(pair[0].1 / 8).or_default().push(between);
        }
    }
    let (mut rows, mut ours, mut line) = (Vec::new(), Vec::new(), Vec::new());
    for (&eighth, between) in &frames {
        let feedback = f64::from(eighth) * 8.0 + 3.5;
        let (percent, linear) = (100.0 / mean(between), 1.0 + 9.0 * feedback / 63.0);
        let name = format!("feedback of {} to {}: frames that are sampled", eighth * 8, eighth * 8 + 7);
        let check = Check::new(name, "%", percent, Relation::Equal, linear, 0.15 * linear);
        // A QCN sample without congestion sends no notification, so that the time between two notifications may contain
        // several samples.
        trial.check(if eighth == 0 {
            check.unjudged("samples without congestion send no notification")
        } else {
            check
        });
        rows.push(vec![
            format!("{feedback}"),
            format!("{}", between.len()),
            format!("{percent:.2}"),
            format!("{linear:.2}"),
        ]);
        ours.push((feedback, percent));
        line.push((feedback, linear));
    }
    let name = "eighths of feedback in which samples were heard";
    trial.check(Check::exact(name, "of 8", frames.len() as f64, Relation::Equal, 8.0).consistency());
    trial.show("  feedback, samples, share of frames that are sampled, and on the line from 1 to 10 %\n");
    trial.show(&table(&["feedback", "samples", "share", "line"], &rows, 0, Layout::Fixed, 2));
    let lines =
        vec![Line { name: "packets".to_owned(), points: ours, mark: SeriesStyle::Points }, Line::curve("linear", line)];
    let panel = Panel { x: "feedback", y: "frames sampled, %", scale: Scale::Linear, lines };
    trial.plots.push(("bg-fig1.6".to_owned(), svg("QCN: samples over feedback", &[panel])));
    Ok(())
}

/// Runs the experiment `bg/fig1.10`.
pub fn round_trip(trial: &mut Trial) -> Result<(), Failure> {
    let mut rows = Vec::new();
    let mut seen = Vec::new();
    for segment_kb in [16u64, 64] {
        for payload in [438u64, 1438] {
            let changes = [
                ("host.transport.segment", format!("\"{segment_kb}KB\"")),
                ("host.transport.payload", format!("\"{payload}B\"")),
            ];
            let setup = trial.setup(&TIMELY_RTT, &changes)?;
            let delays: Time = setup.fabric.links().iter().map(|link| link.delay * 2).sum();
            let bench = Bench::of(setup, &TIMELY_RTT)?;
            let last = bench.controls.get(&0).and_then(|samples| samples.last()).and_then(|sample| sample.rtt_ps);
            let ours_us = last.map_or(f64::NAN, |ps| ps as f64 / 1e6);
            // Expected RTT minus serialisation at the sender: propagation in both directions, serialisation of the
            // frame at two switches (store-and-forward) and of the acknowledgement at three nodes, without inter-packet
            // gaps.
            let byte_us = Rate::from_gbps(10).serialise(1).as_ps() as f64 / 1e6;
            let (frame, answer) = ((payload + 62 + 8) as f64 * byte_us, (66 + 8) as f64 * byte_us);
            let alone_us = delays.as_secs_f64() * 1e6 + 3.0 * frame + 3.0 * answer;
            let expected_us = alone_us - (payload + 62 + WIRE_OVERHEAD_BYTES) as f64 * byte_us;
            let name = format!(
                "segments of {segment_kb} KB in frames of {} B: RTT beside completion - serialisation",
                payload + 62
            );
            trial.check(Check::new(name, "us", ours_us, Relation::Equal, expected_us, 0.001));
            rows.push(vec![
                format!("{segment_kb}"),
                format!("{}", payload + 62),
                format!("{ours_us:.4}"),
                format!("{expected_us:.4}"),
            ]);
            seen.push(ours_us);
        }
    }
    let name = "what segments of 64 KB add to the RTT of those of 16 KB";
    trial.check(Check::new(name, "us", seen[2] - seen[0], Relation::Equal, 0.0, 0.001));
    let name = "frames of 500 B: RTT below that of frames of 1500 B, which each switch stores, by";
    trial.check(Check::new(name, "us", seen[1] - seen[0], Relation::Above, 0.0, 0.0).consistency());
    trial.show("  segment in KB, frame in B, RTT and completion less serialisation in us\n");
    trial.show(&table(&["segment", "frame", "RTT", "expected"], &rows, 0, Layout::Fixed, 2));
    Ok(())
}
