//! Node of the engine: a switch or a host.

use crate::account::Ledger;
use crate::books::Books;
use crate::egress::Egress;
use crate::host::{Host, Starts};
use crate::network::Network;
use crate::on_wire::OnWire;
use crate::switch::Switch;
use engine::{Node, Window};
use fabric::NodeId;
use std::sync::{Arc, LazyLock};
use units::Time;

/// A node of the fabric.
#[derive(Debug)]
pub(crate) enum Machine {
    Switch(Box<Switch>),
    Host(Box<Host>),
    /// A host that starts no flow and has received nothing. Large fabrics may have few active hosts, so idle ones take
    /// no memory beyond this. The first arrival creates the host.
    Quiet(NodeId, Arc<Network>),
}

/// Ledger of a node without counts.
static NOTHING: LazyLock<Ledger> = LazyLock::new(Ledger::default);

impl Machine {
    /// Creates the host `node`, which starts `starts`.
    pub fn host(node: NodeId, network: &Arc<Network>, starts: Starts) -> Machine {
        if starts.is_empty() && Host::may_sleep(node, network) {
            Machine::Quiet(node, Arc::clone(network))
        } else {
            Machine::Host(Box::new(Host::new(node, network, starts)))
        }
    }

    /// Turns a quiet host into a full one.
    #[cold]
    pub fn wake(&mut self) {
        if let Machine::Quiet(node, network) = self {
            *self = Machine::Host(Box::new(Host::new(*node, network, Starts::default())));
        }
    }

    /// Runs a window of a quiet host.
    #[cold]
    #[inline(never)]
    fn listen(&mut self, window: &mut Window<'_, OnWire>) -> Time {
        if window.next_arrival() == Time::MAX {
            return Time::MAX;
        }
        self.wake();
        // Not `host.run`: a single call site of it is inlined in `run`.
        self.run(window)
    }

    pub fn ledger(&self) -> &Ledger {
        self.books().map_or(&NOTHING, |books| &books.ledger)
    }

    /// Returns the records of a node, or `None` for a quiet host.
    pub fn books(&self) -> Option<&Books> {
        match self {
            Machine::Switch(switch) => Some(&switch.core.books),
            Machine::Host(host) => Some(&host.books),
            Machine::Quiet(..) => None,
        }
    }

    /// See [`Machine::books`].
    pub fn books_mut(&mut self) -> Option<&mut Books> {
        match self {
            Machine::Switch(switch) => Some(&mut switch.core.books),
            Machine::Host(host) => Some(&mut host.books),
            Machine::Quiet(..) => None,
        }
    }

    /// Returns the ports, or `None` for a quiet host, which has sent nothing.
    pub fn egress(&self) -> Option<&Egress> {
        match self {
            Machine::Switch(switch) => Some(&switch.core.egress),
            Machine::Host(host) => Some(&host.egress),
            Machine::Quiet(..) => None,
        }
    }
}

impl Node for Machine {
    // `turns` is the prefetch distance in nodes: 3 fetches the node itself, 2 and 1 the data that it points to.
    type Message = OnWire;
    #[inline(always)] // called for each run of a node
    fn run(&mut self, window: &mut Window<'_, OnWire>) -> Time {
        match self {
            Machine::Switch(switch) => switch.run(window),
            Machine::Host(host) => host.run(window),
            Machine::Quiet(..) => self.listen(window),
        }
    }

    fn work(&self) -> u64 {
        // Cost is one unit per frame handled at arrival and per frame generated.
        let ledger = self.ledger();
        ledger.hops + ledger.packets.injected.frames
    }

    fn prefetch(&self, turns: usize) {
        match (self, turns) {
            (Machine::Switch(switch), 3) => engine::prefetch(&**switch),
            (Machine::Switch(switch), turns) => switch.prefetch(turns),
            (Machine::Host(host), 3) => engine::prefetch(&**host),
            (Machine::Host(host), turns) => host.prefetch(turns),
            (Machine::Quiet(..), _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unwatched;
    use crate::parameters::Setup;
    use crate::simulation::Simulation;
    use fabric::LinkSpec;
    use fabric::generate::{TierLinks, fat_tree};
    use traffic::{Entry, Pairs, Pattern, PlanBuilder, Workload};
    use units::Rate;

    /// Only a frame for a host wakes it.
    #[test]
    fn a_host_sleeps_until_something_reaches_it() {
        let links = TierLinks::uniform(LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500)));
        let fabric = fat_tree(4, links).unwrap();
        let hosts: Vec<NodeId> = fabric.hosts().to_vec();
        let mut plan = PlanBuilder::new();
        let pairs = Pairs { pattern: Pattern::Permutation, workload: Workload::Endless };
        traffic::pairs(&pairs, &[3, 9], &Entry::new(1, 0), &mut plan).unwrap();
        let plan = plan.build(hosts.len() as u32).unwrap();
        // Host 9 only receives.
        let plan = traffic::Plan { flows: plan.flows.into_iter().filter(|flow| flow.src == 3).collect(), ..plan };
        let setup = Setup { duration: Time::from_us(20), ..Setup::new(fabric, plan).unwrap() };
        let mut simulation = Simulation::new(setup).unwrap();
        let awake = |simulation: &Simulation| -> Vec<usize> {
            let is_awake = |&host: &usize| matches!(simulation.machine(hosts[host]), Some(Machine::Host(_)));
            (0..hosts.len()).filter(is_awake).collect()
        };
        assert_eq!(awake(&simulation), [3]);
        simulation.run_until(Time::from_us(2), &mut Unwatched);
        assert_eq!(awake(&simulation), [3], "six links of 500 ns take longer");
        simulation.run(&mut Unwatched);
        assert_eq!(awake(&simulation), [3, 9]);
        assert!(simulation.finish(&mut Unwatched, false).packets.delivered_whole > 100);
    }

    #[test]
    fn a_quiet_host_is_no_larger_than_a_pointer_and_what_it_points_to() {
        assert_eq!(size_of::<Machine>(), 16);
    }
}
