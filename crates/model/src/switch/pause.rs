//! Flow control as a switch lives it: its accounts tell neighbours to stop, and its ports obey.

use super::watchdog::LOOK;
use super::{Switch, alert};
use crate::node::OnWire;
use crate::parameters::{FlowControl, PauseParameters};
use engine::Window;
use protocols::frame::{Frame, PauseCall};
use protocols::pause::quanta_time;
use units::Time;

/// A pause or resume that a node heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseEvent {
    /// When.
    pub at: Time,
    /// By which of its ports.
    pub port: u16,
    /// The classes, a bit each.
    pub classes: u8,
    /// Whether it must stop.
    pub pause: bool,
}

impl Switch {
    /// After a frame was queued: its account may have to stop the neighbour.
    #[inline]
    pub(super) fn pause_if_needed(&mut self, now: Time, in_port: u16, class: u8, window: &mut Window<'_, OnWire>) {
        let xoff = self.xoff_bytes();
        let index = self.account_index(in_port, class);
        if self.accounts[index].must_pause(xoff) {
            let Some(parameters) = self.network.switch.flow_control.pause().copied() else { return };
            self.ledger.pauses_sent += 1;
            self.send_pause(now, index, &parameters, false, window);
        }
    }

    /// After a frame left the buffer: the neighbour may be told of the room.
    pub(super) fn after_release(&mut self, now: Time, in_port: u16, in_class: u8, window: &mut Window<'_, OnWire>) {
        if self.credited == 0 {
            self.resume_if_possible(now, in_port, in_class, window);
        } else {
            self.grant_if_due(now, in_port, in_class, window);
        }
    }

    /// After a frame left the buffer: its account may let the neighbour go on.
    fn resume_if_possible(&mut self, now: Time, in_port: u16, in_class: u8, window: &mut Window<'_, OnWire>) {
        let index = self.account_index(in_port, in_class);
        let xon = self.xon_bytes();
        if self.accounts[index].may_resume(xon) {
            self.renewals.retain(|renewal| renewal.1 as usize != index);
            self.set_timer();
            self.ledger.resumes_sent += 1;
            if self.tracer.is_some() {
                self.note_go(now, index);
            }
            let (port, control) = self.control_frame(index, 0);
            self.send_control(now, port, control, window);
        }
    }

    /// The bytes at or below which the account of (`port`, `class`) resumes: no byte may occupy headroom, and
    /// those leave first.
    pub(crate) fn resumes_at_bytes(&self, port: u16, class: u8) -> u64 {
        let account = self.accounts[self.account_index(port, class)];
        self.xon_bytes().min(u64::from(account.bytes - account.headroom_bytes))
    }

    /// Below this an account that is paused resumes.
    fn xon_bytes(&self) -> u64 {
        let offset = self.network.switch.flow_control.pause().map_or(0, |pause| pause.xon_offset_bytes);
        self.xoff_bytes().saturating_sub(offset)
    }

    fn control_frame(&self, account: usize, quanta: u16) -> (u16, Frame) {
        let port = (account / self.account_slots) as u16;
        match self.network.switch.flow_control {
            FlowControl::Pfc(_) => {
                let class = self.network.classes[account % self.account_slots];
                (port, Frame::pfc(1 << class, quanta))
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
        if self.tracer.is_some() {
            self.note_stop(now, account, self.xoff_bytes(), renewal);
        }
        let (port, control) = self.control_frame(account, parameters.quanta);
        // Renewed at half time: a pause frame that waits behind one frame still comes in time.
        let half = quanta_time(parameters.quanta, self.details[usize::from(port)].link.rate) / 2;
        self.renewals.push((now + half.max(Time::from_ps(1)), account as u32));
        self.set_timer();
        self.send_control(now, port, control, window);
    }

    /// Renews the pauses that are at half time, or grants credits again.
    pub(super) fn renew(&mut self, now: Time, window: &mut Window<'_, OnWire>) {
        if self.renewals.iter().any(|renewal| renewal.0 <= now) && self.credited != 0 {
            return self.regrant(now, window);
        }
        if self.guarded.is_some() {
            return self.renew_stops(now, window);
        }
        let Some(parameters) = self.network.switch.flow_control.pause().copied() else { return };
        // Each renewed pause comes back at the end, later than now.
        while let Some(index) = self.renewals.iter().position(|renewal| renewal.0 <= now) {
            let (_, account) = self.renewals.remove(index);
            if account & LOOK != 0 {
                self.look_for_storm(now, (account & !LOOK) as u16);
                continue;
            }
            self.send_pause(now, account as usize, &parameters, true, window);
        }
    }

    /// A neighbour wants this switch to stop, or lets it go on.
    pub(super) fn on_pause(&mut self, in_port: u16, frame: &Frame) {
        self.ledger.control_heard += 1;
        let now = frame.at;
        let Some(reaction) = self.network.flow_control_of(self.node).reaction() else {
            // It ends here all the same: no bridge forwards the address that it goes to (802.1Q, 8.6.3).
            self.ledger.control_ignored += 1;
            return;
        };
        let detail = &mut self.details[usize::from(in_port)];
        let PauseCall { classes, quanta } = frame.pause_call();
        let span = quanta_time(quanta, detail.link.rate);
        let reaction = reaction.on(detail.link.rate);
        detail.pause.on_pause(now, classes, span, reaction);
        if let Some(tracer) = &mut self.tracer {
            tracer.note_heard(now, in_port, frame, reaction, span);
        }
        self.ports[usize::from(in_port)].alert |= alert::PAUSE;
        if let Some(watchdog) = self.network.switch.flow_control.pause().and_then(|pause| pause.watchdog) {
            let effect = now + reaction;
            detail.watchdog.hear(classes, now.saturating_add(span).max(effect));
            let after = if span > Time::ZERO { watchdog.detect } else { watchdog.restore };
            Self::look_again(&mut self.renewals, effect.saturating_add(after), in_port);
            self.set_timer();
        }
        if self.network.record_pauses {
            self.pause_events.push(PauseEvent { at: now, port: in_port, classes, pause: span > Time::ZERO });
        }
        let port = &self.ports[usize::from(in_port)];
        // Whoever waits for this port looks again when the call takes effect, or as soon as the wire is
        // free; looking in vain is harmless.
        if port.waiting != 0 {
            let look = (now + reaction).max(port.busy_until);
            if look < self.due.at(in_port) {
                self.due.set(in_port, look);
            }
        }
    }
}
