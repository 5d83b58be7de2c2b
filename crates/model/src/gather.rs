//! Collective operations over ranks: small values of nodes are gathered at rank 0.
//!
//! ```text
//!   rank 0:  value of node 3, value of node 8 ---+
//!   rank 1:  value of node 1, value of node 9 ---+--> rank 0: values of nodes 1, 3, 8, 9
//! ```
//!
//! Rank 0 writes the results; the other ranks get empty collections. If a decision depends on values, all ranks get
//! them. All ranks must make the calls in one order, so a call must never depend on data of a single rank. A single
//! process iterates over its nodes without copying.

use crate::host::Host;
use crate::node::Machine;
use crate::simulation::Simulation;
use crate::switch::Switch;
use engine::ranks::{Ranks, others};
use fabric::NodeId;
use std::panic::Location;
use std::sync::Arc;
use units::pack::{Pack, packed, unpacked};

/// The group of ranks of a simulation.
pub(crate) struct Company(pub Arc<dyn Ranks>);

/// First byte of each message, followed by the line of its call, to detect ranks that are out of step.
const GATHERING: u8 = b'g';

impl Company {
    /// Exchanges `own`: sends it to the ranks in `to`, receives from those in `from`. Returns the values by rank,
    /// including this rank's.
    fn bring<T: Pack>(&self, own: T, to: &[usize], from: &[usize], asked: &'static Location<'static>) -> Vec<T> {
        let (rank, count) = (self.0.rank(), self.0.count());
        let mark = packed(&(GATHERING, asked.line()));
        let mut letters: Vec<Vec<u8>> = vec![Vec::new(); count];
        if !to.is_empty() {
            let letter = [&mark[..], &packed(&own)].concat();
            to.iter().for_each(|&other| letters[other].clone_from(&letter));
        }
        self.0.exchange(&mut letters, to, from);
        let read = |other: usize| {
            let content = letters[other].strip_prefix(&mark[..]).and_then(unpacked);
            content.unwrap_or_else(|| {
                panic!("ranks {rank} and {other} are out of step at {}:{}", asked.file(), asked.line())
            })
        };
        let mut brought: Vec<(usize, T)> = from.iter().map(|&other| (other, read(other))).collect();
        brought.push((rank, own));
        brought.sort_unstable_by_key(|&(rank, _)| rank);
        brought.into_iter().map(|(_, value)| value).collect()
    }
}

/// Values of nodes, in order of nodes.
pub(crate) enum OfNodes<I, T> {
    /// Values of a single process, computed lazily.
    Here(I),
    /// Values gathered from all ranks.
    Brought(std::vec::IntoIter<(NodeId, T)>),
}

impl<T, I: Iterator<Item = (NodeId, T)>> Iterator for OfNodes<I, T> {
    type Item = (NodeId, T);
    fn next(&mut self) -> Option<(NodeId, T)> {
        match self {
            OfNodes::Here(values) => values.next(),
            OfNodes::Brought(values) => values.next(),
        }
    }
}

impl Simulation {
    /// Returns whether this process writes results: a single process or rank 0.
    pub fn leads(&self) -> bool {
        self.company.as_ref().is_none_or(|company| company.0.rank() == 0)
    }

    /// Gathers numbers of all ranks, by rank, at rank 0. Other ranks get nothing. All ranks must call it.
    pub fn numbers_of_ranks(&self, own: Vec<u64>) -> Vec<Vec<u64>> {
        self.parts(own)
    }

    /// Gathers `own` of all ranks, by rank, at rank 0. Other ranks get nothing.
    #[track_caller]
    pub(crate) fn parts<T: Pack>(&self, own: T) -> Vec<T> {
        match &self.company {
            None => vec![own],
            Some(company) if company.0.rank() == 0 => company.bring(own, &[], &others(&*company.0), Location::caller()),
            Some(company) => {
                company.bring(own, &[0], &[], Location::caller());
                Vec::new()
            }
        }
    }

    /// Gathers `own` of all ranks, by rank, at all ranks.
    #[track_caller]
    pub(crate) fn everywhere<T: Pack>(&self, own: T) -> Vec<T> {
        match &self.company {
            None => vec![own],
            Some(company) => {
                let others = others(&*company.0);
                company.bring(own, &others, &others, Location::caller())
            }
        }
    }

    /// Broadcasts the value of rank 0.
    #[track_caller]
    pub(crate) fn as_the_first(&self, own: bool) -> bool {
        match &self.company {
            None => own,
            Some(company) if company.0.rank() == 0 => {
                company.bring(own, &others(&*company.0), &[], Location::caller());
                own
            }
            Some(company) => company.bring(own, &[], &[0], Location::caller())[0],
        }
    }

    /// Queries nodes of any rank. Returns `answer` for each of `questions` (node, argument), in order.
    #[track_caller]
    pub(crate) fn ask<Q: Pack, A: Pack>(
        &self,
        questions: Vec<(u32, Q)>,
        answer: impl Fn(&Machine, &Q) -> A,
    ) -> Vec<Option<A>> {
        let at = |node: u32, question: &Q| self.machine(NodeId(node)).map(|machine| answer(machine, question));
        let Some(company) = &self.company else {
            return questions.iter().map(|(node, question)| at(*node, question)).collect();
        };
        let count = questions.len();
        let all = self.everywhere(questions);
        let answers: Vec<Vec<Option<A>>> =
            all.iter().map(|asked| asked.iter().map(|(node, question)| at(*node, question)).collect()).collect();
        let rank = company.0.rank();
        let mut known: Vec<Option<A>> = (0..count).map(|_| None).collect();
        for mut brought in self.everywhere(answers) {
            let own = std::mem::take(&mut brought[rank]);
            for (place, answer) in known.iter_mut().zip(own).filter(|(_, answer)| answer.is_some()) {
                *place = answer;
            }
        }
        known
    }

    #[track_caller]
    fn of_nodes<T: Pack, I: Iterator<Item = (NodeId, T)>>(&self, values: I) -> OfNodes<I, T> {
        if self.company.is_none() {
            return OfNodes::Here(values);
        }
        let own: Vec<(u32, T)> = values.map(|(node, value)| (node.0, value)).collect();
        let mut all: Vec<(NodeId, T)> =
            self.parts(own).into_iter().flatten().map(|(node, value)| (NodeId(node), value)).collect();
        all.sort_by_key(|&(node, _)| node);
        OfNodes::Brought(all.into_iter())
    }

    /// Returns the results of `look` for the nodes of all ranks, in order of nodes.
    #[track_caller]
    pub(crate) fn of_machines<'a, T: Pack + 'a>(
        &'a self,
        look: impl Fn(&'a Machine) -> Option<T> + 'a,
    ) -> impl Iterator<Item = (NodeId, T)> + 'a {
        let nodes = self.network.fabric.node_ids();
        self.of_nodes(nodes.filter_map(move |node| Some((node, look(self.machine(node)?)?))))
    }

    /// Like [`Simulation::of_machines`], for switches.
    #[track_caller]
    pub(crate) fn of_switches<'a, T: Pack + 'a>(
        &'a self,
        look: impl Fn(&'a Switch) -> Option<T> + 'a,
    ) -> impl Iterator<Item = (NodeId, T)> + 'a {
        self.of_machines(move |machine| if let Machine::Switch(switch) = machine { look(switch) } else { None })
    }

    /// Like [`Simulation::of_machines`], for hosts.
    #[track_caller]
    pub(crate) fn of_hosts<'a, T: Pack + 'a>(
        &'a self,
        look: impl Fn(&'a Host) -> Option<T> + 'a,
    ) -> impl Iterator<Item = (NodeId, T)> + 'a {
        self.of_machines(move |machine| if let Machine::Host(host) = machine { look(host) } else { None })
    }
}
