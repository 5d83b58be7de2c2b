//! Exact worst case of figure 4.3c over all start phases of the CPRI sources, because the thesis does not specify the
//! phases.

use super::{Control, Starts, TABLE, ns};
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::registry::DTSCOE_WITNESS;
use crate::trial::Trial;
use schedule::protocol::WireCost;
use schedule::worst::{self, WorstCase, worst_cases};
use schedule::{Link, Problem, StreamSpec};
use units::{Rate, Time};

/// Index of the CPRI stream whose worst-case phases are in `experiments/dtscoe/witness.toml`.
pub const SHOWN: usize = 4;

/// Maximum jitter in figure 4.3c: with preemption, and with strict priority only.
const THESIS_NS: [f64; 2] = [360.0, 480.0];

/// The streams of figure 4.3a on its ports. Port numbers: 0 to 7 are CPRI sources, 8 to 15 data sources, then sw1 to
/// sw3, sw2 to sw3, sw3 to sw4, sw4 to the pool and sw4 to the data centre.
fn problem(data: bool) -> Problem {
    let rate = Rate::from_gbps(100);
    let link = |at: usize| Link { node: format!("port {at}"), port: 0, rate, delay: ns(50) };
    let stream = |at: usize| {
        let (source, cpri) = (at % 8, at < 8);
        let (frame, gap) = if cpri { TABLE[source % 4] } else { (1500, 19_200) };
        StreamSpec {
            name: format!("{}{source}", if cpri { "cpri" } else { "data" }),
            period: ns(gap),
            // Frame lengths in the thesis include preamble and gap (20 B).
            frame_bytes: u64::from(frame) - 20,
            start: Time::ZERO,
            deadline: None,
            path: vec![at, 16 + source / 4, 18, if cpri { 19 } else { 20 }],
        }
    };
    Problem {
        links: (0..21).map(link).collect(),
        streams: (0..if data { 16 } else { 8 }).map(stream).collect(),
        wire: WireCost::Ethernet,
        processing: Time::ZERO,
        grid: ns(1),
        max_cycle: Time::from_s(1),
    }
}

/// Returns the worst case of each CPRI stream, without data traffic or with data frames of up to 1500 bytes.
fn cases(data: bool, control: worst::Control) -> Vec<WorstCase> {
    let problem = problem(data);
    let classes: Vec<u8> = (0..problem.streams.len()).map(|stream| if stream < 8 { 7 } else { 0 }).collect();
    worst_cases(&problem, &classes, control).unwrap_or_default()
}

/// Returns the phases of the worst case of stream cpri4 without data traffic.
pub fn shown() -> Starts {
    cases(false, worst::Control::Strict).get(SHOWN).map_or(Starts::Together, starts)
}

fn starts(case: &WorstCase) -> Starts {
    Starts::At("worst case", std::array::from_fn(|flow| case.witness.get(flow).map_or(0, |phase| phase.as_ps())))
}

/// Simulates the CPRI streams without data traffic at these phases. Returns maximum delay and jitter of a stream in ps.
fn alone(trial: &Trial, stream: usize, starts: Starts) -> Result<(u64, u64), Failure> {
    let Starts::At(_, phases_ps) = starts else { return Ok((0, 0)) };
    let changes = phases_ps.iter().enumerate();
    let changes: Vec<(String, String)> =
        changes.map(|(flow, phase)| (format!("traffic.{flow}.phase"), format!("\"{phase}ps\""))).collect();
    let changes: Vec<(&str, String)> = changes.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    let outcome = trial.run(&DTSCOE_WITNESS, &changes)?;
    let seen = outcome.summary.jitter.iter().find(|seen| seen.traffic as usize == stream);
    Ok(seen.map_or((0, 0), |seen| (seen.max_delay_ps, seen.jitter_ps)))
}

/// Checks the worst cases without data traffic, and the bounds with data traffic. `beside` has the largest jitter in ns
/// that was measured with data traffic at the phases of [`shown`], with ideal preemption and with strict priority.
pub fn check(trial: &mut Trial, beside: [f64; 2]) -> Result<(), Failure> {
    let found = cases(false, worst::Control::Strict);
    let exact = found.iter().filter(|case| case.exact).count();
    let unit = "streams";
    trial.check(
        Check::exact("CPRI alone: streams with an exact worst case", unit, exact as f64, Relation::Equal, 8.0)
            .consistency(),
    );
    let mut met = 0;
    for case in &found {
        let seen = alone(trial, case.stream, starts(case))?;
        met += u8::from(seen == (case.delay.as_ps(), case.jitter.as_ps()));
    }
    let name = "CPRI alone: streams whose witness has the computed delay and jitter, to the picosecond";
    trial.check(Check::exact(name, unit, f64::from(met), Relation::Equal, 8.0).consistency());
    let highest = |found: &[WorstCase]| found.iter().map(|case| case.jitter.as_ps()).max().unwrap_or(0) as f64 / 1e3;
    let bound =
        |found: &[WorstCase]| found.iter().map(|case| case.jitter_bound().as_ps()).max().unwrap_or(0) as f64 / 1e3;
    let why = "an exact worst case over all phases, which a simulated witness reaches, is above the thesis's bound";
    let name = "CPRI alone, all phases: the exact highest jitter, at most";
    trial.check(Check::exact(name, "ns", bound(&found), Relation::AtMost, THESIS_NS[0]).note(why));
    let controls = [worst::Control::IdealPreemption, worst::Control::Strict];
    for (((control, ours), name), most) in
        controls.into_iter().zip(beside).zip([Control::Ideal.name(), Control::Strict.name()]).zip(THESIS_NS)
    {
        let found = cases(true, control);
        let (witness, bound) = (highest(&found), bound(&found));
        trial.show(&format!("  {name}, data frames of 1500 B at any time: jitter {witness:.3} ns at a witness, "));
        trial.show(&format!("at most {bound:.3} ns\n"));
        let name = format!("{name}, all phases: the highest jitter of a witness, at most");
        trial.check(Check::exact(name, "ns", witness, Relation::AtMost, most).note(why));
        let name =
            format!("{}, random data at the worst phases: the highest jitter, at most the bound", control.name());
        trial.check(Check::exact(name, "ns", ours, Relation::AtMost, bound).consistency());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scenario_has_the_phases_of_the_worst_case() {
        let Starts::At(_, phases_ps) = shown() else { unreachable!() };
        for (flow, phase) in phases_ps.iter().enumerate() {
            let line = format!("label = \"cpri{flow}\"");
            let (_, entry) = DTSCOE_WITNESS.text.split_once(&line).unwrap();
            let (_, value) = entry.split_once("phase = \"").unwrap();
            assert_eq!(value.split_once('"').unwrap().0, format!("{phase}ps"), "cpri{flow}");
        }
    }
}
