//! Reaction to pauses of a neighbour: 802.3x PAUSE, 802.1Qbb PFC, and the pause-storm watchdog.

use super::{Egress, block};
use crate::node_stats::{NodeStats, PauseEvent};
use protocols::frame::{Frame, PauseMessage};
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
    /// Duration of the pause, from its reception on. Zero means XON.
    pub span: Time,
    /// Time at which the pause or resume takes effect.
    pub effect: Time,
}

impl Egress {
    /// Handles a PAUSE or PFC frame that arrived by `port`: its classes stop or resume after `reaction`.
    pub fn on_pause(&mut self, port: u16, frame: &Frame, reaction: Reaction, stats: &mut NodeStats) -> Received {
        let now = frame.at;
        let state = self.state_mut(port);
        let PauseMessage { classes, quanta } = frame.pause_message();
        let span = quanta_time(quanta, state.link.rate);
        let reaction = reaction.on(state.link.rate);
        state.pause.on_pause(now, classes, span, reaction);
        self.cell_mut(port).block_reasons |= block::PAUSE;
        if let Some(tracer) = &mut stats.tracer {
            tracer.note_pause(now, port, frame, reaction, span);
        }
        stats.note_pause(PauseEvent { at: now, port, classes, pause: span > Time::ZERO });
        Received { classes, span, effect: now + reaction }
    }

    /// Schedules `port`, if frames wait, for the time at which the received pause or resume takes effect.
    pub fn schedule_after_pause(&mut self, port: u16, received: Received) {
        if self.cell(port).waiting != 0 {
            self.schedule_when_free(received.effect, port);
        }
    }

    /// Returns the bitmask of classes paused at `port` now.
    #[cold]
    pub(super) fn stopped(&mut self, now: Time, port: u16) -> u8 {
        let state = &mut self.states[usize::from(port)];
        let stopped = state.pause.blocked(now) & !state.watchdog.stormed();
        if state.pause.is_clear() {
            self.cells[usize::from(port)].block_reasons &= !block::PAUSE;
        }
        stopped
    }

    /// Passes a received pause to the watchdog of `port`. Returns the time of the next watchdog sample.
    pub fn watch(&mut self, now: Time, port: u16, received: Received, watchdog: &WatchdogParameters) -> Time {
        let Received { classes, span, effect } = received;
        self.state_mut(port).watchdog.on_pause(classes, now.saturating_add(span).max(effect));
        effect.saturating_add(if span > Time::ZERO { watchdog.detection_time } else { watchdog.restoration_time })
    }

    /// Takes a watchdog sample of `port`: detects and ends pause storms. Returns the time of the next sample.
    #[cold]
    pub fn sample_watchdog(
        &mut self,
        now: Time,
        port: u16,
        watchdog: &WatchdogParameters,
        stats: &mut NodeStats,
    ) -> Time {
        let state = self.state_mut(port);
        state.pause.blocked(now); // updates the state to `now`
        let stopped = std::array::from_fn(|class| state.pause.stopped_since(class as u8));
        let mut sample = state.watchdog.update(now, watchdog, stopped);
        if sample.again == Time::MAX && !state.pause.is_clear() {
            // A received pause has not taken effect yet: sample again after the detection time.
            sample.again = now + watchdog.detection_time;
        }
        let stormed = state.watchdog.stormed();
        stats.counters.pause_storms += u64::from(sample.begun.count_ones());
        if let Some(tracer) = &mut stats.tracer {
            for class in (0..8).filter(|class| sample.ended & 1 << class != 0) {
                tracer.note_port(now, TraceEvent::StormOver { port, class });
            }
            for class in (0..8).filter(|class| sample.begun & 1 << class != 0) {
                tracer.note_port(now, TraceEvent::StormBegun { port, class });
            }
        }
        let cell = self.cell_mut(port);
        cell.block_reasons = cell.block_reasons & !block::STORM | if stormed != 0 { block::STORM } else { 0 };
        if cell.waiting != 0 {
            self.schedule_when_free(now, port);
        }
        sample.again
    }

    /// Returns the bitmask of classes whose frames the watchdog drops at `port`.
    pub fn dropped_classes(&self, port: u16) -> u8 {
        let stormed = self.cell(port).block_reasons & block::STORM != 0;
        if stormed && self.drops_in_storms { self.state(port).watchdog.stormed() } else { 0 }
    }
}
