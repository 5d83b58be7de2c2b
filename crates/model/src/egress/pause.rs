//! Reaction to pauses of a neighbour: 802.3x PAUSE, 802.1Qbb PFC, and the pause-storm watchdog.

use super::{Egress, hold};
use crate::books::{Books, PauseEvent};
use protocols::frame::{Frame, PauseCall};
use protocols::pause::quanta_time;
use protocols::reaction::Reaction;
use protocols::watchdog::WatchdogParameters;
use stats::trace::TraceEvent;
use units::Time;

/// Content of a PAUSE or PFC frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    /// Bitmask of the classes.
    pub classes: u8,
    /// Duration of the pause from its reception on; zero resumes.
    pub span: Time,
    /// Time at which it takes effect.
    pub effect: Time,
}

impl Egress {
    /// Handles a PAUSE or PFC frame that arrived by `port`: its classes stop or resume after `reaction`.
    pub fn on_pause(&mut self, port: u16, frame: &Frame, reaction: Reaction, books: &mut Books) -> Received {
        let now = frame.at;
        let rules = self.rules_mut(port);
        let PauseCall { classes, quanta } = frame.pause_call();
        let span = quanta_time(quanta, rules.link.rate);
        let reaction = reaction.on(rules.link.rate);
        rules.pause.on_pause(now, classes, span, reaction);
        self.cell_mut(port).holds |= hold::PAUSE;
        if let Some(tracer) = &mut books.tracer {
            tracer.note_pause(now, port, frame, reaction, span);
        }
        books.note_pause(PauseEvent { at: now, port, classes, pause: span > Time::ZERO });
        Received { classes, span, effect: now + reaction }
    }

    /// Schedules `port`, if frames wait, for the time at which the received pause or resume takes effect.
    pub fn look_after(&mut self, port: u16, received: Received) {
        if self.cell(port).waiting != 0 {
            self.look_when_free(received.effect, port);
        }
    }

    /// Returns the bitmask of classes paused at `port` now.
    #[cold]
    pub(super) fn stopped(&mut self, now: Time, port: u16) -> u8 {
        let rules = &mut self.rules[usize::from(port)];
        let stopped = rules.pause.blocked(now) & !rules.watchdog.stormed();
        if rules.pause.is_clear() {
            self.cells[usize::from(port)].holds &= !hold::PAUSE;
        }
        stopped
    }

    /// Passes a received pause to the watchdog of `port`. Returns the time of its next sample.
    pub fn watch(&mut self, now: Time, port: u16, received: Received, watchdog: &WatchdogParameters) -> Time {
        let Received { classes, span, effect } = received;
        self.rules_mut(port).watchdog.on_pause(classes, now.saturating_add(span).max(effect));
        effect.saturating_add(if span > Time::ZERO { watchdog.detect } else { watchdog.restore })
    }

    /// Takes a watchdog sample of `port`: detects and ends pause storms. Returns the time of the next sample.
    #[cold]
    pub fn look_for_storm(&mut self, now: Time, port: u16, watchdog: &WatchdogParameters, books: &mut Books) -> Time {
        let rules = self.rules_mut(port);
        rules.pause.blocked(now); // updates the state to `now`
        let stopped = std::array::from_fn(|class| rules.pause.stopped_since(class as u8));
        let mut look = rules.watchdog.look(now, watchdog, stopped);
        if look.again == Time::MAX && !rules.pause.is_clear() {
            // A pause is pending that has not taken effect yet.
            look.again = now + watchdog.detect;
        }
        let stormed = rules.watchdog.stormed();
        books.ledger.pause_storms += u64::from(look.begun.count_ones());
        if let Some(tracer) = &mut books.tracer {
            for class in (0..8).filter(|class| look.ended & 1 << class != 0) {
                tracer.note_port(now, TraceEvent::StormOver { port, class });
            }
            for class in (0..8).filter(|class| look.begun & 1 << class != 0) {
                tracer.note_port(now, TraceEvent::StormBegun { port, class });
            }
        }
        let cell = self.cell_mut(port);
        cell.holds = cell.holds & !hold::STORM | if stormed != 0 { hold::STORM } else { 0 };
        if cell.waiting != 0 {
            self.look_when_free(now, port);
        }
        look.again
    }

    /// Returns the bitmask of classes with frames to drop at `port` by the watchdog.
    pub fn dropped_classes(&self, port: u16) -> u8 {
        let stormed = self.cell(port).holds & hold::STORM != 0;
        if stormed && self.drops_in_storms { self.rules(port).watchdog.stormed() } else { 0 }
    }
}
