//! Worker threads that live as long as an engine and sleep between jobs.

use crate::sync::{Arc, AtomicUsize, Condvar, JoinHandle, Mutex, Ordering, SPINS, spawn, spin_loop};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::PoisonError;

/// A function that each worker calls with its index. The lifetime is erased: see [`Pool::run`].
#[derive(Clone, Copy)]
struct Job(&'static (dyn Fn(usize) + Sync));

#[derive(Default)]
struct Board {
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
    board: Mutex<Board>,
    /// Incremented with every job and at the end.
    jobs: AtomicUsize,
    /// Copy of [`Board::busy`] for spinning without the lock.
    busy: AtomicUsize,
    work: Condvar,
    idle: Condvar,
}

/// Threads 1, 2, ... beside the owning thread, which is 0.
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
        // the job panics on this thread: no code in between returns or unwinds. The board drops the job before this
        // function returns.
        let lasting = unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(job) };
        {
            let mut board = lock(&self.shared.board);
            board.job = Some(Job(lasting));
            (board.last, board.busy) = (threads - 1, threads - 1);
            self.shared.busy.store(threads - 1, Ordering::Release);
            // Under the lock, so that a worker about to sleep cannot miss the job.
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
        let mut board = lock(&self.shared.board);
        while board.busy > 0 {
            board = self.shared.idle.wait(board).unwrap_or_else(PoisonError::into_inner);
        }
        board.job = None;
        let panic = board.panic.take();
        drop(board);
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
            let mut board = lock(&self.shared.board);
            board.quit = true;
            self.shared.jobs.fetch_add(1, Ordering::AcqRel);
        }
        self.shared.work.notify_all();
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}

/// Runs the loop of worker `index`, which has seen `seen` jobs.
fn work(shared: &Shared, index: usize, mut seen: usize) {
    loop {
        for _ in 0..SPINS {
            if shared.jobs.load(Ordering::Acquire) != seen {
                break;
            }
            spin_loop();
        }
        let mut board = lock(&shared.board);
        while shared.jobs.load(Ordering::Acquire) == seen && !board.quit {
            board = shared.work.wait(board).unwrap_or_else(PoisonError::into_inner);
        }
        if board.quit {
            return;
        }
        seen = shared.jobs.load(Ordering::Acquire);
        // A job for fewer threads counts as seen, too.
        let job = board.job.filter(|_| index <= board.last);
        drop(board);
        let Some(Job(job)) = job else { continue };
        let outcome = catch_unwind(AssertUnwindSafe(|| job(index)));
        let mut board = lock(&shared.board);
        if let Err(panic) = outcome {
            board.panic.get_or_insert(panic);
        }
        board.busy -= 1;
        shared.busy.store(board.busy, Ordering::Release);
        if board.busy == 0 {
            shared.idle.notify_one();
        }
    }
}

fn lock(board: &Mutex<Board>) -> crate::sync::MutexGuard<'_, Board> {
    // A worker never panics while it holds the lock.
    board.lock().unwrap_or_else(PoisonError::into_inner)
}
