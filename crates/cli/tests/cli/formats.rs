//! Traffic files of other simulators: the detected format is reported before the run; if the file is invalid, the error
//! names the format.

use crate::common::run;
use std::fs;
use std::path::PathBuf;

/// Writes a traffic file, and a scenario that replays it between three hosts at one switch.
fn folder(name: &str, keys: &str, flows: &str) -> (PathBuf, String) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("formats").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let topology = "4 1 3\n0\n0 1 40Gbps 0.001ms 0\n0 2 40Gbps 0.001ms 0\n0 3 40Gbps 0.001ms 0\n";
    fs::write(folder.join("topology.txt"), topology).unwrap();
    fs::write(folder.join("flows"), flows).unwrap();
    let text = format!(
        "duration = \"8s\"\nuntil = \"flows done\"\n[fabric]\nkind = \"file\"\nfile = \"topology.txt\"\n\
         [switch]\nflow_control = {{ kind = \"pfc\", priorities = [3] }}\n[[traffic]]\nkind = \"replay\"\n\
         file = \"flows\"\n{keys}\n"
    );
    let scenario = folder.join("scenario.toml");
    fs::write(&scenario, text).unwrap();
    (folder, scenario.display().to_string())
}

const NS3_RDMA: &str =
    "2\n2 1 3 1000 2 9\n3 1 3 500 2 9\n\nFirst line: flow #\nsrc dst priority packet# start_time end_time\n";

#[test]
fn a_flow_file_of_ns3_rdma_is_never_read_as_flows_of_two_bytes() {
    let (_, scenario) = folder("ambiguous", "time_origin = \"2s\"", NS3_RDMA);
    let ran = run(&["run", &scenario, "--quiet"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.err.contains("flows:2:") && ran.err.contains("format = \"ns3-rdma\""), "{}", ran.err);
    let (folder, scenario) = folder("named", "time_origin = \"2s\"\nformat = \"ns3-rdma\"", NS3_RDMA);
    let ran = run(&["run", &scenario, "--out", &folder.join("out").display().to_string()]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(!ran.err.contains("more flows than"), "words are no flows: {}", ran.err);
    let fct = fs::read_to_string(folder.join("out/fct.txt")).unwrap();
    let mut sizes: Vec<&str> = fct.lines().filter_map(|line| line.split(' ').nth(4)).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, ["1000000", "500000"], "{fct}");
}

#[test]
fn a_goal_schedule_is_refused_by_name() {
    let (_, scenario) = folder("goal", "", "num_ranks 32\n\nrank 0 {\nl1: send 100000b to 1 tag 16877216\n}\n");
    let ran = run(&["run", &scenario, "--quiet"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.err.contains("flows:1: this is a GOAL schedule"), "{}", ran.err);
}

/// The unit of start times is ambiguous: a start of 100 means 100 us in uet-htsim and 100 ps in csg-htsim.
#[test]
fn a_guessed_unit_of_starts_is_reported() {
    let matrix = "Nodes 3\nConnections 2\n0->2 id 1 start 0 size 8000\n1->2 id 2 start 100 size 2000\n";
    for (name, key, output) in [("auto", "", true), ("ps", "start_unit = \"ps\"", false)] {
        let (_, scenario) = folder(&format!("unit-{name}"), key, matrix);
        let ran = run(&["run", &scenario]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_eq!(ran.err.contains("`start` is read in microseconds"), output, "{name}: {}", ran.err);
    }
}

#[test]
fn a_ring_without_switches_runs_where_hosts_relay() {
    let (folder, scenario) = folder("ring", "", "1\n0 2 3 100 20000 0\n");
    let ring = "4 0 4\n\n0 1 200Gbps 0.005ms 0\n1 2 200Gbps 0.005ms 0\n2 3 200Gbps 0.005ms 0\n3 0 200Gbps 0.005ms 0\n";
    fs::write(folder.join("topology.txt"), ring).unwrap();
    let refused = run(&["run", &scenario, "--quiet"]);
    assert_eq!(refused.code, Some(2), "{}", refused.out);
    assert!(refused.err.contains("relay = true"), "{}", refused.err);
    let topology = folder.join("topology.txt").display().to_string();
    let checked = run(&["fabric", "check", &topology]);
    assert!(checked.out.contains("with relay = true of [fabric], here --relay true"), "{}", checked.out);
    let relays = run(&["fabric", "check", &topology, "--relay", "true"]);
    assert!(!relays.out.contains("relay = true"), "{}", relays.out);
    let ran = run(&["run", &scenario, "--quiet", "--set", "fabric.relay=true"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}
