//! Collective operations over ranks (gather, all-gather, broadcast) for small values of nodes.
//!
//! ```text
//!   rank 0:  value of node 3, value of node 8 ---+
//!   rank 1:  value of node 1, value of node 9 ---+--> rank 0: values of nodes 1, 3, 8, 9
//! ```
//!
//! Rank 0 writes the results, so a gather returns an empty collection at the other ranks. If a decision depends on the
//! values, an all-gather returns them at all ranks. All ranks must make the same calls in the same order, so a call
//! must never depend on data of a single rank. A single process iterates over its nodes without copying.

use crate::host::Host;
use crate::node::SimulatedNode;
use crate::simulation::Simulation;
use crate::switch::Switch;
use engine::ranks::{Ranks, others};
use fabric::NodeId;
use std::panic::Location;
use std::sync::Arc;
use units::pack::{Pack, packed, unpacked};

/// The group of ranks of a simulation.
pub(crate) struct RankGroup(pub Arc<dyn Ranks>);

/// First byte of each message. The source line of the call follows, to detect ranks that make different calls.
const GATHERING: u8 = b'g';

impl RankGroup {
    /// Sends `own` to the ranks in `to` and receives values from the ranks in `from`. Returns the received values and
    /// `own`, by rank.
    fn exchange<T: Pack>(&self, own: T, to: &[usize], from: &[usize], caller: &'static Location<'static>) -> Vec<T> {
        let (rank, count) = (self.0.rank(), self.0.count());
        let mark = packed(&(GATHERING, caller.line()));
        let mut batches: Vec<Vec<u8>> = vec![Vec::new(); count];
        if !to.is_empty() {
            let batch = [&mark[..], &packed(&own)].concat();
            to.iter().for_each(|&other| batches[other].clone_from(&batch));
        }
        self.0.exchange(&mut batches, to, from);
        let read = |other: usize| {
            let content = batches[other].strip_prefix(&mark[..]).and_then(unpacked);
            content.unwrap_or_else(|| {
                panic!("ranks {rank} and {other} are out of step at {}:{}", caller.file(), caller.line())
            })
        };
        let mut gathered: Vec<(usize, T)> = from.iter().map(|&other| (other, read(other))).collect();
        gathered.push((rank, own));
        gathered.sort_unstable_by_key(|&(rank, _)| rank);
        gathered.into_iter().map(|(_, value)| value).collect()
    }
}

/// Values of nodes, in order of nodes.
pub(crate) enum NodeValues<I, T> {
    /// Values of a single process, computed lazily.
    Local(I),
    /// Values gathered from all ranks.
    Gathered(std::vec::IntoIter<(NodeId, T)>),
}

impl<T, I: Iterator<Item = (NodeId, T)>> Iterator for NodeValues<I, T> {
    type Item = (NodeId, T);
    fn next(&mut self) -> Option<(NodeId, T)> {
        match self {
            NodeValues::Local(values) => values.next(),
            NodeValues::Gathered(values) => values.next(),
        }
    }
}

impl Simulation {
    /// Returns whether this process writes results: a single process or rank 0.
    pub fn is_root(&self) -> bool {
        self.placement.rank_group.as_ref().is_none_or(|group| group.0.rank() == 0)
    }

    /// Gathers numbers of all ranks, by rank, at rank 0. Returns an empty list at other ranks. All ranks must call it.
    pub fn gather_numbers(&self, own: Vec<u64>) -> Vec<Vec<u64>> {
        self.gather(own)
    }

    /// Gathers `own` of all ranks, by rank, at rank 0. Returns an empty list at other ranks.
    #[track_caller]
    pub(crate) fn gather<T: Pack>(&self, own: T) -> Vec<T> {
        match &self.placement.rank_group {
            None => vec![own],
            Some(group) if group.0.rank() == 0 => group.exchange(own, &[], &others(&*group.0), Location::caller()),
            Some(group) => {
                group.exchange(own, &[0], &[], Location::caller());
                Vec::new()
            }
        }
    }

    /// Gathers `own` of all ranks, by rank, at all ranks.
    #[track_caller]
    pub(crate) fn all_gather<T: Pack>(&self, own: T) -> Vec<T> {
        match &self.placement.rank_group {
            None => vec![own],
            Some(group) => {
                let others = others(&*group.0);
                group.exchange(own, &others, &others, Location::caller())
            }
        }
    }

    /// Broadcasts the value of rank 0.
    #[track_caller]
    pub(crate) fn broadcast(&self, own: bool) -> bool {
        match &self.placement.rank_group {
            None => own,
            Some(group) if group.0.rank() == 0 => {
                group.exchange(own, &others(&*group.0), &[], Location::caller());
                own
            }
            Some(group) => group.exchange(own, &[], &[0], Location::caller())[0],
        }
    }

    /// Queries nodes of any rank. Returns `answer` for each of `questions` (node, argument), in order.
    #[track_caller]
    pub(crate) fn query_nodes<Q: Pack, A: Pack>(
        &self,
        questions: Vec<(u32, Q)>,
        answer: impl Fn(&SimulatedNode, &Q) -> A,
    ) -> Vec<Option<A>> {
        let at = |node: u32, question: &Q| self.machine(NodeId(node)).map(|machine| answer(machine, question));
        let Some(group) = &self.placement.rank_group else {
            return questions.iter().map(|(node, question)| at(*node, question)).collect();
        };
        let count = questions.len();
        let all = self.all_gather(questions);
        let answers: Vec<Vec<Option<A>>> =
            all.iter().map(|caller| caller.iter().map(|(node, question)| at(*node, question)).collect()).collect();
        let rank = group.0.rank();
        let mut known: Vec<Option<A>> = (0..count).map(|_| None).collect();
        for mut gathered in self.all_gather(answers) {
            let own = std::mem::take(&mut gathered[rank]);
            for (slot, answer) in known.iter_mut().zip(own).filter(|(_, answer)| answer.is_some()) {
                *slot = answer;
            }
        }
        known
    }

    #[track_caller]
    fn of_nodes<T: Pack, I: Iterator<Item = (NodeId, T)>>(&self, values: I) -> NodeValues<I, T> {
        if self.placement.rank_group.is_none() {
            return NodeValues::Local(values);
        }
        let own: Vec<(u32, T)> = values.map(|(node, value)| (node.0, value)).collect();
        let mut all: Vec<(NodeId, T)> =
            self.gather(own).into_iter().flatten().map(|(node, value)| (NodeId(node), value)).collect();
        all.sort_by_key(|&(node, _)| node);
        NodeValues::Gathered(all.into_iter())
    }

    /// Returns the results of `value` for the nodes of all ranks, in order of nodes.
    #[track_caller]
    pub(crate) fn map_machines<'a, T: Pack + 'a>(
        &'a self,
        value: impl Fn(&'a SimulatedNode) -> Option<T> + 'a,
    ) -> impl Iterator<Item = (NodeId, T)> + 'a {
        let nodes = self.network.fabric.node_ids();
        self.of_nodes(nodes.filter_map(move |node| Some((node, value(self.machine(node)?)?))))
    }

    /// Like [`Simulation::map_machines`], for switches.
    #[track_caller]
    pub(crate) fn map_switches<'a, T: Pack + 'a>(
        &'a self,
        value: impl Fn(&'a Switch) -> Option<T> + 'a,
    ) -> impl Iterator<Item = (NodeId, T)> + 'a {
        self.map_machines(move |machine| if let SimulatedNode::Switch(switch) = machine { value(switch) } else { None })
    }

    /// Like [`Simulation::map_machines`], for hosts.
    #[track_caller]
    pub(crate) fn map_hosts<'a, T: Pack + 'a>(
        &'a self,
        value: impl Fn(&'a Host) -> Option<T> + 'a,
    ) -> impl Iterator<Item = (NodeId, T)> + 'a {
        self.map_machines(move |machine| if let SimulatedNode::Host(host) = machine { value(host) } else { None })
    }
}
