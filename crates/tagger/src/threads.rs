//! Parallel work on threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{available_parallelism, scope};

/// Runs `work` on `threads` threads (at least one, including the calling thread) and returns all results. `work`
/// distributes the work among the threads through captured shared state.
///
/// # Panics
/// If `work` panics.
pub(crate) fn on_threads<R: Send>(threads: usize, work: impl Fn() -> R + Sync) -> Vec<R> {
    scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(&work)).collect();
        let mut all = vec![work()];
        for other in others {
            all.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    })
}

/// Returns the result of `of_each` for each element, in order, computed on all cores.
///
/// # Panics
/// If `of_each` panics.
pub fn on_all_cores<T: Sync, R: Send>(things: &[T], of_each: impl Fn(&T) -> R + Sync) -> Vec<R> {
    on_each(cores(), things, of_each)
}

/// Like [`on_all_cores`], with scratch state that each thread reuses for all its elements.
///
/// # Panics
/// If `of_each` panics.
pub fn on_all_cores_with<T: Sync, S: Default, R: Send>(
    things: &[T],
    of_each: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    on_each_with(cores(), things, of_each)
}

fn cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Like [`on_all_cores`], on at most `threads` threads.
pub(crate) fn on_each<T: Sync, R: Send>(threads: usize, things: &[T], of_each: impl Fn(&T) -> R + Sync) -> Vec<R> {
    on_each_with(threads, things, |(): &mut (), thing| of_each(thing))
}

fn on_each_with<T: Sync, S: Default, R: Send>(
    threads: usize,
    things: &[T],
    of_each: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    let taken = AtomicUsize::new(0);
    let made = on_threads(threads.min(things.len()), || {
        let (mut made, mut own) = (Vec::new(), S::default());
        loop {
            let at = taken.fetch_add(1, Ordering::Relaxed);
            let Some(thing) = things.get(at) else { return made };
            made.push((at, of_each(&mut own, thing)));
        }
    });
    let mut all: Vec<(usize, R)> = made.into_iter().flatten().collect();
    all.sort_unstable_by_key(|&(at, _)| at);
    all.into_iter().map(|(_, made)| made).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_things() {
        let things: Vec<usize> = (0..1000).collect();
        let slow = |&at: &usize| {
            if at % 7 == 0 {
                std::thread::yield_now();
            }
            at * 2
        };
        assert!(on_all_cores(&things, slow).into_iter().eq((0..1000).map(|at| at * 2)));
        assert!(on_all_cores(&[], slow).is_empty());
    }

    #[test]
    #[should_panic(expected = "of thing 3")]
    fn a_panic_is_not_lost() {
        on_all_cores(&[1, 2, 3], |&thing| assert!(thing != 3, "of thing {thing}"));
    }
}
