//! What the parts of a network tell each other at the end of a window.

use crate::mail::Parcel;
use crate::node::Message;
use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering};
use std::sync::PoisonError;
use units::Time;

/// A value on a cache line of its own: two threads writing neighbours would fight over the line.
#[derive(Debug)]
#[repr(align(128))]
struct Apart<T>(T);

/// What one part has for another.
type PostBox<M> = Apart<Mutex<Vec<Parcel<M>>>>;

/// Of one window; while a thread writes the next window's, others may still read this one's, so there are two.
#[derive(Debug)]
struct Turn<M> {
    parcels: Vec<PostBox<M>>,
    horizons: Vec<Apart<AtomicU64>>,
    /// Whether a part stopped before all of its nodes had run.
    cut: AtomicBool,
}

/// Parcels on their way from part to part, and how far each part can see.
#[derive(Debug)]
pub(crate) struct Exchange<M> {
    parts: usize,
    turns: [Turn<M>; 2],
}

impl<M: Message> Exchange<M> {
    pub(crate) fn new(parts: usize) -> Self {
        let turn = |_| Turn {
            parcels: (0..parts * parts).map(|_| Apart(Mutex::new(Vec::new()))).collect(),
            horizons: (0..parts).map(|_| Apart(AtomicU64::new(0))).collect(),
            cut: AtomicBool::new(false),
        };
        Exchange { parts, turns: std::array::from_fn(turn) }
    }

    /// Forgets how the last stretch ended, while no thread runs.
    pub(crate) fn begin(&self) {
        for turn in &self.turns {
            turn.cut.store(false, Ordering::Relaxed);
        }
    }

    /// Leaves what part `from` has for part `to`, and takes an empty list for it.
    pub(crate) fn put(&self, turn: usize, from: usize, to: usize, parcels: &mut Vec<Parcel<M>>) {
        let cell = &self.turns[turn].parcels[from * self.parts + to].0;
        std::mem::swap(&mut *cell.lock().unwrap_or_else(PoisonError::into_inner), parcels);
    }

    /// Hands over everything for part `to`, in the order of the senders.
    pub(crate) fn collect(&self, turn: usize, to: usize, mut deliver: impl FnMut(Parcel<M>)) {
        for from in 0..self.parts {
            let cell = &self.turns[turn].parcels[from * self.parts + to].0;
            cell.lock().unwrap_or_else(PoisonError::into_inner).drain(..).for_each(&mut deliver);
        }
    }

    /// States that nothing that part `from` knows of lets the window end before `horizon`.
    pub(crate) fn set_horizon(&self, turn: usize, from: usize, horizon: Time) {
        self.turns[turn].horizons[from].0.store(horizon.as_ps(), Ordering::Release);
    }

    /// The end of the window, once all have met.
    pub(crate) fn horizon(&self, turn: usize) -> Time {
        let times = self.turns[turn].horizons.iter().map(|cell| cell.0.load(Ordering::Acquire));
        Time::from_ps(times.min().unwrap_or(u64::MAX))
    }

    /// Tells everybody, where they meet next, that not all nodes have run in the window before.
    pub(crate) fn cut(&self, turn: usize) {
        self.turns[turn].cut.store(true, Ordering::Release);
    }

    /// Whether somebody told so, once all have met.
    pub(crate) fn was_cut(&self, turn: usize) -> bool {
        self.turns[turn].cut.load(Ordering::Acquire)
    }
}
