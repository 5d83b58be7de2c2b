use super::*;
use fabric::generate::{TierLinks, clos};
use fabric::tags::PortSet;
use fabric::{FabricBuilder, LinkSpec};
use units::{Rate, Time};

const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(40), Time::from_ns(500));

fn small() -> Fabric {
    clos(2, 2, 2, 2, 4, TierLinks::uniform(LINK)).unwrap()
}

fn set(ports: &[u16]) -> PortSet {
    ports.iter().copied().collect()
}

fn table(fabric: &Fabric) -> RuleTable {
    let node = |name: &str| fabric.find(name).unwrap();
    let rule =
        |tag, ins: &[u16], outs: &[u16], new_tag| Rule { tag, in_ports: set(ins), out_ports: set(outs), new_tag };
    RuleTable::new(
        fabric,
        GeneratedBy { algorithm: "by \"hand\"".into(), paths: "some".into() },
        vec![1, 2],
        vec![Class { name: "default".into(), first_tag: 1 }],
        vec![
            SwitchRules { node: node("T1"), rules: vec![rule(1, &[0, 1], &[4, 5], 1)] },
            SwitchRules {
                node: node("L1"),
                rules: vec![rule(2, &[2], &[0], 2), rule(1, &[2, 3], &[0, 1], 1), rule(1, &[2], &[3], 2)],
            },
        ],
    )
}

#[test]
fn a_table_comes_back_from_its_file() {
    let fabric = small();
    let table = table(&fabric);
    let text = table.write(&fabric);
    let again = RuleTable::read(&fabric, &text).unwrap();
    assert_eq!(again, table);
    assert_eq!(again.write(&fabric), text);
    assert_eq!((table.len(), table.is_empty()), (4, false));
    assert_eq!(table.rules_of(fabric.find("L1").unwrap())[0].in_ports, set(&[2]));
    assert!(table.rules_of(fabric.find("S1").unwrap()).is_empty());
}

#[test]
fn the_file_looks_as_documented() {
    let mut builder = FabricBuilder::new("file");
    let (host, switch) = (builder.add_host("h"), builder.add_switch("s", 1));
    builder.connect(host, switch, LINK);
    builder.connect(host, switch, LINK);
    let fabric = builder.build().unwrap();
    let rule = Rule { tag: 1, in_ports: set(&[0, 1]), out_ports: set(&[1]), new_tag: 1 };
    let rules = vec![SwitchRules { node: switch, rules: vec![rule] }];
    let classes = vec![Class { name: "default".into(), first_tag: 1 }];
    let by = GeneratedBy { algorithm: "merge".into(), paths: "up-down".into() };
    let text = RuleTable::new(&fabric, by, vec![1], classes, rules).write(&fabric);
    // FNV-1a of "h:0-s:0\nh:1-s:1\n", computed independently of this code.
    let expected = r#"{ "format": "tidegate-tagger-rules", "version": 1,
  "fabric": { "kind": "file", "switches": 1, "hosts": 1, "links": 2, "hash": "HASH" },
  "generated_by": { "algorithm": "merge", "paths": "up-down" },
  "lossless_tags": [1], "lossy_tag": 0,
  "classes": [ { "name": "default", "first_tag": 1 } ],
  "switches": [
    { "name": "s", "rules": [
      { "tag": 1, "in": [0, 1], "out": [1], "new_tag": 1 } ] } ] }
"#;
    assert_eq!(text, expected.replace("HASH", "b5d6e64396832e61"));
}

#[test]
fn what_no_rule_matches_is_lossy() {
    let fabric = small();
    let lookup = table(&fabric).lookup(&fabric);
    let (leaf, tor) = (fabric.find("L1").unwrap(), fabric.find("T1").unwrap());
    assert_eq!(lookup.new_tag(leaf, 1, 2, 3), Some(2));
    assert_eq!(lookup.new_tag(leaf, 1, 3, 1), Some(1));
    assert_eq!(lookup.new_tag(leaf, 2, 2, 0), Some(2));
    assert_eq!(lookup.new_tag(tor, 1, 1, 5), Some(1));
    for (tag, in_port, out_port) in [(1, 3, 2), (2, 2, 3), (3, 2, 0), (0, 2, 0), (1, 9, 0), (1, 0, 9)] {
        assert_eq!(lookup.new_tag(leaf, tag, in_port, out_port), None);
    }
    assert_eq!(lookup.new_tag(fabric.find("S1").unwrap(), 1, 0, 1), None);
}

#[test]
fn every_mistake_names_its_element() {
    let fabric = small();
    let good = table(&fabric).write(&fabric);
    let wrong = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        RuleTable::read(&fabric, &good.replacen(from, to, 1)).unwrap_err().to_string()
    };
    assert!(wrong("\"classes\": [", "\"classes\": ").contains("line 5"));
    assert!(wrong("\"new_tag\": 1", "\"newtag\": 1").contains("unknown field `newtag`"));
    assert!(wrong("-rules", "-paths").contains("expected `tidegate-tagger-rules` version 1"));
    assert!(wrong("\"version\": 1", "\"version\": 2").contains("version 2: expected"));
    assert!(wrong("\"hosts\": 16", "\"hosts\": 17").contains("another fabric: a clos of 10 switches, 17 hosts"));
    assert!(wrong("\"T1\"", "\"T9\"").contains("switches[1]: the fabric has no node `T9`"));
    assert!(wrong("\"T1\"", "\"H1\"").contains("`H1` is a host"));
    assert!(wrong("\"T1\"", "\"L1\"").contains("`L1` occurs twice"));
    assert!(wrong("[4, 5]", "[4, 6]").contains("switch `T1`, rules[0].out: no port 6: it has 6"));
    assert!(wrong("[4, 5]", "[4, 5, 4]").contains("switch `T1`, rules[0].out: port 4 occurs twice"));
    assert!(wrong("[4, 5]", "[4, -5]").contains("invalid value"));
    assert!(wrong("[4, 5]", "[]").contains("no port is named"));
    assert!(wrong("[1, 2]", "[2, 1]").contains("lossless_tags[1]: tag 1 is out of range: tags must ascend"));
    assert!(wrong("[1, 2]", "[1, 63]").contains("tag 63 is out of range"));
    assert!(wrong("\"first_tag\": 1", "\"first_tag\": 3").contains("classes[0].first_tag: tag 3"));
    assert!(wrong("\"lossy_tag\": 0", "\"lossy_tag\": 4").contains("the lossy tag is 0"));
    assert!(wrong("\"new_tag\": 2", "\"new_tag\": 7").contains("switch `L1`, rules[0].new_tag: tag 7"));
    let contradiction = wrong("\"out\": [3]", "\"out\": [1]");
    assert!(contradiction.contains("rules[0] and rules[1] contradict each other"), "{contradiction}");
    assert!(contradiction.contains("tag 1 from port 2 to port 1 would get both 2 and 1"), "{contradiction}");
}

#[test]
fn another_fabric_has_another_hash() {
    let other = clos(2, 2, 2, 3, 4, TierLinks::uniform(LINK)).unwrap();
    let fabric = small();
    let error = RuleTable::read(&other, &table(&fabric).write(&fabric)).unwrap_err();
    assert!(matches!(error, RuleFileError::OtherFabric { .. }), "{error}");
    let slower = clos(2, 2, 2, 2, 4, TierLinks::uniform(LinkSpec { rate: Rate::from_gbps(10), ..LINK })).unwrap();
    assert_eq!(fabric_hash(&slower), fabric_hash(&fabric));
}

/// Builds a switch with three ports that have the given names.
fn named(ports: [&str; 3]) -> Fabric {
    let mut builder = FabricBuilder::new("file");
    let switch = builder.add_switch("tor1", 1);
    for (at, port) in ports.iter().enumerate() {
        let host = builder.add_host(format!("h{at}"));
        let link = builder.connect(host, switch, LINK);
        builder.name_ports(link, "eth0", port);
    }
    builder.build().unwrap()
}

fn rules_of(fabric: &Fabric) -> RuleTable {
    let rules = vec![Rule { tag: 1, in_ports: set(&[0]), out_ports: set(&[2]), new_tag: 1 }];
    let switches = vec![SwitchRules { node: fabric.find("tor1").unwrap(), rules }];
    let classes = vec![Class { name: "default".into(), first_tag: 1 }];
    RuleTable::new(fabric, GeneratedBy::default(), vec![1], classes, switches)
}

#[test]
fn rules_carry_the_names_of_ports_and_refuse_a_fabric_with_others() {
    let fabric = named(["Ethernet0", "Ethernet8", "Ethernet248"]);
    let table = rules_of(&fabric);
    let text = table.write(&fabric);
    assert!(
        text.contains(r#"{ "name": "tor1", "ports": ["Ethernet0","Ethernet8","Ethernet248"], "rules": ["#),
        "{text}"
    );
    assert_eq!(RuleTable::read(&fabric, &text).unwrap(), table);
    let refused = |fabric: &Fabric, text: &str| RuleTable::read(fabric, text).unwrap_err().to_string();
    let recabled = named(["Ethernet0", "Ethernet4", "Ethernet248"]);
    let error = refused(&recabled, &text);
    assert!(error.contains("another fabric: port 1 of `tor1` is `Ethernet8` there and `Ethernet4` here"), "{error}");
    assert!(refused(&named(["", "", ""]), &text).contains("port 0 of `tor1` is `Ethernet0` there and without a name"));
    // Port names of hosts and of switches without rules are not listed in the file; only the hash depends on them.
    assert_ne!(fabric_hash(&fabric), fabric_hash(&recabled));
    let other = text.replace(&fabric_hash(&fabric), &fabric_hash(&recabled));
    assert!(refused(&fabric, &other).contains("another fabric"));
    let renamed = text.replace("\"Ethernet8\",", "\"Ethernet9\",");
    assert!(refused(&fabric, &renamed).contains("`Ethernet9` there and `Ethernet8` here"));
}

#[test]
fn texts_of_a_rule_file_do_not_act_on_a_screen() {
    let fabric = named(["Ethernet0", "Ethernet8", "Ethernet248"]);
    let text = rules_of(&fabric).write(&fabric);
    for (from, to, location) in [
        ("\"default\"", "\"a\\u001b[2J\"", "classes[0].name"),
        ("\"algorithm\": \"\"", "\"algorithm\": \"a\\nb\"", "generated_by.algorithm"),
        ("\"Ethernet8\"", "\"E\\u009b\"", "switches[0].ports"),
    ] {
        assert!(text.contains(from), "{from}");
        let error = RuleTable::read(&fabric, &text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{location}: it has the character U+")), "{error}");
    }
}
