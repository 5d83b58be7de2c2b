//! What happens to a frame whose last bit has come.

use super::Switch;
use crate::node::OnWire;
use check::conservation::Cause;
use engine::Window;
use protocols::frame::{Frame, flags};
use units::Time;

impl Switch {
    #[inline]
    pub(super) fn arrive(&mut self, in_port: u16, mut frame: Frame, window: &mut Window<'_, OnWire>) {
        self.ledger.hops += 1;
        let port = &self.ports[usize::from(in_port)];
        if port.link.fragile
            && let Some(cause) = port.link.verdict(&frame, &mut self.random)
        {
            return self.lose(&frame, cause);
        }
        if frame.is_mac_control() {
            return self.on_pause(in_port, &frame, window);
        }
        if frame.ttl == 0 {
            return self.lose(&frame, Cause::TtlExpired);
        }
        frame.ttl -= 1;
        frame.hops = frame.hops.saturating_add(1);
        frame.in_port = in_port;
        frame.in_class = frame.class;
        let network = &*self.network;
        let route = if self.dead.is_empty() {
            network.route(self.node, self.salt, &frame, in_port)
        } else {
            self.route_around(&frame, in_port)
        };
        match route {
            Some(port) => self.forward(port, frame, window),
            None => self.lose(&frame, Cause::NoRoute),
        }
    }

    /// Sends `frame` on by `egress`: at once where the wire is free and nothing may go before it, else
    /// through the queue.
    #[inline]
    pub(super) fn forward(&mut self, egress: u16, frame: Frame, window: &mut Window<'_, OnWire>) {
        let now = frame.at;
        let port = &mut self.ports[usize::from(egress)];
        let bit = 1u8 << frame.class;
        if port.busy_until <= now && self.due.at(egress) > now {
            let blocked = port.pause.blocked(now);
            if port.waiting & !blocked == 0 && blocked & bit == 0 && port.control.is_empty() {
                return self.transmit(now, egress, frame, window);
            }
        }
        if self.admit(egress, &frame) {
            self.enqueue(egress, frame);
            self.pause_if_needed(&frame, window);
        } else {
            let lossless = self.network.switch.flow_control.lossless() & (1 << frame.in_class) != 0;
            self.lose(&frame, if lossless { Cause::LosslessNoRoom } else { Cause::NoRoom });
        }
    }

    #[inline]
    fn enqueue(&mut self, egress: u16, mut frame: Frame) {
        let index = self.queue_index(egress, frame.class);
        let queue = &mut self.queues[index];
        if let Some(marker) = &self.marker
            && frame.flags & (flags::ECT | flags::CE) == flags::ECT
            && marker.marks(queue.bytes, &mut self.random)
        {
            frame.flags |= flags::CE;
            self.ledger.marks += 1;
        }
        queue.push(frame);
        let port = &mut self.ports[usize::from(egress)];
        port.waiting |= 1 << frame.class;
        if self.due.at(egress) == Time::MAX {
            // An idle port is blocked for this class, else the frame would be on the wire.
            let at = if port.busy_until > frame.at {
                port.busy_until
            } else {
                port.pause.ask_again_at(1 << frame.class).max(frame.at)
            };
            self.due.set(egress, at);
        }
    }

    /// The frame is gone; the ledger says why.
    pub(super) fn lose(&mut self, frame: &Frame, cause: Cause) {
        // MAC control frames are not part of the account of packets.
        if frame.is_mac_control() {
            self.ledger.control_lost += 1;
        } else {
            self.ledger.lose(self.node.0, frame, cause);
        }
    }
}
