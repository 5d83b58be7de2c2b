//! Upper bound of the delay over all phases: the trajectory of a frame, with proofs.
//!
//! Notation: frame m passes hops 0 to q. `arr_h` is a frame's arrival at the queue of hop h, `s_h` its start.
//!
//! **Chain.** For a range of hops c..=e let p_{e+1} = m. From h = e down to c: bp_h is the busy period of the
//! highest class at hop h that contains p_{h+1}; it begins with an arrival at b_h. p_h is the first frame
//! that hop h serves from the begin of bp_h on, up to m, and that comes over the link of m, for h > c; p_c = m.
//! FIFO gives b_h <= arr_h(p_h).
//! Therefore s_h(p_{h+1}) <= b_h + blocking + frames of bp_h before p_{h+1}, and arr_{h+1}(p_{h+1}) is that plus the
//! time of p_{h+1} on the link. In the sum over h each frame is counted at one hop: those before p_{h+1} are not among
//! the frames from p_{h+1} on, of which the later hops count. p_h may be another frame than m: its time on the link
//! replaces that of m (the term of the trajectory approach; Martin and Minet, 2006). A p_h behind p_{h+1} avoids the
//! double counting that makes earlier forms of the approach optimistic (Kemayo and others, 2013).
//!
//! **Count.** Counted frames of a stream that joins at hop a arrive there in [b_a, arr_a(m)]. This window is at most
//! as long as the sum of all counted times, so iteration from a safe window downwards gives their number.
//!
//! **Serialisation.** Frames of one ingress link arrive one after the other. All of them arrive in [b_c, arr_c(m)], so
//! b_c is earlier than arr_c(m) by the time of all but the longest. At hop c + 1 the window begins with p_{c+1} and
//! lasts for the frames from p_{c+1} to m; what the frames of another link need beyond that is lost as well. An idle
//! link between p_{c+1} and m does not help: m must then arrive at hop c that much later than b_c.
//!
//! Each bound is the least over all ranges that end at a hop, added to the bound up to its begin.

use super::WorstCaseError;
use super::network::{Network, Path};
use std::collections::BTreeMap;

/// Longest busy period for which the analysis searches, in periods of the slowest stream.
const MOST_PERIODS: i64 = 10_000;

/// Bounds of the waiting time before each hop of each stream of the highest class, with the total last.
pub(super) fn waits(network: &Network) -> Result<Vec<Vec<i64>>, WorstCaseError> {
    let mut waits: Vec<Vec<i64>> = network.streams.iter().map(|_| vec![0]).collect();
    let mut busy: BTreeMap<usize, i64> = BTreeMap::new();
    for &link in &network.order {
        let high: Vec<(usize, usize)> =
            network.on[&link].iter().copied().filter(|&(stream, _)| network.streams[stream].high).collect();
        if high.is_empty() {
            continue;
        }
        let period = busy_period(network, link, &high, &waits)?;
        busy.insert(link, period);
        for &(stream, end) in &high {
            let path = &network.streams[stream];
            let alone = waits[stream][end] + period - path.hops[end].slot;
            let ranges = (0..=end).map(|begin| {
                let range = Range { network, stream, begin, end };
                waits[stream][begin] + range.wait(&busy, &waits)
            });
            let least = ranges.fold(alone, i64::min);
            waits[stream].push(least);
        }
    }
    Ok(waits)
}

/// Returns how many frames of a period arrive in a closed window, if each may be late by `late`.
fn frames(window: i64, late: i64, period: i64) -> i64 {
    (window + late) / period + 1
}

/// Longest busy period of the highest class on a link.
fn busy_period(
    network: &Network,
    link: usize,
    high: &[(usize, usize)],
    waits: &[Vec<i64>],
) -> Result<i64, WorstCaseError> {
    let slowest = high.iter().map(|&(stream, _)| network.streams[stream].period).max().unwrap_or(1);
    let need = |length: i64| {
        let of = |&(stream, at): &(usize, usize)| {
            let path = &network.streams[stream];
            // Arrivals in a window that ends before its length.
            frames((length - 1).max(0), waits[stream][at], path.period) * path.hops[at].slot
        };
        network.blocking(link) + high.iter().map(of).sum::<i64>()
    };
    let mut length = 0;
    loop {
        let longer = need(length);
        if longer <= length {
            return Ok(length);
        }
        if longer > slowest.saturating_mul(MOST_PERIODS) {
            return Err(WorstCaseError::Overload(link));
        }
        length = longer;
    }
}

/// Hops `begin..=end` of a stream.
#[derive(Clone, Copy)]
struct Range<'a> {
    network: &'a Network,
    stream: usize,
    begin: usize,
    end: usize,
}

/// Links that another stream shares with a range without a gap.
struct Shared {
    other: usize,
    /// First and last hop of the range's stream.
    from: usize,
    to: usize,
    /// First hop of the other stream.
    at: usize,
    /// Longest time of a frame on a shared link.
    slot: i64,
    frames: i64,
}

impl Range<'_> {
    fn path(&self) -> &Path {
        &self.network.streams[self.stream]
    }

    /// Returns the runs of links that other streams of the highest class share with the range.
    fn shared(&self) -> Vec<Shared> {
        let mut all: Vec<Shared> = Vec::new();
        for hop in self.begin..=self.end {
            for &(other, at) in &self.network.on[&self.path().hops[hop].link] {
                if other == self.stream || !self.network.streams[other].high {
                    continue;
                }
                let slot = self.network.streams[other].hops[at].slot;
                let run = all
                    .iter_mut()
                    .find(|run| run.other == other && run.to + 1 == hop && run.at + (run.to - run.from) + 1 == at);
                match run {
                    Some(run) => (run.to, run.slot) = (hop, run.slot.max(slot)),
                    None => all.push(Shared { other, from: hop, to: hop, at, slot, frames: 1 }),
                }
            }
        }
        all
    }

    /// Returns a bound of the time from the arrival at the first hop until the start at the last, less that of a frame
    /// that never waits.
    fn wait(&self, busy: &BTreeMap<usize, i64>, waits: &[Vec<i64>]) -> i64 {
        let (network, path) = (self.network, self.path());
        let hops = &path.hops[self.begin..=self.end];
        let mut shared = self.shared();
        let blocking: i64 = hops.iter().map(|hop| network.blocking(hop.link)).sum();
        let own = hops.iter().map(|hop| hop.slot).max().unwrap_or(0);
        let longer = |hop: usize| self.longest_sent(hop) - path.hops[hop - 1].sent;
        let transit: i64 = (self.begin + 1..=self.end).map(longer).sum();
        let mut window = transit + hops.iter().map(|hop| busy[&hop.link]).sum::<i64>();
        loop {
            for run in &mut shared {
                run.frames = frames(window, waits[run.other][run.at], network.streams[run.other].period);
            }
            let earlier = frames(window, waits[self.stream][self.begin], path.period) - 1;
            let counted: i64 = shared.iter().map(|run| run.frames * run.slot).sum::<i64>() + earlier * own;
            let next = counted + blocking + transit;
            if next < window {
                window = next;
                continue;
            }
            return counted + blocking + self.transit(&shared, earlier) - self.lost_at_begin(&shared, earlier);
        }
    }

    /// Returns the longest time of a frame of the highest class on the link before `hop`, of those that go on to `hop`.
    fn longest_sent(&self, hop: usize) -> i64 {
        let path = self.path();
        let (before, here) = (path.hops[hop - 1].link, path.hops[hop].link);
        let of = |&(stream, at): &(usize, usize)| {
            let other = &self.network.streams[stream];
            let goes_on = other.hops.get(at + 1).is_some_and(|next| next.link == here);
            (other.high && goes_on).then_some(other.hops[at].sent)
        };
        self.network.on[&before].iter().filter_map(of).max().unwrap_or(path.hops[hop - 1].sent)
    }

    /// Returns the time that frames of a link into `hop` need one after the other, by link.
    fn spans(&self, shared: &[Shared], hop: usize) -> BTreeMap<usize, i64> {
        let network = self.network;
        let mut sums: BTreeMap<usize, (i64, i64)> = BTreeMap::new();
        for run in shared.iter().filter(|run| run.from == hop) {
            let other = &network.streams[run.other];
            let Some(link) = other.previous(run.at) else { continue };
            self.add(&mut sums, link, other.hops[run.at - 1].slot.min(run.slot), run.frames);
        }
        sums.into_iter().map(|(link, (sum, most))| (link, (sum - most).max(0))).collect()
    }

    fn add(&self, sums: &mut BTreeMap<usize, (i64, i64)>, link: usize, slot: i64, frames: i64) {
        let sum = sums.entry(link).or_default();
        *sum = (sum.0 + frames * (slot - self.rounding(link)), sum.1.max(slot));
    }

    /// Returns the error of a frame's time on a link of which the time of a byte is not a number of picoseconds.
    fn rounding(&self, link: usize) -> i64 {
        let whole = 8_000_000_000_000 % self.network.rates[link].as_bps() == 0;
        if whole { 0 } else { 2 * self.network.scale }
    }

    /// Returns by how much the first busy period begins before the frame arrives at the first hop.
    fn lost_at_begin(&self, shared: &[Shared], earlier: i64) -> i64 {
        let mut spans = self.spans(shared, self.begin);
        if let Some(link) = self.path().previous(self.begin) {
            let mut sums = BTreeMap::new();
            let own = self.path().hops[self.begin - 1].slot;
            self.add(&mut sums, link, own, earlier + 1);
            for run in shared.iter().filter(|run| run.from == self.begin) {
                let other = &self.network.streams[run.other];
                if other.previous(run.at) == Some(link) {
                    self.add(&mut sums, link, other.hops[run.at - 1].slot.min(run.slot), run.frames);
                }
            }
            spans.extend(sums.into_iter().map(|(link, (sum, most))| (link, (sum - most).max(0))));
        }
        spans.values().copied().max().unwrap_or(0)
    }

    /// Returns the most by which times on the links exceed those of the stream's own frame, less the time lost at the
    /// second hop of the range.
    fn transit(&self, shared: &[Shared], earlier: i64) -> i64 {
        let (network, path) = (self.network, self.path());
        if self.begin == self.end {
            return 0;
        }
        let longer = |hop: usize| self.longest_sent(hop) - path.hops[hop - 1].sent;
        let later: i64 = (self.begin + 2..=self.end).map(longer).sum();
        let second = self.begin + 1;
        let (before, here) = (path.hops[self.begin], path.hops[second].link);
        let side = self.spans(shared, second).into_iter().filter(|&(link, _)| link != before.link);
        let span = side.map(|(_, span)| span).max().unwrap_or(0);
        // Frames that reach the second hop over the link of the stream: sent, slot and number.
        let mut own = vec![(before.sent, before.slot, earlier + 1)];
        for run in shared.iter().filter(|run| run.from == self.begin) {
            let other = &network.streams[run.other];
            if other.hops.get(run.at + 1).is_some_and(|next| next.link == here) {
                let hop = other.hops[run.at];
                own.push((hop.sent, hop.slot, run.frames));
            }
        }
        let count: i64 = own.iter().map(|&(.., frames)| frames).sum();
        let total: i64 = own.iter().map(|&(_, slot, frames)| slot * frames).sum::<i64>();
        let slack = network.blocking(before.link) + count * self.rounding(before.link);
        let lone = -span;
        let first = own.iter().enumerate().filter(|&(at, _)| at > 0 || earlier > 0);
        let of = |(_, &(sent, slot, _)): (usize, &(i64, i64, i64))| {
            sent - before.sent - (span - (total - slot) - slack).max(0)
        };
        later + first.map(of).fold(lone, i64::max)
    }
}
