//! What the parts of a network tell each other at the end of a window.

use crate::mail::Parcel;
use crate::node::Message;
use crate::sides::Ahead;
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
    /// First event and reach of each side.
    ahead: Vec<Apart<[[AtomicU64; 2]; 2]>>,
    /// Whether a part stopped before all of its nodes had run.
    cut: AtomicBool,
}

/// Parcels on their way from part to part, and what each part knows of that comes.
#[derive(Debug)]
pub(crate) struct Exchange<M> {
    parts: usize,
    turns: [Turn<M>; 2],
}

impl<M: Message> Exchange<M> {
    pub(crate) fn new(parts: usize) -> Self {
        let turn = |_| Turn {
            parcels: (0..parts * parts).map(|_| Apart(Mutex::new(Vec::new()))).collect(),
            ahead: (0..parts).map(|_| Apart(Default::default())).collect(),
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

    /// States what part `from` knows of that the sides have before them.
    pub(crate) fn set_ahead(&self, turn: usize, from: usize, ahead: &[Ahead; 2]) {
        for (known, Ahead { first, reaches }) in self.turns[turn].ahead[from].0.iter().zip(ahead) {
            known[0].store(first.as_ps(), Ordering::Release);
            known[1].store(reaches.as_ps(), Ordering::Release);
        }
    }

    /// What all parts know of, once all have met.
    pub(crate) fn ahead(&self, turn: usize) -> [Ahead; 2] {
        let time = |cell: &AtomicU64| Time::from_ps(cell.load(Ordering::Acquire));
        let parts = self.turns[turn].ahead.iter();
        parts.fold([Ahead::NONE; 2], |ahead, Apart(known)| {
            [0, 1].map(|side| {
                let [first, reaches] = [0, 1].map(|it| time(&known[side][it]));
                ahead[side].and(Ahead { first, reaches })
            })
        })
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
