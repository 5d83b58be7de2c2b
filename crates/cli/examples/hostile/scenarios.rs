//! Draws unusual scenarios, valid or nearly so: every kind of fabric, routing, flow control, overload, marking,
//! scheduler, transport and traffic combined with every other, with usual and extreme values.

use crate::mutate::pick;
use crate::traffic;
use units::random::Stream;

/// A random scenario, and the checks that it may fail.
pub struct Drawn {
    /// The scenario as TOML.
    pub text: String,
    /// Names of checks that may fail in this scenario, each with the reason.
    pub honest: Vec<(&'static str, &'static str)>,
}

/// State of a scenario during its construction.
pub struct Draft<'a> {
    pub stream: &'a mut Stream,
    pub text: String,
    pub honest: Vec<(&'static str, &'static str)>,
    /// Number of hosts, named H1, H2 and so on.
    pub hosts: u64,
    /// Rate of the slowest link, in Gbps.
    pub gbps: u64,
    /// The two nodes of each link that may fail; the first link leads to a host.
    pub links: Vec<(String, String)>,
    /// Whether shortest paths between switches can form a cyclic buffer dependency.
    pub is_cyclic: bool,
    /// Lossless classes under flow control.
    pub lossless: Vec<u64>,
    /// Whether each queue has its own buffer.
    pub has_queues: bool,
}

impl Draft<'_> {
    /// Returns true with a probability of `percent`.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.stream.below(100) < percent
    }

    pub fn of(&mut self, values: &[&'static str]) -> &'static str {
        pick(self.stream, values)
    }

    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.stream.below(most - least + 1)
    }

    pub fn line(&mut self, line: &str) {
        self.text += line;
        self.text += "\n";
    }

    /// Writes `key = value` with a probability of `percent`, and returns true if it did.
    pub fn maybe(&mut self, percent: u64, key: &str, values: &[&'static str]) -> bool {
        let writes = self.chance(percent);
        if writes {
            let value = self.of(values);
            self.line(&format!("{key} = {value}"));
        }
        writes
    }

    /// Like [`Draft::maybe`], but returns the text for a key inside an inline table.
    pub fn option(&mut self, percent: u64, key: &str, values: &[&'static str]) -> String {
        if self.chance(percent) { format!(", {key} = {}", self.of(values)) } else { String::new() }
    }

    pub fn excuse(&mut self, check: &'static str, reason: &'static str) {
        self.honest.push((check, reason));
    }
}

/// Draws a random scenario.
pub fn draw(stream: &mut Stream) -> Drawn {
    let mut draft = Draft {
        stream,
        text: String::new(),
        honest: Vec::new(),
        hosts: 0,
        gbps: 0,
        links: Vec::new(),
        is_cyclic: false,
        lossless: Vec::new(),
        has_queues: false,
    };
    let (kind, fabric) = fabric(&mut draft);
    // The duration is chosen so that the number of packets is similar in every run, whatever the link rates.
    let most_ns = 1_200_000 / draft.gbps.max(1) / draft.hosts.max(4);
    let duration = draft.between(most_ns / 4 + 500, most_ns + 1000);
    let seed = draft.stream.below(1000);
    draft.text = format!("duration = \"{duration}ns\"\nseed = {seed}\n\n{fabric}");
    routing(&mut draft, kind);
    switch(&mut draft, kind);
    host(&mut draft);
    traffic::draw(&mut draft, duration);
    if draft.chance(15) {
        failures(&mut draft, duration);
    }
    if kind == "leaf-spine" && draft.chance(15) {
        let hosts = draft.hosts;
        draft.line(&format!("[[route]]\nnode = \"L1\"\nto = \"H{hosts}\"\nvia = [\"S1\"]\nat = \"1us\"\n"));
    }
    if draft.text.contains("florax") && draft.chance(30) {
        draft.line("[[committed_rate]]\nfrom = \"H1\"\nto = \"H2\"\nrate = \"300Mbps\"\n");
    }
    timing(&mut draft);
    record(&mut draft, duration);
    Drawn { text: draft.text, honest: draft.honest }
}

fn fabric(draft: &mut Draft) -> (&'static str, String) {
    let kind = draft.of(&[
        "fat-tree",
        "f10",
        "leaf-spine",
        "leaf-spine",
        "clos",
        "dumbbell",
        "tree",
        "star",
        "jellyfish",
        "bcube",
        "single-switch",
        "line",
        "ring",
    ]);
    let (a, b, c) = (draft.between(1, 3), draft.between(2, 3), draft.between(1, 3));
    let link = |one: &str, two: &str| (one.to_owned(), two.to_owned());
    let row = |switches: u64| (1..switches).map(|at| (format!("S{at}"), format!("S{}", at + 1)));
    let (hosts, keys, links) = match kind {
        "fat-tree" => (
            4 * 2 * c,
            format!("k = 4\nhosts_per_edge = {c}"),
            vec![link("H1", "S1"), link("S1", "S3"), link("S3", "C1")],
        ),
        "f10" => (16, "k = 4".to_owned(), vec![link("H1", "S1"), link("S1", "S3")]),
        "leaf-spine" => {
            let pairs = draft.between(1, 2);
            (
                b * c,
                format!("leaves = {b}\nspines = {a}\nhosts_per_leaf = {c}\nlinks_per_pair = {pairs}"),
                vec![link("H1", "L1"), link("L1", "S1"), link("L2", "S1")],
            )
        }
        "clos" => (
            2 * b * c,
            format!("pods = 2\ntors_per_pod = {b}\nleaves_per_pod = 2\nspines = {}\nhosts_per_tor = {c}", 2 * a),
            vec![link("H1", "T1"), link("T1", "L1"), link("T1", "L2")],
        ),
        "dumbbell" => (a + b, format!("left = {a}\nright = {b}"), vec![link("H1", "S1"), link("S1", "S2")]),
        "tree" => (b * b * c + 1, format!("arity = [{b}, {b}]\nhosts_per_leaf = {c}\nroot_hosts = 1"), Vec::new()),
        "star" => (b * c + 1, format!("arms = {b}\nhosts_per_arm = {c}\nhub_hosts = 1"), vec![link("H1", "S1")]),
        "jellyfish" => {
            (6 * c, format!("switches = 6\ndegree = 3\nhosts_per_switch = {c}\nseed = {a}"), vec![link("H1", "S1")])
        }
        "bcube" => (b * b, format!("n = {b}\nlevels = 1"), vec![link("H1", "S0-1")]),
        "single-switch" => (a + b + c, format!("hosts = {}", a + b + c), vec![link("H1", "S1")]),
        "line" => (
            (b + 1) * c,
            format!("switches = {}\nhosts_per_switch = {c}", b + 1),
            std::iter::once(link("H1", "S1")).chain(row(b + 1)).collect(),
        ),
        _ => (
            (b + 1) * c,
            format!("switches = {}\nhosts_per_switch = {c}", b + 1),
            std::iter::once(link("H1", "S1")).chain(row(b + 1)).collect(),
        ),
    };
    draft.hosts = hosts;
    draft.links = links;
    draft.is_cyclic = matches!(kind, "jellyfish" | "ring" | "bcube");
    let rates: &[u64] = &[1, 10, 25, 40, 100, 400];
    draft.gbps = rates[draft.stream.below(6) as usize];
    let delay = draft.of(&["100ns", "500ns", "1us", "1us", "2.5us"]);
    let mut spec = format!("rate = \"{}Gbps\", delay = \"{delay}\"", draft.gbps);
    if draft.chance(8) {
        spec += draft.of(&[", loss = 0.02", ", loss = 0.0001", ", bit_error_rate = 0.000001", ", loss = 1"]);
        draft.excuse("lossless", "links that lose");
    }
    if draft.chance(25) && !matches!(kind, "bcube" | "single-switch") {
        spec += &format!(", edge = {{ rate = \"{}\" }}", draft.of(&["40Gbps", "100Gbps", "5Gbps"]));
    }
    if draft.chance(10) {
        spec += ", host = { delay = \"37.5ns\" }";
    }
    (kind, format!("[fabric]\nkind = \"{kind}\"\n{keys}\nlink = {{ {spec} }}\n\n"))
}

fn routing(draft: &mut Draft, kind: &str) {
    draft.line("[routing]");
    match kind {
        "fat-tree" => drop(draft.maybe(40, "mode", &["\"two-level\"", "\"up-down\""])),
        "leaf-spine" | "clos" | "ring" | "line" | "jellyfish" => drop(draft.maybe(20, "mode", &["\"up-down\""])),
        _ => {}
    }
    draft.maybe(40, "spread", &["\"packet\"", "\"path\"", "\"flow\""]);
    if draft.chance(10) {
        draft.line("reroute = \"local\"");
        draft.is_cyclic = true;
    }
    draft.line("");
}

/// Draws mechanisms that delay transmission: shaping, cyclic queuing, gates.
fn timing(draft: &mut Draft) {
    if draft.chance(8) {
        let slopes = draft.of(&["3 = \"100Mbps\"", "0 = \"1Mbps\", 3 = \"500Mbps\"", "7 = \"1bps\""]);
        draft.line(&format!("[[shaping]]\nidle_slopes = {{ {slopes} }}\n"));
    }
    if draft.chance(8) {
        let cycle = draft.of(&["3us", "20us", "1ms"]);
        let classes = draft.of(&["3, 4", "0, 3", "6, 7", "1, 2"]);
        let guard =
            if draft.chance(30) { format!("guard = \"{}\"\n", draft.of(&["0ns", "1us"])) } else { String::new() };
        draft.line(&format!("[[cyclic]]\ncycle = \"{cycle}\"\nclasses = [{classes}]\n{guard}"));
    }
    if draft.chance(8) {
        let states = draft.of(&[
            "{ open = [3], time = \"2us\" }, { open = [0, 1, 2, 4, 5, 6, 7], time = \"3us\" }",
            "{ open = [0, 1, 2, 3, 4, 5, 6, 7], time = \"1ps\" }",
            "{ open = [0, 3], time = \"5us\" }, { open = [], time = \"5us\" }",
            "{ open = [0, 3], time = \"5us\", operation = \"set-gate-states\" }, { open = [3], time = \"9us\" }",
        ]);
        draft.line(&format!("[[gates]]\nnode = \"H1\"\nstates = [{states}]\n"));
    }
}

fn switch(draft: &mut Draft, kind: &str) {
    draft.line("[switch]");
    draft.has_queues = draft.chance(50);
    if draft.has_queues {
        draft.maybe(100, "queue", &["\"8 packets\"", "\"100 packets\"", "\"500 packets\"", "\"64KB\"", "\"9500B\""]);
    } else {
        draft.maybe(80, "buffer", &["\"300KB\"", "\"1MB\"", "\"4MB\"", "\"16MB\""]);
        draft.maybe(20, "egress_threshold", &["\"1/8\"", "\"64KB\"", "1", "0.5"]);
    }
    flow_control(draft);
    overload(draft);
    if draft.chance(8) {
        let threshold = draft.of(&["1B", "3KB", "1GB"]);
        let drain = draft.of(&["0.001", "0.5", "0.95", "0.999"]);
        draft.line(&format!("marking = {{ kind = \"phantom\", drain = {drain}, threshold = \"{threshold}\" }}"));
    } else if draft.chance(40) {
        let marks = draft.of(&["k_min = \"4KB\"", "k_min = \"0B\"", "k_min = \"10KB\", k_max = \"40KB\", p_max = 0.3"]);
        draft.line(&format!("marking = {{ kind = \"ecn\", {marks} }}"));
    }
    let shares = draft.maybe(
        30,
        "scheduler",
        &[
            "{ kind = \"wrr\", weights = [1, 1, 1, 4, 1, 1, 1, 1] }",
            "{ kind = \"wrr\", weights = { 3 = 1000 } }",
            "{ kind = \"drr\", quanta = { 3 = \"6KB\" } }",
            "{ kind = \"drr\", quanta = { 3 = \"1B\" } }",
        ],
    );
    if !shares {
        draft.excuse("stall", "strict priority, under which higher classes may starve a lossless one");
    }
    if draft.chance(8) {
        let express = draft.of(&["3", "7", "0, 3"]);
        let fragments = draft.option(30, "fragments", &["\"ideal\"", "\"standard\""]);
        draft.line(&format!("preemption = {{ express = [{express}]{fragments} }}"));
    }
    let is_tagged = draft.lossless.len() > 2 && matches!(kind, "leaf-spine" | "clos" | "fat-tree" | "ring");
    if is_tagged && draft.chance(70) {
        let rules = match kind {
            "ring" => draft.of(&["algorithm = \"merge\"", "algorithm = \"one-per-hop\""]),
            _ => draft.of(&[
                "algorithm = \"clos\", bounces = 1",
                "algorithm = \"merge\", paths = \"up-down\"",
                "algorithm = \"merge\"",
            ]),
        };
        draft.line(&format!("tags = {{ kind = \"tagger\", {rules} }}"));
    }
    draft.line("");
}

fn flow_control(draft: &mut Draft) {
    let kinds: &[&str] = if draft.has_queues {
        &["none", "florax", "destination", "pause-at-output", "pfc"]
    } else {
        &["none", "pause", "pfc", "pfc", "pfc", "cbfc"]
    };
    let kind = draft.of(kinds);
    let mut keys = format!("kind = \"{kind}\"");
    if matches!(kind, "pfc" | "cbfc") {
        let classes = draft.of(&["3", "3", "0", "7", "2, 3", "1, 2, 3"]);
        keys += &format!(", priorities = [{classes}]");
        draft.lossless = classes.split(", ").filter_map(|class| class.parse().ok()).collect();
    } else if kind != "none" {
        draft.lossless = (0..8).collect();
    }
    match kind {
        "none" => return,
        "pfc" | "pause" => {
            keys += &draft.option(50, "xoff", &["\"4KB\"", "\"20KB\"", "\"1/8\"", "0.03", "\"0B\""]);
            keys += &draft.option(20, "xon", &["\"0B\"", "\"1KB\"", "\"10KB\""]);
            keys += &draft.option(15, "quanta", &["1", "100", "65535"]);
            keys += &draft.option(15, "reaction", &["0", "1", "3840", "100000"]);
            if draft.has_queues {
                draft.excuse("lossless", "queues with room of their own, which several ingress accounts can fill");
            }
            if draft.chance(10) {
                keys += ", headroom = \"10KB\"";
                draft.excuse("lossless", "headroom by hand");
            }
            if draft.chance(10) {
                let detect = draft.of(&["500ns", "2us", "10us"]);
                let action = draft.of(&["drop", "forward"]);
                draft.line(&format!(
                    "watchdog = {{ detection_time = \"{detect}\", restoration_time = \"1us\", action = \"{action}\" }}"
                ));
                draft.excuse("lossless", "a watchdog");
            }
        }
        "cbfc" => {
            keys += &draft.option(30, "credits", &["\"10KB\"", "\"1518B\"", "\"50KB\""]);
            keys += &draft.option(20, "update", &["\"100B\"", "\"4KB\""]);
            keys += &draft.option(20, "regrant", &["\"1us\"", "\"100us\""]);
        }
        _ => {
            keys += &draft.option(30, "upper", &["0.6", "0.3", "0.99"]);
            keys += &draft.option(20, "lower", &["0.1", "0.01"]);
            keys += &draft.option(20, "expiry", &["\"5us\"", "\"1ms\""]);
            keys += &draft.option(20, "burst_gap", &["\"1us\"", "\"100us\""]);
            if kind != "pause-at-output" {
                keys += &draft.option(20, "flows", &["1", "3", "1000"]);
            }
            draft.excuse("lossless", "thresholds that leave no room for what is on its way");
        }
    }
    if draft.chance(8) {
        keys += ", tiers = [1]";
        draft.excuse("lossless", "switches that take no part");
    }
    draft.line(&format!("flow_control = {{ {keys} }}"));
    if draft.is_cyclic {
        draft.excuse("deadlock", "routes that close a cycle");
        draft.excuse("stall", "a cycle that closed after the last detector run");
    }
}

fn overload(draft: &mut Draft) {
    let kind = draft.of(&["drop", "drop", "drop", "bounce", "detour", "trim", "cut-payload", "sfc", "pipeline-trim"]);
    let mut keys = format!("kind = \"{kind}\"");
    match kind {
        "drop" => return,
        "bounce" => {
            keys += &draft.option(40, "theta", &["0", "0.5", "1"]);
            keys += &draft.option(40, "lambda", &["0", "1", "1000"]);
            keys += &draft.option(20, "return", &["\"source-lookup\""]);
            keys += &draft.option(20, "utilisation", &["\"fuller\""]);
            keys += &draft.option(20, "limit", &["1", "3", "255"]);
        }
        "detour" => {}
        "pipeline-trim" => {
            keys += &draft.option(90, "model", &["\"tofino\"", "\"switch-p4\"", "\"dod\"", "\"mod\"", "\"tofino2\""]);
            keys += &draft.option(60, "pipelines", &["1", "2"]);
            keys += &draft.option(20, "recirculation_rate", &["\"1Gbps\"", "\"400Gbps\""]);
            keys += &draft.option(20, "recirculation_queue", &["\"1 packets\"", "\"250 packets\""]);
            keys += &draft.option(20, "clock", &["4294967295"]);
            keys += &draft.option(30, "signal_load", &["\"recirculation\""]);
            keys += &draft.option(30, "metered", &["\"all\""]);
        }
        _ => {
            keys += &draft.option(30, "header_queue", &["\"2KB\"", "\"4 packets\"", "\"1MB\""]);
            if kind == "trim" {
                keys += &draft.option(40, "victim", &["\"tail\"", "\"coin\""]);
                keys += &draft.option(40, "header_full", &["\"drop\"", "\"return\""]);
            }
            if kind == "sfc" {
                keys += &draft.option(40, "watermark", &["\"1 packets\"", "\"4 packets\"", "\"6000B\""]);
            }
        }
    }
    if matches!(kind, "bounce" | "detour") {
        draft.is_cyclic = true;
    }
    draft.line(&format!("overload = {{ {keys} }}"));
}

fn host(draft: &mut Draft) {
    let kind =
        draft.of(&["tcp", "dctcp", "roce", "dcqcn", "timely", "hetflow", "qcn", "eccp", "ndp", "eqds", "datagram"]);
    let mut keys = format!("kind = \"{kind}\"");
    let selective = ["roce", "dcqcn", "timely", "hetflow", "qcn", "eccp"].contains(&kind) && draft.chance(30);
    keys += &match kind {
        "tcp" | "dctcp" => {
            draft.option(30, "mss", &["\"1B\"", "\"536B\"", "\"8000B\""]) + &draft.option(30, "sack", &["true"])
        }
        "ndp" | "eqds" => {
            draft.option(40, "initial_window", &["1", "4", "30"])
                + &draft.option(30, "timeout", &["\"20us\"", "\"never\""])
        }
        "datagram" => draft.option(30, "frame", &["\"64B\"", "\"9000B\""]),
        "eccp" => {
            draft.option(40, "estimate", &["\"trains\"", "\"measured\""])
                + &draft.option(30, "train_frames", &["2", "1000"])
                + &draft.option(20, "probe_class", &["0", "7"])
        }
        "hetflow" => {
            draft.option(40, "sampling_bytes", &["\"1B\"", "\"20KB\""]) + &draft.option(30, "sample", &["1", "1000"])
        }
        "timely" => {
            draft.option(40, "segment", &["\"1000B\"", "\"64KB\""])
                + &draft.option(30, "t_low", &["\"0us\"", "\"5us\""])
        }
        // Selective repeat does not allow `timeout` and `ack_every`.
        _ if selective => draft.option(30, "window", &["\"3KB\"", "\"20KB\""]),
        _ => {
            draft.option(30, "window", &["\"3KB\"", "\"20KB\""])
                + &draft.option(40, "timeout", &["\"10us\"", "\"never\""])
                + &draft.option(20, "ack_every", &["2", "16"])
        }
    };
    if selective {
        keys += ", loss_recovery = \"selective\"";
        keys += &draft.option(30, "flight_cap", &["\"1B\"", "\"20KB\"", "\"unlimited\""]);
        keys += &draft.option(30, "rto_low", &["\"1ps\"", "\"5us\""]);
        keys += &draft.option(20, "rto_low_packets", &["0", "4294967295"]);
    }
    draft.line(&format!("[host]\ntransport = {{ {keys} }}"));
    draft.maybe(15, "reply_class", &["0", "7", "3"]);
    draft.maybe(10, "ttl", &["1", "2", "5", "255"]);
    draft.maybe(10, "on_pause", &["\"halve\""]);
    draft.maybe(10, "on_bounce", &["\"halve\"", "{ kind = \"halve\", every = 3 }"]);
    draft.maybe(10, "notification_delay", &["\"1ns\"", "\"5us\""]);
    draft.maybe(
        8,
        "clock",
        &["{ offset = \"5us\", drift_ppm = 100000 }", "{ drift_ppm = 0.001 }", "{ offset = \"1s\" }"],
    );
    if draft.chance(5) {
        draft.line("obeys_pause = false");
        draft.excuse("lossless", "hosts that do not obey");
        draft.excuse("stall", "hosts that do not obey");
    } else if draft.chance(5) {
        draft.line("ignore_pause = [\"H1\"]");
        draft.excuse("lossless", "hosts that do not obey");
        draft.excuse("stall", "hosts that do not obey");
    }
    if draft.chance(6) {
        draft.line("pause_storm = { host = \"H1\", at = \"1us\" }");
        draft.excuse("stall", "a host that pauses without end");
    }
    draft.line("");
}

fn failures(draft: &mut Draft, duration: u64) {
    let links = draft.links.clone();
    for (a, b) in &links {
        if draft.chance(40) {
            let at = draft.stream.below(duration);
            let until = draft.between(at + 1, 2 * duration);
            draft.line(&format!("[[fail]]\nlink = [\"{a}\", \"{b}\"]\nat = \"{at}ns\"\nuntil = \"{until}ns\"\n"));
            draft.excuse("lossless", "links that fail");
        }
    }
}

fn record(draft: &mut Draft, duration: u64) {
    draft.line("[record]");
    draft.maybe(30, "queues", &["{ every = \"1us\" }", "{ every = \"333ns\" }"]);
    draft.maybe(30, "links", &["{ every = \"1us\" }"]);
    draft.maybe(30, "throughput", &["{ every = \"777ns\" }"]);
    draft.maybe(30, "control", &["{ every = \"1us\" }", "{ every = \"777ns\" }"]);
    draft.maybe(30, "pauses", &["true"]);
    draft.maybe(30, "trace", &["{}", "{ flows = [0] }", "{ ports = [\"H1\"] }", "{ from = \"1us\", until = \"2us\" }"]);
    draft.maybe(20, "capture", &["[{ port = \"H1:0\" }]", "[{ port = \"H2:0\", direction = \"in\" }]"]);
    draft.line("\n[measure]");
    let half = duration / 2;
    if draft.chance(30) {
        draft.line(&format!("warm_up = \"{half}ns\""));
    }
    draft.maybe(30, "reordering", &["true"]);
    if draft.has_queues {
        draft.maybe(20, "utilisation", &["0.5", "0.9"]);
    }
    draft.line("\n[check]");
    draft.maybe(50, "deadlock", &["{ every = \"500ns\" }", "{ every = \"2us\" }"]);
    draft.maybe(30, "bounce_storm", &["{ every = \"1us\", samples = 3 }"]);
}
