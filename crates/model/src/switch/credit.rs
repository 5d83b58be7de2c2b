//! Credit-based flow control at a switch: buffer space that a departure releases is granted to the neighbour.

use super::core::Core;
use crate::egress::PortState;
use crate::on_wire::OnWire;
use engine::Window;
use protocols::frame::Frame;
use units::Time;

impl Core {
    /// Charges a frame that arrived by a credited port to the granted buffer space.
    pub(super) fn take_room(&mut self, in_port: u16, frame: &Frame) {
        if let Some(credit) = &mut self.egress.state_mut(in_port).credit {
            credit.receive(frame.class, u64::from(frame.size_bytes));
        }
    }

    /// Grants the buffer space again if `frame` has already left the buffer.
    pub(super) fn grant_free_room(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        self.grant_if_due(frame.at, in_port, frame.class, window);
        self.trace_credit_stall(frame.at, in_port, frame.class);
    }

    /// Grants the free buffer space of (`in_port`, `class`), if it is large enough for a credit message.
    pub(super) fn grant_if_due(&mut self, now: Time, in_port: u16, class: u8, window: &mut Window<'_, OnWire>) {
        let held_bytes = self.buffer.account_bytes(in_port, class);
        if self.egress.note_room(in_port, class, held_bytes) {
            self.send_pending_grants(now, in_port, window);
        }
    }

    /// Sends the pending grants of `port`: at once if the wire is free, otherwise when it becomes free.
    fn send_pending_grants(&mut self, now: Time, port: u16, window: &mut Window<'_, OnWire>) {
        let Core { egress, buffer, stats, .. } = self;
        egress.check_before_control(now, port, |class| buffer.head(port, class), stats);
        let held_bytes = |class| buffer.account_bytes(port, class);
        let granted = egress.send_pending_grants(now, port, held_bytes, stats, window);
        self.note_granted(now, port, granted);
    }

    /// If `port` has sent a grant for a class, traces the effect of the grant on the credit stall of the class.
    pub(super) fn note_granted(&mut self, now: Time, port: u16, class: Option<u8>) {
        if let Some(class) = class {
            self.trace_credit_stall(now, port, class);
        }
    }

    /// Handles a credit message that arrived by `in_port`.
    pub(super) fn on_credit(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        let now = frame.at;
        let (class, goes_on) = self.egress.on_credit(in_port, frame, &mut self.stats);
        if goes_on && self.egress.cell(in_port).waiting & 1 << class != 0 {
            self.egress.schedule_when_free(now, in_port);
        }
        // The message may also report frames that were lost on the link. Their buffer space is free again.
        self.grant_if_due(now, in_port, class, window);
    }

    /// Repeats the grants of all ports. Grants are idempotent, so a repetition of a recent grant has no effect.
    #[cold]
    pub(super) fn regrant(&mut self, now: Time, window: &mut Window<'_, OnWire>) {
        let Some(parameters) = self.network.switch.flow_control.credit().copied() else { return };
        self.renewals.clear();
        self.renewals.push((now + parameters.regrant, 0));
        for port in 0..self.egress.len() as u16 {
            self.grant_all(now, port, window);
        }
    }

    /// Sends grants for all classes of `port`.
    #[cold]
    pub(super) fn grant_all(&mut self, now: Time, port: u16, window: &mut Window<'_, OnWire>) {
        if self.egress.queue_all_grants(port) {
            self.send_pending_grants(now, port, window);
        }
    }

    /// Traces the start or end of a credit stall: the buffer is so full with frames of (`port`, `class`) that the
    /// remaining credits limit the sender's utilisation of its link. Start and end correspond to XOFF and XON under
    /// PFC.
    fn trace_credit_stall(&mut self, now: Time, port: u16, class: u8) {
        if self.stats.tracer.is_none() {
            return;
        }
        let account = self.buffer.account_index(port, class);
        let held_bytes = self.buffer.accounts[account].bytes;
        let PortState { link, credit, .. } = self.egress.state(port);
        let Some(credit) = credit else { return };
        let (lacks, credits_bytes) = (credit.holds_back(class, link.rate, link.delay), credit.credits_bytes());
        // A lasting stall is traced again after one RTT plus the serialisation delay of the whole credited buffer,
        // because all waiting frames may have been replaced by then.
        let again = link.delay * 2 + link.rate.serialise(credits_bytes);
        let Some(tracer) = &mut self.stats.tracer else { return };
        let stalled_at = tracer.credit_stalls.get(&(port, class)).copied();
        if stalled_at.is_some_and(|stalled_at| !lacks || stalled_at + again <= now) {
            tracer.credit_stalls.remove(&(port, class));
            self.trace_resume(now, account);
        } else if stalled_at.is_some() {
            return;
        }
        if lacks && held_bytes > 0 {
            if let Some(tracer) = &mut self.stats.tracer {
                tracer.credit_stalls.insert((port, class), now);
            }
            self.trace_pause(now, account, credits_bytes, false);
        }
    }
}
