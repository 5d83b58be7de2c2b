//! Figure 1.7: credits needed to fill a long link.

use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::plot::bars;
use crate::registry::{CREDITS, Choice};
use crate::trial::{Trial, TrialResult};
use units::{PREAMBLE_BYTES, Rate, Time, WIRE_OVERHEAD_BYTES};

/// The source does not specify when a receiver grants credits.
pub const CHOICES: &[Choice] = &[
    Choice { source: &CREDITS, key: "switch.flow_control.update", alternatives: &["1B", "12KB"] },
    Choice { source: &CREDITS, key: "switch.flow_control.regrant", alternatives: &["10us", "10ms"] },
];

/// Frame size in the scenario, in bytes from destination address to FCS, and its payload in bytes.
const FRAME: u64 = 1518;
const PAYLOAD: f64 = 1472.0;
/// Cable lengths in m; the propagation delay is 5 ns per metre.
const METRES: [u64; 4] = [20, 200, 1_000, 10_000];
/// Number of senders in the incast.
const SENDERS: u64 = 6;

/// Link whose length is varied, with its propagation delay and rate.
struct Cable {
    delay: Time,
    rate: Rate,
}

impl Cable {
    fn frame(&self) -> Time {
        self.rate.serialise(FRAME + WIRE_OVERHEAD_BYTES)
    }

    /// Returns the credit round-trip time: from the start of a frame to the arrival of the grant that returns its
    /// credits.
    fn round_trip(&self) -> Time {
        self.rate.serialise(FRAME + PREAMBLE_BYTES) + self.rate.serialise(64 + PREAMBLE_BYTES) + self.delay * 2
    }

    /// Returns the credits, as a number of frames, that cover the bandwidth-delay product (rate x credit round-trip
    /// time).
    fn enough(&self) -> u64 {
        self.round_trip().as_ps().div_ceil(self.frame().as_ps())
    }

    /// Returns the utilisation of the link that `frames` frames of credits permit.
    fn share(&self, frames: u64) -> f64 {
        (frames as f64 * self.frame().as_ps() as f64 / self.round_trip().as_ps() as f64).min(1.0)
    }

    /// Runs the scenario with these credits. Returns the measured utilisation of the link and the results.
    fn run(&self, trial: &Trial, credits: &str) -> Result<(f64, TrialResult), Failure> {
        // Each third of the run lasts 100 credit round-trip times, so that a difference of one frame is negligible. The
        // first third is the warm-up.
        let third = Time::from_us((self.round_trip() * 100).as_ps() / 1_000_000 + 50);
        let us = |time: Time| format!("\"{}us\"", time.as_ps() / 1_000_000);
        let result = trial.run(
            &CREDITS,
            &[
                ("fabric.link.edge.delay", format!("\"{}ns\"", self.delay.as_ps() / 1000)),
                ("switch.flow_control.credits", format!("\"{credits}\"")),
                ("measure.warm_up", us(third)),
                ("record.throughput.every", us(third)),
                ("duration", us(third * 3)),
            ],
        )?;
        let wire = result.goodput(0) * (FRAME + WIRE_OVERHEAD_BYTES) as f64 / PAYLOAD;
        Ok((wire / self.rate.as_bps() as f64, result))
    }
}

/// Runs the experiment `bg/fig1.7`.
pub fn credits(trial: &mut Trial) -> Result<(), Failure> {
    let cables = trial.shorten("cable lengths", METRES.len() as u64, 3) as usize;
    let mut lost = 0;
    for &metres in &METRES[..cables] {
        let cable = Cable { delay: Time::from_ns(5 * metres), rate: Rate::from_gbps(100) };
        let enough = cable.enough();
        let mut steps = vec![1, enough / 4, enough / 2, enough - 1, enough, enough + 2, 2 * enough];
        steps.retain(|&frames| frames > 0);
        steps.sort_unstable();
        steps.dedup();
        let mut rows = Vec::new();
        let at = |what: &str| format!("{metres} m: {what}");
        let (mut worst, mut full_too_early, mut full) = (0.0f64, 0.0f64, 1.0f64);
        for frames in steps {
            let (share, result) = cable.run(trial, &format!("{}B", frames * FRAME))?;
            lost += result.overflowed();
            let expected = cable.share(frames);
            worst = worst.max((share - expected).abs());
            if frames < enough {
                full_too_early = full_too_early.max(share);
            } else {
                full = full.min(share);
            }
            let label = format!("{frames} ({:.2})", frames as f64 / enough as f64);
            rows.push((label, vec![100.0 * share, 100.0 * expected]));
        }
        trial.show(&format!(
            "  {metres} m: share of 100 Gbps in % over credits in frames (and as a share of the {enough} that cover \
             rate x round trip)\n"
        ));
        trial.show(&bars("credits", &["measured", "closed form"], 100.0, &rows));
        let formula = "credits x rate / (rate x round trip), at most the rate: computed";
        let name = at("largest distance of the throughput from the closed form");
        trial.check(Check::new(name, "%", 100.0 * worst, Relation::AtMost, 0.0, 0.5).note(formula));
        let name = at("with credits that cover rate x round trip the link is full");
        trial.check(Check::new(name, "%", 100.0 * full, Relation::AtLeast, 100.0, 0.3));
        let name = at("with a frame less, or fewer, it is not");
        let most = 100.0 * cable.share(enough - 1);
        trial.check(Check::new(name, "%", 100.0 * full_too_early, Relation::AtMost, most, 0.3).note(formula));
        let (auto, result) = cable.run(trial, "auto")?;
        lost += result.overflowed();
        trial.check(
            Check::new(at("with computed credits the link is full"), "%", 100.0 * auto, Relation::AtLeast, 100.0, 0.3)
                .consistency(),
        );
    }
    trial.check(Check::exact(
        "frames lost to full queues, over all of it",
        "frames",
        lost as f64,
        Relation::Equal,
        0.0,
    ));
    incast(trial)
}

/// Incast of six hosts over the long link: full queues must drop no frame, with computed credits and with credits for a
/// single frame, with and without link loss. Without flow control, or if hosts ignore credits, frames must be lost.
fn incast(trial: &mut Trial) -> Result<(), Failure> {
    let pairs: Vec<String> = (1..=SENDERS).map(|host| format!("[\"H{host}\", \"H{}\"]", SENDERS + 1)).collect();
    let pairs = format!("[{}]", pairs.join(", "));
    let run = |more: &[(&str, &str)]| {
        let mut changes = vec![("fabric.left", SENDERS.to_string()), ("traffic.0.pairs", pairs.clone())];
        changes.extend(more.iter().map(|(key, value)| (*key, (*value).to_owned())));
        trial.run(&CREDITS, &changes)
    };
    let smallest = ("switch.flow_control.credits", "\"1518B\"");
    let mut checks = Vec::new();
    for (what, more) in [
        ("computed credits", &[][..]),
        ("credits for one frame", &[smallest]),
        (
            "computed credits, links that lose one frame in 1000",
            &[("fabric.link.loss", "0.001"), ("fabric.link.edge.loss", "0.001")],
        ),
        (
            "credits for one frame, the same links",
            &[smallest, ("fabric.link.loss", "0.001"), ("fabric.link.edge.loss", "0.001")],
        ),
    ] {
        let result = run(more)?;
        let name = format!("six into one, {what}: frames lost to full queues");
        checks.push(Check::exact(name, "frames", result.overflowed() as f64, Relation::Equal, 0.0));
        let name = format!("six into one, {what}: goodput in the last part of the run");
        checks.push(Check::new(name, "Gbps", result.total_goodput() / 1e9, Relation::Above, 0.0, 0.0).consistency());
    }
    for (what, more) in [
        ("hosts that send whatever the credits say", ("host.obeys_pause", "false")),
        ("no flow control", ("switch.flow_control", "\"none\"")),
    ] {
        let result = run(&[more])?;
        let name = format!("negative control: six into one, {what}: frames lost to full queues");
        checks.push(Check::exact(name, "frames", result.overflowed() as f64, Relation::Above, 0.0).consistency());
    }
    checks.into_iter().for_each(|check| trial.check(check));
    Ok(())
}
