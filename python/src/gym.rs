//! Native part of `tidegate.gym`: a run in steps, with flow rates set from Python.

use crate::error::exception;
use crate::run::{Source, overrides};
use lab::{ActiveRun, LabError, Run, RunOptions, StopFlag};
use model::{AgentSample, AgentScope};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use units::Time;

/// Real time between checks for Python signals.
const LISTEN: Duration = Duration::from_millis(50);

/// Observation of an agent, in this order; documented in `tidegate/gym.py`.
const FEATURES: [&str; 8] = ["under_way", "rate", "sent", "throughput", "marked", "rtt", "rtt_min", "losses"];

/// Agent in Python: flow number, source host, destination host.
type AgentNames = (Option<u32>, String, Option<String>);

/// Result of a step: features of all agents, `true` if all agents are done, `true` if the run is over, the simulation
/// time in picoseconds, and the number of flows in progress.
type Stepped = (Py<PyByteArray>, bool, bool, u64, u32);

/// Run in progress.
#[pyclass(frozen, module = "tidegate")]
pub struct Episode {
    /// `None` after the end of the run, or after a step that an exception has interrupted.
    course: Mutex<Option<Course>>,
    agents: Vec<AgentNames>,
    seed: u64,
}

struct Course {
    begun: ActiveRun,
    step: Time,
    /// Simulated time between two reads of the real-time clock, adapted so that it takes between a quarter of
    /// [`LISTEN`] and [`LISTEN`].
    stretch: Time,
}

impl Course {
    /// Runs until `until` or the end of the run in steps of `stretch`, and checks for Python signals between steps.
    /// Results do not depend on the length of these steps, so that it may depend on the real-time clock.
    fn go_on(&mut self, until: Time) -> PyResult<()> {
        let mut last = clock();
        loop {
            let simulation = self.begun.simulation();
            let now = simulation.now();
            if now >= until || simulation.is_over() {
                return Ok(());
            }
            let started = clock();
            self.begun.run_until(until.min(now.saturating_add(self.stretch)), &mut model::NullWatcher);
            let ended = clock();
            if ended - started < LISTEN / 4 {
                self.stretch = self.stretch.saturating_add(self.stretch);
            } else if ended - started > LISTEN {
                self.stretch = (self.stretch / 2).max(Time::from_ns(1));
            }
            if ended - last > LISTEN {
                last = ended;
                Python::attach(|py| py.check_signals())?;
            }
        }
    }
}

#[pymethods]
impl Episode {
    /// Reads a scenario and starts its run. Agents are its `flow`s or its `host`s; a step is a time such as `10us`.
    #[new]
    fn new(
        py: Python<'_>,
        source: Source,
        set: Vec<(String, String)>,
        seed: Option<u64>,
        threads: Option<usize>,
        steps: (String, String),
        out: Option<PathBuf>,
    ) -> PyResult<Episode> {
        let (scope, step) = steps;
        let scope = match scope.as_str() {
            "flow" => AgentScope::Flow,
            "host" => AgentScope::Host,
            other => return Err(PyValueError::new_err(format!("agents is \"flow\" or \"host\", not {other:?}"))),
        };
        let wrong = |error: &dyn std::fmt::Display| PyValueError::new_err(format!("step = {step:?}: {error}"));
        let step: Time = step.parse().map_err(|error| wrong(&error))?;
        if step == Time::ZERO {
            return Err(wrong(&"a step is longer than nothing"));
        }
        let begin = || {
            let stop = StopFlag::default();
            let mut run: Run = source.read(&overrides(set), seed, &stop)?;
            let setup = &mut run.lowered.setup;
            setup.threads = threads.unwrap_or(setup.threads).max(1);
            let (seed, fabric) = (setup.seed, &setup.fabric);
            let hosts: Vec<String> = fabric.hosts().iter().map(|&host| fabric.name(host).to_owned()).collect();
            let receivers: Vec<u32> = setup.traffic.flows.iter().map(|flow| flow.dst).collect();
            let folder = out.as_deref().map(lab::folder).transpose()?;
            let mut begun = run.begin(folder, &stop)?;
            let names = |agent: model::Agent| {
                let receiver = agent.flow.map(|flow| hosts[receivers[flow as usize] as usize].clone());
                (agent.flow, hosts[agent.host as usize].clone(), receiver)
            };
            let agents = begun.create_agents(scope)?.into_iter().map(names).collect();
            Ok(Episode { course: Mutex::new(Some(Course { begun, step, stretch: Time::from_us(1) })), agents, seed })
        };
        py.detach(begin).map_err(|error: LabError| exception(py, &error))
    }

    /// Returns the names of the features that an agent observes.
    #[staticmethod]
    fn features() -> Vec<&'static str> {
        FEATURES.to_vec()
    }

    /// Returns the agents, in the order of actions and observations.
    #[getter]
    fn agents(&self) -> Vec<AgentNames> {
        self.agents.clone()
    }

    /// Returns the seed of the run.
    #[getter]
    fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the observations of all agents without advancing the run.
    fn look(&self, py: Python<'_>) -> PyResult<Stepped> {
        let mut course = self.take(py)?;
        let span = course.step;
        let samples = py.detach(|| course.begun.simulation().sample_agents());
        self.step_result(py, course, &samples, span)
    }

    /// Sets the rates of all agents' flows and advances the run by one step. `shares` has one float32 per agent: the
    /// rate as a share of the line rate.
    fn step(&self, py: Python<'_>, shares: &[u8]) -> PyResult<Stepped> {
        let (floats, rest) = shares.as_chunks::<4>();
        if floats.len() != self.agents.len() || !rest.is_empty() {
            return Err(PyValueError::new_err(format!("{} shares for {} agents", floats.len(), self.agents.len())));
        }
        let shares: Vec<f64> = floats.iter().map(|&bytes| f64::from(f32::from_ne_bytes(bytes))).collect();
        let mut course = self.take(py)?;
        let stepped = || {
            let simulation = course.begun.simulation();
            simulation.set_rates(&shares);
            let before = simulation.now();
            course.go_on(before.saturating_add(course.step))?;
            let simulation = course.begun.simulation();
            Ok::<_, PyErr>((simulation.sample_agents(), simulation.now().saturating_sub(before)))
        };
        let (samples, span) = py.detach(stepped)?;
        self.step_result(py, course, &samples, span)
    }

    /// Runs to the end with unchanged rates, writes the result files if requested, and returns the summary as JSON
    /// text.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        let mut course = self.take(py)?;
        py.detach(|| course.go_on(Time::MAX))?;
        let way = RunOptions { shared: false, whole_only: true };
        let finished = py.detach(|| course.begun.finish(&mut model::NullWatcher, way));
        finished.map(|finished| finished.summary.to_json()).map_err(|error| exception(py, &error))
    }
}

impl Episode {
    fn lock(&self) -> MutexGuard<'_, Option<Course>> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the run out of the episode. If the caller does not put it back, the episode has ended.
    fn take(&self, py: Python<'_>) -> PyResult<Course> {
        let course = py.detach(|| self.lock().take());
        course.ok_or_else(|| PyRuntimeError::new_err("this episode has ended: reset() begins another"))
    }

    /// Puts the run back into the episode, and returns the observations over `span`.
    fn step_result(
        &self,
        py: Python<'_>,
        mut course: Course,
        samples: &[AgentSample],
        span: Time,
    ) -> PyResult<Stepped> {
        let simulation = course.begun.simulation();
        let (over, now) = (simulation.is_over(), simulation.now());
        let bytes = samples.iter().flat_map(|sample| features(sample, span)).flat_map(f32::to_ne_bytes);
        let bytes: Vec<u8> = bytes.collect();
        *self.lock() = Some(course);
        let done = samples.iter().all(|sample| sample.done);
        let under_way = samples.iter().map(|sample| sample.under_way).sum();
        Ok((PyByteArray::new(py, &bytes).unbind(), done, over, now.as_ps(), under_way))
    }
}

/// Returns the features of an agent for a step of length `span`, in the order of [`FEATURES`]. Every floating-point
/// operation is correctly rounded, so that results are equal on all platforms.
fn features(sample: &AgentSample, span: Time) -> [f32; 8] {
    let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
    let line_bytes = sample.line.as_bps() as f64 * span.as_ps() as f64 / 8e12;
    let bytes = [sample.sent_bytes, sample.acknowledged_bytes, sample.marked_bytes].map(|bytes| bytes as f64);
    let least = if sample.least_rtt_ratio.is_finite() { sample.least_rtt_ratio } else { 0.0 };
    [
        f64::from(sample.under_way),
        share(sample.rate.as_bps() as f64, sample.line.as_bps() as f64),
        share(bytes[0], line_bytes),
        share(bytes[1], line_bytes),
        share(bytes[2], bytes[1]),
        share(sample.rtt_sum.as_ps() as f64, sample.idle_rtt_sum.as_ps() as f64),
        least,
        sample.losses as f64,
    ]
    .map(|value| value as f32)
}

#[expect(clippy::disallowed_methods, reason = "when signals are looked at changes no result")]
fn clock() -> Instant {
    Instant::now()
}
