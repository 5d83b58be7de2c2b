//! Keys of `[switch]`.

use super::*;

const S: &str = "switch";
const FC: &str = "switch.flow_control";
const O: &str = "switch.overload";
const T: &str = "switch.tags";
const MECHANISM: ValueSyntax = ValueSyntax("a table with `kind`", "{}");

pub(super) const KEYS: &[Key] = &[
    key(
        S,
        "queue",
        &["per queue"],
        ValueSyntax("a size, a number of packets, or a table of normal and bounce", "\"500 packets\""),
    )
    .absent("one shared buffer", OURS)
    .means(
        "limit of each egress queue, instead of a shared buffer; with overload = bounce { normal = ..., bounce = ... \
         }, or one value for both",
    ),
    key(S, "flow_control", &[], MECHANISM).value("none", OURS).means("flow control between neighbours"),
    key(S, "watchdog", &[], ValueSyntax("a table", "{}"))
        .absent("none", OURS)
        .means("watchdog at every queue of every switch, for pauses by PAUSE or PFC that last too long"),
    key(S, "overload", &[], MECHANISM).value("drop", OURS).means("action for a frame without buffer space"),
    key(S, "marking", &[], MECHANISM).value("none", OURS).means("marking of frames"),
    key(S, "scheduler", &[], MECHANISM)
        .value("strict", "IEEE 802.1Q-2022, 8.6.8.1")
        .means("scheduler of the classes at a port, also at hosts"),
    key(S, "tags", &[], MECHANISM).value("none", OURS).means("changes of a frame's class at switches"),
    key(FC, "kind", &[], TEXT).value("none", OURS).means(
        "none, pause (802.3x: the whole port), pfc (802.1Qbb: per class), cbfc (credits per class), or decided at the \
         output: florax (per flow), destination (per destination), pause-at-output (802.3x)",
    ),
    key(O, "kind", &[], TEXT).value("drop", OURS).means(
        "drop, bounce (PABO: back towards the source), detour (DIBS: by a random other port), trim (NDP: the header \
         overtakes data), cut-payload (CP: the header stays in the queue), sfc (SFC: the header returns to its source) \
         or pipeline-trim (like trim, by features of programmable switches)",
    ),
    key(T, "kind", &[], TEXT).value("none", OURS).means(
        "none; tagger: the class of a frame is its tag, which rules rewrite; qos-maps: account, queue and next class \
             of a frame by tables, as `tidegate fabric check --running --counterexample` writes them",
    ),
    key(S, "override", &[], ValueSyntax("tables", "[]"))
        .absent("none", OURS)
        .means("parameters of some switches; the last entry for a switch applies"),
    key("switch.override", "switches", &[], ValueSyntax("a list of switches", "[\"S1\", \"S2\"]"))
        .absent("those of `tiers`", OURS)
        .means("the switches, by name"),
    key("switch.override", "tiers", &[], ValueSyntax("all or a list of tiers", "[1]"))
        .absent("those of `switches`", OURS)
        .means("the switches of these tiers: 1 ToR or leaf, 2 aggregation or spine, 3 core"),
    key("switch.override", "ports", &[], ValueSyntax("a list of ports", "[\"S1:3\"]"))
        .absent("all ports of the switches", OURS)
        .means("ports instead of switches, by number or neighbour (`S1:H2`), for marking and the scheduler"),
    key("switch.override", "buffer", &[], SIZE).absent("switch.buffer", OURS).means("their shared buffer, above 0"),
    key("switch.override", "egress_threshold", &[], ValueSyntax("a size, or a share of the free buffer", "\"1/8\""))
        .absent("switch.egress_threshold", OURS)
        .means("limit of a lossy egress queue in their shared buffer"),
    key("switch.override", "queue", &[], ValueSyntax("a size or a number of packets", "\"100KB\""))
        .absent("switch.queue", OURS)
        .means("limit of each of their egress queues, without a shared buffer"),
    key("switch.override", "flow_control", &[], ValueSyntax("a table", "{ xoff = \"100KB\" }"))
        .absent("switch.flow_control", OURS)
        .means("their thresholds; the kind is that of all switches"),
    key(
        "switch.override.flow_control",
        "xoff",
        &[],
        ValueSyntax("auto, a size, or a share of the free buffer", "\"100KB\""),
    )
    .absent("switch.flow_control.xoff", OURS)
    .means("under PAUSE or PFC: an ingress account above this stops the neighbour"),
    key("switch.override.flow_control", "xon", &[], SIZE)
        .absent("switch.flow_control.xon", OURS)
        .means("under PAUSE or PFC: distance below XOFF to which an account must fall to resume"),
    key("switch.override.flow_control", "headroom", &[], ValueSyntax("auto or a size", "\"50KB\""))
        .absent("switch.flow_control.headroom", OURS)
        .means("under PAUSE or PFC: headroom of each lossless account above XOFF"),
    key("switch.override", "marking", &[], ValueSyntax("a table with `kind`", "{}"))
        .absent("switch.marking", OURS)
        .means("their marking, with the keys of switch.marking"),
    key("switch.override", "scheduler", &[], ValueSyntax("a table with `kind`", "{}"))
        .absent("switch.scheduler", OURS)
        .means("the scheduler of their ports, with the keys of switch.scheduler"),
    key(S, "preemption", &[], ValueSyntax("a table", "{}"))
        .absent("no frame is interrupted", OURS)
        .means("frame preemption at the ports of switches (IEEE 802.1Qbu)"),
    key(S, "clock", &[], ValueSyntax("a table", "{}"))
        .absent("exact", OURS)
        .means("bounds of each switch's random clock, drawn from the seed; its gates use this clock"),
    key(S, "clocks", &[], ValueSyntax("tables", "[]"))
        .absent("as drawn", OURS)
        .means("clocks of these switches, fixed instead of drawn"),
    key("switch.clock", "offset", &[], TIME)
        .value("0s", OURS)
        .means("lead of a clock at the start: uniform between zero and this"),
    key("switch.clock", "drift_ppm", &[], ValueSyntax("parts per million", "50"))
        .value("0", OURS)
        .means("frequency error, uniform between minus and plus this, up to 100000 with three decimals"),
    key("switch.clocks", "switches", &[], ValueSyntax("a list of switches", "[\"S1\", \"S2\"]"))
        .means("the switches, by name"),
    key("switch.clocks", "offset", &[], TIME).value("0s", OURS).means("lead of the clock at the start"),
    key("switch.clocks", "drift_ppm", &[], ValueSyntax("parts per million", "-20"))
        .value("0", OURS)
        .means("frequency error, positive if the clock is fast, -100000 to 100000 with three decimals"),
    key("switch.scheduler", "kind", &[], TEXT).value("strict", OURS).means("strict (highest class first), wrr or drr"),
];
