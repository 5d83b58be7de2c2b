//! Special cases of the test that every scenario key affects the results: overrides that some keys need in addition to
//! the scenario of their table, keys that are expected to have no effect, and values that must be rejected.

use super::locations::KeyLocation;

/// How to test a key for which an alternative value in the scenario of its table is not sufficient.
pub struct Case {
    /// Path of the key, such as `switch.flow_control.expiry`.
    pub key: &'static str,
    /// Variants of the table of `key`; empty for all.
    pub of: &'static [&'static str],
    /// Further overrides, in both the run with and the run without the tested value.
    pub set: &'static [(&'static str, &'static str)],
    /// Values to try; if empty, they are derived from the effective value.
    pub values: &'static [&'static str],
}

impl Case {
    pub fn fits(&self, location: &KeyLocation) -> bool {
        is_of(location, self.key, self.of)
    }
}

/// A key that changes no result, with the reason.
pub struct Exception {
    pub key: &'static str,
    /// Variants of the table of `key`; empty for all.
    pub of: &'static [&'static str],
    pub reason: &'static str,
}

/// A key that has no effect in this variant: every value is refused with a reason.
pub struct Refusal {
    pub key: &'static str,
    pub of: &'static [&'static str],
    pub set: Pairs,
    pub value: &'static str,
    /// A substring of the error message.
    pub says: &'static str,
}

pub const REFUSALS: &[Refusal] = &[
    // The file has one format, which `auto` detects: other formats are refused.
    Refusal { key: "fabric.format", of: &[], set: &[], value: "node-link", says: "not valid JSON" },
    // Traffic refers to the path by this name.
    Refusal { key: "path.name", of: &[], set: &[], value: "other", says: "`one` is not a path" },
    // The congestion control of these transports requires ECN marks, so that `ecn` must be true.
    Refusal {
        key: "host.transport.ecn",
        of: &["dcqcn", "dctcp-rate"],
        set: &[],
        value: "false",
        says: "the rate follows marks",
    },
];

type Pairs = &'static [(&'static str, &'static str)];

const fn with(key: &'static str, of: &'static [&'static str], set: Pairs, values: &'static [&'static str]) -> Case {
    Case { key, of, set, values }
}

pub const EXCEPTIONS: &[Exception] = &[
    Exception { key: "name", of: &[], reason: "an echo: results carry it, as the name of the run" },
    Exception { key: "description", of: &[], reason: "an echo: results carry the file of the scenario with it" },
    Exception {
        key: "threads",
        of: &[],
        reason: "results are the same for any number of threads, which other tests hold",
    },
    Exception {
        key: "host.transport.min_rate",
        of: &["external"],
        reason: "a floor of the rates that an agent sets: by a scenario alone none is set",
    },
];

/// Selective repeat with a limited window.
const SELECTIVE: Pairs = &[("host.transport.loss_recovery", "selective"), ("host.transport.window", "20KB")];
const LOSSY: Pairs = &[
    ("host.transport.loss_recovery", "selective"),
    ("host.transport.flight_cap", "unlimited"),
    ("host.transport.window", "20KB"),
    ("fabric.link.loss", "0.2"),
];
const TCP: &[&str] = &["tcp", "dctcp"];
const CUBIC: Pairs = &[("host.transport.congestion_control", "cubic"), ("host.transport.initial_ssthresh", "8KB")];
const VEGAS: Pairs = &[
    ("host.transport.congestion_control", "vegas"),
    ("switch.queue", "100 packets"),
    ("fabric.link.loss", "0"),
    ("host.transport.initial_window", "6KB"),
    ("host.transport.delayed_ack", "false"),
];
/// TIMELY thresholds below the queueing delay of this run.
const TIMELY: Pairs = &[
    ("switch.queue", "200 packets"),
    ("fabric.link.loss", "0"),
    ("host.transport.segment", "2KB"),
    ("host.transport.t_low", "20us"),
    ("host.transport.t_high", "400us"),
];
const HYPER: Pairs = &[
    ("switch.queue", "200 packets"),
    ("fabric.link.loss", "0"),
    ("host.transport.segment", "2KB"),
    ("host.transport.t_low", "5us"),
    ("host.transport.initial_rate", "100Mbps"),
];
const RISING: Pairs = &[
    ("switch.queue", "200 packets"),
    ("fabric.link.loss", "0"),
    ("host.transport.payload", "500B"),
    ("host.transport.t_low", "5us"),
    ("host.transport.initial_rate", "100Mbps"),
];
const HETFLOW: Pairs = &[
    ("switch.queue", "200 packets"),
    ("fabric.link.loss", "0"),
    ("host.transport.timer", "200us"),
    ("host.transport.sampling_bytes", "3KB"),
    ("host.transport.sample", "2"),
    ("host.transport.recovery", "500us"),
    ("host.transport.update", "20us"),
];
const ECCP: Pairs = &[
    ("switch.queue", "200 packets"),
    ("fabric.link.loss", "0"),
    ("host.transport.train_interval", "200us"),
    ("host.transport.train_frames", "12"),
    ("host.transport.probe", "300B"),
    ("host.transport.initial_rate", "200Mbps"),
    ("host.transport.min_probe_rate", "300Mbps"),
    ("host.transport.byte_counter", "5KB"),
    ("host.transport.increase_timer", "50us"),
    ("host.transport.recovery_stages", "1"),
];
const ECCP_MEASURED: Pairs = &[
    ("switch.queue", "200 packets"),
    ("fabric.link.loss", "0"),
    ("host.transport.train_interval", "200us"),
    ("host.transport.train_frames", "12"),
    ("host.transport.probe", "300B"),
    ("host.transport.initial_rate", "400Mbps"),
    ("host.transport.byte_counter", "5KB"),
    ("host.transport.increase_timer", "50us"),
    ("host.transport.recovery_stages", "1"),
    ("host.transport.gain", "0.05"),
    ("host.transport.estimate", "measured"),
];
/// ECCP with estimates from short trains.
const ECCP_TRAINS: &str = "{ kind = \"eccp\", train_interval = \"200us\", train_frames = 5, probe = \"300B\", \
    initial_rate = \"200Mbps\", min_probe_rate = \"300Mbps\", byte_counter = \"5KB\", increase_timer = \"50us\" }";
/// Estimates by the filter, on which the variance of the strain has an effect.
const ECCP_NOISY: Pairs = &[
    ("duration", "40ms"),
    ("traffic.0.size", "2MB"),
    ("switch.queue", "200 packets"),
    ("fabric.link.loss", "0"),
    ("host.transport", ECCP_TRAINS),
    ("host.transport.strain_threshold", "0.05"),
    ("host.transport.gain", "0.5"),
];
/// Trains without strain at rates that vary, because a second flow begins later.
const ECCP_LATER: Pairs = &[
    ("duration", "40ms"),
    ("traffic.0.fan_in", "1"),
    ("traffic.0.size", "2MB"),
    ("traffic.1.size", "1MB"),
    ("traffic.1.start", "5ms"),
    ("switch.queue", "200 packets"),
    ("fabric.link.loss", "0"),
    ("host.transport", ECCP_TRAINS),
    ("host.transport.strain_threshold", "0.1"),
    ("host.transport.gain", "0.05"),
];
const RANDOM_PAYLOAD: Pairs = &[("host.transport.payload_deviation", "300B")];
/// Tagger rules from a file, for the fabric of two switches in `two-switches.json`.
const TAGGED: Pairs = &[
    ("fabric", "{ kind = \"file\", file = \"{files}/two-switches.json\" }"),
    ("fail", "[]"),
    ("switch.buffer", "4MB"),
    ("switch.tags", "{ kind = \"tagger\", rules = \"{files}/rules.json\" }"),
    ("record.trace", "{}"),
];
/// QoS maps from a file, for the fabric of two switches in `two-switches.json`.
const QOS_MAPS: Pairs = &[
    ("fabric", "{ kind = \"file\", file = \"{files}/two-switches.json\" }"),
    ("fail", "[]"),
    ("switch.buffer", "4MB"),
    ("switch.flow_control.priorities", "[1, 2]"),
    ("switch.tags", "{ kind = \"qos-maps\", maps = \"{files}/maps.json\" }"),
    ("host.transport", "datagram"),
    ("record.trace", "{}"),
];
const STAGES: Pairs = &[
    ("host.transport.byte_counter", "5KB"),
    ("host.transport.increase_timer", "50us"),
    ("host.transport.recovery_stages", "1"),
];
const REPLIES: Pairs = &[("fabric.link.loss", "0.05")];
const DEVIATION: Pairs = &[("traffic.0.frame_deviation", "600B")];
const NS3: Pairs = &[("traffic.0.file", "{files}/ns3-rdma.txt"), ("traffic.0.format", "ns3-rdma")];
const MATRIX: Pairs = &[("traffic.0.file", "{files}/matrix.cm")];
const SPRAYED: Pairs = &[("measure.reordering", "true"), ("routing.spread", "packet")];
const PFC: Pairs =
    &[("switch.buffer", "150KB"), ("switch.flow_control", "{ kind = \"pfc\", priorities = [3], xoff = \"10KB\" }")];
const PFC_DCQCN: Pairs = &[
    ("switch.buffer", "150KB"),
    ("switch.flow_control", "{ kind = \"pfc\", priorities = [3], xoff = \"10KB\" }"),
    ("host.transport", "dcqcn"),
];
const TRIM: Pairs = &[("switch.queue", "8 packets"), ("switch.overload", "trim")];
const RING: &str =
    "{ kind = \"ring\", switches = 6, hosts_per_switch = 1, link = { rate = \"1Gbps\", delay = \"1us\" } }";
const FAT_TREE: &str = "{ kind = \"fat-tree\", k = 4, link = { rate = \"1Gbps\", delay = \"1us\" } }";
const TRIGGERS: Pairs = &[
    ("fabric", "{ kind = \"file\", file = \"{files}/topology.txt\" }"),
    ("traffic", "[{ kind = \"replay\", file = \"{files}/triggers.cm\" }]"),
];
const HEADERS: Pairs = &[("switch.overload.header_class", "0")];
const FULL: Pairs = &[("switch.overload.header_class", "0"), ("switch.overload.header_queue", "2 packets")];

/// A fabric from a file: two ToR switches and a leaf in a full mesh, without hosts.
const NO_HOSTS: Pairs = &[
    ("fabric.file", "{files}/no-hosts.csv"),
    ("fabric.link", "{ rate = \"1Gbps\", delay = \"1us\" }"),
    ("fabric.hosts_per_switch", "2"),
];

const CASES: &[Case] = &[
    with("until", &[], &[], &["flows done"]),
    with("routing.mode", &[], &[("fabric", RING), ("traffic.0.pairs", "[[\"H3\", \"H5\"]]")], &["up-down"]),
    with("routing.mode", &[], &[("fabric", FAT_TREE)], &["two-level"]),
    with("routing.root", &[], &[("routing.mode", "up-down")], &["L1", "S2", "L2"]),
    with("routing.entropy_values", &[], &[("routing.spread", "entropy")], &[]),
    with("routing.reroute", &[], &[("fail", "[{ link = [\"S1\", \"L2\"] }]")], &["local"]),
    with("fabric.kind", &[], &[], &["fat-tree"]),
    with("fabric.hosts_per_switch", &["file"], NO_HOSTS, &["3"]),
    with("fabric.ignore", &["file"], &[("fabric.file", "{files}/two-switches.json")], &["[\"H4\"]"]),
    with("fabric.switch", &["file"], &[("fabric.file", "{files}/two-switches.json")], &["[\"H4\"]"]),
    with("fabric.host", &["file"], NO_HOSTS, &["[\"tor-*\"]"]),
    with("fabric.hosts_on", &["file"], NO_HOSTS, &["[\"leaf-1\"]"]),
    with("fabric.file", &[], &[], &["{files}/mesh.txt"]),
    with("fabric.control_loss", &[], &[("switch.flow_control", "{ kind = \"cbfc\", priorities = [0, 3] }")], &["1"]),
    with("fabric.relay", &[], &[("fabric.file", "{files}/mesh.txt")], &["true"]),
    with("traffic.hosts", &["request-reply"], &[("traffic.0.servers", "2")], &["[\"H1\", \"H2\", \"H3\"]"]),
    with("traffic.kind", &[], &[], &["all-to-all"]),
    with("traffic.paths", &["pairs"], &[("traffic.0.pairs", "[[\"H1\", \"H6\"]]")], &["[\"one\"]", "[\"two\"]"]),
    with("traffic.paths", &["replay"], &[("traffic.0.file", "{files}/one-flow.txt")], &["[\"one\"]", "[\"two\"]"]),
    with(
        "traffic.path",
        &["incast"],
        &[("traffic.0.fan_in", "1"), ("traffic.0.receiver", "H6"), ("traffic.0.hosts", "[\"H1\", \"H6\"]")],
        &["\"one\"", "\"two\""],
    ),
    with(
        "traffic.path",
        &["random"],
        &[("traffic.0.hosts", "[\"H1\", \"H6\"]"), ("traffic.0.count", "1"), ("seed", "6")],
        &["\"one\"", "\"two\""],
    ),
    with("traffic.path", &["pairs"], &[("traffic.0.pairs", "[[\"H1\", \"H6\"]]")], &["\"one\"", "\"two\""]),
    with(
        "traffic.size",
        &["constant frames", "poisson frames", "on-off frames", "bursts of frames", "periodic frames"],
        &[],
        &["5KB"],
    ),
    with("traffic.frame_max", &[], DEVIATION, &["1700B"]),
    with("traffic.phase", &[], &[], &["17us"]),
    with("traffic.persistent_connection", &[], &[], &["false"]),
    with("traffic.client", &[], &[], &["H2"]),
    with("traffic.operation", &[], &[], &["reduce-scatter", "all-gather", "broadcast", "reduce", "all-to-all"]),
    with("traffic.algorithm", &[], &[("traffic.0.hosts", "[\"0-3\"]")], &["tree", "halving-doubling"]),
    with("traffic.root", &[], &[], &["H2"]),
    with("traffic.chunks_in_flight", &[], &[("traffic.0.chunks", "8")], &["1", "8"]),
    with("traffic.file", &[], &[], &["{files}/one-flow.txt"]),
    with(
        "traffic.format",
        &[],
        &[
            ("traffic.0.file", "{files}/either.txt"),
            ("traffic.0.format", "hpcc"),
            ("duration", "3s"),
            ("check.deadlock", "false"),
        ],
        &["ns3-rdma"],
    ),
    with("traffic.packet", &[], NS3, &["500B"]),
    with("traffic.start_unit", &[], MATRIX, &["ps"]),
    with("switch.flow_control.kind", &[], &[], &["pause"]),
    with("switch.flow_control.priorities", &[], &[], &["[2]"]),
    with("switch.flow_control.headroom", &[], &[], &["1500B"]),
    with("switch.flow_control.upper", &[], &[], &["0.3", "0.7"]),
    with("switch.flow_control.burst_gap", &[], &[], &["20us", "5us", "1us"]),
    with("switch.flow_control.expiry", &[], &[], &["20us"]),
    with("switch.flow_control.grace", &[], &[], &["1us", "0us"]),
    with("switch.flow_control.flows", &[], &[], &["1"]),
    with("switch.overload.kind", &[], &[], &["bounce", "detour", "trim", "cut-payload", "sfc"]),
    with("switch.overload.priorities", &[], &[], &["[5]", "[3]"]),
    with("switch.overload.header_queue", &["cut-payload"], &[], &["1 packets"]),
    with(
        "switch.overload.header_queue",
        &["sfc"],
        &[("switch.overload.header_class", "0"), ("traffic.1.load", "0.5"), ("fail", "[{ link = [\"L2\", \"S2\"] }]")],
        &["9 packets"],
    ),
    with(
        "switch.overload.recirculation_queue",
        &[],
        &[("switch.overload.recirculation_rate", "100Mbps")],
        &["1 packets"],
    ),
    with("switch.overload.half_share", &[], &[], &["1/4"]),
    with("switch.overload.signal_load", &[], &[("switch.overload.recirculation_rate", "100Mbps")], &["recirculation"]),
    with("switch.overload.metered", &[], &[("switch.overload.priorities", "[3]")], &["all"]),
    with("switch.overload.pessimistic_share", &[], &[], &["1/4"]),
    with("switch.overload.trim_next", &[], &[("switch.overload.response", "next")], &[]),
    with(
        "switch.overload.timestamp",
        &[],
        &[("switch.overload.model", "switch-p4"), ("switch.overload.clock", "4294867296")],
        &["as-listed"],
    ),
    with(
        "switch.overload.clock",
        &[],
        &[("switch.overload.model", "switch-p4"), ("switch.overload.timestamp", "as-listed")],
        &["4294867296"],
    ),
    with(
        "switch.overload.stages",
        &[],
        &[("switch.overload.model", "tofino2"), ("switch.overload.cycle", "1us")],
        &["40"],
    ),
    with("switch.overload.cycle", &[], &[("switch.overload.model", "tofino2")], &["2us"]),
    with("switch.tags.rules", &[], TAGGED, &["{files}/other-rules.json"]),
    with("switch.tags.maps", &[], QOS_MAPS, &["{files}/other-maps.json"]),
    with("switch.tags.kind", &[], &[], &["@none"]),
    with(
        "switch.tags.algorithm",
        &[],
        &[
            ("switch.tags", "{ kind = \"tagger\", algorithm = \"clos\" }"),
            ("switch.flow_control.priorities", "[1, 2, 3, 4]"),
        ],
        &["one-per-hop"],
    ),
    with(
        "switch.tags.paths",
        &[],
        &[
            ("switch.tags", "{ kind = \"tagger\", algorithm = \"merge\" }"),
            ("fabric.leaves", "3"),
            ("record.trace", "{}"),
        ],
        &["up-down", "trees"],
    ),
    with("switch.overload.header_queue", &[], HEADERS, &["1 packets"]),
    with("switch.overload.header_full", &[], FULL, &["drop"]),
    with("switch.overload.watermark", &[], &[], &["4 packets"]),
    with("switch.overload.tiers", &[], &[], &["[2]"]),
    with("switch.override.switches", &[], &[], &["[\"L1\"]"]),
    with("switch.override.tiers", &[], &[], &["[2]"]),
    with("switch.override.ports", &[], &[], &["[\"L1:S1\"]"]),
    with("switch.override.flow_control.xon", &[], &[], &["1KB", "4KB"]),
    with("switch.override.flow_control.headroom", &[], &[], &["1500B"]),
    with("switch.override.marking", &[], &[], &["{ kind = \"ecn\", k_min = \"1KB\" }"]),
    with("switch.override.scheduler", &[], &[], &["{ kind = \"wrr\", weights = [1, 1, 1, 1, 1, 9, 1, 1] }"]),
    with("switch.preemption.express", &[], &[], &["[3]"]),
    with(
        "switch.marking.kind",
        &[],
        &[],
        &["@{ kind = \"ecn\", k_min = \"5KB\" }", "@{ kind = \"phantom\", threshold = \"3KB\" }"],
    ),
    with("switch.marking.priorities", &[], &[], &["[5]"]),
    with("switch.scheduler.kind", &[], &[], &["@{ kind = \"wrr\", weights = [1, 1, 1, 1, 1, 1, 1, 1] }"]),
    with("gates.schedule", &[], &[], &["{files}/other-slots.json"]),
    with("gates.node", &[], &[], &["L1"]),
    with("cyclic.node", &[], &[], &["L1"]),
    with("shaping.node", &[], &[], &["L1"]),
    with("path.nodes", &[], &[], &["[\"H1\", \"L1\", \"S2\", \"L2\", \"H6\"]"]),
    with("fail.link", &[], &[], &["[\"L1\", \"S2\"]"]),
    with("route.node", &[], &[], &["L2"]),
    with("route.from", &[], &[], &["H2"]),
    with("committed_rate.from", &[], &[], &["H2"]),
    with("committed_rate.to", &[], &[], &["H5"]),
    with(
        "host.transport.kind",
        &[],
        &[],
        &["datagram", "tcp", "dctcp", "dcqcn", "timely", "hpcc", "swift", "ndp", "eqds"],
    ),
    with("host.reply_class", &[], &[], &["7"]),
    with("host.obeys_pause", &[], PFC, &["false"]),
    with("host.ignore_pause", &[], PFC, &["[\"H1\"]"]),
    with("host.on_pause", &[], PFC_DCQCN, &["halve"]),
    with("host.trim_aware", &[], TRIM, &["false"]),
    with("host.ttl", &[], &[], &["2"]),
    with("host.notification_delay", &[], TRIGGERS, &["10us"]),
    with("host.on_bounce.kind", &[], &[], &["none"]),
    with("measure.reordering_threshold", &[], SPRAYED, &["1"]),
    with("measure.queue_utilisation", &[], &[("switch.queue", "20 packets")], &["0.2"]),
    with("record.trace.flows", &[], &[], &["[0]"]),
    with("record.trace.ports", &[], &[], &["[\"L2:H6\"]"]),
    with("record.capture.port", &[], &[], &["L1:H1"]),
    with("host.transport.window", &["hpcc"], &[], &["1500B"]),
    with("host.transport.window", &[], &[], &["5KB"]),
    with("host.transport.nak_interval", &["hpcc"], &[("fabric.link.loss", "0.1")], &[]),
    with("host.transport.ecn", &["qcn"], &[("switch.marking", "{ kind = \"ecn\", k_min = \"4KB\" }")], &["true"]),
    with("host.transport.min_rate", &["external"], &[("host.transport.initial_rate", "300Mbps")], &["500Mbps"]),
    with("host.transport.measure", &["timely"], RISING, &["round-trip"]),
    with(
        "host.transport.variable_window",
        &["timely", "hetflow", "eccp", "external"],
        &[("host.transport.window", "3KB"), ("host.transport.initial_rate", "300Mbps")],
        &["true"],
    ),
    with("host.transport.estimate", &["eccp"], ECCP, &["measured"]),
    with("host.transport.probe_class", &["eccp"], ECCP, &["7"]),
    with("host.transport.variable_window", &[], &[("host.transport.window", "20KB")], &["true"]),
    with("host.transport.rate", &["datagram"], &[], &["300Mbps"]),
    with("host.transport.rate", &[], &[], &["300Mbps"]),
    with("host.transport.initial_rate", &[], &[], &["300Mbps"]),
    with("host.transport.loss_recovery", &[], &[], &["selective"]),
    with("host.transport.flight_cap", &[], SELECTIVE, &["3KB", "unlimited"]),
    with("host.transport.rto_low", &[], SELECTIVE, &[]),
    with("host.transport.rto_high", &[], LOSSY, &[]),
    with("host.transport.rto_low_packets", &[], LOSSY, &[]),
    with("host.transport.alpha_sample", &[], &[], &["timer"]),
    with("host.transport.hyper_increase", &["dcqcn", "qcn"], STAGES, &[]),
    with("host.transport.additive_increase", &["qcn"], STAGES, &[]),
    with("host.transport.base_rtt", &[], &[], &["50us"]),
    with("host.transport.max_window", &[], &[("host.transport.initial_window", "2")], &["2"]),
    with("host.transport.min_window", &[], &[], &["3"]),
    with(
        "host.transport.reset_after",
        &[],
        &[("fabric.link.loss", "0.6"), ("host.transport.timeout", "100us")],
        &["1", "2"],
    ),
    with("host.transport.initial_window", &["ndp", "eqds"], &[], &["2"]),
    with("host.transport.early_pulls", &[], &[], &["lapse"]),
    with("host.transport.pulls", &[], &[], &["acks"]),
    with("host.transport.arrival", &[], &[("host.transport.rate", "300Mbps")], &["poisson", "on_off"]),
    with("host.transport.gap", &[], &[], &["50us"]),
    with("host.transport.mean_on", &[], &[("host.transport.arrival", "on_off")], &["20us"]),
    with("host.transport.mean_off", &[], &[("host.transport.arrival", "on_off")], &["20us"]),
    with("host.transport.initial_window", TCP, &[], &["rfc5681", "2KB"]),
    with("host.transport.initial_ssthresh", TCP, &[], &["10KB"]),
    with("host.transport.advertised_window", TCP, &[], &["10KB"]),
    with(
        "host.transport.out_of_order_takes_window",
        TCP,
        &[("host.transport.advertised_window", "6KB"), ("fabric.link.loss", "0.02")],
        &["true"],
    ),
    with("host.transport.congestion_control", TCP, &[], &["reno", "cubic", "vegas", "none"]),
    with("host.transport.cubic_scale", TCP, CUBIC, &["1000000000000"]),
    with("host.transport.cubic_beta", TCP, CUBIC, &[]),
    with("host.transport.vegas_alpha", TCP, VEGAS, &["1", "3", "0.1"]),
    with("host.transport.vegas_beta", TCP, VEGAS, &["2", "3", "40"]),
    with("host.transport.vegas_gamma", TCP, VEGAS, &["0.1", "10", "100"]),
    with("host.transport.initial_rto", TCP, &[("fabric.link.loss", "0.5")], &["500us"]),
    with("host.transport.min_rto", TCP, REPLIES, &["100us", "1ms"]),
    with(
        "host.transport.max_rto",
        TCP,
        &[("fabric.link.loss", "0.5"), ("host.transport.min_rto", "100us"), ("host.transport.initial_rto", "200us")],
        &["2s", "300us"],
    ),
    with("host.transport.rto", TCP, REPLIES, &["200us"]),
    with(
        "host.transport.clock_granularity",
        TCP,
        &[("fabric.link.loss", "0.05"), ("host.transport.min_rto", "1us"), ("host.transport.initial_rto", "300us")],
        &["200us", "1ms"],
    ),
    with("host.transport.ewma", &["timely"], TIMELY, &[]),
    with("host.transport.beta", &["timely"], TIMELY, &[]),
    with("host.transport.additive_increase", &["timely"], TIMELY, &[]),
    with("host.transport.t_low", &["timely"], TIMELY, &[]),
    with("host.transport.min_rtt", &["timely"], TIMELY, &[]),
    with("host.transport.hyper_after", &["timely"], HYPER, &[]),
    with("host.transport.hyper_factor", &["timely"], HYPER, &[]),
    with("host.transport.min_rate", &["timely"], TIMELY, &[]),
    with("host.transport.timer", &["hetflow"], HETFLOW, &[]),
    with("host.transport.sample", &["hetflow"], HETFLOW, &[]),
    with("host.transport.scaling", &["hetflow"], HETFLOW, &[]),
    with("host.transport.ewma", &["hetflow"], HETFLOW, &[]),
    with("host.transport.gain", &["hetflow"], HETFLOW, &[]),
    with("host.transport.recovery", &["hetflow"], HETFLOW, &[]),
    with("host.transport.update", &["hetflow"], HETFLOW, &[]),
    with("host.transport.cnm", &["hetflow"], HETFLOW, &[]),
    with("host.transport.min_rate", &["hetflow"], HETFLOW, &[]),
    with("host.transport.equilibrium", &["eccp"], ECCP, &[]),
    with("host.transport.weight", &["eccp"], ECCP, &[]),
    with("host.transport.gain", &["eccp"], ECCP, &[]),
    with("host.transport.train_frames", &["eccp"], ECCP, &[]),
    with("host.transport.train_interval", &["eccp"], ECCP, &[]),
    with("host.transport.strain_threshold", &["eccp"], ECCP, &[]),
    with("host.transport.noise_slope", &["eccp"], ECCP, &["100", "10000"]),
    with("host.transport.noise_offset", &["eccp"], ECCP, &[]),
    with("host.transport.initial_slope_variance", &["eccp"], ECCP, &[]),
    with("host.transport.initial_offset_variance", &["eccp"], ECCP, &["0.01", "0.0001"]),
    with("host.transport.cnp", &["eccp"], ECCP, &[]),
    with("host.transport.byte_counter", &["eccp"], ECCP, &[]),
    with("host.transport.increase_timer", &["eccp"], ECCP, &[]),
    with("host.transport.recovery_stages", &["eccp"], ECCP, &[]),
    with("host.transport.additive_increase", &["eccp"], ECCP, &[]),
    with("host.transport.hyper_increase", &["eccp"], ECCP, &[]),
    with("host.transport.min_rate", &["eccp"], ECCP, &[]),
    with("host.transport.count_probes", &["eccp"], ECCP_MEASURED, &["false"]),
    with("host.transport.best_trains", &["eccp"], ECCP_LATER, &["1"]),
    with("host.transport.strain_variance", &["eccp"], ECCP_NOISY, &["pairs"]),
    with("host.transport.increase_before_cut", &["eccp"], ECCP, &["false"]),
    with("host.transport.additive_after", &["eccp"], ECCP, &["1", "2"]),
    with("host.transport.hyper_after", &["eccp"], ECCP, &["0", "2"]),
    with("host.transport.min_payload", &[], RANDOM_PAYLOAD, &["800B"]),
    with("host.transport.max_payload", &[], RANDOM_PAYLOAD, &["1200B"]),
];

pub fn all() -> impl Iterator<Item = &'static Case> {
    CASES.iter()
}

/// Returns the cases of `location`: the first case that applies, and further cases for the same variants.
pub fn cases(location: &KeyLocation) -> Vec<&'static Case> {
    let Some(first) = all().find(|case| case.fits(location)) else { return Vec::new() };
    all().filter(|case| case.fits(location) && case.of == first.of).collect()
}

/// Returns whether an entry for `key` and the table variants `of` (empty: all variants) applies to `location`.
fn is_of(location: &KeyLocation, key: &str, of: &[&str]) -> bool {
    key == location.path && (of.is_empty() || location.variant.is_some_and(|variant| of.contains(&variant)))
}

/// Returns the refusal of `location`, if any.
pub fn refusal(location: &KeyLocation) -> Option<&'static Refusal> {
    REFUSALS.iter().find(|refusal| is_of(location, refusal.key, refusal.of))
}

/// Returns the exception of `location`, if any.
pub fn exception(location: &KeyLocation) -> Option<&'static Exception> {
    EXCEPTIONS.iter().find(|exception| is_of(location, exception.key, exception.of))
}
