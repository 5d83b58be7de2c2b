//! Runs scenarios given as text on threads and over ranks.

use lab::{FinishedRun, Override, Run, RunOptions, StopFlag};
use model::{Ranks, Watcher, in_one_process};
use std::sync::Arc;

/// Reads the scenario `text` with the overrides `set`, for `threads` threads.
pub fn read(text: &str, set: &[(&str, &str)], threads: usize) -> Result<Run, String> {
    let set: Vec<Override> =
        set.iter().map(|&(key, value)| Override { key: key.to_owned(), value: value.to_owned() }).collect();
    let mut run =
        Run::parse(text, "case.toml", &set, None, &StopFlag::default()).map_err(|error| format!("{error:?}"))?;
    run.lowered.setup.threads = threads;
    Ok(run)
}

/// Runs the scenario in one process.
pub fn alone<W: Watcher + Default>(text: &str, set: &[(&str, &str)], threads: usize) -> (FinishedRun, W) {
    let mut seen = W::default();
    let mut begun = read(text, set, threads).unwrap().begin(None, &StopFlag::default()).unwrap();
    if threads > 1 {
        begun.simulation().randomise_threads(5);
    }
    begun.run(&mut seen);
    (begun.finish(&mut seen, RunOptions::default()).unwrap(), seen)
}

/// Runs the scenario over two ranks, and returns the result of the first rank.
pub fn over_ranks<W: Watcher + Default + Send>(text: &str, set: &[(&str, &str)]) -> (FinishedRun, W) {
    let of_rank = |ranks: Arc<dyn Ranks>| {
        let (mut seen, mut run) = (W::default(), read(text, set, 1).unwrap());
        run.over(ranks);
        (run.produce(None, &mut seen, RunOptions::default(), &StopFlag::default()).unwrap(), seen)
    };
    std::thread::scope(|scope| {
        let of_rank = &of_rank;
        let ranks: Vec<_> = in_one_process(2).into_iter().map(|ranks| scope.spawn(move || of_rank(ranks))).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).next().unwrap()
    })
}
