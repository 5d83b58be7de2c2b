//! Slots of streams whose clocks drift: the guard band that keeps two slots apart for the lifetime of a reservation.

use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::registry::DTSCOE_DRIFT;
use crate::trial::{Trial, TrialResult};
use model::parameters::NodeClock;
use schedule::protocol::Config;
use text::{Layout, table};
use units::Time;
use units::random::{Stream, purpose};

/// Drift of the thesis's clocks in either direction, in parts per billion.
const DRIFT_PPB: u32 = 50;
/// Refresh interval of reservations: 0.1 s instead of the thesis's 1 s, to shorten the run.
const REFRESH: Time = Time::from_ms(100);
/// Time of a frame of 600 bytes with preamble and gap at 100 Gbps.
const SLOT: Time = Time::from_ns(48);

/// Returns the largest jitter of the two streams, in ps, over the lifetime of one reservation that is not refreshed.
/// The second slot starts `guard` after the first. The clock of the first stream is slow, the clock of the second is
/// fast, and their initial offsets are random.
fn jitter_ps(trial: &Trial, config: &Config, guard: Time, seed: u64) -> Result<u64, Failure> {
    let mut random = Stream::new(seed, 3, purpose("clocks"));
    let [first, behind] = [-1, 1]
        .map(|sign| NodeClock { offset: Time::from_ps(random.below(1 << 50)), drift_ppb: sign * DRIFT_PPB as i32 });
    // A source sends by its own clock: its phase is the reading of this clock at the start of the slot.
    let phase = |clock: NodeClock, at: Time, period: Time| format!("\"{}ps\"", ((clock.offset + at) % period).as_ps());
    let changes = [
        ("seed", seed.to_string()),
        ("duration", format!("\"{}ps\"", config.lifetime.as_ps())),
        ("traffic.0.phase", phase(first, Time::ZERO, Time::from_ns(640))),
        ("traffic.1.phase", phase(behind, SLOT + guard, Time::from_ns(1920))),
    ];
    let mut setup = trial.setup(&DTSCOE_DRIFT, &changes)?;
    setup.host.clocks.stated = [(0, first), (1, behind)].into();
    let result = TrialResult::of(setup, &DTSCOE_DRIFT)?;
    Ok(result.summary.jitter.iter().map(|seen| seen.jitter_ps).max().unwrap_or(u64::MAX))
}

/// Runs the experiment `dtscoe/drift`.
pub fn run(trial: &mut Trial) -> Result<(), Failure> {
    let seeds = trial.shorten("seeds of the clocks", 10, 2);
    let config = Config::new().refreshed_every(REFRESH, DRIFT_PPB);
    let mut rows = Vec::new();
    let mut over_seeds = |trial: &Trial, name: &str, guard: Time| {
        let all =
            (1..=seeds).map(|seed| jitter_ps(trial, &config, guard, seed)).collect::<Result<Vec<u64>, Failure>>()?;
        let (least, most) = (all.iter().min().copied().unwrap_or(0), all.iter().max().copied().unwrap_or(0));
        rows.push(vec![name.to_owned(), guard.to_string(), format!("{least} ps"), format!("{most} ps")]);
        Ok::<(u64, u64), Failure>((least, most))
    };
    let (_, most) = over_seeds(trial, "as demanded", config.guard)?;
    let (least, _) = over_seeds(trial, "half of that", config.guard / 2)?;
    let text = format!("  slots age up to {}, clocks are off by {DRIFT_PPB} ppb either way\n", config.lifetime);
    trial.show(&text);
    trial.show(&table(&["guard band", "", "least jitter", "most"], &rows, 1, Layout::Fixed, 2));
    let name = "the guard band that drift demands: the greatest jitter";
    trial.check(Check::exact(name, "ps", most as f64, Relation::Equal, 0.0));
    trial.check(Check::exact("half of it: the least jitter", "ps", least as f64, Relation::Above, 0.0).consistency());
    Ok(())
}
