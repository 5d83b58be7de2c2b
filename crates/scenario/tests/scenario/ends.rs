//! Parameters that apply to a part of the network: transports of traffic entries, clocks of hosts, overrides of
//! switches.

use model::parameters::{NodeClock, QueueLimit, Threshold};
use protocols::transport::TransportParameters;
use scenario::{Lowered, Scenario};
use std::path::Path;
use units::Time;

const PLAIN: &str = "duration = \"1ms\"\n\
    [fabric]\nkind = \"single-switch\"\nhosts = 4\nlink = { rate = \"10Gbps\", delay = \"500ns\" }\n\
    [host]\ntransport = { kind = \"roce\", payload = \"4096B\" }\n\
    [[traffic]]\nkind = \"permutation\"\nsize = \"10KB\"\n\
    [[traffic]]\nkind = \"permutation\"\nsize = \"10KB\"\n";

fn lower(text: &str, overrides: &[(&str, &str)]) -> Result<Lowered, String> {
    let overrides: Vec<_> = overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let scenario = Scenario::parse(text, "ends.toml", Path::new(""), &overrides, None);
    scenario.and_then(|scenario| scenario.lower()).map_err(|errors| errors.to_string())
}

// [M7]
#[test]
fn an_entry_of_the_traffic_has_a_transport_of_its_own() {
    let plain = lower(PLAIN, &[]).unwrap();
    assert!(plain.setup.host.transports.is_empty());
    assert_eq!(plain.setup.host.mtu_bytes, 4096 + 62);
    let mixed = lower(PLAIN, &[("traffic.1.transport", "{ kind = \"dctcp\", mss = \"8960B\" }")]).unwrap();
    let dctcp = TransportParameters::build("dctcp", [("mss", "8960B")]).unwrap();
    assert_eq!(mixed.setup.host.transports, [(1, dctcp)].into());
    assert_eq!(mixed.setup.host.transport, plain.setup.host.transport);
    assert!(mixed.setup.host.mtu_bytes > 8960, "the largest frame is that of the entry");
    assert_ne!(mixed.hash, plain.hash);
    assert!(mixed.warnings.iter().any(|warning| warning.message.contains("dctcp reacts to marks")));
    let messages = |key: &str| mixed.explain.iter().find(|entry| entry.key == key).map(|entry| entry.value.as_str());
    assert_eq!(
        (messages("traffic.1.transport.kind"), messages("traffic.1.transport.mss")),
        (Some("dctcp"), Some("8960B"))
    );
    assert_eq!(messages("traffic.0.transport.kind"), None);
    // If every traffic entry has its own transport, `host.transport` does not contribute to the largest frame.
    let both = lower(PLAIN, &[("traffic.0.transport", "tcp"), ("traffic.1.transport", "tcp")]).unwrap();
    assert!(both.setup.host.mtu_bytes < 2000);
}

#[test]
fn faults_of_an_entrys_transport_are_reported_with_their_line() {
    let text = format!("{PLAIN}transport = \"dctpc\"\n");
    let error = lower(&text, &[]).unwrap_err();
    assert!(error.starts_with("ends.toml:14:") && error.contains("`dctpc` is not a valid transport"), "{error}");
    let error = lower(PLAIN, &[("traffic.0.transport", "{ kind = \"tcp\", msss = \"1KB\" }")]).unwrap_err();
    assert!(error.contains("`tcp` has no parameter `msss`") && error.contains("`mss`"), "{error}");
    let frames = format!("{PLAIN}process = \"constant\"\nframe = \"64B\"\nrate = \"1Gbps\"\ntransport = \"tcp\"\n");
    let error = lower(&frames, &[]).unwrap_err();
    assert!(error.starts_with("ends.toml:17:") && error.contains("no transport carries"), "{error}");
    let error = lower(PLAIN, &[("traffic.0.transport", "ndp"), ("traffic.1.transport", "eqds")]).unwrap_err();
    assert!(error.contains("`eqds` here and `ndp` in `traffic.0.transport`"), "{error}");
    assert!(lower(PLAIN, &[("traffic.0.transport", "ndp"), ("traffic.1.transport", "ndp")]).is_ok());
}

#[test]
fn clocks_are_exact_by_default() {
    let plain = lower(PLAIN, &[]).unwrap();
    assert_eq!(plain.setup.host.clocks, Default::default());
    let skewed = [
        ("host.clock", "{ offset = \"10us\", drift_ppm = 50 }"),
        ("host.clocks", "[{ hosts = [\"H2\", \"2-3\"], offset = \"1ms\", drift_ppm = -0.25 }, { hosts = [3] }]"),
    ];
    let clocks = lower(PLAIN, &skewed).unwrap().setup.host.clocks;
    let clock = |offset, drift_ppb| NodeClock { offset, drift_ppb };
    assert_eq!(clocks.drawn, Some(clock(Time::from_us(10), 50_000)));
    let stated = clock(Time::from_ms(1), -250);
    assert_eq!(clocks.stated, [(1, stated), (2, stated), (3, NodeClock::default())].into());
}

#[test]
fn faults_of_clocks_are_reported_with_their_line() {
    let error =
        |text: &str| lower(&PLAIN.replacen("[[traffic]]\n", &format!("{text}\n[[traffic]]\n"), 1), &[]).unwrap_err();
    let wrong = error("clock = { drift_ppm = -5 }");
    assert!(wrong.starts_with("ends.toml:8:") && wrong.contains("write a number from 0 to 100000"), "{wrong}");
    assert!(error("clock = { drift_ppm = 0.0001 }").contains("not a drift in parts per million"));
    assert!(error("clock = { drift = 5 }").contains("unknown key `drift`"));
    assert!(error("clock = \"exact\"").contains("not a table"));
    assert!(error("clocks = [{ offset = \"1us\" }]").contains("needs `hosts`"));
    assert!(error("clocks = [{ hosts = [\"H9\"] }]").contains("`H9`"));
    assert!(error("clocks = [{ hosts = [0], drift_ppm = 200000 }]").contains("-100000 to 100000"));
}

#[test]
fn some_switches_mark_and_schedule_otherwise() {
    let fabric = "kind = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 2\n";
    let text = PLAIN.replace("kind = \"single-switch\"\nhosts = 4\n", fabric);
    assert_eq!(lower(&text, &[]).unwrap().setup.overrides, []);
    let ecn = "{ kind = \"ecn\", k_min = \"50KB\" }";
    let wrr = "{ kind = \"wrr\", weights = [1, 1, 1, 4, 1, 1, 1, 1] }";
    let both = format!("[{{ tiers = [2], marking = {ecn} }}, {{ switches = [\"L2\", \"S1\"], scheduler = {wrr} }}]");
    let setup = lower(&text, &[("switch.override", &both)]).unwrap().setup;
    let names =
        |at: usize| -> Vec<_> { setup.overrides[at].switches.iter().map(|&it| setup.fabric.name(it)).collect() };
    assert_eq!((names(0), names(1)), (vec!["S1", "S2"], vec!["L2", "S1"]));
    assert!(setup.overrides[0].marking.is_some() && setup.overrides[0].scheduler.is_none());
    assert!(setup.overrides[1].marking.is_none() && setup.overrides[1].scheduler.is_some());
    let error = |value: &str| lower(&text, &[("switch.override", value)]).unwrap_err();
    assert!(error("[{ marking = \"none\" }]").contains("lists no switches"));
    assert!(error("[{ tiers = [1] }]").contains("overrides nothing"));
    assert!(error("[{ switches = [\"L9\"], marking = \"none\" }]").contains("the fabric has no switch `L9`"));
    assert!(error("[{ switches = [\"H1\"], marking = \"none\" }]").contains("is a host"));
    assert!(error("[{ tiers = [3], marking = \"none\" }]").contains("has switches in the tiers [1, 2]"));
    assert!(error("[{ tiers = [1], marking = { kind = \"ecn\" } }]").contains("needs `k_min`"));
}

#[test]
fn some_switches_have_another_buffer_and_other_thresholds() {
    let fabric = "kind = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 2\n";
    let text = PLAIN.replace("kind = \"single-switch\"\nhosts = 4\n", fabric);
    let pfc = ("switch.flow_control", "{ kind = \"pfc\", priorities = [3] }");
    let with = |value: &str, more: &[(&str, &str)]| lower(&text, &[more, &[("switch.override", value)]].concat());
    let read = |value: &str| with(value, &[pfc]).unwrap().setup.overrides;
    let own = read(
        "[{ tiers = [2], buffer = \"32MB\", egress_threshold = \"1/4\", flow_control = { xoff = \"90KB\", \
         xon = \"5KB\", headroom = \"auto\" } }, { switches = [\"L1\"], flow_control = { headroom = \"60KB\" } }]",
    );
    assert_eq!(own[0].switches.len(), 2);
    assert_eq!((own[0].buffer_bytes, own[0].egress), (Some(32_000_000), Some(Threshold::Dynamic { alpha: (1, 4) })));
    assert_eq!((own[0].xoff, own[0].xon_offset_bytes), (Some(Threshold::Static { bytes: 90_000 }), Some(5_000)));
    assert_eq!((own[0].headroom_bytes, own[1].headroom_bytes), (Some(None), Some(Some(60_000))));
    assert_eq!((own[1].xoff, own[1].buffer_bytes, own[1].queue), (None, None, None));
    let queues = with("[{ tiers = [1], queue = \"20 packets\" }]", &[("switch.queue", "100 packets")]).unwrap();
    assert_eq!(queues.setup.overrides[0].queue, Some(QueueLimit::Packets(20)));

    let error = |value: &str| with(value, &[pfc]).unwrap_err();
    assert!(error("[{ tiers = [1], flow_control = {} }]").contains("overrides nothing"));
    assert!(error("[{ tiers = [1], flow_control = \"pfc\" }]").contains("not a table"));
    assert!(error("[{ tiers = [1], flow_control = { kind = \"pfc\" } }]").contains("unknown key `kind`"));
    assert!(error("[{ tiers = [1], buffer = \"0B\" }]").contains("forwards nothing"));
    assert!(error("[{ tiers = [1], queue = \"9 packets\" }]").contains("share one buffer"));
    assert!(error("[{ tiers = [1], flow_control = { xoff = \"soon\" } }]").contains("xoff"));
    // Headroom, XOFF and XON are checked against the buffer and the thresholds of the overridden switch.
    let small = error("[{ switches = [\"L2\"], buffer = \"20KB\" }]");
    assert!(small.contains("switch `L2` needs") && small.contains("buffer of 20KB"), "{small}");
    let never = error("[{ switches = [\"L2\"], flow_control = { xoff = \"90MB\" } }]");
    assert!(never.contains("it can never be reached"), "{never}");
    let never = error("[{ switches = [\"L2\"], flow_control = { xoff = \"9KB\", xon = \"10KB\" } }]");
    assert!(never.contains("no account can fall that far"), "{never}");
    let warned = with("[{ tiers = [1], flow_control = { headroom = \"1KB\" } }]", &[pfc]).unwrap().warnings;
    assert!(warned.iter().any(|it| it.key == "switch.override.0.flow_control.headroom"), "{warned:?}");
    // Keys that do not apply to the buffer type or flow control of this switch.
    let error = |value: &str, more: &[(&str, &str)]| with(value, more).unwrap_err();
    let queues: &[(&str, &str)] = &[("switch.queue", "100 packets")];
    assert!(error("[{ tiers = [1], buffer = \"1MB\" }]", queues).contains("no shared buffer"));
    assert!(error("[{ tiers = [1], egress_threshold = \"1/2\" }]", queues).contains("no shared buffer"));
    assert!(error("[{ tiers = [1], flow_control = { xon = \"1KB\" } }]", &[]).contains("flow control is neither"));
}

#[test]
fn some_ports_mark_and_schedule_otherwise() {
    let wrr = "{ kind = \"wrr\", weights = [1, 1, 1, 4, 1, 1, 1, 1] }";
    let with = |value: &str| lower(PLAIN, &[("switch.override", value)]);
    let setup = with(&format!("[{{ ports = [\"S1:H3\", \"S1:0\"], scheduler = {wrr} }}]")).unwrap().setup;
    let switch = setup.fabric.find("S1").unwrap();
    assert_eq!(setup.overrides[0].ports, [(switch, 0), (switch, 2)]);
    assert!(setup.overrides[0].switches.is_empty() && setup.overrides[0].scheduler.is_some());
    let error = |value: &str| with(value).unwrap_err();
    assert!(error("[{ ports = [\"S1:9\"], marking = \"none\" }]").contains("S1:9"));
    assert!(error("[{ ports = [\"S1\"], marking = \"none\" }]").contains("is a whole switch"));
    assert!(error("[{ ports = [\"H1:0\"], marking = \"none\" }]").contains("is a port of a host"));
    assert!(error("[{ ports = [], marking = \"none\" }]").contains("no port is chosen"));
    assert!(error("[{ ports = [\"S1:0\"], tiers = [1], marking = \"none\" }]").contains("switches or about ports"));
    assert!(error("[{ ports = [\"S1:0\"], buffer = \"1MB\" }]").contains("one of a whole switch"));
    let setup = with("[{ ports = [\"S1:0\"], marking = \"congestion-point\" }]").unwrap().setup;
    assert!(setup.overrides[0].marking.is_some_and(|marking| marking.notifies()));
}

/// A replayed file with a list of paths, one per flow in the order of start times.
#[test]
fn flows_of_a_file_take_the_paths_that_are_listed() {
    let folder = std::env::temp_dir().join(format!("tidegate-replay-paths-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("flow.txt"), "2\n0 1 3 100 1000 2.000002\n1 0 3 100 1000 2.000001\n").unwrap();
    let text = "duration = \"10us\"\n[fabric]\nkind = \"single-switch\"\nhosts = 2\n\
        link = { rate = \"10Gbps\", delay = \"1us\" }\n[[path]]\nname = \"back\"\nnodes = [\"H2\", \"S1\", \"H1\"]\n\
        [[path]]\nname = \"there\"\nnodes = [\"H1\", \"S1\", \"H2\"]\n[[traffic]]\nkind = \"replay\"\n\
        file = \"flow.txt\"\ntime_origin = \"2s\"\n";
    let lower = |paths: &str| {
        let scenario = Scenario::parse(&format!("{text}paths = {paths}\n"), "paths.toml", &folder, &[], None);
        scenario.and_then(|scenario| scenario.lower()).map_err(|errors| errors.to_string())
    };
    let flows = lower("[\"back\", \"there\"]").unwrap().setup.traffic.flows;
    let taken: Vec<_> = flows.iter().map(|flow| (flow.src, flow.path)).collect();
    let refused = [lower("[\"there\"]"), lower("[\"there\", \"back\"]"), lower("[\"back\", \"elsewhere\"]")]
        .map(|lowered| lowered.map(|_| ()).unwrap_err());
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(taken.iter().all(|flow| [(0, Some(1)), (1, Some(0))].contains(flow)), "{taken:?}");
    assert!(refused[0].contains("1 paths for 2 flows of"), "{}", refused[0]);
    assert!(refused[1].contains("path `there` is from `H1` to `H2`"), "{}", refused[1]);
    assert!(refused[2].contains("elsewhere"), "{}", refused[2]);
}
