//! The pause-storm watchdog as a switch lives it.

use super::{Switch, alert};
use crate::node::OnWire;
use check::conservation::Cause;
use engine::Window;
use protocols::watchdog::Action;
use record::trace::{Load, TraceEvent};
use units::Time;

/// In [`Switch::renewals`]: a look at a port, whose number is the rest.
pub(super) const LOOK: u32 = 1 << 31;

impl Switch {
    /// The time has come to see whether a class of `port` is stopped too long, or no longer told to stop.
    #[cold]
    pub(super) fn look_for_storm(&mut self, now: Time, port: u16) {
        let Some(parameters) = self.network.switch.flow_control.pause().and_then(|pause| pause.watchdog) else {
            return;
        };
        let detail = &mut self.details[usize::from(port)];
        detail.pause.blocked(now); // brings it up to date
        let stopped = std::array::from_fn(|class| detail.pause.stopped_since(class as u8));
        let mut look = detail.watchdog.look(now, &parameters, stopped);
        if look.again == Time::MAX && !detail.pause.is_clear() {
            // A call that has not taken effect yet.
            look.again = now + parameters.detect;
        }
        let stormed = detail.watchdog.stormed();
        self.ledger.pause_storms += u64::from(look.begun.count_ones());
        if let Some(tracer) = &mut self.tracer {
            for class in (0..8).filter(|class| look.ended & 1 << class != 0) {
                tracer.note_port(now, TraceEvent::StormOver { port, class });
            }
            for class in (0..8).filter(|class| look.begun & 1 << class != 0) {
                tracer.note_port(now, TraceEvent::StormBegun { port, class });
            }
        }
        let state = &mut self.ports[usize::from(port)];
        state.alert = state.alert & !alert::STORM | if stormed != 0 { alert::STORM } else { 0 };
        if state.waiting != 0 {
            let free = state.busy_until.max(now);
            if free < self.due.at(port) {
                self.due.set(port, free);
            }
        }
        if look.again < Time::MAX {
            Self::look_again(&mut self.renewals, look.again.max(now + Time::from_ps(1)), port);
        }
    }

    /// Looks at `port` no later than `at`.
    pub(super) fn look_again(renewals: &mut Vec<(Time, u32)>, at: Time, port: u16) {
        let look = LOOK | u32::from(port);
        match renewals.iter_mut().find(|renewal| renewal.1 == look) {
            Some(known) => known.0 = known.0.min(at),
            None => renewals.push((at, look)),
        }
    }

    /// The classes whose frames a watchdog drops at `egress`, a bit each.
    pub(super) fn dropped_classes(&self, egress: u16) -> u8 {
        if self.ports[usize::from(egress)].alert & alert::STORM == 0 {
            return 0;
        }
        let watchdog = self.network.switch.flow_control.pause().and_then(|pause| pause.watchdog);
        match watchdog.map(|watchdog| watchdog.action) {
            Some(Action::Drop) => self.details[usize::from(egress)].watchdog.stormed(),
            _ => 0,
        }
    }

    /// Drops what waits at `egress` in a storm, if that is what a watchdog does.
    #[cold]
    pub(super) fn drop_stormed(&mut self, now: Time, egress: u16, window: &mut Window<'_, OnWire>) {
        let dropped = self.dropped_classes(egress) & self.ports[usize::from(egress)].waiting;
        for class in (0..8u8).filter(|class| dropped & 1 << class != 0) {
            let first = self.queue_index(egress, class);
            let pair = if self.pairs == 0 { None } else { Some(first + self.pairs) };
            for index in std::iter::once(first).chain(pair) {
                while let Some(&frame) = self.queues[index].front() {
                    self.queues[index].drop_front(now);
                    self.note_load(now, index);
                    self.release(frame.in_port, frame.in_class, frame.size_bytes);
                    self.ledger.lose(self.node.0, &frame, Cause::PauseStorm);
                    if let Some(tracer) = &mut self.tracer {
                        let ports = (Some(frame.in_port), Some(egress));
                        tracer.note_loss(&frame, now, Cause::PauseStorm, ports, Load::default(), None);
                    }
                    self.after_release(now, frame.in_port, frame.in_class, window);
                }
            }
            self.ports[usize::from(egress)].waiting &= !(1 << class);
        }
    }
}
