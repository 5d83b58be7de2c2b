//! Trimmed and returned headers at a host.

use super::Host;
use super::flows::{FlowSource, with_ctx};
use crate::clock::as_seen;
use crate::on_wire::OnWire;
use engine::Window;
use protocols::endpoint::{Receiver, Sender};
use protocols::frame::Frame;

impl Host {
    /// Handles the header of a trimmed data frame.
    #[cold]
    pub(super) fn on_trimmed(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        self.stats.counters.packets.delivered_trimmed.count(u64::from(frame.size_bytes));
        let heeded = self.network.host.trim_aware;
        self.take_telemetry(frame);
        self.scratch.hops.clear();
        let key = (frame.src, frame.flow);
        if self.receivers.completed.contains_key(&key) {
            self.stats.counters.spurious_trims += 1;
            if heeded {
                self.on_duplicate(in_port, frame, window);
            }
            return;
        }
        if !heeded {
            return;
        }
        let slot = match self.receivers.by_source.get(&key) {
            Some(&slot) => slot,
            None => self.open_incoming(frame),
        };
        let incoming = &mut self.receivers.flows[slot as usize];
        incoming.port = in_port;
        let receiver = &mut incoming.receiver;
        self.stats.counters.spurious_trims += u64::from(receiver.holds(frame));
        let mut copy = None;
        let seen = as_seen(self.identity.clock.as_ref(), frame, &mut copy);
        let receipt = with_ctx!(self, frame.at, |ctx| receiver.on_frame(ctx, seen));
        debug_assert!(receipt.new_bytes == 0 && !receipt.completed, "a header carries no payload");
        self.update_receiver_timer(slot);
        self.reply_and_pull(frame.at, slot, window);
    }

    /// Handles the returned header of a data frame of this host.
    #[cold]
    pub(super) fn on_returned_header(&mut self, frame: &Frame, window: &mut Window<'_, OnWire>) {
        self.stats.counters.packets.returned_to_source.count(u64::from(frame.size_bytes));
        let heeded = self.network.host.trim_aware;
        self.take_telemetry(frame);
        self.scratch.hops.clear();
        let Some(&slot) = self.senders.by_flow.get(&frame.flow).filter(|_| heeded) else { return };
        let FlowSource::Transport(sender) = &mut self.senders.flows[slot as usize].source else { return };
        let mut copy = None;
        let seen = as_seen(self.identity.clock.as_ref(), frame, &mut copy);
        with_ctx!(self, frame.at, |ctx| sender.on_frame(ctx, seen));
        self.after_sender(frame.at, slot, window);
    }
}
