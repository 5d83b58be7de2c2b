//! Keys of `[[traffic]]`. Besides its kind, an entry of pairs has the variant `transfer`, or that of its `process`.

use super::*;

const T: &str = "traffic";
/// All kinds except the replay of a file, which states these values itself.
const MADE: &[&str] =
    &["incast", "permutation", "all-to-all", "random", "stride", "pairs", "poisson", "request-reply", "collective"];
const PAIRS: &[&str] = &["incast", "permutation", "all-to-all", "random", "stride", "pairs"];
/// Kinds that may be one pair of hosts, in one direction.
const ONE_WAY: &[&str] = &["incast", "random", "pairs"];
/// Kinds that choose hosts from a list.
const CHOOSING: &[&str] =
    &["incast", "permutation", "all-to-all", "random", "stride", "poisson", "request-reply", "collective"];
const FRAMES: &[&str] = &["constant frames", "poisson frames", "on-off frames", "bursts of frames", "periodic frames"];
/// Sources with a stated mean frame length.
const SIZED: &[&str] = &["constant frames", "poisson frames", "on-off frames", "bursts of frames"];
const COLLECTIVE: &[&str] = &["collective"];
const PERIODIC: &[&str] = &["periodic frames"];
const RATED: &[&str] = &["constant frames", "poisson frames", "on-off frames"];
const SIZES: Of = Of("a distribution", "\"web-search\"");

pub(super) const KEYS: &[Key] = &[
    key(T, "kind", &[], Of("a kind of traffic", "\"incast\""))
        .means("incast, permutation, all-to-all, random, stride, pairs, poisson, request-reply, collective or replay"),
    key(T, "label", &[], TEXT).absent("its kind, or operation", OURS).means("what results call this entry"),
    key(T, "class", &[], COUNT)
        .value("3", "the priority group of HPCC's flows")
        .means("priority class of its frames, 0 to 7; for a replay, where the file has none"),
    key(T, "transport", &[], Of("a table with `kind`", "{ kind = \"dctcp\" }"))
        .absent("host.transport", OURS)
        .means("what carries the flows of this entry, with the parameters that `host.transport` takes"),
    key(T, "start", MADE, TIME).value("0s", OURS).means("when it begins"),
    key(T, "jitter", MADE, TIME).value("0s", OURS).means("each first flow starts up to this much later, uniformly"),
    key(T, "dst_port", &[], COUNT)
        .value("100", "HPCC's flows")
        .means("destination port in tables and captures, no part of the hash; for a replay, where the file has none"),
    key(T, "hosts", CHOOSING, HOSTS).absent("all hosts", OURS).means(
        "who takes part: names, numbers from 0, or \"first-last\" ranges of numbers; request-reply: among whom \
             `servers` draws, if it is a number",
    ),
    key(T, "fan_in", &["incast"], COUNT).means("how many send, drawn at random"),
    key(T, "receiver", &["incast"], HOST).absent("drawn at random", OURS).means("who receives"),
    key(T, "count", &["random"], COUNT).means("how many pairs are drawn; one may come twice"),
    key(T, "stride", &["stride"], COUNT).means("host i sends to host i + stride, modulo their number"),
    key(T, "pairs", &["pairs"], Of("a list of [source, destination]", "[[\"H1\", \"H2\"]]"))
        .absent("the ends of `paths`", OURS)
        .means("who sends to whom"),
    key(T, "paths", &["pairs", "replay"], Of("a list of paths", "[\"clockwise\"]")).absent("as routed", OURS).means(
        "names of [[path]] entries; pairs: one for each pair, or without `pairs` a pair for each; replay: one for \
             each flow of the file by start, in the order of lines where starts are equal",
    ),
    key(T, "path", ONE_WAY, TEXT)
        .absent("as routed", OURS)
        .means("name of a [[path]] that every flow takes: it must lead from its source to its destination"),
    key(T, "process", PAIRS, Of("constant, poisson, on-off, bursts or periodic", "\"poisson\""))
        .absent("the transport sends", OURS)
        .means("sends frames at times of their own, without a transport"),
    key(T, "size", &["transfer"], Of("a size, or endless", "\"1MB\""))
        .absent("as `sizes`", OURS)
        .means("what each flow transfers; one of size and sizes"),
    key(T, "sizes", &["transfer"], SIZES).absent("as `size`", OURS).means(
        "a size, web-search, data-mining, facebook-hadoop, ali-storage, { file = \"...\" } (HPCC or conweave \
                distribution) or { uniform = [\"1KB\", \"1MB\"] }",
    ),
    key(T, "sizes", &["poisson"], SIZES).means(
        "a size, web-search, data-mining, facebook-hadoop, ali-storage, { file = \"...\" } (HPCC or conweave \
         distribution) or { uniform = [\"1KB\", \"1MB\"] }",
    ),
    key(T, "size", FRAMES, SIZE)
        .absent("no limit", OURS)
        .means("total length of the frames of each pair; rounded up to whole frames"),
    key(T, "frame", SIZED, SIZE)
        .value("1518B", "IEEE 802.3, 3.2.7: the longest untagged frame")
        .means("length of a frame from destination address to FCS, 64B to 65535B; the mean, with `frame_deviation`"),
    key(T, "frame_deviation", SIZED, SIZE)
        .value("0B", OURS)
        .means("standard deviation of normally distributed lengths; 0B: all are equal"),
    key(T, "frame_longest", SIZED, SIZE).absent("twice `frame` less 64B, at least 1518B", OURS).means(
        "with `frame_deviation` only: what is drawn longer becomes this long, and what is drawn below 64B, 64B; the \
             mean stays `frame`",
    ),
    key(T, "period", PERIODIC, TIME).means("one frame in each, by the sending host's clock"),
    key(T, "phase", PERIODIC, TIME)
        .absent("the first frame at `start`", OURS)
        .means("frames leave when the host's clock shows this and a whole number of periods"),
    key(T, "frame", PERIODIC, SIZE)
        .absent("as `rate`", OURS)
        .means("length of a frame from destination address to FCS, 64B to 65535B; one of frame and rate"),
    key(T, "rate", PERIODIC, Of("a rate", "\"7.5Gbps\""))
        .absent("as `frame`", OURS)
        .means("of the signal that is carried: a frame is what comes of it in a period, and `header`"),
    key(T, "header", PERIODIC, SIZE)
        .value("26B", "IEEE 802.3: 14 bytes and FCS; IEEE 1914.3: 8 bytes")
        .means("with `rate` only: what a frame has besides the signal"),
    key(T, "load", RATED, SHARE).absent("as `rate`", OURS).means(
        "rate as a share of the sending host's link, with preamble and gap; on-off: while on; one of load and rate",
    ),
    key(T, "rate", RATED, Of("a rate", "\"10Gbps\""))
        .absent("as `load`", OURS)
        .means("rate on the wire, with preamble and gap; on-off: while on"),
    key(T, "mean_on", &["on-off frames"], TIME).means("mean of the exponential on-times, at least a frame's time"),
    key(T, "mean_off", &["on-off frames"], TIME).means("mean of the exponential off-times"),
    key(T, "frame_gap", &["bursts of frames"], TIME).means("from frame to frame within a burst"),
    key(T, "frames_per_burst", &["bursts of frames"], COUNT).means("frames of a burst, at least 1"),
    key(T, "pause", &["bursts of frames"], TIME).means("from the last frame of a burst to the first of the next"),
    key(T, "stop", FRAMES, TIME).absent("the run's end", OURS).means("no frame is made from here on"),
    key(T, "load", &["poisson"], SHARE).absent("as `mean_gap`", OURS).means(
        "payload as a share of the host's link: mean gap = mean size * 8 / (rate * load); one of load and mean_gap",
    ),
    key(T, "mean_gap", &["poisson"], TIME).absent("as `load`", OURS).means("mean time between two flows of a host"),
    key(T, "destinations", &["poisson"], HOSTS).absent("as `hosts`", OURS).means("who receives, uniformly"),
    key(T, "stop", &["poisson"], TIME).absent("the run's end", OURS).means("no flow starts from here on"),
    key(T, "flows_per_host", &["poisson"], COUNT)
        .absent("no limit", OURS)
        .means("how many flows a host starts at most"),
    key(T, "client", &["request-reply"], HOST).means("who asks"),
    key(T, "servers", &["request-reply"], Of("a list of hosts, or how many", "4"))
        .means("who answers; a number draws as many of the hosts at random"),
    key(T, "request_size", &["request-reply"], SIZE).value("200B", "PABO, sec. V").means("size of a request"),
    key(T, "reply_size", &["request-reply"], SIZE).means("size of a reply"),
    key(T, "connections", &["request-reply"], COUNT)
        .value("1", OURS)
        .means("loops to each server, each with one request under way: so many of the client's are there at a time"),
    key(T, "requests", &["request-reply"], COUNT)
        .value("1", OURS)
        .means("requests of each connection, one after the other"),
    key(T, "think", &["request-reply"], TIME).value("0s", OURS).means("from a reply to the next request"),
    key(T, "service", &["request-reply"], Of("a time, or { exponential = its mean }", "\"10us\""))
        .value("0s", OURS)
        .means("from a request to its reply: always so long, or drawn for each"),
    key(T, "session", &["request-reply"], FLAG)
        .absent("true, or false for datagram, ndp, eqds and external, which have no connections", OURS)
        .means(
            "true: all requests of a connection share one of the transport's, and all its replies another: one path, \
             order, rate or window, which outlast each message; false: each message has its own",
        ),
    key(T, "rounds", &["request-reply"], Of("independent or barrier", "\"barrier\""))
        .value("independent", "PABO, sec. V: connections do not wait for each other")
        .means("whether the next request waits for the reply of its own connection, or of all"),
    key(T, "operation", COLLECTIVE, Of("a collective operation", "\"all-reduce\""))
        .means("all-reduce, reduce-scatter, all-gather, broadcast, reduce or all-to-all: what `hosts` do together"),
    key(T, "algorithm", COLLECTIVE, Of("an algorithm", "\"ring\"")).absent("ring, or direct", OURS).means(
        "ring; tree: two binary trees, as in NCCL; halving-doubling; hierarchical: rings in groups, and across; \
         direct: each to each other in rounds",
    ),
    key(T, "size", COLLECTIVE, SIZE).means(
        "as nccl-tests counts: what each holds (all-reduce, reduce), begins with (reduce-scatter, all-to-all) or ends \
         with (all-gather, broadcast)",
    ),
    key(T, "root", &["rooted"], HOST)
        .absent("the first of `hosts`", OURS)
        .means("who has what is broadcast, or gets what is reduced"),
    key(T, "group", &["hierarchical"], COUNT).means("so many neighbours of `hosts` are one; it divides their number"),
    key(T, "window", &["direct"], COUNT).value("1", OURS).means("rounds that a host has under way at a time"),
    key(T, "pieces", COLLECTIVE, COUNT)
        .value("1", OURS)
        .means("the data is cut into so many pieces, each of which goes its way by itself: NCCL's pipelining"),
    key(T, "pieces_in_flight", COLLECTIVE, COUNT)
        .value("2", OURS)
        .means("pieces of the same message that a host has under way at a time"),
    key(T, "step_delay", COLLECTIVE, TIME)
        .value("0s", OURS)
        .means("from what a host waits for to the send that waits for it: the reduction, or the software"),
    key(T, "qps_per_connection", COLLECTIVE, COUNT).value("1", "NCCL_IB_QPS_PER_CONNECTION").means(
        "connections (queue pairs) that carry the messages from one host to another, in turn: each has one path, \
         order, rate and window; under datagram, ndp and eqds only the path",
    ),
    key(T, "connection_per_message", COLLECTIVE, FLAG)
        .value("false", OURS)
        .means("each message has a connection of its own, with a path of its own and a control that starts anew"),
    key(T, "iterations", COLLECTIVE, COUNT).value("1", OURS).means("how often it is done"),
    key(T, "compute", COLLECTIVE, TIME)
        .value("0s", OURS)
        .means("what a host computes between iterations: from when all is sent and has arrived to its next send"),
    key(T, "file", &["replay"], Of("a file", "\"flow.txt\"")).means(
        "flows of the HPCC, conweave or ns3-rdma simulators, or a connection matrix of htsim (.cm), relative to the \
             scenario's folder",
    ),
    key(T, "format", &["replay"], Of("auto, hpcc, conweave, ns3-rdma or htsim", "\"ns3-rdma\""))
        .value("auto", "told by the content; refused where it fits two")
        .means("what is in the file"),
    key(T, "packet", &["replay"], SIZE)
        .absent("1000B", "PACKET_PAYLOAD_SIZE of ns3-rdma")
        .means("payload of the packets that a file of ns3-rdma counts"),
    key(T, "start_unit", &["replay"], Of("auto, ps or us", "\"us\""))
        .value("auto", "us if all starts are whole numbers below 1000000, else ps; a warning says which")
        .means("what a start of a connection matrix counts: ps in csg-htsim, us in uet-htsim"),
    key(T, "time_origin", &["replay"], TIME)
        .value("0s", "the times of the file")
        .means("the instant of the file that becomes 0; the simulators start traffic at 2s"),
];
