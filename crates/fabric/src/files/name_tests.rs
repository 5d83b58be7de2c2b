//! Tests of names in files: writers and readers preserve them, or reject names that a format cannot represent.

use super::*;
use crate::{FabricBuilder, FabricError, LinkSpec, NodeKind};
use proptest::prelude::*;
use units::{Rate, Time};

const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(10), Time::from_ns(500));
const OPTIONS: Options = Options::new(LINK);

/// Parts of names that often break parsers: line breaks and quotes, comments, formulas, escapes, paths, options.
const PARTS: [&str; 34] = [
    "\n",
    "\r",
    "\u{1b}[2J",
    "\0",
    "\u{85}",
    "\u{2028}",
    "\u{202e}",
    "\t",
    "\"",
    "'",
    "\\",
    "`",
    "|",
    ",",
    ":",
    ";",
    "#",
    "<",
    ">",
    "&",
    "{",
    "}",
    "[",
    "*",
    "!",
    "../",
    "=1+1",
    "@",
    "-x",
    "+",
    " ",
    "reload now",
    "S1",
    "ä東",
];

fn names() -> impl Strategy<Value = String> {
    proptest::collection::vec(0..PARTS.len(), 1..4).prop_map(|parts| parts.into_iter().map(|at| PARTS[at]).collect())
}

/// Like [`names`], restricted to names that are valid in a fabric.
fn taken() -> impl Strategy<Value = String> {
    names().prop_filter("a name", |name| crate::check_name(name).is_ok())
}

/// Returns the cables as sorted pairs of (node, port), with the smaller end of each cable first.
fn cables(fabric: &Fabric) -> Vec<[(String, Option<String>); 2]> {
    let end =
        |end: crate::End| (fabric.name(end.node).to_owned(), fabric.port_name(end.node, end.port).map(str::to_owned));
    let mut cables: Vec<_> = fabric.links().iter().map(|link| [end(link.a), end(link.b)]).collect();
    cables.iter_mut().for_each(|cable| cable.sort());
    cables.sort();
    cables
}

/// Returns two switches and two hosts with all ports named. Every format except HPCC and htsim can represent it.
fn named(switch: &str, other: &str, port: &str) -> Result<Fabric, FabricError> {
    let mut builder = FabricBuilder::new("file");
    let (a, b) = (builder.add_switch(switch, 1), builder.add_switch(other, 1));
    let (g, h) = (builder.add_host("h1"), builder.add_host("h2"));
    for (from, to, from_port, to_port) in
        [(g, a, "eth0", port), (h, b, "eth0", "Ethernet248"), (a, b, "Ethernet0", "Ethernet8")]
    {
        let link = builder.connect(from, to, LINK);
        builder.name_ports(link, from_port, to_port);
    }
    builder.build()
}

const NAMED: [Format; 5] = [Format::NodeLink, Format::GraphMl, Format::Containerlab, Format::ConfigDb, Format::LinkCsv];

#[test]
fn ports_keep_their_names_in_every_format_that_has_names() {
    let fabric = named("leaf-1", "leaf-2", "Ethernet4").unwrap();
    for format in NAMED {
        let text = format.write(&fabric).unwrap();
        let again = format.read(&text, &OPTIONS).unwrap();
        assert_eq!(cables(&again), cables(&fabric), "{}", format.name());
    }
    // InfiniBand ports are numbers.
    let mut builder = FabricBuilder::new("file");
    let (host, switch) = (builder.add_host("h1"), builder.add_switch("leaf", 1));
    for port in ["7", "31"] {
        let link = builder.connect(host, switch, LINK);
        builder.name_ports(link, if port == "7" { "1" } else { "2" }, port);
    }
    let fabric = builder.build().unwrap();
    let again = read_ibnetdiscover(&write_ibnetdiscover(&fabric).unwrap(), &OPTIONS).unwrap();
    assert_eq!(cables(&again), cables(&fabric));
}

#[test]
fn ports_that_are_far_apart_keep_their_names_and_neighbours() {
    let tor = |ports: [&str; 3]| {
        format!(
            r#"{{"DEVICE_METADATA":{{"localhost":{{"hostname":"tor1","type":"ToRRouter"}}}},
            "DEVICE_NEIGHBOR":{{"{}":{{"name":"srv1","port":"eth0"}},"{}":{{"name":"srv2","port":"eth0"}},
            "{}":{{"name":"leaf1","port":"Ethernet0"}}}},
            "DEVICE_NEIGHBOR_METADATA":{{"srv1":{{"type":"Server"}},"srv2":{{"type":"Server"}}}},
            "PORT":{{"Ethernet0":{{"alias":"etp1"}},
            "Ethernet8":{{"alias":"etp3"}},"Ethernet248":{{"alias":"etp63"}}}}}}"#,
            ports[0], ports[1], ports[2]
        )
    };
    let read = |text: &str| read_config_db(text, &OPTIONS);
    for ports in [["Ethernet0", "Ethernet8", "Ethernet248"], ["etp1", "etp3", "etp63"]] {
        let fabric = read(&tor(ports)).unwrap();
        let tor1 = fabric.find("tor1").unwrap();
        let found: Vec<_> = (fabric.ports(tor1).iter().enumerate())
            .map(|(at, port)| (fabric.port_name(tor1, at as u16).unwrap(), fabric.name(port.peer)))
            .collect();
        assert_eq!(found, [("Ethernet0", "srv1"), ("Ethernet8", "srv2"), ("Ethernet248", "leaf1")]);
    }
    let error = read(&tor(["Ethernet0", "Ethernet4", "Ethernet248"])).unwrap_err().to_string();
    assert!(error.contains("tor1.DEVICE_NEIGHBOR.Ethernet4: tor1 has no port `Ethernet4`"), "{error}");
    let leaf = r#"{"DEVICE_METADATA":{"localhost":{"hostname":"leaf1"}},"PORT":{"Ethernet4":{}}}"#;
    let both = join_config_db([tor(["Ethernet0", "Ethernet8", "Ethernet248"]), leaf.to_owned()]);
    let error = read(&both).unwrap_err().to_string();
    assert!(error.contains("tor1.DEVICE_NEIGHBOR.Ethernet248: leads to leaf1 Ethernet0: leaf1 has no port"), "{error}");
}

#[test]
fn two_ports_of_one_name_are_refused() {
    let error = named("S1", "S2", "Ethernet0").unwrap_err();
    assert_eq!(error, FabricError::PortTwice { node: "S1".to_owned(), port: "Ethernet0".to_owned() });
}

/// Returns one file of each format with these names, escaped by the rules of the format.
fn files_with(node: &str, port: &str) -> Vec<(Format, String)> {
    let (j, p) = (serde_json::Value::from(node).to_string(), serde_json::Value::from(port).to_string());
    let xml = |text: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric();
        text.chars().map(|c| if plain(c) { c.to_string() } else { format!("&#{};", u32::from(c)) }).collect::<String>()
    };
    let (x, q) = (xml(node), xml(port));
    vec![
        (
            Format::NodeLink,
            format!(
                r#"{{"nodes":[{{"id":{j},"kind":"switch"}},{{"id":"h1"}}],
                "links":[{{"source":{j},"target":"h1","source_port":{p}}}]}}"#
            ),
        ),
        (
            Format::GraphMl,
            format!(
                "<graphml><graph><node id=\"a\"><data key=\"name\">{x}</data><data \
                 key=\"kind\">switch</data></node><node id=\"h1\"/><edge source=\"a\" target=\"h1\" \
                 sourceport=\"{q}\"/></graph></graphml>"
            ),
        ),
        (
            Format::Containerlab,
            format!(
                "topology:\n  nodes:\n    {j}: {{kind: ceos}}\n    h1: {{kind: linux}}\n  links:\n    - endpoints: \
                 [{{node: {j}, interface: {p}}}, \"h1:eth1\"]\n"
            ),
        ),
        (
            Format::ConfigDb,
            format!(
                r#"{{"DEVICE_METADATA":{{"localhost":{{"hostname":{j}}}}},
                "DEVICE_NEIGHBOR":{{{p}:{{"name":"h1","port":"eth0"}}}},
                "DEVICE_NEIGHBOR_METADATA":{{"h1":{{"type":"Server"}}}}}}"#
            ),
        ),
        (Format::LinkCsv, format!("StartDevice,StartPort,EndDevice,EndPort\n{node},{port},h1,eth0\n")),
        (
            Format::IbNetDiscover,
            format!(
                "Switch 8 \"S-1\" # \"{node}\" lid 4\n[{port}] \"H-1\"[1] # \"h1\"\nCa 1 \"H-1\" # \"h1\"\n[1] \
                 \"S-1\"[{port}]\n"
            ),
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// For any names, a reader rejects the file or returns a fabric whose names can all be displayed.
    #[test]
    fn no_reader_lets_a_name_in_that_acts(node in names(), port in names()) {
        for (format, text) in files_with(&node, &port) {
            match format.read(&text, &OPTIONS) {
                Ok(fabric) => {
                    for id in fabric.node_ids() {
                        prop_assert_eq!(crate::check_name(fabric.name(id)), Ok(()), "{}", format.name());
                        let ports = (0..fabric.ports(id).len() as u16).filter_map(|port| fabric.port_name(id, port));
                        prop_assert!(ports.map(crate::check_name).all(|name| name.is_ok()), "{}", format.name());
                    }
                }
                Err(error) => prop_assert!(
                    error.to_string().chars().all(|c| !c.is_control() || c == '\n'), "{}: {error:?}", format.name()
                ),
            }
        }
    }

    /// Round trip through each format: the names and cables that are read from a written file equal those of the
    /// fabric. Only the writers of link CSV and `config_db.json` may reject a name instead.
    #[test]
    fn every_writer_carries_a_name_or_refuses_it(switch in taken(), other in taken(), port in taken()) {
        let Ok(fabric) = named(&switch, &other, &port) else { return Ok(()) };
        prop_assert!(fabric.nodes().iter().all(|node| node.kind == NodeKind::Switch || node.name.starts_with('h')));
        for format in NAMED {
            match format.write(&fabric) {
                Ok(text) => {
                    let again = format.read(&text, &OPTIONS);
                    prop_assert!(again.is_ok(), "{}: {:?}\n{text}", format.name(), again);
                    prop_assert_eq!(cables(&again.unwrap()), cables(&fabric), "{}\n{}", format.name(), text);
                }
                Err(error) => prop_assert!(
                    matches!(format, Format::LinkCsv | Format::ConfigDb), "{}: {error}", format.name()
                ),
            }
        }
        let _ = write_ibnetdiscover(&fabric).map(|text| {
            let again = read_ibnetdiscover(&text, &OPTIONS).unwrap();
            assert!(again.find(&switch).is_some() && again.find(&other).is_some(), "{text}");
        });
    }
}
