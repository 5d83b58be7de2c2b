//! Pull slots: the times at which receivers may send pulls, shared by all flows that arrive by a port.

use super::Host;
use super::flows::with_ctx;
use super::timers::Event;
use crate::on_wire::OnWire;
use engine::Window;
use protocols::endpoint::Receiver;
use units::Time;

impl Host {
    /// Sends the replies of the receiver in `slot` after an arrival, with a pull if the port's slot is due.
    pub(super) fn reply_and_pull(&mut self, now: Time, slot: u32, window: &mut Window<'_, OnWire>) {
        if !self.scratch.replies.is_empty() && self.pulls_with_acks(slot) {
            self.attach_pull(now, slot);
        }
        if !self.scratch.replies.is_empty() {
            self.send_replies(now, self.reply_to(slot), window);
        }
        self.after_receiver(now, slot, window);
    }

    fn pulls_with_acks(&self, slot: u32) -> bool {
        self.network.transport(self.receivers.flows[slot as usize].traffic).pulls_with_acks()
    }

    /// If the next pull slot is due and belongs to the flow of the pending reply, adds a pull to the reply.
    fn attach_pull(&mut self, now: Time, slot: u32) {
        let incoming = &mut self.receivers.flows[slot as usize];
        let port = usize::from(incoming.port);
        if incoming.receiver.wants() == 0 || !self.receivers.pull_queues[port].pacer.is_slot_of(now, slot) {
            return;
        }
        if std::mem::take(&mut incoming.in_pull_queue) {
            _ = self.receivers.pull_queues[port].pacer.take_slot(now);
        }
        let receiver = &mut incoming.receiver;
        let packets = with_ctx!(self, now, |ctx| receiver.pull(ctx));
        self.receivers.pull_queues[port].pacer.note_pull(now, packets);
    }

    /// Enters the flow in `slot` into the pull queue after an arrival, if it needs packets.
    fn after_receiver(&mut self, now: Time, slot: u32, window: &mut Window<'_, OnWire>) {
        if self.receivers.pull_queues.is_empty() {
            return; // hosts without a receiver-driven transport also receive trimmed headers
        }
        let incoming = &mut self.receivers.flows[slot as usize];
        let port = incoming.port;
        if !incoming.in_pull_queue && incoming.receiver.wants() > 0 {
            incoming.in_pull_queue = true;
            self.receivers.pull_queues[usize::from(port)].pacer.enter(slot);
        }
        self.pull(now, port, window);
    }

    /// Sends the pulls of `port` for all slots that are due.
    pub(super) fn pull(&mut self, now: Time, port: u16, window: &mut Window<'_, OnWire>) {
        let index = usize::from(port);
        while let Some(slot) = self.receivers.pull_queues[index].pacer.take_slot(now) {
            let incoming = &mut self.receivers.flows[slot as usize];
            incoming.in_pull_queue = false;
            let receiver = &mut incoming.receiver;
            let (packets, wants) = with_ctx!(self, now, |ctx| (receiver.pull(ctx), receiver.wants()));
            let pulls = &mut self.receivers.pull_queues[index];
            if packets > 0 {
                pulls.pacer.note_pull(now, packets);
            }
            if wants > 0 {
                pulls.pacer.enter(slot);
                self.receivers.flows[slot as usize].in_pull_queue = true;
            }
            if packets > 0 {
                self.send_replies(now, self.reply_to(slot), window);
            }
        }
        let pulls = &mut self.receivers.pull_queues[index];
        let next = pulls.pacer.next_slot();
        if next < pulls.armed {
            pulls.armed = next;
            self.schedule(next, Event::Pull(port));
        }
    }

    pub(super) fn on_pull_slot(&mut self, now: Time, port: u16, window: &mut Window<'_, OnWire>) {
        let pulls = &mut self.receivers.pull_queues[usize::from(port)];
        if pulls.armed == now {
            pulls.armed = Time::MAX;
        }
        self.pull(now, port, window);
    }
}

#[cfg(test)]
mod tests {
    use crate::faults::bench::{flow, link, plan, setup, transport};
    use crate::faults::trimming;
    use crate::node::SimulatedNode;
    use crate::simulation::Simulation;
    use crate::watcher::NullWatcher;
    use fabric::generate::{bcube, single_switch};
    use traffic::{Flow, Start};
    use units::Time;
    use units::random::Stream;

    /// Flows start while others end, so that new receivers reuse the slots of completed flows. Each flow that needs
    /// packets must be in the pull queue of its own port, once, and no other flow may be.
    #[test]
    fn rounds_hold_the_flows_that_want_packets() {
        let (mut seen, mut random) = (0, Stream::new(9, 0, 0));
        for round in 0..20u64 {
            let fabric = if round % 2 == 0 {
                single_switch(8, link(10, 500)).unwrap()
            } else {
                bcube(2, 2, link(10, 500)).unwrap()
            };
            let hosts = fabric.hosts().len() as u64;
            let flows: Vec<Flow> = (0..60)
                .map(|_| {
                    let dst = random.below(2);
                    let src = (dst + 1 + random.below(hosts - 1)) % hosts;
                    let start = Start::At(Time::from_ns(random.below(300_000)));
                    Flow { start, ..flow(src as u32, dst as u32, 1 + random.below(40_000)) }
                })
                .collect();
            let mut setup = setup(fabric, plan(hosts as u32, flows));
            setup.host.transport = transport("ndp", &[("initial_window", ["2", "12"][random.below(2) as usize])]);
            setup.switch.buffer = crate::faults::packets(8);
            setup.switch.overload = trimming(None).switch.overload;
            let mut simulation = Simulation::new(setup).unwrap();
            for step in 1..=400 {
                simulation.run_until(Time::from_us(step), &mut NullWatcher);
                for index in 0..simulation.engine.len() {
                    let SimulatedNode::Host(host) = simulation.engine.node(index) else { continue };
                    for (port, pulls) in (0u16..).zip(&host.receivers.pull_queues) {
                        let mut found: Vec<u32> = pulls.pacer.flows().collect();
                        let flows = (0u32..).zip(&host.receivers.flows);
                        let wants = flows.filter(|(_, flow)| flow.in_pull_queue && flow.active && flow.port == port);
                        let expected: Vec<u32> = wants.map(|(slot, _)| slot).collect();
                        found.sort_unstable();
                        assert_eq!(found, expected, "round {round}, {step} us, port {port}");
                        seen += expected.len();
                    }
                }
            }
        }
        assert!(seen > 10_000, "{seen}");
    }
}
