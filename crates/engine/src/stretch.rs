//! Windows that several threads run together, one after the other.

use crate::barrier::Breaker;
use crate::division::Division;
use crate::mail::Parcel;
use crate::node::{Message, Node};
use crate::part::View;
use crate::ranks::{Abroad, Known};
use crate::sides::Turns;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use units::Time;

/// How far an engine is, for other threads to look at while it runs.
#[derive(Debug, Default)]
pub struct Clock(AtomicU64);

impl Clock {
    /// The end of the last window that was executed.
    pub fn now(&self) -> Time {
        Time::from_ps(self.0.load(Ordering::Relaxed))
    }

    pub(crate) fn set(&self, now: Time) {
        self.0.store(now.as_ps(), Ordering::Relaxed);
    }
}

/// What came of some windows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    /// Where they ended.
    pub(crate) turns: Turns,
    pub(crate) windows: u64,
    /// Whether somebody stopped them: not every node has run in the last one.
    pub(crate) cut: bool,
}

impl Stretch {
    /// Of no windows yet.
    pub(crate) fn from(turns: Turns) -> Stretch {
        Stretch { turns, windows: 0, cut: false }
    }
}

/// What the threads of one stretch are to do.
pub(crate) struct Plan<'a, M> {
    pub(crate) from: Turns,
    pub(crate) stop: Time,
    /// At most this many windows.
    pub(crate) windows: u64,
    pub(crate) division: &'a Division<M>,
    pub(crate) lookaheads: &'a [Time],
    pub(crate) stopped: &'a AtomicBool,
    pub(crate) clock: &'a Clock,
    pub(crate) abroad: Option<&'a Abroad<M>>,
}

impl<M: Message> Plan<'_, M> {
    /// Runs part `index`; `None` when another thread panicked.
    pub(crate) fn follow<N: Node<Message = M>>(&self, index: usize, mut view: View<'_, N>) -> Option<Stretch> {
        let Division { barrier, exchange, part_of, .. } = self.division;
        let parts = self.division.parts();
        let _breaker = Breaker(barrier);
        let mut stretch = Stretch::from(self.from);
        let mut known = self.abroad.map_or(Known::default(), Abroad::known);
        for meeting in 0u64.. {
            let turn = (meeting & 1) as usize;
            // What this part knows: its own nodes, and what it just sent to others.
            let mut ahead = view.ahead(&stretch.turns);
            for (to, parcels) in view.window.outgoing.iter_mut().enumerate() {
                for Parcel { wire, message } in parcels.iter() {
                    // What was sent is for the side whose turn it is.
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
                // The earliest of all nodes is in the pool: its event lies before the horizon.
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
                // Not every node has told what it has before it.
                None if stretch.cut => self.stop,
                None => stretch.turns.pass(&ahead, self.stop),
                Some(abroad) => {
                    let mut end = ahead[0].reaches.min(self.stop);
                    if stretch.cut || stretch.turns.now() >= known.until {
                        // A rank that was cut waits for the others where they would have met.
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
                        // What has come was not looked at yet, but the others' sight takes it into account.
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
