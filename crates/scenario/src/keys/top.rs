//! Keys outside fabric, switches and traffic.

use super::*;
use protocols::{cyclic, gates, shaping};

const GATES: &str = "[{ open = [7], time = \"10us\" }, { open = [0], time = \"90us\" }]";

pub(super) const KEYS: &[Key] = &[
    key("", "name", &[], TEXT).absent("the file's name", OURS).means("what results call this scenario"),
    key("", "description", &[], TEXT).absent("none", OURS).means("what it is for, in a sentence"),
    key("", "duration", &[], TIME).means("when the run ends, in simulated time, up to 20 days"),
    key("", "until", &[], Of("a word", "\"flows done\"")).absent("the duration", OURS).means(
        "`flows done`: the run ends before its duration, at the next whole 10us, once all flows that have an end have \
         ended; those of datagrams, when all were sent and, but for flows without end, no frame is under way",
    ),
    key("", "seed", &[], COUNT).value("1", OURS).means("seed of every random stream; --seed goes before it"),
    key("", "threads", &[], COUNT).value("1", OURS).means("threads, 1 to 1024; results are the same for any number"),
    key("", "fabric", &[], Of("a table", "{}")).means("hosts, switches and links"),
    key("", "routing", &[], Of("a table", "{}")).absent("its defaults", OURS).means("how frames find their way"),
    key("", "path", &[], Of("tables", "[]")).absent("none", OURS).means("paths that traffic may name"),
    key("", "fail", &[], Of("tables", "[]")).absent("none", OURS).means("links that fail"),
    key("", "route", &[], Of("tables", "[]")).absent("none", OURS).means("routes set by hand, good or bad"),
    key("", "agreement", &[], Of("tables", "[]"))
        .absent("none", OURS)
        .means("agreed rates of flows (service levels), which FLORAX weights shares by"),
    key("", "gates", &[], Of("tables", "[]"))
        .absent("none", OURS)
        .means("when ports of switches and hosts may send which class (IEEE 802.1Qbv)"),
    key("gates", "schedule", &["from a schedule"], Of("a file", "\"slots.json\"")).of(&gates::MECHANISM),
    key("gates", "node", &["as written"], Of("a switch or a host", "\"S1\"")).of(&gates::MECHANISM),
    key("gates", "to", &["as written"], Of("a list of neighbours", "[\"S2\"]")).of(&gates::MECHANISM),
    key("gates", "states", &["as written"], Of("tables of `open`, `time` and `operation`", GATES))
        .of(&gates::MECHANISM),
    key("", "cyclic", &[], Of("tables", "[]"))
        .absent("none", OURS)
        .means("ports of switches that send in each cycle what came in the one before (IEEE 802.1Qch)"),
    key("cyclic", "node", &[], Of("a switch", "\"S1\"")).of(&cyclic::MECHANISM),
    key("cyclic", "to", &[], Of("a list of neighbours", "[\"S2\"]")).of(&cyclic::MECHANISM),
    key("cyclic", "cycle", &[], Of("a time", "\"100us\"")).of(&cyclic::MECHANISM),
    key("cyclic", "classes", &[], Of("two classes", "[6, 7]")).of(&cyclic::MECHANISM),
    key("cyclic", "guard", &[], Of("a time", "\"1us\"")).of(&cyclic::MECHANISM),
    key("", "shaping", &[], Of("tables", "[]"))
        .absent("none", OURS)
        .means("how much of which ports a class may take, by credit (IEEE 802.1Qav)"),
    key("shaping", "node", &[], Of("a switch or a host", "\"S1\"")).of(&shaping::MECHANISM),
    key("shaping", "to", &[], Of("a list of neighbours", "[\"S2\"]")).of(&shaping::MECHANISM),
    key("shaping", "idle_slopes", &[], Of("rates by class", "{ 6 = \"300Mbps\" }")).of(&shaping::MECHANISM),
    key("", "switch", &[], Of("a table", "{}")).absent("its defaults", OURS).means("what switches do"),
    key("", "host", &[], Of("a table", "{}")).absent("its defaults", OURS).means("what hosts do"),
    key("", "traffic", &[], Of("tables", "[]")).means("who sends what to whom, an entry each"),
    key("", "measure", &[], Of("a table", "{}")).absent("its defaults", OURS).means("what counts in statistics"),
    key("", "record", &[], Of("a table", "{}"))
        .absent("its defaults", OURS)
        .means("what is written beside the summary"),
    key("", "check", &[], Of("a table", "{}")).absent("its defaults", OURS).means("what is watched during the run"),
    key("routing", "mode", &[], Of("shortest, two-level, up-down or explicit", "\"shortest\""))
        .value("shortest", "RFC 2992: equal-cost paths of fewest links")
        .means(
            "shortest: all shortest paths; two-level: fat-tree tables by prefix and suffix (Al-Fares et al., 2008); \
                up-down: never up again after the first step down; explicit: every flow names a path, and only replies \
                take shortest ones",
        ),
    key("routing", "root", &[], Of("a switch", "\"C1\""))
        .absent("the fabric's tiers, or the first switch", OURS)
        .means("up-down only: the root that defines what is up"),
    key("routing", "spread", &[], Of("flow, packet, path or entropy", "\"packet\""))
        .value("flow", "RFC 2992, hash threshold")
        .means(
            "how equal ports are chosen: flow: by the flow's hash; packet: anew for every frame; path: by the sender, \
             whose data frames take all paths in random order and then all again, as NDP's do; entropy: by a hash of \
             the flow and an entropy value in each data frame, as Ultra Ethernet's oblivious spraying has it (replies \
             of path and entropy: anew for every frame)",
        ),
    key("routing", "entropy_values", &[], Of("a power of two up to 65536", "256"))
        .value("64", "uet-htsim: 64 paths a flow")
        .means(
            "spread = \"entropy\" only: entropy values of a flow. Its frames take all of them in turn and then all \
             again in another order; several may lead by one path",
        ),
    key("routing", "hash_seed", &[], COUNT)
        .absent("the run's seed", "switches are told a hash seed; which flows meet is chance")
        .means(
            "which of equal ports a flow's hash means: one number fixes the paths of all flows for every seed of the \
             run",
        ),
    key("routing", "reroute", &[], Of("none or local", "\"local\""))
        .value("none", OURS)
        .means("what a switch does when every port towards a destination is down: drop, or try live neighbours"),
    key("path", "name", &[], TEXT).means("what traffic calls it"),
    key("path", "nodes", &[], Of("a list of nodes", "[\"H1\", \"S1\", \"H2\"]"))
        .means("its nodes in order, from the sending host to the receiving one"),
    key("fail", "link", &[], Of("two nodes", "[\"S1\", \"C1\"]")).means("the ends of the link"),
    key("fail", "at", &[], TIME).value("0s", OURS).means("when it fails; frames on it are lost"),
    key("fail", "until", &[], TIME).absent("for ever", OURS).means("when it works again"),
    key("route", "node", &[], TEXT).means("the switch that it is set at"),
    key("route", "to", &[], HOST).means("the destination that it is for"),
    key("route", "from", &[], HOST).absent("every source", OURS).means("the source that it is for"),
    key("route", "via", &[], Of("a list of nodes", "[\"S2\"]")).means(
        "the neighbours that frames go to, spread as over equal paths; one that cannot be reached is left alone",
    ),
    key("route", "at", &[], TIME).value("0s", OURS).means("from when"),
    key("route", "until", &[], TIME).absent("for ever", OURS).means("until when"),
    key("agreement", "from", &[], HOST).means("the source of the flow"),
    key("agreement", "to", &[], HOST).means("its destination"),
    key("agreement", "rate", &[], Of("a rate", "\"100Mbps\""))
        .means("what is agreed, on the wire, up to the rate of their links"),
    key("host", "transport", &[], Of("a table with `kind`", "{ kind = \"roce\" }"))
        .value("roce", "RoCEv2 at line rate: what lossless Ethernet carries unless told otherwise")
        .means("what carries flows; `tidegate mechanisms` lists the parameters of each kind"),
    key("host", "reply_class", &[], COUNT)
        .absent("the class of the data", "HPCC's ns-3 fork sends ACKs in the class of the data unless told otherwise")
        .means("class of acknowledgements and notifications, 0 to 7"),
    key("host", "obeys_pause", &[], FLAG)
        .value("true", "IEEE 802.1Qbb")
        .means("whether hosts stop when they are paused"),
    key("host", "disobedient", &[], HOSTS)
        .absent("none", OURS)
        .means("hosts that go on whatever PAUSE, PFC or XOFF tells them"),
    key("host", "on_stop", &[], Of("none or halve", "\"none\""))
        .value("none", "IEEE 802.3x, 802.1Qbb: the MAC stops, and nobody tells the transport")
        .means(
            "what senders do when their host is told to stop them: nothing, or halve their window or rate, at most \
             once a round trip (FLORAX, section 5: TCP slows down)",
        ),
    key("host", "pause_storm", &[], Of("a table", "{}")).absent("none", OURS).means(
        "the pause-storm fault, a host whose network card fails so that it pauses its switch, all lossless classes, \
         and goes on doing so",
    ),
    key("host.pause_storm", "host", &[], HOST).means("which host"),
    key("host.pause_storm", "at", &[], TIME).value("0s", OURS).means("from when"),
    key("host.pause_storm", "until", &[], TIME)
        .absent("for ever", OURS)
        .means("until when it asks for pauses; the last of them lasts on"),
    key("host", "clock", &[], Of("a table", "{}"))
        .absent("exact", OURS)
        .means("bounds between which each host's clock is drawn from the seed; transports see no other clock"),
    key("host", "clocks", &[], Of("tables", "[]"))
        .absent("as drawn", OURS)
        .means("clocks of these hosts, stated instead of drawn"),
    key("host.clock", "offset", &[], TIME)
        .value("0s", OURS)
        .means("how far a clock is ahead at the start: between zero and this, uniformly"),
    key("host.clock", "drift_ppm", &[], Of("parts per million", "50"))
        .value("0", OURS)
        .means("how fast it gains or loses, uniformly between minus and plus this, up to 100000 with three decimals"),
    key("host.clocks", "hosts", &[], HOSTS).means("whose clocks: names, numbers from 0, or ranges"),
    key("host.clocks", "offset", &[], TIME).value("0s", OURS).means("how far the clock is ahead at the start"),
    key("host.clocks", "drift_ppm", &[], Of("parts per million", "-20"))
        .value("0", OURS)
        .means("how fast it gains, or below zero loses, -100000 to 100000 with three decimals"),
    key("host", "takes_back", &[], FLAG)
        .value("true", "PABO, section II-G")
        .means("whether hosts send frames again that switches bounced as far as them; without, nothing may bounce"),
    key("host", "hears_trims", &[], FLAG).value("true", "Cheng et al., NSDI 2014: hosts that know of trimming").means(
        "whether a receiver answers the header of a trimmed frame at once, and a sender heeds one that came back",
    ),
    key("host", "on_bounce", &[], Of("a table with `kind`", "{}"))
        .value("none", "PABO, section V: no host reacts")
        .means("what a sender does about frames of its own that switches bounced back to it"),
    key("host", "ttl", &[], COUNT).value("64", "RFC 1700").means("time to live of new frames, 1 to 255"),
    key("host", "notification_delay", &[], TIME)
        .absent("the least link delay", "choice of this project: what no frame can undercut")
        .means("how long one host's event takes to start a flow at another, above zero"),
    key("host.transport", "kind", &[], TEXT).value("roce", "as host.transport").means("the transport"),
    key("host.on_bounce", "kind", &[], TEXT)
        .value("none", "PABO, section V: no host reacts")
        .means("none, or halve: the window or rate of the flow, at most once a round trip"),
    key("host.on_bounce", "every", &["halve"], COUNT).of(&protocols::bounce_reaction::MECHANISM),
    key("measure", "warm_up", &[], TIME).value("0s", OURS).means("what happens before does not count in statistics"),
    key("measure", "end", &[], TIME).absent("the run's end", OURS).means("flows that start from here on do not count"),
    key("measure", "reordering", &[], FLAG)
        .value("false", OURS)
        .means("how far data frames come out of order: displacement, reorder density and entropy (RFC 5236)"),
    key("measure", "reordering_threshold", &[], COUNT)
        .value("100", "PABO, sec. IV: no frame there is displaced further than 95")
        .means("frames displaced further than this count as lost (RFC 5236: D_T), 1 to 1048576"),
    key("measure", "jitter", &[], FLAG)
        .value("false", OURS)
        .means("whether the jitter of every traffic entry is measured; that of periodic frames always is"),
    key("measure", "utilisation", &[], SHARE).absent("not measured", OURS).means(
        "how full queues of switches are, their variance, and the share of time above this share of their capacity; \
             takes queues of their own (switch.queue)",
    ),
    key("measure", "queues", &[], EVERY).value("false", OURS).means(
        "how long the queues of switches are: mean and greatest over time, and quantiles of one sample at a random \
             instant of each such interval; over all ports, and of the port with the longest queue on average",
    ),
    key("record", "queues", &[], EVERY).value("false", OURS).means("queue lengths of every port"),
    key("record", "links", &[], EVERY).value("false", OURS).means("bytes sent over every link"),
    key("record", "throughput", &[], EVERY).value("false", OURS).means("bytes delivered per traffic entry"),
    key("record", "control", &[], EVERY)
        .value("false", OURS)
        .means("what the congestion control of each flow holds: rate, window, round trip, alpha, available bandwidth"),
    key("record", "pauses", &[], FLAG).value("false", OURS).means("every pause and resume, where it is received"),
    key("record", "flows", &[], FLAG).value("true", OURS).means("a row for every flow, and fct.txt"),
    key("record", "trace", &[], Of("a table", "{ flows = [0, 3] }"))
        .absent("nothing is traced", OURS)
        .means("what happens to chosen frames, hop by hop, for `tidegate why`; an empty table traces all of them"),
    key("record", "capture", &[], Of("tables", "[{ port = \"S1:3\" }]"))
        .absent("nothing is captured", OURS)
        .means("ports whose frames are written to capture.pcapng as bytes"),
    key("record.trace", "flows", &[], Of("a list of flows", "[0, 7, \"10-19\"]"))
        .absent("all, where no ports are chosen", OURS)
        .means("flows whose frames are traced everywhere, by their number in flows.parquet"),
    key("record.trace", "ports", &[], Of("a list of ports", "[\"S1:3\", \"H2\"]"))
        .absent("all, where no flows are chosen", OURS)
        .means("ports whose frames are traced there: by number, by neighbour (`S1:H2`), or all of a node (`S1`)"),
    key("record.trace", "from", &[], TIME)
        .value("0s", OURS)
        .means("frames are traced from here on; pauses always, for they may last"),
    key("record.trace", "until", &[], TIME).absent("the run's end", OURS).means("nothing is traced from here on"),
    key("record.capture", "port", &[], Of("a port", "\"S1:3\""))
        .means("of a switch or host: by number, by neighbour (`S1:H2`), or the only one of a node (`H2`)"),
    key("record.capture", "direction", &[], Of("in, out or both", "\"both\""))
        .value("both", OURS)
        .means("frames that come in, that go out, or both"),
    key("record.capture", "from", &[], TIME).value("0s", OURS).means("frames are captured from here on"),
    key("record.capture", "until", &[], TIME).absent("the run's end", OURS).means("frames are captured up to here"),
    key("check", "deadlock", &[], EVERY).value("10us", OURS).means("how often a deadlock is looked for; false: never"),
    key("check", "storm", &[], Of("a table, or false", "{}"))
        .absent("its defaults", OURS)
        .means("how bounce storms are looked for: more frames turned than received, look after look"),
    key("check.storm", "looks", &[], COUNT).value("10", OURS).means("looks in a row that make a storm, 1 to 1000000"),
    key("check.storm", "every", &[], TIME)
        .absent("a thousandth of the run, at least 20us", OURS)
        .means("time between two looks"),
    key("check.storm", "ratio", &[], Of("a number", "1"))
        .value("1", OURS)
        .means("a look is bad if more than this many frames turned for each that a host received, at least 0"),
    key("check", "expect", &[], Of("deadlock", "\"deadlock\""))
        .absent("no deadlock", OURS)
        .means("deadlock: the run fails unless there is one"),
];
