//! Fabrics and rule files of the tests, small enough to check by hand.
#![allow(dead_code, reason = "each test file uses a part of it")]

use fabric::{Fabric, FabricBuilder, LinkSpec};
use units::{Rate, Time};
use verify::{Class, FORMAT, FabricHeader, Rule, RuleFile, SwitchRules, VERSION, fabric_hash};

/// Specification of every link.
pub const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));

/// One transition that rules allow: arriving tag, ingress port, egress port, new tag.
pub type Transition = (u16, u16, u16, u16);
/// A switch and the transitions that its rules allow.
pub type Of<'a> = (&'a str, &'a [Transition]);

/// Three switches in a triangle with a host each: port 0 is the host's, 1 and 2 lead to the others in order.
///
/// ```text
///      HA - A ------- B - HB        A:1 - B:1   A:2 - C:1   B:2 - C:2
///            \       /
///             `- C -'  - HC
/// ```
pub fn triangle() -> Fabric {
    let mut builder = FabricBuilder::new("triangle");
    let hosts = ["HA", "HB", "HC"].map(|name| builder.add_host(name));
    let switches = ["A", "B", "C"].map(|name| builder.add_switch(name, 1));
    for (host, switch) in hosts.into_iter().zip(switches) {
        builder.connect(host, switch, LINK);
    }
    for (a, b) in [(0, 1), (0, 2), (1, 2)] {
        builder.connect(switches[a], switches[b], LINK);
    }
    builder.build().expect("a fabric")
}

/// Returns a rule file for this fabric with lossless tags 1 to `tags`, lossy tag 0, and one class with initial tag 1.
pub fn rules(fabric: &Fabric, tags: u16, switches: &[Of<'_>]) -> RuleFile {
    let rule = |&(tag, ingress, egress, new_tag): &Transition| Rule {
        tag,
        ingress: vec![ingress],
        egress: vec![egress],
        new_tag,
    };
    let switch =
        |(name, rules): &Of<'_>| SwitchRules { name: name.to_string(), rules: rules.iter().map(rule).collect() };
    RuleFile {
        format: FORMAT.to_owned(),
        version: VERSION,
        fabric: FabricHeader {
            kind: fabric.kind().to_owned(),
            switches: Some(fabric.switches().count() as u64),
            hosts: Some(fabric.hosts().len() as u64),
            links: Some(fabric.links().len() as u64),
            hash: fabric_hash(fabric),
        },
        lossless_tags: (1..=tags).collect(),
        lossy_tag: 0,
        classes: vec![Class { name: "default".to_owned(), first_tag: 1 }],
        switches: switches.iter().map(switch).collect(),
    }
}

/// Rules for the direct paths between the hosts of the [`triangle`], with tag 1.
pub const DIRECT: [Of<'static>; 3] = [
    ("A", &[(1, 0, 1, 1), (1, 0, 2, 1), (1, 1, 0, 1), (1, 2, 0, 1)]),
    ("B", &[(1, 0, 1, 1), (1, 0, 2, 1), (1, 1, 0, 1), (1, 2, 0, 1)]),
    ("C", &[(1, 0, 1, 1), (1, 0, 2, 1), (1, 1, 0, 1), (1, 2, 0, 1)]),
];

/// The paths that [`DIRECT`] allows.
pub const DIRECT_PATHS: &str = "HA A B HB\nHA A C HC\nHB B A HA\nHB B C HC\nHC C A HA\nHC C B HB\n";
