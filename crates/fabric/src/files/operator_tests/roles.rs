//! Tests of rules that determine hosts, switches and tiers if a file does not state them.

use super::super::*;
use super::*;

#[test]
fn a_management_host_on_a_spine_does_not_lower_the_spine() {
    for (leaves, spines, hosts_each) in [(3, 2, 2), (2, 2, 1), (4, 1, 1), (2, 4, 3), (8, 4, 1)] {
        let names = |letter: char, count: usize| (0..count).map(|n| format!("{letter}{n}")).collect::<Vec<_>>();
        let (leaf_names, spine_names) = (names('x', leaves), names('y', spines));
        let leaf: Vec<&str> = leaf_names.iter().map(String::as_str).collect();
        let spine: Vec<&str> = spine_names.iter().map(String::as_str).collect();
        let plain = leaf_spine(&leaf, &spine, hosts_each);
        let with = of(&(plain.clone() + "h99,eth0,y0,mgmt\n"));
        for switch in of(&plain).switches() {
            let name = of(&plain).name(switch).to_owned();
            let expected = if name.starts_with('x') { 1 } else { 2 };
            assert_eq!(
                (tier(&of(&plain), &name), tier(&with, &name)),
                (expected, expected),
                "{leaves} {spines} {name}"
            );
        }
        assert_eq!(lines(&with), ["1 host on a switch above the first tier: h99 on y0"]);
        assert!(lines(&of(&plain)).is_empty());
    }
}

/// Rings, rows and meshes have no tiers; additional hosts at one switch must not create a tier.
#[test]
fn uneven_hosts_make_no_tiers_of_a_ring() {
    let ring = "StartDevice,StartPort,EndDevice,EndPort\nh1,e,a,1\nh2,e,a,2\nh3,e,a,3\nh4,e,b,1\nh5,e,c,1\nh6,e,d,1\n\
                a,r,b,l\nb,r,c,l\nc,r,d,l\nd,r,a,l\n";
    let fabric = of(ring);
    assert!(fabric.switches().all(|switch| fabric.node(switch).tier == 1));
}

#[test]
fn names_groups_and_roles_name_layers() {
    let mut text =
        "StartDevice,StartPort,EndDevice,EndPort\nh1,e,dc1-leaf1,1\nh2,e,dc1-leaf2,1\nh3,e,core1,9\n".to_owned();
    between(&["dc1-leaf1", "dc1-leaf2"], &["dc1-spine1", "dc1-spine2"], &mut text);
    between(&["dc1-spine1", "dc1-spine2"], &["core1"], &mut text);
    let fabric = of(&text);
    let tiers = ["dc1-leaf1", "dc1-spine1", "core1"].map(|name| tier(&fabric, name));
    assert_eq!(tiers, [1, 2, 3]);
    assert_eq!(lines(&fabric), ["1 host on a switch above the first tier: h3 on core1"]);
    // The file states tier numbers; in some files tier 1 is the top.
    for (bottom, top) in [(1, 2), (2, 1)] {
        let nodes: String = [("a", bottom), ("b", bottom), ("c", top)]
            .map(|(name, tier)| format!("    {name}: {{kind: ceos, group: tier-{tier}}}\n"))
            .concat();
        let text = format!(
            "topology:\n  nodes:\n{nodes}    k: {{kind: linux}}\n    l: {{kind: linux}}\n  links:\n    \
             - endpoints: [\"a:1\", \"c:1\"]\n    - endpoints: [\"b:1\", \"c:2\"]\n    \
             - endpoints: [\"a:2\", \"k:1\"]\n    - endpoints: [\"b:2\", \"l:1\"]\n"
        );
        assert_eq!(["a", "b", "c"].map(|name| tier(&of(&text), name)), [1, 1, 2], "{text}");
    }
    let roles = r#"{"nodes":[{"id":"p","role":"leaf"},{"id":"q","role":"spine"},{"id":"r","role":"leaf"},
        {"id":"h1"},{"id":"h2"}],"links":[{"source":"p","target":"q"},{"source":"r","target":"q"},
        {"source":"h1","target":"p"},{"source":"h2","target":"r"}]}"#;
    assert_eq!(["p", "q", "r"].map(|name| tier(&of(roles), name)), [1, 2, 1]);
}

#[test]
fn words_are_whole_words() {
    // `monitor` and `router` end with the letters of `tor`, and `t1` to `t4` are names of switches of one tier.
    let text = "StartDevice,StartPort,EndDevice,EndPort\nh1,e,monitor,1\nh2,e,router,1\nmonitor,2,router,2\n";
    assert!(of(text).switches().all(|switch| of(text).node(switch).tier == 1));
    let fabric = of(&leaf_spine(&["t1", "t2", "t3", "t4"], &["s1"], 2));
    assert_eq!(["t1", "t2", "t3", "t4", "s1"].map(|name| tier(&fabric, name)), [1, 1, 1, 1, 2]);
}

#[test]
fn the_user_decides_about_nodes() {
    let text = leaf_spine(&["a", "b"], &["s", "t"], 2) + "ufm,eth0,s,9\n";
    let with = |roles: Roles| read("file", &text, &Options { roles, ..OPTIONS });
    let names = |names: &[&str]| names.iter().map(|name| NamePattern::new(*name)).collect::<Vec<_>>();
    let fabric = with(Roles { ignore: names(&["uf*", "h1"]), ..Roles::NONE }).unwrap();
    assert_eq!(hosts(&fabric), ["h2", "h3", "h4"]);
    assert_eq!(lines(&fabric), ["2 nodes left out on request: h1, ufm"]);
    let fabric = with(Roles { host: names(&["ufm"]), ..Roles::NONE }).unwrap();
    assert_eq!(fabric.reason(fabric.find("ufm").unwrap()), Some("named as a host by the user"));
    let fabric = with(Roles { switch: names(&["h1"]), ..Roles::NONE }).unwrap();
    assert_eq!(fabric.node(fabric.find("h1").unwrap()).kind, NodeKind::Switch);
    for (roles, expected) in [
        (Roles { ignore: names(&["umf"]), ..Roles::NONE }, "ignore: `umf` is the name of no node"),
        (Roles { host: names(&["a"]), switch: names(&["*"]), ..Roles::NONE }, "host: `a` is named as a host and as a"),
        (Roles { hosts_on: names(&["a"]), ..Roles::NONE }, "hosts_on: the file has hosts"),
    ] {
        let message = with(roles).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

/// Flow files for these formats identify nodes by number: skipping a node would shift the numbers of all later nodes.
#[test]
fn formats_with_numbers_take_no_decision_about_nodes() {
    let topology = "3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n";
    let roles = Roles { ignore: vec![NamePattern::new("h1")], ..Roles::NONE };
    let message = read("file", topology, &Options { roles, ..OPTIONS }).unwrap_err().to_string();
    assert_eq!(message, "ignore: a file of the format hpcc says which nodes are hosts, by their numbers");
}

#[test]
fn hosts_are_attached_to_leaves_only() {
    let mut text = "StartDevice,StartPort,EndDevice,EndPort\n".to_owned();
    between(&["a", "b", "c"], &["x", "y"], &mut text);
    let with = |hosts_on: &[&str]| {
        let hosts_on = hosts_on.iter().map(|name| NamePattern::new(*name)).collect();
        let roles = Roles { hosts_on, ..Roles::NONE };
        read("file", &text, &Options { hosts_per_switch: 2, roles, ..OPTIONS }).unwrap()
    };
    let fabric = with(&[]);
    assert_eq!(hosts(&fabric), ["a-h1", "a-h2", "b-h1", "b-h2", "c-h1", "c-h2"], "by links");
    assert_eq!(["a", "x"].map(|name| tier(&fabric, name)), [1, 2]);
    assert_eq!(lines(&fabric), ["no node is a host: 2 hosts attached to each of 3 leaves: a, b, c"]);
    assert_eq!(hosts(&with(&["x"])), ["x-h1", "x-h2"]);
    // A three-tier fat-tree whose tiers must be inferred from its links.
    let mut text = "StartDevice,StartPort,EndDevice,EndPort\n".to_owned();
    between(&["e1", "e2"], &["g1", "g2"], &mut text);
    between(&["e3", "e4"], &["g3", "g4"], &mut text);
    between(&["e5", "e6"], &["g5", "g6"], &mut text);
    between(&["g1", "g3", "g5"], &["c1", "c2"], &mut text);
    between(&["g2", "g4", "g6"], &["c3", "c4"], &mut text);
    let fabric = read("file", &text, &Options { hosts_per_switch: 1, ..OPTIONS }).unwrap();
    assert_eq!(hosts(&fabric), ["e1-h1", "e2-h1", "e3-h1", "e4-h1", "e5-h1", "e6-h1"]);
    assert_eq!(["e1", "g1", "c1"].map(|name| tier(&fabric, name)), [1, 2, 3]);
}

/// Nodes without host names are hosts if they have a single link, or links only to the lowest layer.
#[test]
fn servers_without_the_name_of_a_host() {
    let header = "StartDevice,StartPort,EndDevice,EndPort\n".to_owned();
    let web = header.clone() + "h1,e,leaf1,1\nweb1,e,leaf1,2\ndb1,e,leaf2,1\nleaf1,9,spine1,1\nleaf2,9,spine1,2\n";
    assert_eq!(hosts(&of(&web)), ["h1", "web1", "db1"]);
    // Each server has one port to each of its rail leaves.
    let mut rails = header.clone();
    between(&["dgx00", "dgx01", "dgx02"], &["leaf1", "leaf2", "leaf3", "leaf4"], &mut rails);
    between(&["leaf1", "leaf2", "leaf3", "leaf4"], &["spine1", "spine2"], &mut rails);
    let fabric = of(&rails);
    assert_eq!(hosts(&fabric), ["dgx00", "dgx01", "dgx02"]);
    assert_eq!(["leaf1", "spine1"].map(|name| tier(&fabric, name)), [1, 2]);
    let mut words = header;
    between(&["pod1-host3", "pod1-host4"], &["a", "b"], &mut words);
    assert_eq!(hosts(&of(&words)), ["pod1-host3", "pod1-host4"]);
}

#[test]
fn switches_without_the_name_of_a_layer_beside_others() {
    // One of two spines without layer names has a management host.
    let mut text = leaf_spine(&["leaf1", "leaf2", "leaf3"], &["sp1", "sp2"], 2) + "h9,e,sp1,99\n";
    assert_eq!(["leaf1", "sp1", "sp2"].map(|name| tier(&of(&text), name)), [1, 2, 2]);
    // A leaf without a layer name is recognised because it has hosts and its other links all lead to spines.
    text = leaf_spine(&["leaf1", "leaf2", "gpu"], &["spine1", "spine2"], 2);
    assert_eq!(tier(&of(&text), "gpu"), 1);
    // In a leaf-spine fabric "edge" is the WAN exit and not a layer; with aggregation and core it is the lowest layer.
    text = leaf_spine(&["leaf1", "leaf2"], &["spine1", "spine2"], 1);
    text += "wan-edge1,a,spine1,w\nwan-edge1,b,spine2,w\n";
    assert_eq!(["leaf1", "spine1", "wan-edge1"].map(|name| tier(&of(&text), name)), [1, 2, 3]);
    text = leaf_spine(&["edge1", "edge2"], &["core1", "core2"], 1);
    assert_eq!(["edge1", "core1"].map(|name| tier(&of(&text), name)), [1, 2]);
    // More servers at the core than at the access switches do not invert the order of layer names.
    text = leaf_spine(&["access1", "access2"], &["core1"], 1) + "h7,e,core1,7\nh8,e,core1,8\nh9,e,core1,9\n";
    assert_eq!(["access1", "core1"].map(|name| tier(&of(&text), name)), [1, 2]);
    assert_eq!(tier(&of(&leaf_spine(&["score1", "score2"], &["x", "y"], 1)), "score1"), 1, "no core");
}

#[test]
fn tiers_that_a_file_states_hold() {
    let nodes = |tiers: [&str; 4]| {
        let node = |(name, tier): (&str, &str)| format!("{{\"id\":\"{name}\",\"kind\":\"switch\"{tier}}}");
        let nodes: Vec<String> = ["a", "b", "c", "d"].into_iter().zip(tiers).map(node).collect();
        let links = "{\"source\":\"h1\",\"target\":\"a\"},{\"source\":\"h2\",\"target\":\"b\"},\
                     {\"source\":\"a\",\"target\":\"c\"},{\"source\":\"b\",\"target\":\"c\"},\
                     {\"source\":\"c\",\"target\":\"d\"}";
        format!("{{\"nodes\":[{},{{\"id\":\"h1\"}},{{\"id\":\"h2\"}}],\"links\":[{links}]}}", nodes.join(","))
    };
    let tiers = |stated: [&str; 4]| {
        let fabric = of(&nodes(stated));
        ["a", "b", "c", "d"].map(|name| tier(&fabric, name))
    };
    assert_eq!(tiers(["", "", "", ""]), [1, 1, 2, 3]);
    assert_eq!(tiers(["", "", "", ",\"tier\":7"]), [1, 1, 2, 7], "one alone");
    assert_eq!(tiers([",\"tier\":\"1\"", ",\"tier\":\"1\"", ",\"tier\":\"4\"", ",\"tier\":\"5\""]), [1, 1, 4, 5]);
    assert_eq!(tiers([",\"layer\":1", ",\"layer\":1", ",\"layer\":2", ",\"layer\":2"]), [1, 1, 2, 2]);
    assert_eq!(tiers([",\"group\":1", ",\"group\":2", ",\"group\":3", ",\"group\":3"]), [1, 1, 2, 3], "colours");
    // Hosts are attached to switches of the lowest stated tier, for any number of switches.
    let leaf = |name: &str, peer: &str| {
        let rest = format!("\"DEVICE_NEIGHBOR\": {{\"Ethernet0\": {{\"name\": \"{peer}\", \"port\": \"Ethernet0\"}}}}");
        switch(name, "LeafRouter", &rest)
    };
    let files =
        join_config_db([leaf("leaf-1", "spine-1"), switch("spine-1", "SpineRouter", "\"PORT\": {\"Ethernet0\": {}}")]);
    let fabric = read("file", &files, &Options { hosts_per_switch: 1, ..OPTIONS }).unwrap();
    assert_eq!(hosts(&fabric), ["leaf-1-h1"]);
}

#[test]
fn unnamed_switches_are_placed_in_time() {
    // Half of the switches of a long chain have no layer names; tier inference must terminate quickly.
    let mut text = "StartDevice,StartPort,EndDevice,EndPort\nh1,e,leaf0,1\nh2,e,leaf0,2\n".to_owned();
    for n in 0..20_000 {
        text += &format!("leaf{n},a{n},leaf{},b{n}\n", n + 1);
    }
    for n in 0..15_000 {
        text += &format!("x{n},a,x{},b\n", n + 1);
    }
    text += "leaf7,x,x0,x\nh3,e,x15000,y\nh4,e,x15000,z\n";
    let fabric = of(&text);
    assert_eq!(fabric.node(fabric.find("x3").unwrap()).tier, 5);
}

/// Returns a link table of pods with two leaves and two spines each, and two core switches per plane. `hosts` has the
/// number of hosts of each leaf. The switch names are arbitrary.
fn three_tiers(hosts: &[usize]) -> String {
    let mut text = "StartDevice,StartPort,EndDevice,EndPort\n".to_owned();
    let name = |letter: char, number: usize| format!("{letter}{number}");
    for (leaf, count) in hosts.iter().enumerate() {
        (0..*count).for_each(|port| text += &format!("h{},e,{},p{port}\n", leaf * 10 + port, name('x', leaf)));
    }
    let pods = hosts.len() / 2;
    for pod in 0..pods {
        let own = |letter| [name(letter, 2 * pod), name(letter, 2 * pod + 1)];
        let (leaves, spines) = (own('x'), own('y'));
        between(&[&leaves[0], &leaves[1]], &[&spines[0], &spines[1]], &mut text);
    }
    for plane in 0..2 {
        let spines: Vec<String> = (0..pods).map(|pod| name('y', 2 * pod + plane)).collect();
        let spines: Vec<&str> = spines.iter().map(String::as_str).collect();
        between(&spines, &[&name('z', 2 * plane), &name('z', 2 * plane + 1)], &mut text);
    }
    text
}

fn check_tiers(text: &str) -> Fabric {
    let fabric = of(text);
    for switch in fabric.switches() {
        let name = fabric.name(switch);
        let expected = 1 + "xyz".find(&name[..1]).unwrap() as u8;
        assert_eq!(fabric.node(switch).tier, expected, "{name}\n{text}");
    }
    fabric
}

#[test]
fn a_management_host_on_a_core_does_not_lower_the_core() {
    for hosts in [vec![1; 4], vec![1; 6], vec![2; 8], vec![3; 16], vec![4, 3, 4, 4, 2, 4]] {
        let plain = three_tiers(&hosts);
        assert!(lines(&check_tiers(&plain)).is_empty());
        for (ends, expected) in [
            ("ufm,eth0,z1,mgmt\n", "1 host on a switch above the first tier: ufm on z1"),
            ("ufm,eth0,y2,mgmt\n", "1 host on a switch above the first tier: ufm on y2"),
            ("ufm,a,z0,m\nufm2,a,z3,m\n", "2 hosts on a switch above the first tier: ufm on z0, ufm2 on z3"),
        ] {
            // In a fabric of two pods with one host per leaf, further hosts make spines or cores indistinguishable from
            // leaves.
            if hosts.len() > 4 || ends.contains("z1") {
                assert_eq!(lines(&check_tiers(&(plain.clone() + ends))), [expected], "{hosts:?}");
            }
        }
    }
}

#[test]
fn leaves_without_hosts_are_leaves() {
    for hosts in [vec![3, 3, 3, 0], vec![1, 0, 1, 1, 0, 2], vec![2, 2, 2, 2, 0, 0], vec![2, 2, 0, 2, 2, 2, 0, 2]] {
        let fabric = check_tiers(&three_tiers(&hosts));
        let tiers: Vec<String> =
            fabric.decisions().iter().filter(|of| of.subject == Subject::Tiers).map(Decision::line).collect();
        assert!(tiers[0].contains("without hosts"), "{tiers:?}");
        let with = check_tiers(&(three_tiers(&hosts) + "ufm,eth0,z0,mgmt\n"));
        assert_eq!(lines(&with), ["1 host on a switch above the first tier: ufm on z0"], "{hosts:?}");
    }
}

#[test]
fn a_node_of_one_link_with_the_name_of_a_switch_is_said() {
    let fabric = of(&(leaf_spine(&["leaf1", "leaf2"], &["spine1"], 2) + "ufm-spine1,a,spine1,m\n"));
    assert_eq!(lines(&fabric), ["1 node of one link is a switch by its name: ufm-spine1"]);
}
