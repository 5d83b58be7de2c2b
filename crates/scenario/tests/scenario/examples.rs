//! Every example lowers, and its results match the comment at its top.

use scenario::{FluidFile, Lowered, Scenario, SweepFile};
use std::path::{Path, PathBuf};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn scenarios(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        // ASIC profiles and stream lists are not scenarios.
        if path.ends_with("asic") || path.ends_with("schedule") {
            continue;
        }
        if path.is_dir() {
            scenarios(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            found.push(path);
        }
    }
}

fn lower(path: &Path) -> Lowered {
    let scenario = Scenario::read(path, &[], None).unwrap_or_else(|errors| panic!("{errors}"));
    scenario.lower().unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn every_example_lowers_without_warnings() {
    let mut found = Vec::new();
    scenarios(&examples(), &mut found);
    // Skip sweeps whose scenario is in this directory: the tests of the command line run them.
    found.retain(|path| match SweepFile::recognise(&std::fs::read_to_string(path).unwrap()) {
        true => !SweepFile::read(path).unwrap_or_else(|errors| panic!("{errors}")).scenario.is_file(),
        false => true,
    });
    // Fluid models have a separate reader.
    let fluids = found.extract_if(.., |path| {
        path.parent().is_some_and(|folder| folder.ends_with("fluid")) && FluidFile::read(path, &[]).is_ok()
    });
    assert_eq!(fluids.count(), 4);
    assert!(found.len() >= 7, "{found:?}");
    let mut hashes = std::collections::BTreeSet::new();
    for path in &found {
        let lowered = lower(path);
        assert!(lowered.warnings.is_empty(), "{}: {:?}", path.display(), lowered.warnings);
        assert!(hashes.insert(lowered.hash.clone()), "{} has the hash of another", path.display());
        assert_eq!(lowered.hash.len(), 64);
    }
}

#[test]
fn incast_has_the_stated_sources_and_sizes() {
    let lowered = lower(&examples().join("incast-pfc.toml"));
    assert_eq!(lowered.fabric_text, "fat-tree: 128 hosts, 80 switches, 384 links of 100Gbps");
    assert_eq!(lowered.traffic_text, ["incast: 32 flows, 32MB"]);
    assert_eq!(lowered.setup.host.mtu_bytes, 1062);
    assert_eq!(lowered.setup.switch.flow_control.lossless(), 1 << 3);
}

#[test]
fn the_ring_sends_along_its_paths() {
    let lowered = lower(&examples().join("deadlock-ring.toml"));
    assert!(lowered.expect_deadlock);
    let paths: Vec<_> = lowered.setup.traffic.flows.iter().map(|flow| (flow.src, flow.dst, flow.path)).collect();
    assert_eq!(paths, [(0, 2, Some(0)), (1, 3, Some(1)), (2, 0, Some(2)), (3, 1, Some(3))]);
}

#[test]
fn the_replay_starts_at_its_origin() {
    let lowered = lower(&examples().join("replay/scenario.toml"));
    let first = lowered.setup.traffic.flows[0].start;
    assert!(matches!(first, traffic::Start::At(at) if at < units::Time::from_us(50)), "{first:?}");
    assert_eq!(lowered.setup.traffic.flows.iter().filter(|flow| flow.dst_port == 200).count(), 7);
}
