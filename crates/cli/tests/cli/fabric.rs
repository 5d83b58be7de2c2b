//! Tests of `tidegate fabric`, `mechanisms`, `completions` and `man`.

use crate::common::{Scratch, example, run};
use serde_json::{Value, json};

const FAT_TREE: [&str; 6] = ["--k", "4", "--rate", "100Gbps", "--delay", "500ns"];

#[test]
fn built_shown_converted_and_checked_it_is_the_same_fabric() {
    let scratch = Scratch::new("round");
    let (text, graph, again) = (scratch.path("fat.txt"), scratch.path("fat.json"), scratch.path("again.txt"));
    let built = run(&[["fabric", "build", "fat-tree"].as_slice(), &FAT_TREE, &["--out", &text]].concat());
    assert_eq!((built.code, built.out.as_str()), (Some(0), ""));
    assert!(built.err.contains("16 hosts, 20 switches, 48 links"), "{}", built.err);
    let content = std::fs::read_to_string(&text).unwrap();
    assert!(content.starts_with("36 20 48\n"));
    let printed = run(&[["fabric", "build", "fat-tree"].as_slice(), &FAT_TREE].concat());
    assert_eq!(printed.out, content);

    for (from, to) in [(&text, &graph), (&graph, &again)] {
        let ran = run(&["fabric", "convert", from, to]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
    }
    assert_eq!(std::fs::read_to_string(&again).unwrap(), content);
    assert!(std::fs::read_to_string(&graph).unwrap().starts_with('{'));

    for source in [&text, &graph] {
        let shown = run(&["fabric", "show", source, "--json"]);
        let facts: Value = serde_json::from_str(&shown.out).unwrap();
        assert_eq!((&facts["hosts"], &facts["diameter_links"]), (&Value::from(16), &Value::from(6)));
        let checked = run(&["fabric", "check", source]);
        assert_eq!(checked.code, Some(0));
        assert!(
            checked.out.contains("ok    shortest paths lead from every host") && !checked.out.contains("hint"),
            "{}",
            checked.out
        );
    }
}

/// `fabric show` prints the name and kind of every node, and the reason for the kind. `docs/scenario.md` and several
/// error messages refer to this output.
#[test]
fn show_names_every_node_and_the_reason_of_its_kind() {
    let scratch = Scratch::new("names");
    let lab = scratch.path("lab.clab.yml");
    let nodes = "    leaf1: {kind: nokia_srlinux}\n    leaf2: {kind: nokia_srlinux}\n    client1: {kind: linux}\n    \
        client2: {kind: linux}\n";
    let link = |a: &str, b: &str| format!("    - endpoints: [\"{a}\", \"{b}\"]\n");
    let links = [
        link("leaf1:e1-49", "leaf2:e1-49"),
        link("client1:eth1", "leaf1:e1-1"),
        link("client1:eth2", "leaf2:e1-1"),
        link("client2:eth1", "leaf1:e1-2"),
        link("client2:eth2", "leaf2:e1-2"),
    ];
    let text = format!("topology:\n  nodes:\n{nodes}  links:\n{}", links.concat());
    std::fs::write(&lab, text).unwrap();
    let shown = run(&["fabric", "show", &lab, "--rate", "10Gbps", "--delay", "1us"]);
    for expected in
        ["2 hosts (kind linux)\n  client1, client2\n", "2 switches of tier 1 (kind nokia_srlinux)\n  leaf1, leaf2\n"]
    {
        assert!(shown.out.contains(expected), "{}{}", shown.out, shown.err);
    }
    let shown = run(&["fabric", "show", &lab, "--rate", "10Gbps", "--delay", "1us", "--json"]);
    let facts: Value = serde_json::from_str(&shown.out).unwrap();
    assert_eq!(facts["node_list"][2]["reason"], "kind linux");
    assert_eq!(facts["link_list"][0]["a"], serde_json::json!({ "node": "leaf1", "port": 0, "name": "e1-49" }));
    let shown = run(&["fabric", "show", &example("replay/topology.txt")]);
    assert!(shown.out.contains("8 hosts (not among the ids of switches)\n  h0 to h7\n"), "{}", shown.out);
    // Bounced frames of a leaf without another path use the link between the two leaves, and no path passes through a
    // client host, so two lossless tags suffice for one bounce.
    let rules = scratch.path("rules.json");
    let made =
        run(&["tagger", "rules", &lab, "--rate", "10Gbps", "--delay", "1us", "--paths", "bounces=1", "--out", &rules]);
    assert!(made.code == Some(0) && made.out.contains("2 lossless tags"), "{}{}", made.out, made.err);
    let proved = run(&[
        "tagger",
        "verify",
        &rules,
        "--fabric",
        &lab,
        "--rate",
        "10Gbps",
        "--delay",
        "1us",
        "--paths",
        "bounces=1",
    ]);
    assert!(proved.code == Some(0) && !proved.out.contains("FAIL"), "{}{}", proved.out, proved.err);
}

#[test]
fn information_that_a_format_cannot_hold_is_reported() {
    let scratch = Scratch::new("lost");
    let graph = scratch.path("tree.json");
    let tree = ["fabric", "build", "tree", "--arity", "[2]", "--hosts-per-leaf", "2", "--root-hosts", "1"];
    let links = ["--delay", "1us", "--host-rate", "10Gbps", "--edge-rate", "40Gbps", "--core-rate", "40Gbps"];
    assert_eq!(run(&[tree.as_slice(), &links, &["--out", &graph]].concat()).code, Some(0));
    let ran = run(&["fabric", "convert", &graph, &scratch.path("tree.txt")]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.err.contains("lost: 8 names (`H1` becomes `h0`)"), "{}", ran.err);

    let bcube = ["fabric", "build", "bcube", "--n", "2", "--levels", "1", "--rate", "1Gbps", "--delay", "1us"];
    let ran = run(&[bcube.as_slice(), &["--out", &scratch.path("bcube.txt")]].concat());
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("forwards for others") && ran.err.contains("--format node-link"), "{}", ran.err);
    assert!(!scratch.names("").contains(&"bcube.txt".to_owned()));
    // The InfiniBand format cannot express hosts that forward: the conversion drops this property with a warning, and
    // some hosts of the written network are unreachable.
    let (cube, net) = (scratch.path("cube.json"), scratch.path("cube.ibnet"));
    assert_eq!(run(&[bcube.as_slice(), &["--out", &cube]].concat()).code, Some(0));
    let ran = run(&["fabric", "convert", &cube, &net]);
    assert!(ran.err.contains("lost: that hosts forward for others (`H1` did)"), "{}", ran.err);
}

#[test]
fn every_format_that_carries_a_fabric_gives_it_back() {
    let scratch = Scratch::new("formats");
    let source = scratch.path("fat.json");
    run(&[["fabric", "build", "fat-tree"].as_slice(), &FAT_TREE, &["--out", &source]].concat());
    for (name, to, lost) in [
        ("fat.graphml", "graphml", "lost: the kind, fat-tree"),
        ("fat.clab.yml", "containerlab", "lost: delays of links"),
        ("switches", "config-db", "lost: the order of nodes"),
        ("links.csv", "link-csv", "lost: delays of links"),
        ("fat.ibnet", "ibnetdiscover", "lost: delays of links"),
    ] {
        let target = scratch.path(name);
        let ran = run(&["fabric", "convert", &source, &target, "--to", to]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.err.contains(lost) || ran.err.contains("nothing is lost"), "{}", ran.err);
        let checked = run(&["fabric", "check", &target, "--rate", "100Gbps", "--delay", "500ns"]);
        assert_eq!(checked.code, Some(0), "{name}: {}{}", checked.out, checked.err);
        assert!(checked.out.contains(&format!("({to}): 16 hosts, 20 switches, 48 links")), "{}", checked.out);
    }
    let files = scratch.names("switches").into_iter().filter(|name| name.ends_with(".json"));
    assert_eq!(files.count(), 20, "one file a switch");
    let text = "duration = \"10us\"\nfabric = { kind = \"file\", file = \"switches\" }\nswitch = { buffer = \"1MB\" }\n\
                host = { transport = { kind = \"roce\" } }\n[[traffic]]\nkind = \"permutation\"\nsize = \"1KB\"\n";
    let scenario = scratch.file("folder.toml", text);
    assert_eq!(run(&["run", &scenario, "-q"]).code, Some(0), "a scenario takes the folder too");
}

#[test]
fn show_draws_and_takes_a_scenario_or_a_kind() {
    let scratch = Scratch::new("show");
    let svg = scratch.path("fat.svg");
    let ran = run(&[["fabric", "show", "fat-tree"].as_slice(), &FAT_TREE, &["--svg", &svg]].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.starts_with("fat-tree: 16 hosts, 20 switches, 48 links"), "{}", ran.out);
    let drawing = std::fs::read_to_string(&svg).unwrap();
    let (drawing, seal) = drawing.split_once("<!-- tidegate sha256 ").unwrap();
    assert!(drawing.starts_with("<svg") && drawing.trim_end().ends_with("</svg>") && seal.ends_with(" -->\n"));
    let ran = run(&["fabric", "show", &example("incast-pfc.toml")]);
    assert!(ran.out.starts_with("fat-tree: 128 hosts"), "{}", ran.out);
    let ran = run(&["fabric", "show", &example("replay/topology.txt")]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

#[test]
fn a_plain_graph_takes_its_links_and_hosts_from_the_command_line() {
    let scratch = Scratch::new("plain");
    let graph =
        scratch.file("plain.json", r#"{"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1}]}"#);
    let bare = run(&["fabric", "check", &graph]);
    assert_eq!(bare.code, Some(0));
    assert!(bare.err.contains("plain.json: 1 link without a rate: 100Gbps assumed (--rate, --delay)"), "{}", bare.err);
    let bare = run(&["fabric", "headroom", &graph]);
    assert!(bare.code == Some(2) && bare.err.contains("--rate and --delay"), "{}", bare.err);
    let ran = run(&["fabric", "show", &graph, "--rate", "10Gbps", "--delay", "1us"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("10Gbps") && ran.out.contains("1us"), "{}", ran.out);
    let ran = run(&["fabric", "show", &graph, "--k", "4"]);
    assert!(ran.code == Some(2) && ran.err.contains("--k does not apply to a file"), "{}", ran.err);
}

#[test]
fn mechanisms_are_listed_and_explained() {
    let list = run(&["mechanisms"]);
    for name in ["pause", "pfc", "tagger", "ecn", "datagram", "tcp", "dctcp", "roce", "dcqcn"] {
        assert!(list.out.lines().any(|line| line.split_whitespace().next() == Some(name)), "{name}:\n{}", list.out);
        let one = run(&["mechanisms", name]);
        assert!(one.code == Some(0) && one.out.contains(&format!("docs/mechanisms/{name}.md")), "{}", one.out);
    }
    let pfc: Value = serde_json::from_str(&run(&["mechanisms", "pfc", "--json"]).out).unwrap();
    assert_eq!(pfc["decides"], "switch.flow_control");
    assert!(pfc["parameters"].as_array().unwrap().iter().any(|parameter| parameter["key"] == "xoff"));
    let all: Value = serde_json::from_str(&run(&["mechanisms", "--json"]).out).unwrap();
    let all = all.as_array().unwrap();
    assert!(all.len() >= 11);
    for mechanism in all {
        let page = mechanism["page"].as_str().expect("a page");
        assert!(std::path::Path::new(&example("..")).join(page).exists(), "{page}");
    }
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let script = run(&["completions", "bash"]);
    let page = run(&["man"]);
    for command in ["run", "compare", "fabric", "mechanisms", "reproduce"] {
        assert!(script.out.contains(&format!("tidegate__subcmd__{command}")) || script.out.contains(command));
        assert!(page.out.contains(command), "{command}");
    }
    let scratch = Scratch::new("man");
    assert_eq!(run(&["man", &scratch.path("man1")]).code, Some(0));
    let pages = scratch.names("man1");
    assert!(
        pages.contains(&"tidegate-run.1".to_owned()) && pages.contains(&"tidegate-fabric-build.1".to_owned()),
        "{pages:?}"
    );
}

#[test]
fn headroom_of_a_link_and_of_a_fabric() {
    let ran = run(&[
        "fabric", "headroom", "--rate", "100Gbps", "--length", "300m", "--mtu", "1518B", "--ports", "32", "--json",
    ]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let output: Value = serde_json::from_str(&ran.out).unwrap();
    let port = &output["switches"][0]["ports"][0];
    // In flight: 2 d C = 2 x 1.5 us x 100 Gbps = 37,500 bytes. With 84 bytes of the pause frame, 394 quanta of reaction
    // time (25,216 bytes) and a frame of 1538 bytes these are 64,338 bytes on the wire. Of each 1538 bytes, 1518 are
    // stored in the buffer: 63,502 bytes. Two more frames of 1518 bytes make 66,538 bytes.
    assert_eq!((&port["delay_ps"], &port["headroom_bytes"]), (&Value::from(1_500_000), &Value::from(66_538)));
    assert_eq!(port["headroom_without_frames_bytes"], 66_538 - 3 * 1518);
    let terms = json!({
        "cable": 37_500, "pause_frames": 84, "reaction": 25_216, "mac_phy": 0, "gearbox": 0, "blocking_frame": 1_538,
        "overhead": -836, "mtu_frames": 3_036, "cell_waste": 0, "rounding": 0, "sum": 66_538,
    });
    assert_eq!((&port["headroom_terms"], &port["reaction_ps"]), (&terms, &Value::from(2_017_280)));
    assert!(port.get("sonic_terms").is_none());
    assert_eq!(port["credits_bytes"], 37_500 + 1 + 84 + 3 * 1538 + 1518);
    assert_eq!(output["switches"][0]["headroom_bytes"], 32 * 66_538);

    let fabric = [["fabric", "headroom", "fat-tree"].as_slice(), &FAT_TREE].concat();
    let fits = run(&fabric);
    assert_eq!(fits.code, Some(0), "{}{}", fits.out, fits.err);
    assert!(fits.out.contains("S1 and 19 alike"), "{}", fits.out);
    assert_eq!(run(&[fabric.as_slice(), &["--buffer", "100KB"]].concat()).code, Some(1), "a buffer that is too small");

    // The scenario states the buffer and the lossless classes of its switches, and that S1 and S2 have no flow control.
    let scenario = example("partial-pfc.toml");
    let partial = run(&["fabric", "headroom", &scenario]);
    assert!(partial.out.contains("4MB of buffer, 1 lossless class"), "{}{}", partial.out, partial.err);
    assert!(partial.out.contains("without part in flow control: S1, S2"), "{}", partial.out);
    assert!(partial.out.contains("L1 and 2 alike") && !partial.out.contains("S1 and"), "{}", partial.out);
    let output = run(&["fabric", "headroom", &scenario, "--buffer", "8MB", "--classes", "2"]);
    own_buffers();
    assert!(output.out.contains("8MB of buffer, 2 lossless classes"), "{}", output.out);

    for (wrong, what) in [
        (&["fabric", "headroom"][..], "its rate, and its length or delay"),
        (&["fabric", "headroom", "--rate", "1Gbps", "--length", "3m", "--reaction", "3840"], "has no unit"),
        (&["fabric", "headroom", "--rate", "1Gbps", "--length", "3m", "--mtu", "20B"], "64 to 65535 bytes"),
        (&["fabric", "headroom", "--rate", "1Gbps", "--length", "3m", "--cell", "0B"], "1 to 65535 bytes"),
        (&["fabric", "headroom", "--rate", "1Gbps", "--length", "300"], "a length like 300m or 10km"),
        (&["fabric", "headroom", "--rate", "1Gbps", "--delay", "0ns"], "a link takes time"),
        (&["fabric", "headroom", "--rate", "1Gbps", "--delay", "1us", "--length", "3m"], "say the same"),
        (&["fabric", "headroom", "--k", "4", "--rate", "1Gbps", "--length", "3m"], "does not apply to a single link"),
    ] {
        let ran = run(wrong);
        assert_eq!(ran.code, Some(2), "{wrong:?}");
        assert!(ran.err.contains(what), "{wrong:?}: {}", ran.err);
    }
}

/// The tier-2 switches have a buffer of 64 KB, which is too small. `--buffer` replaces the buffer size of all switches.
fn own_buffers() {
    let scenario = example("incast-pfc.toml");
    let changed = Scratch::new("own-buffers");
    let text = std::fs::read_to_string(&scenario).unwrap()
        + "\n[[switch.override]]\ntiers = [2]\nbuffer = \"64KB\"\n\
        flow_control = { headroom = \"1KB\" }\n";
    let path = changed.file("own.toml", &text);
    let output = run(&["fabric", "headroom", &path, "--json"]);
    let json: Value = serde_json::from_str(&output.out).unwrap_or_else(|_| panic!("{}", output.err));
    let fit: Vec<(Option<u64>, Option<bool>)> = json["switches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["buffer_bytes"].as_u64(), one["fits"].as_bool()))
        .collect();
    assert!(output.code == Some(1) && fit.contains(&(Some(64_000), Some(false))), "{fit:?}");
    assert!(fit.iter().any(|one| one.1 == Some(true)), "{fit:?}");
    let all = run(&["fabric", "headroom", &path, "--buffer", "16MB"]);
    assert!(all.code == Some(0), "{}", all.out);
}

/// Each headroom term is printed with its bytes and its source and, with `--sonic`, with the value of SONiC's formula.
#[test]
fn headroom_lists_its_terms() {
    let link = ["fabric", "headroom", "--rate", "400Gbps", "--length", "300m"];
    let output = run(&link).out;
    for line in [
        "cable, there and back                         150,000  2 x 1.5us at 400Gbps",
        "reaction of the neighbour                      57,920  905 quanta of 512 bits: IEEE 802.3, 31B.3.7",
        "MAC and PHY here                                    0  none stated: --mac-phy",
        "sum                                           235,202",
    ] {
        assert!(output.contains(line), "{line} is missing in:\n{output}");
    }
    let more = ["--mac-phy", "8192 bit times", "--gearbox", "100ns", "--cell", "144B", "--small-packets", "100"];
    let output = run(&[&link[..], &more, &["--reaction", "60 quanta"]].concat()).out;
    for line in [
        "1,024  16 quanta: --mac-phy",
        "10,000  100ns: --gearbox",
        "3,840  60 quanta, as stated",
        "cells of 144 B, 100 %",
    ] {
        assert!(output.contains(line), "{line} is missing in:\n{output}");
    }
    // SONiC's value, calculated by hand as in `sonic.rs`: 9216 + (9216 + 147,965 + 57,920) = 224,317, rounded up to
    // 220 KiB = 225,280.
    let output = run(&[&link[..], &["--sonic"]].concat()).out;
    for line in ["150,000      147,965  198,000,000 m/s", "57,920 more", "235,202      225,280  9,922 less than here"] {
        assert!(output.contains(line), "{line} is missing in:\n{output}");
    }
    let json: Value = serde_json::from_str(&run(&[&link[..], &["--sonic", "--json"]].concat()).out).unwrap();
    assert_eq!(json["switches"][0]["ports"][0]["sonic_terms"]["sum"], 220 * 1024);
}

/// `--length` sets the cable length of all links of a fabric. With a scenario, the headroom uses the scenario's largest
/// frame and reaction time.
#[test]
fn headroom_of_a_fabric_with_cables_of_a_length_and_of_a_scenario() {
    let leaf_spine = ["fabric", "headroom", "leaf-spine", "--leaves", "2", "--spines", "1", "--hosts-per-leaf", "2"];
    let with = |more: &[&str]| run(&[&leaf_spine[..], &["--rate", "100Gbps"], more].concat());
    let by_length = with(&["--length", "300m"]);
    assert_eq!((by_length.code, &by_length.out), (Some(0), &with(&["--delay", "1500ns"]).out), "{}", by_length.err);
    for delay in ["--delay", "--edge-delay"] {
        let both = with(&["--length", "300m", delay, "1us"]);
        assert!(both.code == Some(2) && both.err.contains(&format!("--length and {delay} both say")), "{}", both.err);
    }

    let scenario = example("partial-pfc.toml");
    let output = |more: &[&str]| run(&[&["fabric", "headroom", scenario.as_str()][..], more].concat()).out;
    assert!(output(&[]).contains("frames up to 1.062KB, the standard's reaction"), "{}", output(&[]));
    assert!(output(&["--mtu", "9100B"]).contains("frames up to 9.1KB"));
    assert!(output(&["--length", "1km"]).contains("headroom at 25Gbps and 5us"));
    let set = Scratch::new("headroom-reaction");
    let text =
        std::fs::read_to_string(&scenario).unwrap().replace("xoff = \"50KB\"", "xoff = \"50KB\", reaction = \"1us\"");
    let path = set.file("reaction.toml", &text);
    assert!(run(&["fabric", "headroom", &path]).out.contains("3,125  1us, as stated"));
}
