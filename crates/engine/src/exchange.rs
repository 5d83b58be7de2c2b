//! Messages and times that the partitions of a network exchange at the end of a window.

use crate::bipartition::NextEvents;
use crate::mail::CrossPartMessage;
use crate::node::Message;
use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering};
use std::sync::PoisonError;
use units::Time;

/// A value with a cache line of its own, which prevents false sharing between threads.
#[derive(Debug)]
#[repr(align(128))]
struct CacheAligned<T>(T);

/// Messages from one partition to another.
type OutgoingSlot<M> = CacheAligned<Mutex<Vec<CrossPartMessage<M>>>>;

/// State of one window. There are two, selected by the parity of the window, because some threads may still read the
/// state of one window while others write that of the next.
#[derive(Debug)]
struct WindowState<M> {
    messages: Vec<OutgoingSlot<M>>,
    /// By partition, then by side of the bipartition: [time of the first event, earliest effect] of [`NextEvents`],
    /// in ps.
    next_events: Vec<CacheAligned<[[AtomicU64; 2]; 2]>>,
    /// Whether any partition was cut, that is, stopped before all of its nodes had run.
    cut: AtomicBool,
}

/// Messages in flight between partitions, and the next events reported by each partition.
#[derive(Debug)]
pub(crate) struct Exchange<M> {
    parts: usize,
    states: [WindowState<M>; 2],
}

impl<M: Message> Exchange<M> {
    pub(crate) fn new(parts: usize) -> Self {
        let state = |_| WindowState {
            messages: (0..parts * parts).map(|_| CacheAligned(Mutex::new(Vec::new()))).collect(),
            next_events: (0..parts).map(|_| CacheAligned(Default::default())).collect(),
            cut: AtomicBool::new(false),
        };
        Exchange { parts, states: std::array::from_fn(state) }
    }

    /// Clears the cut flags of the preceding run (a partition stopped before all of its nodes had run). No thread may
    /// run nodes during this call.
    pub(crate) fn begin(&self) {
        for state in &self.states {
            state.cut.store(false, Ordering::Relaxed);
        }
    }

    /// Moves the messages of partition `from` to the slot of partition `to`, and returns an empty list in `messages`.
    pub(crate) fn send(&self, parity: usize, from: usize, to: usize, messages: &mut Vec<CrossPartMessage<M>>) {
        let cell = &self.states[parity].messages[from * self.parts + to].0;
        std::mem::swap(&mut *cell.lock().unwrap_or_else(PoisonError::into_inner), messages);
    }

    /// Delivers all messages for partition `to`, in the order of the sending partitions.
    pub(crate) fn receive(&self, parity: usize, to: usize, mut deliver: impl FnMut(CrossPartMessage<M>)) {
        for from in 0..self.parts {
            let cell = &self.states[parity].messages[from * self.parts + to].0;
            cell.lock().unwrap_or_else(PoisonError::into_inner).drain(..).for_each(&mut deliver);
        }
    }

    /// Reports the next events of each side of the bipartition among the nodes and messages of partition `from`.
    pub(crate) fn report_next(&self, parity: usize, from: usize, next_events: &[NextEvents; 2]) {
        for (reported, NextEvents { first, earliest_effect }) in
            self.states[parity].next_events[from].0.iter().zip(next_events)
        {
            reported[0].store(first.as_ps(), Ordering::Release);
            reported[1].store(earliest_effect.as_ps(), Ordering::Release);
        }
    }

    /// Returns the next events of each side, as minima over all partitions; valid after the barrier.
    pub(crate) fn next_events(&self, parity: usize) -> [NextEvents; 2] {
        let time = |cell: &AtomicU64| Time::from_ps(cell.load(Ordering::Acquire));
        let parts = self.states[parity].next_events.iter();
        parts.fold([NextEvents::NONE; 2], |next_events, CacheAligned(reported)| {
            [0, 1].map(|side| {
                let [first, earliest_effect] = [0, 1].map(|it| time(&reported[side][it]));
                next_events[side].merge(NextEvents { first, earliest_effect })
            })
        })
    }

    /// Reports that the calling partition was cut: not all of its nodes have run in the preceding window. All
    /// partitions read the flag after the next barrier.
    pub(crate) fn report_cut(&self, parity: usize) {
        self.states[parity].cut.store(true, Ordering::Release);
    }

    /// Returns whether any partition reported a cut; valid after the barrier.
    pub(crate) fn was_cut(&self, parity: usize) -> bool {
        self.states[parity].cut.load(Ordering::Acquire)
    }
}
