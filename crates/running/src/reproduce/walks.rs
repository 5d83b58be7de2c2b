//! Paths of frames from host to host.

use crate::device::Device;
use crate::options::PathSet;
use crate::paths::{State, Step, Wait, steps};
use fabric::NodeId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::random::{Stream, purpose};

/// Maximum length of a random path, in switches.
const MOST_HOPS: usize = 16;

/// The hops of frames from the first switch to a host.
#[derive(Clone, Debug)]
pub(super) struct Walk(pub Vec<Step>);

impl Walk {
    /// Returns the sending host.
    pub fn source(&self, device: &Device<'_>) -> NodeId {
        self.0.first().map_or(NodeId(0), |step| device.owner(device.other(step.state.ingress)))
    }

    /// Returns the rate of the sending host's link, in bits per second.
    pub fn source_rate(&self, device: &Device<'_>) -> u64 {
        self.0.first().map_or(0, |step| super::rate_of(device, step.state.ingress))
    }

    /// Returns the receiving host.
    pub fn sink(&self, device: &Device<'_>) -> NodeId {
        self.0.last().map_or(NodeId(0), |step| device.owner(device.other(step.wait.egress)))
    }

    /// Returns all nodes of the path, including both hosts.
    pub fn nodes(&self, device: &Device<'_>) -> Vec<NodeId> {
        let switches = self.0.iter().map(|step| device.owner(step.state.ingress));
        [self.source(device)].into_iter().chain(switches).chain([self.sink(device)]).collect()
    }
}

/// Directed graph of frame states. An edge is a hop, from the state on arrival at a switch to that at the next switch.
struct Graph<'s> {
    steps: &'s [Step],
    /// Outgoing hops of each state, as indices of `steps`.
    from: BTreeMap<State, Vec<usize>>,
    /// Incoming hops of each state, as indices of `steps`.
    to: BTreeMap<State, Vec<usize>>,
}

impl<'s> Graph<'s> {
    fn new(steps: &'s [Step]) -> Graph<'s> {
        let (mut from, mut to): (BTreeMap<State, Vec<usize>>, BTreeMap<State, Vec<usize>>) = Default::default();
        for (at, step) in steps.iter().enumerate() {
            from.entry(step.state).or_default().push(at);
            if let Some(next) = step.next {
                to.entry(next).or_default().push(at);
            }
        }
        Graph { steps, from, to }
    }

    /// Returns shortest sequences of hops from hosts to the hop `last` (included), nearest hosts first: at most `most`
    /// paths.
    fn up_to(&self, device: &Device<'_>, last: usize, most: usize) -> Vec<Vec<Step>> {
        let is_start = |at: usize| device.peer(self.steps[at].state.ingress).is_none();
        // Per hop: the next hop on the path to `last`.
        let (mut open, mut after) = (VecDeque::from([last]), BTreeMap::from([(last, last)]));
        let mut found = Vec::new();
        while let Some(at) = open.pop_front().filter(|_| found.len() < most) {
            if is_start(at) {
                let mut hops = vec![at];
                while hops[hops.len() - 1] != last {
                    hops.push(after[&hops[hops.len() - 1]]);
                }
                found.push(hops.into_iter().map(|at| self.steps[at]).collect());
                continue;
            }
            for &before in self.to.get(&self.steps[at].state).map_or(&[][..], Vec::as_slice) {
                after.entry(before).or_insert_with(|| {
                    open.push_back(before);
                    at
                });
            }
        }
        found
    }

    /// Appends the shortest sequence of hops to a host other than the sender.
    fn complete(&self, device: &Device<'_>, hops: Vec<Step>) -> Option<Walk> {
        let source = Walk(hops.clone()).source(device);
        let Some(mut state) = hops.last()?.next else { return Some(Walk(hops)).filter(|it| it.sink(device) != source) };
        let start = state;
        let (mut open, mut by) = (VecDeque::from([state]), BTreeMap::<State, usize>::new());
        let mut seen = BTreeSet::from([state]);
        let last = 'search: loop {
            state = open.pop_front()?;
            for &at in self.from.get(&state).map_or(&[][..], Vec::as_slice) {
                match self.steps[at].next {
                    None if device.owner(device.other(self.steps[at].wait.egress)) != source => break 'search at,
                    Some(next) if seen.insert(next) => {
                        by.insert(next, at);
                        open.push_back(next);
                    }
                    _ => {}
                }
            }
        };
        let mut rest = VecDeque::from([self.steps[last]]);
        while rest[0].state != start {
            rest.push_front(self.steps[*by.get(&rest[0].state)?]);
        }
        Some(Walk(hops.into_iter().chain(rest).collect()))
    }
}

/// Maximum number of walks compared for each wait and destination.
const MOST_COMPARED: usize = 8;

/// Maximum number of sources tried for each wait and destination.
const MOST_SOURCES: usize = 64;

fn location(wait: &Wait) -> (u32, u8, u32, u8) {
    (wait.ingress, wait.group, wait.egress, wait.queue)
}

/// Returns a short path of frames from host to host through each wait; `None` if none was found.
pub(super) fn best(device: &Device<'_>, paths: PathSet, waits: &[Wait]) -> Vec<Option<Walk>> {
    let mut found: Vec<Option<Walk>> = vec![None; waits.len()];
    steps(device, paths, &mut |steps| {
        let graph = Graph::new(steps);
        for (wait, known) in waits.iter().zip(&mut found) {
            let arrives = |step: &Step| step.wait.next.map(|next| next.group) == wait.next.map(|next| next.group);
            let hops =
                (0..steps.len()).filter(|&at| location(&steps[at].wait) == location(wait) && arrives(&steps[at]));
            // Two walks are requested because the nearest host may be the only possible receiver, which cannot send to
            // itself.
            let walks = hops.flat_map(|at| graph.up_to(device, at, 2)).filter_map(|hops| graph.complete(device, hops));
            for walk in walks.take(MOST_COMPARED) {
                if known.as_ref().is_none_or(|known| known.0.len() > walk.0.len()) {
                    *known = Some(walk);
                }
            }
        }
    });
    found
}

/// Returns short paths through any of the waits, sorted by length: the shortest path for each source and set of egress
/// ports.
pub(super) fn by_source(device: &Device<'_>, paths: PathSet, waits: &[Wait]) -> Vec<Walk> {
    let locations: BTreeSet<_> = waits.iter().map(location).collect();
    let mut found: BTreeMap<(NodeId, Vec<u32>), Walk> = BTreeMap::new();
    steps(device, paths, &mut |steps| {
        let graph = Graph::new(steps);
        for at in (0..steps.len()).filter(|&at| locations.contains(&location(&steps[at].wait))) {
            let hops = graph.up_to(device, at, MOST_SOURCES);
            for walk in hops.into_iter().filter_map(|hops| graph.complete(device, hops)) {
                let ports = walk.0.iter().map(|step| step.wait.egress).collect();
                found.entry((walk.source(device), ports)).or_insert(walk);
            }
        }
    });
    let mut walks: Vec<Walk> = found.into_values().collect();
    walks.sort_by_key(|walk| walk.0.len());
    walks
}

/// Returns random walks, at most `most` for each set of paths that [`steps`] visits.
pub(super) fn random(device: &Device<'_>, paths: PathSet, most: usize, seed: u64) -> Vec<Walk> {
    let mut stream = Stream::new(seed, 0, purpose("walks of frames"));
    let mut below = |count: usize| stream.below(count as u64) as usize;
    let mut walks = Vec::new();
    steps(device, paths, &mut |steps| {
        let graph = Graph::new(steps);
        let starts: Vec<State> =
            graph.from.keys().filter(|state| device.peer(state.ingress).is_none()).copied().collect();
        for _ in 0..most.min(starts.len()) {
            let mut state = starts[below(starts.len())];
            let mut hops = Vec::new();
            while hops.len() < MOST_HOPS {
                let Some(next) = graph.from.get(&state) else { break };
                let step = steps[next[below(next.len())]];
                hops.push(step);
                let Some(next) = step.next else {
                    let walk = Walk(std::mem::take(&mut hops));
                    if walk.source(device) != walk.sink(device) {
                        walks.push(walk);
                    }
                    break;
                };
                state = next;
            }
        }
    });
    // Shuffled, so that any prefix of the list is a sample of all destinations.
    for at in (1..walks.len()).rev() {
        walks.swap(at, below(at + 1));
    }
    walks
}
