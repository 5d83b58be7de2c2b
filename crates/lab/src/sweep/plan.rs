//! Plan of a sweep: from a file or the command line to runs, each with a hash of all inputs of its results.

use crate::error::{LabError, PlanError};
use crate::recognise::other_than_scenario;
use crate::run::Run;
use crate::runs::pool;
use crate::runs::vary::{Override, Variant, VariedKey, check_distinct, combined, placed};
use crate::stop::StopFlag;
use scenario::SweepFile;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use text::quoted;

/// Maximum number of runs; a larger number is probably a mistake.
const MAX_RUNS: usize = 1_000_000;
/// Number of hexadecimal digits in the folder name of a run; the complete hash is compared with the content of the
/// folder.
const ID_DIGITS: usize = 24;

/// The plan of a sweep.
#[derive(Debug)]
pub struct Plan {
    /// The scenario of all runs.
    pub scenario: PathBuf,
    /// The name of the sweep: its file name without the extension.
    pub stem: String,
    /// Overrides common to all runs.
    pub set: Vec<Override>,
    /// Varied keys: those of the list, then the axes, then those of the grid.
    pub varied: Vec<VariedKey>,
    variants: Vec<Variant>,
}

/// One run of a sweep.
#[derive(Debug)]
pub struct SweepRun {
    /// Varied values and seed of the run.
    pub variant: Variant,
    /// Hash of the scenario with its overrides.
    pub scenario_hash: String,
    /// Seed of the run.
    pub seed: u64,
    /// Folder name of the run: a hash of scenario, seed and version.
    pub id: String,
    /// Labels of its traffic entries, if it has any.
    pub labels: Vec<String>,
}

impl Plan {
    /// Reads the sweep or scenario at `file`. `set`, and keys of `vary` that the file does not vary, are added to those
    /// of the file. Other keys of `vary`, and `seeds`, replace those of the file.
    ///
    /// # Errors
    /// All errors of the file and the options.
    pub fn of(file: &Path, set: &[Override], vary: &[VariedKey], seeds: &[u64]) -> Result<Plan, LabError> {
        let path = || file.to_owned();
        let unreadable = |source| other_than_scenario(file).unwrap_or(LabError::Unreadable { path: path(), source });
        let read = scenario::read_at_most(file, scenario::MAX_WRITTEN_BYTES).map_err(unreadable)?;
        let text =
            fabric::files::text_of(&read).map_err(|fault| LabError::NotText { path: path(), line: fault.line })?;
        let mut plan = if SweepFile::recognise(text) {
            let wrong = |errors| LabError::Scenario { errors, path: path() };
            SweepFile::read(file).map_err(wrong)?
        } else {
            let (scenario, empty) = (file.to_owned(), Vec::new());
            SweepFile {
                scenario,
                seeds: Vec::new(),
                set: empty.clone(),
                runs: empty.clone(),
                axes: empty.clone(),
                vary: empty,
            }
        };
        if !seeds.is_empty() {
            plan.seeds = seeds.to_vec();
        }
        check_distinct(vary)?;
        let list: Vec<VariedKey> = plan.runs.into_iter().map(VariedKey::from).collect();
        let mut grid: Vec<VariedKey> = plan.axes.into_iter().chain(plan.vary).map(VariedKey::from).collect();
        for own in vary {
            match grid.iter_mut().find(|known| known.is_key_of(own)) {
                Some(axis) if !axis.changes.is_empty() => *axis = axis.only(own)?,
                Some(known) => *known = own.clone(),
                None => grid.push(own.clone()),
            }
        }
        let of_file = plan.set.into_iter().map(|choice| Override { key: choice.key, value: choice.values.concat() });
        let set: Vec<Override> = of_file.chain(set.iter().cloned()).collect();
        let count = grid.iter().try_fold(plan.seeds.len().max(1), |count, vary| count.checked_mul(vary.values.len()));
        let count = count.and_then(|count| count.checked_mul(list.first().map_or(1, |vary| vary.values.len())));
        if count.is_none_or(|count| count > MAX_RUNS) {
            return Err(PlanError::TooMany { most: MAX_RUNS }.into());
        }
        let variants = combined(&list, &grid, &plan.seeds);
        let varied: Vec<VariedKey> = list.into_iter().chain(grid).collect();
        check_distinct(&varied)?;
        if varied.is_empty() && plan.seeds.is_empty() {
            return Err(PlanError::NothingVaried { path: path() }.into());
        }
        if let Some(vary) = varied.iter().find(|vary| ["seed", "threads"].contains(&vary.key.as_str())) {
            return Err(PlanError::NotVaried { key: vary.key.clone() }.into());
        }
        let stem = file.file_stem().map_or("sweep".to_owned(), |stem| stem.to_string_lossy().into_owned());
        Ok(Plan { scenario: plan.scenario, stem, set, varied, variants })
    }

    /// Returns every run with its hash. Each combination of values is read and lowered with its first seed, so that an
    /// error in the last combination is reported before the first run starts.
    ///
    /// # Errors
    /// The first invalid combination; two identical runs.
    pub fn points(&self, jobs: Option<u16>, stop: &StopFlag) -> Result<Vec<SweepRun>, LabError> {
        let mut firsts: Vec<&Variant> = Vec::new();
        for variant in &self.variants {
            if firsts.last().is_none_or(|first| first.values != variant.values) {
                firsts.push(variant);
            }
        }
        let lower = |variant: &Variant| {
            let set = variant.overrides(&self.set, &self.varied);
            Run::read(&self.scenario, &set, variant.seed, stop).map(|run| {
                let labels = run.lowered.labels().to_vec();
                (run.lowered.hash, run.lowered.setup.seed, labels)
            })
        };
        let threads = pool::threads(jobs, firsts.len());
        let lowered = pool::each(firsts, threads, stop, |variant| match lower(variant) {
            Ok(known) => ControlFlow::Continue(Ok(known)),
            Err(error) => ControlFlow::Break(Err(placed(error, &self.varied))),
        });
        let known = lowered.results.into_iter().map(|(_, known)| known).collect::<Result<Vec<_>, LabError>>()?;
        let (mut points, mut which): (Vec<SweepRun>, usize) = (Vec::with_capacity(self.variants.len()), 0);
        for variant in &self.variants {
            if points.last().is_some_and(|last| last.variant.values != variant.values) {
                which += 1;
            }
            let (scenario_hash, own, labels) = known[which].clone();
            let seed = variant.seed.unwrap_or(own);
            let id = id(&scenario_hash, seed);
            points.push(SweepRun { variant: variant.clone(), scenario_hash, seed, id, labels });
        }
        self.check_different(&points)?;
        Ok(points)
    }

    fn check_different(&self, points: &[SweepRun]) -> Result<(), PlanError> {
        let mut seen: BTreeMap<&str, &SweepRun> = BTreeMap::new();
        for point in points {
            if let Some(first) = seen.insert(&point.id, point) {
                let [first, second] = [first, point].map(|point| point.variant.title(&self.varied));
                return Err(PlanError::SameRun { first, second });
            }
        }
        Ok(())
    }

    /// Returns the manifest of the folder.
    pub fn manifest(&self) -> Value {
        let seeds: Vec<u64> = self.variants.iter().filter_map(|variant| variant.seed).collect();
        let mut distinct = seeds.clone();
        distinct.sort_unstable();
        distinct.dedup();
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "sweep": self.stem,
            "scenario": self.scenario.display().to_string(),
            "set": self.set.iter().map(|set| format!("{}={}", set.key, set.value)).collect::<Vec<_>>(),
            "vary":
                self.varied.iter().map(|vary| json!({ "key": vary.key, "values": vary.values })).collect::<Vec<_>>(),
            "seeds": distinct,
            "runs": self.variants.len(),
        })
    }

    /// Returns the command that executes only the run of `point`.
    pub fn command(&self, point: &SweepRun) -> String {
        let mut command = format!("tidegate run {}", quoted(&self.scenario.display().to_string()));
        for change in point.variant.overrides(&self.set, &self.varied) {
            command.push_str(&format!(" --set {}", quoted(&format!("{}={}", change.key, change.value))));
        }
        command + &format!(" --seed {}", point.seed)
    }
}

/// Returns the folder name of a run. Names are equal if and only if scenario hash, seed and version are equal.
fn id(scenario_hash: &str, seed: u64) -> String {
    let text = format!("scenario {scenario_hash} seed {seed} version {}", env!("CARGO_PKG_VERSION"));
    let digest = Sha256::digest(text);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    hex.chars().take(ID_DIGITS).collect()
}
