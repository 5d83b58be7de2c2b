//! Round trips (write, then read) and corrupted files.

use super::*;
use crate::generate::*;
use crate::{FabricBuilder, LinkSpec, NodeKind};
use proptest::prelude::*;
use units::{Rate, Time};

const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(10), Time::from_ns(500));
const OPTIONS: Options = Options::new(LINK);

/// Generates arbitrary connected fabrics, including parallel links and unusual values.
fn any_fabric(relays: bool) -> impl Strategy<Value = Fabric> {
    let spec = (1u64..4_000_000_000_000, 1u64..10_000_000_000, 0u32..=1000)
        .prop_map(|(bps, ps, mille)| (bps, ps, f64::from(mille) / 1000.0));
    let node = (any::<bool>(), any::<u32>(), spec.clone());
    let extra = (any::<u32>(), any::<u32>(), spec);
    (proptest::collection::vec(node, 1..20), proptest::collection::vec(extra, 0..20)).prop_map(move |(nodes, extra)| {
        let link = |(bps, ps, loss): (u64, u64, f64)| LinkSpec {
            loss,
            ..LinkSpec::new(Rate::from_bps(bps).unwrap(), Time::from_ps(ps))
        };
        let mut builder = FabricBuilder::new("any");
        let mut switches = vec![builder.add_switch("core", 2)];
        let first = builder.add_host("first");
        builder.connect(first, switches[0], LINK);
        for (index, (host, at, spec)) in nodes.into_iter().enumerate() {
            let node = match host {
                true if relays && at % 3 == 0 => builder.add_relay_host(format!("relay{index}")),
                true => builder.add_host(format!("n {index} \"quoted\"")),
                false => builder.add_switch(format!("s{index}"), (at % 5) as u8),
            };
            builder.connect(switches[at as usize % switches.len()], node, link(spec));
            if !host {
                switches.push(node);
            }
        }
        for (a, b, spec) in extra {
            let (a, b) = (switches[a as usize % switches.len()], switches[b as usize % switches.len()]);
            if a != b {
                builder.connect(a, b, link(spec));
            }
        }
        builder.build().unwrap()
    })
}

fn same_shape(a: &Fabric, b: &Fabric) {
    assert_eq!(a.links(), b.links());
    let kinds = |fabric: &Fabric| fabric.nodes().iter().map(|node| node.kind).collect::<Vec<_>>();
    assert_eq!(kinds(a), kinds(b));
}

proptest! {
    #[test]
    fn hpcc_round_trip(fabric in any_fabric(false)) {
        let text = write_hpcc(&fabric).unwrap();
        same_shape(&fabric, &read_hpcc(&text).unwrap());
        prop_assert_eq!(detect("x", &text), Some(Format::Hpcc));
    }

    #[test]
    fn node_link_round_trip(fabric in any_fabric(true)) {
        let text = write_node_link(&fabric);
        let back = read_node_link(&text, &OPTIONS).unwrap();
        same_shape(&fabric, &back);
        prop_assert_eq!(fabric.nodes(), back.nodes());
        prop_assert_eq!(detect("x", &text), Some(Format::NodeLink));
    }

    /// For any corruption of a file, the reader returns a fabric or an error instead of panicking.
    #[test]
    fn corrupted_files_never_panic(
        fabric in any_fabric(true), at in any::<usize>(), byte in 0u8..128, cut in any::<bool>()
    ) {
        for text in [write_hpcc(&fabric).unwrap_or_default(), write_node_link(&fabric)] {
            let mut bytes = text.into_bytes();
            if bytes.is_empty() {
                continue;
            }
            let at = at % bytes.len();
            if cut { bytes.truncate(at) } else { bytes[at] = byte }
            let text = String::from_utf8_lossy(&bytes);
            let _ = read("any", &text, &OPTIONS);
            let _ = read_hpcc(&text);
            let _ = read_node_link(&text, &OPTIONS);
        }
    }
}

#[test]
fn generated_fabrics_survive_both_formats() {
    let links = TierLinks::uniform(LINK);
    for fabric in [fat_tree(4, links).unwrap(), leaf_spine(2, 2, 2, 3, links).unwrap(), f10(4, links).unwrap()] {
        let back = read_hpcc(&write_hpcc(&fabric).unwrap()).unwrap();
        same_shape(&fabric, &back);
        let tiers = |fabric: &Fabric| fabric.nodes().iter().map(|node| node.tier).collect::<Vec<_>>();
        assert_eq!(tiers(&fabric), tiers(&back), "inferred tiers are the generator's");
        assert_eq!(read_node_link(&write_node_link(&fabric), &OPTIONS).unwrap().nodes(), fabric.nodes());
    }
    let bcube = bcube(2, 1, LINK).unwrap();
    assert!(write_hpcc(&bcube).unwrap_err().to_string().contains("host `H1` forwards for others"));
    let noisy = single_switch(2, LinkSpec { bit_error_rate: 1e-9, ..LINK }).unwrap();
    assert!(write_hpcc(&noisy).unwrap_err().to_string().contains("bit error rate between `H1` and `S1`"));
}

const SAMPLE: &str = "4 1 3\n3\n0 3 100Gbps 1000ns 0.000000\n1 3 25Gbps 0.001ms 0\n2 3 100Gbps 1us 1\n";

#[test]
fn hpcc_files_as_they_are_found() {
    let fabric = read_hpcc(SAMPLE).unwrap();
    assert_eq!((fabric.hosts().len(), fabric.links().len()), (3, 3));
    assert_eq!(fabric.links()[1].rate, Rate::from_gbps(25));
    assert!(fabric.links().iter().all(|link| link.delay == Time::from_us(1)));
    assert_eq!((fabric.find("h2").map(|n| n.0), fabric.find("s3").map(|n| n.0)), (Some(2), Some(3)));
    // Blank lines, CRLF line breaks, a byte order mark, switch ids on two lines, comments after the last link.
    let odd = "\u{feff}5 2 5\r\n\r\n3\r\n  4\r\n0 3 100Gbps 1000ns 0\r\n1 3 1Gbps 1ns 0\r\n2 4 1Gbps 1ns 0\r\n\
               3 4 1Gbps 1ns 0\r\n3 4 1Gbps 1ns 0.5 total node #, ...\r\n\r\nfirst line: 7 8\r\n";
    let fabric = read_hpcc(odd).unwrap();
    assert_eq!(fabric.ports(fabric.find("s4").unwrap()).len(), 3);
    assert_eq!(detect("topology.txt", odd), Some(Format::Hpcc));
}

#[test]
fn hpcc_errors_name_the_line() {
    let error = |from: &str, to: &str| read_hpcc(&SAMPLE.replacen(from, to, 1)).unwrap_err().to_string();
    for (from, to, expected) in [
        ("4 1 3\n", "4 1\n", "line 1: the number of links is missing"),
        ("4 1 3", "4 1 3 3", "line 1: 3 ToRs among 1 switches"),
        ("4 1 3", "4 1 3 3 3", "line 1: 5 items: the first line is"),
        ("4 1 3", "4 x 3", "line 1: `x` is not a number of switches"),
        ("4 1 3", "4 5 3", "line 1: 5 switches among 4 nodes"),
        ("4 1 3", "4000000000 1 1", "line 1: 1 links cannot connect 4000000000 nodes"),
        ("4 1 3", "4 1 4000000000", "line 1: 4000000000 links are announced, but the file has only 5 lines"),
        ("4 1 3", "4 1 4", "line 5: the file ends after 3 of 4 links"),
        ("\n3\n", "\n7\n", "line 2: node 7 does not exist"),
        ("\n3\n", "\n3 2\n", "line 2: `2` is one switch id more"),
        ("4 1 3\n3\n", "4 2 3\n3 3\n", "line 2: switch 3 is listed twice"),
        ("1 3 25Gbps", "1 9 25Gbps", "line 4: node 9 does not exist: there are 4, counted from 0"),
        ("1 3 25Gbps", "-1 3 25Gbps", "line 4: `-1` is not a node id"),
        ("1 3 25Gbps", "3 3 25Gbps", "line 4: the link connects node 3 with itself"),
        ("25Gbps", "25", "line 4: `25` has no unit"),
        ("25Gbps", "0Gbps", "line 4: `0Gbps`: a rate is positive"),
        ("0.001ms", "-5ns", "line 4: `-5ns` is negative"),
        ("0.001ms", "0ns", "line 4: the delay `0ns` must be above zero"),
        ("0.001ms 0", "0.001ms 1.5", "line 4: `1.5` is not a loss probability"),
        ("0.001ms 0", "0.001ms nan", "line 4: `nan` is not a loss probability"),
        ("0.001ms 0", "0.001ms", "line 4: a link is `<a> <b> <rate> <delay> <loss>`, 5 items; this line has 4"),
        ("0.001ms 0", "0.001ms 0 0", "line 4: a link is `<a> <b> <rate> <delay> <loss>`, 5 items; this line has 6"),
        ("1 3 25Gbps", "0 3 25Gbps", "host `h1` has no link"),
    ] {
        let message = error(from, to);
        assert!(message.contains(expected), "{to:?}: {message}");
    }
    assert!(read_hpcc("").unwrap_err().to_string().contains("line 1: the file is empty"));
    assert!(read_hpcc("2 1 1\n").unwrap_err().to_string().contains("line 1: the file ends after 0 of 1 switch ids"));
}

/// First lines of SimAI, PowerTCP, Reverie and ns3-rdma, followed by the same links.
#[test]
fn topologies_of_other_forks_of_hpcc_are_read() {
    let of = |text: &str| {
        let fabric = read_hpcc(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(detect("topology.txt", text), Some(Format::Hpcc), "{text}");
        (fabric.hosts().len(), fabric.switches().count(), fabric.links().len())
    };
    let simai = "7 2 2 1 8 H100\n4 5 6\n0 4 2880Gbps 0.000025ms 0\n0 6 100Gb/s 0.0005ms 0\n1 4 2880Gbps 0.000025ms 0\n\
                 1 6 100Gbps 0.0005ms 0\n2 5 2880Gbps 0.000025ms 0\n2 6 100Gbps 0.0005ms 0\n\
                 3 5 2880Gbps 0.000025ms 0\n3 6 100Gbps 0.0005ms 0\n";
    assert_eq!(of(simai), (4, 3, 8));
    assert_eq!(of(&simai.replace("H100", "H100 8")), (4, 3, 8), "newer files count the GPUs of a node");
    let powertcp = "6 2 1 5\n4 5\n0 4 25000000000.0 1us 0\n1 4 25000000000.0 1us 0\n2 5 25000000000.0 1us 0\n\
                    3 5 25000000000.0 1us 0\n4 5 100000000000.0 1us 0\n";
    assert_eq!(of(powertcp), (4, 2, 5));
    assert_eq!(read_hpcc(powertcp).unwrap().links()[4].rate, Rate::from_gbps(100));
    assert_eq!(of(&powertcp.replace("6 2 1 5", "6 2 2 5 25000000000 25000000000")), (4, 2, 5));
    let ns3_rdma =
        "3 1 2\n0\n0 1 40Gbps 0.0001ms\n0 2 40Gbps 0.0001ms\n\nFirst line: total node #, switch node #, link #\n";
    assert_eq!(of(ns3_rdma), (2, 1, 2));
    let mixed = read_hpcc(&ns3_rdma.replacen("0.0001ms\n\n", "0.0001ms 0\n\n", 1)).unwrap_err().to_string();
    assert!(mixed.contains("line 4: a link is `<a> <b> <rate> <delay>`, 4 items"), "{mixed}");
    let slow = read_hpcc(&powertcp.replacen("25000000000.0", "25", 1)).unwrap_err().to_string();
    assert!(slow.contains("line 3: `25` has no unit"), "{slow}");
    let named = Format::Hpcc.read("4 1 3\n3\n0 3 fast 1us 0\n", &OPTIONS).unwrap_err().to_string();
    assert!(named.ends_with("(read as hpcc)"), "{named}");
}

/// A ring of accelerators has no switch, so the hosts must relay.
#[test]
fn hosts_of_a_file_without_switches_can_relay() {
    let ring = "4 0 4\n\n0 1 200Gbps 0.005ms 0\n1 2 200Gbps 0.005ms 0\n2 3 200Gbps 0.005ms 0\n3 0 200Gbps 0.005ms 0\n";
    let fabric = read_hpcc(ring).unwrap();
    assert!(!fabric.has_relays() && fabric.hosts().len() == 4);
    let fabric = fabric.with_relaying_hosts();
    assert!(fabric.nodes().iter().all(|node| node.relay));
    assert_eq!(fabric.check(), Ok(()));
}

#[test]
fn node_link_hosts_by_attribute_name_or_degree() {
    let host_names = |text: &str, hosts_per_switch| {
        let fabric = read_node_link(text, &Options { hosts_per_switch, ..OPTIONS }).unwrap();
        fabric.hosts().iter().map(|&host| fabric.name(host).to_owned()).collect::<Vec<_>>()
    };
    let attributes = r#"{"nodes":[{"id":1,"role":"Server"},{"id":2,"type":"leaf"},{"id":3,"kind":"host","name":"x"}],
        "edges":[{"source":1,"target":2},{"source":3,"target":2}]}"#;
    assert_eq!(host_names(attributes, 0), ["1", "x"]);
    let named = r#"{"nodes":[{"id":"h1"},{"id":"tor"},{"id":"Host-2"},{"id":"stub"},{"id":"hub"}],"links":[
        {"source":"h1","target":"tor"},{"source":"Host-2","target":"tor"},{"source":"stub","target":"tor"},
        {"source":"hub","target":"tor"}]}"#;
    assert_eq!(host_names(named, 0), ["h1", "Host-2", "stub", "hub"], "by name, and by one link");
    let plain = r#"{"nodes":[{"id":"a"},{"id":"b"},{"id":"c"}],
        "links":[{"source":"a","target":"b"},{"source":"b","target":"c"}]}"#;
    assert_eq!(host_names(plain, 0), ["a", "c"]);
    let cycle = r#"{"nodes":[{"id":"a"},{"id":"b"},{"id":"c"}],"links":[{"source":"a","target":"b"},
        {"source":"b","target":"c"},{"source":"c","target":"a","rate":"40Gbps","delay":"2us","loss":0.25}]}"#;
    assert_eq!(host_names(cycle, 1), ["a-h1", "b-h1", "c-h1"]);
    let fabric = read_node_link(cycle, &Options { hosts_per_switch: 1, ..OPTIONS }).unwrap();
    assert_eq!(fabric.links()[0].spec(), LINK);
    let stated = LinkSpec { loss: 0.25, ..LinkSpec::new(Rate::from_gbps(40), Time::from_us(2)) };
    assert_eq!(fabric.links()[2].spec(), stated);
    assert!(fabric.switches().all(|node| fabric.node(node).tier == 1 && fabric.node(node).kind == NodeKind::Switch));
}

#[test]
fn node_link_errors_name_the_element() {
    let good = r#"{"nodes":[{"id":"h1"},{"id":"s"}],
        "links":[{"source":"h1","target":"s","rate":"1Gbps","delay":"1us","loss":0}]}"#;
    read_node_link(good, &OPTIONS).unwrap();
    for (from, to, expected) in [
        ("{\"nodes\":", "{\"directed\":true,\"nodes\":", "directed: must be false"),
        ("{\"id\":\"s\"}", "{\"id\":\"s\",\"relay\":true}", "nodes[1].relay: must be"),
        ("\"nodes\":", "\"nods\":", "top level: `nodes` is missing"),
        ("\"links\"", "\"likns\"", "top level: `links` is missing"),
        ("{\"id\":\"s\"}", "{}", "nodes[1]: has no `id`"),
        ("{\"id\":\"s\"}", "{\"id\":\"h1\"}", "nodes[1]: the id `h1` occurs twice"),
        ("{\"id\":\"s\"}", "{\"id\":\"s\",\"tier\":-1}", "nodes[1].tier: must be"),
        ("\"target\":\"s\"", "\"target\":\"t\"", "links[0].target: `t` is not the id of a node"),
        ("\"1Gbps\"", "\"fast\"", "links[0].rate: `fast` is not a rate"),
        ("\"1us\"", "7", "links[0].delay: must be a text with a unit"),
        ("\"1us\"", "\"0us\"", "between `h1` and `s` has no delay"),
        ("\"loss\":0", "\"loss\":2", "links[0].loss: must be a number between 0 and 1"),
        ("]}", "]", "line 2, column"),
    ] {
        let message = read_node_link(&good.replacen(from, to, 1), &OPTIONS).unwrap_err().to_string();
        assert!(message.contains(expected), "{to}: {message}");
    }
    let cycle = r#"{"nodes":[{"id":1,"kind":"switch"}],"links":[]}"#;
    assert!(read_node_link(cycle, &OPTIONS).unwrap_err().to_string().contains("none is a host"));
    assert!(
        read("x.gml", "graph [ ]", &OPTIONS).unwrap_err().to_string().contains("`x.gml` is in none of the formats")
    );
}
