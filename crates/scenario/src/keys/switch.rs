//! Keys of `[switch]`.

use super::*;
use protocols::{
    cbfc, florax, pabo, pause, pipeline_trim, preemption, scheduler, shared_buffer, tagger, trim, watchdog,
};

const S: &str = "switch";
const FC: &str = "switch.flow_control";
const W: &str = "switch.watchdog";
const O: &str = "switch.overload";
const T: &str = "switch.tags";
const TRIM: &[&str] = &["trim", "pipeline-trim"];
const P: &[&str] = &["pipeline-trim"];
/// Every kind of flow control except `none`.
const CONTROLS: &[&str] = &["pause", "pfc", "cbfc", "florax", "destination", "pause-at-output"];
const STOP: &[&str] = &["pause", "pfc"];
/// Kinds of output backpressure.
const BACKPRESSURE: &[&str] = &["florax", "destination", "pause-at-output"];
const TABLE: &[&str] = &["florax", "destination"];
const REACT: &[&str] = &["pause", "pfc", "pause-at-output"];
const TRIMS: &[&str] = &["trim", "cut-payload", "sfc", "pipeline-trim"];
const MECHANISM: Of = Of("a table with `kind`", "{}");
const RATE: Of = Of("a rate", "\"100Gbps\"");

pub(super) const KEYS: &[Key] = &[
    key(S, "buffer", &["shared"], SIZE).of(&shared_buffer::MECHANISM),
    key(S, "egress", &["shared"], Of("a size, or a share of the free buffer", "\"1/8\"")).of(&shared_buffer::MECHANISM),
    key(
        S,
        "queue",
        &["per queue"],
        Of("a size, a number of packets, or a table of normal and bounce", "\"500 packets\""),
    )
    .absent("one shared buffer", OURS)
    .means(
        "limit of each egress queue, instead of a shared buffer; with overload = bounce { normal = ..., bounce = ... \
         }, or one value for both",
    ),
    key(S, "flow_control", &[], MECHANISM).value("none", OURS).means("flow control between neighbours"),
    key(S, "watchdog", &[], Of("a table", "{}"))
        .absent("none", OURS)
        .means("watchdog at every queue of every switch, for pauses by PAUSE or PFC that last too long"),
    key(W, "detect", &[], TIME).of(&watchdog::MECHANISM),
    key(W, "restore", &[], TIME).of(&watchdog::MECHANISM),
    key(W, "action", &[], Of("drop or forward", "\"forward\"")).of(&watchdog::MECHANISM),
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
    key(FC, "priorities", &["pfc", "cbfc"], Of("a list of classes", "[3]")).of(&pause::PFC),
    key(FC, "xoff", STOP, Of("auto, a size, or a share of the free buffer", "\"100KB\"")).of(&pause::PAUSE),
    key(FC, "xon", STOP, SIZE).of(&pause::PAUSE),
    key(FC, "headroom", STOP, Of("auto or a size", "\"50KB\"")).of(&pause::PAUSE),
    key(FC, "quanta", STOP, COUNT).of(&pause::PAUSE),
    key(FC, "upper", BACKPRESSURE, SHARE).of(&florax::FLORAX),
    key(FC, "lower", BACKPRESSURE, SHARE).of(&florax::FLORAX),
    key(FC, "max_upper", &["florax"], SHARE).of(&florax::FLORAX),
    key(FC, "raise", &["florax"], SHARE).of(&florax::FLORAX),
    key(FC, "burst_gap", BACKPRESSURE, TIME).of(&florax::FLORAX),
    key(FC, "expiry", &["pause-at-output"], Of("auto or a time", "\"300us\"")).of(&florax::PAUSE_AT_OUTPUT),
    key(FC, "expiry", TABLE, TIME).of(&florax::FLORAX),
    key(FC, "grace", &["florax"], Of("auto or a time", "\"100us\"")).of(&florax::FLORAX),
    key(FC, "flows", TABLE, COUNT).of(&florax::FLORAX),
    key(FC, "reaction", REACT, Of("standard or a time", "\"500ns\"")).of(&pause::PAUSE),
    key(FC, "credits", &["cbfc"], Of("auto or a size", "\"20KB\"")).of(&cbfc::MECHANISM),
    key(FC, "update", &["cbfc"], Of("auto or a size", "\"4KB\"")).of(&cbfc::MECHANISM),
    key(FC, "regrant", &["cbfc"], TIME).of(&cbfc::MECHANISM),
    key(FC, "except", CONTROLS, Of("a list of switches", "[\"S1\", \"S2\"]")).of(&pause::PAUSE),
    key(FC, "tiers", CONTROLS, Of("all or a list of tiers", "[1]")).of(&pause::PAUSE),
    key(O, "kind", &[], TEXT).value("drop", OURS).means(
        "drop, bounce (PABO: back towards the source), detour (DIBS: by a random other port), trim (NDP: the header \
         overtakes data), cut-payload (CP: the header stays in the queue), sfc (SFC: the header returns to its source) \
         or pipeline-trim (like trim, by features of programmable switches)",
    ),
    key(O, "theta", &["bounce"], SHARE).of(&pabo::MECHANISM),
    key(O, "lambda", &["bounce"], Of("a number", "50")).of(&pabo::MECHANISM),
    key(O, "return", &["bounce"], Of("arrival-port or source-lookup", "\"source-lookup\"")).of(&pabo::MECHANISM),
    key(O, "utilisation", &["bounce"], Of("sub-queue or fuller", "\"fuller\"")).of(&pabo::MECHANISM),
    key(O, "limit", &["bounce"], COUNT).of(&pabo::MECHANISM),
    key(O, "priorities", &["bounce"], Of("a list of classes", "[0]")).of(&pabo::MECHANISM),
    key(O, "size", TRIMS, SIZE).of(&trim::MECHANISM),
    key(O, "header_class", &["trim", "sfc", "pipeline-trim"], COUNT).of(&trim::MECHANISM),
    key(O, "header_queue", &["trim", "sfc", "pipeline-trim"], Of("a size or a number of packets", "\"100KB\""))
        .of(&trim::MECHANISM),
    key(O, "header_queue", &["cut-payload"], Of("a size or a number of packets", "\"100KB\"")).of(&trim::CUT_PAYLOAD),
    key(O, "victim", &["trim"], Of("arriving, tail or coin", "\"coin\"")).of(&trim::MECHANISM),
    key(O, "header_full", TRIM, Of("return or drop", "\"drop\"")).of(&trim::MECHANISM),
    key(O, "watermark", &["sfc"], Of("a size or a number of packets", "\"8 packets\"")).of(&trim::SFC),
    key(O, "tiers", &["trim", "cut-payload", "sfc"], Of("all or a list of tiers", "[1]")).of(&trim::MECHANISM),
    key(O, "priorities", TRIMS, Of("a list of classes", "[0]")).of(&trim::MECHANISM),
    key(O, "model", P, Of("tofino, switch-p4, dod, mod or tofino2", "\"tofino\"")).of(&pipeline_trim::MECHANISM),
    key(O, "pipelines", P, COUNT).of(&pipeline_trim::MECHANISM),
    key(O, "ports_per_pipeline", P, COUNT).of(&pipeline_trim::MECHANISM),
    key(O, "recirculation_rate", P, RATE).of(&pipeline_trim::MECHANISM),
    key(O, "recirculation_latency", P, TIME).of(&pipeline_trim::MECHANISM),
    key(O, "recirculation_queue", P, Of("a size or a number of packets", "\"250 packets\""))
        .of(&pipeline_trim::MECHANISM),
    key(O, "pessimistic", P, TIME).of(&pipeline_trim::MECHANISM),
    key(O, "half", P, TIME).of(&pipeline_trim::MECHANISM),
    key(O, "half_share", P, Of("a part", "\"1/2\"")).of(&pipeline_trim::MECHANISM),
    key(O, "pessimistic_share", P, Of("a part", "\"1/4\"")).of(&pipeline_trim::MECHANISM),
    key(O, "meter_burst", P, SIZE).of(&pipeline_trim::MECHANISM),
    key(O, "response", P, Of("meter, all or next", "\"all\"")).of(&pipeline_trim::MECHANISM),
    key(O, "trim_next", P, COUNT).of(&pipeline_trim::MECHANISM),
    key(O, "notify", P, Of("all or origin", "\"origin\"")).of(&pipeline_trim::MECHANISM),
    key(O, "signal_delay", P, TIME).of(&pipeline_trim::MECHANISM),
    key(O, "timestamp", P, Of("wrapping or as-listed", "\"wrapping\"")).of(&pipeline_trim::MECHANISM),
    key(O, "clock", P, COUNT).of(&pipeline_trim::MECHANISM),
    key(O, "stages", P, COUNT).of(&pipeline_trim::MECHANISM),
    key(O, "cycle", P, TIME).of(&pipeline_trim::MECHANISM),
    key(T, "kind", &[], TEXT)
        .value("none", OURS)
        .means("none, or tagger: the class of a frame is its tag, which rules rewrite"),
    key(T, "rules", &["tagger"], Of("a file", "\"rules.json\"")).of(&tagger::MECHANISM),
    key(T, "algorithm", &["tagger"], Of("clos, merge or one-per-hop", "\"clos\"")).of(&tagger::MECHANISM),
    key(T, "paths", &["tagger"], Of("shortest, up-down or trees", "\"up-down\"")).of(&tagger::MECHANISM),
    key(T, "bounces", &["tagger"], COUNT).of(&tagger::MECHANISM),
    key(T, "classes", &["tagger"], COUNT).of(&tagger::MECHANISM),
    key(T, "egress", &["tagger"], Of("new-tag or arriving-tag", "\"new-tag\"")).of(&tagger::MECHANISM),
    key(S, "override", &[], Of("tables", "[]"))
        .absent("none", OURS)
        .means("parameters of some switches; the last entry for a switch applies"),
    key("switch.override", "switches", &[], Of("a list of switches", "[\"S1\", \"S2\"]"))
        .absent("those of `tiers`", OURS)
        .means("the switches, by name"),
    key("switch.override", "tiers", &[], Of("all or a list of tiers", "[1]"))
        .absent("those of `switches`", OURS)
        .means("the switches of these tiers: 1 ToR or leaf, 2 aggregation or spine, 3 core"),
    key("switch.override", "ports", &[], Of("a list of ports", "[\"S1:3\"]"))
        .absent("all ports of the switches", OURS)
        .means("ports instead of switches, by number or neighbour (`S1:H2`), for marking and the scheduler"),
    key("switch.override", "buffer", &[], SIZE).absent("switch.buffer", OURS).means("their shared buffer, above 0"),
    key("switch.override", "egress", &[], Of("a size, or a share of the free buffer", "\"1/8\""))
        .absent("switch.egress", OURS)
        .means("limit of a lossy egress queue in their shared buffer"),
    key("switch.override", "queue", &[], Of("a size or a number of packets", "\"100KB\""))
        .absent("switch.queue", OURS)
        .means("limit of each of their egress queues, without a shared buffer"),
    key("switch.override", "flow_control", &[], Of("a table", "{ xoff = \"100KB\" }"))
        .absent("switch.flow_control", OURS)
        .means("their thresholds; the kind is that of all switches"),
    key("switch.override.flow_control", "xoff", &[], Of("auto, a size, or a share of the free buffer", "\"100KB\""))
        .absent("switch.flow_control.xoff", OURS)
        .means("under PAUSE or PFC: an ingress account above this stops the neighbour"),
    key("switch.override.flow_control", "xon", &[], SIZE)
        .absent("switch.flow_control.xon", OURS)
        .means("under PAUSE or PFC: distance below XOFF to which an account must fall to resume"),
    key("switch.override.flow_control", "headroom", &[], Of("auto or a size", "\"50KB\""))
        .absent("switch.flow_control.headroom", OURS)
        .means("under PAUSE or PFC: headroom of each lossless account above XOFF"),
    key("switch.override", "marking", &[], Of("a table with `kind`", "{}"))
        .absent("switch.marking", OURS)
        .means("their marking, with the keys of switch.marking"),
    key("switch.override", "scheduler", &[], Of("a table with `kind`", "{}"))
        .absent("switch.scheduler", OURS)
        .means("the scheduler of their ports, with the keys of switch.scheduler"),
    key(S, "preemption", &[], Of("a table", "{}"))
        .absent("no frame is interrupted", OURS)
        .means("frame preemption at the ports of switches (IEEE 802.1Qbu)"),
    key("switch.preemption", "express", &[], Of("a list of classes", "[7]")).of(&preemption::MECHANISM),
    key("switch.preemption", "fragments", &[], Of("standard or ideal", "\"ideal\"")).of(&preemption::MECHANISM),
    key(S, "clock", &[], Of("a table", "{}"))
        .absent("exact", OURS)
        .means("bounds of each switch's random clock, drawn from the seed; its gates use this clock"),
    key(S, "clocks", &[], Of("tables", "[]"))
        .absent("as drawn", OURS)
        .means("clocks of these switches, fixed instead of drawn"),
    key("switch.clock", "offset", &[], TIME)
        .value("0s", OURS)
        .means("lead of a clock at the start: uniform between zero and this"),
    key("switch.clock", "drift_ppm", &[], Of("parts per million", "50"))
        .value("0", OURS)
        .means("frequency error, uniform between minus and plus this, up to 100000 with three decimals"),
    key("switch.clocks", "switches", &[], Of("a list of switches", "[\"S1\", \"S2\"]")).means("the switches, by name"),
    key("switch.clocks", "offset", &[], TIME).value("0s", OURS).means("lead of the clock at the start"),
    key("switch.clocks", "drift_ppm", &[], Of("parts per million", "-20"))
        .value("0", OURS)
        .means("frequency error, positive if the clock is fast, -100000 to 100000 with three decimals"),
    key("switch.scheduler", "kind", &[], TEXT).value("strict", OURS).means("strict (highest class first), wrr or drr"),
    key(
        "switch.scheduler",
        "weights",
        &["wrr"],
        Of("eight numbers, or a table of class and number", "[1, 1, 1, 4, 1, 1, 1, 1]"),
    )
    .of(&scheduler::WRR),
    key("switch.scheduler", "quanta", &["drr"], Of("eight sizes, or a table of class and size", "{ 3 = \"6KB\" }"))
        .of(&scheduler::DRR),
];
