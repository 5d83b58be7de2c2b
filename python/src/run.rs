//! Single runs: they release the interpreter lock and can be interrupted by Ctrl-C.

use crate::error::exception;
use lab::{FinishedRun, LabError, Override, Run, RunOptions, StopFlag};
use model::{Clock, Watcher};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;
use units::Time;

/// Real time between checks for Python signals and between progress calls.
const LOOK: Duration = Duration::from_millis(50);

/// Simulation clock of a running run, and the duration of the scenario.
type Running = (Arc<Clock>, Time);

/// Scenario from Python: its text, or the path of its file.
#[derive(FromPyObject)]
pub struct Source {
    path: PathBuf,
    text: Option<String>,
}

impl Source {
    /// Reads and lowers the scenario.
    pub fn read(&self, set: &[Override], seed: Option<u64>, stop: &StopFlag) -> Result<Run, LabError> {
        match &self.text {
            Some(text) => Run::parse(text, &self.path.display().to_string(), set, seed, stop),
            None => Run::read(&self.path, set, seed, stop),
        }
    }
}

/// Converts pairs from Python to overrides.
pub fn overrides(set: Vec<(String, String)>) -> Vec<Override> {
    set.into_iter().map(|(key, value)| Override { key, value }).collect()
}

/// Reads and lowers a scenario without running it.
#[pyfunction]
pub fn check(py: Python<'_>, source: Source) -> PyResult<()> {
    py.detach(|| source.read(&[], None, &StopFlag::default())).map(drop).map_err(|error| exception(py, &error))
}

/// Converts a scenario from JSON to TOML.
#[pyfunction]
pub fn dict_text(json: &str) -> PyResult<String> {
    let value: serde_json::Value =
        serde_json::from_str(json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    toml::to_string(&value).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Runs a scenario, writes its files to `out`, and returns the summary as JSON text.
#[pyfunction]
pub fn run(
    py: Python<'_>,
    source: Source,
    set: Vec<(String, String)>,
    seed: Option<u64>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    out: PathBuf,
) -> PyResult<String> {
    let (stop, set) = (StopFlag::default(), overrides(set));
    let clock = Arc::new(OnceLock::new());
    let (ended, end) = channel();
    let (work_stop, work_clock) = (stop.clone(), Arc::clone(&clock));
    let worker = thread::spawn(move || {
        let result = work(&source, &set, seed, threads, &out, &work_clock, &work_stop);
        let _ = ended.send(result);
    });
    let outcome = wait(py, end, &stop, &clock, progress.as_ref());
    // Wait until the worker thread has ended: it removes a partial result before this function raises the error.
    let joined = py.detach(|| worker.join());
    joined.map_err(|_| PyRuntimeError::new_err(LabError::Broken.to_string()))?;
    let finished = outcome?.map_err(|error| exception(py, &error))?;
    Ok(finished.summary.to_json())
}

fn work(
    source: &Source,
    set: &[Override],
    seed: Option<u64>,
    threads: Option<usize>,
    out: &Path,
    clock: &OnceLock<Running>,
    stop: &StopFlag,
) -> Result<FinishedRun, LabError> {
    let mut run = source.read(set, seed, stop)?;
    if let Some(threads) = threads {
        run.lowered.setup.threads = threads.max(1);
    }
    let folder = lab::folder(out)?;
    let duration = run.lowered.setup.duration;
    let way = RunOptions { shared: false, whole_only: true };
    run.produce(Some(folder), &mut Listener { running: clock, duration }, way, stop)
}

/// Waits for the end of the run without the interpreter lock. Periodically calls Python signal handlers and `progress`.
/// An exception in one of them stops the run.
fn wait(
    py: Python<'_>,
    end: Receiver<Result<FinishedRun, LabError>>,
    stop: &StopFlag,
    clock: &OnceLock<Running>,
    progress: Option<&Py<PyAny>>,
) -> PyResult<Result<FinishedRun, LabError>> {
    // The closure that waits without the interpreter lock must be `Sync`, so that the receiver is in a mutex.
    let end = Mutex::new(end);
    let receive = || end.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK);
    loop {
        match py.detach(receive) {
            Ok(result) => {
                let whole = result.as_ref().is_ok_and(|finished| !finished.summary.partial);
                if let Some(progress) = progress.filter(|_| whole) {
                    progress.call1(py, (1.0,))?;
                }
                return Ok(result);
            }
            Err(RecvTimeoutError::Disconnected) => return Err(PyRuntimeError::new_err(LabError::Broken.to_string())),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = py.check_signals().and_then(|()| tell(py, clock, progress)) {
                    stop.request();
                    return Err(error);
                }
            }
        }
    }
}

/// Calls `progress` with the simulated fraction of the scenario's duration, from 0 to 1.
fn tell(py: Python<'_>, clock: &OnceLock<Running>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    let (Some((clock, duration)), Some(progress)) = (clock.get(), progress) else { return Ok(()) };
    let share = clock.now().as_secs_f64() / duration.as_secs_f64().max(f64::MIN_POSITIVE);
    progress.call1(py, (share.min(1.0),)).map(drop)
}

struct Listener<'a> {
    running: &'a OnceLock<Running>,
    duration: Time,
}

impl Watcher for Listener<'_> {
    fn started(&mut self, clock: &Arc<Clock>) {
        let _ = self.running.set((Arc::clone(clock), self.duration));
    }
}
