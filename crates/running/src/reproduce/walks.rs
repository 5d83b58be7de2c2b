//! Paths of frames from host to host.

use crate::device::Device;
use crate::options::PathSet;
use crate::paths::{State, Step, Wait, steps};
use fabric::NodeId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::random::{Stream, purpose};

/// Longest random path, in switches.
const MOST_HOPS: usize = 16;

/// The hops of frames from the first switch to a host.
#[derive(Clone, Debug)]
pub(super) struct Walk(pub Vec<Step>);

impl Walk {
    /// The sending host.
    pub fn source(&self, device: &Device<'_>) -> NodeId {
        self.0.first().map_or(NodeId(0), |step| device.owner(device.other(step.state.ingress)))
    }

    /// Rate of the link of the sending host, in bits per second.
    pub fn source_rate(&self, device: &Device<'_>) -> u64 {
        self.0.first().map_or(0, |step| super::rate_of(device, step.state.ingress))
    }

    /// The receiving host.
    pub fn sink(&self, device: &Device<'_>) -> NodeId {
        self.0.last().map_or(NodeId(0), |step| device.owner(device.other(step.wait.egress)))
    }

    /// All nodes, hosts included.
    pub fn nodes(&self, device: &Device<'_>) -> Vec<NodeId> {
        let switches = self.0.iter().map(|step| device.owner(step.state.ingress));
        [self.source(device)].into_iter().chain(switches).chain([self.sink(device)]).collect()
    }
}

/// Hops by the state that they start from.
struct Graph<'s> {
    steps: &'s [Step],
    from: BTreeMap<State, Vec<usize>>,
    /// The first hop that leads to a state.
    to: BTreeMap<State, usize>,
}

impl<'s> Graph<'s> {
    fn new(steps: &'s [Step]) -> Graph<'s> {
        let (mut from, mut to): (BTreeMap<State, Vec<usize>>, BTreeMap<State, usize>) = Default::default();
        for (at, step) in steps.iter().enumerate() {
            from.entry(step.state).or_default().push(at);
            if let Some(next) = step.next {
                to.entry(next).or_insert(at);
            }
        }
        Graph { steps, from, to }
    }

    /// Returns the hops from a host to this one, which is the last.
    fn up_to(&self, device: &Device<'_>, last: usize) -> Option<Vec<Step>> {
        let mut hops = VecDeque::from([self.steps[last]]);
        // A state at a host's port is a start.
        while device.peer(hops[0].state.ingress).is_some() {
            let before = self.to.get(&hops[0].state)?;
            hops.push_front(self.steps[*before]);
            if hops.len() > self.steps.len() {
                return None;
            }
        }
        Some(hops.into())
    }

    /// Appends the fewest hops that lead to a host other than the sender.
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

/// Walks compared for each wait and destination.
const MOST_COMPARED: usize = 8;

/// Returns a short path of frames from host to host through each wait; `None` if none was found. Only one predecessor
/// of each state is followed, so that some paths are missed.
pub(super) fn best(device: &Device<'_>, paths: PathSet, waits: &[Wait]) -> Vec<Option<Walk>> {
    let mut found: Vec<Option<Walk>> = vec![None; waits.len()];
    let place = |wait: &Wait| (wait.ingress, wait.group, wait.egress, wait.queue);
    steps(device, paths, &mut |steps| {
        let graph = Graph::new(steps);
        for (wait, known) in waits.iter().zip(&mut found) {
            let arrives = |step: &Step| step.wait.next.map(|next| next.group) == wait.next.map(|next| next.group);
            let hops = (0..steps.len()).filter(|&at| place(&steps[at].wait) == place(wait) && arrives(&steps[at]));
            let walks = hops.filter_map(|at| graph.complete(device, graph.up_to(device, at)?));
            for walk in walks.take(MOST_COMPARED) {
                if known.as_ref().is_none_or(|known| known.0.len() > walk.0.len()) {
                    *known = Some(walk);
                }
            }
        }
    });
    found
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
    // Shuffle, so that a part of them covers all destinations.
    for at in (1..walks.len()).rev() {
        walks.swap(at, below(at + 1));
    }
    walks
}
