//! Tests of the formats that operators and network labs use.

use super::super::*;
use super::*;

const SHARP: &str = "Switch\t3 \"S-01\"\t\t# \"leaf1\" lid 1\n[1]\t\"H-01\"[1]\t\t# \"n1 mlx5_0\" lid 5 4xNDR\n\
    [2]\t\"S-02\"[1]\t\t# \"spine1\" lid 2 4xNDR\n\
    [3]\t\"H-03\"[1]\t\t# \"Mellanox Technologies Aggregation Node\" lid 7 4xNDR\n\
    \nSwitch\t3 \"S-02\"\t\t# \"spine1\" lid 2\n[1]\t\"S-01\"[2]\t\t# \"leaf1\" lid 1 4xNDR\n\
    [2]\t\"H-04\"[1]\t\t# \"Mellanox Technologies Aggregation Node\" lid 8 4xNDR\n\
    [3]\t\"S-05\"[1]\t\t# \"leaf2\" lid 9 4xNDR\n\
    \nSwitch\t2 \"S-05\"\t\t# \"leaf2\" lid 9\n[1]\t\"S-02\"[3]\t\t# \"spine1\" lid 2 4xNDR\n\
    [2]\t\"H-02\"[1]\t\t# \"n2 mlx5_0\" lid 6 4xNDR\n\
    \nCa\t1 \"H-01\"\t\t# \"n1 mlx5_0\"\n[1]\t\"S-01\"[1]\t\t# lid 5 4xNDR\n\
    \nCa\t1 \"H-02\"\t\t# \"n2 mlx5_0\"\n[1]\t\"S-05\"[2]\t\t# lid 6 4xNDR\n\
    \nCa\t1 \"H-03\"\t\t# \"Mellanox Technologies Aggregation Node\"\n[1]\t\"S-01\"[3]\t\t# lid 7 4xNDR\n\
    \nCa\t1 \"H-04\"\t\t# \"Mellanox Technologies Aggregation Node\"\n[1]\t\"S-02\"[2]\t\t# lid 8 4xNDR\n";

#[test]
fn aggregation_nodes_are_functions_of_switches() {
    let fabric = of(SHARP);
    assert_eq!(hosts(&fabric), ["n1 mlx5_0", "n2 mlx5_0"]);
    assert_eq!(["leaf1", "spine1", "leaf2"].map(|name| tier(&fabric, name)), [1, 2, 1]);
    assert_eq!(lines(&fabric), ["2 SHARP aggregation nodes inside of switches left out: H-03, H-04"]);
    let roles = Roles { ignore: vec![NamePattern::new("H-03")], ..Roles::NONE };
    assert!(read("file", SHARP, &Options { roles, ..OPTIONS }).is_ok(), "left out already");
    let roles = Roles { host: vec![NamePattern::new("H-03")], ..Roles::NONE };
    assert_eq!(read("file", SHARP, &Options { roles, ..OPTIONS }).unwrap().hosts().len(), 3);
}

#[test]
fn labs_have_containers_and_links_outside_of_the_fabric() {
    let text = "name: lab\nmgmt: {network: m}\nextra: 1\ntopology:\n  nodes:\n    leaf1: {kind: nokia_srlinux}\n    \
                h1: {kind: linux}\n    h2: {kind: linux}\n    prometheus: {kind: linux}\n  links:\n    \
                - type: veth\n      endpoints: [{node: leaf1, interface: e1-1}, {node: h1, interface: eth1}]\n      \
                mtu: 9100\n    - endpoints: [\"leaf1:e1-2\", \"h2:eth1\"]\n    \
                - type: dummy\n      endpoint: {node: leaf1, interface: e1-9}\n    \
                - endpoints: [\"leaf1:e1-8\", \"mgmt-net:x1\"]\n    - endpoints: [\"leaf1:e1-3\", \"leaf1:e1-4\"]\n";
    let fabric = of(text);
    assert_eq!((hosts(&fabric), fabric.links().len()), (vec!["h1", "h2"], 2));
    assert_eq!(
        lines(&fabric),
        [
            "2 links outside of the lab left out: links[2], links[3]",
            "1 unknown key not read: extra",
            "1 link of a node with itself left out: leaf1",
            "1 node without a link left out: prometheus",
        ]
    );
}

/// The brief and the extended forms of links with an endpoint outside of the lab, with the keys that containerlab
/// documents.
#[test]
fn every_form_of_a_link_that_leaves_the_lab_is_left_out() {
    let text = "name: t\ntopology:\n  nodes:\n    leaf1: {kind: nokia_srlinux}\n    h1: {kind: linux}\n    \
                h2: {kind: linux}\n  links:\n    - type: veth\n      endpoints:\n        - node: leaf1\n          \
                interface: e1-1\n          mac: 02:00:00:00:00:01\n        - node: h1\n          \
                interface: eth1\n      mtu: 9100\n      vars: {rate: 400G}\n    \
                - endpoints: [\"leaf1:e1-2\", \"h2:eth1\"]\n      mtu: 9100\n    \
                - type: dummy\n      endpoint: {node: leaf1, interface: e1-9}\n    \
                - type: mgmt-net\n      endpoint: {node: leaf1, interface: e1-8}\n      host-interface: x1\n    \
                - endpoints: [\"leaf1:e1-7\", \"host:veth7\"]\n    \
                - endpoints: [\"leaf1:e1-6\", \"mgmt-net:x2\"]\n    \
                - endpoints: [\"leaf1:e1-5\", \"macvlan:eth0\"]\n";
    let fabric = of(text);
    assert_eq!((hosts(&fabric), fabric.links().len()), (vec!["h1", "h2"], 2));
    assert_eq!(
        lines(&fabric),
        ["5 links outside of the lab left out: links[2], links[3], links[4], links[5] and 1 more"]
    );
}

#[test]
fn rates_and_delays_are_assumed_only_on_request() {
    let text = leaf_spine(&["a", "b"], &["s"], 1);
    let fabric = read("file", &text, &Options { assumed: Some(LINK), ..Options::NONE }).unwrap();
    assert!(fabric.assumes_links() && fabric.links().iter().all(|link| link.spec() == LINK));
    assert_eq!(lines(&fabric), ["4 links without a rate: 100Gbps assumed", "4 links without a delay: 500ns assumed"]);
    assert!(read("file", &text, &Options::NONE).unwrap_err().to_string().contains("has no delay"));
    let stated = read("file", &text, &Options { assumed: Some(LINK), ..OPTIONS }).unwrap();
    assert!(!stated.assumes_links() && lines(&stated).is_empty());
}

#[test]
fn neighbours_stand_by_port_or_by_name() {
    let leaf = "\"DEVICE_NEIGHBOR\": {\"tor-1\": {\"local_port\": \"Ethernet4\", \"port\": \"Ethernet124\", \"type\": \
                \"ToRRouter\"}, \"tor-2\": {\"local_port\": \"Ethernet8\", \"port\": \"Ethernet124\", \"type\": \
                \"ToRRouter\"}}";
    let tor = "\"DEVICE_NEIGHBOR\": {\"Ethernet124\": {\"name\": \"leaf-1\", \"port\": \"Ethernet4\"}, \"Ethernet0\": \
               {\"name\": \"Servers0\", \"port\": \"eth0\"}}";
    let fabric = of(&join_config_db([switch("leaf-1", "LeafRouter", leaf), switch("tor-1", "ToRRouter", tor)]));
    assert_eq!((fabric.links().len(), hosts(&fabric)), (3, vec!["Servers0"]));
    assert_eq!(["leaf-1", "tor-1", "tor-2"].map(|name| tier(&fabric, name)), [2, 1, 1]);
    let without = leaf.replace("\"local_port\": \"Ethernet4\", ", "");
    let message = fails(&switch("leaf-1", "LeafRouter", &without));
    assert!(message.contains("leaf-1.DEVICE_NEIGHBOR.tor-1: must have the `name`"), "{message}");
}

#[test]
fn a_server_port_that_two_switches_name_is_that_of_a_y_cable() {
    let tor = |name: &str, uplink: u32| {
        let neighbors = format!(
            "\"DEVICE_NEIGHBOR\": {{\"Ethernet0\": {{\"name\": \"Servers0\", \"port\": \"eth0\"}}, \"Ethernet4\": \
             {{\"name\": \"t1-1\", \"port\": \"Ethernet{uplink}\"}}}}"
        );
        switch(name, "ToRRouter", &neighbors)
    };
    let upper = switch("t1-1", "LeafRouter", "\"PORT\": {\"Ethernet0\": {}, \"Ethernet4\": {}}");
    let fabric = of(&join_config_db([tor("tor-a", 0), tor("tor-b", 4), upper.clone()]));
    assert_eq!(hosts(&fabric), ["Servers0"]);
    assert_eq!(fabric.ports(fabric.hosts()[0]).len(), 2);
    assert_eq!(lines(&fabric), ["1 Y cable: a server port that two switches reach: Servers0 eth0"]);
    let written = write_config_db(&fabric).unwrap();
    let tor_b = &written.iter().find(|(name, _)| name == "tor-b").unwrap().1;
    assert!(tor_b.contains("\"eth0\"") && !tor_b.contains('@'), "{tor_b}");
    let again = of(&join_config_db(written.into_iter().map(|(_, file)| file)));
    assert_eq!((again.links().len(), lines(&again)), (4, lines(&fabric)));
    let again = of(&write_node_link(&fabric));
    assert_eq!((again.links(), lines(&again)), (fabric.links(), lines(&fabric)));
    let extra = write_node_link(&fabric).replace("\"graph\": {", "\"metadata\": 1, \"graph\": {\"sharedports\": [], ");
    let unread = "2 attributes not read: graph.sharedports, metadata".to_owned();
    assert!(lines(&of(&extra)).contains(&unread), "{:?}", lines(&of(&extra)));
    // Two switches that name one port of a third switch are an error for any order of their files.
    for files in [[tor("tor-a", 0), tor("tor-b", 0), upper.clone()], [upper, tor("tor-b", 0), tor("tor-a", 0)]] {
        let message = fails(&join_config_db(files));
        let expected = "tor-b.DEVICE_NEIGHBOR.Ethernet4: tor-a: DEVICE_NEIGHBOR|Ethernet4 leads to t1-1 Ethernet0 too";
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn two_ends_of_a_cable_that_disagree() {
    let end = |name: &str, kind: &str, peer: &str, speed: u32, length: &str| {
        let rest = format!(
            "\"DEVICE_NEIGHBOR\": {{\"Ethernet0\": {{\"name\": \"{peer}\", \"port\": \"Ethernet0\"}}, \"Ethernet4\": \
             {{\"name\": \"h-{name}\", \"port\": \"eth0\"}}}}, \"PORT\": {{\"Ethernet0\": {{\"speed\": \"{speed}\"}}, \
             \"Ethernet4\": {{}}}}, \"CABLE_LENGTH\": {{\"AZURE\": {{\"Ethernet0\": \"{length}\"}}}}, \
             \"DEVICE_NEIGHBOR_METADATA\": {{\"h-{name}\": {{\"type\": \"Server\"}}}}"
        );
        switch(name, kind, &rest)
    };
    let (tor, leaf) =
        (end("tor-1", "ToRRouter", "leaf-1", 100_000, "5m"), end("leaf-1", "LeafRouter", "tor-1", 100_000, "300m"));
    for files in [[tor.clone(), leaf.clone()], [leaf, tor.clone()]] {
        let fabric = of(&join_config_db(files));
        let cable = fabric.link_between(fabric.find("tor-1").unwrap(), fabric.find("leaf-1").unwrap()).unwrap();
        assert_eq!(fabric.link(cable).delay, Time::from_ns(1500), "the longer of the two");
        assert_eq!(
            lines(&fabric)[0],
            "1 cable with two lengths, the longer counts: leaf-1 Ethernet0 300m and tor-1 Ethernet0 5m"
        );
    }
    let slow = end("leaf-1", "LeafRouter", "tor-1", 40_000, "5m");
    let message = fails(&join_config_db([tor, slow]));
    let expected = "leaf-1.PORT.Ethernet0.speed: is \"40000\", and tor-1: PORT|Ethernet0.speed at the other end of the \
                    cable is \"100000\"";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn files_of_several_asics_are_one_switch() {
    let asic = |number: u32, ports: &str, rest: &str| {
        format!(
            "{{\"DEVICE_METADATA\": {{\"localhost\": {{\"hostname\": \"big\", \"type\": \"SpineRouter\", \
             \"asic_name\": \"asic{number}\"}}}}, \"PORT\": {{{ports}}}, \"DEVICE_NEIGHBOR\": {{{rest}}}}}"
        )
    };
    let first = asic(
        0,
        "\"Ethernet0\": {}, \"Ethernet-BP0\": {\"role\": \"Int\"}",
        "\"Ethernet0\": {\"name\": \"h1\", \"port\": \"eth0\"}, \"Ethernet-BP0\": {\"name\": \"ASIC1\", \
         \"port\": \"Eth1\"}",
    );
    let second = asic(1, "\"Ethernet8\": {}", "\"Ethernet8\": {\"name\": \"h2\", \"port\": \"eth0\"}");
    let fabric = of(&join_config_db([first.clone(), second.clone()]));
    assert_eq!((hosts(&fabric), fabric.switches().count()), (vec!["h1", "h2"], 1));
    assert_eq!(lines(&fabric), ["1 port between ASICs of one switch left out: big Ethernet-BP0"]);
    let files = |second: &str| {
        let named = [("a/config_db0.json", &first[..]), ("a/config_db1.json", second)];
        join(named.map(|(name, content)| (name.to_owned(), content.to_owned())).to_vec())
    };
    for (second, expected) in [
        (
            second.replace("Ethernet8", "Ethernet0"),
            "a/config_db1.json.PORT.Ethernet0: is a port of another ASIC of `big`",
        ),
        (second.replace("asic1", "asic0"), "a/config_db1.json.DEVICE_METADATA.localhost: `big` is in two files"),
    ] {
        let message = fails(&files(&second).unwrap());
        assert!(message.contains(expected), "{message}");
    }
    let broken = files("{\n\"PORT\": }").unwrap_err();
    assert!(broken.contains("a/config_db1.json, line 2, column 9: not valid JSON"), "{broken}");
}

#[test]
fn a_port_channel_with_one_member_is_that_port() {
    let rest = |members: &str| {
        format!(
            "\"PORT\": {{\"Ethernet0\": {{}}, \"Ethernet4\": {{}}, \"Ethernet8\": {{}}}}, \"PORTCHANNEL\": \
             {{\"PortChannel1\": {{}}}}, \"PORTCHANNEL_MEMBER\": {{{members}}}, \"DEVICE_NEIGHBOR\": {{\
             \"PortChannel1\": \
             {{\"name\": \"h1\", \"port\": \"eth0\"}}, \"Ethernet8\": {{\"name\": \"h2\", \"port\": \"eth0\"}}}}"
        )
    };
    let one = "\"PortChannel1|Ethernet0\": {}";
    let fabric = of(&switch("tor", "ToRRouter", &rest(one)));
    assert!(fabric.port_named(fabric.find("tor").unwrap(), "Ethernet0").is_some());
    let two = format!("{one}, \"PortChannel1|Ethernet4\": {{}}");
    let message = fails(&switch("tor", "ToRRouter", &rest(&two)));
    assert!(message.contains("`PortChannel1` is a port channel of tor with 2 members: name the ports"), "{message}");
}

#[test]
fn unknown_tables_are_reported_and_known_ones_are_not() {
    let rest = "\"DEVICE_NEIGHBOR\": {\"Ethernet0\": {\"name\": \"h1\", \"port\": \"eth0\"}}, \"QUEUE\": {}, \
                \"DEVICE_NEIHGBOR\": {}, \"FEATURE\": {\"lldp\": {\"interface\": 1}}, \"CABEL_LENGTH\": {}";
    let fabric = of(&switch("tor", "ToRRouter", rest));
    assert_eq!(fabric.decisions()[0].subject, Subject::Unread);
    assert_eq!(lines(&fabric), ["2 unknown tables not read: CABEL_LENGTH, DEVICE_NEIHGBOR"]);
}

#[test]
fn lldp_tables_of_a_folder() {
    let json = r#"{"lldp": {"interface": [
        {"Ethernet0": {"chassis": {"server-1": {"id": {"type": "mac", "value": "02:00:00:00:00:01"},
            "capability": [{"type": "Station", "enabled": true}, {"type": "Bridge", "enabled": false}]}},
            "port": {"id": {"type": "mac", "value": "02:00:00:00:00:02"}, "descr": "ens1f0"}}},
        {"Ethernet4": {"chassis": {"spine-1": {"id": {"type": "mac", "value": "02:00:00:00:00:03"},
            "capability": {"type": "Router", "enabled": true}}},
            "port": {"id": {"type": "ifname", "value": "Ethernet0"}}}},
        {"eth0": {"chassis": {"oob": {"id": {"type": "local", "value": "x"}}},
            "port": {"id": {"type": "local", "value": "7"}}}}
    ]}}"#;
    let sonic = "Capability codes: (R) Router, (B) Bridge, (O) Other\n\
        LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr\n\
        -----------  --------------  -----------------  ------------  -----------------\n\
        Ethernet0    leaf-1          Ethernet4          BR            Ethernet4\n\
        Ethernet4    leaf-2          02:00:00:00:00:09  BR            Ethernet8\n\
        --------------------------------------------------\nTotal entries displayed:  2\n";
    let files = vec![("leaf-1.json".to_owned(), json.to_owned()), ("spine-1.txt".to_owned(), sonic.to_owned())];
    let fabric = of(&join(files.clone()).unwrap());
    assert_eq!((hosts(&fabric), fabric.links().len()), (vec!["server-1"], 3));
    let (leaf, server) = (fabric.find("leaf-1").unwrap(), fabric.hosts()[0]);
    assert_eq!((fabric.port_name(server, 0), tier(&fabric, "spine-1")), (Some("ens1f0"), 2));
    assert_eq!(fabric.ports(leaf).len(), 2, "the cable to the spine counts once");
    assert!(fabric.port_named(fabric.find("leaf-2").unwrap(), "Ethernet8").is_some());
    let forwards = "1 neighbour without a table is a switch by its capability: leaf-2";
    assert_eq!(lines(&fabric), [forwards, "1 management port left out: leaf-1 eth0"]);
    let mut wrong = files.clone();
    wrong[1].1 = sonic.replace("Ethernet0    leaf-1          Ethernet4 ", "Ethernet0    leaf-9          Ethernet4 ");
    let message = fails(&join(wrong).unwrap());
    assert!(
        message.contains(
            "spine-1.txt, line 4: connects spine-1 Ethernet0 to leaf-9 Ethernet4, and leaf-1.json.Ethernet4 "
        ),
        "{message}"
    );
    let mut mixed = files;
    mixed.push(("notes.txt".to_owned(), "hello".to_owned()));
    assert_eq!(join(mixed).unwrap_err(), "notes.txt is no LLDP table, but other files of the folder are");
    let alone = read("file", sonic, &Options { hosts_per_switch: 1, ..OPTIONS }).unwrap();
    assert_eq!(alone.links().len() - alone.hosts().len(), 2);
}

#[test]
fn batfish_netlab_and_gns3() {
    let edge = |a: &str, b: &str| {
        let end = |end: &str| {
            let (node, port) = end.split_once(':').unwrap();
            format!("{{\"hostname\": \"{node}\", \"interfaceName\": \"{port}\"}}")
        };
        format!("{{\"node1\": {}, \"node2\": {}}}", end(a), end(b))
    };
    let edges = [
        edge("leaf1:E1", "h1:e"),
        edge("leaf1:E2", "spine1:E1"),
        edge("spine1:E1", "leaf1:E2"),
        edge("spine1:E2", "h2:e"),
    ];
    let batfish = format!("{{\"edges\": [{}]}}", edges.join(","));
    let netlab = "provider: clab\ndefaults.device: eos\nnodes:\n  leaf1: {device: eos}\n  spine1:\n  \
                  h1: {device: linux}\n  h2: {role: host}\nlinks:\n- leaf1-spine1\n- h1:\n  leaf1: {ipv4: 10.0.0.1}\n\
                  - interfaces: [{node: h2}, {node: spine1}]\n- leaf1\n";
    let node = |id: &str, name: &str, kind: &str| {
        format!("{{\"node_id\":\"{id}\",\"name\":\"{name}\",\"node_type\":\"{kind}\"}}")
    };
    let link = |a: &str, b: &str, port: u32| {
        format!(
            "{{\"nodes\":[{{\"node_id\":\"{a}\",\"adapter_number\":0,\"port_number\":{port}}},\
             {{\"node_id\":\"{b}\",\"adapter_number\":1,\"port_number\":{port},\"label\":{{\"text\":\"e{port}\"}}}}]}}"
        )
    };
    let nodes = [
        node("1", "leaf1", "ethernet_switch"),
        node("2", "spine1", "qemu"),
        node("3", "h1", "vpcs"),
        node("4", "h2", "docker"),
        node("5", "Internet", "cloud"),
    ];
    let links = [link("1", "2", 0), link("3", "1", 1), link("4", "2", 2), link("5", "2", 3)];
    let gns3 = format!(
        "{{\"type\":\"topology\",\"topology\":{{\"nodes\":[{}],\"links\":[{}]}}}}",
        nodes.join(","),
        links.join(",")
    );
    for (text, format) in [(&batfish[..], Format::Batfish), (netlab, Format::Netlab), (&gns3, Format::Gns3)] {
        assert_eq!(detect("file", text), Some(format));
        let fabric = of(text);
        let mut names = hosts(&fabric);
        names.sort_unstable();
        assert_eq!((names, fabric.links().len()), (vec!["h1", "h2"], 3), "{text}");
        assert_eq!(["leaf1", "spine1"].map(|name| tier(&fabric, name)), [1, 2], "{text}");
        assert!(format.write(&fabric).is_err());
    }
    let high = "1 host on a switch above the first tier: h2 on spine1";
    assert_eq!(lines(&of(netlab)), ["1 link of one node left out: leaf1", high]);
    assert_eq!(lines(&of(&gns3))[0], "1 node outside of the project left out: Internet");
    let first = "{\"nodes\":[{\"node_id\":\"1\",\"adapter";
    let suspended = gns3.replacen(first, &first.replace("{\"nodes\"", "{\"suspend\":true,\"nodes\""), 1);
    assert!(fails(&suspended).contains("not connected"), "a suspended link carries nothing");
    for (text, from, to, expected) in [
        (&batfish[..], "\"interfaceName\": \"E2\"", "\"interface\": 2", "edges[1].node1: must be an object with"),
        (
            &batfish,
            "spine1\", \"interfaceName\": \"E2",
            "leaf1\", \"interfaceName\": \"E1",
            "edges[3]: connects leaf1 E1 to h2 e, and edges[0] connects leaf1 E1 to h1 e: leaf1 E1 has two other ends",
        ),
        (netlab, "- leaf1-spine1", "- leaf1-spine7", "links[0]: `spine7` is no node"),
        (
            &gns3,
            "\"node_id\":\"3\",\"adapter",
            "\"node_id\":\"9\",\"adapter",
            "topology.links[1]: `9` is the id of no node",
        ),
        (&gns3, "\"name\":\"h1\",", "", "topology.nodes[2]: must have `node_id`"),
    ] {
        let message = fails(&text.replacen(from, to, 1));
        assert!(message.contains(expected), "{to}: {message}");
    }
    let bridge =
        netlab.replace("- leaf1-spine1\n", "- leaf1-spine1-h1\n").replace("- h1:\n  leaf1: {ipv4: 10.0.0.1}\n", "");
    assert_eq!(of(&bridge).find("bridge-1").map(|node| of(&bridge).ports(node).len()), Some(3));
}

#[test]
fn a_port_by_its_alias_is_the_same_port_in_lldp() {
    let table = |rows: &[(&str, &str, &str, &str)]| {
        let mut text =
            format!("{:12}{:24}{:16}{:12}RemotePortDescr\n", "LocalPort", "RemoteDevice", "RemotePortID", "Capability");
        text += &format!("{0:-<10}  {0:-<22}  {0:-<14}  {0:-<10}  {0:-<15}\n", "");
        for (port, peer, id, description) in rows {
            text += &format!("{port:12}{peer:24}{id:16}{:12}{description}\n", "BR");
        }
        text
    };
    let files = |leaf: &str, spine: &str| {
        join(vec![("leaf1.txt".to_owned(), leaf.to_owned()), ("spine1.txt".to_owned(), spine.to_owned())]).unwrap()
    };
    let options = Options { hosts_per_switch: 1, ..OPTIONS };
    let leaf = table(&[
        ("Ethernet8", "spine1.lab.example", "etp1", "Ethernet0"),
        ("Ethernet9", "spine1", "etp2", "Ethernet4"),
    ]);
    let spine = table(&[("Ethernet0", "leaf1", "etp3", "Ethernet8"), ("Ethernet4", "leaf1", "etp4", "Ethernet9")]);
    let fabric = read("file", &files(&leaf, &spine), &options).unwrap();
    assert_eq!(
        fabric.link_between(fabric.find("leaf1").unwrap(), fabric.find("spine1").unwrap()),
        Some(crate::LinkId(0))
    );
    assert_eq!(fabric.links().len() - fabric.hosts().len(), 2);
    // If the description lacks the port name, the two ends of a cable cannot be matched.
    let blind = spine.replace("Ethernet8", "x").replace("Ethernet9", "x");
    let leaf_blind = leaf.replace("Ethernet0", "x").replace("Ethernet4", "x");
    let message = read("file", &files(&leaf_blind, &blind), &options).unwrap_err().to_string();
    assert!(message.contains("leaf1.txt, line 3: names a port that is not in the table of spine1"), "{message}");
    let one = table(&[("Ethernet0", "leaf1", "etp3", "Ethernet8")]);
    let fabric = read("file", &files(&leaf, &one), &options).unwrap();
    assert!(
        lines(&fabric).contains(&"1 cable in the table of one end only: leaf1.txt, line 4".to_owned()),
        "{:?}",
        lines(&fabric)
    );
}

#[test]
fn unknown_keys_of_labs_are_reported_and_tools_are_no_routers() {
    let text = "topology:\n  kinds: {linux: {imge: x}}\n  nodes:\n    s: {knd: a, kind: ceos}\n    \
                h1: {kind: linux, image: acme/student-vm}\n    h2: {kind: linux, \
                image: docker-sonic-mgmt, xtra: 1}\n    \
                h3: {kind: linux, image: frr-exporter}\n  links:\n    - endpoints: [\"s:1\", \"h1:1\"]\n    \
                - endpoints: [\"s:2\", \"h2:1\"]\n    - endpoints: [\"s:3\", \"h3:1\"]\n";
    let fabric = of(text);
    assert_eq!(hosts(&fabric), ["h1", "h2", "h3"]);
    assert_eq!(lines(&fabric), ["3 unknown keys not read: imge, knd, xtra"]);
    let netlab = "groups: {hosts: {members: [a, b], role: host}}\nnodes: [a, b, leaf1, spine1]\nlinks:\n- a-leaf1\n\
                  - {leaf1: , spine1: , bandwith: 1, bgp.role: x}\n- {spine1: , b: , spinex: 1}\n";
    let fabric = of(netlab);
    assert_eq!(hosts(&fabric), ["a", "b"]);
    let expected = "2 unknown keys not read: links[1].bandwith, links[2].spinex";
    assert!(lines(&fabric).contains(&expected.to_owned()), "{:?}", lines(&fabric));
    let twice = switch("tor", "ToRRouter", "\"PORT\": {}, \"PORT\": {}");
    assert!(fails(&twice).contains("duplicate key `PORT`"), "{}", fails(&twice));
    let near = switch(
        "tor",
        "ToRRouter",
        "\"PORTT\": {}, \"PORT_QOS_MAP\": {}, \"DEVICE_NEIGHBOR\": {\"Ethernet0\": \
                       {\"name\": \"h1\", \"port\": \"eth0\"}}",
    );
    assert_eq!(lines(&of(&near)), ["1 unknown table not read: PORTT"]);
}

#[test]
fn values_missing_in_a_table_or_lab_are_decided_and_reported() {
    // Hosts often have no name in LLDP, and some hosts announce the bridge or router capability.
    let sonic = "LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr\n\
        -----------  --------------  -----------------  ------------  -----------------\n\
        Ethernet0    h1              eth0               O             x\n\
        Ethernet4                    02:00:00:00:00:09  O             x\n\
        Ethernet8    kvm             eno1               BR            x\n";
    let fabric = of(&join(vec![("tor.txt".to_owned(), sonic.to_owned())]).unwrap());
    assert_eq!(hosts(&fabric), ["h1"]);
    let expected = [
        "1 neighbour without a table is a switch by its capability: kvm",
        "1 row without a device name left out: tor Ethernet4",
    ];
    assert_eq!(lines(&fabric), expected);
    let broken = sonic.replace("Ethernet0    h1              eth0", "Ethernet0    h1                  ");
    let message = fails(&join(vec![("tor.txt".to_owned(), broken)]).unwrap());
    assert!(message.starts_with("tor.txt, line 3: must have a local port"), "{message}");

    let netlab = "defaults: {device: frr}\nnodes: [l1, l2, s1, h1, h2]\nlinks:\n- l1-s1\n- l2-s1\n\
                  - {h1: , l1: , bandwidth: 10000}\n- h2-l2\n- l1-l2-s1\n";
    let fabric = of(netlab);
    assert_eq!(hosts(&fabric), ["h1", "h2"]);
    assert!(lines(&fabric).contains(&"1 link of three or more nodes is a bridge: bridge-5".to_owned()));
    assert!(!lines(&fabric).iter().any(|line| line.contains("not read")), "{:?}", lines(&fabric));

    // Interfaces may state the names of their ports.
    let ports = "nodes: {l1: {role: leaf}, h1: {role: host}, h2: {role: host}}\nlinks:\n\
                 - {l1: {ifname: Ethernet0}, h1: }\n\
                 - interfaces: [{node: l1, ifname: Ethernet4}, {node: h2, ifname: eth1}]\n";
    let fabric = of(ports);
    let name = |node: &str, port| fabric.port_name(fabric.find(node).unwrap(), port).map(str::to_owned);
    assert_eq!([name("l1", 0), name("l1", 1)], [Some("Ethernet0".to_owned()), Some("Ethernet4".to_owned())]);
    assert_eq!(name("h2", 0).as_deref(), Some("eth1"));

    let edge = |a: &str, b: &str| {
        let end = |end: &str| format!("{{\"hostname\": \"{end}\", \"interfaceName\": \"{a}{b}\"}}");
        format!("{{\"node1\": {}, \"node2\": {}}}", end(a), end(b))
    };
    let batfish = format!("{{\"edges\": [{},{}]}}", edge("LEAF1", "h1"), edge("leaf1", "h2"));
    assert_eq!(of(&batfish).switches().count(), 1);

    for text in ["name: {{ .Name }}\ntopology:\n", "topology:\n  nodes:\n    a: {kind: \"{{ k }}\"}\n"] {
        assert!(fails(text).contains("a template"), "{}", fails(text));
    }
    let misspelt = "topology:\n  nodes:\n    a: {kind: ceos}\n    h1: {kind: linux}\n  link: []\n";
    assert!(fails(misspelt).ends_with("(1 unknown key not read: link)"), "{}", fails(misspelt));
    // A `hosts_on` pattern implies at least one host per switch.
    let mut text = "StartDevice,StartPort,EndDevice,EndPort\n".to_owned();
    between(&["leaf1", "leaf2"], &["spine1"], &mut text);
    let roles = Roles { hosts_on: vec![NamePattern::new("leaf*")], ..Roles::NONE };
    assert_eq!(read("file", &text, &Options { roles, ..OPTIONS }).unwrap().hosts().len(), 2);
}
