//! Checks of rules, paths and gates, a module for each fuzz target.

pub mod verify_gates {
    //! Schedules: any bytes are an error with a message, or slots and gates that are verified without a panic.

    use fabric::{FabricBuilder, LinkSpec};
    use units::{Rate, Time};

    /// Panics if the bytes violate the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let gates = match verify::gates::Gates::parse(text) {
            Ok(gates) => gates,
            Err(error) => return assert!(!error.to_string().is_empty()),
        };
        let mut builder = FabricBuilder::new("fuzz");
        let switch = builder.add_switch("s", 1);
        for name in ["a", "b", "c"] {
            let host = builder.add_host(name);
            builder.connect(switch, host, LinkSpec::new(Rate::from_gbps(10), Time::from_ns(100)));
        }
        let judgement = verify::gates::judge(&gates, &builder.build().expect("a fabric"));
        assert_eq!(judgement.pass(), judgement.checks.iter().all(|check| check.faults.is_empty()));
    }
}

pub mod verify_lists {
    //! Gate lists in external formats: any bytes are an error with a message, or gates through which frames are
    //! simulated without a panic.

    use fabric::{Fabric, FabricBuilder, LinkSpec};
    use units::{Rate, Time};
    use verify::gates::tables::{self, Table};
    use verify::gates::{Flow, FlowHop, Lists, PortGates, follow, qcw, taprio};

    /// Returns a fabric with hosts 1, 2 and 3 at switch 0.
    fn fabric() -> Fabric {
        let mut builder = FabricBuilder::new("fuzz");
        let switch = builder.add_switch("0", 1);
        for name in ["1", "2", "3"] {
            let host = builder.add_host(name);
            builder.connect(switch, host, LinkSpec::new(Rate::from_gbps(1), Time::from_ns(100)));
        }
        builder.build().expect("a fabric")
    }

    /// Returns the gate lists of switch 0 with two streams to host 3, one from host 1 (class 7) and one from host 2
    /// (class 0).
    fn lists(fabric: &Fabric, gates: Vec<PortGates>) -> Option<Lists> {
        let mut lists = Lists::new(0, false);
        lists.add_gates(fabric, vec![("0".to_owned(), gates)]).ok()?;
        for (name, class) in [("1", 7), ("2", 0)] {
            let hop = |node: &str, port| FlowHop { node: node.to_owned(), port, class };
            let flow = Flow {
                name: name.to_owned(),
                period_ps: 10_000_000,
                frame_bytes: 100,
                deadline_ps: Some(5_000_000),
                offsets_ps: vec![1000],
                hops: vec![hop(name, 0), hop("0", 2)],
            };
            lists.add_flow(flow).ok()?;
        }
        Some(lists)
    }

    /// Panics if the bytes violate the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let fabric = fabric();
        let judged = |lists: &Lists| {
            let judgement = follow(lists, &fabric);
            assert_eq!(judgement.pass(), judgement.checks.iter().all(|check| check.faults.is_empty()));
        };
        for read in [taprio::parse(text), qcw::parse(text)] {
            match read {
                Ok(gates) => {
                    if let Some(lists) = lists(&fabric, gates) {
                        judged(&lists);
                    }
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
        // Lines of dashes separate the five tables of one input.
        let parts: Vec<&str> = text.split("---\n").collect();
        let [streams, gates, offsets, routes, queues] = parts[..] else { return };
        let of = |table| match table {
            Table::Streams => streams,
            Table::Gates => gates,
            Table::Offsets => offsets,
            Table::Routes => routes,
            Table::Queues => queues,
        };
        let mut lists = Lists::new(2_000_000, true);
        match tables::read(&mut lists, &fabric, of) {
            Ok(()) => judged(&lists),
            Err((_, error)) => assert!(!error.to_string().is_empty()),
        }
    }
}

pub mod verify_paths {
    //! Lists of expected paths: any bytes are an error with its line, or loop-free paths from node to node.

    use fabric::LinkSpec;
    use fabric::generate::{TierLinks, leaf_spine};
    use std::collections::BTreeSet;
    use units::{Rate, Time};
    use verify::{ListedPath, PathList, Traffic, check_pfc, find_link};

    /// Panics if the bytes violate the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let links = TierLinks::uniform(LinkSpec::new(Rate::from_gbps(10), Time::from_ns(1)));
        // The fabric has two parallel links between each leaf and each spine.
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
}

pub mod verify_rules {
    //! Rule files: any bytes are an error or rules, and rules of a fabric get a consistent verdict.

    use fabric::LinkSpec;
    use fabric::generate::{TierLinks, leaf_spine};
    use units::{Rate, Time};
    use verify::{RuleFile, Verifier, fabric_hash};

    /// Panics if the bytes violate the property in the module documentation.
    pub fn check(bytes: &[u8]) {
        let mut file = match RuleFile::parse(bytes) {
            Ok(file) => file,
            Err(error) => return assert!(!error.to_string().is_empty()),
        };
        let links = TierLinks::uniform(LinkSpec::new(Rate::from_gbps(10), Time::from_ns(1)));
        let fabric = leaf_spine(3, 2, 1, 1, links).expect("a fabric");
        // A fuzzer cannot guess the hash of the fabric: set it.
        file.fabric.hash = fabric_hash(&fabric);
        (file.fabric.switches, file.fabric.hosts, file.fabric.links) = (None, None, None);
        let mut verifier = match Verifier::new(&fabric, &file) {
            Ok(verifier) => verifier,
            Err(error) => return assert!(!error.to_string().is_empty()),
        };
        verifier.expect_list("H1 L1 S1 L2 H2\nL3 S2 L1\n".as_bytes()).expect("paths of this fabric");
        let verdict = verifier.finish();
        // A cycle of reachable queues is also a cycle of all queues.
        assert!(verdict.reachable_cycle.is_none() || verdict.cycle.is_some());
        assert_eq!(verdict.counts.lost == 0, verdict.lost.is_empty());
        for cycle in verdict.cycle.iter().chain(&verdict.reachable_cycle) {
            assert!(cycle.links.len() > 1 && cycle.shortest);
            let next = cycle.links.iter().cycle().skip(1);
            assert!(cycle.links.iter().zip(next).all(|(link, next)| link.to == next.from));
        }
        let failed = verdict.decrease.is_some() || verdict.cycle.is_some() || !verdict.lost.is_empty();
        assert_eq!(verdict.pass(), !failed);
    }
}
