//! Parts of a sweep outside its executor: list of runs, state of the folder, and table.

use crate::error::exception;
use crate::run::overrides;
use lab::sweep::{RunOutcome, Sweep, SweepFolder, SweepRun};
use lab::vary::VariedKey;
use lab::{LabError, StopFlag};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use std::path::PathBuf;

/// The runs of a sweep, and the folder of their results.
#[pyclass(frozen, module = "tidegate")]
pub struct Plan {
    plan: lab::sweep::Plan,
    points: Vec<SweepRun>,
    store: SweepFolder,
    out: PathBuf,
}

/// Axes of the sweep, and overrides for all runs.
#[derive(FromPyObject)]
struct Asked {
    set: Vec<(String, String)>,
    axes: Vec<(String, Vec<String>)>,
    seeds: Vec<u64>,
}

/// Arguments of one run for a worker process: index, overrides, and the seed if the sweep has seeds.
type Task = (usize, Vec<(String, String)>, Option<u64>);

#[pymethods]
impl Plan {
    /// Reads the sweep or scenario at `file`, checks every combination, and opens the folder `out`.
    #[new]
    fn new(
        py: Python<'_>,
        file: PathBuf,
        asked: Asked,
        out: PathBuf,
        resume: bool,
        name: Option<String>,
    ) -> PyResult<Plan> {
        let Asked { set, axes, seeds } = asked;
        let make = || {
            let vary = |(key, values)| VariedKey { key, values, location: None, changes: Vec::new() };
            let vary: Vec<VariedKey> = axes.into_iter().map(vary).collect();
            let plan = lab::sweep::Plan::of(&file, &overrides(set), &vary, &seeds)?;
            let points = plan.points(None, &StopFlag::default())?;
            let mut manifest = plan.manifest();
            if let Some(name) = name {
                // `file` is a temporary file: record the given name of the scenario instead.
                manifest["scenario"] = name.into();
            }
            let store = SweepFolder::open(&out, resume, None, &manifest)?;
            Ok(Plan { plan, points, store, out })
        };
        py.detach(make).map_err(|error: LabError| exception(py, &error))
    }

    /// Returns the path of the scenario file. A sweep file states this path.
    #[getter]
    fn scenario(&self) -> PathBuf {
        self.plan.scenario.clone()
    }

    /// Returns the number of runs.
    fn __len__(&self) -> usize {
        self.points.len()
    }

    /// Returns the runs whose results are not in the folder.
    fn open(&self, py: Python<'_>) -> Vec<Task> {
        py.detach(|| {
            let is_open = |(_, point): &(usize, &SweepRun)| matches!(self.store.find(point), RunOutcome::Open);
            let task = |(at, point): (usize, &SweepRun)| {
                let set = point.variant.overrides(&self.plan.set, &self.plan.varied);
                (at, set.into_iter().map(|set| (set.key, set.value)).collect(), point.variant.seed)
            };
            self.points.iter().enumerate().filter(is_open).map(task).collect()
        })
    }

    /// Returns the result folder of the run with index `at`.
    fn folder(&self, at: usize) -> PyResult<PathBuf> {
        Ok(self.store.folder(self.point(at)?))
    }

    /// Returns the values and the seed of the run with index `at`, in the format of `tidegate sweep`.
    fn title(&self, at: usize) -> PyResult<String> {
        Ok(self.point(at)?.variant.title(&self.plan.varied))
    }

    /// Writes the table of complete runs. Returns the titles of missing runs and of runs with damaged folders.
    fn finish(&self, py: Python<'_>) -> PyResult<(Vec<String>, Vec<String>)> {
        let finish = || {
            let outcomes: Vec<RunOutcome> = self.points.iter().map(|point| self.store.find(point)).collect();
            let Plan { plan, points, store, out } = self;
            Sweep { plan, points, store, shard: None, jobs: None }.write_table(out, &outcomes)?;
            let (mut missing, mut damaged) = (Vec::new(), Vec::new());
            for (point, outcome) in points.iter().zip(&outcomes) {
                let title = point.variant.title(&plan.varied);
                match outcome {
                    RunOutcome::Complete { .. } => {}
                    RunOutcome::Open => missing.push(title),
                    RunOutcome::Failed(error) => damaged.push(format!("{title}: {error}")),
                }
            }
            Ok((missing, damaged))
        };
        py.detach(finish).map_err(|error: LabError| exception(py, &error))
    }
}

impl Plan {
    fn point(&self, at: usize) -> PyResult<&SweepRun> {
        self.points.get(at).ok_or_else(|| PyIndexError::new_err("no such run"))
    }
}
