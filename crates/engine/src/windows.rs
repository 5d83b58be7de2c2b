//! A sequence of windows that several threads run together.

use crate::barrier::Breaker;
use crate::bipartition::SideSchedule;
use crate::division::Partitioning;
use crate::mail::CrossPartMessage;
use crate::node::{Message, Node};
use crate::part::View;
use crate::ranks::{RemoteRanks, SyncState};
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

/// Result of a sequence of windows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowSequence {
    /// Time that each side has reached.
    pub(crate) schedule: SideSchedule,
    pub(crate) windows: u64,
    /// Whether a stop interrupted the sequence: not every node has run in the last window.
    pub(crate) cut: bool,
}

impl WindowSequence {
    /// Creates the result of a sequence without windows.
    pub(crate) fn from(schedule: SideSchedule) -> WindowSequence {
        WindowSequence { schedule, windows: 0, cut: false }
    }
}

/// Parameters that all threads of one sequence of windows share.
pub(crate) struct Plan<'a, M> {
    pub(crate) from: SideSchedule,
    pub(crate) stop: Time,
    /// Maximum number of windows.
    pub(crate) windows: u64,
    pub(crate) division: &'a Partitioning<M>,
    pub(crate) lookaheads: &'a [Time],
    pub(crate) stopped: &'a AtomicBool,
    pub(crate) clock: &'a Clock,
    pub(crate) remote_ranks: Option<&'a RemoteRanks<M>>,
}

impl<M: Message> Plan<'_, M> {
    /// Runs partition `index`. Returns `None` if another thread panicked.
    pub(crate) fn run_part<N: Node<Message = M>>(&self, index: usize, mut view: View<'_, N>) -> Option<WindowSequence> {
        let Partitioning { barrier, exchange, part_of, .. } = self.division;
        let parts = self.division.parts();
        let _breaker = Breaker(barrier);
        let mut sequence = WindowSequence::from(self.from);
        let mut agreed = self.remote_ranks.map_or(SyncState::default(), RemoteRanks::agreed);
        for step in 0u64.. {
            let parity = (step & 1) as usize;
            // Next events of this partition: the events of its nodes, and the messages that it just sent to other
            // partitions.
            let mut next_events = view.next_events(&sequence.schedule);
            for (to, messages) in view.window.outgoing.iter_mut().enumerate() {
                for CrossPartMessage { wire, message } in messages.iter() {
                    // Messages are always for the side that runs next.
                    next_events[sequence.schedule.side()].add(message.at(), self.lookaheads[wire.slot as usize]);
                }
                if messages.is_empty() {
                    continue;
                }
                match self.remote_ranks {
                    Some(remote_ranks) if to >= parts => remote_ranks.pack(index, to - parts, messages),
                    _ => exchange.send(parity, index, to, messages),
                }
            }
            if let Some(remote_ranks) = self.remote_ranks.filter(|_| sequence.schedule.now() >= agreed.until) {
                // The earliest event of all nodes is an event of a node in a pool, because it is before the horizon.
                remote_ranks.set_next(index, next_events[0].first.min(view.first(0)));
            }
            exchange.report_next(parity, index, &next_events);
            if sequence.cut {
                exchange.report_cut(parity);
            }
            if !barrier.wait() {
                return None;
            }
            exchange.receive(parity, index, |sent| view.window.deliver(sent.wire, sent.message));
            sequence.cut = exchange.was_cut(parity);
            let next_events = exchange.next_events(parity);
            let end = match self.remote_ranks {
                // After a cut, some nodes have not run, so the reported times are incomplete: end the sequence.
                None if sequence.cut => self.stop,
                None => sequence.schedule.skip_idle(&next_events, self.stop),
                Some(remote_ranks) => {
                    let mut end = next_events[0].earliest_effect.min(self.stop);
                    if sequence.cut || sequence.schedule.now() >= agreed.until {
                        // A rank that was cut waits for the other ranks at their next synchronisation.
                        sequence.schedule.advance(sequence.schedule.now().max(agreed.until));
                        if index == 0 {
                            remote_ranks.synchronise(
                                (next_events[0].earliest_effect, sequence.cut),
                                self.stop,
                                parts,
                                part_of,
                            );
                        }
                        if !barrier.wait() {
                            return None;
                        }
                        remote_ranks.receive(index, |sent| view.window.deliver(sent.wire, sent.message));
                        agreed = remote_ranks.agreed();
                        sequence.cut = agreed.cut;
                        // `next_events` does not include the messages just received; `horizon` does, because their
                        // senders included them.
                        end = agreed.horizon;
                    }
                    end.min(agreed.until)
                }
            };
            if sequence.cut || sequence.schedule.now() >= self.stop || sequence.windows == self.windows {
                break;
            }
            sequence.cut = !view.run(&sequence.schedule, end, self.stopped);
            if self.remote_ranks.is_some() {
                // `run` polls the flag before each node, and therefore not at all in a window without nodes: poll it
                // here.
                sequence.cut |= self.stopped.load(Ordering::Relaxed);
            }
            sequence.windows += 1;
            sequence.schedule.advance(end);
            if index == 0 {
                self.clock.set(sequence.schedule.now());
            }
        }
        Some(sequence)
    }
}
