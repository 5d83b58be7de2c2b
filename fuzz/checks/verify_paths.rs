//! Lists of expected paths: any bytes are an error with its line, or loop-free paths from node to node.

use fabric::LinkSpec;
use fabric::generate::{TierLinks, leaf_spine};
use std::collections::BTreeSet;
use units::{Rate, Time};
use verify::{ListedPath, PathList, Traffic, check_pfc, find_link};

/// Fails on bytes that violate the property.
pub fn check(bytes: &[u8]) {
    let links = TierLinks::uniform(LinkSpec::new(Rate::from_gbps(10), Time::from_ns(1)));
    // With parallel links.
    let fabric = leaf_spine(3, 2, 1, 2, links).expect("a fabric");
    let mut list = PathList::new(&fabric, bytes);
    let lines = bytes.split(|&byte| byte == b'\n').count() as u64;
    let valid = loop {
        match list.next_path() {
            Err(error) => {
                assert!(error.to_string().starts_with("line "));
                break false;
            }
            Ok(None) => break true,
            Ok(Some(ListedPath { line, hops, last })) => {
                assert!(!hops.is_empty() && line >= 1 && line <= lines);
                let mut at = hops[0].node;
                let mut visited = BTreeSet::from([at]);
                for hop in hops {
                    assert_eq!(hop.node, at);
                    at = fabric.ports(at)[usize::from(hop.port)].peer;
                    assert!(visited.insert(at), "a loop");
                }
                assert_eq!(at, last);
            }
        }
    };
    assert_eq!(check_pfc(&fabric, Traffic::Paths(bytes)).is_ok(), valid);
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(link) = find_link(&fabric, text.trim())
    {
        assert!(link.index() < fabric.links().len());
    }
}
