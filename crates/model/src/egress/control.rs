//! MAC control frames that a node sends. They exist on one link only and precede all waiting frames.

use super::{Egress, block};
use crate::node_stats::NodeStats;
use crate::on_wire::{OnWire, put_on_wire};
use engine::Window;
use protocols::frame::Frame;
use units::Time;

impl Egress {
    /// Sends a MAC control frame by `port`: at once if the wire is free, otherwise when it becomes free.
    pub fn send_control(
        &mut self,
        now: Time,
        port: u16,
        mut frame: Frame,
        stats: &mut NodeStats,
        window: &mut Window<'_, OnWire>,
    ) {
        stats.counters.control_sent += 1;
        let idle = self.cell(port).busy_until <= now;
        let state = self.state_mut(port);
        if state.link.down {
            stats.counters.control_lost += 1;
        } else if idle && state.control.is_empty() {
            self.transmit_control(now, port, frame, stats, window);
            let free = self.cell(port).busy_until;
            if self.due.at(port) < free {
                // A waiting frame was due at this instant. It must now wait until the control frame has left.
                self.due.set(port, free);
            }
        } else {
            frame.at = now;
            state.control.push(frame);
            self.cell_mut(port).block_reasons |= block::CONTROL;
            self.schedule_when_free(now, port);
        }
    }

    /// Transmits the next control frame of `port` on its free wire, if any: queued frames first, then pending credit
    /// messages. `held_bytes` returns the buffer occupancy of the ingress account of a class. If the frame is a credit
    /// message, returns its class.
    pub fn send_next_control(
        &mut self,
        now: Time,
        port: u16,
        held_bytes: impl Fn(u8) -> u64,
        stats: &mut NodeStats,
        window: &mut Window<'_, OnWire>,
    ) -> Option<u8> {
        let waiting = self.state_mut(port).control.pop().map(|frame| (None, frame));
        // A pending credit message could have started as soon as the wire became free, so the check starts from the end
        // of the previous frame (`since` is zero).
        self.check_control(now, port, waiting.as_ref().map_or(Time::ZERO, |(_, frame)| frame.at), stats);
        let next = waiting.or_else(|| {
            let owed = self.next_grant(port, held_bytes, stats);
            owed.map(|(class, frame)| (Some(class), frame))
        });
        if self.state(port).control.is_empty() && !self.has_pending_grant(port) {
            self.cell_mut(port).block_reasons &= !block::CONTROL;
        }
        let (class, frame) = next?;
        self.transmit_control(now, port, frame, stats, window);
        class
    }

    /// Transmits a control frame on the free wire of `port`.
    pub(super) fn transmit_control(
        &mut self,
        now: Time,
        port: u16,
        frame: Frame,
        stats: &mut NodeStats,
        window: &mut Window<'_, OnWire>,
    ) {
        if let Some(tracer) = &mut stats.tracer {
            tracer.capture_sent(now, port, &frame);
        }
        let at = self.start(now, port, frame.size_bytes);
        put_on_wire(&frame, port, at, window);
    }

    /// Drops the waiting control frames of a port with a failed link.
    pub(super) fn lose_control(&mut self, port: u16, stats: &mut NodeStats) {
        while self.state_mut(port).control.pop().is_some() {
            stats.counters.control_lost += 1;
        }
        self.cell_mut(port).block_reasons &= !block::CONTROL;
    }

    /// Removes a waiting control frame without counting it, for tests of the checks.
    #[cfg(test)]
    pub fn lose_control_in_silence(&mut self) -> bool {
        let Some(port) = self.states.iter().position(|state| !state.control.is_empty()) else { return false };
        self.states[port].control.pop();
        if self.states[port].control.is_empty() {
            self.cells[port].block_reasons &= !block::CONTROL;
        }
        true
    }
}
