//! Looks at what congestion controls hold, at both ends of each flow.

use crate::node::Machine;
use crate::simulation::Simulation;
use crate::watcher::Watcher;
use units::Time;

impl Simulation {
    /// Tells what the controls of all flows under way hold, by source host and then by flow.
    #[cold]
    pub(crate) fn sample_controls(&self, at: Time, watcher: &mut dyn Watcher) {
        let mut looks = Vec::new();
        for host in self.hosts() {
            looks.clear();
            looks.extend(host.controls(at));
            looks.sort_unstable_by_key(|(_, _, look)| look.flow);
            for (flow, dst, look) in &mut looks {
                if let Machine::Host(receiving) = self.machine(self.network.fabric.host_node(*dst)) {
                    look.delay_ps = receiving.delay_ps(host.index(), *flow);
                }
                watcher.control(look);
            }
        }
    }
}
