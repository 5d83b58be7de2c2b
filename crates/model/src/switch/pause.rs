//! PAUSE and PFC at a switch: ingress accounts that pause neighbours, and egress ports that neighbours pause.

use super::core::Core;
use crate::on_wire::OnWire;
use crate::parameters::{FlowControl, PauseParameters};
use engine::Window;
use protocols::frame::Frame;
use protocols::pause::quanta_time;
use units::Time;

/// Flag of a key in [`Core::renewals`]: a watchdog sample of the port in the low bits.
pub(super) const WATCHDOG_SAMPLE: u32 = 1 << 31;

impl Core {
    /// After an enqueue: sends XOFF if the account is above its threshold.
    #[inline]
    pub(super) fn pause_if_needed(&mut self, now: Time, in_port: u16, class: u8, window: &mut Window<'_, OnWire>) {
        let index = self.buffer.account_index(in_port, class);
        let xoff = self.buffer.xoff_bytes(index);
        if self.buffer.accounts[index].must_pause(xoff) {
            self.pause(now, index, window);
        }
    }

    #[cold]
    fn pause(&mut self, now: Time, account: usize, window: &mut Window<'_, OnWire>) {
        let Some(parameters) = self.network.switch.flow_control.pause().copied() else { return };
        self.stats.counters.pauses_sent += 1;
        self.send_pause(now, account, &parameters, false, window);
    }

    /// After a frame left the buffer: sends the credit grant or XON that the released buffer space permits.
    pub(super) fn after_release(&mut self, now: Time, in_port: u16, in_class: u8, window: &mut Window<'_, OnWire>) {
        if self.steps.has_credits {
            self.grant_if_due(now, in_port, in_class, window);
        } else {
            self.resume_if_possible(now, in_port, in_class, window);
        }
    }

    /// After a frame left the buffer: sends XON if its account permits it.
    fn resume_if_possible(&mut self, now: Time, in_port: u16, in_class: u8, window: &mut Window<'_, OnWire>) {
        let index = self.buffer.account_index(in_port, in_class);
        let xon = self.buffer.xon_bytes(index);
        if self.buffer.accounts[index].may_resume(xon) {
            self.renewals.retain(|renewal| renewal.1 as usize != index);
            self.update_timer();
            self.stats.counters.resumes_sent += 1;
            self.trace_resume(now, index);
            let (port, control) = self.control_frame(index, 0);
            self.send_control(now, port, control, window);
        }
    }

    /// Returns the bytes at or below which the account of (`port`, `class`) resumes. XON also requires that the
    /// headroom is empty; a departure releases headroom first.
    pub(crate) fn resumes_at_bytes(&self, port: u16, class: u8) -> u64 {
        let index = self.buffer.account_index(port, class);
        let account = self.buffer.accounts[index];
        self.buffer.xon_bytes(index).min(u64::from(account.bytes - account.headroom_bytes))
    }

    fn control_frame(&self, account: usize, quanta: u16) -> (u16, Frame) {
        let slots = self.buffer.layout.account_slots;
        let port = (account / slots) as u16;
        match self.network.switch.flow_control {
            FlowControl::Pfc(_) => {
                let classes = self.network.stops(self.node(), port, self.network.classes[account % slots]);
                (port, Frame::pfc(classes, quanta))
            }
            _ => (port, Frame::pause(quanta)),
        }
    }

    #[cold]
    fn send_pause(
        &mut self,
        now: Time,
        account: usize,
        parameters: &PauseParameters,
        renewal: bool,
        window: &mut Window<'_, OnWire>,
    ) {
        self.trace_pause(now, account, self.buffer.xoff_bytes(account), renewal);
        let (port, control) = self.control_frame(account, parameters.quanta);
        // Renewal at half the pause time: even if the new pause waits for a frame on the wire, it arrives before the
        // old pause expires.
        let half = quanta_time(parameters.quanta, self.link_rate(port)) / 2;
        self.renewals.push((now + half.max(Time::from_ps(1)), account as u32));
        self.update_timer();
        self.send_control(now, port, control, window);
    }

    /// Renews the pauses that are due, and takes the watchdog samples that are due.
    pub(super) fn renew_pauses(&mut self, now: Time, window: &mut Window<'_, OnWire>) {
        let Some(parameters) = self.network.switch.flow_control.pause().copied() else { return };
        // Each renewed pause is appended with a later time, so the loop ends.
        while let Some(index) = self.renewals.iter().position(|renewal| renewal.0 <= now) {
            let (_, account) = self.renewals.remove(index);
            if account & WATCHDOG_SAMPLE == 0 {
                self.send_pause(now, account as usize, &parameters, true, window);
            } else {
                self.sample_watchdog(now, (account & !WATCHDOG_SAMPLE) as u16);
            }
        }
    }

    /// Handles a PAUSE or PFC frame of a neighbour.
    pub(super) fn on_pause(&mut self, in_port: u16, frame: &Frame) {
        self.stats.counters.control_received += 1;
        let Some(reaction) = self.network.flow_control_of(self.node()).reaction() else {
            // The frame is consumed nevertheless, because bridges do not forward its destination address (802.1Q,
            // 8.6.3).
            self.stats.counters.control_ignored += 1;
            return;
        };
        let received = self.egress.on_pause(in_port, frame, reaction, &mut self.stats);
        if let Some(watchdog) = self.network.switch.flow_control.pause().and_then(|pause| pause.watchdog) {
            let at = self.egress.watch(frame.at, in_port, received, &watchdog);
            self.schedule_sample(at, in_port);
        }
        self.egress.schedule_after_pause(in_port, received);
    }

    /// Takes a watchdog sample of `port`.
    #[cold]
    fn sample_watchdog(&mut self, now: Time, port: u16) {
        let Some(watchdog) = self.network.switch.flow_control.pause().and_then(|pause| pause.watchdog) else { return };
        let again = self.egress.sample_watchdog(now, port, &watchdog, &mut self.stats);
        if again < Time::MAX {
            self.schedule_sample(again.max(now + Time::from_ps(1)), port);
        }
    }

    /// Schedules the next watchdog sample of `port` no later than `at`.
    fn schedule_sample(&mut self, at: Time, port: u16) {
        let key = WATCHDOG_SAMPLE | u32::from(port);
        match self.renewals.iter_mut().find(|renewal| renewal.1 == key) {
            Some(known) => known.0 = known.0.min(at),
            None => self.renewals.push((at, key)),
        }
        self.update_timer();
    }
}
