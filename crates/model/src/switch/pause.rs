//! Accounts that stop neighbours, and ports that obey them.

use super::core::Core;
use crate::on_wire::OnWire;
use crate::parameters::{FlowControl, PauseParameters};
use engine::Window;
use protocols::frame::Frame;
use protocols::pause::quanta_time;
use units::Time;

/// In [`Core::renewals`]: a look of the watchdog at a port, whose number is the rest.
pub(super) const LOOK: u32 = 1 << 31;

impl Core {
    /// After a frame was queued: its account may have to stop the neighbour.
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
        self.books.ledger.pauses_sent += 1;
        self.send_pause(now, account, &parameters, false, window);
    }

    /// After a frame left the buffer: the neighbour may be told of the room.
    pub(super) fn after_release(&mut self, now: Time, in_port: u16, in_class: u8, window: &mut Window<'_, OnWire>) {
        if self.credited {
            self.grant_if_due(now, in_port, in_class, window);
        } else {
            self.resume_if_possible(now, in_port, in_class, window);
        }
    }

    /// After a frame left the buffer: its account may let the neighbour go on.
    fn resume_if_possible(&mut self, now: Time, in_port: u16, in_class: u8, window: &mut Window<'_, OnWire>) {
        let index = self.buffer.account_index(in_port, in_class);
        let xon = self.buffer.xon_bytes(index);
        if self.buffer.accounts[index].may_resume(xon) {
            self.renewals.retain(|renewal| renewal.1 as usize != index);
            self.note_renewals();
            self.books.ledger.resumes_sent += 1;
            self.note_go(now, index);
            let (port, control) = self.control_frame(index, 0);
            self.send_control(now, port, control, window);
        }
    }

    /// The bytes at or below which the account of (`port`, `class`) resumes: no byte may occupy headroom, and
    /// those leave first.
    pub(crate) fn resumes_at_bytes(&self, port: u16, class: u8) -> u64 {
        let index = self.buffer.account_index(port, class);
        let account = self.buffer.accounts[index];
        self.buffer.xon_bytes(index).min(u64::from(account.bytes - account.headroom_bytes))
    }

    fn control_frame(&self, account: usize, quanta: u16) -> (u16, Frame) {
        let slots = self.buffer.account_slots;
        let port = (account / slots) as u16;
        match self.network.switch.flow_control {
            FlowControl::Pfc(_) => (port, Frame::pfc(1 << self.network.classes[account % slots], quanta)),
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
        self.note_stop(now, account, self.buffer.xoff_bytes(account), renewal);
        let (port, control) = self.control_frame(account, parameters.quanta);
        // Renewed at half time: a pause frame that waits behind one frame still comes in time.
        let half = quanta_time(parameters.quanta, self.link_rate(port)) / 2;
        self.renewals.push((now + half.max(Time::from_ps(1)), account as u32));
        self.note_renewals();
        self.send_control(now, port, control, window);
    }

    /// Renews the pauses that are at half time, and looks for pause storms.
    pub(super) fn renew_pauses(&mut self, now: Time, window: &mut Window<'_, OnWire>) {
        let Some(parameters) = self.network.switch.flow_control.pause().copied() else { return };
        // Each renewed pause comes back at the end, later than now.
        while let Some(index) = self.renewals.iter().position(|renewal| renewal.0 <= now) {
            let (_, account) = self.renewals.remove(index);
            if account & LOOK == 0 {
                self.send_pause(now, account as usize, &parameters, true, window);
            } else {
                self.look_for_storm(now, (account & !LOOK) as u16);
            }
        }
    }

    /// A neighbour wants this switch to stop, or lets it go on.
    pub(super) fn on_pause(&mut self, in_port: u16, frame: &Frame) {
        self.books.ledger.control_received += 1;
        let Some(reaction) = self.network.flow_control_of(self.node).reaction() else {
            // It ends here all the same: no bridge forwards the address that it goes to (802.1Q, 8.6.3).
            self.books.ledger.control_ignored += 1;
            return;
        };
        let received = self.egress.on_pause(in_port, frame, reaction, &mut self.books);
        if let Some(watchdog) = self.network.switch.flow_control.pause().and_then(|pause| pause.watchdog) {
            let at = self.egress.watch(frame.at, in_port, received, &watchdog);
            self.look_again(at, in_port);
        }
        self.egress.look_after(in_port, received);
    }

    /// The watchdog looks at `port`.
    #[cold]
    fn look_for_storm(&mut self, now: Time, port: u16) {
        let Some(watchdog) = self.network.switch.flow_control.pause().and_then(|pause| pause.watchdog) else { return };
        let again = self.egress.look_for_storm(now, port, &watchdog, &mut self.books);
        if again < Time::MAX {
            self.look_again(again.max(now + Time::from_ps(1)), port);
        }
    }

    /// The watchdog looks at `port` no later than `at`.
    fn look_again(&mut self, at: Time, port: u16) {
        let look = LOOK | u32::from(port);
        match self.renewals.iter_mut().find(|renewal| renewal.1 == look) {
            Some(known) => known.0 = known.0.min(at),
            None => self.renewals.push((at, look)),
        }
        self.note_renewals();
    }
}
