use super::*;
use crate::{Lowered, Scenario};
use model::parameters::{EcnParameters, MarkEvent, Marking};
use std::io;
use std::path::Path;
use units::Bytes;

const TOPOLOGY: &str =
    "5 2 4\n3 4\n0 3 100Gbps 1000ns 0\n1 3 100Gbps 1000ns 0\n2 4 100Gbps 1000ns 0\n3 4 400Gbps 1000ns 0\n";
const FLOWS: &str = "2\n0 2 3 100 20000 2.0\n1 2 3 100 30000 2.00001\n";
const CONFIG: &str = "\
ENABLE_QCN 1
TOPOLOGY_FILE mix/topology.txt
FLOW_FILE mix/flow.txt
SIMULATOR_STOP_TIME 2.002
CC_MODE 1
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
RP_TIMER 300
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
RATE_AI 20Mb/s
RATE_HAI 200Mb/s
MIN_RATE 1000Mb/s
HAS_WIN 0
ACK_HIGH_PRIO 1
KMAX_MAP 2 100000000000 1600 400000000000 6400
KMIN_MAP 2 100000000000 400 400000000000 1600
PMAX_MAP 2 100000000000 0.2 400000000000 0.2
BUFFER_SIZE 32
";

fn import(config: &str, transport: Option<&str>) -> Result<Imported, ScenarioErrors> {
    import_ignoring(config, transport, &[])
}

fn import_ignoring(config: &str, transport: Option<&str>, ignore: &[String]) -> Result<Imported, ScenarioErrors> {
    let fabric = fabric::files::read_hpcc(TOPOLOGY).unwrap();
    let options = traffic::FlowFileOptions { hosts: 3, switches: vec![3, 4], ..traffic::FlowFileOptions::default() };
    let flows = traffic::read_flow_file(FLOWS.as_bytes(), "flow.txt", &options).unwrap().flows;
    let (topology_file, flow_file) = ("t \"1\".txt", "mix\\f.txt");
    let inputs =
        Inputs { fabric: &fabric, flows: &flows, topology_file, flow_file, transport, ignore, keeps_paths: false };
    HpccConfig::parse(config, "config.txt")?.scenario(inputs)
}

fn lowered(imported: &Imported) -> Lowered {
    let load = |path: &Path| match path.to_str() {
        Some("t \"1\".txt") => Ok(TOPOLOGY.into()),
        Some("mix\\f.txt") => Ok(FLOWS.into()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let scenario = Scenario::parse_with(&imported.text, "s.toml", Path::new(""), &[], None, Box::new(load));
    scenario.and_then(|scenario| scenario.lower()).unwrap_or_else(|errors| panic!("{errors}\n{}", imported.text))
}

fn value(lowered: &Lowered, key: &str) -> String {
    lowered.explain.iter().find(|explained| explained.key == key).unwrap_or_else(|| panic!("{key}")).value.clone()
}

#[test]
fn a_configuration_becomes_a_scenario_that_lowers() {
    let imported = import(CONFIG, None).unwrap();
    let lowered = lowered(&imported);
    assert_eq!(lowered.setup.duration, Time::from_ms(2), "from 2 s on");
    assert_eq!(lowered.setup.traffic.flows.len(), 2);
    assert_eq!(lowered.setup.traffic.flows[1].start, Start::At(Time::from_us(10)));
    let expected = Marking::Ecn(EcnParameters {
        k_min_bytes: 400_000,
        k_max_bytes: Some(1_600_000),
        p_max: 0.2,
        of_rate: Some(Rate::from_gbps(100)),
        at: MarkEvent::Dequeue,
    });
    assert_eq!(lowered.setup.switch.marking, expected, "thresholds in proportion to the rate");
    for (key, wanted) in [
        ("switch.buffer", "33554432B"),
        ("host.transport.kind", "dcqcn"),
        ("host.transport.alpha_timer", "1us"),
        ("host.transport.decrease_interval", "4us"),
        ("host.transport.increase_timer", "300us"),
        ("host.transport.recovery_stages", "2"),
        ("host.transport.additive_increase", "20Mbps"),
        ("host.transport.hyper_increase", "200Mbps"),
        ("host.transport.min_rate", "1Gbps"),
        ("host.transport.header", "48B"),
    ] {
        let noted = value(&lowered, key);
        let same = noted == wanted || noted.parse::<Bytes>().ok().zip(wanted.parse().ok()).is_some_and(|(a, b)| a == b);
        assert!(same, "{key}: {noted}, not {wanted}");
    }
    assert_eq!(imported.notes.len(), 3, "{:?}", imported.notes);
    // Acknowledgements have priority only at hosts; in switches they share the queue of the data, as in the HPCC
    // simulator.
    assert!(!imported.text.contains("reply_class"), "{}", imported.text);
    assert!(imported.notes.iter().all(|note| imported.text.contains(&format!("# - {note}"))), "{}", imported.text);
}

#[test]
fn control_characters_of_a_file_reach_neither_comments_nor_notes() {
    let config = format!("{CONFIG}\nU_\u{1b}[2J\u{7f}\u{0} 1\n");
    let refused = import(&config, None).unwrap_err().to_string();
    assert!(refused.contains(r"U_\u{1b}[2J\u{7f}\u{0}: not a key"), "{refused}");
    let imported = import_ignoring(&config, None, &["U_\u{1b}[2J\u{7f}\u{0}".to_owned()]).unwrap();
    assert!(imported.notes.iter().any(|note| note.contains(r"U_\u{1b}[2J\u{7f}\u{0}")), "{:?}", imported.notes);
    assert!(imported.notes.iter().all(|note| !note.contains(char::is_control)));
    lowered(&imported);
}

#[test]
fn a_control_that_there_is_not_is_refused_by_name_unless_another_is_named() {
    for (mode, name) in [(10, "HPCC-PINT"), (4, "none that")] {
        let config = CONFIG.replace("CC_MODE 1", &format!("CC_MODE {mode}"));
        let error = import(&config, None).unwrap_err().to_string();
        assert!(error.starts_with(&format!("config.txt:5: CC_MODE {mode} is {name}")), "{error}");
        assert!(error.contains("--transport"), "{error}");
        for kind in ["roce", "dcqcn", "tcp", "dctcp", "ndp"] {
            let imported = import(&config, Some(kind)).unwrap();
            assert!(imported.notes.iter().any(|note| note.contains(&format!("`{kind}` carries the flows"))));
            if kind != "ndp" {
                assert_eq!(value(&lowered(&imported), "host.transport.kind"), kind);
            }
        }
    }
    assert!(import(CONFIG, Some("bbr")).unwrap_err().to_string().contains("`bbr` is not a transport"));
}

/// Each `CC_MODE` becomes a transport of Tidegate with the parameters from the configuration. Keys that belong to
/// another congestion control are noted.
#[test]
fn every_control_of_the_simulator_comes_over() {
    let more = "VAR_WIN 1\nU_TARGET 0.9\nMI_THRESH 0\nFAST_REACT 1\nMULTI_RATE 0\nDCTCP_RATE_AI 615Mb/s\nINT_MULTI 1\n";
    let of = |mode: &str| {
        let config = CONFIG.replace("CC_MODE 1", &format!("CC_MODE {mode}")).replace("HAS_WIN 0", "HAS_WIN 1");
        import(&format!("{config}{more}"), None).unwrap()
    };
    for (mode, kind, settings) in [
        ("1", "dcqcn", &[("window", "77250B"), ("variable_window", "true")][..]),
        (
            "3",
            "hpcc",
            &[
                ("base_rtt", "6.18us"),
                ("target_utilisation", "0.9"),
                ("max_stage", "0"),
                ("additive_increase", "20Mbps"),
                ("fast_reaction", "true"),
                ("header", "48B"),
                ("min_rate", "1Gbps"),
            ],
        ),
        (
            "7",
            "timely",
            &[("measure", "round-trip"), ("additive_increase", "20Mbps"), ("hyper_factor", "10"), ("header", "56B")],
        ),
        ("8", "dctcp-rate", &[("gain", "0.00390625"), ("additive_increase", "615Mbps"), ("variable_window", "true")]),
    ] {
        let imported = of(mode);
        let lowered = lowered(&imported);
        assert_eq!(value(&lowered, "host.transport.kind"), kind);
        for (key, wanted) in settings {
            assert_eq!(value(&lowered, &format!("host.transport.{key}")), *wanted, "{}", imported.text);
        }
        let noted = imported.notes.iter().any(|note| note.contains("DCTCP_RATE_AI (line"));
        assert_eq!(noted, kind != "dctcp-rate", "{:?}", imported.notes);
    }
}

#[test]
fn every_key_without_a_counterpart_is_named() {
    let more = "U_TARGET 0.95\nENABLE_TRACE 1\nFCT_OUTPUT_FILE mix/fct.txt\nQLEN_MON_START 2000000000\n\
        HAS_WIN 1\n\
        GLOBAL_T 0\nL2_BACK_TO_ZERO 1\nUSE_DYNAMIC_PFC_THRESHOLD 0\n\
        L2_ACK_INTERVAL 4\nLINK_DOWN 10 3 4\nSW_MONITORING_INTERVAL 10000\nDATA_RATE 1Gbps\n";
    let notes = import(&format!("{CONFIG}{more}"), None).unwrap().notes.join("\n");
    for key in more.lines().map(|line| line.split(' ').next().unwrap()).filter(|&key| key != "HAS_WIN") {
        let line = CONFIG.lines().chain(more.lines()).position(|line| line.starts_with(key)).unwrap() + 1;
        let named = [format!("config.txt:{line}: {key}: "), format!("{key} (line {line})")];
        assert!(named.iter().any(|name| notes.contains(name)), "{key}\n{notes}");
    }
}

/// PFC and loss recovery follow the keys of conweave: `ENABLE_PFC 0` and `ENABLE_IRN 1` become no flow control and
/// selective repeat, `ENABLE_PFC 1` and `ENABLE_IRN 0` become PFC and go-back-N.
#[test]
fn pfc_and_irn_follow_the_configuration() {
    let of = |more: &str| import(&format!("{CONFIG}{more}"), None).unwrap();
    let irn = of("ENABLE_PFC 0\nENABLE_IRN 1\nLB_MODE 0\n");
    assert!(irn.text.contains("flow_control = \"none\"\n"), "{}", irn.text);
    assert_eq!(value(&lowered(&irn), "host.transport.loss_recovery"), "selective");
    let pfc = of("ENABLE_PFC 1\nENABLE_IRN 0\n");
    assert!(pfc.text.contains("kind = \"pfc\", priorities = [3]"), "{}", pfc.text);
    assert_eq!(value(&lowered(&pfc), "host.transport.loss_recovery"), "go-back-n");
    let lossy = of("ERROR_RATE_PER_LINK 0.001\n");
    assert!(lowered(&lossy).setup.fabric.links().iter().all(|link| link.loss == 0.001), "{}", lossy.text);
}

#[test]
fn load_balancers_and_unknown_keys_are_refused_by_name_unless_ignored() {
    for (line, noted) in [
        ("LB_MODE 9", "config.txt:20: LB_MODE 9 is ConWeave, which Tidegate does not have"),
        ("LB_MODE 2", "LB_MODE 2 is DRILL"),
        ("LB_MODE 3", "LB_MODE 3 is CONGA"),
        ("LB_MODE 6", "LB_MODE 6 is LetFlow"),
        ("LB_MODE 4", "LB_MODE 4 is none that its simulator names"),
        ("RATE_BOUND 0", "RATE_BOUND 0: senders ignore their rates there"),
        ("ENABLE_MAGIC 1", "ENABLE_MAGIC: not a key of this family of simulators"),
    ] {
        let config = format!("{CONFIG}{line}\n");
        let error = import(&config, None).unwrap_err().to_string();
        assert!(error.contains(noted), "{line}: {error}");
        let key = line.split(' ').next().unwrap().to_owned();
        let ignored = import_ignoring(&config, None, std::slice::from_ref(&key)).unwrap();
        assert!(ignored.text.contains(&format!("{key}: ignored by --ignore")), "{}", ignored.text);
    }
    let error = import_ignoring(CONFIG, None, &["NOTHING".to_owned()]).unwrap_err().to_string();
    assert!(error.contains("the configuration has no such key"), "{error}");
    let error = import_ignoring(CONFIG, None, &["FLOW_FILE".to_owned()]).unwrap_err().to_string();
    assert!(error.contains("no scenario can do without the file"), "{error}");
}

/// The configurations in SimAI and ASTRA-sim have a stop time of 4e13 s, beyond the maximum duration of a run: the
/// scenario ends at the completion of all flows.
#[test]
fn a_time_that_never_comes_ends_the_run_with_its_flows() {
    let never = CONFIG.replace("SIMULATOR_STOP_TIME 2.002", "SIMULATOR_STOP_TIME 40000000000000.00");
    let text = import(&never, None).unwrap().text;
    assert!(text.contains("until = \"flows done\"") && text.contains("duration = \"998s\""), "{text}");
    let conweave = CONFIG.replace("SIMULATOR_STOP_TIME 2.002", "FLOWGEN_STOP_TIME 2.1");
    let text = import(&conweave, None).unwrap().text;
    assert!(text.contains("until = \"flows done\"") && text.contains("duration = \"200ms\""), "{text}");
}

#[test]
fn thresholds_that_are_not_in_proportion_stand_at_the_ports_of_each_rate() {
    let config = CONFIG.replace("400000000000 6400", "400000000000 3200");
    let imported = import(&config, None).unwrap();
    let lowered = lowered(&imported);
    let marking = |k_min_bytes, k_max_bytes| {
        Marking::Ecn(EcnParameters {
            k_min_bytes,
            k_max_bytes: Some(k_max_bytes),
            p_max: 0.2,
            of_rate: None,
            at: MarkEvent::Dequeue,
        })
    };
    assert_eq!(lowered.setup.switch.marking, marking(400_000, 1_600_000));
    let overrides = &lowered.setup.overrides;
    assert_eq!(overrides.len(), 1, "{}", imported.text);
    assert_eq!(overrides[0].ports.len(), 2, "both ends of the link of 400 Gbps");
    assert_eq!(overrides[0].marking, Some(marking(1_600_000, 3_200_000)));
    assert!(imported.notes.iter().all(|note| !note.contains("KMAX_MAP")), "{:?}", imported.notes);
}

/// The HPCC simulator reserves three times rate x delay plus 4 KiB per port, and a pause takes effect at once. A switch
/// with links of different lengths gets the largest of these headrooms. If frames would be lost at one of its ports
/// with this headroom, the scenario uses computed headroom instead.
#[test]
fn headroom_is_that_of_the_simulator_where_it_holds_what_can_arrive() {
    let text = |delays: [&str; 3]| {
        let [a, b, c] = delays;
        format!("5 2 4\n3 4\n0 3 100Gbps {a} 0\n1 3 100Gbps {a} 0\n3 4 100Gbps {b} 0\n4 2 100Gbps {c} 0\n")
    };
    let made = |delays| {
        let fabric = fabric::files::read_hpcc(&text(delays)).unwrap();
        let options =
            traffic::FlowFileOptions { hosts: 3, switches: vec![3, 4], ..traffic::FlowFileOptions::default() };
        let flows = traffic::read_flow_file(FLOWS.as_bytes(), "flow.txt", &options).unwrap().flows;
        let config = CONFIG.replace("ENABLE_QCN 1", "ENABLE_QCN 0");
        let inputs = Inputs {
            fabric: &fabric,
            flows: &flows,
            topology_file: "t",
            flow_file: "f",
            transport: None,
            ignore: &[],
            keeps_paths: false,
        };
        HpccConfig::parse(&config, "config.txt").unwrap().scenario(inputs).unwrap()
    };
    let equal = made(["1us", "1us", "1us"]);
    assert!(equal.text.contains("headroom = \"41596B\", reaction = \"0ns\""), "{}", equal.text);
    assert!(equal.notes.iter().all(|note| !note.contains("headroom")), "{:?}", equal.notes);
    let mixed = made(["1us", "2us", "2us"]);
    let other = "[[switch.override]]\nswitches = [\"s3\"]\nflow_control = { headroom = \"79096B\" }";
    assert!(mixed.text.contains("headroom = \"79096B\", reaction") && !mixed.text.contains(other), "{}", mixed.text);
    assert!(mixed.notes.iter().any(|note| note.contains("headroom of 1 switches: per port")), "{:?}", mixed.notes);
    let short = made(["1us", "1us", "10ns"]);
    assert!(short.text.contains("flow_control = { headroom = \"auto\" }"), "{}", short.text);
    assert!(short.notes.iter().any(|note| note.contains("less than may arrive")), "{:?}", short.notes);
}

#[test]
fn every_key_is_accounted_for() {
    let fabric = fabric::files::read_hpcc(TOPOLOGY).unwrap();
    let config = format!("{CONFIG}ENABLE_TRACE 1\nU_TARGET 0.95\nLB_MODE 9\nENABLE_MAGIC 1\nENABLE_PFC 0\nMAGIC 2\n");
    let config = HpccConfig::parse(&config, "config.txt").unwrap();
    let ignore = ["MAGIC".to_owned()];
    let inputs = Inputs {
        fabric: &fabric,
        flows: &[],
        topology_file: "t",
        flow_file: "f",
        transport: None,
        ignore: &ignore,
        keeps_paths: false,
    };
    let (made, accounts) = config.account(inputs);
    assert_eq!(made.unwrap_err().errors.len(), 2);
    assert_eq!(accounts.len(), CONFIG.lines().count() + 6);
    let fate = |key: &str| accounts.iter().find(|account| account.key == key).map(|account| account.fate).unwrap();
    for (key, expected) in [
        ("CC_MODE", KeyStatus::Carried),
        ("ENABLE_PFC", KeyStatus::Carried),
        ("ENABLE_TRACE", KeyStatus::Irrelevant),
        ("U_TARGET", KeyStatus::Irrelevant),
        ("LB_MODE", KeyStatus::Refused),
        ("ENABLE_MAGIC", KeyStatus::Refused),
        ("MAGIC", KeyStatus::Ignored),
    ] {
        assert_eq!(fate(key), expected, "{key}");
    }
    let silent = accounts.iter().find(|account| account.fate != KeyStatus::Carried && account.note.is_empty());
    assert_eq!(silent, None, "what is not carried has its reason");
}

#[test]
fn windows_links_and_switched_off_marks_come_over() {
    let text = import(&CONFIG.replace("HAS_WIN 0", "HAS_WIN 1"), None).unwrap().text;
    // RTT at 100 Gbps: 3 links x 1 us in both directions, plus 80 + 20 + 80 ns to serialise the payload of a packet on
    // each link.
    assert!(text.contains("window = \"77250B\""), "{text}");
    let down = import(&CONFIG.replace("BUFFER_SIZE 32", "LINK_DOWN 10 3 4\nENABLE_QCN 0"), None).unwrap();
    assert!(down.text.contains("[[fail]]\nlink = [\"s3\", \"s4\"]\nat = \"10us\""), "{}", down.text);
    assert!(down.text.contains("marking = \"none\"") && down.text.contains("buffer = \"16MiB\""), "{}", down.text);
}

#[test]
fn what_does_not_go_together_is_an_error_with_its_line() {
    for (from, to, noted) in [
        (
            "SIMULATOR_STOP_TIME 2.002",
            "SIMULATOR_STOP_TIME 2.0",
            "config.txt:4: the simulation ends at 2s, before its first",
        ),
        (
            "KMAX_MAP 2 100000000000 1600 400000000000 6400",
            "KMAX_MAP 1 100000000000 1600",
            "config.txt:16: KMAX_MAP has nothing for ports of 400Gbps",
        ),
        (
            "PMAX_MAP 2 100000000000 0.2",
            "PMAX_MAP 2 100000000000 1.2",
            "would mark from 400 KB to 1600 KB with up to 1.2",
        ),
        ("RP_TIMER 300\n", "", "config.txt: RP_TIMER is missing"),
        ("HAS_WIN 0", "LINK_DOWN 5 0 1", "config.txt:14: LINK_DOWN: no link between nodes 0 and 1"),
        ("HAS_WIN 0", "LINK_DOWN 5 3 99", "no link between nodes 3 and 99"),
        ("HAS_WIN 0", "L2_ACK_INTERVAL 0", "without acknowledgements"),
    ] {
        let config = CONFIG.replacen(from, to, 1);
        assert_ne!(config, CONFIG);
        let error = import(&config, None).unwrap_err().to_string();
        assert!(error.contains(noted), "{to}: {error}");
    }
}
