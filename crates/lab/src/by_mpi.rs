//! Ranks started by MPI: one process per rank, on any machines of a cluster.

use crate::error::LabError;
use crate::stop::StopFlag;
use model::Ranks;
use mpi::Threading;
use mpi::environment::Universe;
use mpi::point_to_point::{Destination, Source};
use mpi::topology::{Communicator, SimpleCommunicator};
use mpi::traits::Equivalence;
use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A wait for another rank that exceeds this time is reported as a phase that does not poll the stop flag, because the
/// other rank may have failed.
const PATIENCE: Duration = Duration::from_millis(200);

/// Number of probes for a batch between two clock readings; each clock reading is followed by a yield of the core.
const PROBES_PER_CLOCK_READING: u32 = 200;

thread_local! {
    /// MPI, owned by the only thread that uses it: the thread that initialises it, which is the first thread of the
    /// engine. Not dropped automatically, because the finalisation of MPI waits for all ranks, which may have failed.
    static WORLD: RefCell<Option<ManuallyDrop<Universe>>> = const { RefCell::new(None) };
}

/// Calls `body` with the ranks that MPI started, if there are several. During a long wait for a rank, `stop` reports
/// that it is not polled. A panic aborts all ranks after the values of `body` are dropped.
///
/// # Errors
/// [`LabError::NoMpi`].
pub fn with_ranks<R>(stop: &StopFlag, body: impl FnOnce(Option<Arc<dyn Ranks>>) -> R) -> Result<R, LabError> {
    if !is_launched() {
        return Ok(body(None));
    }
    let (universe, _) = mpi::initialize_with_threading(Threading::Funneled).ok_or(LabError::NoMpi)?;
    let world = universe.world();
    let [rank, count] = [world.rank(), world.size()].map(|number| usize::try_from(number).unwrap_or_default());
    WORLD.set(Some(ManuallyDrop::new(universe)));
    let ranks = (count > 1).then(|| Arc::new(MpiRank { rank, count, stop: stop.clone() }) as Arc<dyn Ranks>);
    match catch_unwind(AssertUnwindSafe(|| body(ranks))) {
        Ok(done) => {
            WORLD.take().map(ManuallyDrop::into_inner);
            Ok(done)
        }
        Err(_) => world.abort(101),
    }
}

/// Returns whether an MPI launcher has started this process: a single process needs no MPI.
fn is_launched() -> bool {
    let launchers = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_SIZE"];
    launchers.into_iter().any(|name| std::env::var_os(name).is_some())
}

/// One rank.
#[derive(Debug)]
struct MpiRank {
    rank: usize,
    count: usize,
    stop: StopFlag,
}

impl Ranks for MpiRank {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.count
    }

    fn exchange(&self, batches: &mut [Vec<u8>], to: &[usize], from: &[usize]) {
        let world = WORLD.with_borrow(|universe| universe.as_ref().map(|universe| universe.world()));
        let world = world.expect("the thread that began talks to other ranks");
        let mut arrived: Vec<Vec<u8>> = vec![Vec::new(); self.count];
        mpi::request::multiple_scope(to.len(), |scope, sent| {
            for &other in to {
                assert!(i32::try_from(batches[other].len()).is_ok(), "a batch of more than 2 GiB");
                sent.add(world.process_at_rank(other as i32).immediate_send(scope, &batches[other][..]));
            }
            // In reverse order of sending: the next rank is the first receiver of this rank, and the last sender to
            // receive from.
            for &other in from.iter().rev() {
                arrived[other] = self.receive(&world, other);
            }
            let mut ended = Vec::new();
            sent.wait_all(&mut ended);
        });
        batches.swap_with_slice(&mut arrived);
    }
}

impl MpiRank {
    fn receive(&self, world: &SimpleCommunicator, from: usize) -> Vec<u8> {
        let from = world.process_at_rank(from as i32);
        let mut probes = 0;
        let (mut since, mut signals_blocked) = (None, None);
        let (message, status) = loop {
            if let Some(found) = from.immediate_matched_probe() {
                break found;
            }
            probes += 1;
            if probes % PROBES_PER_CLOCK_READING == 0 {
                #[expect(clippy::disallowed_methods, reason = "for who waits too long, which no result depends on")]
                let now = Instant::now();
                if now.duration_since(*since.get_or_insert(now)) > PATIENCE {
                    signals_blocked.get_or_insert_with(|| self.stop.block_signals());
                }
                std::thread::yield_now();
            }
        };
        let mut batch = vec![0u8; usize::try_from(status.count(u8::equivalent_datatype())).unwrap_or_default()];
        message.matched_receive_into(&mut batch[..]);
        batch
    }
}
