//! Projected distribution of the work of a run over any number of threads, also more than the machine has.

use crate::simulation::Simulation;
use engine::Node;
use fabric::NodeId;

/// Projected work of a number of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkProjection {
    /// Arrived frames at the nodes of each thread since the start.
    pub hops: Vec<u64>,
    /// `hops` plus frames sent by hosts of each thread. Nodes are partitioned by this measure.
    pub work: Vec<u64>,
    /// Frames transmitted on links since the start.
    pub frames: u64,
    /// Number of these frames on links between nodes of different threads.
    pub crossing: u64,
}

impl Simulation {
    /// Returns the distribution of this process's work so far over `threads` threads, at least one.
    pub fn split(&self, threads: usize) -> WorkProjection {
        let part_of = self.engine.part_of(threads);
        let part = |node: NodeId| usize::from(part_of[self.placement.engine_index[node.index()] as usize]);
        let parts = part_of.iter().max().map_or(0, |&last| usize::from(last) + 1);
        let mut split = WorkProjection { hops: vec![0; parts], work: vec![0; parts], frames: 0, crossing: 0 };
        for node in self.network.fabric.node_ids() {
            let Some(machine) = self.machine(node) else { continue };
            split.hops[part(node)] += machine.counters().hops;
            split.work[part(node)] += machine.work();
            let cells = machine.egress().into_iter().flat_map(|egress| &egress.cells);
            for (peer, cell) in self.network.fabric.ports(node).iter().zip(cells) {
                split.frames += cell.sent_frames;
                split.crossing += if part(peer.peer) == part(node) { 0 } else { cell.sent_frames };
            }
        }
        split
    }

    /// Returns the number of windows so far. It does not depend on the number of threads.
    pub fn windows(&self) -> u64 {
        self.engine.statistics().windows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NullWatcher;
    use crate::parameters::Setup;
    use fabric::LinkSpec;
    use fabric::generate::{TierLinks, fat_tree};
    use traffic::{Entry, Pairs, Pattern, PlanBuilder, Workload};
    use units::{Rate, Time};

    #[test]
    fn the_work_of_all_threads_equals_that_of_one() {
        let fabric = fat_tree(4, TierLinks::uniform(LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500)))).unwrap();
        let hosts: Vec<u32> = (0..fabric.hosts().len() as u32).collect();
        let mut plan = PlanBuilder::new();
        let pairs = Pairs { pattern: Pattern::Permutation, workload: Workload::Endless };
        traffic::pairs(&pairs, &hosts, &Entry::new(1, 0), &mut plan).unwrap();
        let plan = plan.build(hosts.len() as u32).unwrap();
        let duration = Time::from_us(30);
        let setup = Setup { duration, measure_end: duration, ..Setup::new(fabric, plan).unwrap() };
        let mut simulation = Simulation::new(setup).unwrap();
        simulation.run(&mut NullWatcher);
        let one = simulation.split(1);
        assert_eq!((one.hops.len(), one.crossing), (1, 0));
        let mut before = 0;
        for threads in [2, 4, 8] {
            let split = simulation.split(threads);
            assert_eq!((split.hops.len(), split.hops.iter().sum(), split.frames), (threads, one.hops[0], one.frames));
            assert!(split.crossing > before && split.crossing < split.frames, "{split:?}");
            before = split.crossing;
        }
        // `frames` exceeds `hops` only by the frames in flight, which have not arrived yet.
        assert!(one.frames >= one.hops[0] && one.frames < one.hops[0] + 1_000, "{one:?}");
        assert!(simulation.windows() >= 50);
    }

    #[test]
    fn nodes_are_divided_by_their_work() {
        let fabric = fat_tree(4, TierLinks::uniform(LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500)))).unwrap();
        let mut plan = PlanBuilder::new();
        let pairs = Pairs { pattern: Pattern::Permutation, workload: Workload::Endless };
        // Only hosts 0 to 7, in two of four pods, send.
        traffic::pairs(&pairs, &(0..8).collect::<Vec<u32>>(), &Entry::new(1, 0), &mut plan).unwrap();
        let plan = plan.build(fabric.hosts().len() as u32).unwrap();
        let duration = Time::from_us(30);
        let setup = Setup { duration, measure_end: duration, ..Setup::new(fabric, plan).unwrap() };
        let mut simulation = Simulation::new(setup).unwrap();
        simulation.run(&mut NullWatcher);
        let most = |simulation: &Simulation| simulation.split(2).work.into_iter().max().unwrap();
        let (all, by_wires) = (simulation.split(1).work[0], most(&simulation));
        simulation.repartition_by_work();
        let by_work = most(&simulation);
        assert!(by_wires > all * 4 / 5 && by_work < all * 3 / 5, "{by_wires} and {by_work} of {all}");
    }
}
