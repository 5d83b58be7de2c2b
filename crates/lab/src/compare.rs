//! Comparison: one workload under each value of the varied keys, in one table.

use crate::error::{LabError, PlanError};
use crate::run::{self, Run, Source};
use crate::runs::flows::{FlowLedger, set_common};
use crate::runs::metrics::{self, Metric};
use crate::runs::row::{Group, Row, SignificanceTest, groups, set};
use crate::runs::vary::{Override, Variant, VariedKey, check_distinct, placed, variants};
use crate::runs::{pool, side_by_side};
use crate::simulate::RunOptions;
use crate::stop::StopFlag;
use record::folder::ResultFolder;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::path::Path;
use text::csv_cell;
use text::numbers::counted;
use units::Time;

/// Maximum factor by which a comparison prolongs the requested duration so that all flows complete.
pub const MOST_TIME: u64 = 16;
/// Maximum factor by which a comparison increases the requested number of seeds until differences are significant.
pub const MOST_SEEDS: usize = 4;
/// Maximum number of runs of a comparison; a sweep has a higher limit.
pub const MOST_COMPARED: usize = 1000;

/// Runs of one scenario with different values and seeds. All runs are read and lowered before the first one starts, so
/// that an error in the last one is reported at once.
#[derive(Debug)]
pub struct Comparison {
    /// Name of the scenario.
    pub name: String,
    /// Varied keys.
    pub varied: Vec<VariedKey>,
    source: Source,
    /// Overrides common to all runs.
    set: Vec<Override>,
    variants: Vec<Variant>,
    /// Seeds; empty for the seed of the scenario.
    seeds: Vec<u64>,
    /// Duration of the first run, and the end of the interval in which measured flows start.
    duration: Time,
    measure_end: Time,
    /// Labels of the traffic entries, each once.
    pub labels: Vec<String>,
}

/// Rows in the order of the variants; and whether a stop was requested.
pub type Rows = (Vec<Row>, bool);

impl Comparison {
    /// Creates all combinations of the values of `varied`, each with each of `seeds`, or with the seed of the scenario.
    ///
    /// # Errors
    /// The first invalid combination; a key that is varied twice; too many runs.
    pub fn of(
        source: &Source,
        set: &[Override],
        varied: &[VariedKey],
        seeds: &[u64],
        stop: &StopFlag,
    ) -> Result<Comparison, LabError> {
        let count = varied.iter().try_fold(seeds.len().max(1), |count, vary| count.checked_mul(vary.values.len()));
        check_distinct(varied)?;
        if count.is_none_or(|count| count > MOST_COMPARED) {
            return Err(PlanError::TooMany { most: MOST_COMPARED }.into());
        }
        let variants = variants(varied, seeds);
        let (mut name, mut labels, mut span) = (String::new(), Vec::new(), None);
        for variant in &variants {
            let run = Run::of(source, &variant.overrides(set, varied), variant.seed, stop);
            let lowered = run.map_err(|error| placed(error, varied))?.lowered;
            metrics::add_labels(&mut labels, lowered.labels());
            span.get_or_insert((lowered.setup.duration, lowered.setup.measure_end.min(lowered.setup.duration)));
            name = lowered.name;
        }
        let (duration, measure_end) = span.unwrap_or_default();
        let (varied, source, set, seeds) = (varied.to_vec(), source.clone(), set.to_vec(), seeds.to_vec());
        Ok(Comparison { name, varied, source, set, variants, seeds, duration, measure_end, labels })
    }

    /// Returns the number of runs.
    pub fn runs(&self) -> usize {
        self.variants.len()
    }

    /// Creates a folder below `out` for each run.
    ///
    /// # Errors
    /// [`LabError::Target`] if a folder is unusable.
    pub fn folders(&self, out: &Path) -> Result<Vec<ResultFolder>, LabError> {
        let folder = |(at, variant): (usize, &Variant)| run::folder(&out.join(variant.folder(at, &self.varied)));
        self.variants.iter().enumerate().map(folder).collect()
    }

    /// Executes all runs, `jobs` at a time (default: the number of cores). If `folders` are given, one per run, result
    /// files are written to them. Calls `ran` after each run, on the thread of the run.
    ///
    /// # Errors
    /// The first failed run, after which no other run starts.
    pub fn run(
        &self,
        folders: Option<Vec<ResultFolder>>,
        jobs: Option<u16>,
        stop: &StopFlag,
        ran: &(dyn Fn() + Sync),
    ) -> Result<Rows, LabError> {
        let threads = pool::threads(jobs, self.variants.len());
        let mut folders = folders.unwrap_or_default().into_iter();
        let jobs = self.variants.iter().map(|variant| (variant, folders.next())).collect();
        let done = pool::each(jobs, threads, stop, |(variant, folder)| {
            let row = self.run_one(variant, folder, threads > 1, stop);
            ran();
            if row.is_ok() { ControlFlow::Continue(row) } else { ControlFlow::Break(row) }
        });
        let mut rows = done.results.into_iter().map(|(_, row)| row).collect::<Result<Vec<Row>, LabError>>()?;
        set_common(&mut rows);
        Ok((rows, done.stopped))
    }

    fn run_one(
        &self,
        variant: &Variant,
        folder: Option<ResultFolder>,
        shared: bool,
        stop: &StopFlag,
    ) -> Result<Row, LabError> {
        let mut run = Run::of(&self.source, &variant.overrides(&self.set, &self.varied), variant.seed, stop)?;
        run.lowered.setup.threads = 1;
        let options = RunOptions { shared, whole_only: false };
        let traffic_names = run.lowered.labels().to_vec();
        let mut ledger = FlowLedger::of_runs(self.variants.len());
        let finished = run.produce(folder, &mut ledger, options, stop)?;
        let mut row = Row::new(variant.clone(), &finished.summary);
        (row.traffic_names, row.flows) = (traffic_names, ledger.completed(&finished.summary));
        Ok(row)
    }

    /// Executes the runs, then extends them until the comparison is decided. First it doubles the duration until all
    /// flows complete, up to a factor of `MOST_TIME`; the set of measured flows stays the same. Then it adds seeds, up
    /// to a factor of `MOST_SEEDS`. The comparison is decided if, for every value, the difference of the mean FCT from
    /// that of the first value is statistically significant, or the half-width of its confidence interval is at most
    /// `share` of the mean of the first value. Returns the last comparison.
    ///
    /// # Errors
    /// As [`Comparison::of`] and [`Comparison::run`].
    pub fn run_until_decided(
        self,
        share: f64,
        jobs: Option<u16>,
        stop: &StopFlag,
        ran: &(dyn Fn() + Sync),
    ) -> Result<(Comparison, Rows), LabError> {
        let (mut now, mut times, mut seeds) = (self, 1, 1);
        let keys: Vec<String> = now.varied.iter().map(|vary| vary.key.clone()).collect();
        let fixes_time = keys.iter().any(|key| key == "duration" || key.starts_with("measure"));
        let mut rows = now.run(None, jobs, stop, ran)?;
        while !rows.1 {
            let is_open = rows.0.iter().any(Row::has_unfinished);
            if is_open && times < MOST_TIME && !fixes_time {
                times *= 2;
                let longer = Time::from_ps(now.duration.as_ps().saturating_mul(2));
                let mut set = now.set.clone();
                for (key, value) in [("duration", longer), ("measure.end", now.measure_end)] {
                    set.retain(|own| own.key != key);
                    set.push(Override { key: key.to_owned(), value: format!("{}ps", value.as_ps()) });
                }
                now = Comparison::of(&now.source, &set, &now.varied, &now.seeds, stop)?;
            } else if !is_open && seeds < MOST_SEEDS && now.seeds.len() > 1 && !is_decided(&rows.0, share) {
                seeds += 1;
                let next = now.seeds.iter().max().map_or(1, |last| last.saturating_add(1));
                let more = (next..).take(now.first_seeds(seeds));
                let all: Vec<u64> = now.seeds.iter().copied().chain(more).collect();
                now = Comparison::of(&now.source, &now.set, &now.varied, &all, stop)?;
            } else {
                break;
            }
            rows = now.run(None, jobs, stop, ran)?;
        }
        Ok((now, rows))
    }

    /// Returns the original number of seeds; the current number is `times - 1` times as large.
    fn first_seeds(&self, times: usize) -> usize {
        self.seeds.len() / (times - 1).max(1)
    }

    /// Returns duration and number of seeds, such as `duration 16ms, 10 seeds`.
    pub fn extent(&self) -> String {
        format!("duration {}, {}", self.duration, counted(self.seeds.len().max(1) as u64, "seed"))
    }

    /// Returns the table with means over seeds. Omits metrics that no run has and, unless `all`, metrics that are zero
    /// in all runs.
    pub fn text(&self, rows: &[Row], metrics: &[Metric], all: bool) -> String {
        side_by_side::text(&self.varied, rows, metrics, all)
    }

    /// Returns every metric of every run as CSV with a header, one line per run.
    pub fn csv(&self, rows: &[Row]) -> String {
        csv(&self.varied, rows, &metrics::all_of(&self.labels))
    }

    /// Returns one JSON object: the varied keys, each run with its metrics and checks, and the means over seeds.
    pub fn json(&self, rows: &[Row], metrics: &[Metric]) -> Value {
        let run = |row: &Row| {
            json!({
                "set": set(&self.varied, &row.variant.values), "seed": row.seed, "partial": row.partial,
                "pass": row.passes(), "metrics": row.json(metrics),
                "coverage": row.coverage_json(metrics), "checks": row.checks, "warnings": row.warnings,
                    "results_hash": row.results_hash,
            })
        };
        let groups: Vec<Group<'_>> = groups(rows);
        let judge = SignificanceTest::of(&groups, side_by_side::shown(rows, metrics, false));
        let of_group = |group: &Group<'_>| group.json(&self.varied, metrics, groups.first().map(|base| (base, &judge)));
        json!({
            "version": env!("CARGO_PKG_VERSION"), "scenario": self.name,
            "vary":
                self.varied.iter().map(|vary| json!({ "key": vary.key, "values": vary.values })).collect::<Vec<_>>(),
            "runs": rows.iter().map(run).collect::<Vec<_>>(),
            "groups": groups.iter().map(of_group).collect::<Vec<_>>(),
        })
    }
}

/// Returns whether, for every value, the mean FCT differs significantly from that of the first value, or the half-width
/// of the confidence interval of the difference is at most `share` of the mean of the first value.
fn is_decided(rows: &[Row], share: f64) -> bool {
    let groups = groups(rows);
    let all = metrics::all();
    let mean = all.iter().find(|metric| metric.name == "fct-mean");
    let Some((base, mean)) = groups.first().zip(mean) else { return true };
    let judge = SignificanceTest::of(&groups, [mean]);
    groups[1..].iter().all(|group| group.is_known_to(base, mean, &judge, share))
}

/// Returns CSV with a header, one line per run.
fn csv(varied: &[VariedKey], rows: &[Row], metrics: &[Metric]) -> String {
    let seeds = rows.iter().any(|row| row.variant.seed.is_some());
    let mut header: Vec<String> = varied.iter().map(|vary| vary.key.clone()).collect();
    header.extend(seeds.then(|| "seed".to_owned()));
    header.extend(metrics.iter().map(Metric::column));
    header.push("checks".to_owned());
    let mut text = header.iter().map(|name| csv_cell(name)).collect::<Vec<_>>().join(",") + "\n";
    for row in rows {
        // Numbers need no escaping, because spreadsheets do not interpret them as formulas.
        let cell = |text: &String| if text.parse::<f64>().is_ok() { text.clone() } else { csv_cell(text) };
        let mut cells: Vec<String> = row.variant.values.iter().map(cell).collect();
        cells.extend(seeds.then(|| row.seed.to_string()));
        cells.extend(metrics.iter().map(|metric| row.value(metric).map_or(String::new(), |value| value.to_string())));
        cells.push(csv_cell(&row.verdict()));
        text.push_str(&(cells.join(",") + "\n"));
    }
    text
}
