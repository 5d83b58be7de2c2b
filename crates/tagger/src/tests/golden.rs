//! Results stated in the tables and figures of the paper.

use crate::paths::{ExpectedPaths, PathList, PathSource, TreeRoots};
use crate::rules::Tag;
use crate::{Algorithm, Compression, Request, generate};
use fabric::generate::{TierLinks, bcube, clos, jellyfish};
use fabric::{Fabric, FabricBuilder, LinkSpec};
use units::{Rate, Time};

pub(crate) const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(40), Time::from_ns(500));

/// Fig. 5: three switches in a triangle, with one host each. Values: the port numbers in the paper, in the order in
/// which the links are added here.
const PORTS: [(&str, [u16; 3]); 3] = [("A", [2, 3, 4]), ("B", [1, 2, 4]), ("C", [1, 3, 4])];

fn triangle() -> (Fabric, ExpectedPaths) {
    let mut builder = FabricBuilder::new("triangle");
    let [a, b, c] = ["A", "B", "C"].map(|name| builder.add_switch(name, 1));
    let [ha, hb, hc] = ["ha", "hb", "hc"].map(|name| builder.add_host(name));
    for (x, y) in [(a, ha), (a, b), (b, hb), (a, c), (b, c), (c, hc)] {
        builder.connect(x, y, LINK);
    }
    let fabric = builder.build().unwrap();
    let mut list = PathList::default();
    for [x, y, z] in
        [["A", "B", "C"], ["A", "C", "B"], ["B", "A", "C"], ["B", "C", "A"], ["C", "A", "B"], ["C", "B", "A"]]
    {
        let host = |switch: &str| format!("h{}", switch.to_lowercase());
        list.push(&fabric, &[host(x), x.into(), y.into(), host(y)]).unwrap();
        list.push(&fabric, &[host(x), x.into(), y.into(), z.into(), host(z)]).unwrap();
    }
    (fabric, PathSource::List(list).into())
}

/// Returns every rule as printed in the paper: (tag, InPort, OutPort, Newtag), in the paper's port numbers.
fn printed(algorithm: Algorithm) -> [Vec<(Tag, u16, u16, Tag)>; 3] {
    let (fabric, paths) = triangle();
    let request = Request { algorithm, compression: Compression::None, ..Request::new(paths) };
    let table = generate(&fabric, &request).unwrap().table;
    PORTS.map(|(name, numbers)| {
        let rules = table.rules_of(fabric.find(name).unwrap()).iter();
        let port = |set: &fabric::tags::PortSet| numbers[usize::from(set.last().unwrap())];
        let mut rows: Vec<_> = rules.map(|r| (r.tag, port(&r.in_ports), port(&r.out_ports), r.new_tag)).collect();
        rows.sort_unstable();
        rows
    })
}

#[test]
fn table3_one_tag_a_hop() {
    let [a, b, c] = printed(Algorithm::OnePerHop);
    assert_eq!(
        a,
        [
            (1, 2, 3, 2),
            (1, 2, 4, 2),
            (2, 3, 2, 3),
            (2, 3, 4, 3),
            (2, 4, 2, 3),
            (2, 4, 3, 3),
            (3, 3, 2, 4),
            (3, 4, 2, 4)
        ]
    );
    assert_eq!(
        b,
        [
            (1, 2, 1, 2),
            (1, 2, 4, 2),
            (2, 1, 2, 3),
            (2, 1, 4, 3),
            (2, 4, 1, 3),
            (2, 4, 2, 3),
            (3, 1, 2, 4),
            (3, 4, 2, 4)
        ]
    );
    assert_eq!(
        c,
        [
            (1, 4, 1, 2),
            (1, 4, 3, 2),
            (2, 1, 3, 3),
            (2, 1, 4, 3),
            (2, 3, 1, 3),
            (2, 3, 4, 3),
            (3, 1, 4, 4),
            (3, 3, 4, 4)
        ]
    );
}

#[test]
fn table4_merged_tags() {
    let [a, b, c] = printed(Algorithm::Merge);
    assert_eq!(a, [(1, 2, 3, 1), (1, 2, 4, 1), (1, 3, 2, 1), (1, 3, 4, 2), (1, 4, 2, 1), (1, 4, 3, 1)]);
    assert_eq!(b, [(1, 1, 2, 1), (1, 1, 4, 2), (1, 2, 1, 1), (1, 2, 4, 1), (1, 4, 1, 1), (1, 4, 2, 1)]);
    let expected = [
        (1, 1, 3, 1),
        (1, 1, 4, 1),
        (1, 3, 1, 1),
        (1, 3, 4, 1),
        (1, 4, 1, 1),
        (1, 4, 3, 1),
        (2, 1, 4, 2),
        (2, 3, 4, 2),
    ];
    assert_eq!(c, expected);
}

fn tags(fabric: &Fabric, paths: impl Into<ExpectedPaths>) -> Tag {
    generate(fabric, &Request::new(paths)).unwrap().report.tags
}

#[test]
fn fig6_one_bounce_takes_three_merged_tags() {
    let fabric = clos(2, 2, 2, 2, 4, TierLinks::uniform(LINK)).unwrap();
    assert_eq!(tags(&fabric, PathSource::UpDown { bounces: 0 }), 1);
    assert_eq!(tags(&fabric, PathSource::UpDown { bounces: 1 }), 3);
    assert_eq!(tags(&fabric, PathSource::AllShortest { limit: None }), 1);
}

#[test]
fn jellyfish_of_100_switches_takes_two_tags() {
    let fabric = jellyfish(100, 16, 16, 1, LINK, LINK).unwrap();
    for seed in [None, Some(7)] {
        assert_eq!(tags(&fabric, PathSource::Trees { roots: TreeRoots::Switches, seed }), 2);
    }
    assert_eq!(tags(&fabric, PathSource::NShortest { paths: 16 }), 2);
}

/// BCube(4, 3) instead of BCube(8, 3), which would take a minute; both have k + 1 = 4 levels.
#[test]
fn bcube_takes_a_tag_a_level() {
    let fabric = bcube(4, 3, LINK).unwrap();
    assert_eq!(tags(&fabric, PathSource::NShortest { paths: 4 }), 4);
}

#[test]
fn fewest_tags_for_one_bounce_are_two_and_that_is_proved() {
    let fabric = clos(2, 2, 2, 2, 4, TierLinks::uniform(LINK)).unwrap();
    for (bounces, expected) in [(0, 1), (1, 2)] {
        let paths = ExpectedPaths::from(PathSource::UpDown { bounces });
        let request = Request { algorithm: Algorithm::Fewest, ..Request::new(paths.clone()) };
        let generated = generate(&fabric, &request).unwrap();
        assert_eq!((generated.report.tags, generated.report.lower_bound), (expected, expected));
        super::checker::check(&fabric, &generated.table, &paths).unwrap();
    }
}
