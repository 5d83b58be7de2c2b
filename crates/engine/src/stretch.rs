//! Consecutive windows that several threads run together.

use crate::barrier::Breaker;
use crate::division::Division;
use crate::mail::Parcel;
use crate::node::{Message, Node};
use crate::part::View;
use crate::ranks::{Abroad, Known};
use crate::sides::Turns;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use units::Time;

/// Simulated time of an engine, readable by other threads while it runs.
#[derive(Debug, Default)]
pub struct Clock(AtomicU64);

impl Clock {
    /// Returns the end of the last executed window.
    pub fn now(&self) -> Time {
        Time::from_ps(self.0.load(Ordering::Relaxed))
    }

    pub(crate) fn set(&self, now: Time) {
        self.0.store(now.as_ps(), Ordering::Relaxed);
    }
}

/// Result of consecutive windows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    /// End of the windows, by side.
    pub(crate) turns: Turns,
    pub(crate) windows: u64,
    /// Whether a stop interrupted them: not every node has run in the last one.
    pub(crate) cut: bool,
}

impl Stretch {
    /// Creates the result of no windows.
    pub(crate) fn from(turns: Turns) -> Stretch {
        Stretch { turns, windows: 0, cut: false }
    }
}

/// Parameters that all threads of one sequence of windows share.
pub(crate) struct Plan<'a, M> {
    pub(crate) from: Turns,
    pub(crate) stop: Time,
    /// Limit of windows.
    pub(crate) windows: u64,
    pub(crate) division: &'a Division<M>,
    pub(crate) lookaheads: &'a [Time],
    pub(crate) stopped: &'a AtomicBool,
    pub(crate) clock: &'a Clock,
    pub(crate) abroad: Option<&'a Abroad<M>>,
}

impl<M: Message> Plan<'_, M> {
    /// Runs part `index`. Returns `None` if another thread panicked.
    pub(crate) fn follow<N: Node<Message = M>>(&self, index: usize, mut view: View<'_, N>) -> Option<Stretch> {
        let Division { barrier, exchange, part_of, .. } = self.division;
        let parts = self.division.parts();
        let _breaker = Breaker(barrier);
        let mut stretch = Stretch::from(self.from);
        let mut known = self.abroad.map_or(Known::default(), Abroad::known);
        for meeting in 0u64.. {
            let turn = (meeting & 1) as usize;
            // Next events of this part: those of its own nodes, and the messages that it just sent to other parts.
            let mut ahead = view.ahead(&stretch.turns);
            for (to, parcels) in view.window.outgoing.iter_mut().enumerate() {
                for Parcel { wire, message } in parcels.iter() {
                    // Messages always go to the side that runs next.
                    ahead[stretch.turns.side()].note(message.at(), self.lookaheads[wire.slot as usize]);
                }
                if parcels.is_empty() {
                    continue;
                }
                match self.abroad {
                    Some(abroad) if to >= parts => abroad.put(index, to - parts, parcels),
                    _ => exchange.put(turn, index, to, parcels),
                }
            }
            if let Some(abroad) = self.abroad.filter(|_| stretch.turns.now() >= known.until) {
                // The earliest event of all nodes is in the pool, as it is before the horizon.
                abroad.set_next(index, ahead[0].first.min(view.first(0)));
            }
            exchange.set_ahead(turn, index, &ahead);
            if stretch.cut {
                exchange.cut(turn);
            }
            if !barrier.wait() {
                return None;
            }
            exchange.collect(turn, index, |parcel| view.window.deliver(parcel.wire, parcel.message));
            stretch.cut = exchange.was_cut(turn);
            let ahead = exchange.ahead(turn);
            let end = match self.abroad {
                // Some nodes have not run, so the reported times are incomplete.
                None if stretch.cut => self.stop,
                None => stretch.turns.pass(&ahead, self.stop),
                Some(abroad) => {
                    let mut end = ahead[0].reaches.min(self.stop);
                    if stretch.cut || stretch.turns.now() >= known.until {
                        // A rank that was cut waits for the others at their next synchronisation.
                        stretch.turns.run(stretch.turns.now().max(known.until));
                        if index == 0 {
                            abroad.meet((ahead[0].reaches, stretch.cut), self.stop, parts, part_of);
                        }
                        if !barrier.wait() {
                            return None;
                        }
                        abroad.collect(index, |parcel| view.window.deliver(parcel.wire, parcel.message));
                        known = abroad.known();
                        stretch.cut = known.cut;
                        // `ahead` does not include the messages just received; `horizon` includes them, as sent by the
                        // others.
                        end = known.horizon;
                    }
                    end.min(known.until)
                }
            };
            if stretch.cut || stretch.turns.now() >= self.stop || stretch.windows == self.windows {
                break;
            }
            stretch.cut = !view.run(&stretch.turns, end, self.stopped);
            if self.abroad.is_some() {
                // `run` polls the flag before each node, so not at all in a window without nodes.
                stretch.cut |= self.stopped.load(Ordering::Relaxed);
            }
            stretch.windows += 1;
            stretch.turns.run(end);
            if index == 0 {
                self.clock.set(stretch.turns.now());
            }
        }
        Some(stretch)
    }
}
