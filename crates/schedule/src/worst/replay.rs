//! Exact transmission times of given releases: store and forward, FIFO within each class.

use super::Control;
use super::network::Network;
use std::collections::BTreeMap;

/// Frame of a stream, released by its source at a time in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Release {
    pub stream: usize,
    pub at: i64,
}

/// State of a replay, reused to avoid allocations.
#[derive(Debug, Default)]
pub(super) struct Replay {
    /// Arrivals (time, frame) at each link, in the order of `Network::order`.
    pub arrivals: Vec<Vec<(i64, u32)>>,
    /// Index of the current hop of each frame.
    hops: Vec<usize>,
    /// Delay of each frame.
    pub delays: Vec<i64>,
    /// Number of simultaneous arrivals at a link.
    pub ties: i64,
}

impl Replay {
    /// Transmits the frames on all links. Simultaneous arrivals keep the order of `releases`; they are counted.
    pub fn run(&mut self, network: &Network, releases: &[Release]) {
        let position: &BTreeMap<usize, usize> = &network.position;
        self.arrivals.resize_with(network.order.len(), Vec::new);
        self.arrivals.iter_mut().for_each(Vec::clear);
        self.hops.clear();
        self.hops.resize(releases.len(), 0);
        self.delays.clear();
        self.delays.resize(releases.len(), 0);
        self.ties = 0;
        for (frame, release) in releases.iter().enumerate() {
            let first = network.streams[release.stream].hops[0].link;
            self.arrivals[position[&first]].push((release.at, frame as u32));
        }
        for place in 0..network.order.len() {
            let mut arrivals = std::mem::take(&mut self.arrivals[place]);
            arrivals.sort_unstable();
            self.ties += arrivals.windows(2).filter(|pair| pair[0].0 == pair[1].0).count() as i64;
            if network.lower[place] {
                self.serve_classes(network, releases, place, &arrivals);
            } else {
                let mut free = i64::MIN;
                for &(at, frame) in &arrivals {
                    let hop = network.streams[releases[frame as usize].stream].hops[self.hops[frame as usize]];
                    let start = at.max(free);
                    free = start + hop.slot;
                    self.pass(network, releases, frame, start + hop.reach);
                }
            }
            self.arrivals[place] = arrivals;
        }
    }

    /// Passes a frame to the next link of its path, at which it arrives at time `at`; after the last link, records its
    /// delay.
    fn pass(&mut self, network: &Network, releases: &[Release], frame: u32, at: i64) {
        let release = releases[frame as usize];
        let hop = &mut self.hops[frame as usize];
        *hop += 1;
        match network.places[release.stream].get(*hop) {
            Some(&place) => self.arrivals[place].push((at, frame)),
            None => self.delays[frame as usize] = at - release.at,
        }
    }

    /// Serves a link that carries two classes.
    fn serve_classes(&mut self, network: &Network, releases: &[Release], place: usize, arrivals: &[(i64, u32)]) {
        let is_high = |frame: u32| network.streams[releases[frame as usize].stream].high;
        let mut high = arrivals.iter().copied().filter(|&(_, frame)| is_high(frame)).peekable();
        let mut low = arrivals.iter().copied().filter(|&(_, frame)| !is_high(frame)).peekable();
        // Preempted frame: the frame, its unsent bytes, and the time on the link of the remaining fragment.
        let mut rest: Option<(u32, u64, i64)> = None;
        let mut free = i64::MIN;
        let switch = network.preempts[network.order[place]];
        // Whether a waiting frame of the highest class has preempted the frame in transmission.
        let mut cut = false;
        loop {
            let next_high = high.peek().map(|&(at, _)| at);
            let next_low = low.peek().map(|&(at, _)| at);
            // A frame that arrives exactly when the link becomes free: a switch serves the waiting frames first, a host
            // treats the frame as waiting.
            let waits = |at: Option<i64>| at.is_some_and(|at| at < free || at == free && !switch);
            let waiting = cut || waits(next_high) || rest.is_some() || waits(next_low);
            let Some(arrival) = [next_high, next_low].into_iter().flatten().min().or(rest.map(|_| free)) else {
                return;
            };
            let now = if waiting { free } else { arrival };
            // At a host this case counts as simultaneous, because the release timer of a stream's first frame fires
            // after the departure that frees the link.
            self.ties += i64::from(next_high == Some(free) && !switch && waits(next_low));
            let first = if waiting { cut || waits(next_high) } else { next_high == Some(now) };
            if first && let Some((_, frame)) = high.next() {
                let hop = network.streams[releases[frame as usize].stream].hops[self.hops[frame as usize]];
                free = now + hop.slot;
                cut = false;
                self.pass(network, releases, frame, now + hop.reach);
                continue;
            }
            let (frame, bytes, time) = match rest.take() {
                Some(rest) => rest,
                None => {
                    let Some((_, frame)) = low.next() else { return };
                    let path = &network.streams[releases[frame as usize].stream];
                    (frame, path.bytes, path.hops[self.hops[frame as usize]].slot)
                }
            };
            let path = &network.streams[releases[frame as usize].stream];
            let hop = path.hops[self.hops[frame as usize]];
            let elapsed = next_high.map(|at| at - now).filter(|&elapsed| elapsed < time);
            let interrupted = elapsed.and_then(|elapsed| match network.control {
                Control::IdealPreemption if network.preempts[hop.link] => {
                    (elapsed < time - (hop.slot - hop.sent)).then_some((elapsed, bytes, time - elapsed))
                }
                Control::Preemption if network.preempts[hop.link] => {
                    let (busy, left) = network.cut(hop.link, bytes, elapsed)?;
                    Some((busy, left, network.fragment(hop.link, left)))
                }
                _ => None,
            });
            match interrupted {
                Some((busy, bytes, time)) => {
                    rest = Some((frame, bytes, time));
                    (free, cut) = (now + busy, true);
                }
                None => {
                    free = now + time;
                    self.pass(network, releases, frame, free - hop.slot + hop.reach);
                }
            }
        }
    }
}
