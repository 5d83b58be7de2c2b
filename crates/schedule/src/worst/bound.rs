//! Upper bound of the delay over all phases: the trajectory of a frame, with proofs.
//!
//! Notation: frame m passes hops 0 to q. `arr_h(x)` is the arrival of frame x at the queue of hop h, `s_h(x)` the start
//! of its transmission.
//!
//! **Chain.** For a range of hops c..=e let p_{e+1} = m. From h = e down to c: bp_h is the busy period of the highest
//! class at hop h that contains p_{h+1}; it begins with an arrival at time b_h. For h > c, p_h is the first frame
//! served by hop h from the start of bp_h up to m that arrives over the same ingress link as m; p_c = m. FIFO gives b_h
//! <= arr_h(p_h). Therefore s_h(p_{h+1}) <= b_h + blocking + the transmission times of the frames of bp_h before
//! p_{h+1}, and arr_{h+1}(p_{h+1}) is this start plus the time of p_{h+1} on the link. In the sum over h each frame is
//! counted at one hop only: hop h counts frames before p_{h+1}, later hops count frames from p_{h+1} on. p_h may be
//! another frame than m; then its time on the link replaces that of m (the term of the trajectory approach; Martin and
//! Minet, 2006). Allowing p_h to be served after p_{h+1} avoids the double counting that makes earlier forms of the
//! approach optimistic (Kemayo and others, 2013).
//!
//! **Slack.** t = arr_c(m) - b_c and each d_h = arr_h(p_h) - b_h are at least 0, and each of them reduces the delay of
//! m. Their sum is the slack L. The bound is the maximum over L of the counted times minus L.
//!
//! **Count.** The counted frames of a stream that joins at hop a arrive at this hop in the window [b_a, arr_a(m)]. Its
//! length is at most the sum of L, the longest time that m waits between the hops c and a, and the excess of the times
//! of m on the links over those of p_{c+1} to p_a. It is also at most the sum of all counted times; otherwise m would
//! not wait. The maximum is at a value of L at which a count changes.
//!
//! **Serialisation.** Frames of one ingress link arrive one after the other. All of them arrive in [b_c, arr_c(m)], so
//! t is at least A, the time on this link of all frames except the longest. At hop c + 1 the window begins d_{c+1}
//! before p_{c+1} arrives and lasts for the frames from p_{c+1} to m. d_{c+1} is at least X, the time by which the
//! frames of another ingress link exceed that of these frames. If hop c is idle for a time I between p_{c+1} and m,
//! then d_{c+1} is only at least X - I, but t is at least A' + I: hop c has sent the frames before the idle time, and
//! A' uses the shorter of their times on the ingress link and on hop c. Hence L is at least the maximum of A and A' +
//! X. If p_{c+1} is m, L is at least A + X.
//!
//! Each bound is the minimum over all ranges that end at a hop, added to the bound of the hops before the range.

use super::WorstCaseError;
use super::network::{Hop, Network, Path};
use std::collections::BTreeMap;

/// Maximum length of a busy period for which the analysis searches, in periods of the slowest stream.
const MOST_PERIODS: i64 = 10_000;

/// Returns, for each stream of the highest class, upper bounds of the accumulated waiting time before each hop, and in
/// total as the last element.
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

/// Returns the maximum number of frames of a stream with this period that arrive in a closed window of this length, if
/// each frame may be late by up to `late`.
fn frames(window: i64, late: i64, period: i64) -> i64 {
    (window + late) / period + 1
}

/// Returns the length of the longest busy period of the highest class on a link.
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
            // Counts the arrivals in the half-open window of this length.
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

/// Consecutive links that a stream shares with a range, and the arrival window of its counted frames at the first of
/// them.
struct Run {
    stream: usize,
    /// First and last shared hop, as hop indices of the range's stream.
    from: usize,
    to: usize,
    /// First shared hop, as hop index of the stream itself.
    at: usize,
    /// Longest time for which a frame occupies one of the shared links.
    slot: i64,
    /// Length of the window if the slack is zero.
    length: i64,
    /// Maximum time by which a frame arrives late at the first shared link, because it waited upstream.
    late: i64,
    period: i64,
}

impl Run {
    /// Returns the number of frames of the stream that arrive in the window, whose length is limited to `most`.
    fn frames(&self, slack: i64, most: i64) -> i64 {
        frames(most.min(self.length + slack), self.late, self.period)
    }

    /// Returns the values of the slack below `most` at which the number of frames increases.
    fn steps(&self, most: i64) -> impl Iterator<Item = i64> {
        let first = (self.length + self.late) / self.period + 1;
        (first..).map(|count| count * self.period - self.length - self.late).take_while(move |&slack| slack < most)
    }
}

impl Range<'_> {
    fn path(&self) -> &Path {
        &self.network.streams[self.stream]
    }

    /// Returns the run of the range's own stream, then the runs of all other streams of the highest class that share
    /// links with the range.
    fn runs(&self, waits: &[Vec<i64>]) -> Vec<Run> {
        let network = self.network;
        let run = |stream: usize, hop: usize, at: usize| {
            let path = &network.streams[stream];
            let waited = if hop > self.begin { waits[self.stream][hop] + self.excess(hop) } else { 0 };
            let (slot, late) = (path.hops[at].slot, waits[stream][at]);
            Run { stream, from: hop, to: hop, at, slot, length: waited, late, period: path.period }
        };
        let mut all = vec![run(self.stream, self.begin, self.begin)];
        for hop in self.begin..=self.end {
            for &(stream, at) in &network.on[&self.path().hops[hop].link] {
                if !network.streams[stream].high || (stream, hop) == (self.stream, self.begin) {
                    continue;
                }
                let slot = network.streams[stream].hops[at].slot;
                let known = all
                    .iter_mut()
                    .find(|run| run.stream == stream && run.to + 1 == hop && run.at + (run.to - run.from) + 1 == at);
                match known {
                    Some(run) => (run.to, run.slot) = (hop, run.slot.max(slot)),
                    None => all.push(run(stream, hop, at)),
                }
            }
        }
        all
    }

    /// Returns the sum, over the links from the first hop of the range to `hop`, of the `reach` of the stream's own
    /// frame minus the minimum `reach` of the highest-class streams that continue to the same next link.
    fn excess(&self, hop: usize) -> i64 {
        let of = |pair: &[Hop]| pair[0].reach - self.reaches(pair[0].link, pair[1].link).min().unwrap_or(pair[0].reach);
        self.path().hops[self.begin..=hop].windows(2).map(of).sum()
    }

    /// Returns the `reach` at the link `before` of all streams of the highest class whose next link is `here`.
    fn reaches(&self, before: usize, here: usize) -> impl Iterator<Item = i64> {
        let network = self.network;
        network.on[&before].iter().filter_map(move |&(stream, at)| {
            let other = &network.streams[stream];
            let goes_on = other.hops.get(at + 1).is_some_and(|next| next.link == here);
            (other.high && goes_on).then_some(other.hops[at].reach)
        })
    }

    /// Returns the sum, over the links before the hops `first` to `end`, of the maximum `reach` of the highest-class
    /// streams that continue to the same next link, minus the `reach` of the stream's own frame.
    fn longer(&self, first: usize) -> i64 {
        let of = |pair: &[Hop]| self.reaches(pair[0].link, pair[1].link).max().unwrap_or(pair[0].reach) - pair[0].reach;
        self.path().hops[first - 1..=self.end].windows(2).map(of).sum()
    }

    /// Returns an upper bound of the waiting time in the range: the time from the arrival at its first hop to the start
    /// of transmission at its last hop, minus this time for a frame that never waits.
    fn wait(&self, busy: &BTreeMap<usize, i64>, waits: &[Vec<i64>]) -> i64 {
        let hops = &self.path().hops[self.begin..=self.end];
        let runs = self.runs(waits);
        let blocking: i64 = hops.iter().map(|hop| self.network.blocking(hop.link)).sum();
        let own = hops.iter().map(|hop| hop.slot).max().unwrap_or(0);
        let counts = |slack: i64, most: i64| runs.iter().map(|run| run.frames(slack, most)).collect::<Vec<i64>>();
        let counted = |counts: &[i64]| {
            let others = runs.iter().zip(counts).skip(1).map(|(run, &count)| run.slot * count);
            others.sum::<i64>() + (counts[0] - 1) * own + blocking
        };
        let longer = self.longer(self.begin + 1);
        let mut most = longer + hops.iter().map(|hop| busy[&hop.link]).sum::<i64>();
        loop {
            let next = longer + counted(&counts(most, most));
            if next >= most {
                break;
            }
            most = next;
        }
        let mut slacks: Vec<i64> = runs.iter().flat_map(|run| run.steps(most)).chain([0]).collect();
        slacks.sort_unstable();
        slacks.dedup();
        let mut worst = i64::MIN;
        for slack in slacks {
            if most - slack <= worst {
                break;
            }
            let counts = counts(slack, most);
            worst = worst.max(counted(&counts) + self.transit(&runs, &counts, slack));
        }
        worst
    }

    /// For the runs that join at `hop`, returns by ingress link the time of their frames one after the other, without
    /// the longest frame. With `sent`, each frame counts with the shorter of its times on the ingress link and at
    /// `hop`.
    fn spans(&self, runs: &[Run], counts: &[i64], hop: usize, sent: bool) -> BTreeMap<usize, i64> {
        let mut sums: BTreeMap<usize, (i64, i64)> = BTreeMap::new();
        for (run, &count) in runs.iter().zip(counts).filter(|(run, _)| run.from == hop) {
            let path = &self.network.streams[run.stream];
            let Some(link) = path.previous(run.at) else { continue };
            let slot = path.hops[run.at - 1].slot.min(run.slot);
            let slot = if sent { slot.min(path.hops[run.at].slot) } else { slot };
            let sum = sums.entry(link).or_default();
            *sum = (sum.0 + count * (slot - self.rounding(link)), sum.1.max(slot));
        }
        sums.into_iter().map(|(link, (sum, longest))| (link, (sum - longest).max(0))).collect()
    }

    /// Returns the maximum rounding error of a frame's time on a link; zero if a byte takes a whole number of
    /// picoseconds.
    fn rounding(&self, link: usize) -> i64 {
        let whole = 8_000_000_000_000 % self.network.rates[link].as_bps() == 0;
        if whole { 0 } else { 2 * self.network.scale }
    }

    /// Returns the maximum by which times on the links exceed those of the stream's own frame, minus the slack.
    fn transit(&self, runs: &[Run], counts: &[i64], slack: i64) -> i64 {
        let longest = |spans: &BTreeMap<usize, i64>| spans.values().copied().max().unwrap_or(0);
        let first = longest(&self.spans(runs, counts, self.begin, false));
        if self.begin == self.end {
            return -slack.max(first);
        }
        let sent = longest(&self.spans(runs, counts, self.begin, true));
        let second = self.begin + 1;
        let (before, here) = (self.path().hops[self.begin], self.path().hops[second].link);
        let mut side = self.spans(runs, counts, second, false);
        side.remove(&before.link);
        let span = longest(&side);
        // Runs whose frames reach the second hop over the link of the range's stream; the first is the stream's own
        // run.
        let goes_on = |run: &Run| {
            let hops = &self.network.streams[run.stream].hops;
            run.from == self.begin && hops.get(run.at + 1).is_some_and(|next| next.link == here)
        };
        let hop = |run: &Run| self.network.streams[run.stream].hops[run.at];
        let own: Vec<(&Run, i64)> = runs.iter().zip(counts.iter().copied()).filter(|(run, _)| goes_on(run)).collect();
        let count: i64 = own.iter().map(|&(_, count)| count).sum();
        let total: i64 = own.iter().map(|&(run, count)| hop(run).slot * count).sum();
        let error = self.network.blocking(before.link) + count * self.rounding(before.link);
        let lone = -slack.max(first + span);
        let earlier = own.iter().enumerate().filter(|&(at, &(_, count))| at > 0 || count > 1);
        let of = |(_, &(run, _)): (usize, &(&Run, i64))| {
            let beyond = (span - (total - hop(run).slot) - error).max(0);
            hop(run).sent - before.sent - slack.max(first).max(sent + beyond)
        };
        self.longer(second + 1) + earlier.map(of).fold(lone, i64::max)
    }
}
