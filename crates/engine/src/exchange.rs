//! Messages and times that the parts of a network exchange at the end of a window.

use crate::mail::Parcel;
use crate::node::Message;
use crate::sides::Ahead;
use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering};
use std::sync::PoisonError;
use units::Time;

/// A value with a cache line of its own, which prevents false sharing between threads.
#[derive(Debug)]
#[repr(align(128))]
struct Apart<T>(T);

/// Messages from one part to another.
type PostBox<M> = Apart<Mutex<Vec<Parcel<M>>>>;

/// State of one window. There are two, by parity of the window: while one thread writes that of the next window, others
/// may still read this one.
#[derive(Debug)]
struct Turn<M> {
    parcels: Vec<PostBox<M>>,
    /// First event and earliest effect of each side, by part.
    ahead: Vec<Apart<[[AtomicU64; 2]; 2]>>,
    /// Whether a part stopped before all of its nodes had run.
    cut: AtomicBool,
}

/// Messages in flight between parts, and the next events reported by each part.
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

    /// Clears the cut flags of the preceding run; no thread runs meanwhile.
    pub(crate) fn begin(&self) {
        for turn in &self.turns {
            turn.cut.store(false, Ordering::Relaxed);
        }
    }

    /// Leaves the messages of part `from` for part `to`, and takes back an empty list.
    pub(crate) fn put(&self, turn: usize, from: usize, to: usize, parcels: &mut Vec<Parcel<M>>) {
        let cell = &self.turns[turn].parcels[from * self.parts + to].0;
        std::mem::swap(&mut *cell.lock().unwrap_or_else(PoisonError::into_inner), parcels);
    }

    /// Delivers all messages for part `to`, in the order of the sending parts.
    pub(crate) fn collect(&self, turn: usize, to: usize, mut deliver: impl FnMut(Parcel<M>)) {
        for from in 0..self.parts {
            let cell = &self.turns[turn].parcels[from * self.parts + to].0;
            cell.lock().unwrap_or_else(PoisonError::into_inner).drain(..).for_each(&mut deliver);
        }
    }

    /// Reports the next events of each side, as far as part `from` has them.
    pub(crate) fn set_ahead(&self, turn: usize, from: usize, ahead: &[Ahead; 2]) {
        for (known, Ahead { first, reaches }) in self.turns[turn].ahead[from].0.iter().zip(ahead) {
            known[0].store(first.as_ps(), Ordering::Release);
            known[1].store(reaches.as_ps(), Ordering::Release);
        }
    }

    /// Returns the next events of each side over all parts; valid after the barrier.
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

    /// Reports that not all nodes have run in the preceding window. All parts read it after the next barrier.
    pub(crate) fn cut(&self, turn: usize) {
        self.turns[turn].cut.store(true, Ordering::Release);
    }

    /// Returns whether any part reported a cut; valid after the barrier.
    pub(crate) fn was_cut(&self, turn: usize) -> bool {
        self.turns[turn].cut.load(Ordering::Acquire)
    }
}
