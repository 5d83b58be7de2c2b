//! Worker threads that exist as long as their engine and sleep between jobs.

use crate::sync::{Arc, AtomicUsize, Condvar, JoinHandle, Mutex, Ordering, SPINS, spawn, spin_loop};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::PoisonError;

/// A function that each worker calls with its index. The lifetime is erased: see [`Pool::run`].
#[derive(Clone, Copy)]
struct Job(&'static (dyn Fn(usize) + Sync));

#[derive(Default)]
struct JobState {
    job: Option<Job>,
    /// Workers 1 to this index run the job.
    last: usize,
    /// Workers that have not finished yet.
    busy: usize,
    /// The first panic of a worker.
    panic: Option<Box<dyn Any + Send>>,
    quit: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<JobState>,
    /// Incremented with every job, and when the pool quits.
    jobs: AtomicUsize,
    /// Copy of [`JobState::busy`] for spinning without the lock.
    busy: AtomicUsize,
    work: Condvar,
    idle: Condvar,
}

/// The worker threads 1, 2, ...; the owning thread is thread 0.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

impl Pool {
    /// Creates a pool without workers.
    pub(crate) fn new() -> Self {
        Pool { shared: Arc::new(Shared::default()), workers: Vec::new() }
    }

    /// Calls `job` with 0 to `threads - 1`, each concurrently on its own thread, and returns when all calls have
    /// returned. Threads are started when they are first needed.
    ///
    /// # Panics
    /// If a job panics; all other jobs have ended by then.
    pub(crate) fn run(&mut self, threads: usize, job: &(dyn Fn(usize) + Sync)) {
        while self.workers.len() + 1 < threads {
            let (shared, index) = (Arc::clone(&self.shared), self.workers.len() + 1);
            // A new worker must not take an earlier job.
            let seen = self.shared.jobs.load(Ordering::Acquire);
            self.workers.push(spawn(move || work(&shared, index, seen)));
        }
        // SAFETY: workers use the reference only until they have finished. This function waits for that below, also if
        // the job panics on this thread: no code in between returns or unwinds. The state drops the job before this
        // function returns.
        let lasting = unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(job) };
        {
            let mut state = lock(&self.shared.state);
            state.job = Some(Job(lasting));
            (state.last, state.busy) = (threads - 1, threads - 1);
            self.shared.busy.store(threads - 1, Ordering::Release);
            // The increment is under the lock, so that a worker that is about to sleep cannot miss the job.
            self.shared.jobs.fetch_add(1, Ordering::AcqRel);
        }
        self.shared.work.notify_all();
        let own = catch_unwind(AssertUnwindSafe(|| job(0)));
        for _ in 0..SPINS {
            if self.shared.busy.load(Ordering::Acquire) == 0 {
                break;
            }
            spin_loop();
        }
        let mut state = lock(&self.shared.state);
        while state.busy > 0 {
            state = self.shared.idle.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.job = None;
        let panic = state.panic.take();
        drop(state);
        if let Err(panic) = own {
            resume_unwind(panic);
        }
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        {
            let mut state = lock(&self.shared.state);
            state.quit = true;
            self.shared.jobs.fetch_add(1, Ordering::AcqRel);
        }
        self.shared.work.notify_all();
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}

/// Runs the loop of worker `index`, which ignores the first `seen` jobs of the pool.
fn work(shared: &Shared, index: usize, mut seen: usize) {
    loop {
        for _ in 0..SPINS {
            if shared.jobs.load(Ordering::Acquire) != seen {
                break;
            }
            spin_loop();
        }
        let mut state = lock(&shared.state);
        while shared.jobs.load(Ordering::Acquire) == seen && !state.quit {
            state = shared.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.quit {
            return;
        }
        seen = shared.jobs.load(Ordering::Acquire);
        // `seen` also counts a job for fewer threads, in which this worker takes no part.
        let job = state.job.filter(|_| index <= state.last);
        drop(state);
        let Some(Job(job)) = job else { continue };
        let outcome = catch_unwind(AssertUnwindSafe(|| job(index)));
        let mut state = lock(&shared.state);
        if let Err(panic) = outcome {
            state.panic.get_or_insert(panic);
        }
        state.busy -= 1;
        shared.busy.store(state.busy, Ordering::Release);
        if state.busy == 0 {
            shared.idle.notify_one();
        }
    }
}

fn lock(state: &Mutex<JobState>) -> crate::sync::MutexGuard<'_, JobState> {
    // A worker never panics while it holds the lock.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
