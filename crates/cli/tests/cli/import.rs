//! Tests of `tidegate import hpcc`: converts a configuration of HPCC's simulator, runs the resulting scenario, and
//! rejects unsupported configurations.

use crate::common::run;
use crate::corpus::committed::inputs;
use std::fs;
use std::path::PathBuf;

/// Creates a folder with the structure of HPCC's simulator: file names in `mix/config.txt` are relative to the parent
/// folder of `mix`. Three hosts are linked to the switch, node 0, as in the simulator's own example. `change` has
/// replacements in `config.txt`.
fn folder(name: &str, change: &[(&str, &str)]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("import").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("mix")).unwrap();
    let topology = "4 1 3\n0\n0 1 100Gbps 1000ns 0\n0 2 100Gbps 1000ns 0\n0 3 100Gbps 1000ns 0\n";
    fs::write(folder.join("mix/topology.txt"), topology).unwrap();
    fs::write(folder.join("mix/flow.txt"), "2\n2 1 3 100 20000 2\n3 1 3 100 20000 2.00001\n").unwrap();
    let dcqcn = inputs("import_hpcc").remove("dcqcn").unwrap();
    let mut text = String::from_utf8(dcqcn).unwrap().replace("SIMULATOR_STOP_TIME 4.00", "SIMULATOR_STOP_TIME 2.001");
    for (from, to) in change {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    fs::write(folder.join("mix/config.txt"), text).unwrap();
    folder
}

#[test]
fn a_configuration_runs_and_its_hosts_keep_their_numbers() {
    let folder = folder("runs", &[]);
    let at = |name: &str| folder.join(name).display().to_string();
    let made = run(&["import", "hpcc", &at("mix/config.txt"), "--out", &at("made.toml")]);
    assert_eq!(made.code, Some(0), "{}", made.err);
    assert!(
        made.err.contains("U_TARGET (line 22): a parameter of controls that do not carry the flows here"),
        "{}",
        made.err
    );
    assert!(made.err.contains(": VAR_WIN") || !made.err.contains("VAR_WIN"), "{}", made.err);
    let text = fs::read_to_string(at("made.toml")).unwrap();
    assert!(text.contains("file = \"mix/topology.txt\"") && text.contains("# - "), "{text}");
    let ran = run(&["run", &at("made.toml"), "--out", &at("out"), "--quiet"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    // `flow.txt` has flows from node 2 to 1 and from node 3 to 1. `fct.txt` contains addresses in the simulator's form,
    // 0x0b000001 + (id << 8).
    let fct = fs::read_to_string(at("out/fct.txt")).unwrap();
    let ends: Vec<Vec<&str>> = fct.lines().map(|line| line.split(' ').take(2).collect()).collect();
    assert_eq!(ends, [["0b000201", "0b000101"], ["0b000301", "0b000101"]], "{fct}");
    // An existing output file is not overwritten.
    let again = run(&["import", "hpcc", &at("mix/config.txt"), "--out", &at("made.toml")]);
    assert_eq!(again.code, Some(2));
    assert!(again.err.contains("exists"), "{}", again.err);
}

#[test]
fn what_stops_it_has_its_file_and_line_and_leaves_nothing() {
    for (name, change, output) in [
        ("mode", [("CC_MODE 1", "CC_MODE 10")], "config.txt:8: CC_MODE 10 is HPCC-PINT, which Tidegate does not have"),
        ("missing", [("mix/flow.txt", "mix/flows.txt")], "config.txt:5: there is no file `mix/flows.txt`"),
        (
            "value",
            [("RP_TIMER 300", "RP_TIMER fast")],
            "config.txt:12: RP_TIMER: `fast` is not a number of microseconds",
        ),
        ("late", [("TIME 2.001", "TIME 1.5")], "config.txt:7: the simulation ends at 1.5s, before its first flow"),
    ] {
        let folder = folder(name, &change);
        let at = |name: &str| folder.join(name).display().to_string();
        let ran = run(&["import", "hpcc", &at("mix/config.txt"), "--out", &at("made.toml")]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{name}: {}", ran.err);
        assert!(ran.err.contains(output), "{name}: {}", ran.err);
        assert!(!folder.join("made.toml").exists());
    }
    let folder = folder("switch", &[]);
    fs::write(folder.join("mix/flow.txt"), "1\n0 1 3 100 20000 2\n").unwrap();
    let ran = run(&["import", "hpcc", &folder.join("mix/config.txt").display().to_string()]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("flow.txt:2: node 0 is a switch"), "{}", ran.err);
}

/// The configuration of the ConWeave simulator: PFC off, IRN on, and the load balancer ConWeave, which the import
/// rejects by its name.
#[test]
fn every_key_is_in_the_table_and_a_load_balancer_is_refused_by_name() {
    let folder = folder("conweave", &[("BUFFER_SIZE 32", "BUFFER_SIZE 32\nLB_MODE 9\nENABLE_PFC 0\nENABLE_IRN 1")]);
    let at = |name: &str| folder.join(name).display().to_string();
    let refused = run(&["import", "hpcc", &at("mix/config.txt"), "--out", &at("made.toml")]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("LB_MODE 9 is ConWeave, which Tidegate does not have"), "{}", refused.err);
    let table = run(&["import", "hpcc", &at("mix/config.txt"), "--verify"]);
    assert_eq!(table.code, Some(2), "{}", table.err);
    let keys = fs::read_to_string(at("mix/config.txt")).unwrap().lines().filter(|line| !line.is_empty()).count();
    assert_eq!(table.out.lines().count(), keys, "{}", table.out);
    let row = |key: &str| table.out.lines().find(|line| line.contains(key)).unwrap_or_default().to_owned();
    assert!(row("LB_MODE").contains("refused") && row("ENABLE_IRN").contains("carried"), "{}", table.out);
    assert!(row("FCT_OUTPUT_FILE").contains("irrelevant"), "{}", table.out);
    let made = run(&["import", "hpcc", &at("mix/config.txt"), "--ignore", "LB_MODE", "--out", &at("made.toml")]);
    assert_eq!(made.code, Some(0), "{}", made.err);
    let text = fs::read_to_string(at("made.toml")).unwrap();
    assert!(text.contains("flow_control = \"none\"") && text.contains("loss_recovery = \"selective\""), "{text}");
}

/// Like the configurations of ASTRA-sim and SimAI: no topology file and no flow file, and a stop time of 4 x 10^13 s.
#[test]
fn files_can_be_named_beside_the_configuration() {
    let never = ("SIMULATOR_STOP_TIME 2.001", "SIMULATOR_STOP_TIME 40000000000000.00");
    let folder =
        folder("nameless", &[never, ("TOPOLOGY_FILE mix/topology.txt\n", ""), ("FLOW_FILE mix/flow.txt\n", "")]);
    let at = |name: &str| folder.join(name).display().to_string();
    let nameless = run(&["import", "hpcc", &at("mix/config.txt")]);
    assert_eq!(nameless.code, Some(2));
    assert!(nameless.err.contains("TOPOLOGY_FILE is missing"), "{}", nameless.err);
    let (topology, flows) = (at("mix/topology.txt"), at("mix/flow.txt"));
    let named = ["import", "hpcc", &at("mix/config.txt"), "--topology", &topology, "--flows", &flows];
    let made = run(&[&named[..], &["--out", &at("made.toml")]].concat());
    assert_eq!(made.code, Some(0), "{}", made.err);
    let ran = run(&["run", &at("made.toml"), "--out", &at("out"), "--quiet"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

/// With `--paths`, the scenario contains the ECMP path that the HPCC simulator selects for each flow, and can be run.
/// The folder of the output file is checked before the import.
#[test]
fn data_takes_the_paths_of_the_simulator() {
    let folder = folder("paths", &[]);
    let at = |name: &str| folder.join(name).display().to_string();
    let lost = run(&["import", "hpcc", &at("mix/config.txt"), "--paths", "--out", &at("none/made.toml")]);
    assert!(lost.code == Some(2) && lost.err.contains("there is no folder"), "{}", lost.err);
    let made = run(&["import", "hpcc", &at("mix/config.txt"), "--paths", "--out", &at("made.toml")]);
    assert_eq!(made.code, Some(0), "{}", made.err);
    let text = fs::read_to_string(at("made.toml")).unwrap();
    assert!(
        text.contains("paths = [\"path 0\", \"path 1\"]") && text.contains("nodes = [\"h2\", \"s0\", \"h1\"]"),
        "{text}"
    );
    let ran = run(&["run", &at("made.toml"), "--out", &at("out"), "--quiet"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    // Host 2 has two links: the HPCC simulator does not specify which of them it uses.
    let two = "4 1 4\n0\n0 1 100Gbps 1000ns 0\n0 2 100Gbps 1000ns 0\n0 3 100Gbps 1000ns 0\n2 3 100Gbps 1000ns 0\n";
    fs::write(at("mix/topology.txt"), two).unwrap();
    let two = run(&["import", "hpcc", &at("mix/config.txt"), "--paths"]);
    assert!(two.code == Some(2) && two.err.contains("host `h2` has several links"), "{}", two.err);
}
