//! Links that fail and come back.

use super::{Switch, alert};
use crate::node::OnWire;
use crate::parameters::Reroute;
use check::conservation::Cause;
use engine::Window;
use fabric::routing::select;
use protocols::frame::Frame;
use record::trace::TraceEvent;
use units::Time;

impl Switch {
    /// The next failure or repair of one of this switch's links takes place.
    pub(super) fn change(&mut self, now: Time, window: &mut Window<'_, OnWire>) {
        let Some((_, port_index, fails)) = self.changes.pop() else { return };
        let detail = &mut self.details[usize::from(port_index)];
        self.detours.clear();
        if !fails {
            detail.link.repair();
            self.dead.remove(port_index);
            if let Some(tracer) = &mut self.tracer {
                tracer.note_port(now, TraceEvent::LinkUp { port: port_index });
            }
            self.regular = self.dead.is_empty() && !self.network.has_pins(self.node);
            self.grant_all(now, port_index, window);
            return;
        }
        detail.link.fail(now);
        if let Some(tracer) = &mut self.tracer {
            tracer.note_port(now, TraceEvent::LinkDown { port: port_index });
        }
        self.dead.insert(port_index);
        self.regular = false;
        // What waits for the dead link is lost with it; whoever was paused by that may go on.
        while detail.control.pop().is_some() {
            self.ledger.control_lost += 1;
        }
        let port = &mut self.ports[usize::from(port_index)];
        port.waiting = 0;
        port.alert &= !alert::CONTROL;
        self.forget_credit(now, port_index);
        let first = usize::from(port_index) * self.slots;
        let pair = first + self.pairs;
        let bounced = if self.pairs != 0 { pair..pair + self.slots } else { 0..0 };
        for index in (first..first + self.slots).chain(bounced) {
            while let Some(&frame) = self.queues[index].front() {
                self.queues[index].drop_front(now);
                self.note_load(now, index);
                self.release(frame.in_port, frame.in_class, frame.size_bytes);
                self.ledger.lose(self.node.0, &frame, Cause::LinkDown);
                self.note_lost_with_link(now, port_index, &frame);
                self.after_release(now, frame.in_port, frame.in_class, window);
            }
        }
        self.lose_held(now, port_index, window);
        self.due.set(port_index, Time::MAX);
    }

    /// The egress port of `frame` while some ports are dead: the live ones of its route, else, with local
    /// rerouting, the live neighbours nearest to its destination.
    #[cold]
    pub(super) fn route_around(&mut self, frame: &Frame, in_port: u16) -> Option<u16> {
        let network = &*self.network;
        let regular = network.route(self.node, self.salt, frame, in_port)?;
        if !self.dead.contains(regular) {
            return Some(regular);
        }
        let live: Vec<u16> = network
            .candidates(self.node, frame, in_port)
            .iter()
            .copied()
            .filter(|&port| !self.dead.contains(port))
            .collect();
        if !live.is_empty() {
            return Some(live[select(frame.entropy, self.salt, live.len())]);
        }
        if network.reroute == Reroute::None {
            return None;
        }
        let dead = &self.dead;
        let ports = self
            .detours
            .entry(frame.dst)
            .or_insert_with(|| network.forwarding.fallback(&network.fabric, self.node, frame.dst, dead));
        // Back where it came from only if there is no other way.
        let onward: Vec<u16> = ports.iter().copied().filter(|&port| port != in_port).collect();
        let choice = if onward.is_empty() { ports.as_slice() } else { &onward };
        if choice.is_empty() { None } else { Some(choice[select(frame.entropy, self.salt, choice.len())]) }
    }
}
