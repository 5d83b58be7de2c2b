//! Tests of the formats that are plain graphs: samples from other tools, round trips, and errors.

use super::*;
use crate::generate::{TierLinks, fat_tree, leaf_spine};
use crate::{FabricBuilder, LinkSpec, NodeKind};
use units::{Rate, Time};

const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(10), Time::from_ns(500));
const OPTIONS: Options = Options::new(LINK);

fn hosts(fabric: &Fabric) -> Vec<&str> {
    fabric.hosts().iter().map(|&host| fabric.name(host)).collect()
}

/// Returns the cables as pairs of node and port names, sorted, with the smaller end of each cable first.
fn cables(fabric: &Fabric) -> Vec<(String, String)> {
    let end = |end: crate::End| {
        let port = fabric.port_name(end.node, end.port).map_or(String::new(), |port| format!(":{port}"));
        format!("{}{port}", fabric.name(end.node))
    };
    let ends = |link: &crate::Link| {
        let (a, b) = (end(link.a), end(link.b));
        if a < b { (a, b) } else { (b, a) }
    };
    let mut cables: Vec<(String, String)> = fabric.links().iter().map(ends).collect();
    cables.sort();
    cables
}

const GRAPHML: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="label" attr.type="string" for="node" id="d30" />
  <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d36" />
  <graph edgedefault="undirected">
    <node id="0"><data key="d30">New York</data></node>
    <node id="1"><data key="d30">Chicago</data></node>
    <node id="2"><data key="d30">?</data></node>
    <node id="3"><data key="d30">?</data></node>
    <edge source="0" target="1"><data key="d36">10000000000.0</data></edge>
    <edge source="1" target="2" sourceport="xe-0/0/1" />
    <edge source="2" target="3" />
    <edge source="3" target="0" />
  </graph>
</graphml>"#;

#[test]
fn graphml_of_the_topology_zoo() {
    let error = read_graphml(GRAPHML, &OPTIONS).unwrap_err().to_string();
    assert!(error.contains("none is a host"), "{error}");
    let fabric = read_graphml(GRAPHML, &Options { hosts_per_switch: 1, ..OPTIONS }).unwrap();
    assert_eq!(hosts(&fabric), ["New York-h1", "Chicago-h1", "2-h1", "3-h1"], "a label that two share is no name");
    assert_eq!((fabric.links()[0].rate, fabric.links()[1].rate), (Rate::from_gbps(10), LINK.rate));
    let chicago = fabric.find("Chicago").unwrap();
    assert_eq!((fabric.port_name(chicago, 0), fabric.port_name(chicago, 1)), (None, Some("xe-0/0/1")));
    assert_eq!(fabric.port_named(chicago, "xe-0/0/1"), Some(1));
}

const CONTAINERLAB: &str = r#"
name: lab
topology:
  defaults:
    kind: nokia_srlinux
  nodes:
    leaf1:
    leaf2: {image: srl}
    spine1: {kind: ceos}
    client1: {kind: linux}
    store: {kind: linux}
  links:
    - endpoints: ["leaf1:e1-49", "spine1:e1-1"]
    - endpoints: ["leaf2:e1-49", "spine1:e1-2"]
    - type: veth
      endpoints:
        - node: client1
          interface: eth1
        - {node: leaf1, interface: e1-1}
    - endpoints: ["store:eth1", "leaf1:e1-2"]
    - endpoints: ["store:eth2", "leaf2:e1-2"]
"#;

#[test]
fn a_containerlab_topology() {
    let fabric = read_containerlab(CONTAINERLAB, &OPTIONS).unwrap();
    assert_eq!(hosts(&fabric), ["client1", "store"]);
    assert_eq!(cables(&fabric)[0], ("client1:eth1".to_owned(), "leaf1:e1-1".to_owned()));
    assert_eq!(fabric.node(fabric.find("spine1").unwrap()).tier, 2);
}

/// Returns the kind of a node and the reason for it.
fn taken(fabric: &Fabric, name: &str) -> (NodeKind, String) {
    let node = fabric.find(name).unwrap();
    (fabric.node(node).kind, fabric.reason(node).unwrap_or_default().to_owned())
}

#[test]
fn the_kind_of_a_containerlab_node_decides_however_many_links_it_has() {
    let fabric = read_containerlab(CONTAINERLAB, &OPTIONS).unwrap();
    assert_eq!(taken(&fabric, "store"), (NodeKind::Host, "kind linux".to_owned()));
    assert_eq!(taken(&fabric, "leaf1"), (NodeKind::Switch, "kind nokia_srlinux".to_owned()), "of the defaults");
    // Without the spine link, the only path between the leaves crosses a host, which does not forward.
    let routes = |fabric: &Fabric| crate::routing::Forwarding::build(fabric, crate::routing::Mode::ShortestPath);
    assert!(routes(&fabric).is_ok());
    let cut = CONTAINERLAB.replace("    - endpoints: [\"leaf2:e1-49\", \"spine1:e1-2\"]\n", "");
    let cut = cut.replace(
        "    - endpoints: [\"store:eth1\"",
        "    - endpoints: [\"h9:eth1\", \"leaf2:e1-9\"]\n    - endpoints: [\"store:eth1\"",
    );
    let cut = cut.replace("    store:", "    h9: {kind: linux}\n    store:");
    let fabric = read_containerlab(&cut, &OPTIONS).unwrap();
    assert_eq!(hosts(&fabric), ["client1", "h9"]);
    assert!(routes(&fabric).is_ok());
    let why = "kind linux, with several links without which hosts cannot reach each other";
    assert_eq!(taken(&fabric, "store"), (NodeKind::Switch, why.to_owned()));
    let lines: Vec<String> = fabric.decisions().iter().map(crate::Decision::line).collect();
    assert_eq!(lines[..1], ["1 node of a kind that servers have too is a switch: store"]);
    // The name or image of a routing suite also makes a node a switch.
    for (to, why) in [
        ("border-router: {kind: linux}", "kind linux, with the name of a switch"),
        ("store: {kind: linux, image: quay.io/frrouting/frr:10.2}", "image quay.io/frrouting/frr:10.2"),
    ] {
        let name = to.split(':').next().unwrap();
        let text = CONTAINERLAB.replace("store: {kind: linux}", to).replace("\"store:", &format!("\"{name}:"));
        assert_eq!(taken(&read_containerlab(&text, &OPTIONS).unwrap(), name), (NodeKind::Switch, why.to_owned()));
    }
    // The kind label takes precedence, whether the node states it or inherits it.
    let store = "store: {kind: linux}";
    for (from, to) in [
        (store, "store: {kind: linux, labels: {tidegate-kind: switch}}"),
        (store, "store: {group: frr}\n  groups: {frr: {kind: linux, labels: {tidegate-kind: switch}}}"),
        ("topology:", "topology:\n  kinds: {linux: {labels: {tidegate-kind: switch}}}"),
    ] {
        let clients = cut.replace("client1: {kind: linux}", "client1: {kind: linux, labels: {tidegate-kind: host}}");
        let text = clients.replace("h9: {kind: linux}", "h9: {kind: k8s-kind}").replace(from, to);
        let fabric = read_containerlab(&text, &OPTIONS).unwrap();
        assert_eq!(hosts(&fabric), ["client1", "h9"], "{to}");
        assert_eq!(taken(&fabric, "store").1, "tidegate-kind switch");
        assert!(routes(&fabric).is_ok());
    }
    let wrong = CONTAINERLAB.replace("store: {kind: linux}", "store: {labels: {tidegate-kind: router}}");
    let error = read_containerlab(&wrong, &OPTIONS).unwrap_err().to_string();
    assert!(error.contains("topology.nodes.store.labels.tidegate-kind: must be host or switch"), "{error}");
    let all =
        CONTAINERLAB.replace("nokia_srlinux", "generic_vm").replace("ceos", "host").replace("linux", "generic_vm");
    let error = read_containerlab(&all, &OPTIONS).unwrap_err().to_string();
    assert!(error.contains("all are hosts by their kind") && error.contains("tidegate-kind: switch"), "{error}");
}

#[test]
fn groups_and_merge_keys_give_containerlab_nodes_their_kind() {
    let text = "x: &srl {kind: nokia_srlinux}\ntopology:\n  groups: {clients: {kind: linux}}\n  nodes:\n    \
                leaf1: {<<: *srl}\n    a: {group: clients}\n    b: {group: clients}\n  links:\n    \
                - {endpoints: [\"a:e1\", \"leaf1:e1\"]}\n    - {endpoints: [\"b:e1\", \"leaf1:e2\"]}\n";
    let fabric = read_containerlab(text, &OPTIONS).unwrap();
    assert_eq!(hosts(&fabric), ["a", "b"]);
    assert_eq!(taken(&fabric, "leaf1").1, "kind nokia_srlinux");
}

/// Two uplinks do not make a host a switch: in a plain graph the name determines the kind of a node, in a neighbour
/// table the type.
#[test]
fn hosts_with_several_links_stay_hosts_in_every_format() {
    let csv = "StartDevice,StartPort,EndDevice,EndPort\nserver-1,p1,tor1,E0\nserver-1,p2,tor2,E0\nserver-2,p1,tor1,E4\n\
               server-2,p2,tor2,E4\nleaf,E0,tor1,E8\nleaf,E4,tor2,E8\n";
    let json = "{\"nodes\":[{\"id\":\"h1\"},{\"id\":\"h2\"},{\"id\":\"a\"},{\"id\":\"b\"}],\
        \"links\":[{\"source\":\"h1\",\"target\":\"a\"},\
                {\"source\":\"h1\",\"target\":\"b\"},{\"source\":\"h2\",\"target\":\"a\"},\
        {\"source\":\"a\",\"target\":\"b\"}]}";
    let sonic = TOR1.replace(
        "\"Ethernet0\": {\"name\": \"srv1\", \"port\": \"eth0\"}",
        "\"Ethernet0\": {\"name\": \"store\", \"port\": \"eth0\"}, \"Ethernet4\": {\"name\": \"store\", \"port\": \
         \"eth1\"}",
    );
    let sonic = sonic.replace("\"PORT\": {", "\"PORT\": {\"Ethernet4\": {}, ");
    let sonic = sonic.replace("\"srv1\": {\"type\": \"Server\"}", "\"store\": {\"type\": \"StorageServer\"}");
    for (text, expected, why) in [
        (csv, vec!["server-1", "server-2"], "named like a host"),
        (json, vec!["h1", "h2"], "named like a host"),
        (&sonic, vec!["store"], "type StorageServer"),
    ] {
        let fabric = read("x", text, &OPTIONS).unwrap();
        assert_eq!(hosts(&fabric), expected, "{text}");
        let host = fabric.hosts()[0];
        assert!(fabric.ports(host).len() == 2 && !fabric.node(host).forwards());
        assert_eq!(fabric.reason(host), Some(why));
    }
    // If all nodes have host names, the names do not distinguish hosts from switches.
    let ring = "StartDevice,StartPort,EndDevice,EndPort\nh1,a,h2,b\nh2,a,h3,b\nh3,a,h1,b\nh3,c,h4,a\n";
    let fabric = read("x", ring, &OPTIONS).unwrap();
    assert_eq!(hosts(&fabric), ["h4"]);
    assert_eq!(taken(&fabric, "h4").1, "has one link, and not the name of a switch");
    assert_eq!(taken(&fabric, "h1").1, "nothing says that it is a host");
}

const TOR1: &str = r#"{
  "DEVICE_METADATA": {"localhost": {"hostname": "tor1", "type": "ToRRouter"}},
  "DEVICE_NEIGHBOR":
                {"Ethernet8": {"name": "leaf1", "port": "Ethernet0"}, "Ethernet0": {"name": "srv1", "port": "eth0"}},
  "DEVICE_NEIGHBOR_METADATA": {"leaf1": {"type": "LeafRouter"}, "srv1": {"type": "Server"}},
  "PORT": {"Ethernet8": {"speed": "100000"}, "Ethernet0": {"speed": "25000"}},
  "CABLE_LENGTH": {"AZURE": {"Ethernet8": "40m", "Ethernet0": "0m"}}
}"#;
const LEAF1: &str = r#"{
  "DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "type": "LeafRouter"}},
  "DEVICE_NEIGHBOR": {"Ethernet0": {"name": "tor1", "port": "Ethernet8"}}
}"#;

#[test]
fn sonic_switches_know_their_neighbours() {
    let both = join_config_db([TOR1.to_owned(), LEAF1.to_owned()]);
    let fabric = read_config_db(&both, &OPTIONS).unwrap();
    assert_eq!(hosts(&fabric), ["srv1"]);
    let named = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(cables(&fabric), [named("leaf1:Ethernet0", "tor1:Ethernet8"), named("srv1:eth0", "tor1:Ethernet0")]);
    let tor = fabric.find("tor1").unwrap();
    assert!(fabric.port_named(tor, "Ethernet0").is_some());
    let reversed = read_config_db(&join_config_db([LEAF1.to_owned(), TOR1.to_owned()]), &OPTIONS).unwrap();
    assert_eq!((reversed.nodes(), reversed.links()), (fabric.nodes(), fabric.links()), "whatever the order of files");
    assert_eq!(fabric.node(fabric.find("leaf1").unwrap()).tier, 2);
    let up = fabric.links().iter().find(|link| link.rate == Rate::from_gbps(100)).unwrap();
    assert_eq!(up.delay, Time::from_ns(200), "40 m at 5 ns a metre");
    let one = read_config_db(TOR1, &OPTIONS).unwrap();
    assert_eq!(cables(&one), cables(&fabric), "what the leaf says, the ToR has said already");
}

/// Regression: GraphML with the relay flag at a switch was converted to node-link JSON that the reader refused.
#[test]
fn a_node_declared_to_forward_is_a_switch() {
    let text = GRAPHML.replace(
        "<key attr.name=\"label\"",
        "<key attr.name=\"relay\" for=\"node\" id=\"r\" />\n  <key attr.name=\"label\"",
    );
    let text = text.replace("Chicago</data>", "Chicago</data><data key=\"r\">true</data>");
    let fabric = read_graphml(&text, &Options { hosts_per_switch: 1, ..OPTIONS }).unwrap();
    assert!(!fabric.node(fabric.find("Chicago").unwrap()).relay);
    let again = read_node_link(&write_node_link(&fabric), &OPTIONS).unwrap();
    assert_eq!(cables(&again), cables(&fabric));
}

/// Regression: the reader rejected a written file, or the written file lacked a link.
#[test]
fn what_sonic_cannot_say_is_refused_before_it_is_written() {
    let fabric =
        |rate: Rate, delay: Time| leaf_spine(2, 1, 1, 1, TierLinks::uniform(LinkSpec::new(rate, delay))).unwrap();
    let refused = |fabric: &Fabric| write_config_db(fabric).unwrap_err().to_string();
    let (slow, fast) = (Rate::from_bps(999_999).unwrap(), Rate::from_bps(1_000_000).unwrap());
    let long = Time::from_us(5000);
    assert!(refused(&fabric(slow, long)).contains("a number of Mbps"));
    assert!(write_link_csv(&fabric(slow, long)).unwrap_err().to_string().contains("a number of Mbps"));
    assert!(refused(&fabric(fast, long + Time::from_ps(1))).contains("longer than 1000 km"));
    let again = read_config_db(&Format::ConfigDb.write(&fabric(fast, long)).unwrap(), &OPTIONS).unwrap();
    assert!(again.links().iter().all(|link| (link.rate, link.delay) == (fast, long)));
    let text = r#"{"nodes": [{"id": "h1", "kind": "host"}, {"id": "s", "kind": "switch"}, {"id": "h2", "kind": "host"}],
        "links": [{"source": "h1", "target": "s"}, {"source": "h2", "target": "s"},
            {"source": "h1", "target": "h2"}]}"#;
    let direct = read_node_link(text, &OPTIONS).unwrap();
    assert!(refused(&direct).contains("between `h1` and `h2`: only switches have files"), "{}", refused(&direct));
}

#[test]
fn a_sonic_mgmt_table() {
    let text = "StartDevice,StartPort,EndDevice,EndPort,BandWidth,VlanID,VlanMode\n\
                tor-1,Ethernet0,server-1,p1p1,40000,1681,Access\ntor-1,Ethernet4,server-2,p1p1,40000,1682,Access\n";
    let fabric = read_link_csv(text, &OPTIONS).unwrap();
    assert_eq!(hosts(&fabric), ["server-1", "server-2"]);
    assert!(fabric.links().iter().all(|link| link.rate == Rate::from_gbps(40)));
    assert_eq!(fabric.port_name(fabric.find("tor-1").unwrap(), 1), Some("Ethernet4"));
}

const IBNET: &str = "#\n# Topology file: generated on Mon Jan  1 00:00:00 2024\n#\nvendid=0x2c9\ndevid=0xb924\n\
    switchguid=0x2(2)\nSwitch\t8 \"S-0002\"\t\t# \"leaf 1\" base port 0 lid 4 lmc 0\n\
    [1]\t\"H-0004\"[1](5) \t\t# \"node1\" lid 9 4xEDR\n[3]\t\"H-0006\"[2] \t\t# \"node2\" lid 7 4xHDR\n\n\
    vendid=0x2c9\ncaguid=0x4\nCa\t1 \"H-0004\"\t\t# \"node1\"\n[1](5) \t\"S-0002\"[1]\t\t# lid 9 lmc 0 \"leaf 1\" lid \
    4 4xEDR\n\n\
    Ca\t2 \"H-0006\"\t\t# \"node2\"\n[2](7) \t\"S-0002\"[3]\t\t# lid 7 lmc 0 \"leaf 1\" lid 4 4xHDR\n";

#[test]
fn what_ibnetdiscover_prints() {
    let fabric = read_ibnetdiscover(IBNET, &OPTIONS).unwrap();
    assert_eq!(hosts(&fabric), ["node1", "node2"]);
    let rates: Vec<Rate> = fabric.links().iter().map(|link| link.rate).collect();
    assert_eq!(rates, [Rate::from_gbps(100), Rate::from_gbps(200)]);
    assert_eq!(fabric.port_name(fabric.find("leaf 1").unwrap(), 1), Some("3"));
}

const TOPO: &str = "# a comment\nNodes 32\nTiers 3\nPodsize 16\n\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 8\n\
    Radix_Up 4\n\
    Downlink_Latency_ns 1000\nSwitch_Latency_ns 300\nTier 1\nDownlink_speed_Gbps 200\nRadix_Down 4\nRadix_Up 2\n\
    Downlink_Latency_ns 1000\nBundle 2\nOversubscribed 2\nTier 2\nDownlink_speed_Gbps 400\nRadix_Down 2\n\
    Downlink_Latency_ns 2000\n";

#[test]
fn an_htsim_tree() {
    let fabric = read_htsim_topo(TOPO).unwrap();
    let count = |word: &str| fabric.switches().filter(|&node| fabric.name(node).starts_with(word)).count();
    assert_eq!((fabric.hosts().len(), count("tor"), count("agg"), count("core")), (32, 4, 4, 4));
    // 32 hosts, 4 ToRs with 4 uplinks in two bundles, 4 aggregation switches with 2 uplinks.
    assert_eq!(fabric.links().len(), 32 + 16 + 8);
    let link = |a: &str, b: &str| {
        let id = fabric.link_between(fabric.find(a).unwrap(), fabric.find(b).unwrap());
        fabric.link(id.unwrap()).spec()
    };
    assert_eq!(link("H0", "tor0"), LinkSpec::new(Rate::from_gbps(100), Time::from_ns(1150)));
    assert_eq!(link("tor3", "agg2"), LinkSpec::new(Rate::from_gbps(200), Time::from_ns(1150)));
    assert_eq!(link("agg1", "core3"), LinkSpec::new(Rate::from_gbps(400), Time::from_us(2)));
    assert_eq!(link("agg3", "core1").rate, Rate::from_gbps(400), "pods meet at their core switches");
}

#[test]
fn every_format_is_recognised_by_its_content() {
    for (content, expected) in [
        (GRAPHML, Format::GraphMl),
        (CONTAINERLAB, Format::Containerlab),
        (TOR1, Format::ConfigDb),
        (IBNET, Format::IbNetDiscover),
        (TOPO, Format::HtsimTopo),
        ("StartDevice,StartPort,EndDevice,EndPort\n", Format::LinkCsv),
    ] {
        assert_eq!(detect("file", content), Some(expected));
        assert_eq!(Format::named(expected.name()), Some(expected));
    }
    assert_eq!(detect("file", "graph [ ]"), None);
}

#[test]
fn what_is_written_comes_back() {
    let links = TierLinks::uniform(LINK);
    let mut odd = FabricBuilder::new("odd");
    let (host, a, b) = (odd.add_host("a <&> b"), odd.add_switch("a \u{e4}\\", 1), odd.add_switch("x", 2));
    let first = odd.connect(host, a, LinkSpec { loss: 0.25, bit_error_rate: 1e-9, ..LINK });
    odd.name_ports(first, "eth0", "Ethernet4");
    for _ in 0..2 {
        odd.connect(a, b, LINK);
    }
    for fabric in [fat_tree(4, links).unwrap(), leaf_spine(3, 2, 2, 2, links).unwrap(), odd.build().unwrap()] {
        for format in Format::ALL {
            let Ok(text) = format.write(&fabric) else {
                let read_only = matches!(
                    format,
                    Format::HtsimTopo | Format::Lldp | Format::Batfish | Format::Netlab | Format::Gns3
                );
                assert!(read_only || format == Format::Hpcc, "{}", format.name());
                continue;
            };
            let again =
                format.read(&text, &OPTIONS).unwrap_or_else(|error| panic!("{}: {error}\n{text}", format.name()));
            assert_eq!(detect("any", &text), Some(format), "{text}");
            assert_eq!(again.links().len(), fabric.links().len(), "{}", format.name());
            if format == Format::Hpcc {
                continue; // the format has no names
            }
            let sorted = |names: Vec<&str>| {
                let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
                names.sort();
                names
            };
            if !matches!(format, Format::LinkCsv) {
                assert_eq!(sorted(hosts(&again)), sorted(hosts(&fabric)), "{}", format.name());
            }
            let peers = |fabric: &Fabric| {
                let strip = |(a, b): (String, String)| {
                    let node = |end: String| end.rsplit_once(':').map_or(end.clone(), |(node, _)| node.to_owned());
                    let (a, b) = (node(a), node(b));
                    if a < b { (a, b) } else { (b, a) }
                };
                let mut peers: Vec<_> = cables(fabric).into_iter().map(strip).collect();
                peers.sort();
                peers
            };
            assert_eq!(peers(&again), peers(&fabric), "{}", format.name());
            let twice = format.write(&again).unwrap();
            let third = format.read(&twice, &OPTIONS).unwrap();
            assert_eq!(cables(&third), cables(&again), "{}: ports keep their names", format.name());
            if matches!(format, Format::NodeLink | Format::GraphMl) {
                assert_eq!((again.nodes(), again.links()), (fabric.nodes(), fabric.links()));
                assert_eq!(again.port_name(crate::NodeId(0), 0), fabric.port_name(crate::NodeId(0), 0));
            }
        }
    }
}

#[test]
fn what_is_wrong_is_named() {
    let replaced = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    };
    for (text, from, to, expected) in [
        (GRAPHML, "</graph>", "", "not valid XML"),
        (GRAPHML, "target=\"3\"", "target=\"9\"", "edge 2: `9` is not the id of a node"),
        (GRAPHML, "\"undirected\"", "\"directed\"", "edge 0: is directed"),
        (GRAPHML, "node id=\"1\"", "node id=\"0\"", "node 1: the id `0` occurs twice"),
        (CONTAINERLAB, "  nodes:", "  nods:", "topology.nodes: is missing"),
        (CONTAINERLAB, "\"leaf2:e1-49\"", "\"leaf9:e1-49\"", "topology.links[1]: `leaf9` is no node"),
        (CONTAINERLAB, "type: veth", "type: cable", "links[2].type: `cable` is no type of link"),
        (CONTAINERLAB, "leaf2: {image: srl}", "{{ name }}", "a template"),
        (CONTAINERLAB, "\"leaf2:e1-49\"", "\"leaf2\"", "topology.links[1]: an endpoint is `node:interface`"),
        (CONTAINERLAB, "\"leaf2:e1-49\", ", "", "topology.links[1]: must have `endpoints`: two"),
        (CONTAINERLAB, "\"leaf2:e1-49\"", "\"leaf1:e1-49\"", "port `e1-49` of `leaf1` has two links"),
        (CONTAINERLAB, "links:", "links: [", "not valid YAML"),
        (TOR1, "\"hostname\": \"tor1\", ", "", "DEVICE_METADATA.localhost: has no hostname"),
        (TOR1, "\"port\": \"Ethernet0\"", "\"prt\": 1", "tor1.DEVICE_NEIGHBOR.Ethernet8: must have the `name`"),
        (TOR1, "\"100000\"", "\"fast\"", "tor1.PORT.Ethernet8.speed: must be a number of Mbps"),
        (TOR1, "\"40m\"", "\"far\"", "tor1.CABLE_LENGTH.AZURE.Ethernet8: is \"far\": no length in metres"),
        (IBNET, "\"H-0006\"[2]", "\"H-0009\"[2]", "is connected to"),
        (
            IBNET,
            "\"S-0002\"[3]",
            "\"S-0002\"[1]",
            "line 17: port 2 of `H-0006` is connected to port 3 of `S-0002` already",
        ),
        (IBNET, "[1]\t\"H-0004\"[1](5)", "[1]\tnothing", "line 8: expected a port like"),
        (TOPO, "Tier 1", "Tier 7", "line 12: tier 7 of 3"),
        (TOPO, "Radix_Down 8", "Radix_Dwn 8", "line 8: `Radix_Dwn` is no key"),
        (TOPO, "Radix_Down 8", "Radix_Down 7", "line 6: hosts over hosts a rack: 32 does not divide by 7"),
        (TOPO, "Radix_Up 4", "Radix_Up x", "line 9: `x` is no number"),
        (TOPO, "Radix_Down 4", "Radix_Down 5", "line 12: Radix_Down 5: 4 links come up from the racks"),
    ] {
        let message = read("file", &replaced(text, from, to), &OPTIONS).unwrap_err().to_string();
        assert!(message.contains(expected), "{to:?}: {message}");
    }
    let csv = "StartDevice,StartPort,EndDevice,EndPort,BandWidth\na,1,b,1,1000\nb,2,c,1,x\n";
    let message = read("file", csv, &OPTIONS).unwrap_err().to_string();
    assert!(message.contains("line 3: `x` is no bandwidth"), "{message}");
    let message = read("file", &csv.replace("b,2,c,1,x", "b,,c,1,1"), &OPTIONS).unwrap_err().to_string();
    assert!(message.contains("line 3: column 2 is empty"), "{message}");
    for (port, expected) in [
        (
            "Ethernet0",
            "leaf1.DEVICE_NEIGHBOR.Ethernet0: leads to tor1 Ethernet0, and tor1: DEVICE_NEIGHBOR|Ethernet0 leads to \
             srv1 eth0; tor1: DEVICE_NEIGHBOR|Ethernet8 leads to leaf1 Ethernet0 (write: Ethernet8)",
        ),
        ("Ethernet12", "leaf1.DEVICE_NEIGHBOR.Ethernet0: leads to tor1 Ethernet12: tor1 has no port"),
    ] {
        let disagree = join_config_db([TOR1.to_owned(), LEAF1.replace("Ethernet8", port)]);
        let message = read_config_db(&disagree, &OPTIONS).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

/// Deep nesting and a large number of elements must exhaust neither stack nor memory.
#[test]
fn hostile_files_are_errors() {
    let deep = 200_000;
    for text in [
        "topology: ".to_owned() + &"[".repeat(deep),
        "topology:\n  nodes: ".to_owned() + &"{a: ".repeat(deep),
        "<graphml><graph>".to_owned() + &"<node>".repeat(deep),
        "{\"nodes\":".to_owned() + &"[".repeat(deep),
        "topology: &a [x]\nb: [".to_owned() + &"*a, ".repeat(100) + "]",
        "Nodes 1048576\nTiers 2\nTier 0\nRadix_Down 1\nRadix_Up 1048576\nDownlink_speed_Gbps 1\nDownlink_Latency_ns 1\n\
         Tier 1\nRadix_Down 1048576\nDownlink_speed_Gbps 1\nDownlink_Latency_ns 1\n"
            .to_owned(),
    ] {
        assert!(read("file.yml", &text, &OPTIONS).is_err(), "{}", &text[..40]);
    }
    // The XML parser compares all attributes of an element with each other, and would expand entities.
    let many: String = (0..100_000).map(|n| format!(" x{n}=\"1\"")).collect();
    let message = read("x.graphml", &format!("<graphml>\n<graph{many}/></graphml>"), &OPTIONS).unwrap_err().to_string();
    assert!(message.contains("line 2: an element has more than 1000 attributes"), "{message}");
    let entities: String =
        (1..12).map(|n| format!("<!ENTITY a{n} \"{}\">", format!("&a{};", n - 1).repeat(10))).collect();
    let bomb =
        format!("<!DOCTYPE g [<!ENTITY a0 \"x\">{entities}]><graphml><graph><node id=\"&a11;\"/></graph></graphml>");
    let message = read("x.graphml", &bomb, &OPTIONS).unwrap_err().to_string();
    assert!(message.contains("DTD"), "{message}");
    // 60,000 hosts at each of 2,000 switches exceed the limit on nodes.
    let switches: Vec<String> = (0..2_000).map(|n| format!("{{\"id\":\"s{n}\",\"kind\":\"switch\"}}")).collect();
    let graph = format!("{{\"nodes\":[{}],\"links\":[]}}", switches.join(","));
    let message = read("x.json", &graph, &Options { hosts_per_switch: 60_000, ..OPTIONS }).unwrap_err().to_string();
    assert!(message.contains("more than 4194304 nodes"), "{message}");
    let host = NodeKind::Host;
    assert_eq!(plain::kind_of("Server"), host);
}
