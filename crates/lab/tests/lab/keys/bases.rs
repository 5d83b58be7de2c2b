//! For each table of the key table, a scenario in which the keys of the table have an effect: few hosts, slow links, a
//! duration of one or two milliseconds.

use super::locations::KeyLocation;

const LEAVES: &str = "kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 3\n";
const LINK: &str = "link = { rate = \"1Gbps\", delay = \"1us\" }\n";
/// Three hosts in both leaves send 40 KB each to H6.
const INCAST: &str = "[[traffic]]\nkind = \"pairs\"\npairs = [[\"H1\", \"H6\"], [\"H2\", \"H6\"], [\"H4\", \"H6\"]]\n\
                      size = \"40KB\"\n";
const EXPLICIT: &str = "[[path]]\nname = \"one\"\nnodes = [\"H1\", \"L1\", \"S1\", \"L2\", \"H6\"]\n\
                        [[path]]\nname = \"two\"\nnodes = [\"H1\", \"L1\", \"S2\", \"L2\", \"H6\"]\n\
                        [[path]]\nname = \"beside\"\nnodes = [\"H2\", \"L1\", \"S1\", \"L2\", \"H6\"]\n";

/// Explicit paths in the fabric of `files/topology.txt`.
const OF_FILE: &str = "[[path]]\nname = \"one\"\nnodes = [\"h0\", \"s6\", \"s8\", \"s7\", \"h3\"]\n\
                       [[path]]\nname = \"two\"\nnodes = [\"h0\", \"s6\", \"s9\", \"s7\", \"h3\"]\n";
/// Traffic in the reverse direction of the incast.
const REVERSE: &str = "[[traffic]]\nkind = \"pairs\"\npairs = [[\"H6\", \"H1\"], [\"H6\", \"H2\"]]\nprocess = \
                       \"constant\"\nload = 0.45\nclass = 4\n";

fn fabric(keys: &str, link: &str) -> String {
    format!("[fabric]\n{keys}{link}")
}

/// Two leaves, two spines, six hosts.
fn leaves() -> String {
    fabric(LEAVES, LINK)
}

fn scenario(parts: &[&str]) -> String {
    format!("duration = \"2ms\"\n{}", parts.concat())
}

/// Returns the scenario for a location, and the path of the key in the syntax of `--set`.
pub fn base(location: &KeyLocation) -> (String, String) {
    let leaves = leaves();
    let plain = scenario(&[&leaves, INCAST]);
    let with = |part: &str| scenario(&[&leaves, INCAST, part]);
    let variant = location.variant.unwrap_or("");
    let (text, table) = match location.section {
        "fabric" | "fabric.link" => (kind_of_fabric(location), location.section.to_owned()),
        "fabric.link.tier" => {
            let keys = "kind = \"fat-tree\"\nk = 4\n";
            let link = "link = { rate = \"1Gbps\", delay = \"1us\", core = { rate = \"1Gbps\", delay = \"1us\" } }\n";
            let traffic = "[[traffic]]\nkind = \"permutation\"\nsize = \"10KB\"\n";
            (scenario(&[&fabric(keys, link), traffic]), "fabric.link.core".to_owned())
        }
        "path" => (scenario(&[&leaves, &on_path("one")]), "path.0".to_owned()),
        "fail" => (with("[[fail]]\nlink = [\"L1\", \"S1\"]\nat = \"100us\"\nuntil = \"300us\"\n"), "fail.0".to_owned()),
        "route" => {
            let route = "[[route]]\nnode = \"L1\"\nto = \"H6\"\nfrom = \"H1\"\nvia = [\"S1\"]\nat = \"50us\"\n\
                         until = \"300us\"\n[[traffic]]\nkind = \"all-to-all\"\nsize = \"5KB\"\n";
            (with(route), "route.0".to_owned())
        }
        "committed_rate" => {
            let switch = flow_control("florax");
            let agreement = "[[traffic]]\nkind = \"pairs\"\npairs = [[\"H1\", \"H5\"]]\nsize = \"20KB\"\n\
                [[committed_rate]]\nfrom = \"H1\"\nto = \"H6\"\nrate = \"300Mbps\"\n";
            (with(&format!("{switch}{agreement}")), "committed_rate.0".to_owned())
        }
        "gates" | "cyclic" | "shaping" => (timing(location), format!("{}.0", location.section)),
        "switch" if location.name == "queue" => (with("[switch]\nqueue = \"20 packets\"\n"), "switch".to_owned()),
        "switch" if variant == "shared" => (with("[switch]\nbuffer = \"40KB\"\n"), "switch".to_owned()),
        "switch.flow_control" if variant.is_empty() => {
            (with("[switch]\nbuffer = \"150KB\"\n[host]\nreply_class = 6\n"), location.section.to_owned())
        }
        "switch.flow_control" => (with(&flow_control(variant)), location.section.to_owned()),
        "switch.watchdog" => (storm(), location.section.to_owned()),
        "switch.overload" => (with(&overload(variant)), location.section.to_owned()),
        "switch.tags" => (tags(), location.section.to_owned()),
        "switch.marking" => (marking(variant), location.section.to_owned()),
        "switch.scheduler" | "switch.preemption" => (two_classes(location), location.section.to_owned()),
        "switch.override" | "switch.override.flow_control" => {
            let table = location.section.replace("override", "override.0");
            (overrides(location), table)
        }
        "switch.clock" | "switch.clocks" => {
            let table = if location.name == "clocks" { "switch.clocks.0" } else { location.section };
            (
                clocks_of_switches(location),
                if location.section == "switch.clocks" { "switch.clocks.0" } else { table }.into(),
            )
        }
        "host.transport" => (transport(variant), location.section.to_owned()),
        "host.clock" | "host.clocks" => {
            let table = if location.section == "host.clocks" { "host.clocks.0" } else { location.section };
            (clocks_of_hosts(location), table.to_owned())
        }
        "host.pause_storm" => (storm(), location.section.to_owned()),
        "host.on_bounce" => {
            let bounce = overload("bounce");
            (
                with(&format!("{bounce}[host]\ntransport = \"dcqcn\"\non_bounce = \"halve\"\n")),
                location.section.to_owned(),
            )
        }
        "traffic" => (traffic(location), "traffic.0".to_owned()),
        "host" => (with(REVERSE), location.section.to_owned()),
        "record" | "record.trace" => (with("[record]\n"), location.section.to_owned()),
        "record.capture" => (with("[record]\n[[record.capture]]\nport = \"L2:H6\"\n"), "record.capture.0".to_owned()),
        "check" => (ring(), location.section.to_owned()),
        "check.bounce_storm" => {
            let overload = overload("bounce").replace("[check]\nstorm = false\n", "");
            let storm = "[check]\nbounce_storm = { samples = 2, every = \"20us\", ratio = 0.2 }\n";
            (with(&format!("{overload}{storm}")), location.section.to_owned())
        }
        section => (plain, section.to_owned()),
    };
    let path = if table.is_empty() { location.name.to_owned() } else { format!("{table}.{}", location.name) };
    (text, path)
}

/// Returns the keys that each kind of fabric requires.
fn kind_of_fabric(location: &KeyLocation) -> String {
    let kind = location.variant.unwrap_or(if location.name == "kind" { "f10" } else { "leaf-spine" });
    let keys = match kind {
        "fat-tree" | "f10" => "k = 4",
        "leaf-spine" => "leaves = 2\nspines = 2\nhosts_per_leaf = 2",
        "clos" => "pods = 2\ntors_per_pod = 2\nleaves_per_pod = 2\nspines = 2\nhosts_per_tor = 1",
        "dumbbell" => "left = 2\nright = 2",
        "tree" => "arity = [2, 2]\nhosts_per_leaf = 2\nroot_hosts = 1",
        "star" => "arms = 2\nhosts_per_arm = 2\nhub_hosts = 1",
        "jellyfish" => "switches = 6\ndegree = 3\nhosts_per_switch = 1\nseed = 1",
        "bcube" => "n = 3\nlevels = 1",
        "single-switch" => "hosts = 4",
        "line" | "ring" => "switches = 3\nhosts_per_switch = 2",
        _ => "file = \"{files}/topology.txt\"",
    };
    let link = if kind == "file" { "" } else { LINK };
    let traffic = "[[traffic]]\nkind = \"permutation\"\nsize = \"10KB\"\n";
    scenario(&[&fabric(&format!("kind = \"{kind}\"\n{keys}\n"), link), traffic])
}

fn on_path(name: &str) -> String {
    format!("{EXPLICIT}[[traffic]]\nkind = \"pairs\"\npairs = [[\"H1\", \"H6\"]]\nsize = \"20KB\"\npath = \"{name}\"\n")
}

pub fn flow_control(kind: &str) -> String {
    let (room, keys) = match kind {
        "pause" => ("buffer = \"150KB\"", ", xoff = \"10KB\""),
        "pfc" => ("buffer = \"150KB\"", ", priorities = [3], xoff = \"10KB\""),
        "cbfc" => ("buffer = \"150KB\"", ", priorities = [3], credits = \"20KB\""),
        _ => ("queue = \"20 packets\"", ""),
    };
    format!("[switch]\n{room}\nflow_control = {{ kind = \"{kind}\"{keys} }}\n")
}

fn overload(kind: &str) -> String {
    let keys = match kind {
        "" => "drop\"",
        "pipeline-trim" => "pipeline-trim\", pipelines = 2",
        kind => &format!("{kind}\""),
    };
    let other = "[[traffic]]\nkind = \"pairs\"\npairs = [[\"H5\", \"H6\"]]\nsize = \"20KB\"\nclass = 5\n";
    format!(
        "[switch]\nqueue = \"8 packets\"\noverload = {{ kind = \"{keys} }}\n[check]\nstorm = false\n{REVERSE}{other}"
    )
}

/// A scenario with a pause storm: a host pauses its switch from 100 us on, and other hosts send to it and to its
/// neighbours.
fn storm() -> String {
    let rest = "[switch]\nbuffer = \"150KB\"\n\
        flow_control = { kind = \"pfc\", priorities = [3], xoff = \"10KB\", quanta \
                = 100 }\nwatchdog = { detection_time = \"100us\", restoration_time = \"100us\" }\n\
                [host]\npause_storm = { host = \"H6\", at = \"100us\", until = \"500us\" }\n\
                [[traffic]]\nkind = \"pairs\"\npairs = [[\"H1\", \"H6\"], [\"H2\", \"H5\"], [\"H3\", \"H4\"]]\n\
                process = \"constant\"\nload = 0.05\n";
    // At 40 Gbps the longest pause, 65,535 quanta of 512 bits, lasts 0.84 ms.
    scenario(&[&leaves().replace("1Gbps", "40Gbps"), rest])
}

fn tags() -> String {
    let rest = "[switch]\nbuffer = \"200KB\"\nflow_control = { kind = \"pfc\", priorities = [1, 2, 3], xoff = \"10KB\" \
                }\ntags = { kind = \"tagger\", algorithm = \"clos\", bounces = 1 }\n[routing]\nreroute = \"local\"\n\
                [[fail]]\nlink = [\"S1\", \"L2\"]\n[host]\nreply_class = 6\n[[traffic]]\nkind = \"all-to-all\"\n\
                size = \"10KB\"\nclass = 1\n\
                [[traffic]]\nkind = \"all-to-all\"\nsize = \"5KB\"\nclass = 2\n";
    scenario(&[&leaves(), rest])
}

fn marking(kind: &str) -> String {
    if kind.is_empty() {
        return scenario(&[&leaves(), INCAST, "[host]\ntransport = \"dctcp\"\n"]);
    }
    let (keys, transport) = match kind {
        "phantom" => (", threshold = \"3KB\"", "dctcp"),
        "congestion-point" => (", set_point = \"5KB\", sample = \"15KB\", sample_min = \"3KB\"", "qcn"),
        "ecn" => (", k_min = \"5KB\", k_max = \"15KB\", p_max = 0.5", "dctcp"),
        // Sets the required keys; thresholds get a size that the queue exceeds.
        kind => {
            let required = scenario::keys::keys().filter(|key| {
                key.section == "switch.marking"
                    && key.variants == [kind]
                    && key.default == scenario::keys::Default::Required
            });
            let written = required.map(|key| match key.value {
                "a size" => format!(", {} = \"3KB\"", key.name),
                _ => format!(", {} = {}", key.name, key.example),
            });
            (&*written.collect::<String>().leak(), "dctcp")
        }
    };
    let switch = format!("[switch]\nmarking = {{ kind = \"{kind}\"{keys} }}\n[host]\ntransport = \"{transport}\"\n");
    scenario(&[&leaves(), INCAST, &switch])
}

/// A scenario with long frames of class 3 and short periodic frames of class 7 to one host.
fn two_classes(location: &KeyLocation) -> String {
    let switch = match (location.section, location.variant) {
        ("switch.scheduler", Some("drr")) => "scheduler = { kind = \"drr\", quanta = { 3 = \"1518B\" } }\n",
        ("switch.scheduler", Some("wrr")) => "scheduler = { kind = \"wrr\", weights = [1, 1, 1, 1, 1, 1, 1, 1] }\n",
        ("switch.scheduler", _) => "",
        _ => "preemption = { express = [7] }\n",
    };
    let control = "[[traffic]]\nkind = \"pairs\"\npairs = [[\"H4\", \"H6\"]]\nprocess = \"constant\"\n\
        frame = \"200B\"\n\
                   load = 0.8\nclass = 7\n";
    scenario(&[&leaves(), "[switch]\n", switch, INCAST, control])
}

fn overrides(location: &KeyLocation) -> String {
    let (switch, entry) = match (location.section, location.name) {
        ("switch.override.flow_control", _) | (_, "flow_control") => {
            (flow_control("pfc"), "flow_control = { xoff = \"5KB\" }\n")
        }
        (_, "buffer" | "egress_threshold") => ("[switch]\nbuffer = \"40KB\"\n".to_owned(), "buffer = \"20KB\"\n"),
        (_, "queue") => ("[switch]\nqueue = \"20 packets\"\n".to_owned(), "queue = \"10 packets\"\n"),
        (_, "scheduler") => (String::new(), "scheduler = { kind = \"wrr\", weights = [1, 1, 1, 1, 1, 1, 1, 1] }\n"),
        _ => ("[host]\ntransport = \"dctcp\"\n".to_owned(), "marking = { kind = \"ecn\", k_min = \"5KB\" }\n"),
    };
    let whom = match location.name {
        "switches" => "switches = [\"L2\"]\n",
        "ports" => "ports = [\"L2:H6\"]\n",
        _ => "tiers = [1]\n",
    };
    let traffic = "[[traffic]]\nkind = \"pairs\"\npairs = [[\"H5\", \"H6\"]]\nsize = \"40KB\"\nclass = 5\n";
    scenario(&[&leaves(), INCAST, traffic, &switch, "[[switch.override]]\n", whom, entry])
}

/// A scenario with gates at every switch, whose clocks drift.
fn clocks_of_switches(location: &KeyLocation) -> String {
    let gates =
        "[[gates]]\nnode = \"L2\"\nstates = [{ open = [3], time = \"30us\" }, { open = [0], time = \"20us\" }]\n";
    let clock = if location.section == "switch.clock" {
        "[switch.clock]\noffset = \"5us\"\ndrift_ppm = 50\n"
    } else {
        "[[switch.clocks]]\nswitches = [\"L2\"]\noffset = \"5us\"\ndrift_ppm = 50\n"
    };
    scenario(&[&leaves(), INCAST, gates, clock])
}

fn clocks_of_hosts(location: &KeyLocation) -> String {
    let traffic = "[[traffic]]\nkind = \"pairs\"\npairs = [[\"H1\", \"H6\"], [\"H4\", \"H6\"]]\n\
        process = \"periodic\"\n\
                   period = \"10us\"\nphase = \"7us\"\nframe = \"700B\"\n";
    let clock = if location.section == "host.clock" {
        "[host.clock]\noffset = \"5us\"\ndrift_ppm = 50\n"
    } else {
        "[[host.clocks]]\nhosts = [\"H1\"]\noffset = \"5us\"\ndrift_ppm = 50\n"
    };
    scenario(&[&leaves(), traffic, clock])
}

/// A scenario with port mechanisms that depend on the clock.
fn timing(location: &KeyLocation) -> String {
    let entry = match (location.section, location.variant) {
        ("gates", Some("from a schedule")) => "[[gates]]\nschedule = \"{files}/slots.json\"\n",
        ("gates", _) => {
            "[[gates]]\nnode = \"L2\"\nto = [\"H6\"]\nstates = [{ open = [3], time = \"30us\" }, { open = [0], time = \
             \"20us\" }]\n"
        }
        ("cyclic", _) => {
            "[[cyclic]]\nnode = \"L2\"\nto = [\"H6\"]\ncycle = \"50us\"\nclasses = [2, 3]\nguard = \"2us\"\n"
        }
        _ => "[[shaping]]\nnode = \"L2\"\nto = [\"H6\"]\nidle_slopes = { 3 = \"300Mbps\" }\n",
    };
    let entry = if location.name == "node" { entry.replace("to = [\"H6\"]\n", "") } else { entry.to_owned() };
    let back = "[[traffic]]\nkind = \"pairs\"\npairs = [[\"H3\", \"H5\"], [\"H6\", \"H1\"]]\nsize = \"20KB\"\n";
    scenario(&[&leaves(), INCAST, back, &entry])
}

/// A scenario with congestion, ECN marks, tail drops, losses on links, and a short flow that starts late. The duration
/// of 1 ms is 100 RTTs.
fn transport(kind: &str) -> String {
    let marking = match kind {
        "qcn" => {
            "marking = { kind = \"congestion-point\", set_point = \"8KB\", sample = \"15KB\", sample_min = \"3KB\" }\n"
        }
        _ => "marking = { kind = \"ecn\", k_min = \"4KB\", k_max = \"20KB\", p_max = 0.5 }\n",
    };
    let overload = if matches!(kind, "ndp" | "eqds") { "overload = \"trim\"\n" } else { "" };
    let spread = if matches!(kind, "ndp" | "eqds") { "[routing]\nspread = \"path\"\n" } else { "" };
    let kind = if kind.is_empty() { "roce" } else { kind };
    format!(
        "duration = \"4ms\"\n[fabric]\nkind = \"single-switch\"\nhosts = 4\n\
        link = {{ rate = \"1Gbps\", delay = \"1us\", \
         loss = 0.005 }}\n{spread}[switch]\nqueue = \"20 packets\"\n{marking}{overload}[host]\ntransport = {{ kind = \
         \"{kind}\" }}\n[[traffic]]\nkind = \"incast\"\nreceiver = \"H1\"\nfan_in = 3\nsize = \"100KB\"\n[[traffic]]\n\
         kind = \"pairs\"\npairs = [[\"H2\", \"H1\"]]\nsize = \"3KB\"\nstart = \"1ms\"\n"
    )
}

/// A scenario with PFC on a ring of switches that deadlocks by a cyclic buffer dependency.
fn ring() -> String {
    let paths = "[[path]]\nname = \"1\"\nnodes = [\"H1\", \"S1\", \"S2\", \"S3\", \"H3\"]\n\
                 [[path]]\nname = \"2\"\nnodes = [\"H2\", \"S2\", \"S3\", \"S1\", \"H1\"]\n\
                 [[path]]\nname = \"3\"\nnodes = [\"H3\", \"S3\", \"S1\", \"S2\", \"H2\"]\n";
    let rest = "[routing]\nmode = \"explicit\"\n[switch]\nbuffer = \"150KB\"\n\
        flow_control = { kind = \"pfc\", priorities \
                = [3], xoff = \"10KB\" }\n[[traffic]]\nkind = \"pairs\"\npaths = [\"1\", \"2\", \"3\"]\nprocess = \
                \"constant\"\nframe = \"1000B\"\nload = 1.0\n";
    scenario(&[&fabric("kind = \"ring\"\nswitches = 3\nhosts_per_switch = 1\n", LINK), paths, rest])
}

fn traffic(location: &KeyLocation) -> String {
    const PAIRS: &str = "pairs = [[\"H1\", \"H6\"], [\"H2\", \"H5\"]]\n";
    let frames = |process: &str, keys: &str| {
        format!("kind = \"pairs\"\n{PAIRS}process = \"{process}\"\n{keys}start = \"10us\"\nstop = \"1ms\"\n")
    };
    let entry = match location.variant.unwrap_or("permutation") {
        "incast" => "kind = \"incast\"\nfan_in = 3\nsize = \"10KB\"\n".to_owned(),
        "permutation" => "kind = \"permutation\"\nsize = \"10KB\"\n".to_owned(),
        "transfer" if location.name == "sizes" => {
            "kind = \"permutation\"\nsizes = { uniform = [\"1KB\", \"10KB\"] }\n".to_owned()
        }
        "transfer" => "kind = \"permutation\"\nsize = \"10KB\"\n".to_owned(),
        "all-to-all" => "kind = \"all-to-all\"\nsize = \"5KB\"\n".to_owned(),
        "random" => "kind = \"random\"\ncount = 4\nsize = \"10KB\"\n".to_owned(),
        "stride" => "kind = \"stride\"\nstride = 2\nsize = \"10KB\"\n".to_owned(),
        "pairs" => format!("kind = \"pairs\"\n{PAIRS}size = \"10KB\"\n"),
        "poisson" if location.name == "mean_gap" => {
            "kind = \"poisson\"\nsizes = { uniform = [\"1KB\", \"9KB\"] }\nmean_gap = \"100us\"\n".to_owned()
        }
        "poisson" => "kind = \"poisson\"\nsizes = { uniform = [\"1KB\", \"9KB\"] }\nload = 0.3\n".to_owned(),
        "request-reply" => "kind = \"request-reply\"\nclient = \"H1\"\nservers = [\"H4\", \"H5\"]\nrequests = 4\n\
                            connections = 2\nreply_size = \"10KB\"\n"
            .to_owned(),
        "collective" => {
            "kind = \"collective\"\noperation = \"all-reduce\"\nsize = \"24KB\"\niterations = 2\n".to_owned()
        }
        "rooted" => "kind = \"collective\"\noperation = \"broadcast\"\nsize = \"10KB\"\n".to_owned(),
        "hierarchical" => {
            "kind = \"collective\"\noperation = \"all-reduce\"\nalgorithm = \"hierarchical\"\ngroup = 3\n\
                           size = \"24KB\"\n"
                .to_owned()
        }
        "direct" => "kind = \"collective\"\noperation = \"all-to-all\"\nsize = \"24KB\"\n".to_owned(),
        "replay" => "kind = \"replay\"\nfile = \"{files}/flows.txt\"\n".to_owned(),
        "constant frames" => frames("constant", "rate = \"300Mbps\"\n"),
        "poisson frames" => frames("poisson", "rate = \"300Mbps\"\n"),
        "on-off frames" => frames("on-off", "rate = \"300Mbps\"\nmean_on = \"100us\"\nmean_off = \"50us\"\n"),
        "bursts of frames" => frames("bursts", "frame_gap = \"20us\"\nframes_per_burst = 4\npause = \"100us\"\n"),
        "periodic frames" if matches!(location.name, "rate" | "header") => {
            frames("periodic", "period = \"50us\"\nrate = \"100Mbps\"\n")
        }
        "periodic frames" => frames("periodic", "period = \"50us\"\nframe = \"800B\"\n"),
        other => panic!("no traffic for {other}"),
    };
    let entry = match location.name {
        "process" => {
            let kept = entry.lines().filter(|line| !line.starts_with("size")).map(|line| format!("{line}\n"));
            kept.collect::<String>() + "process = \"constant\"\nrate = \"300Mbps\"\n"
        }
        "load" if !entry.contains("load") => entry.replace("rate = \"300Mbps\"", "load = 0.3"),
        _ => entry,
    };
    let fabric = match location.variant {
        Some("replay") => "[fabric]\nkind = \"file\"\nfile = \"{files}/topology.txt\"\n".to_owned(),
        _ => leaves(),
    };
    let paths = match (location.name, location.variant) {
        ("path" | "paths", Some("replay")) => OF_FILE,
        ("path" | "paths", _) => EXPLICIT,
        _ => "",
    };
    scenario(&[&fabric, paths, "[[traffic]]\n", &entry])
}
