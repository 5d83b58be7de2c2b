//! Runs over several ranks: start, and agreement of all ranks on one run.

use crate::error::LabError;
use model::{Ranks, others};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::sync::LazyLock;
use units::pack::{packed, unpacked};

#[cfg(feature = "mpi")]
pub use crate::by_mpi::with_ranks;

/// Calls `body` with the ranks that MPI started, if there are several (feature `mpi`). This version without MPI refuses
/// to start with several processes, because each process would execute the complete run.
///
/// # Errors
/// [`LabError::WithoutMpi`].
#[cfg(not(feature = "mpi"))]
pub fn with_ranks<R>(
    _: &crate::StopFlag,
    body: impl FnOnce(Option<std::sync::Arc<dyn Ranks>>) -> R,
) -> Result<R, LabError> {
    match processes() {
        None | Some(1) => Ok(body(None)),
        Some(processes) => Err(LabError::WithoutMpi { processes }),
    }
}

/// Returns the number of processes according to the MPI launcher; `None` without one.
pub fn processes() -> Option<usize> {
    // Open MPI; MPICH and its derivatives.
    let size_in = |name: &str| std::env::var(name).ok()?.parse().ok();
    ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"].into_iter().find_map(size_in)
}

/// Returns a build identification of the executable, to detect ranks of one version that were built from different
/// sources: the first digits of the hash of its file, or of no data if the file cannot be read.
pub(crate) fn build() -> &'static str {
    static BUILD: LazyLock<String> = LazyLock::new(|| {
        let mut hasher = Sha256::new();
        // Read in blocks, because with symbols the file may be larger than the simulation state of a rank.
        if let Ok(mut program) = std::env::current_exe().and_then(File::open) {
            let mut piece = vec![0; 1 << 16];
            while let Ok(count @ 1..) = program.read(&mut piece) {
                hasher.update(&piece[..count]);
            }
        }
        hasher.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect()
    });
    &BUILD
}

/// Exchanges with all ranks the description of the run that each rank is ready for. `own` is that of this rank, or
/// `None` after an error of this rank. All ranks must be ready for the same run.
///
/// # Errors
/// [`LabError::OtherRun`] on the first rank; [`LabError::OtherRank`] if another rank reports the error.
pub fn agree(ranks: &dyn Ranks, own: Option<&str>) -> Result<(), LabError> {
    let rank = ranks.rank();
    let batch = packed(&own.map(str::to_owned));
    let mut batches = vec![batch; ranks.count()];
    let others = others(ranks);
    ranks.exchange(&mut batches, &others, &others);
    batches[rank] = packed(&own.map(str::to_owned));
    // A rank of another version may send a malformed batch.
    let texts: Vec<Option<String>> =
        batches.iter().map(|batch| unpacked(batch).unwrap_or(Some("an unknown run".to_owned()))).collect();
    if let Some(failed) = texts.iter().position(Option::is_none) {
        // A failed rank reports its error; if several failed, only the first of them does.
        return if failed == rank { Ok(()) } else { Err(LabError::OtherRank { rank: failed }) };
    }
    let Some(other) = texts.iter().position(|other| *other != texts[0]) else { return Ok(()) };
    if rank > 0 {
        return Err(LabError::OtherRank { rank: 0 });
    }
    let [ours, theirs] = [0, other].map(|rank| texts[rank].clone().unwrap_or_default());
    Err(LabError::OtherRun { rank: other, ours, theirs })
}

/// Notifies the other ranks of an error of this rank. Returns the error that this rank must report.
pub fn failed(ranks: &dyn Ranks, error: LabError) -> LabError {
    agree(ranks, None).err().unwrap_or(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::in_one_process;

    fn reports(texts: [Option<&str>; 3]) -> Vec<String> {
        std::thread::scope(|scope| {
            let ask = |(ranks, own): (std::sync::Arc<dyn Ranks>, Option<&'static str>)| {
                move || agree(&*ranks, own).map_or_else(|error| error.to_string(), |()| "yes".to_owned())
            };
            // Leaked, because the threads require `'static` texts.
            let texts = texts.map(|own| own.map(|own| &*own.to_owned().leak()));
            let threads: Vec<_> = in_one_process(3).into_iter().zip(texts).map(|it| scope.spawn(ask(it))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn all_ranks_must_agree_and_one_reports_the_difference() {
        assert_eq!(reports([Some("a"); 3]), ["yes", "yes", "yes"]);
        let other = reports([Some("a"), Some("a"), Some("b")]);
        assert_eq!(other[0], "rank 2 has another run than rank 0: b instead of a");
        assert_eq!(other[1..], ["rank 0 reported an error", "rank 0 reported an error"]);
        // A failed rank reports its error; if several failed, only the first of them does.
        assert_eq!(
            reports([Some("a"), None, Some("a")]),
            ["rank 1 reported an error", "yes", "rank 1 reported an error"]
        );
        assert_eq!(reports([None; 3]), ["yes", "rank 0 reported an error", "rank 0 reported an error"]);
    }
}
