//! Injects 100 seeded faults, one at a time, into the configuration of 40 switches. Each must be reported at the right
//! file, the unchanged configuration must be safe, and the check must take less than a second.

mod common;

use common::seeded::{FAULTS, Seeded, seeded};
use common::{Files, judge, leaf_spine, texts, topology, try_topology};
use running::PathSet;
use std::time::{Duration, Instant};

const SWITCHES: (usize, usize) = (32, 8);
const HOSTS: usize = 2;

/// Returns the findings or faults as text lines with the file name.
fn reported(files: &Files) -> Vec<String> {
    let texts = texts(files);
    let configs = match running::read(&texts) {
        Ok(configs) => configs,
        Err(faults) => return faults.iter().map(|fault| format!("{fault}")).collect(),
    };
    let fabric = match try_topology(files) {
        Ok(fabric) => fabric,
        Err(error) => return vec![error],
    };
    let options = common::options(PathSet::Shortest);
    match running::judge(&fabric, &configs, &options) {
        Ok(report) => report.findings.iter().map(|it| format!("{}: {}: {}", it.file, it.key, it.why)).collect(),
        Err(faults) => faults.iter().map(|fault| format!("{fault}")).collect(),
    }
}

#[test]
fn every_one_of_100_seeded_faults_is_reported_at_its_file() {
    let healthy = leaf_spine(SWITCHES.0, SWITCHES.1, HOSTS);
    assert_eq!(healthy.len(), 40);
    assert_eq!(reported(&healthy), Vec::<String>::new());
    let mut drawn = std::collections::BTreeSet::new();
    for seed in 0..100 {
        let Seeded { name, files, file, port } = seeded(&healthy, seed);
        let reported = reported(&files);
        assert!(!reported.is_empty(), "seed {seed}: {name} in {file} at {port}: nothing is reported");
        // The topology reader rejects two speeds of one cable; its error names the keys of both ends.
        let stem = file.trim_end_matches(".json");
        let names = |line: &String| line.starts_with(stem) || (name == "another speed" && line.contains(stem));
        assert!(reported.iter().any(names), "seed {seed}: {name} in {file} at {port}: {reported:#?}");
        // One fault causes few findings, not one per port or path.
        assert!(reported.len() <= 6, "seed {seed}: {name} in {file} at {port}: {reported:#?}");
        drawn.insert(name);
    }
    assert_eq!(drawn.len(), FAULTS.len());
    assert!(FAULTS.len() >= 20);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it measures how long judging takes")]
fn forty_switches_are_read_and_judged_within_a_second() {
    let healthy = leaf_spine(SWITCHES.0, SWITCHES.1, HOSTS);
    let (texts, fabric) = (texts(&healthy), topology(&healthy));
    let fastest = (0..3).map(|_| {
        let started = Instant::now();
        let configs = running::read(&texts).unwrap();
        let options = common::options(PathSet::Shortest);
        assert!(running::judge(&fabric, &configs, &options).unwrap().safe());
        started.elapsed()
    });
    let fastest = fastest.min().unwrap();
    assert!(fastest < Duration::from_secs(1), "{fastest:?}");
    assert!(judge(&healthy, PathSet::Bounces(0)).safe());
}
