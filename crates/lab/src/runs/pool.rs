//! Concurrent runs, one per thread.

use crate::stop::StopFlag;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Results of a set of runs.
pub struct PoolResults<R> {
    /// Results with their indices in the set, in order.
    pub results: Vec<(usize, R)>,
    /// Whether some runs were not started, or a stop was requested.
    pub stopped: bool,
}

/// Returns `jobs`, by default the number of cores; at most the number of items.
pub fn threads(jobs: Option<u16>, work: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    jobs.map_or(cores, usize::from).min(work).max(1)
}

/// Calls `work` on every item in order, on `threads` threads, until `work` returns `Break` or a stop is requested.
pub fn each<T: Send, R: Send>(
    items: Vec<T>,
    threads: usize,
    stop: &StopFlag,
    work: impl Fn(T) -> ControlFlow<R, R> + Sync,
) -> PoolResults<R> {
    let count = items.len();
    // Reversed, because items are popped from the end.
    let items: Mutex<Vec<(usize, T)>> = Mutex::new(items.into_iter().enumerate().rev().collect());
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(count));
    let (broken, started) = (AtomicBool::new(false), AtomicUsize::new(0));
    let worker = || {
        while !stop.is_set() && !broken.load(Ordering::Relaxed) {
            let Some((at, item)) = lock(&items).pop() else { return };
            started.fetch_add(1, Ordering::Relaxed);
            let result = match work(item) {
                ControlFlow::Continue(result) => result,
                ControlFlow::Break(result) => {
                    broken.store(true, Ordering::Relaxed);
                    result
                }
            };
            lock(&done).push((at, result));
        }
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| {
            scope.spawn(worker);
        });
        worker();
    });
    let mut results = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(at, _)| *at);
    PoolResults { results, stopped: started.into_inner() < count || stop.is_set() }
}

/// Ignores poisoning, because a panic on a thread ends the process anyway.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_items_on_any_number_of_threads() {
        for threads in [1, 2, 7] {
            let done = each((0..100).collect(), threads, &StopFlag::default(), |item: usize| {
                ControlFlow::Continue(item * item)
            });
            assert!(!done.stopped);
            assert_eq!(done.results, (0..100).map(|item| (item, item * item)).collect::<Vec<_>>());
        }
        assert!(each(Vec::new(), 3, &StopFlag::default(), |item: u8| ControlFlow::Continue(item)).results.is_empty());
    }

    #[test]
    fn a_break_starts_nothing_more() {
        let work = |item: usize| if item == 3 { ControlFlow::Break(item) } else { ControlFlow::Continue(item) };
        let done = each((0..100).collect(), 1, &StopFlag::default(), work);
        assert!(done.stopped);
        assert_eq!(done.results.last(), Some(&(3, 3)));
        assert_eq!(done.results.len(), 4);
    }

    #[test]
    fn nothing_starts_after_a_stop_request() {
        let stop = StopFlag::default();
        let work = |item: usize| {
            if item == 1 {
                stop.request();
            }
            ControlFlow::Continue(item)
        };
        let done = each((0..100).collect(), 1, &stop, work);
        assert!(done.stopped);
        assert_eq!(done.results, [(0, 0), (1, 1)]);
    }

    #[test]
    fn there_are_not_more_threads_than_work() {
        assert_eq!((threads(Some(8), 3), threads(Some(2), 3), threads(Some(2), 0)), (2 + 1, 2, 1));
        assert!(threads(None, 1000) >= 1);
    }
}
