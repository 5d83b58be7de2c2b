//! Keys of `[[traffic]]`. An entry of kind `pairs` also has the variant `transfer`, or that of its `process`.

use super::*;

const T: &str = "traffic";
/// All kinds except `replay`, whose file states the values of these keys.
const MADE: &[&str] =
    &["incast", "permutation", "all-to-all", "random", "stride", "pairs", "poisson", "request-reply", "collective"];
const PAIRS: &[&str] = &["incast", "permutation", "all-to-all", "random", "stride", "pairs"];
/// Kinds that can be a single pair of hosts in one direction.
const ONE_WAY: &[&str] = &["incast", "random", "pairs"];
/// Kinds that choose hosts from a list.
const CHOOSING: &[&str] =
    &["incast", "permutation", "all-to-all", "random", "stride", "poisson", "request-reply", "collective"];
const FRAMES: &[&str] = &["constant frames", "poisson frames", "on-off frames", "bursts of frames", "periodic frames"];
/// Sources with a configurable mean frame length.
const SIZED: &[&str] = &["constant frames", "poisson frames", "on-off frames", "bursts of frames"];
const COLLECTIVE: &[&str] = &["collective"];
const PERIODIC: &[&str] = &["periodic frames"];
const RATED: &[&str] = &["constant frames", "poisson frames", "on-off frames"];
const SIZES: ValueSyntax = ValueSyntax("a distribution", "\"web-search\"");

pub(super) const KEYS: &[Key] = &[
    key(T, "kind", &[], ValueSyntax("a kind of traffic", "\"incast\""))
        .means("incast, permutation, all-to-all, random, stride, pairs, poisson, request-reply, collective or replay"),
    key(T, "label", &[], TEXT).absent("its kind, or operation", OURS).means("name in results"),
    key(T, "class", &[], COUNT)
        .value("3", "the priority group of HPCC's flows")
        .means("priority class of its frames, 0 to 7; for a replay, if the file has none"),
    key(T, "transport", &[], ValueSyntax("a table with `kind`", "{ kind = \"dctcp\" }"))
        .absent("host.transport", OURS)
        .means("transport of the flows of this entry, with the parameters of `host.transport`"),
    key(T, "start", MADE, TIME).value("0s", OURS).means("start time"),
    key(T, "jitter", MADE, TIME).value("0s", OURS).means("uniform random delay of each first flow, from zero to this"),
    key(T, "dst_port", &[], COUNT)
        .value("100", "HPCC's flows")
        .means("destination port in tables and captures, not part of the hash; for a replay, if the file has none"),
    key(T, "hosts", CHOOSING, HOSTS).absent("all hosts", OURS).means(
        "the hosts: names, numbers from 0, or \"first-last\" ranges of numbers; request-reply: the hosts from which a \
         number of `servers` is drawn",
    ),
    key(T, "fan_in", &["incast"], COUNT).means("number of senders, drawn at random"),
    key(T, "receiver", &["incast"], HOST).absent("drawn at random", OURS).means("the receiver"),
    key(T, "count", &["random"], COUNT).means("number of random pairs, with repetition"),
    key(T, "stride", &["stride"], COUNT).means("host i sends to host i + stride, modulo their number"),
    key(T, "pairs", &["pairs"], ValueSyntax("a list of [source, destination]", "[[\"H1\", \"H2\"]]"))
        .absent("the ends of `paths`", OURS)
        .means("source and destination pairs"),
    key(T, "paths", &["pairs", "replay"], ValueSyntax("a list of paths", "[\"clockwise\"]"))
        .absent("as routed", OURS)
        .means(
        "names of [[path]] entries; pairs: one per pair, or without `pairs` one pair per path; replay: one per flow of \
         the file by start, then by line",
    ),
    key(T, "path", ONE_WAY, TEXT)
        .absent("as routed", OURS)
        .means("name of the [[path]] of every flow, from its source to its destination"),
    key(T, "process", PAIRS, ValueSyntax("constant, poisson, on-off, bursts or periodic", "\"poisson\""))
        .absent("the transport sends", OURS)
        .means("sends frames by a random or periodic process, without a transport"),
    key(T, "size", &["transfer"], ValueSyntax("a size, or endless", "\"1MB\""))
        .absent("as `sizes`", OURS)
        .means("size of each flow; one of size and sizes"),
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
        .means("standard deviation of normally distributed lengths; 0B: constant length"),
    key(T, "frame_max", SIZED, SIZE).absent("twice `frame` less 64B, at least 1518B", OURS).means(
        "with `frame_deviation` only: upper bound of drawn lengths, with lower bound 64B; the mean remains `frame`",
    ),
    key(T, "period", PERIODIC, TIME).means("time between frames, by the sending host's clock"),
    key(T, "phase", PERIODIC, TIME)
        .absent("the first frame at `start`", OURS)
        .means("frames are sent when the host's clock is at this plus a multiple of the period"),
    key(T, "frame", PERIODIC, SIZE)
        .absent("as `rate`", OURS)
        .means("length of a frame from destination address to FCS, 64B to 65535B; one of frame and rate"),
    key(T, "rate", PERIODIC, ValueSyntax("a rate", "\"7.5Gbps\""))
        .absent("as `frame`", OURS)
        .means("rate of the carried signal: a frame has the bytes of one period, plus `header`"),
    key(T, "header", PERIODIC, SIZE)
        .value("26B", "IEEE 802.3: 14 bytes and FCS; IEEE 1914.3: 8 bytes")
        .means("with `rate` only: header bytes of a frame besides the signal"),
    key(T, "load", RATED, SHARE).absent("as `rate`", OURS).means(
        "rate as a share of the sending host's link, with preamble and gap; on-off: while on; one of load and rate",
    ),
    key(T, "rate", RATED, ValueSyntax("a rate", "\"10Gbps\""))
        .absent("as `load`", OURS)
        .means("rate on the wire, with preamble and gap; on-off: while on"),
    key(T, "mean_on", &["on-off frames"], TIME).means("mean of the exponential on-times, at least a frame's time"),
    key(T, "mean_off", &["on-off frames"], TIME).means("mean of the exponential off-times"),
    key(T, "frame_gap", &["bursts of frames"], TIME).means("time between frames of a burst"),
    key(T, "frames_per_burst", &["bursts of frames"], COUNT).means("frames of a burst, at least 1"),
    key(T, "pause", &["bursts of frames"], TIME).means("time from the last frame of a burst to the first of the next"),
    key(T, "stop", FRAMES, TIME).absent("the run's end", OURS).means("end of sending"),
    key(T, "load", &["poisson"], SHARE).absent("as `mean_gap`", OURS).means(
        "payload as a share of the host's link: mean gap = mean size * 8 / (rate * load); one of load and mean_gap",
    ),
    key(T, "mean_gap", &["poisson"], TIME).absent("as `load`", OURS).means("mean time between two flows of a host"),
    key(T, "destinations", &["poisson"], HOSTS).absent("as `hosts`", OURS).means("the receivers, drawn uniformly"),
    key(T, "stop", &["poisson"], TIME).absent("the run's end", OURS).means("end of flow starts"),
    key(T, "flows_per_host", &["poisson"], COUNT).absent("no limit", OURS).means("largest number of flows of a host"),
    key(T, "client", &["request-reply"], HOST).means("the client"),
    key(T, "servers", &["request-reply"], ValueSyntax("a list or number of hosts", "4"))
        .means("the servers; a number draws that many hosts at random"),
    key(T, "request_size", &["request-reply"], SIZE).value("200B", "PABO, sec. V").means("size of a request"),
    key(T, "reply_size", &["request-reply"], SIZE).means("size of a reply"),
    key(T, "connections", &["request-reply"], COUNT)
        .value("1", OURS)
        .means("closed loops to each server, each with one outstanding request"),
    key(T, "requests", &["request-reply"], COUNT).value("1", OURS).means("sequential requests of each connection"),
    key(T, "think_time", &["request-reply"], TIME).value("0s", OURS).means("time from a reply to the next request"),
    key(T, "service_time", &["request-reply"], ValueSyntax("a time, or { exponential = its mean }", "\"10us\""))
        .value("0s", OURS)
        .means("time from a request to its reply: constant, or drawn for each request"),
    key(T, "persistent_connection", &["request-reply"], FLAG)
        .absent("true; false for datagram, ndp, eqds and external, which have no connections", OURS)
        .means(
            "true: all requests of a connection share one transport connection, and all its replies another, with one \
             path, order, and rate or window that persist between messages; false: one transport connection per \
             message",
        ),
    key(T, "rounds", &["request-reply"], ValueSyntax("independent or barrier", "\"barrier\""))
        .value("independent", "PABO, sec. V: independent connections")
        .means("the next request waits for the reply of its own connection, or of all"),
    key(T, "operation", COLLECTIVE, ValueSyntax("a collective operation", "\"all-reduce\""))
        .means("all-reduce, reduce-scatter, all-gather, broadcast, reduce or all-to-all among `hosts`"),
    key(T, "algorithm", COLLECTIVE, ValueSyntax("an algorithm", "\"ring\"")).absent("ring, or direct", OURS).means(
        "ring; tree: two binary trees, as in NCCL; halving-doubling; hierarchical: rings in groups, and across; \
         direct: each host to each other in rounds",
    ),
    key(T, "size", COLLECTIVE, SIZE).means(
        "size as in nccl-tests, per host: the buffer (all-reduce, reduce), the input (reduce-scatter, all-to-all) or \
         the output (all-gather, broadcast)",
    ),
    key(T, "root", &["rooted"], HOST).absent("the first of `hosts`", OURS).means("root of a broadcast or reduce"),
    key(T, "group", &["hierarchical"], COUNT).means("consecutive `hosts` per group; a divisor of their number"),
    key(T, "window", &["direct"], COUNT).value("1", OURS).means("outstanding rounds of a host"),
    key(T, "chunks", COLLECTIVE, COUNT).value("1", OURS).means("independent chunks of the data: NCCL's pipelining"),
    key(T, "chunks_in_flight", COLLECTIVE, COUNT).value("2", OURS).means("outstanding chunks of one message at a host"),
    key(T, "step_delay", COLLECTIVE, TIME)
        .value("0s", OURS)
        .means("delay from the awaited arrival to the dependent send, for the reduction or the software"),
    key(T, "qps_per_connection", COLLECTIVE, COUNT).value("1", "NCCL_IB_QPS_PER_CONNECTION").means(
        "connections (queue pairs) from one host to another, used in rotation by its messages: each has one path, \
         order, rate and window; under datagram, ndp and eqds only the path",
    ),
    key(T, "connection_per_message", COLLECTIVE, FLAG)
        .value("false", OURS)
        .means("each message has its own connection, with its own path and a new congestion control"),
    key(T, "iterations", COLLECTIVE, COUNT).value("1", OURS).means("number of iterations"),
    key(T, "compute", COLLECTIVE, TIME).value("0s", OURS).means(
        "compute time of a host between iterations: from the completion of all its sends and receives to its next \
             send",
    ),
    key(T, "file", &["replay"], ValueSyntax("a file", "\"flow.txt\"")).means(
        "flows of the HPCC, conweave or ns3-rdma simulators, or a connection matrix of htsim (.cm), relative to the \
             scenario's folder",
    ),
    key(T, "format", &["replay"], ValueSyntax("auto, hpcc, conweave, ns3-rdma or htsim", "\"ns3-rdma\""))
        .value("auto", "detected from the content; ambiguous content is an error")
        .means("format of the file"),
    key(T, "packet", &["replay"], SIZE)
        .absent("1000B", "PACKET_PAYLOAD_SIZE of ns3-rdma")
        .means("payload of a packet, the unit of sizes in files of ns3-rdma"),
    key(T, "start_unit", &["replay"], ValueSyntax("auto, ps or us", "\"us\""))
        .value("auto", "us if all starts are whole numbers below 1000000, else ps; a warning says which")
        .means("unit of starts in a connection matrix: ps in csg-htsim, us in uet-htsim"),
    key(T, "time_origin", &["replay"], TIME)
        .value("0s", "the times of the file")
        .means("the instant of the file that becomes 0; the simulators start traffic at 2s"),
];
