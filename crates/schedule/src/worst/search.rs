//! Search for phases at which a frame of a stream has a long delay.

use super::Control;
use super::network::Network;
use super::replay::{Release, Replay};
use units::random::{Stream, purpose};

/// Maximum number of transmissions that the search replays: for one stream, and for all streams together.
const MOST_WORK: u64 = 4_000_000;
const MOST_TOTAL_WORK: u64 = 240_000_000;

/// Number of consecutive moves without an improvement after which the search restarts.
const PATIENCE: u32 = 600;

/// Maximum number of frames in the replay of a witness.
pub(super) const MOST_FRAMES: i64 = 200_000;

/// Searches for release times of all other frames at which the observed frame, the frame of `stream` released at time
/// 0, has a long delay.
pub(super) struct Search<'a> {
    network: &'a Network,
    stream: usize,
    /// Streams that can delay the stream, directly or indirectly.
    involved: Vec<usize>,
    /// Only frames released in this window around time 0 are replayed.
    window: (i64, i64),
    replay: Replay,
    releases: Vec<Release>,
    random: Stream,
    work: u64,
}

/// Release times, by stream, and the resulting delay of the observed frame.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub times: Vec<i64>,
    pub delay: i64,
    /// The delay minus a penalty for simultaneous arrivals.
    pub score: i64,
}

impl<'a> Search<'a> {
    pub fn new(network: &'a Network, stream: usize, bounds: &[i64]) -> Search<'a> {
        let longest = bounds.iter().copied().max().unwrap_or(0);
        Search {
            network,
            stream,
            involved: involved(network, stream),
            window: (-2 * longest, bounds[stream]),
            replay: Replay::default(),
            releases: Vec::new(),
            random: Stream::new(1, stream as u64, purpose("worst case")),
            work: 0,
        }
    }

    /// Searches until the delay reaches `bound` or the work limit is reached.
    pub fn run(mut self, bound: i64) -> Found {
        let share = MOST_TOTAL_WORK / self.network.streams.len().max(1) as u64;
        let most = MOST_WORK.min(share);
        let first = self.construct(0);
        let mut best = self.judge(first);
        let mut attempt = 0;
        let done = |best: &Found| bound - best.delay < self.network.scale;
        while self.work < most && !(best.score == best.delay && done(&best)) {
            // Every second attempt starts from the best release times so far.
            let times = if attempt % 2 == 1 { best.times.clone() } else { self.construct(attempt) };
            let mut current = self.judge(times);
            let mut idle = 0;
            while idle < PATIENCE && self.work < most && !done(&best) {
                idle += 1;
                let Some(times) = self.moved(&current) else { continue };
                let next = self.judge(times);
                if next.score > current.score {
                    idle = 0;
                }
                if next.score >= current.score {
                    current = next;
                }
                if current.score > best.score {
                    best = current.clone();
                }
            }
            if current.score > best.score {
                best = current;
            }
            attempt += 1;
        }
        best
    }

    /// Improves `times` by random moves until `PATIENCE` consecutive moves bring no improvement.
    pub fn improve(mut self, times: Vec<i64>) -> Found {
        let mut best = self.judge(times);
        let mut idle = 0;
        while idle < PATIENCE {
            idle += 1;
            let Some(times) = self.moved(&best) else { continue };
            let next = self.judge(times);
            if next.score > best.score {
                idle = 0;
            }
            if next.score >= best.score {
                best = next;
            }
        }
        best
    }

    /// Replays the frames that are released in the window at these release times.
    fn judge(&mut self, times: Vec<i64>) -> Found {
        self.releases.clear();
        let (begin, end) = self.window;
        // The observed frame is the first release of the list.
        self.releases.push(Release { stream: self.stream, at: 0 });
        for &stream in &self.involved {
            let period = self.network.streams[stream].period;
            let mut at = begin + (times[stream] - begin).rem_euclid(period);
            while at <= end {
                if stream != self.stream || at != 0 {
                    self.releases.push(Release { stream, at });
                }
                at += period;
            }
        }
        self.replay.run(self.network, &self.releases);
        self.work += self.replay.arrivals.iter().map(Vec::len).sum::<usize>() as u64 + 4;
        let delay = self.replay.delays[0];
        Found { times, delay, score: delay - 2 * self.replay.ties }
    }

    /// Returns the release times after a random move: it shifts one stream, or all streams that arrive over one link,
    /// so that a frame of it arrives immediately before or after a frame of another stream.
    fn moved(&mut self, current: &Found) -> Option<Vec<i64>> {
        // `replay` has the last evaluated release times, which differ from `current` by one move at most.
        let random = &mut self.random;
        let place = random.below(self.network.order.len() as u64) as usize;
        let arrivals = &self.replay.arrivals[place];
        if arrivals.len() < 2 {
            return None;
        }
        let mut any = || arrivals[random.below(arrivals.len() as u64) as usize];
        let (one, other) = (any(), any());
        let stream = self.releases[one.1 as usize].stream;
        let beside = self.releases[other.1 as usize].stream;
        if stream == beside {
            return None;
        }
        let hop_of = |stream: usize| {
            let at = self.network.places[stream].iter().position(|&there| there == place)?;
            Some(self.network.streams[stream].hops[at])
        };
        let (own, slot) = (hop_of(stream)?, hop_of(beside)?.slot);
        let apart = 1 + random.below(4) as i64;
        let low = !self.network.streams[stream].high;
        let shift = other.0 - one.0
            + match random.below(6) {
                0 | 1 => apart,
                2 => slot - apart,
                // A frame of the lower class that ends when the other frame arrives. With ideal preemption, only its
                // inter-packet gap then blocks the link; otherwise, another waiting frame of the lower class starts
                // before the arrival.
                3 if low && self.network.control == Control::IdealPreemption => -own.sent,
                3 if low => -own.slot - apart,
                _ => -apart,
            };
        let mut times = current.times.clone();
        let hop = self.network.places[stream].iter().position(|&there| there == place)?;
        let previous = hop.checked_sub(1).map(|before| self.network.places[stream][before]);
        let alone = previous.is_none() || random.below(2) == 0;
        let comes = |other: usize| previous.is_some_and(|link| self.network.places[other].contains(&link));
        let moves = |other: usize| if alone { other == stream } else { comes(other) };
        // The observed frame stays at 0: if its stream is to be moved, the streams that are not to be moved are shifted
        // in the opposite direction instead.
        let (whole, shift) = if moves(self.stream) { (false, -shift) } else { (true, shift) };
        for &other in &self.involved {
            if moves(other) == whole {
                times[other] += shift;
            }
        }
        times[self.stream] = 0;
        Some(times)
    }

    /// Constructs release times at which frames of all ingress links arrive almost simultaneously at each hop, the
    /// longest frame first and that of the stream last. Most attempts after the first use a random order instead.
    fn construct(&mut self, attempt: u32) -> Vec<i64> {
        let network = self.network;
        let path = &network.streams[self.stream];
        let mut ranked = self.involved.clone();
        if attempt > 0 && !attempt.is_multiple_of(4) {
            self.random.shuffle(&mut ranked);
        } else {
            ranked.sort_by_key(|&stream| std::cmp::Reverse(network.streams[stream].bytes));
        }
        let count = ranked.len() as i64;
        let reach = |before: usize, here: usize| {
            let of = |&(stream, at): &(usize, usize)| {
                let other = &network.streams[stream];
                let goes_on = other.hops.get(at + 1).is_some_and(|next| next.link == here);
                (other.high && goes_on && self.involved.contains(&stream)).then_some(other.hops[at].reach)
            };
            network.on[&before].iter().filter_map(of).max()
        };
        let mut begins = vec![0];
        for pair in path.hops.windows(2) {
            let last = begins[begins.len() - 1];
            let longest = reach(pair[0].link, pair[1].link).unwrap_or(pair[0].reach);
            begins.push(last + network.blocking(pair[0].link) + longest);
        }
        let mut times = vec![0; network.streams.len()];
        for (rank, &stream) in ranked.iter().enumerate() {
            let other = &network.streams[stream];
            let meets: Vec<(usize, usize)> =
                (0..path.hops.len()).filter_map(|hop| Some((hop, other.hop_at(path.hops[hop].link)?))).collect();
            // A frame of a lower class blocks the observed frame at one hop only.
            let chosen = match (meets.first(), other.high) {
                (None, _) => None,
                (first, true) => first,
                (_, false) => meets.get(self.random.below(meets.len() as u64) as usize),
            };
            let Some(&(hop, at)) = chosen else {
                times[stream] = self.random.below(other.period as u64 / network.scale as u64) as i64 * network.scale;
                continue;
            };
            let mut begin = begins[hop] - (count - rank as i64);
            if !other.high {
                begin -= count;
                if network.control == Control::IdealPreemption {
                    begin = begins[hop] - other.hops[at].sent - count;
                }
            }
            for before in (0..at).rev() {
                let link = other.hops[before].link;
                let longest = reach(link, other.hops[before + 1].link).filter(|_| other.high);
                begin -= longest.unwrap_or(other.hops[before].reach);
            }
            times[stream] = begin;
        }
        times[self.stream] = 0;
        times
    }
}

/// Returns the streams that can delay `stream`: those that share a link with it, and those that can delay these streams
/// upstream of the shared link.
fn involved(network: &Network, stream: usize) -> Vec<usize> {
    let mut reached = vec![None; network.streams.len()];
    let mut open = vec![(stream, network.streams[stream].hops.len())];
    while let Some((next, hops)) = open.pop() {
        if reached[next].is_some_and(|known| known >= hops) {
            continue;
        }
        reached[next] = Some(hops);
        for hop in &network.streams[next].hops[..hops] {
            open.extend(network.on[&hop.link].iter().map(|&(other, at)| (other, at + 1)));
        }
    }
    (0..reached.len()).filter(|&other| reached[other].is_some()).collect()
}
