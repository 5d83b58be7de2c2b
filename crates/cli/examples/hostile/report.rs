//! Collects the outcomes in a table, and each fault with the command that reproduces it.

use std::collections::BTreeMap;
use std::time::Duration;

/// Outcomes of the cases of one kind.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Number of cases.
    pub cases: u64,
    /// Number of cases with exit code 0.
    pub done: u64,
    /// Number of cases with exit code 1.
    pub failed: u64,
    /// Number of cases with exit code 2.
    pub refused: u64,
    /// Number of cases that were interrupted because they ran for a minute, and then exited.
    pub stopped: u64,
    /// Number of cases with a fault.
    pub faults: u64,
    /// Longest duration of a case.
    pub longest: Duration,
}

/// A fault, and how to reproduce it.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Options that repeat the case: `--input 7` or `--scenario 7`.
    pub again: String,
    /// The attacked format, and the command that was run.
    pub command: String,
    /// Description of the fault.
    pub what: String,
}

/// Outcomes of all cases.
pub struct Report {
    seed: u64,
    rows: Vec<(String, Counts)>,
    notes: BTreeMap<String, u64>,
    kinds: BTreeMap<String, u64>,
    faults: Vec<Fault>,
}

impl Report {
    pub fn new(seed: u64) -> Report {
        Report { seed, rows: Vec::new(), notes: BTreeMap::new(), kinds: BTreeMap::new(), faults: Vec::new() }
    }

    /// Counts a case of this kind.
    pub fn count(&mut self, kind: &str, code: Option<i32>, took: Duration) {
        let at = self.rows.iter().position(|(name, _)| name == kind).unwrap_or_else(|| {
            self.rows.push((kind.to_owned(), Counts::default()));
            self.rows.len() - 1
        });
        let counts = &mut self.rows[at].1;
        counts.cases += 1;
        counts.longest = counts.longest.max(took);
        match code {
            Some(0) => counts.done += 1,
            Some(1) => counts.failed += 1,
            Some(2) => counts.refused += 1,
            Some(130) => counts.stopped += 1,
            _ => {}
        }
    }

    /// Counts the inputs of a fuzz target that one process checked without a fault.
    pub fn count_inputs(&mut self, kind: &str, inputs: u64, took: Duration) {
        self.count(kind, None, took);
        if let Some((_, counts)) = self.rows.iter_mut().find(|(name, _)| name == kind) {
            counts.cases += inputs - 1;
        }
    }

    /// Counts an observation that is not a fault.
    pub fn note(&mut self, what: String) {
        *self.notes.entry(what).or_default() += 1;
    }

    /// Counts a scenario that was run, by kind of mechanism, fabric or traffic in it.
    pub fn ran_with(&mut self, kind: String) {
        *self.kinds.entry(kind).or_default() += 1;
    }

    /// Adds a fault of a case that has been counted by [`Report::count`].
    pub fn fault(&mut self, kind: &str, fault: Fault) {
        if let Some((_, counts)) = self.rows.iter_mut().find(|(name, _)| name == kind) {
            counts.faults += 1;
        }
        self.faults.push(fault);
    }

    pub fn is_clean(&self) -> bool {
        self.faults.is_empty()
    }

    /// Prints the table, then notes, then faults.
    pub fn print(&self) {
        let head = ["", "cases", "exit 0", "exit 1", "exit 2", "stopped", "faults", "longest"];
        println!(
            "{:18}{:>8}{:>8}{:>8}{:>8}{:>9}{:>8}{:>9}",
            head[0], head[1], head[2], head[3], head[4], head[5], head[6], head[7]
        );
        let mut all = Counts::default();
        for (name, counts) in &self.rows {
            print_row(name, counts);
            all.cases += counts.cases;
            all.done += counts.done;
            all.failed += counts.failed;
            all.refused += counts.refused;
            all.stopped += counts.stopped;
            all.faults += counts.faults;
            all.longest = all.longest.max(counts.longest);
        }
        print_row("all", &all);
        if !self.kinds.is_empty() {
            let kinds: Vec<String> = self.kinds.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
            println!("\nscenarios ran with: {}", kinds.join(", "));
        }
        if !self.notes.is_empty() {
            println!();
        }
        for (note, count) in &self.notes {
            println!("{count:>6}  {note}");
        }
        for fault in &self.faults {
            println!("\n{}: {}\n  {}", fault.again, fault.what, fault.command);
            println!("  again: scripts/hostile.sh --seed {} {}", self.seed, fault.again);
        }
        println!(
            "\n{}",
            if self.faults.is_empty() { "nothing found".to_owned() } else { format!("{} found", self.faults.len()) }
        );
    }
}

fn print_row(name: &str, counts: &Counts) {
    let Counts { cases, done, failed, refused, stopped, faults, longest } = counts;
    let seconds = longest.as_secs_f64();
    println!("{name:18}{cases:>8}{done:>8}{failed:>8}{refused:>8}{stopped:>9}{faults:>8}{seconds:>7.1} s");
}
