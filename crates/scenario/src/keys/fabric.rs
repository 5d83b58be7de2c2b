//! Keys of `[fabric]`.

use super::*;

const F: &str = "fabric";
const L: &str = "fabric.link";
const T: &str = "fabric.link.tier";
const RATE: ValueSyntax = ValueSyntax("a rate", "\"100Gbps\"");
const TIERS: ValueSyntax = ValueSyntax("a table", "{ rate = \"100Gbps\", delay = \"500ns\" }");
const NODES: ValueSyntax = ValueSyntax("names of nodes", "[\"ufm\", \"leaf*\"]");
const ALL_BUT_FILE: &[&str] = &[
    "fat-tree",
    "f10",
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
];

pub(super) const KEYS: &[Key] = &[
    key(F, "kind", &[], ValueSyntax("a kind of fabric", "\"fat-tree\"")).means(
        "fat-tree, f10, leaf-spine, clos, dumbbell, tree, star, jellyfish, bcube, single-switch, line, ring or file",
    ),
    key(F, "k", &["fat-tree", "f10"], COUNT).means("ports of a switch: even, 2 to 128; k*k*k/4 hosts"),
    key(F, "hosts_per_edge", &["fat-tree"], COUNT)
        .absent("k/2: not oversubscribed", "Al-Fares et al., 2008")
        .means("hosts on each edge switch, 1 to 512"),
    key(F, "leaves", &["leaf-spine"], COUNT).means("leaf switches, L1 .."),
    key(F, "spines", &["leaf-spine", "clos"], COUNT).means("spine switches, S1 .."),
    key(F, "hosts_per_leaf", &["leaf-spine", "tree"], COUNT).means("hosts on each leaf or lowest switch"),
    key(F, "links_per_pair", &["leaf-spine"], COUNT).value("1", OURS).means("parallel links from a leaf to a spine"),
    key(F, "pods", &["clos"], COUNT).means("pods"),
    key(F, "tors_per_pod", &["clos"], COUNT).means("ToR switches of a pod, T1 .. in all"),
    key(F, "leaves_per_pod", &["clos"], COUNT).means("leaf switches of a pod, L1 .. in all"),
    key(F, "hosts_per_tor", &["clos"], COUNT).means("hosts on each ToR"),
    key(F, "left", &["dumbbell"], COUNT).means("hosts on S1: H1 .."),
    key(F, "right", &["dumbbell"], COUNT).means("hosts on S2, after those on S1"),
    key(F, "arity", &["tree"], ValueSyntax("a list of numbers", "[3, 1]"))
        .means("children per switch, from the root down; 1 to 8 levels"),
    key(F, "root_hosts", &["tree"], COUNT).value("0", OURS).means("hosts on the root, after all others"),
    key(F, "arms", &["star"], COUNT).means("switches around the hub, S1 ..; the hub is the last"),
    key(F, "hosts_per_arm", &["star"], COUNT).means("hosts on each arm"),
    key(F, "hub_hosts", &["star"], COUNT).value("0", OURS).means("hosts on the hub, after all others"),
    key(F, "switches", &["jellyfish", "line", "ring"], COUNT).means("switches, S1 .."),
    key(F, "degree", &["jellyfish"], COUNT).means("links from each switch to others"),
    key(F, "hosts_per_switch", &["jellyfish", "line", "ring"], COUNT).means("hosts on each switch"),
    key(F, "hosts_per_switch", &["file"], COUNT)
        .value("0", OURS)
        .means("hosts attached to each leaf of a file without hosts"),
    key(F, "ignore", &["file"], NODES)
        .absent("no node", OURS)
        .means("nodes of the file to omit, with their links; `*` matches any text"),
    key(F, "host", &["file"], NODES).absent("as in the file", OURS).means("nodes of the file that are hosts"),
    key(F, "switch", &["file"], NODES).absent("as in the file", OURS).means("nodes of the file that are switches"),
    key(F, "hosts_on", &["file"], NODES)
        .absent("the leaves", OURS)
        .means("switches to which hosts are attached if the file has no host"),
    key(F, "seed", &["jellyfish"], COUNT)
        .value("1", "choice of this project: the same graph for every seed of the run")
        .means("seed of the random graph"),
    key(F, "n", &["bcube"], COUNT).means("ports of a switch, 2 to 1024"),
    key(F, "levels", &["bcube"], COUNT).means("levels above the first: k of BCube(n, k), 0 to 15"),
    key(F, "hosts", &["single-switch"], COUNT).means("hosts, 2 to 65535"),
    key(F, "file", &["file"], ValueSyntax("a file", "\"topology.txt\""))
        .means("the topology, relative to the scenario's folder; also a folder of SONiC config_db.json files"),
    key(
        F,
        "format",
        &["file"],
        ValueSyntax(
            "auto, hpcc, node-link, graphml, containerlab, config-db, link-csv, ibnetdiscover, htsim-topo, lldp, \
             batfish, netlab or gns3",
            "\"hpcc\"",
        ),
    )
    .value("auto", "detected from the content")
    .means("format of the file"),
    key(F, "default_loss", &["file"], SHARE)
        .value("0", "the file's own")
        .means("probability that a frame is lost on links without a loss, or with 0, in the file"),
    key(F, "relay", &["file"], FLAG)
        .value("false", OURS)
        .means("every host forwards frames of others, as in meshes and rings without switches"),
    key(F, "control_loss", &[], SHARE)
        .absent("none beside the loss of the link", OURS)
        .means("probability that a MAC control frame (PAUSE, PFC, XOFF, XON, credit) is lost on any link"),
    key(F, "link", ALL_BUT_FILE, TIERS)
        .means("rate, delay, loss and bit error rate of all links; tables host, edge and core override them per tier"),
    key(F, "link", &["file"], TIERS).absent("set per link", OURS).means("properties of links without them in the file"),
    key(L, "rate", &[], RATE).absent("set per tier", OURS).means("rate of each direction, up to 1000Tbps"),
    key(L, "delay", &[], TIME).absent("set per tier", OURS).means("propagation delay, above 0, up to 10s"),
    key(L, "loss", &[], SHARE).value("0", "a perfect cable").means("probability that a frame is lost"),
    key(L, "bit_error_rate", &[], SHARE)
        .value("0", "a perfect cable")
        .means("probability that a bit is flipped, which destroys the frame"),
    key(L, "host", ALL_BUT_FILE, TIERS).absent("as fabric.link", OURS).means("links between hosts and switches"),
    key(
        L,
        "edge",
        &["fat-tree", "f10", "leaf-spine", "clos", "dumbbell", "tree", "star", "jellyfish", "line", "ring"],
        TIERS,
    )
    .absent("as fabric.link", OURS)
    .means("links between edge switches and the tier above, or between switches if there is one tier"),
    key(L, "core", &["fat-tree", "f10", "clos", "tree"], TIERS)
        .absent("as fabric.link", OURS)
        .means("links between switches above that"),
    key(T, "rate", &[], RATE).absent("as fabric.link", OURS).means("rate on this tier"),
    key(T, "delay", &[], TIME).absent("as fabric.link", OURS).means("delay on this tier"),
    key(T, "loss", &[], SHARE).absent("as fabric.link", OURS).means("loss on this tier"),
    key(T, "bit_error_rate", &[], SHARE).absent("as fabric.link", OURS).means("bit error rate on this tier"),
];
