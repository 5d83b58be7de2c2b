//! 1,000 random fabrics with known tiers, in every format of operators, read without a flag: the detected tiers equal
//! the generator's, and no leaf-spine or three-tier fabric is reported to deadlock.

use fabric::files::{self, Options};
use fabric::routing::{Forwarding, Mode};
use fabric::{Fabric, LinkSpec, NodeKind};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use units::{Rate, Time};
use verify::{Traffic, check_pfc};

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

/// Names of a node and of its port.
type End = (String, String);

/// A generated fabric.
struct Known {
    /// Tier of each switch.
    tiers: BTreeMap<String, u8>,
    hosts: Vec<String>,
    links: Vec<(End, End)>,
    /// Whether the files state a group for each switch (`tier-1`, `tier-2`, ...).
    groups: bool,
}

/// Prefixes of switch names, by tier: for fabrics with two tiers, and for fabrics with three tiers.
const WORDS: [(&[&str], &[&str]); 6] = [
    (&["leaf", "spine"], &["leaf", "spine", "superspine"]),
    (&["dc1-leaf-", "dc1-spine-"], &["pod1-tor-", "pod1-agg-", "core-"]),
    (&["tor", "leaf"], &["tor", "leaf", "spine"]),
    (&["access", "core"], &["access", "dist", "core"]),
    (&["rsw", "ssw"], &["rsw", "fsw", "ssw"]),
    // Names that do not state the tier.
    (&["node-a", "node-b"], &["node-a", "node-b", "node-c"]),
];

impl Known {
    fn draw(random: &mut Random) -> Known {
        let three = random.one_in(3);
        let (two_words, three_words) = random.of(&WORDS);
        let words = if three { three_words } else { two_words };
        let mut known =
            Known { tiers: BTreeMap::new(), hosts: Vec::new(), links: Vec::new(), groups: random.one_in(3) };
        let mut ports: BTreeMap<String, usize> = BTreeMap::new();
        let mut port = |node: &str| {
            let number = ports.entry(node.to_owned()).or_default();
            *number += 1;
            (node.to_owned(), format!("Ethernet{}", (*number - 1) * 4))
        };
        let (pods, leaves, spines) = if three {
            (3 + random.below(2), 2 + random.below(2), 2)
        } else {
            (1, 3 + random.below(5), 1 + random.below(2))
        };
        // Without hosts and without meaningful names, the leaves of a single spine look like hosts of this spine.
        let knowable = spines > 1 || !words[0].starts_with("node");
        let hosts_each = if random.one_in(5) && knowable { 0 } else { 1 + random.below(3) };
        let host_word = random.of(&["h", "host-", "server", "srv", "client"]);
        // Only a few leaves may be without hosts, because leaves without hosts look like core switches.
        let empty = if three && hosts_each > 0 { random.below(5) } else { usize::MAX };
        let mut uppers = vec![Vec::new(); spines];
        let mut cores = Vec::new();
        for pod in 0..pods {
            let upper: Vec<String> = (0..spines).map(|n| format!("{}{}", words[1], pod * spines + n + 1)).collect();
            // Leaves without hosts: the last leaf of the second pod, all leaves of the last pod, or none.
            let is_empty = |leaf: usize| match empty {
                0 => leaf + 1 == leaves && pod == 1,
                1 => pod + 1 == pods && pod > 1,
                _ => false,
            };
            for leaf in 0..leaves {
                let hosts_each = if is_empty(leaf) { 0 } else { hosts_each };
                let leaf = format!("{}{}", words[0], pod * leaves + leaf + 1);
                known.tiers.insert(leaf.clone(), 1);
                for _ in 0..hosts_each {
                    let host = format!("{host_word}{}", known.hosts.len() + 1);
                    known.links.push((port(&host), port(&leaf)));
                    known.hosts.push(host);
                }
                for upper in &upper {
                    known.links.push((port(&leaf), port(upper)));
                }
            }
            for (at, name) in upper.into_iter().enumerate() {
                known.tiers.insert(name.clone(), 2);
                uppers[at].push(name);
            }
        }
        if three {
            for (plane, members) in uppers.iter().enumerate() {
                for core in 0..2 {
                    let core = format!("{}{}", words[2], plane * 2 + core + 1);
                    known.tiers.insert(core.clone(), 3);
                    members.iter().for_each(|member| known.links.push((port(member), port(&core))));
                    cores.push(core);
                }
            }
        }
        // Attach a management host to a switch of tier 2 or 3.
        if hosts_each > 0 && random.one_in(3) {
            let host = format!("{host_word}{}", known.hosts.len() + 1);
            let high =
                if cores.is_empty() || random.one_in(2) { &uppers[0][0] } else { random.of(&[&cores[0], &cores[3]]) };
            known.links.push((port(&host), port(high)));
            known.hosts.push(host);
        }
        if random.one_in(3) {
            random.shuffle(&mut known.links);
        }
        known
    }

    fn nodes(&self) -> impl Iterator<Item = (&String, Option<u8>)> {
        self.tiers.iter().map(|(name, tier)| (name, Some(*tier))).chain(self.hosts.iter().map(|name| (name, None)))
    }

    fn group(&self, tier: u8) -> String {
        if self.groups { format!("tier-{tier}") } else { String::new() }
    }

    /// Returns the neighbours of a node: the port of the node, and the peer with its port.
    fn neighbors<'k>(&'k self, node: &'k str) -> impl Iterator<Item = (&'k str, &'k End)> {
        self.links
            .iter()
            .flat_map(|(a, b)| [(a, b), (b, a)])
            .filter(move |(own, _)| own.0 == node)
            .map(|(own, peer)| (&own.1[..], peer))
    }
}

fn node_link(known: &Known, random: &mut Random) -> String {
    let junk = if random.one_in(3) { ", \"x\": 1.5" } else { "" };
    let node = |(name, tier): (&String, Option<u8>)| {
        let group = tier.map_or(String::new(), |tier| known.group(tier));
        let kind = if tier.is_some() { ", \"kind\": \"switch\"" } else { "" };
        format!("{{\"id\": \"{name}\", \"group\": \"{group}\"{kind}{junk}}}")
    };
    let nodes: Vec<String> = known.nodes().map(node).collect();
    let link = |(a, b): &(End, End)| {
        format!(
            "{{\"source\": \"{}\", \"target\": \"{}\", \"source_port\": \"{}\", \"target_port\": \"{}\"}}",
            a.0, b.0, a.1, b.1
        )
    };
    let links: Vec<String> = known.links.iter().map(link).collect();
    let edges = random.of(&["links", "edges"]);
    format!("{{\"nodes\": [{}], \"{edges}\": [{}]}}", nodes.join(","), links.join(","))
}

fn graphml(known: &Known, _: &mut Random) -> String {
    let mut text =
        "<graphml><key id=\"d0\" for=\"node\" attr.name=\"group\"/><graph edgedefault=\"undirected\">".to_owned();
    for (name, tier) in known.nodes() {
        let group = tier.map_or(String::new(), |tier| known.group(tier));
        let _ = write!(text, "<node id=\"{name}\"><data key=\"d0\">{group}</data></node>");
    }
    for (a, b) in &known.links {
        let _ = write!(text, "<edge source=\"{}\" target=\"{}\"/>", a.0, b.0);
    }
    text + "</graph></graphml>"
}

fn containerlab(known: &Known, random: &mut Random) -> String {
    let mut text = "name: lab\ntopology:\n  kinds:\n    srl: {image: srl}\n  nodes:\n".to_owned();
    // Software routers may have the kind `linux`, which is also the kind of servers.
    let kind = random.of(&["nokia_srlinux", "ceos", "sonic-vs", "linux, image: \"quay.io/frrouting/frr:v8\""]);
    for (name, tier) in known.nodes() {
        let group = tier.map_or(String::new(), |tier| known.group(tier));
        let group = if group.is_empty() { group } else { format!(", group: {group}") };
        let _ = writeln!(text, "    {name}: {{kind: {}{group}}}", if tier.is_some() { kind } else { "linux" });
    }
    if random.one_in(2) {
        text += "    grafana: {kind: linux}\n";
    }
    text += "  links:\n";
    for (a, b) in &known.links {
        let _ = match random.one_in(2) {
            true => writeln!(text, "    - endpoints: [\"{}:{}\", \"{}:{}\"]", a.0, a.1, b.0, b.1),
            false => writeln!(
                text,
                "    - type: veth\n      endpoints:\n{:8}- {{node: {}, interface: {}}}\n{:8}- node: {}\n\
                 {:10}interface: {}",
                "", a.0, a.1, "", b.0, "", b.1
            ),
        };
    }
    if random.one_in(3) {
        let (switch, _) = known.tiers.iter().next().expect("a switch");
        let _ = writeln!(text, "    - type: mgmt-net\n      endpoint: {{node: {switch}, interface: x1}}");
    }
    text
}

fn config_db(known: &Known, random: &mut Random) -> String {
    let kind = |tier| ["", "ToRRouter", "LeafRouter", "SpineRouter"][usize::from(tier)];
    let mut files = Vec::new();
    for (name, &tier) in &known.tiers {
        let by_name = random.one_in(3);
        let mut neighbors = Vec::new();
        let mut metadata = Vec::new();
        for (port, (peer, peer_port)) in known.neighbors(name) {
            let of = known.tiers.get(peer).map_or("Server", |&tier| kind(tier));
            metadata.push(format!("\"{peer}\": {{\"type\": \"{of}\"}}"));
            neighbors.push(match by_name {
                true => format!("\"{peer}\": {{\"local_port\": \"{port}\", \"port\": \"{peer_port}\"}}"),
                false => format!("\"{port}\": {{\"name\": \"{peer}\", \"port\": \"{peer_port}\"}}"),
            });
        }
        files.push(format!(
            "{{\"DEVICE_METADATA\": {{\"localhost\": {{\"hostname\": \"{name}\", \"type\": \"{}\"}}}}, \
             \"QUEUE\": {{}}, \
             \"DEVICE_NEIGHBOR\": {{{}}}, \"DEVICE_NEIGHBOR_METADATA\": {{{}}}}}",
            kind(tier),
            neighbors.join(","),
            metadata.join(",")
        ));
    }
    random.shuffle(&mut files);
    files::join_config_db(files)
}

fn link_csv(known: &Known, _: &mut Random) -> String {
    let mut text = "StartDevice,StartPort,EndDevice,EndPort,BandWidth,VlanID,VlanMode\n".to_owned();
    for (a, b) in &known.links {
        let _ = writeln!(text, "{},{},{},{},100000,,", a.0, a.1, b.0, b.1);
    }
    text
}

fn ibnetdiscover(known: &Known, random: &mut Random) -> String {
    let ids: BTreeMap<&String, usize> = known.nodes().map(|(name, _)| name).zip(1..).collect();
    let id = |name: &String| format!("{}-{:016x}", if known.tiers.contains_key(name) { 'S' } else { 'H' }, ids[name]);
    let port = |port: &str| port.trim_start_matches("Ethernet").parse::<usize>().expect("a number") / 4 + 1;
    let sharp = random.one_in(2);
    let (mut text, mut adapters) = ("# Topology file\n".to_owned(), String::new());
    for (at, (name, tier)) in known.nodes().enumerate() {
        let word = if tier.is_some() { "Switch\t65" } else { "Ca\t1" };
        let _ = writeln!(text, "\n{word} \"{}\"\t# \"{name}\" lid {at}", id(name));
        for (own, (peer, peer_port)) in known.neighbors(name) {
            let _ = writeln!(text, "[{}]\t\"{}\"[{}]\t# \"{peer}\" lid 1 4xHDR", port(own), id(peer), port(peer_port));
        }
        if sharp && tier.is_some() {
            let description = "# \"Mellanox Technologies Aggregation Node\" lid 3";
            let _ = writeln!(text, "[65]\t\"H-a{at}\"[1]\t{description} 4xHDR");
            let _ = write!(adapters, "\nCa\t1 \"H-a{at}\"\t{description}\n[1]\t\"{}\"[65]\t# lid 3 4xHDR\n", id(name));
        }
    }
    text + &adapters
}

fn lldp(known: &Known, random: &mut Random) -> String {
    let mut tables = Vec::new();
    for name in known.tiers.keys() {
        let is_switch = |peer: &str| known.tiers.contains_key(peer);
        let table = if random.one_in(2) {
            let interface = |(port, (peer, peer_port)): (&str, &End)| {
                let kind = if is_switch(peer) { "Bridge" } else { "Station" };
                format!(
                    "{{\"{port}\": {{\"chassis\": {{\"{peer}\": {{\"id\": {{\"type\": \"mac\", \"value\": \"0\"}}, \
                     \"capability\": [{{\"type\": \"{kind}\", \"enabled\": true}}]}}}}, \
                     \"port\": {{\"id\": {{\"type\": \
                     \"ifname\", \"value\": \"{peer_port}\"}}}}}}}}"
                )
            };
            let interfaces: Vec<String> = known.neighbors(name).map(interface).collect();
            format!("{{\"lldp\": {{\"interface\": [{}]}}}}", interfaces.join(","))
        } else {
            let mut text = format!(
                "{:13}{:30}{:16}{:14}RemotePortDescr\n",
                "LocalPort", "RemoteDevice", "RemotePortID", "Capability"
            );
            let _ = writeln!(text, "{0:-<11}  {0:-<28}  {0:-<14}  {0:-<12}  {0:-<15}", "");
            for (port, (peer, peer_port)) in known.neighbors(name) {
                let capability = if is_switch(peer) { "BR" } else { "O" };
                let _ = writeln!(text, "{port:13}{peer:30}{peer_port:16}{capability:14}x");
            }
            let count = known.neighbors(name).count();
            text + &format!("{:-<50}\nTotal entries displayed:  {count}\n", "")
        };
        let ending = if table.starts_with('{') { "json" } else { "txt" };
        tables.push((format!("{name}.{ending}"), table));
    }
    files::join(tables).expect("tables alone")
}

fn batfish(known: &Known, random: &mut Random) -> String {
    let end = |end: &End| format!("{{\"hostname\": \"{}\", \"interfaceName\": \"{}\"}}", end.0, end.1);
    let edge = |a: &End, b: &End| format!("{{\"node1\": {}, \"node2\": {}}}", end(a), end(b));
    let both = random.one_in(2);
    let edges =
        known.links.iter().flat_map(|(a, b)| if both { vec![edge(a, b), edge(b, a)] } else { vec![edge(a, b)] });
    format!("{{\"edges\": [{}]}}", edges.collect::<Vec<_>>().join(",\n"))
}

fn netlab(known: &Known, random: &mut Random) -> String {
    let mut text = "provider: clab\ndefaults:\n  device: frr\nnodes:\n".to_owned();
    let plain = |name: &str| name.replace('-', "_");
    for (name, tier) in known.nodes() {
        let node = match tier {
            None => "{device: linux}".to_owned(),
            Some(tier) if known.groups => format!("{{group: tier-{tier}}}"),
            Some(_) => String::new(),
        };
        let _ = writeln!(text, "  {}: {node}", plain(name));
    }
    text += "links:\n";
    for (a, b) in &known.links {
        let (a, b) = (plain(&a.0), plain(&b.0));
        let _ = match random.below(3) {
            0 => writeln!(text, "- {a}-{b}"),
            1 => writeln!(text, "- [{a}, {b}]"),
            _ => writeln!(text, "- {a}:\n  {b}: {{ipv4: 10.0.0.1/30}}"),
        };
    }
    text
}

fn gns3(known: &Known, random: &mut Random) -> String {
    // Nodes of type `qemu` or `docker` may be servers. A file without servers therefore has `dynamips` routers as
    // switches.
    let kind = if known.hosts.is_empty() { "dynamips" } else { random.of(&["qemu", "dynamips", "docker"]) };
    let node = |(name, tier): (&String, Option<u8>)| {
        let kind = if tier.is_some() { kind } else { "vpcs" };
        format!("{{\"node_id\": \"id-{name}\", \"name\": \"{name}\", \"node_type\": \"{kind}\"}}")
    };
    let nodes: Vec<String> = known.nodes().map(node).collect();
    let end = |end: &End| {
        format!(
            "{{\"node_id\": \"id-{}\", \"adapter_number\": 0, \"port_number\": 1, \"label\": {{\"text\": \"{}\"}}}}",
            end.0, end.1
        )
    };
    let links: Vec<String> =
        known.links.iter().map(|(a, b)| format!("{{\"nodes\": [{}, {}]}}", end(a), end(b))).collect();
    format!(
        "{{\"topology\": {{\"nodes\": [{}], \"links\": [{}]}}, \"type\": \"topology\"}}",
        nodes.join(","),
        links.join(",")
    )
}

type Writer = fn(&Known, &mut Random) -> String;

const WRITERS: [(&str, Writer); 10] = [
    ("node-link", node_link),
    ("graphml", graphml),
    ("containerlab", containerlab),
    ("config-db", config_db),
    ("link-csv", link_csv),
    ("ibnetdiscover", ibnetdiscover),
    ("lldp", lldp),
    ("batfish", batfish),
    ("netlab", netlab),
    ("gns3", gns3),
];

fn can_deadlock(fabric: &Fabric) -> bool {
    let routes = Forwarding::build(fabric, Mode::ShortestPath).expect("routes");
    !check_pfc(fabric, Traffic::Routes { routes: &routes, failed: &[], bounces: 0 }).expect("a verdict").deadlock_free
}

#[test]
fn files_of_operators_are_read_without_flags() {
    let mut random = Random(0x5DEE_CE66_D1CE_4E5B);
    let assumed = Some(LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500)));
    let options = Options { assumed, hosts_per_switch: 1, ..Options::NONE };
    let mut read = BTreeMap::new();
    for number in 0..1_000 {
        let known = Known::draw(&mut random);
        let (name, write) = WRITERS[number % WRITERS.len()];
        let mark = if random.one_in(10) { "\u{feff}" } else { "" };
        let text = mark.to_owned() + &write(&known, &mut random);
        let count: &mut usize = read.entry(name).or_default();
        let fabric = match files::read("file", &text, &options) {
            Ok(fabric) => fabric,
            Err(error) => {
                println!("{number} {name}: {error}");
                continue;
            }
        };
        *count += 1;
        let hosts = if known.hosts.is_empty() {
            known.tiers.values().filter(|&&tier| tier == 1).count()
        } else {
            known.hosts.len()
        };
        assert_eq!(fabric.hosts().len(), hosts, "{number} {name}\n{text}");
        for switch in fabric.switches() {
            let own = fabric.name(switch);
            let tier = known.tiers.get(own).or_else(|| known.tiers.get(&own.replace('_', "-")));
            assert_eq!(tier, Some(&fabric.node(switch).tier), "{number} {name} {own}\n{text}");
        }
        assert!(fabric.nodes().iter().all(|node| node.kind == NodeKind::Switch || known.hosts.len() < hosts + 1));
        assert!(!can_deadlock(&fabric), "{number} {name}\n{text}");
    }
    let all: usize = read.values().sum();
    println!("{all} of 1000 read: {read:?}");
    assert!(all >= 950, "{read:?}");
}
