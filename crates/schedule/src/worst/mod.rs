//! Worst-case delay of periodic streams without slots, over all release phases.
//!
//! ```text
//!  network   links and streams, in integer ticks
//!  bound     upper bound, with its proof
//!  replay    exact times of given releases
//!  search    phases that reach the bound, or come near it
//!  summary   text, JSON and scenario
//! ```
//!
//! Model: each source sends one frame per period, starting at its phase. Links store and forward; a port sends frames
//! of a class in FIFO order, those of a higher class first. Only the delays of the highest class are analysed; frames
//! of one lower class block it, depending on the [`Control`]. The paths must not form a cycle of links.
//!
//! The bound is a supremum over real-valued phases: frames that arrive simultaneously may have any order. It is called
//! exact if the search finds phases that come within one picosecond of it when simultaneous arrivals are separated by
//! 1/1024 ps. The witness has phases in whole picoseconds and separates simultaneous arrivals by 1 ps each, which
//! shortens its delay by these picoseconds.

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
use units::random::{Stream, purpose};

/// Maximum time by which the separation of simultaneous arrivals may shorten the delay of a witness, in picoseconds.
const MOST_SEPARATION: i64 = 1000;

/// Maximum number of transmissions that the separation of simultaneous arrivals replays for one stream.
const MOST_SEPARATION_WORK: usize = 1_000_000;

/// Protection of the highest class from frames of lower classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Strict priority: a frame of a lower class whose transmission has started is sent completely.
    Strict,
    /// Switches preempt frames of lower classes as in IEEE 802.3br; hosts do not.
    Preemption,
    /// Switches preempt frames of lower classes at any byte, without overhead.
    IdealPreemption,
}

/// Reason why the delays have no bound, or why the analysis finds none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorstCaseError {
    /// More than two classes.
    #[error("the streams have {0} classes, and the analysis has at most two")]
    Classes(usize),
    /// Frames can delay each other in a cycle of links; the value is a link of this cycle or downstream of it, by index
    /// in [`Problem::links`].
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
    /// End-to-end delay without queueing delay, from the release of the frame to the arrival of its last bit.
    pub least: Time,
    /// Upper bound of the delay over all phases.
    pub bound: Time,
    /// Set if the bound is the exact worst case: the supremum over real-valued phases. The delay of the witness is
    /// shorter by the separation of simultaneous arrivals, at most a nanosecond.
    pub exact: bool,
    /// Longest delay at the phases of `witness`.
    pub delay: Time,
    /// Difference between the longest and the shortest delay at these phases, from the first frame on.
    pub jitter: Time,
    /// Set if the bound is exact and a frame of the witness never waits: the bound of the jitter is exact too.
    pub jitter_exact: bool,
    /// Set if no arrivals at a link are simultaneous at the phases of `witness`, so that the simulator reproduces delay
    /// and jitter to the picosecond. Otherwise they depend on the order of the simultaneous frames.
    pub settled: bool,
    /// First release of each stream of the problem, below its period.
    pub witness: Vec<Time>,
    /// Duration of the replay of the witness, from the first release on.
    pub replayed: Time,
}

impl WorstCase {
    /// Returns the upper bound of the jitter: the bound of the delay minus the delay of a frame that never waits.
    pub fn jitter_bound(&self) -> Time {
        self.bound.saturating_sub(self.least)
    }

    /// Returns `true` if the bound exceeds the deadline of the stream.
    pub fn may_be_late(&self, problem: &Problem) -> bool {
        problem.streams[self.stream].deadline.is_some_and(|deadline| self.bound > deadline)
    }
}

/// Computes the worst case of each stream of the highest class. `classes` has the class of each stream.
///
/// # Errors
/// More than two classes, a cycle of links, or a link whose whole rate the streams of the highest class need.
pub fn worst_cases(problem: &Problem, classes: &[u8], control: Control) -> Result<Vec<WorstCase>, WorstCaseError> {
    let fine = Network::new(problem, classes, control, TICKS)?;
    let coarse = Network::new(problem, classes, control, 1)?;
    let waits = bound::waits(&coarse)?;
    let last = |waits: &Vec<i64>| waits.last().copied().unwrap_or(0);
    let bounds: Vec<i64> = coarse.streams.iter().zip(&waits).map(|(path, waits)| path.least() + last(waits)).collect();
    let fine_bounds: Vec<i64> = bounds.iter().map(|bound| bound * TICKS).collect();
    let of = |stream: usize| {
        let found = Search::new(&fine, stream, &fine_bounds).run(fine_bounds[stream]);
        let reached = fine_bounds[stream] - found.delay < TICKS;
        // With whole picoseconds, other arrivals are simultaneous and frames are preempted at other bytes, so the
        // phases are improved again.
        let whole = |&ticks: &i64| {
            let (whole, apart) = (ticks.div_euclid(TICKS), ticks.rem_euclid(TICKS));
            whole + if apart > TICKS / 2 { 1 + apart - TICKS } else { apart }
        };
        let times = Search::new(&coarse, stream, &bounds).improve(found.times.iter().map(whole).collect()).times;
        Witness::new(&coarse, problem, stream, &times, bounds[stream]).case(bounds[stream], reached)
    };
    Ok((0..coarse.streams.len()).filter(|&stream| coarse.streams[stream].high).map(of).collect())
}

/// Phases of the witness in picoseconds, and their replay.
struct Witness<'a> {
    network: &'a Network,
    stream: usize,
    phases: Vec<i64>,
    /// `end` is the last release whose delay is evaluated, `last` the last release of the replay.
    end: i64,
    last: i64,
    replay: Replay,
    releases: Vec<Release>,
}

impl Witness<'_> {
    fn new<'a>(network: &'a Network, problem: &Problem, stream: usize, times: &[i64], bound: i64) -> Witness<'a> {
        let longest = network.streams.iter().map(|path| path.period).max().unwrap_or(1);
        // All other streams start long before the observed frame. The stream itself starts at time zero, so its first
        // frame waits for none of the streams that send before it.
        let period = network.streams[stream].period;
        let base = (longest + 4 * bound) / period * period + period;
        let phase = |(path, &at): (&network::Path, &i64)| (base + at).rem_euclid(path.period);
        let phases: Vec<i64> = network.streams.iter().zip(times).map(phase).collect();
        let cycle = problem.streams.iter().try_fold(Time::from_ps(1), |cycle, spec| lcm(cycle, spec.period));
        let rounds = |end: i64| network.streams.iter().map(|path| end / path.period + 1).sum::<i64>();
        let whole = cycle.map(|cycle| cycle.as_ps() as i64).and_then(|cycle| base.checked_add(cycle.checked_mul(2)?));
        let end = whole.filter(|&end| rounds(end) <= MOST_FRAMES).unwrap_or(base + bound);
        // Frames released after `end` can delay earlier frames; their own delay is not evaluated.
        let last = end + bound;
        let mut witness =
            Witness { network, stream, phases, end, last, replay: Replay::default(), releases: Vec::new() };
        witness.separate();
        witness
    }

    /// Replays all frames. Returns the shortest and the longest delay of the stream.
    fn delays(&mut self) -> (i64, i64) {
        self.releases.clear();
        for (stream, path) in self.network.streams.iter().enumerate() {
            let all = (self.phases[stream]..=self.last).step_by(path.period as usize);
            self.releases.extend(all.map(|at| Release { stream, at }));
        }
        self.replay.run(self.network, &self.releases);
        let judged = |release: &Release| release.stream == self.stream && release.at <= self.end;
        let seen = self.releases.iter().zip(&self.replay.delays).filter(|(release, _)| judged(release));
        seen.fold((i64::MAX, 0), |(least, most), (_, &delay)| (least.min(delay), most.max(delay)))
    }

    /// Shifts streams by a few picoseconds until no arrivals are simultaneous, as long as the delay hardly decreases.
    fn separate(&mut self) {
        let (_, mut most) = self.delays();
        let mut random = Stream::new(2, self.stream as u64, purpose("worst case"));
        let mut ties = self.replay.ties;
        let mut work = 0;
        while ties > 0 && work < MOST_SEPARATION_WORK {
            let stream = random.below(self.phases.len() as u64) as usize;
            if stream == self.stream {
                continue;
            }
            let kept = self.phases[stream];
            let shift = 1 + random.below(4) as i64;
            let shift = if random.below(2) == 0 { shift } else { -shift };
            self.phases[stream] = (kept + shift).rem_euclid(self.network.streams[stream].period);
            let delay = self.delays().1;
            work += self.releases.len();
            if self.replay.ties <= ties && delay + 4 >= most {
                (most, ties) = (most.max(delay), self.replay.ties);
            } else {
                self.phases[stream] = kept;
            }
        }
    }

    /// Returns the worst case; `reached` is set if the search came within a picosecond of the bound.
    fn case(mut self, bound: i64, reached: bool) -> WorstCase {
        let (least, most) = self.delays();
        let settled = self.replay.ties == 0;
        let exact = reached && settled && bound - most <= MOST_SEPARATION;
        let shortest = self.network.streams[self.stream].least();
        let time = |ps: i64| Time::from_ps(ps as u64);
        WorstCase {
            stream: self.stream,
            least: time(shortest),
            bound: time(bound),
            exact,
            delay: time(most),
            jitter: time(most - least.min(most)),
            jitter_exact: exact && least == shortest,
            settled,
            witness: self.phases.into_iter().map(time).collect(),
            replayed: time(self.end),
        }
    }
}
