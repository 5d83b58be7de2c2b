//! Exhaustive interleavings of threads, by loom: `scripts/loom.sh`.

use crate::Message;
use crate::barrier::{Barrier, Breaker};
use crate::bipartition::NextEvents;
use crate::exchange::Exchange;
use crate::mail::{CrossPartMessage, Wire};
use crate::pool::Pool;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use units::Time;

#[derive(Clone, Copy, Debug, Default)]
struct Token(u64);

impl Message for Token {
    fn at(&self) -> Time {
        Time::from_ps(self.0)
    }
}

fn model(check: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    // A higher bound on preemptions finds no further errors, but takes hours.
    builder.preemption_bound = Some(3);
    builder.check(check);
}

/// Data that one thread writes before a barrier is visible to another after it, window after window. Each thread writes
/// a cell of its own without a lock, so that loom detects a missing memory order.
#[test]
fn writes_before_the_barrier_are_visible_after_it() {
    model(|| {
        let shared = Arc::new((Barrier::new(2), [UnsafeCell::new(0u32), UnsafeCell::new(0u32)]));
        let run = |index: usize, shared: &(Barrier, [UnsafeCell<u32>; 2])| {
            for round in 1..=2 {
                shared.1[index].with_mut(|cell| unsafe { *cell = round });
                assert!(shared.0.wait());
                shared.1[1 - index].with(|cell| assert_eq!(unsafe { *cell }, round));
                assert!(shared.0.wait());
            }
        };
        let other = Arc::clone(&shared);
        let thread = loom::thread::spawn(move || run(1, &other));
        run(0, &shared);
        thread.join().unwrap();
    });
}

/// A thread that unwinds releases the thread that waits for it at the barrier.
#[test]
fn a_broken_barrier_blocks_no_thread() {
    struct Unwinds;
    model(|| {
        let barrier = Arc::new(Barrier::new(2));
        let other = Arc::clone(&barrier);
        let thread = loom::thread::spawn(move || {
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let _breaker = Breaker(&other);
                std::panic::resume_unwind(Box::new(Unwinds));
            }));
        });
        assert!(!barrier.wait());
        thread.join().unwrap();
    });
}

/// The times that partition `index` reports for the two sides in this window: on side 0 partition 0 has the earlier
/// event and partition 1 the earlier effect on another node; on side 1 only partition 1 has an event.
fn next_events_of(window: u64, index: usize) -> [NextEvents; 2] {
    let at = |first, earliest_effect| NextEvents {
        first: Time::from_ps(100 + window * 10 + first),
        earliest_effect: Time::from_ps(200 + window * 10 + earliest_effect),
    };
    if index == 0 { [at(0, 1), NextEvents::NONE] } else { [at(1, 0), at(2, 3)] }
}

/// One barrier per window and two alternating window states suffice, as in the engine. Every message arrives once, in
/// the window after the one in which it was sent. Both partitions read the earliest times of both, and the cut flag
/// that only one of them sets.
#[test]
fn two_sets_of_cells_and_one_barrier_a_window_are_enough() {
    model(|| {
        let shared = Arc::new((Barrier::new(2), Exchange::<Token>::new(2)));
        let run = |index: usize, shared: &(Barrier, Exchange<Token>)| {
            let (barrier, exchange) = shared;
            let mut window = 0u64;
            loop {
                let parity = (window & 1) as usize;
                let wire = Wire::new(0, 0, 0);
                let mut messages = vec![CrossPartMessage { wire, message: Token(window * 10 + index as u64) }];
                exchange.send(parity, index, 1 - index, &mut messages);
                assert!(messages.is_empty(), "what was taken in exchange is empty");
                exchange.report_next(parity, index, &next_events_of(window, index));
                if index == 1 && window == 1 {
                    exchange.report_cut(parity);
                }
                assert!(barrier.wait());
                let mut got = Vec::new();
                exchange.receive(parity, index, |sent| got.push(sent.message.0));
                assert_eq!(got, [window * 10 + 1 - index as u64]);
                let [one, other] = [next_events_of(window, 0), next_events_of(window, 1)];
                assert_eq!(exchange.next_events(parity), [one[0].merge(other[0]), other[1]]);
                if exchange.was_cut(parity) {
                    return window;
                }
                window += 1;
            }
        };
        let other = Arc::clone(&shared);
        let thread = loom::thread::spawn(move || run(1, &other));
        let windows = run(0, &shared);
        assert_eq!((windows, thread.join().unwrap()), (1, 1));
    });
}

/// Workers use the pool's borrowed job only between its call and return, for any number of workers, and the drop of the
/// pool joins all of them.
#[test]
fn workers_hold_a_job_only_while_the_call_lasts() {
    model(|| {
        let mut pool = Pool::new();
        for threads in [2, 1, 2] {
            let cells = [UnsafeCell::new(0usize), UnsafeCell::new(0usize)];
            struct Cells<'a>(&'a [UnsafeCell<usize>; 2]);
            // SAFETY: for the test: each job touches the cell of its own number, and loom checks that.
            unsafe impl Sync for Cells<'_> {}
            impl Cells<'_> {
                fn touch(&self, index: usize) {
                    self.0[index].with_mut(|cell| unsafe { *cell += index + 1 });
                }
            }
            let borrowed = Cells(&cells);
            pool.run(threads, &|index| borrowed.touch(index));
            let sum: usize = cells.iter().map(|cell| cell.with(|cell| unsafe { *cell })).sum();
            assert_eq!(sum, if threads == 2 { 3 } else { 1 });
        }
    });
}
