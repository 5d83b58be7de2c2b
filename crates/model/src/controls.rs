//! Samples the state of congestion control at the sender and the receiver of each flow.

use crate::node::SimulatedNode;
use crate::simulation::Simulation;
use crate::watcher::Watcher;
use stats::control::ControlSample;
use units::Time;

impl Simulation {
    /// Reports the control state of all flows in progress, by source host, then by flow.
    #[cold]
    pub(crate) fn sample_controls(&self, at: Time, watcher: &mut dyn Watcher) {
        // Receivers measure the delay. A receiver may belong to another rank, so its value needs a query.
        let fabric = &self.network.fabric;
        let (mut own, mut questions) = (Vec::new(), Vec::new());
        for host in self.hosts() {
            let src = fabric.host_index(host.identity.node).unwrap_or_default();
            let mut samples: Vec<(u32, u32, ControlSample)> = host.controls(at).collect();
            samples.sort_unstable_by_key(|(_, _, sample)| sample.flow);
            questions.extend(samples.iter().map(|&(flow, dst, _)| (fabric.host_node(dst).0, (src, flow))));
            own.push((host.identity.node.0, samples.into_iter().map(|(_, _, sample)| sample).collect::<Vec<_>>()));
        }
        let delays = self.query_nodes(questions, |machine, &(src, flow): &(u32, u32)| match machine {
            SimulatedNode::Host(receiving) => receiving.delay_ps(src, flow),
            SimulatedNode::Switch(_) | SimulatedNode::Dormant(..) => None,
        });
        for (sample, delay_ps) in own.iter_mut().flat_map(|(_, samples)| samples).zip(delays) {
            sample.delay_ps = delay_ps.flatten();
        }
        let mut all: Vec<(u32, Vec<ControlSample>)> = self.gather(own).into_iter().flatten().collect();
        all.sort_by_key(|host| host.0);
        all.iter().flat_map(|(_, samples)| samples).for_each(|sample| watcher.control(sample));
    }
}
