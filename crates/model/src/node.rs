//! What the engine runs: a switch or a host.

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
    /// A host that starts nothing, and that nothing has reached yet. Of a large fabric few hosts may take part, and one
    /// that does not costs no more than this. What arrives first wakes it.
    Quiet(NodeId, Arc<Network>),
}

/// Of a node that has counted nothing.
static NOTHING: LazyLock<Ledger> = LazyLock::new(Ledger::default);

impl Machine {
    /// The host `node`, which starts `starts`.
    pub fn host(node: NodeId, network: &Arc<Network>, starts: Starts) -> Machine {
        if starts.is_empty() && Host::may_sleep(node, network) {
            Machine::Quiet(node, Arc::clone(network))
        } else {
            Machine::Host(Box::new(Host::new(node, network, starts)))
        }
    }

    /// A host that is quiet is so no longer.
    #[cold]
    pub fn wake(&mut self) {
        if let Machine::Quiet(node, network) = self {
            *self = Machine::Host(Box::new(Host::new(*node, network, Starts::default())));
        }
    }

    /// What a quiet host does in a window.
    #[cold]
    #[inline(never)]
    fn listen(&mut self, window: &mut Window<'_, OnWire>) -> Time {
        if window.next_arrival() == Time::MAX {
            return Time::MAX;
        }
        self.wake();
        // Not the host's own: of that there is one call, so that it stands where it is called.
        self.run(window)
    }

    pub fn ledger(&self) -> &Ledger {
        self.books().map_or(&NOTHING, |books| &books.ledger)
    }

    /// None of a quiet host.
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

    /// Its ports; none of a quiet host, by whose ports nothing has gone.
    pub fn egress(&self) -> Option<&Egress> {
        match self {
            Machine::Switch(switch) => Some(&switch.core.egress),
            Machine::Host(host) => Some(&host.egress),
            Machine::Quiet(..) => None,
        }
    }
}

impl Node for Machine {
    type Message = OnWire;
    #[inline(always)] // once for every run of a node
    fn run(&mut self, window: &mut Window<'_, OnWire>) -> Time {
        match self {
            Machine::Switch(switch) => switch.run(window),
            Machine::Host(host) => host.run(window),
            Machine::Quiet(..) => self.listen(window),
        }
    }

    fn work(&self) -> u64 {
        // What a frame costs where it comes, and where it is made.
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

    /// A frame on its way to a host wakes it, and nothing else does.
    #[test]
    fn a_host_sleeps_until_something_reaches_it() {
        let links = TierLinks::uniform(LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500)));
        let fabric = fat_tree(4, links).unwrap();
        let hosts: Vec<NodeId> = fabric.hosts().to_vec();
        let mut plan = PlanBuilder::new();
        let pairs = Pairs { pattern: Pattern::Permutation, workload: Workload::Endless };
        traffic::pairs(&pairs, &[3, 9], &Entry::new(1, 0), &mut plan).unwrap();
        let plan = plan.build(hosts.len() as u32).unwrap();
        // Host 9 only listens.
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
