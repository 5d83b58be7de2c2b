//! Random fabrics with random routings, each written in two formats: for `tidegate fabric check --pfc` (a node-link
//! file and a list of paths) and for `ibdmchk` (OpenSM dumps: a list of links and forwarding tables).
//! `scripts/ibdmchk.sh` compares the verdicts of the two tools.
//!
//! ```text
//! cargo run --release -p tidegate-verify --example random_routings -- 400 OUT
//! ```

use fabric::files::write_node_link;
use fabric::generate::{TierLinks, clos, fat_tree, jellyfish, leaf_spine, ring};
use fabric::{Fabric, FabricError, LinkSpec, NodeId, PortIndex};
use std::fmt::Write;
use std::path::Path;
use units::random::{Stream, purpose};
use units::{Rate, Time};

const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(10), Time::from_us(1));
/// Base values of OpenSM GUIDs for switches and hosts, so far apart that no two nodes share a GUID.
const SWITCH_GUID: u64 = 0x0002_c900_0100_0000;
const HOST_GUID: u64 = 0x0002_c900_0200_0000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [count, out] = arguments.as_slice() else { return Err("usage: random_routings COUNT OUT".into()) };
    for case in 0..count.parse()? {
        let mut stream = Stream::new(case, 0, purpose("random routings"));
        let fabric = random_fabric(case, &mut stream)?;
        let tables = random_tables(&fabric, &mut stream);
        let folder = Path::new(out).join(format!("{case:04}"));
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("topology.json"), write_node_link(&fabric))?;
        std::fs::write(folder.join("paths.txt"), paths(&fabric, &tables))?;
        std::fs::write(folder.join("subnet.lst"), subnet(&fabric))?;
        std::fs::write(folder.join("opensm.fdbs"), fdbs(&fabric, &tables))?;
        std::fs::write(folder.join("opensm.mcfdbs"), "")?;
    }
    Ok(())
}

/// Makes a random fabric whose hosts have one link each, like the channel adapters of a simple InfiniBand fabric.
fn random_fabric(case: u64, stream: &mut Stream) -> Result<Fabric, FabricError> {
    let mut between = |low: u64, high: u64| (low + stream.below(high - low + 1)) as u32;
    let links = TierLinks::uniform(LINK);
    match between(0, 5) {
        0 => ring(between(3, 9), between(1, 3), LINK, LINK),
        1 => fat_tree(4, links),
        2 => clos(2, between(1, 3), between(1, 3), between(1, 3), between(1, 3), links),
        // With one or two parallel links between each leaf and spine.
        3 => leaf_spine(between(2, 5), between(1, 3), between(1, 3), between(1, 2), links),
        _ => jellyfish(2 * between(3, 10), between(2, 5), between(1, 2), case, LINK, LINK),
    }
}

/// Egress port, by switch and destination host.
type Tables = Vec<Vec<PortIndex>>;

/// Builds forwarding tables, with one tree towards each destination: the tree follows one spanning tree shared by all
/// destinations, shortest paths, or random paths.
fn random_tables(fabric: &Fabric, stream: &mut Stream) -> Tables {
    let detours = [0, 0, 10, 30, 100][stream.below(5) as usize];
    let one_tree = (stream.below(4) == 0).then(|| spanning_tree(fabric, stream));
    let mut tables = vec![vec![0; fabric.hosts().len()]; fabric.nodes().len()];
    for (host, &target) in fabric.hosts().iter().enumerate() {
        let shortest = stream.below(100) >= detours;
        let towards = in_tree(fabric, target, one_tree.as_deref(), shortest, stream);
        for (node, port) in towards.into_iter().enumerate() {
            tables[node][host] = port;
        }
    }
    tables
}

/// Flags, per link, whether it belongs to a random spanning tree.
fn spanning_tree(fabric: &Fabric, stream: &mut Stream) -> Vec<bool> {
    let root = fabric.switches().next().expect("a switch");
    let towards = in_tree(fabric, root, None, false, stream);
    let mut chosen = vec![false; fabric.links().len()];
    for node in fabric.node_ids().filter(|&node| node != root) {
        chosen[fabric.ports(node)[usize::from(towards[node.index()])].link.index()] = true;
    }
    chosen
}

/// Returns the port of each node towards `target`, along a tree that is grown from `target` over the links in `only`
/// (`None`: all links). The queue of open nodes is FIFO (breadth-first search) for shortest paths, else served in
/// random order.
fn in_tree(
    fabric: &Fabric,
    target: NodeId,
    only: Option<&[bool]>,
    shortest: bool,
    stream: &mut Stream,
) -> Vec<PortIndex> {
    let mut towards = vec![PortIndex::MAX; fabric.nodes().len()];
    towards[target.index()] = 0;
    let mut open = vec![target];
    while !open.is_empty() {
        let at = if shortest { 0 } else { stream.below(open.len() as u64) as usize };
        let node = open[at];
        let mut ports = fabric.ports(node).to_vec();
        stream.shuffle(&mut ports);
        let next = ports.iter().find(|peer| {
            only.is_none_or(|only| only[peer.link.index()]) && towards[peer.peer.index()] == PortIndex::MAX
        });
        match next {
            Some(peer) => {
                towards[peer.peer.index()] = peer.peer_port;
                if fabric.node(peer.peer).forwards() {
                    open.push(peer.peer);
                }
            }
            None => drop(open.remove(at)),
        }
    }
    towards
}

/// Lists the path from every host to every other host.
fn paths(fabric: &Fabric, tables: &Tables) -> String {
    let mut text = String::new();
    for &source in fabric.hosts() {
        for (host, &target) in fabric.hosts().iter().enumerate().filter(|&(_, &target)| target != source) {
            let mut at = source;
            while at != target {
                let port = if at == source { 0 } else { tables[at.index()][host] };
                let _ = write!(text, "{}:{port} ", fabric.name(at));
                at = fabric.ports(at)[usize::from(port)].peer;
            }
            let _ = writeln!(text, "{}", fabric.name(target));
        }
    }
    text
}

/// InfiniBand local identifier (LID): from 1, hosts first.
fn lid(node: NodeId) -> u32 {
    node.0 + 1
}

/// Formats one endpoint of a link as in OpenSM's subnet list. Port numbers start at 1; port 0 is the switch itself.
fn end(fabric: &Fabric, node: NodeId, port: PortIndex) -> String {
    let (name, count) = (fabric.name(node), fabric.ports(node).len());
    let (kind, node_guid, port_guid) = match fabric.host_index(node) {
        Some(host) => ("CA", HOST_GUID + u64::from(host) * 16, HOST_GUID + u64::from(host) * 16 + 1),
        None => ("SW", SWITCH_GUID + u64::from(node.0) * 16, SWITCH_GUID + u64::from(node.0) * 16),
    };
    format!(
        "{{ {kind} Ports:{count:02x} SystemGUID:{node_guid:016x} NodeGUID:{node_guid:016x} PortGUID:{port_guid:016x} \
         VenID:000002C9 DevID:0000B924 Rev:000000A1 {{{name}}} LID:{:04x} PN:{:02x} }}",
        lid(node),
        port + 1
    )
}

/// Lists every link twice, once per endpoint, as in OpenSM's subnet list.
fn subnet(fabric: &Fabric) -> String {
    let mut text = String::new();
    for link in fabric.links() {
        let (a, b) = (end(fabric, link.a.node, link.a.port), end(fabric, link.b.node, link.b.port));
        let _ = writeln!(text, "{a} {b} PHY=4x LOG=ACT SPD=5\n{b} {a} PHY=4x LOG=ACT SPD=5");
    }
    text
}

/// Lists the unicast forwarding tables of all switches, as in an OpenSM dump.
fn fdbs(fabric: &Fabric, tables: &Tables) -> String {
    let mut text = String::new();
    for switch in fabric.switches() {
        let guid = SWITCH_GUID + u64::from(switch.0) * 16;
        let _ = writeln!(text, "osm_ucast_mgr_dump_ucast_routes: Switch 0x{guid:016x}\nLID    : Port : Hops : Optimal");
        for (host, &target) in fabric.hosts().iter().enumerate() {
            let _ = writeln!(text, "0x{:04X} : {:03}  : 00   : yes", lid(target), tables[switch.index()][host] + 1);
        }
        let _ = writeln!(text, "0x{:04X} : 000  : 00   : yes", lid(switch));
    }
    text
}
