//! Keys outside fabric, switches and traffic.

use super::*;
use protocols::gates;

const GATES: &str = "[{ open = [7], time = \"10us\" }, { open = [0], time = \"90us\" }]";

pub(super) const KEYS: &[Key] = &[
    key("", "name", &[], TEXT).absent("the file's name", OURS).means("name in results"),
    key("", "description", &[], TEXT).absent("none", OURS).means("purpose, in one sentence"),
    key("", "duration", &[], TIME).means("end of the run, in simulated time, up to 20 days"),
    key("", "until", &[], ValueSyntax("a word", "\"flows done\"")).absent("the duration", OURS).means(
        "`flows done`: the run ends before its duration, at the next multiple of 10us after all finite flows are \
         complete; datagram flows are complete when all frames are sent and no frame of a finite flow is in flight",
    ),
    key("", "seed", &[], COUNT).value("1", OURS).means("seed of every random stream; --seed overrides it"),
    key("", "threads", &[], COUNT).value("1", OURS).means("threads, 1 to 1024; results are the same for any number"),
    key("", "fabric", &[], ValueSyntax("a table", "{}")).means("hosts, switches and links"),
    key("", "routing", &[], ValueSyntax("a table", "{}")).absent("its defaults", OURS).means("routing of frames"),
    key("", "path", &[], ValueSyntax("tables", "[]")).absent("none", OURS).means("paths for traffic entries"),
    key("", "fail", &[], ValueSyntax("tables", "[]")).absent("none", OURS).means("links that fail"),
    key("", "route", &[], ValueSyntax("tables", "[]")).absent("none", OURS).means("manual routes, also wrong ones"),
    key("", "committed_rate", &[], ValueSyntax("tables", "[]"))
        .absent("none", OURS)
        .means("agreed rates of flows (service levels), the weights of FLORAX's shares"),
    key("", "gates", &[], ValueSyntax("tables", "[]"))
        .absent("none", OURS)
        .means("gates of the classes at ports of switches and hosts (IEEE 802.1Qbv)"),
    key("gates", "schedule", &["from a schedule"], ValueSyntax("a file", "\"slots.json\"")).of(&gates::MECHANISM),
    key("gates", "node", &["as written"], ValueSyntax("a switch or a host", "\"S1\"")).of(&gates::MECHANISM),
    key("gates", "to", &["as written"], ValueSyntax("a list of neighbours", "[\"S2\"]")).of(&gates::MECHANISM),
    key("gates", "states", &["as written"], ValueSyntax("tables of `open`, `time` and `operation`", GATES))
        .of(&gates::MECHANISM),
    key("", "cyclic", &[], ValueSyntax("tables", "[]"))
        .absent("none", OURS)
        .means("switch ports that forward in each cycle the frames of the previous one (IEEE 802.1Qch)"),
    key("", "shaping", &[], ValueSyntax("tables", "[]"))
        .absent("none", OURS)
        .means("credit-based shaping of classes at ports (IEEE 802.1Qav)"),
    key("", "switch", &[], ValueSyntax("a table", "{}")).absent("its defaults", OURS).means("switch parameters"),
    key("", "host", &[], ValueSyntax("a table", "{}")).absent("its defaults", OURS).means("host parameters"),
    key("", "traffic", &[], ValueSyntax("tables", "[]")).means("traffic entries"),
    key("", "measure", &[], ValueSyntax("a table", "{}"))
        .absent("its defaults", OURS)
        .means("measured interval and statistics"),
    key("", "record", &[], ValueSyntax("a table", "{}"))
        .absent("its defaults", OURS)
        .means("recorded output besides the summary"),
    key("", "check", &[], ValueSyntax("a table", "{}")).absent("its defaults", OURS).means("checks during the run"),
    key("routing", "mode", &[], ValueSyntax("shortest, two-level, up-down or explicit", "\"shortest\""))
        .value("shortest", "RFC 2992: equal-cost paths of fewest links")
        .means(
            "shortest: all shortest paths; two-level: fat-tree tables by prefix and suffix (Al-Fares et al., 2008); \
             up-down: no step up after the first step down; explicit: every flow names a path, and only replies take \
             shortest paths",
        ),
    key("routing", "root", &[], ValueSyntax("a switch", "\"C1\""))
        .absent("the fabric's tiers, or the first switch", OURS)
        .means("up-down only: the root that defines the direction up"),
    key("routing", "spread", &[], ValueSyntax("flow, packet, path or entropy", "\"packet\""))
        .value("flow", "RFC 2992, hash threshold")
        .means(
            "selection among equal ports: flow: by the flow's hash; packet: at random for every frame; path: by the \
             sender, whose data frames use all paths in random order, again and again, as in NDP; entropy: by a hash \
             of the flow and an entropy value in each data frame, as in Ultra Ethernet's oblivious spraying (replies \
             of path and entropy: at random for every frame)",
        ),
    key("routing", "entropy_values", &[], ValueSyntax("a power of two up to 65536", "256"))
        .value("64", "uet-htsim: 64 paths per flow")
        .means(
            "spread = \"entropy\" only: entropy values of a flow. Its frames use each of them once and then again in \
             another order; several may map to one path",
        ),
    key("routing", "hash_seed", &[], COUNT)
        .absent("the run's seed", "seed of the switches' hash; flow collisions are random")
        .means("seed of the flow hash: one number fixes the paths of all flows for every seed of the run"),
    key("routing", "reroute", &[], ValueSyntax("none or local", "\"local\""))
        .value("none", OURS)
        .means("action of a switch if every port towards a destination is down: drop, or try live neighbours"),
    key("path", "name", &[], TEXT).means("name used by traffic entries"),
    key("path", "nodes", &[], ValueSyntax("a list of nodes", "[\"H1\", \"S1\", \"H2\"]"))
        .means("its nodes in order, from the sending host to the receiving one"),
    key("fail", "link", &[], ValueSyntax("two nodes", "[\"S1\", \"C1\"]")).means("the ends of the link"),
    key("fail", "at", &[], TIME).value("0s", OURS).means("start of the failure; frames on the link are lost"),
    key("fail", "until", &[], TIME).absent("forever", OURS).means("end of the failure"),
    key("route", "node", &[], TEXT).means("the switch of the route"),
    key("route", "to", &[], HOST).means("the destination"),
    key("route", "from", &[], HOST).absent("every source", OURS).means("the source"),
    key("route", "via", &[], ValueSyntax("a list of nodes", "[\"S2\"]"))
        .means("the next hops, spread like equal paths; unreachable ones are skipped"),
    key("route", "at", &[], TIME).value("0s", OURS).means("start time"),
    key("route", "until", &[], TIME).absent("forever", OURS).means("end time"),
    key("committed_rate", "from", &[], HOST).means("the source of the flow"),
    key("committed_rate", "to", &[], HOST).means("its destination"),
    key("committed_rate", "rate", &[], ValueSyntax("a rate", "\"100Mbps\""))
        .means("the agreed rate, on the wire, up to the rate of their links"),
    key("host", "transport", &[], ValueSyntax("a table with `kind`", "{ kind = \"roce\" }"))
        .value("roce", "RoCEv2 at line rate")
        .means("transport of flows; `tidegate mechanisms` lists the parameters of each kind"),
    key("host", "reply_class", &[], COUNT)
        .absent("the class of the data", "HPCC's ns-3 fork sends ACKs in the class of the data by default")
        .means("class of acknowledgements and notifications, 0 to 7"),
    key("host", "obeys_pause", &[], FLAG).value("true", "IEEE 802.1Qbb").means("hosts obey PAUSE and PFC"),
    key("host", "ignore_pause", &[], HOSTS).absent("none", OURS).means("hosts that ignore PAUSE, PFC and XOFF"),
    key("host", "on_pause", &[], ValueSyntax("none or halve", "\"none\""))
        .value("none", "IEEE 802.3x, 802.1Qbb: the MAC pauses without notifying the transport")
        .means(
            "reaction of senders to a pause of their host: none, or halve the window or rate, at most once per round \
             trip (FLORAX, section 5: TCP slows down)",
        ),
    key("host", "pause_storm", &[], ValueSyntax("a table", "{}")).absent("none", OURS).means(
        "pause-storm fault: a host with a failed network card that continuously pauses all lossless classes of its \
         switch",
    ),
    key("host.pause_storm", "host", &[], HOST).means("the host"),
    key("host.pause_storm", "at", &[], TIME).value("0s", OURS).means("start time"),
    key("host.pause_storm", "until", &[], TIME)
        .absent("forever", OURS)
        .means("end of sending pauses; the last one expires later"),
    key("host", "clock", &[], ValueSyntax("a table", "{}"))
        .absent("exact", OURS)
        .means("bounds of each host's random clock, drawn from the seed; transports use this clock"),
    key("host", "clocks", &[], ValueSyntax("tables", "[]"))
        .absent("as drawn", OURS)
        .means("clocks of these hosts, fixed instead of drawn"),
    key("host.clock", "offset", &[], TIME)
        .value("0s", OURS)
        .means("lead of a clock at the start: uniform between zero and this"),
    key("host.clock", "drift_ppm", &[], ValueSyntax("parts per million", "50"))
        .value("0", OURS)
        .means("frequency error, uniform between minus and plus this, up to 100000 with three decimals"),
    key("host.clocks", "hosts", &[], HOSTS).means("the hosts: names, numbers from 0, or ranges"),
    key("host.clocks", "offset", &[], TIME).value("0s", OURS).means("lead of the clock at the start"),
    key("host.clocks", "drift_ppm", &[], ValueSyntax("parts per million", "-20"))
        .value("0", OURS)
        .means("frequency error, positive if the clock is fast, -100000 to 100000 with three decimals"),
    key("host", "trim_aware", &[], FLAG)
        .value("true", "Cheng et al., NSDI 2014: trim-aware hosts")
        .means("receivers reply to trimmed headers immediately, and senders react to returned ones"),
    key("host", "on_bounce", &[], ValueSyntax("a table with `kind`", "{}"))
        .value("none", "PABO, section V: no host reacts")
        .means("reaction of a sender to its frames that switches bounced back"),
    key("host", "ttl", &[], COUNT).value("64", "RFC 1700").means("time to live of new frames, 1 to 255"),
    key("host", "notification_delay", &[], TIME)
        .absent("the least link delay", "choice of this project: lower bound of any message")
        .means("delay from an event at one host to the flow that it starts at another, above zero"),
    key("host.transport", "kind", &[], TEXT).value("roce", "as host.transport").means("the transport"),
    key("host.on_bounce", "kind", &[], TEXT)
        .value("none", "PABO, section V: no host reacts")
        .means("none, or halve: the window or rate of the flow, at most once per round trip"),
    key("measure", "warm_up", &[], TIME).value("0s", OURS).means("initial time excluded from statistics"),
    key("measure", "end", &[], TIME)
        .absent("the run's end", OURS)
        .means("flows that start at this time or later are excluded"),
    key("measure", "reordering", &[], FLAG)
        .value("false", OURS)
        .means("reordering of data frames: displacement, reorder density and entropy (RFC 5236)"),
    key("measure", "reordering_threshold", &[], COUNT)
        .value("100", "PABO, sec. IV: largest displacement 95")
        .means("frames displaced further than this count as lost (RFC 5236: D_T), 1 to 1048576"),
    key("measure", "jitter", &[], FLAG)
        .value("false", OURS)
        .means("jitter of every traffic entry; that of periodic frames is always measured"),
    key("measure", "queue_utilisation", &[], SHARE).absent("not measured", OURS).means(
        "utilisation of switch queues, its variance, and the share of time above this share of their capacity; needs \
         switch.queue",
    ),
    key("measure", "queues", &[], EVERY).value("false", OURS).means(
        "lengths of switch queues: mean and maximum over time, and quantiles of one sample at a random instant of each \
         such interval; over all ports, and of the port with the longest queue on average",
    ),
    key("record", "queues", &[], EVERY).value("false", OURS).means("queue lengths of every port"),
    key("record", "links", &[], EVERY).value("false", OURS).means("bytes sent over every link"),
    key("record", "throughput", &[], EVERY).value("false", OURS).means("bytes delivered per traffic entry"),
    key("record", "control", &[], EVERY)
        .value("false", OURS)
        .means("congestion-control state of each flow: rate, window, round trip, alpha, available bandwidth"),
    key("record", "pauses", &[], FLAG).value("false", OURS).means("every pause and resume, at its receiver"),
    key("record", "flows", &[], FLAG).value("true", OURS).means("a row for every flow, and fct.txt"),
    key("record", "trace", &[], ValueSyntax("a table", "{ flows = [0, 3] }"))
        .absent("nothing is traced", OURS)
        .means("trace of selected frames, hop by hop, for `tidegate why`; an empty table traces all frames"),
    key("record", "capture", &[], ValueSyntax("tables", "[{ port = \"S1:3\" }]"))
        .absent("nothing is captured", OURS)
        .means("ports whose frames are written to capture.pcapng as bytes"),
    key("record.trace", "flows", &[], ValueSyntax("a list of flows", "[0, 7, \"10-19\"]"))
        .absent("all, without `ports`", OURS)
        .means("flows traced at every hop, by their number in flows.parquet"),
    key("record.trace", "ports", &[], ValueSyntax("a list of ports", "[\"S1:3\", \"H2\"]"))
        .absent("all, without `flows`", OURS)
        .means("ports at which all frames are traced: by number, by neighbour (`S1:H2`), or all of a node (`S1`)"),
    key("record.trace", "from", &[], TIME)
        .value("0s", OURS)
        .means("start of the trace of frames; pauses are traced from the start of the run, since they may last"),
    key("record.trace", "until", &[], TIME).absent("the run's end", OURS).means("end of the trace"),
    key("record.capture", "port", &[], ValueSyntax("a port", "\"S1:3\""))
        .means("of a switch or host: by number, by neighbour (`S1:H2`), or the only one of a node (`H2`)"),
    key("record.capture", "direction", &[], ValueSyntax("in, out or both", "\"both\""))
        .value("both", OURS)
        .means("received frames, sent frames, or both"),
    key("record.capture", "from", &[], TIME).value("0s", OURS).means("start of the capture"),
    key("record.capture", "until", &[], TIME).absent("the run's end", OURS).means("end of the capture"),
    key("check", "deadlock", &[], EVERY).value("10us", OURS).means("interval of the deadlock detection; false: none"),
    key("check", "bounce_storm", &[], ValueSyntax("a table, or false", "{}"))
        .absent("its defaults", OURS)
        .means("detection of bounce storms: more bounces than received frames in consecutive samples"),
    key("check.bounce_storm", "samples", &[], COUNT)
        .value("10", OURS)
        .means("consecutive bad samples that make a storm, 1 to 1000000"),
    key("check.bounce_storm", "every", &[], TIME)
        .absent("a thousandth of the run, at least 20us", OURS)
        .means("sampling interval"),
    key("check.bounce_storm", "ratio", &[], ValueSyntax("a number", "1"))
        .value("1", OURS)
        .means("a sample is bad above this ratio of bounces to frames received by hosts, at least 0"),
    key("check", "expect", &[], ValueSyntax("deadlock", "\"deadlock\""))
        .absent("no deadlock", OURS)
        .means("deadlock: the run fails without a deadlock"),
];
