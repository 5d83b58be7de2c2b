//! Worst delay of periodic streams without slots, over all release phases.
//!
//! ```text
//!  network   links and streams, in integer ticks
//!  bound     upper bound, with its proof
//!  replay    exact times of given releases
//!  search    phases that reach the bound, or come near it
//!  summary   text, JSON and scenario
//! ```
//!
//! Model: each source sends one frame per period from its phase on. Links store and forward; a port sends frames of a
//! class in the order of their arrival, those of a higher class first. Only the delays of the highest class are
//! analysed; frames of one lower class block it, as [`Control`] states. The paths must not form a cycle of links.
//!
//! The bound is a supremum over phases in real numbers: frames that arrive simultaneously may have any order. It is
//! called exact if phases are found that come within one picosecond when simultaneous arrivals are separated by 1/1024
//! ps. The witness has phases in whole picoseconds and separates them by 1 ps each, which costs these picoseconds.

mod bound;
mod network;
mod replay;
mod search;
pub mod summary;

use crate::problem::Problem;
use crate::slot::lcm;
use network::{Network, TICKS};
use replay::{Release, Replay};
use search::{MOST_FRAMES, Search};
use units::Time;

/// Protection of the highest class from frames of lower classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Strict priority: a frame of a lower class that began is sent to its end.
    Strict,
    /// Switches interrupt frames of lower classes as in IEEE 802.3br; hosts do not.
    Preemption,
    /// Switches interrupt them at any byte, at no cost.
    IdealPreemption,
}

/// Reason that the delays have no bound, or none that the analysis finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorstCaseError {
    /// More than two classes.
    #[error("the streams have {0} classes, and the analysis has at most two")]
    Classes(usize),
    /// Paths over which frames can delay each other in a cycle; a link of it or behind it, by index in
    /// [`Problem::links`].
    #[error("the paths of the streams form a cycle of links")]
    Cycle(usize),
    /// Streams of the highest class need at least the rate of a link, by index in [`Problem::links`].
    #[error("the streams of the highest class need the whole rate of a link")]
    Overload(usize),
}

/// Worst case of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorstCase {
    /// Stream, by index in [`Problem::streams`].
    pub stream: usize,
    /// Delay of a frame that never waits, from its release to the arrival of its last bit.
    pub least: Time,
    /// Upper bound of the delay over all phases.
    pub bound: Time,
    /// Set if the bound is the exact worst case: its least upper bound over real phases.
    pub exact: bool,
    /// Longest delay at the phases of `witness`.
    pub delay: Time,
    /// Longest less shortest delay at these phases, from the first frame on.
    pub jitter: Time,
    /// Set if the bound is exact and a frame of the witness never waits: the bound of the jitter is exact too.
    pub jitter_exact: bool,
    /// First release of each stream of the problem, below its period.
    pub witness: Vec<Time>,
    /// Time until which the witness was replayed from the first release on.
    pub replayed: Time,
}

impl WorstCase {
    /// Bound of the jitter: of the longest less the shortest delay.
    pub fn jitter_bound(&self) -> Time {
        self.bound.saturating_sub(self.least)
    }

    /// Returns `true` if the bound exceeds the deadline of the stream.
    pub fn may_be_late(&self, problem: &Problem) -> bool {
        problem.streams[self.stream].deadline.is_some_and(|deadline| self.bound > deadline)
    }
}

/// Computes the worst case of each stream of the highest of `classes`, which has the class of each stream.
///
/// # Errors
/// More than two classes, a cycle of links, or a link without free rate.
pub fn worst_cases(problem: &Problem, classes: &[u8], control: Control) -> Result<Vec<WorstCase>, WorstCaseError> {
    let fine = Network::new(problem, classes, control, TICKS)?;
    let coarse = Network::new(problem, classes, control, 1)?;
    let waits = bound::waits(&coarse)?;
    let last = |waits: &Vec<i64>| waits.last().copied().unwrap_or(0);
    let bounds: Vec<i64> = coarse.streams.iter().zip(&waits).map(|(path, waits)| path.least() + last(waits)).collect();
    let fine_bounds: Vec<i64> = bounds.iter().map(|bound| bound * TICKS).collect();
    let of = |stream: usize| {
        let found = Search::new(&fine, stream, &fine_bounds).run(fine_bounds[stream]);
        let exact = fine_bounds[stream] - found.delay < TICKS;
        witness(&coarse, problem, stream, &found.times, bounds[stream], exact)
    };
    Ok((0..coarse.streams.len()).filter(|&stream| coarse.streams[stream].high).map(of).collect())
}

/// Replays the phases of a search, in picoseconds, from the start of all streams.
fn witness(network: &Network, problem: &Problem, stream: usize, times: &[i64], bound: i64, exact: bool) -> WorstCase {
    let longest = network.streams.iter().map(|path| path.period).max().unwrap_or(1);
    // All streams have started well before the frame that waits. The stream itself starts at zero: its first frame
    // waits for none of the streams that send before it.
    let period = network.streams[stream].period;
    let base = (longest + 4 * bound) / period * period + period;
    let phase = |(path, &ticks): (&network::Path, &i64)| {
        let (whole, apart) = (ticks.div_euclid(TICKS), ticks.rem_euclid(TICKS));
        let (whole, apart) = if apart > TICKS / 2 { (whole + 1, apart - TICKS) } else { (whole, apart) };
        (base + whole + apart).rem_euclid(path.period)
    };
    let phases: Vec<i64> = network.streams.iter().zip(times).map(phase).collect();
    let cycle = problem.streams.iter().try_fold(Time::from_ps(1), |cycle, spec| lcm(cycle, spec.period));
    let rounds = |end: i64| network.streams.iter().map(|path| end / path.period + 1).sum::<i64>();
    let whole = cycle.map(|cycle| cycle.as_ps() as i64).and_then(|cycle| base.checked_add(cycle.checked_mul(2)?));
    let end = whole.filter(|&end| rounds(end) <= MOST_FRAMES).unwrap_or(base + bound);
    // The frames that end after `end` delay those before, and are not judged.
    let mut releases = Vec::new();
    for (stream, path) in network.streams.iter().enumerate() {
        releases.extend((phases[stream]..=end + bound).step_by(path.period as usize).map(|at| Release { stream, at }));
    }
    let mut replay = Replay::default();
    replay.run(network, &releases);
    let seen = releases.iter().zip(&replay.delays).filter(|(release, _)| release.stream == stream && release.at <= end);
    let (least, most) = seen.fold((i64::MAX, 0), |(least, most), (_, &delay)| (least.min(delay), most.max(delay)));
    let time = |ps: i64| Time::from_ps(ps as u64);
    WorstCase {
        stream,
        least: time(network.streams[stream].least()),
        bound: time(bound),
        exact,
        delay: time(most),
        jitter: time(most - least.min(most)),
        jitter_exact: exact && least == network.streams[stream].least(),
        witness: phases.into_iter().map(time).collect(),
        replayed: time(end),
    }
}
