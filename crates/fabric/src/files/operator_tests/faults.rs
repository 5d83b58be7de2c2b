//! Tests of contradictory attributes, and of blocks and keys that are not read.

use super::super::*;
use super::*;

const NETLAB: &str =
    "defaults.device: eos\nnodes:\n  l1:\n  l2:\n  s1:\n  s2:\n  h1: {device: linux}\n  h2: {device: linux}\n";

fn links_of(fabric: &Fabric) -> Vec<(String, String)> {
    let name = |end: crate::graph::End| fabric.name(end.node).to_owned();
    fabric.links().iter().map(|link| (name(link.a), name(link.b))).collect()
}

#[test]
fn netlab_links_of_vlans_vrfs_maps_and_aggregated_links_are_read() {
    let core = "links: [l1-s1, l1-s2, l2-s1, l2-s2]\n";
    for (text, count) in [
        (format!("{core}vlans:\n  red:\n    links: [h1-l1, h2-l2]\n"), 6),
        (format!("{core}vrfs:\n  t: {{links: [[h1, l1]]}}\n  u: {{links: [h2-l2]}}\n"), 6),
        (format!("{core}vlans.red.links: [h1-l1, h2-l2]\n"), 6),
        ("links:\n  core: [l1-s1, l1-s2, l2-s1, l2-s2]\n  edge: [h1-l1, h2-l2]\n".to_owned(), 6),
        ("links:\n- l1-s1\n- l2-s1\n- h1-l1\n- h2-l2\n- lag: {members: [l1-s2, l1-s2]}\n- l2-s2\n".to_owned(), 7),
        ("links:\n- l1-s1\n- l2-s1\n- h1-l1\n- h2-l2\n- lag.members: [l1-s2, l2-s2]\n".to_owned(), 6),
    ] {
        let fabric = of(&(NETLAB.to_owned() + &text));
        assert_eq!(links_of(&fabric).len(), count, "{text}");
        assert!(links_of(&fabric).contains(&("h1".to_owned(), "l1".to_owned())), "{text}");
        assert!(lines(&fabric).is_empty(), "{text}{:?}", lines(&fabric));
    }
}

#[test]
fn netlab_blocks_that_are_not_read_are_said() {
    let core = "links: [l1-s1, l2-s1, h1-l1, h2-l2, l1-s2]\n";
    let fabric = of(&format!("{NETLAB}{core}components:\n  x: {{nodes: [q]}}\nlinkz: [l2-s2]\n"));
    assert_eq!(lines(&fabric), ["2 unknown keys not read: components, linkz"]);
    let fabric = of(&format!("{}{core}", NETLAB.replace("  l2:\n", "  l2: {clone: {count: 2}}\n")));
    assert_eq!(lines(&fabric), ["1 unknown key not read: nodes.l2.clone"]);
    let plugin = "defaults.device: eos\nplugin: [fabric]\nfabric:\n  spines: 2\n  leafs: 4\n";
    assert!(fails(plugin).starts_with("fabric: netlab's plugin makes nodes"), "{}", fails(plugin));
    // Groups may be lists, and the default device may be a key with dots.
    let groups = "defaults.device: eos\nnodes: [l1, s1, a, b]\ngroups:\n  hosts: {members: [a], device: linux}\n  \
                  leaf: [l1]\n  spine: [s1]\nlinks: [a-l1, b-s1, l1-s1]\n";
    let fabric =
        of(&groups.replace("nodes: [l1, s1, a, b]", "nodes: [l1, s1, a, b, h7]").replace("[a-l1", "[h7-l1, a-l1"));
    assert_eq!(hosts(&fabric), ["a", "h7"]);
    assert_eq!([tier(&fabric, "l1"), tier(&fabric, "s1")], [1, 2]);
}

#[test]
fn unknown_nodes_and_attributes_of_netlab_links_are_not_passed_over() {
    let rest = "- l2-s1\n- h1-l1\n- h2-l2\n";
    let with = |link: &str| format!("{NETLAB}links:\n- l1-s1\n{link}{rest}");
    for (link, unknown) in [
        ("- {l1: , s9: }\n", "s9"),
        ("- {l1: {ifname: Ethernet1}, s9: {ifname: Ethernet1}}\n", "s9"),
        ("- {l1: , s2: , s9: }\n", "s9"),
    ] {
        let message = fails(&with(link));
        assert!(message.starts_with(&format!("links[1]: `{unknown}` is no node")), "{message}");
    }
    for (link, unread) in [
        ("- {l1: , s2: , colour: red}\n", Some("1 unknown key not read: links[1].colour")),
        ("- {l1: {ifnam: Ethernet1}, s2: {ifname: Ethernet1}}\n", Some("1 unknown key not read: links[1].l1.ifnam")),
        (
            "- interfaces: [{node: l1, ifnam: x}, {node: s2, bandwidth: 9}]\n",
            Some("2 unknown keys not read: links[1].interfaces[0].ifnam, links[1].interfaces[1].bandwidth"),
        ),
        ("- [l1, {node: s2, ifnam: x}]\n", Some("1 unknown key not read: links[1][1].ifnam")),
        ("- {l1: {ipv4: 1, bgp.role: x}, s2: {ifname: e, ospf: {cost: 3}}, stp: , vlan: {trunk: }}\n", None),
    ] {
        let fabric = of(&with(link));
        let found = lines(&fabric).into_iter().find(|line| line.contains("not read"));
        assert_eq!(found.as_deref(), unread, "{link}");
    }
    let declared = "defaults.attributes.link: {colour: dict}\n";
    let fabric = of(&(declared.to_owned() + &with("- {l1: , s2: , colour: {red: 1}}\n")));
    assert!(!lines(&fabric).iter().any(|line| line.contains("not read")), "{:?}", lines(&fabric));
}

#[test]
fn the_bandwidth_of_netlab_links_is_their_rate_in_kbps() {
    let links = "links:\n- {l1: , s1: , bandwidth: 400000000}\n- l2-s1\n- {bandwidth: 25000000, members: [h1-l1, \
                 {h2: , l2: , bandwidth: 10000000}]}\n- {bandwidth: 1, lag: {members: [l1-s2]}}\n";
    let fabric = of(&(NETLAB.to_owned() + links));
    let rates: Vec<u64> = fabric.links().iter().map(|link| link.rate.as_bps() / 1_000_000_000).collect();
    assert_eq!(rates, [400, 100, 25, 10, 100], "the other links have the default");
    assert_eq!(lines(&fabric).last().map(String::as_str), Some("1 unknown key not read: links[3].bandwidth"));
    for wrong in ["100G", "0", "-5", "1.5", "[1]"] {
        let message = fails(&(NETLAB.to_owned() + &links.replace("400000000", wrong)));
        assert!(message.starts_with("links[0]: `bandwidth` must be a number of kbps"), "{wrong}: {message}");
    }
}

#[test]
fn disabled_links_of_netlab_are_left_out() {
    let core =
        "links:\n- l1-s1\n- l2-s1\n- h1-l1\n- h2-l2\n- {l1: , s2: , disable: true}\n- {l2: , s2: , disable: false}\n";
    let fabric = of(&(NETLAB.to_owned() + core));
    assert_eq!(links_of(&fabric).len(), 5);
    assert_eq!(lines(&fabric), ["1 link with `disable` left out: l1-s2"]);
}

#[test]
fn unknown_kinds_of_containerlab_are_reported() {
    let text = "topology:\n  nodes:\n    leaf1: {kind: arista_ceoss}\n    leaf2: {kind: ceos}\n    \
                a: {kind: lniux}\n    b: {kind: linux}\n  links:\n    - endpoints: [\"a:1\", \"leaf1:1\"]\n    \
                - endpoints: [\"b:1\", \"leaf2:1\"]\n    - endpoints: [\"leaf1:2\", \"leaf2:2\"]\n";
    let reported = lines(&of(text));
    let own = "2 nodes of unknown kinds are switches: leaf1 (kind arista_ceoss), a (kind lniux)";
    assert!(reported.iter().any(|line| line == own), "{reported:?}");
    assert!(
        !lines(&of(&text.replace("ceoss", "ceos").replace("lniux", "linux"))).iter().any(|it| it.contains("unknown"))
    );
}

#[test]
fn unknown_types_of_gns3_are_reported() {
    let node = |id: u8, kind: &str| format!(r#"{{"node_id": "{id}", "name": "n{id}", "node_type": "{kind}"}}"#);
    let link = |a: u8, b: u8| {
        let end = |id: u8| format!(r#"{{"node_id": "{id}", "adapter_number": 0, "port_number": {}}}"#, a + b);
        format!(r#"{{"nodes": [{}, {}]}}"#, end(a), end(b))
    };
    let file = |kind: &str| {
        let nodes = [node(1, "vpcs"), node(2, "vpcs"), node(3, kind)].join(", ");
        let links = [link(1, 3), link(2, 3)].join(", ");
        format!(r#"{{"type": "topology", "topology": {{"nodes": [{nodes}], "links": [{links}]}}}}"#)
    };
    let unknown = lines(&of(&file("etherswitch_x")));
    assert!(unknown.contains(&"1 node of an unknown type is a switch: n3 (etherswitch_x)".to_owned()), "{unknown:?}");
    assert!(!lines(&of(&file("ethernet_switch"))).iter().any(|line| line.contains("unknown")));
}

#[test]
fn containerlab_groups_come_from_kinds_and_defaults_too() {
    let links = |more: &str| {
        format!(
            "  links:\n    - endpoints: [\"a:1\", \"x:1\"]\n    - endpoints: [\"b:1\", \"x:2\"]\n    \
             - endpoints: [\"m:1\", \"a:9\"]\n    - endpoints: [\"n:1\", \"x:9\"]\n    \
             - endpoints: [\"o:1\", \"x:8\"]\n{more}"
        )
    };
    let hosts = "m: {kind: linux}, n: {kind: linux}, o: {kind: linux}";
    for (settings, nodes) in [
        (
            "kinds: {nokia_srlinux: {group: leaf}, arista_ceos: {group: spine}}",
            "a: {kind: nokia_srlinux}, b: {kind: nokia_srlinux}, x: {kind: arista_ceos}",
        ),
        ("defaults: {kind: nokia_srlinux, group: leaf}", "a: {}, b: {}, x: {group: spine}"),
        // The kind is inherited from the group of the defaults, and the group from that kind.
        (
            "defaults: {group: g}\n  groups: {g: {kind: ceos}}\n  kinds: {ceos: {group: leaf}}",
            "a: {}, b: {}, x: {group: spine, kind: ceos}",
        ),
    ] {
        let text = format!("topology:\n  {settings}\n  nodes: {{{nodes}, {hosts}}}\n{}", links(""));
        let fabric = of(&text);
        assert_eq!(["a", "b", "x"].map(|name| tier(&fabric, name)), [1, 1, 2], "{text}");
    }
    // Labels and image are inherited from a group that the kind states.
    let text = format!(
        "topology:\n  kinds: {{linux: {{group: r}}}}\n  groups: {{r: {{labels: {{tidegate-kind: switch}}}}}}\n  \
         nodes: {{a: {{kind: linux}}, b: {{kind: linux}}, x: {{kind: linux}}, m: {{kind: host}}, n: {{kind: host}}, \
         o: {{kind: host}}}}\n{}",
        links("")
    );
    assert_eq!(of(&text).switches().count(), 3);
}

#[test]
fn two_speeds_of_an_infiniband_cable_are_refused_in_any_order() {
    let switch = "Switch\t8 \"S-1\"\t# \"leaf\" base port 0\n[1]\t\"H-1\"[1](1)\t# \"h1\" lid 4 4xNDR\n\
                  [2]\t\"H-2\"[1](2)\t# \"h2\" lid 5 4xHDR\n";
    let first = "Ca\t1 \"H-1\"\t# \"h1\"\n[1](1)\t\"S-1\"[1]\t# lid 4 \"leaf\" lid 2 4xHDR\n";
    let second = "Ca\t1 \"H-2\"\t# \"h2\"\n[1](2)\t\"S-1\"[2]\t# lid 5 \"leaf\" lid 2 4xHDR\n";
    for (blocks, expected) in [
        (
            [switch, first, second],
            "line 5: port 1 of `H-1` has 200Gbps, but 400Gbps at the other end of the cable, line 2",
        ),
        (
            [first, switch, second],
            "line 4: port 1 of `S-1` has 400Gbps, but 200Gbps at the other end of the cable, line 2",
        ),
    ] {
        assert!(fails(&blocks.concat()).starts_with(expected), "{}", fails(&blocks.concat()));
    }
    // If only one end of a cable states a speed, that speed is used.
    let silent = switch.replace(" 4xNDR", "");
    for blocks in [[&silent[..], first, second], [first, second, &silent]] {
        let fabric = of(&blocks.concat());
        assert!(fabric.links().iter().all(|link| link.rate == Rate::from_gbps(200)));
    }
    let other = "Foo\t1 \"X-1\"\t# \"foo\"\n[1]\t\"S-1\"[1]\t# lid 9 \"leaf\" lid 2 4xHDR\n";
    for blocks in [[other, &silent, first, second], [&silent, first, second, other]] {
        let fabric = of(&format!("vendid=0x1\n{}", blocks.concat()));
        let said = lines(&fabric);
        assert!(said.len() == 1 && said[0].contains("a block `Foo\t1 \"X-1\"`"), "{said:?}");
        assert_eq!(hosts(&fabric).len(), 2);
    }
}

fn sonic(name: &str, kind: &str, row: &str, types: &str, more: &str) -> String {
    switch(name, kind, &format!("\"DEVICE_NEIGHBOR\": {{{row}}}, \"DEVICE_NEIGHBOR_METADATA\": {{{types}}}{more}"))
}

#[test]
fn two_lengths_of_one_port_are_refused() {
    for (first, second) in [("AA", "ZZ"), ("ZZ", "AA")] {
        let more = format!(
            ", \"CABLE_LENGTH\": {{\"{first}\": {{\"Ethernet0\": \"40m\"}}, \"{second}\": {{\"Ethernet0\": \"300m\"}}}}"
        );
        let row = r#""Ethernet0": {"name": "h1", "port": "e"}, "Ethernet4": {"name": "h2", "port": "e"}"#;
        let message = fails(&sonic("tor", "ToRRouter", row, "", &more));
        assert!(message.contains("CABLE_LENGTH.") && message.contains("states a length of the port too"), "{message}");
    }
}

#[test]
fn types_that_switches_state_differently_are_refused_or_said() {
    let tor = |name: &str, kind: &str, port: u32| {
        let row = format!(
            "\"Ethernet0\": {{\"name\": \"x\", \"port\": \"Ethernet{port}\"}}, \
             \"Ethernet4\": {{\"name\": \"srv-{name}\", \"port\": \"e\"}}"
        );
        let types = format!("\"x\": {{\"type\": \"{kind}\"}}, \"srv-{name}\": {{\"type\": \"Server\"}}");
        sonic(name, "ToRRouter", &row, &types, "")
    };
    for other in ["SpineRouter", "Server"] {
        let files = [tor("tor1", "LeafRouter", 0), tor("tor2", other, 4)];
        let message = fails(&join_config_db(files.clone()));
        let expected = format!(
            "tor2.DEVICE_NEIGHBOR_METADATA.x.type: is `{other}`, but tor1.DEVICE_NEIGHBOR_METADATA.x.type is \
             `LeafRouter`"
        );
        assert_eq!(message, expected);
        assert_eq!(fails(&join_config_db(files.into_iter().rev())), expected);
    }
    // The type in the switch's own file has precedence.
    let row =
        r#""Ethernet0": {"name": "tor1", "port": "Ethernet0"}, "Ethernet4": {"name": "tor2", "port": "Ethernet0"}"#;
    let files = [
        tor("tor1", "LeafRouter", 0),
        tor("tor2", "Server", 4),
        sonic("x", "LeafRouter", row, "", ", \"PORT\": {\"Ethernet0\": {}, \"Ethernet4\": {}}"),
    ];
    let fabric = of(&join_config_db(files));
    assert_eq!(tier(&fabric, "x"), 2);
    let expected = "1 type of a neighbour is not that of its own file, which counts: \
                    tor2.DEVICE_NEIGHBOR_METADATA.x.type";
    assert_eq!(lines(&fabric), [expected]);
}

#[test]
fn unknown_keys_of_rows_projects_and_tables_are_said() {
    let row = r#""Ethernet0": {"name": "h1", "port": "e", "prt": "f"}, "Ethernet4": {"name": "h2", "port": "e"}"#;
    let more = r#", "PORT": {"Ethernet0": {"spede": "100000", "alias": "a"}, "Ethernet4": {}}"#;
    let fabric = of(&sonic("tor", "ToRRouter", row, r#""h1": {"tpye": "Server"}"#, more));
    let expected = "3 unknown keys of rows not read: tor.DEVICE_NEIGHBOR.Ethernet0.prt, \
                    tor.DEVICE_NEIGHBOR_METADATA.h1.tpye, tor.PORT.Ethernet0.spede";
    assert_eq!(lines(&fabric), [expected]);

    let node =
        |id: u32, kind: &str| format!("{{\"node_id\": \"{id}\", \"name\": \"n{id}\", \"node_type\": \"{kind}\"}}");
    let gns3 = |links: &str, filters: &str| {
        format!(
            "{{\"type\": \"topology\", \"topology\": {{\"nodes\": [{}, {}, {}], \"{links}\": [{{\"link_id\": \"a\", \
             \"nodes\": [{{\"node_id\": \"1\"}}, {{\"node_id\": \"3\"}}]}}, {{\"filters\": {filters}, \"nodes\": \
             [{{\"node_id\": \"2\"}}, {{\"node_id\": \"3\"}}]}}]}}}}",
            node(1, "vpcs"),
            node(2, "vpcs"),
            node(3, "dynamips")
        )
    };
    assert!(lines(&of(&gns3("links", "{}"))).is_empty());
    assert_eq!(lines(&of(&gns3("links", "{\"delay\": [10, 0]}"))), ["1 key not read: links[1].filters"]);
    assert_eq!(fails(&gns3("linkz", "{}")), "topology.links: is missing, and not read: topology.linkz");

    let lldp = "{\"lldp\": {\"interface\": [{\"swp1\": {\"via\": \"LLDP\", \"chassis\": {\"h1\": {\"id\": {\"type\": \
                \"mac\", \"value\": \"0\"}, \"capabilty\": []}}, \"port\": {\"id\": {\"type\": \"ifname\", \"value\": \
                \"e\"}}}}, {\"swp2\": {\"chassis\": {\"h2\": {\"id\": {\"type\": \"mac\", \"value\": \"1\"}}}, \
                \"port\": \
                {\"id\": {\"type\": \"ifname\", \"value\": \"e\"}}}}]}, \"lldpp\": {}}";
    assert_eq!(lines(&of(lldp)), ["2 unknown keys not read: local.lldpp, local.swp1.capabilty"]);
}

#[test]
fn unknown_keys_of_nodes_are_reported() {
    let node = |id: u32, kind: &str, more: &str| {
        format!("{{\"node_id\": \"{id}\", \"name\": \"n{id}\", \"node_type\": \"{kind}\"{more}}}")
    };
    let gns3 = |more: &str| {
        format!(
            "{{\"topology\": {{\"nodes\": [{}, {}, {}], \"links\": [{{\"nodes\": [{{\"node_id\": \"1\"}}, \
             {{\"node_id\": \"3\"}}]}}, {{\"nodes\": [{{\"node_id\": \"2\"}}, {{\"node_id\": \"3\"}}]}}]}}}}",
            node(1, "vpcs", ", \"console\": 5000, \"template_id\": \"t\", \"z\": 1"),
            node(2, "vpcs", more),
            node(3, "dynamips", more)
        )
    };
    assert!(lines(&of(&gns3(""))).is_empty());
    let expected = "2 keys not read: nodes[1].tier, nodes[2].tier";
    assert_eq!(lines(&of(&gns3(", \"tier\": 2"))), [expected]);
    let links = "links: [l1-s1, l2-s1, h1-l1, h2-l2, l1-s2, l2-s2]\n";
    let known = "  l2: {bgp.as: 65000, mgmt: {ifname: eth0}, id: 7}\n";
    assert!(lines(&of(&(NETLAB.replace("  l2:\n", known) + links))).is_empty());
    let unknown = of(&(NETLAB.replace("  l2:\n", "  l2: {rol: host, rack: 4}\n") + links));
    assert_eq!(lines(&unknown), ["2 unknown keys not read: nodes.l2.rol, nodes.l2.rack"]);
}

#[test]
fn unknown_types_of_neighbours_are_reported_with_the_classification() {
    let row = r#""Ethernet0": {"name": "h1", "port": "e"}, "Ethernet4": {"name": "fw", "port": "e"},
        "Ethernet8": {"name": "box", "port": "a"}, "Ethernet12": {"name": "box", "port": "b"}"#;
    let types = r#""h1": {"type": "Server"}, "fw": {"type": "Firewall"}, "box": {"type": "MgmtTsToR"}"#;
    let fabric = of(&sonic("tor", "ToRRouter", row, types, ""));
    let expected = "2 types of neighbours unknown: tor.DEVICE_NEIGHBOR_METADATA.fw.type `Firewall`: fw is a host (has \
                    one link, and not the name of a switch), tor.DEVICE_NEIGHBOR_METADATA.box.type `MgmtTsToR`: box \
                    is a switch (nothing says that it is a host)";
    assert_eq!(lines(&fabric)[0], expected);
    assert_eq!(hosts(&fabric), ["h1", "fw"]);
}

/// Returns the output of `show lldp table` with these rows, in the format of the Python library tabulate.
fn lldp_table(rows: &[[&str; 5]]) -> String {
    let titles = ["LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr"];
    let width = |at: usize| rows.iter().chain([&titles]).map(|row| row[at].chars().count()).max().unwrap();
    let line = |row: &[&str; 5]| {
        let cells: Vec<String> = (0..5).map(|at| format!("{:1$}", row[at], width(at))).collect();
        cells.join("  ").trim_end().to_owned() + "\n"
    };
    let dashes: Vec<String> = (0..5).map(|at| "-".repeat(width(at))).collect();
    let body: String = rows.iter().map(line).collect();
    let total = format!("{}\nTotal entries displayed:  {}\n", "-".repeat(50), rows.len());
    format!("Capability codes: (R) Router\n{}{}\n{body}{total}", line(&titles), dashes.join("  "))
}

#[test]
fn wide_rows_of_lldp_tables_are_read_or_refused_with_their_line() {
    let options = Options { hosts_per_switch: 1, ..OPTIONS };
    let rows = [
        ["Ethernet0", "rack 4 leaf", "Ethernet 1/1", "BROOOOOOOOOOOO", "to the spine, port 7"],
        ["Ethernet4", "server-1", "02:00:00:00:00:02", "O", "ens1f0"],
        ["Ethernet8", "server-2", "eth0", "", "über  zwei Leerzeichen"],
    ];
    let table = lldp_table(&rows);
    let ends = |text: &str| -> Vec<(String, String)> {
        let fabric = read("file", text, &options).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let local = fabric.find("local").unwrap();
        let end = |port: &crate::PortPeer| {
            let name = fabric.port_name(port.peer, port.peer_port).unwrap_or_default();
            (fabric.name(port.peer).to_owned(), name.to_owned())
        };
        fabric.ports(local).iter().map(end).collect()
    };
    let expected = [("rack 4 leaf", "Ethernet 1/1"), ("server-1", "ens1f0"), ("server-2", "eth0")]
        .map(|(node, port)| (node.to_owned(), port.to_owned()));
    assert_eq!(ends(&table), expected);
    // A description with two lines.
    let column = table.lines().nth(2).unwrap().rfind(' ').unwrap() + 1;
    let below = format!("{}second line\nEthernet4", " ".repeat(column));
    assert_eq!(ends(&table.replacen("Ethernet4", &below, 1)), expected);
    // A cell that is wider than the dashes of its column, as in a table with fixed column widths.
    let wide = table.replace("server-1   ", "server-1-of-the-rack   ");
    assert_eq!(ends(&wide)[1], ("server-1-of-the-rack".to_owned(), "ens1f0".to_owned()));
    let fails = |text: &str| read("file", text, &options).unwrap_err().to_string();
    let without = table.replace("server-2   ", "server-2-of-the-rack   ");
    let expected = "local, line 6: a cell is wider than its column, and the parts";
    assert!(fails(&without).starts_with(expected), "{}", fails(&without));
    for (from, to, message) in [
        ("  to the spine, port 7", "\nto the spine, port 7", "local, line 5: a cell is wider than its column"),
        ("displayed:  3", "displayed:  4", "local, line 8: is 4, and the table has 3 rows"),
        ("Ethernet8 ", "Ethern t8 ", "local, line 6: must have a local port"),
    ] {
        assert!(table.contains(from), "{from}");
        let error = fails(&table.replace(from, to));
        assert!(error.starts_with(message), "{to}: {error}");
    }
    assert_eq!(ends(&table.replace("Ethernet4", "\nEthernet4")).len(), 3, "rows below a blank line count");
}
