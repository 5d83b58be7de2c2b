//! Skipped polls of blocked senders.
//!
//! A flow that has just sent stays in the ready ring and is polled when the wire becomes free, because an arrival may
//! unblock it until then. If no other frame waits for the wire, and the flow is blocked, that poll only makes the flow
//! idle. So the host skips the poll:
//!
//! ```text
//!   a flow becomes blocked              it stays in the ready ring, and the port is not scheduled
//!   next event, before wire is free     the port is scheduled as usual
//!   next event, when wire is free       the poll is applied: the flow leaves the ready ring
//! ```
//!
//! The results equal those of a run with all polls.

use super::Host;
use super::flows::{FlowSource, FlowState};
use protocols::endpoint::Sender;
use units::Time;

/// The skipped poll of a blocked flow, if any.
#[derive(Debug)]
pub(super) struct SkippedPoll {
    /// Time of the poll; [`Time::MAX`] if none is skipped.
    poll_at: Time,
    /// Disables skipping, for tests.
    #[cfg(test)]
    disabled: bool,
}

impl Default for SkippedPoll {
    fn default() -> Self {
        SkippedPoll {
            poll_at: Time::MAX,
            #[cfg(test)]
            disabled: false,
        }
    }
}

impl Host {
    /// Skips the next poll of `port`, on which a flow has just become blocked, if no other frame or flow waits.
    #[inline(never)]
    pub(super) fn skip_poll(&mut self, port: u16) {
        #[cfg(test)]
        if self.senders.skipped_poll.disabled {
            return;
        }
        let Host { egress, port_queues, senders, network, .. } = self;
        let ([cell], [queues]) = (&*egress.cells, &**port_queues) else { return };
        if !cell.waiting.is_power_of_two()
            || cell.block_reasons != 0
            || !egress.is_strict()
            || self.flow_blocks.is_some()
        {
            return;
        }
        let class_queues = &queues.classes[usize::from(network.class_slot[cell.waiting.trailing_zeros() as usize])];
        // The only entry of the ready ring is the flow that has just sent.
        if class_queues.ready.len() == 1 && class_queues.frames.is_empty() && queues.paced.first().is_none() {
            senders.skipped_poll.poll_at = egress.next_service(port);
        }
    }

    /// Returns the next service time of `port` after a transmission started: the end of the frame, if others wait and
    /// the poll is not skipped.
    #[inline]
    pub(super) fn next_service(&self, port: u16) -> Time {
        if self.senders.skipped_poll.poll_at == Time::MAX { self.egress.next_service(port) } else { Time::MAX }
    }

    /// Ends a skipped poll. Must be called before any event is handled, at `now`.
    #[inline(always)] // hot: runs several times per run of a host
    pub(super) fn resume_poll(&mut self, now: Time) {
        if self.senders.skipped_poll.poll_at != Time::MAX {
            self.end_skip(now);
        }
    }

    #[inline(never)]
    fn end_skip(&mut self, now: Time) {
        let Host { egress, port_queues, senders, network, .. } = self;
        let poll_at = std::mem::replace(&mut senders.skipped_poll.poll_at, Time::MAX);
        let (cell, queues) = (egress.cell_mut(0), &mut port_queues[0]);
        let class_queues =
            &mut queues.classes[usize::from(network.class_slot[cell.waiting.trailing_zeros() as usize & 7])];
        // Frames or flows that joined the queues at the instant of the transmission also require the poll, so the port
        // is scheduled.
        let alone = cell.waiting.is_power_of_two() && class_queues.ready.len() == 1 && class_queues.frames.is_empty();
        if now < poll_at || !alone || queues.paced.first().is_some() {
            debug_assert!(now <= poll_at, "a required poll was skipped");
            return egress.due.set(0, poll_at);
        }
        cell.waiting = 0;
        if let Some((slot, _)) = class_queues.ready.pop() {
            let flow = &mut senders.flows[slot as usize];
            debug_assert!(matches!(&flow.source, FlowSource::Transport(sender) if sender.waits()));
            flow.state = FlowState::Idle;
        }
    }

    /// Returns whether the idle flow in `slot` would be polled now without sending a frame.
    #[inline]
    pub(super) fn poll_would_block(&self, now: Time, slot: u32) -> bool {
        let flow = &self.senders.flows[slot as usize];
        if !matches!(&flow.source, FlowSource::Transport(sender) if sender.waits()) {
            return false;
        }
        #[cfg(test)]
        if self.senders.skipped_poll.disabled {
            return false;
        }
        self.can_bypass_queues(now, flow.port)
    }
}

#[cfg(test)]
mod tests {
    use crate::faults::bench::{Results, flow, link, pause, plan, setup, transport};
    use crate::faults::{packets, shared, trimming};
    use crate::node::SimulatedNode;
    use crate::parameters::{FlowControl, Scheduler, Setup, Spread};
    use crate::simulation::Simulation;
    use fabric::generate::{TierLinks, leaf_spine};
    use traffic::{Flow, Start};
    use units::Time;
    use units::random::Stream;

    /// Returns the complete output of a run, and the number of node runs.
    fn run(setup: Setup, restless: bool) -> (Results, u64) {
        let mut simulation = Simulation::new(setup).unwrap();
        for index in 0..simulation.engine.len() {
            let machine = simulation.engine.node_mut(index);
            machine.activate();
            if let SimulatedNode::Host(host) = machine {
                host.senders.skipped_poll.disabled = restless;
            }
        }
        let mut found = Results::default();
        assert!(simulation.run(&mut found));
        let runs = simulation.engine.statistics().runs;
        found.summary = simulation.finish(&mut found, false);
        (found, runs)
    }

    /// Returns 1 to 14 random flows between eight hosts: starts within 1 or 60 us, one to three classes, one or several
    /// sources, one or several destinations.
    fn flows(random: &mut Stream) -> Vec<Flow> {
        let (count, spread_us) = (1 + random.below(14), [1, 60][random.below(2) as usize]);
        let (classes, to_one, from_one) = (1 + random.below(3), random.below(3) == 0, random.below(3) == 0);
        let some = |_| {
            let dst = if to_one { 7 } else { random.below(8) as u32 };
            let src = if from_one && dst != 3 { 3 } else { (dst + 1 + random.below(7) as u32) % 8 };
            let most = [3_000, 40_000, 300_000][random.below(3) as usize];
            let size_bytes = 1 + random.below(most);
            let start = Start::At(Time::from_ns(random.below(spread_us * 1_000)));
            Flow { start, class: [3, 1, 0][random.below(classes) as usize], ..flow(src, dst, size_bytes) }
        };
        (0..count).map(some).collect()
    }

    /// A random setup: a leaf-spine fabric with two leaves and two spines, and a receiver-driven transport.
    fn some(round: u64) -> Setup {
        let mut random = Stream::new(17, round, 0);
        let flows = flows(&mut random);
        let mut any = |words: &[&'static str]| words[random.below(words.len() as u64) as usize];
        let kind = any(&["ndp", "ndp", "eqds"]);
        let mut settings = vec![("initial_window", any(&["1", "2", "9", "bdp"]))];
        if kind == "ndp" {
            settings.push(("early_pulls", any(&["count", "lapse"])));
            settings.push(("pulls", any(&["apart", "acks"])));
        }
        let fabric = leaf_spine(2, 2, 4, 1, TierLinks::uniform(link(10, 400))).unwrap();
        let mut setup = setup(fabric, plan(8, flows));
        setup.host.transport = transport(kind, &settings);
        setup.host.reply_class = [None, Some(6)][random.below(2) as usize];
        setup.spread = [Spread::FlowHash, Spread::PerPacket, Spread::PerPath][random.below(3) as usize];
        match random.below(4) {
            0 => setup.switch.flow_control = FlowControl::Pfc(pause(20_000)),
            1 => setup.switch.buffer = shared(),
            _ => {
                setup.switch.buffer = packets(8);
                setup.switch.overload = trimming(None).switch.overload;
            }
        }
        if random.below(6) == 0 {
            setup.switch.scheduler = Scheduler::Wrr { weights: [2, 1, 1, 3, 1, 1, 4, 1] };
        }
        setup.record.pauses = true;
        setup.record.queues_every = Some(Time::from_us(3));
        setup.duration = Time::from_ms(1);
        setup
    }

    #[test]
    fn results_equal_those_with_all_polls() {
        let mut sums = (0, 0);
        for round in 0..600 {
            let (found, runs) = run(some(round), false);
            let (expected, all_runs) = run(some(round), true);
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "round {round}");
            sums = (sums.0 + runs, sums.1 + all_runs);
        }
        assert!(sums.0 * 50 < sums.1 * 49, "nodes ran {} times in place of {}", sums.0, sums.1);
    }
}
