//! Bounced frames at a host: the source retransmits returned frames, and the destination counts bounces of received
//! frames.

use super::Host;
use super::flows::{FlowSource, with_ctx};
use crate::on_wire::OnWire;
use check::conservation::Cause;
use engine::Window;
use protocols::endpoint::Sender;
use protocols::frame::{Frame, Kind};
use protocols::pabo;

impl Host {
    /// Counts hops and bounces of a frame at its destination.
    pub(super) fn note_hops(&mut self, frame: &Frame) {
        self.stats.counters.bounces_in_frames.end(frame.bounces, frame.max_distance, frame.distance);
        let Some(counts) = &mut self.measured.hop_counts else { return };
        if frame.kind == Kind::Data {
            counts.hops[usize::from(frame.hops)] += 1;
            counts.max_distance[usize::from(frame.max_distance)] += 1;
            counts.bounces[usize::from(frame.bounces)] += 1;
        } else {
            counts.reply_bounces[usize::from(frame.bounces)] += 1;
        }
    }

    /// Reports a returned data frame to its sender, which may slow down. The sender is polled again when the wire
    /// becomes free.
    fn report_bounce(&mut self, frame: &Frame, every: u32) {
        let Some(&slot) = self.senders.by_flow.get(&frame.flow) else { return };
        let FlowSource::Transport(sender) = &mut self.senders.flows[slot as usize].source else { return };
        let returns = self.senders.returns.entry(frame.flow).or_default();
        let slowed = with_ctx!(self, frame.at, |ctx| sender.on_returned(ctx, returns, every));
        self.stats.counters.source_slowdowns += u64::from(slowed);
        if !self.scratch.replies.is_empty() {
            self.queue_controls(frame.at, slot);
        }
    }

    /// Retransmits a returned frame of this host ahead of all new data. A host has no queue limit, so the frame is
    /// never dropped.
    #[cold]
    pub(super) fn resend_bounced(&mut self, mut frame: Frame, in_port: u16, window: &mut Window<'_, OnWire>) {
        if self.measured.hop_counts.is_none() {
            // If switches do not bounce frames, a frame returns to its source only because of a wrong route.
            self.note_loss(&frame, Some(in_port), Cause::NoRoute);
            return self.stats.count_loss(&frame, Cause::NoRoute);
        }
        self.stats.counters.bounced_to_source += 1;
        if let Some(reaction) = self.network.host.on_bounce
            && frame.kind == Kind::Data
        {
            self.report_bounce(&frame, reaction.every);
        }
        pabo::go_on(&mut frame);
        frame.ttl = self.network.host.ttl;
        self.queue_frame(frame.at, in_port, frame);
        self.serve(frame.at, in_port, window);
    }
}
