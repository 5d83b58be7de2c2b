//! Keys of `[switch]`.

use super::*;

const S: &str = "switch";
const FC: &str = "switch.flow_control";
const W: &str = "switch.watchdog";
const O: &str = "switch.overload";
const T: &str = "switch.tags";
const TRIM: &[&str] = &["trim", "pipeline-trim"];
const P: &[&str] = &["pipeline-trim"];
/// Every kind of flow control but none.
const CONTROLS: &[&str] = &["pause", "pfc", "cbfc", "florax", "destination", "simple"];
const STOP: &[&str] = &["pause", "pfc"];
/// The output decides.
const GUARD: &[&str] = &["florax", "destination", "simple"];
const TABLE: &[&str] = &["florax", "destination"];
const REACT: &[&str] = &["pause", "pfc", "simple"];
const NO_NUMBER: &str = "choice of this project: the FLORAX paper gives no number";
const TRIMS: &[&str] = &["trim", "cut-payload", "sfc", "pipeline-trim"];
const MECHANISM: Of = Of("a table with `kind`", "{}");
const RATE: Of = Of("a rate", "\"100Gbps\"");

pub(super) const KEYS: &[Key] = &[
    key(S, "buffer", &["shared"], SIZE)
        .value("16MB", "choice of this project: what single-chip switches of 3.2 Tbps hold")
        .means("one buffer for all ports, headroom included"),
    key(S, "egress", &["shared"], Of("a size, or a share of the free buffer", "\"1/8\""))
        .value("1", "Choudhury and Hahne, 1998")
        .means("the most that an egress queue of a lossy class may hold: bytes, or alpha such as \"1/8\" times what is free"),
    key(S, "queue", &["per queue"], Of("a size, a number of packets, or a table of normal and bounce", "\"500 packets\""))
        .absent("one shared buffer", OURS)
        .means(
            "room of each egress queue, instead of a shared buffer; { normal = ..., bounce = ... } where frames bounce, \
             of which one value sets both",
        ),
    key(S, "flow_control", &[], MECHANISM).value("none", OURS).means("when a switch stops its neighbours"),
    key(S, "watchdog", &[], Of("a table", "{}"))
        .absent("none", OURS)
        .means("what ends pauses, of PAUSE or PFC, that last too long: a watchdog at every queue of every switch"),
    key(W, "detect", &[], TIME)
        .value("200ms", "SONiC: the usual detection time")
        .means("a queue stopped this long without a break is in a storm, above zero"),
    key(W, "restore", &[], TIME)
        .value("200ms", "SONiC: the usual restoration time")
        .means("the storm is over when no pause was in force for this long, above zero"),
    key(W, "action", &[], Of("drop or forward", "\"forward\""))
        .value("drop", "SONiC: drop is the default")
        .means("what becomes of the queue's frames in a storm: they are dropped, or leave whatever the pauses say"),
    key(S, "overload", &[], MECHANISM).value("drop", OURS).means("what becomes of a frame that finds no room"),
    key(S, "marking", &[], MECHANISM).value("none", OURS).means("how frames are marked"),
    key(S, "scheduler", &[], MECHANISM)
        .value("strict", "IEEE 802.1Q-2022, 8.6.8.1")
        .means("which class a port serves next; hosts use the same"),
    key(S, "tags", &[], MECHANISM).value("none", OURS).means("how a frame's class changes on its way"),
    key(FC, "kind", &[], TEXT).value("none", OURS).means("none, pause (802.3x: the whole port), pfc (802.1Qbb: per class), cbfc (credits per class), or what the output decides: \
             florax (by flow), destination (by destination), simple (802.3x)"),
    key(FC, "priorities", &["pfc", "cbfc"], Of("a list of classes", "[3]")).means("the lossless classes, 0 to 7"),
    key(FC, "xoff", STOP, Of("auto, a size, or a share of the free buffer", "\"100KB\""))
        .value("auto", "auto is alpha 1/8, the shift by 3 of HPCC's ns-3 fork")
        .means("an ingress account above this stops the neighbour: bytes, or alpha times the free buffer"),
    key(FC, "xon", STOP, SIZE)
        .value("3KB", "HPCC's ns-3 fork")
        .means("how far below XOFF an account must fall to resume"),
    key(FC, "headroom", STOP, Of("auto or a size", "\"50KB\""))
        .value("auto", "802.1Qbb, annex O, with one more frame: that which passes XOFF counts against it")
        .means("room of each lossless account beyond XOFF; auto computes it from rate, delay, MTU and reaction"),
    key(FC, "quanta", STOP, COUNT)
        .value("65535", "IEEE 802.3, annex 31B: the longest pause")
        .means("how long a pause lasts from its reception unless renewed, in 512 bit times, 1 to 65535"),
    key(FC, "upper", GUARD, SHARE)
        .value("0.5", NO_NUMBER)
        .means("share of a port's buffer (switch.queue) above which it stops others, 0 to 1, above `lower`"),
    key(FC, "lower", GUARD, SHARE)
        .value("0.25", NO_NUMBER)
        .means("share of a port's buffer below which everybody may go on, above 0"),
    key(FC, "max_upper", &["florax"], SHARE)
        .value("0.8", "FLORAX, section 4.2.2: against overflow, so what is on its way must fit above it; the number is ours")
        .means("share of a port's buffer above which every flow is blocked, from `upper` to 1"),
    key(FC, "raise", &["florax"], SHARE)
        .value("0.1", "choice of this project: FLORAX, section 4.2.2, resets the upper threshold, so something raises it")
        .means("share of `upper` by which it rises, up to `max_upper`, when flows were stopped, until they may go on"),
    key(FC, "burst_gap", GUARD, TIME)
        .value("10ms", NO_NUMBER)
        .means("silence after which a burst is over and a flow no longer counts, above 0"),
    key(FC, "expiry", &["simple"], Of("auto or a time", "\"300us\""))
        .value("auto", "IEEE 802.3, annex 31B: the longest pause")
        .means(
            "how long a PAUSE lasts without a resume, above 0; auto is 65535 quanta of the fastest link, told again at half \
             time while the port is long",
        ),
    key(FC, "expiry", TABLE, TIME)
        .value("20ms", "FLORAX, section 4.2.2: a hedge against lost XONs, so normally the XON is first; the number is ours")
        .means("how long an XOFF lasts without an XON, above 0; longer than a full buffer takes to drain"),
    key(FC, "grace", &["florax"], Of("auto or a time", "\"100us\""))
        .value("auto", "choice of this project: the paper does not say from when on it drops what comes despite an XOFF")
        .means("how long after an XOFF a flow's excess still passes; auto is the link's round trip and three frames"),
    key(FC, "flows", TABLE, COUNT)
        .value("4096", "choice of this project: address tables of the paper's time")
        .means("entries of a port's flow table, at least 1; what finds no place is stopped without being remembered"),
    key(FC, "reaction", REACT, Of("standard or a time", "\"500ns\""))
        .value("standard", "802.3, annex 31B.3.7: the most that it allows, by rate")
        .means(
            "from the arrival of a pause to its effect, and what computed headroom reserves for that; a time may be in bits, \
             `3840 bit times`, or quanta",
        ),
    key(FC, "credits", &["cbfc"], Of("auto or a size", "\"20KB\""))
        .value("auto", "rate x round trip (Katevenis, 1997), with the frames that this takes in whole")
        .means(
            "room set aside for each lossless class at the far end of each link, at least the largest frame; auto \
             computes what keeps the link full",
        ),
    key(FC, "update", &["cbfc"], Of("auto or a size", "\"4KB\""))
        .value("auto", OURS)
        .means("room that must have come free before it is granted, while the neighbour lacks none; auto is the largest frame"),
    key(FC, "regrant", &["cbfc"], TIME)
        .value("100us", "the order of InfiniBand's 65,536 symbol times")
        .means("how often every port repeats its credits, above zero"),
    key(FC, "except", CONTROLS, Of("a list of switches", "[\"S1\", \"S2\"]"))
        .value("none", OURS)
        .means(
            "switches that take no part: they neither send nor obey its frames, which end there, and drop frames of every \
             class that find no room",
        ),
    key(FC, "tiers", CONTROLS, Of("all or a list of tiers", "[1]"))
        .value("all", OURS)
        .means("the tiers whose switches take part: 1 ToR or leaf, 2 aggregation or spine, 3 core"),
    key(O, "kind", &[], TEXT)
        .value("drop", OURS)
        .means(
            "drop, bounce (PABO: back towards the source), detour (DIBS: by a random other port), trim (NDP: the header \
             goes on ahead), cut-payload (CP: the header keeps its place), sfc (SFC: the header goes back) or pipeline-trim (as \
             trim, with what programmable switches have)",
        ),
    key(O, "theta", &["bounce"], SHARE)
        .value("0.8", "PABO, section V-B; 0.95 in its section VI")
        .means("utilisation of a sub-queue up to which nothing bounces, 0 to 1; 1 bounces only when it is full"),
    key(O, "lambda", &["bounce"], Of("a number", "50"))
        .value("50", "PABO, section V-B")
        .means("how steeply the probability to bounce rises above theta and falls with each bounce, at least 0"),
    key(O, "return", &["bounce"], Of("arrival-port or source-lookup", "\"source-lookup\""))
        .value("arrival-port", "PABO, section II-C: the same on a tree; elsewhere only this retraces the path")
        .means("the way back: by the port where the frame first came in, or by the switch's own route to its source"),
    key(O, "utilisation", &["bounce"], Of("sub-queue or fuller", "\"fuller\""))
        .value("sub-queue", "PABO, table I, which only this reproduces")
        .means("what theta is compared with: how full the queue is that the frame would enter, or the fuller of its pair"),
    key(O, "limit", &["bounce"], COUNT)
        .absent("none", "PABO has none")
        .means("bounces of a frame, 1 to 255, after which it is queued while there is room, and else lost"),
    key(O, "priorities", &["bounce"], Of("a list of classes", "[0]"))
        .absent("all that no flow control owns", OURS)
        .means("the classes that bounce, 0 to 7"),
    key(O, "size", TRIMS, SIZE)
        .value("64B", "NDP's header as the trimming paper's simulations have it; SONiC 128 B and more, as the chip allows")
        .means("length of what is left of a frame, FCS included: at least its headers, and less than the largest frame"),
    key(O, "header_class", &["trim", "sfc", "pipeline-trim"], COUNT)
        .value("7", "NDP, section 3.1: a queue of higher priority; the number is a choice of this project")
        .means("the class in whose queue headers wait, 0 to 7; switch.scheduler says what priority that is"),
    key(O, "header_queue", TRIMS, Of("a size or a number of packets", "\"100KB\""))
        .absent("1MB beside switch.queue", "what the trimming paper's simulations leave open")
        .means(
            "room of the queue that headers wait in, beside switch.queue; a shared buffer gives it what it gives any \
             lossy queue",
        ),
    key(O, "victim", &["trim"], Of("arriving, tail or coin", "\"coin\""))
        .value("arriving", "the trimming paper; coin: NDP, section 3.1, against phase effects")
        .means("which payload is cut: of the frame that finds no room, of the youngest in the queue, or of either at random"),
    key(O, "header_full", TRIM, Of("return or drop", "\"drop\""))
        .value("return", "NDP, section 3.2.4; SONiC drops")
        .means("what becomes of a header that finds no room: back to its source, or lost"),
    key(O, "watermark", &["sfc"], Of("a size or a number of packets", "\"8 packets\""))
        .absent("a full queue", "the trimming paper, section 2: a threshold, whose number is left open")
        .means("a frame that finds this much in its queue goes back as a header, at most switch.queue"),
    key(O, "tiers", &["trim", "cut-payload", "sfc"], Of("all or a list of tiers", "[1]"))
        .value("all", OURS)
        .means("the tiers whose switches trim: 1 ToR or leaf, 2 aggregation or spine, 3 core; the others drop"),
    key(O, "priorities", TRIMS, Of("a list of classes", "[0]"))
        .absent("all that no flow control owns", "SONiC: lossy queues only")
        .means("the classes whose frames are trimmed, 0 to 7"),
    key(O, "model", P, Of("tofino, switch-p4, dod, mod or tofino2", "\"tofino\""))
        .value("tofino", "Popa et al., sections 3, 5 and 6.1")
        .means(
            "three meters, deflection and signals; two meters and a 32-bit stamp; meters deaf to signals; headers mirrored \
             on drop; or a look at the queue at ingress",
        ),
    key(O, "pipelines", P, COUNT)
        .value("4", "Popa et al., section 3; eight for Tofino 2")
        .means("ingress pipelines of a switch, 1 to 64, at most as many as it has ports"),
    key(O, "ports_per_pipeline", P, COUNT)
        .absent("as many as share the ports evenly", "Popa et al., section 3: sixteen")
        .means("consecutive ports of a pipeline, at least 1; ports beyond the last pipeline begin again with the first"),
    key(O, "recirculation_rate", P, RATE)
        .value("100Gbps", "Popa et al., sections 3 and 6.1")
        .means("rate of the recirculation port of each pipeline"),
    key(O, "recirculation_latency", P, TIME)
        .value("1us", "Popa et al., section 6.2")
        .means("from the last bit on that port to the ingress of the same pipeline"),
    key(O, "recirculation_queue", P, Of("a size or a number of packets", "\"250 packets\""))
        .absent("no limit: its longest is measured", "not given")
        .means("room before each recirculation port; beyond it frames are lost as `deflect queue full`"),
    key(O, "pessimistic", P, TIME)
        .value("6us", "Popa et al., section 6.2")
        .means("how long after a signal a pipeline lets only its share of a port's rate through: tofino, switch-p4"),
    key(O, "half", P, TIME)
        .value("18us", "Popa et al., section 6.2; section 4 says 6 us")
        .means("how long after that it lets half of the rate through: tofino, switch-p4"),
    key(O, "half_share", P, Of("a part", "\"1/2\""))
        .value("1/2", "Popa et al., section 4")
        .means("the part of the rate that is let through then, above 0, at most 1"),
    key(O, "pessimistic_share", P, Of("a part", "\"1/4\""))
        .absent("1 of as many as there are pipelines", "Popa et al., section 4: 25 of 100 Gbps with four pipelines")
        .means("the part that a pessimistic pipeline lets through, above 0, at most 1"),
    key(O, "meter_burst", P, SIZE)
        .value("12160B", "not given; 8 frames of 1500 B and 20 B of preamble and gap")
        .means("what the bucket of each meter holds, in bytes on the wire, at least a frame, at most 2MB"),
    key(O, "response", P, Of("meter, all or next", "\"all\""))
        .value("meter", "Popa et al., section 4")
        .means(
            "what a pessimistic pipeline does: meter to its share, trim all, or, instead of any time, trim the next packets \
             after each signal: tofino",
        ),
    key(O, "trim_next", P, COUNT)
        .value("12", "Popa et al., section 4: a recirculation port can be overloaded 12 times")
        .means("response next: how many packets each signal has trimmed, at least 1"),
    key(O, "notify", P, Of("all or origin", "\"origin\""))
        .value("all", "Popa et al., section 4")
        .means("which pipelines hear of a deflected packet: all, or the one by which it came"),
    key(O, "signal_delay", P, TIME)
        .absent("as recirculation_latency", "Popa et al., section 6.2: at dequeue, to all at once; ndp.p4 goes round twice")
        .means("from the moment when a packet leaves the recirculation queue until pipelines act on it"),
    key(O, "timestamp", P, Of("wrapping or as-listed", "\"wrapping\""))
        .value("wrapping", "Popa et al., section 5: as-listed, which fails when the clock wraps")
        .means("how stamps of 32 bits are compared: by their difference, or as the paper lists it: switch-p4"),
    key(O, "clock", P, COUNT)
        .value("0", OURS)
        .means("what the clock of 1 ns shows at time zero, 0 to 4294967295: switch-p4"),
    key(O, "stages", P, COUNT)
        .value("4", "Popa et al., section 3")
        .means("stages between the look at the queue and the queue, 0 to 64: tofino2"),
    key(O, "cycle", P, TIME)
        .value("1ns", "not given: a pipeline that takes 1000 million packets a second")
        .means("time of a stage; a pipeline takes one packet a cycle: tofino2"),
    key(T, "kind", &[], TEXT).value("none", OURS).means("none, or tagger: the class of a frame is its tag, which rules rewrite"),
    key(T, "rules", &["tagger"], Of("a file", "\"rules.json\""))
        .absent("as `algorithm`", OURS)
        .means("a rule file for this fabric, relative to the scenario's folder; one of rules and algorithm"),
    key(T, "algorithm", &["tagger"], Of("clos, merge or one-per-hop", "\"clos\""))
        .absent("as `rules`", OURS)
        .means(
            "clos: one tag more at every turn from down to up; merge: tags of one a hop, merged greedily (Algorithm 2); \
             one-per-hop: one tag more at every hop (Algorithm 1)",
        ),
    key(T, "paths", &["tagger"], Of("shortest, up-down or trees", "\"up-down\""))
        .value("shortest", OURS)
        .means(
            "algorithms merge and one-per-hop: the paths that must not lose: all shortest ones, those that climb the \
             tiers and come down, or a tree of shortest paths to each switch",
        ),
    key(T, "bounces", &["tagger"], COUNT)
        .value("1", "Tagger (CoNEXT 2017), 4.3: shortest and one-bounce paths")
        .means("how many turns from down to up stay lossless, 0 to 6: algorithm clos, or paths up-down"),
    key(T, "classes", &["tagger"], COUNT)
        .value("1", OURS)
        .means("application classes that share the tags, 1 to 7; class c starts with tag c"),
    key(T, "egress", &["tagger"], Of("new-tag or arriving-tag", "\"new-tag\""))
        .value("new-tag", "Tagger (CoNEXT 2017), section 7")
        .means(
            "whose queue a rewritten frame waits in; arriving-tag is how switches do it by default, and loses frames: \
             the pause of the new class does not reach them",
        ),
    key(S, "override", &[], Of("tables", "[]"))
        .absent("none", OURS)
        .means("what some switches do otherwise; of several that concern a switch, the last decides"),
    key("switch.override", "switches", &[], Of("a list of switches", "[\"S1\", \"S2\"]"))
        .absent("those of `tiers`", OURS)
        .means("which switches, by name"),
    key("switch.override", "tiers", &[], Of("all or a list of tiers", "[1]"))
        .absent("those of `switches`", OURS)
        .means("the switches of these tiers: 1 ToR or leaf, 2 aggregation or spine, 3 core"),
    key("switch.override", "marking", &[], Of("a table with `kind`", "{}"))
        .absent("switch.marking", OURS)
        .means("how they mark, with the keys of switch.marking"),
    key("switch.override", "scheduler", &[], Of("a table with `kind`", "{}"))
        .absent("switch.scheduler", OURS)
        .means("how their ports choose among classes, with the keys of switch.scheduler"),
    key("switch.marking", "kind", &[], TEXT).value("none", OURS).means("none or ecn"),
    key("switch.marking", "k_min", &["ecn"], SIZE)
        .means("a frame with up to this many bytes before it in its queue, or behind it at dequeue, is not marked"),
    key("switch.marking", "k_max", &["ecn"], SIZE)
        .absent("k_min: a step", "DCTCP (SIGCOMM 2010), 3.1")
        .means("a frame with more than this is marked; at least k_min"),
    key("switch.marking", "p_max", &["ecn"], SHARE)
        .value("1", "DCQCN (SIGCOMM 2015), figure 5")
        .means("probability just below k_max, rising linearly from 0 at k_min"),
    key("switch.marking", "rate", &["ecn"], RATE)
        .absent("all ports have the same thresholds", OURS)
        .means("the rate of the ports that the thresholds are for; ports of other rates have them in proportion"),
    key("switch.marking", "at", &["ecn"], Of("enqueue or dequeue", "\"dequeue\""))
        .value("enqueue", "RED (Floyd and Jacobson, 1993); dequeue: simulators of the HPCC family")
        .means("when the queue is looked at: as a frame joins it, by what is before it, or as the frame leaves, by what is behind"),
    key("switch.scheduler", "kind", &[], TEXT).value("strict", OURS).means("strict (highest class first), wrr or drr"),
    key("switch.scheduler", "weights", &["wrr"], Of("eight numbers, or a table of class and number", "[1, 1, 1, 4, 1, 1, 1, 1]"))
        .means("frames of each class 0 to 7 a round, at least 1; a table names some classes and leaves 1 to the others"),
    key("switch.scheduler", "quanta", &["drr"], Of("eight sizes, or a table of class and size", "{ 3 = \"6KB\" }"))
        .means("bytes of each class 0 to 7 a round (Shreedhar and Varghese, 1996); a table leaves 1518B to the others"),
];
