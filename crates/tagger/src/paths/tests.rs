use super::*;
use crate::tests::golden::LINK;
use crate::{Request, generate};
use fabric::generate::{TierLinks, bcube, clos, jellyfish, leaf_spine};
use std::collections::BTreeSet;

fn shown(fabric: &Fabric, source: PathSource) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    ExpectedPaths::from(source)
        .visit(fabric, &mut |path| {
            let names: Vec<&str> = path.nodes(fabric).into_iter().map(|node| fabric.name(node)).collect();
            assert!(all.insert(format!("{} {:?}", names.join(" "), path.out_ports)), "shown twice");
            ControlFlow::Continue(())
        })
        .unwrap();
    all
}

fn small() -> Fabric {
    clos(2, 2, 2, 2, 1, TierLinks::uniform(LINK)).unwrap()
}

#[test]
fn paths_of_a_clos_are_as_many_as_they_must_be() {
    let fabric = small();
    // Four ToRs with one host each: 4 ordered pairs within pods with 2 shortest paths each (2 leaves), and 8 pairs
    // between pods with 2 x 2 x 2 = 8 paths each (leaf, spine, leaf).
    assert_eq!(shown(&fabric, PathSource::AllShortest { limit: None }).len(), 4 * 2 + 8 * 8);
    assert_eq!(shown(&fabric, PathSource::AllShortest { limit: Some(3) }).len(), 4 * 2 + 8 * 3);
    assert_eq!(shown(&fabric, PathSource::NShortest { paths: 3 }).len(), 12 * 3);
    // Up-down paths within a pod may also pass through a spine, up through one leaf and down through the other: 2 x 2
    // more paths per pair.
    assert_eq!(shown(&fabric, PathSource::UpDown { bounces: 0 }).len(), 4 * (2 + 2 * 2) + 8 * 8);
    for roots in [TreeRoots::Switches, TreeRoots::Servers] {
        assert_eq!(shown(&fabric, PathSource::Trees { roots, seed: Some(3) }).len(), 12);
    }
    let up_down = shown(&fabric, PathSource::UpDown { bounces: 0 });
    let one = shown(&fabric, PathSource::UpDown { bounces: 1 });
    assert!(one.is_superset(&up_down));
    // The green path of the paper's Fig. 3.
    assert!(one.iter().any(|path| path.starts_with("H3 T3 L3 S2 L2 S1 L1 T1 H1 ")));
    assert!(!up_down.iter().any(|path| path.starts_with("H3 T3 L3 S2 L2 S1")));
}

#[test]
fn trees_show_the_shortest_paths_and_differ_by_seed() {
    let fabric = jellyfish(30, 4, 2, 1, LINK, LINK).unwrap();
    let lengths = |source| shown(&fabric, source).iter().map(|path| path.matches(' ').count()).sum::<usize>();
    let tree = |seed| PathSource::Trees { roots: TreeRoots::Servers, seed };
    assert_eq!(shown(&fabric, tree(None)).len(), 60 * 59);
    assert_eq!(lengths(tree(None)), lengths(PathSource::AllShortest { limit: Some(1) }));
    assert_ne!(shown(&fabric, tree(Some(1))), shown(&fabric, tree(Some(2))));
    assert_eq!(lengths(tree(Some(1))), lengths(tree(None)));
    assert!(shown(&fabric, tree(Some(1))).is_subset(&shown(&fabric, PathSource::AllShortest { limit: None })));
}

/// Without a seed, the trees of all servers of a switch differ only in the last hop, so they are computed once and the
/// searches visit no additional links.
#[test]
fn trees_of_lowest_ports_are_recorded_once_a_switch() {
    let fabric = jellyfish(30, 4, 5, 1, LINK, LINK).unwrap();
    let made = |roots, seed| generate(&fabric, &Request::new(PathSource::Trees { roots, seed })).unwrap();
    let (switches, servers) = (made(TreeRoots::Switches, None), made(TreeRoots::Servers, None));
    assert_eq!(servers.table.switches(), switches.table.switches());
    assert_eq!(servers.report, switches.report);
    let chosen = made(TreeRoots::Servers, Some(1));
    assert!(chosen.report.turns_recorded > 4 * servers.report.turns_recorded);
}

#[test]
fn servers_of_a_bcube_relay() {
    let fabric = bcube(3, 1, LINK).unwrap();
    let paths = shown(&fabric, PathSource::AllShortest { limit: None });
    // Each of the nine servers has 4 destinations that differ in one digit (one path) and 4 that differ in both digits
    // (two paths).
    assert_eq!(paths.len(), 9 * (4 + 4 * 2));
    assert!(paths.iter().any(|path| path.starts_with("H1 S0-1 H2 S1-2 H5 ")));
}

#[test]
fn random_paths_are_within_bounds() {
    let fabric = jellyfish(20, 3, 1, 1, LINK, LINK).unwrap();
    let source = |max_switches| PathSource::Random { count: 50, max_switches, seed: 1 };
    let mut count = 0;
    let visited = ExpectedPaths::from(source(9)).visit(&fabric, &mut |path| {
        count += 1;
        assert!(path.out_ports.len() <= 10);
        ControlFlow::Continue(())
    });
    assert_eq!((visited, count), (Ok(()), 50));
    let error = ExpectedPaths::from(source(1)).visit(&fabric, &mut |_| ControlFlow::Continue(())).unwrap_err();
    assert!(error.to_string().contains("max_switches = 1 does not work"), "{error}");
}

#[test]
fn a_list_names_parallel_links_and_its_mistakes_their_lines() {
    let fabric = leaf_spine(2, 2, 1, 2, TierLinks::uniform(LINK)).unwrap();
    let list = PathList::read(&fabric, "# paths\n\nH1 L1:1 S1:2 L2 H2 # lowest ports\nH1 L1:2 S1:3 L2 H2\n").unwrap();
    let ports: Vec<Vec<u16>> = list.iter().map(|path| path.out_ports.to_vec()).collect();
    assert_eq!(ports, [[0, 1, 2, 0], [0, 2, 3, 0]]);
    let error = |line: &str| PathList::read(&fabric, &format!("H1 L1:1 S1:2 L2 H2\n{line}")).unwrap_err().to_string();
    assert!(error("H1 L9").starts_with("line 2: the fabric has no node `L9`"));
    let several = "several links join `L1` and `S1`, by ports 1 to 2 of `L1`: write `L1:1` for the one at port 1";
    assert_eq!(error("H1 L1 S1:2 L2 H2"), format!("line 2: {several}"));
    assert!(error("H1 L1:1 S1 L2 H2").contains("write `S1:2` for"));
    assert!(error("H1 L1:9 S1 L2 H2").contains("`L1` has no port `9`: it has 5"));
    assert!(error("H1 L1:3 S1 L2 H2").contains("port 3 of `L1` leads to `S2`, not to `S1`"));
    assert!(error("H1 L2 H2").contains("no link joins `H1` and `L2`"));
    assert!(error("H1 L1 S1 L1 H1").contains("twice"));
    assert!(error("H1 L1 S1").contains("`S1` is a switch"));
    assert!(error("H1").contains("at least a sender and a receiver"));
    assert!(error("H1 L1:1 S1:2 L2 H2:0").contains("`H2` is the last node"));
}

#[test]
fn up_down_needs_tiers() {
    let fabric = jellyfish(4, 2, 1, 1, LINK, LINK).unwrap();
    let error = generate(&fabric, &Request::new(PathSource::UpDown { bounces: 1 })).unwrap_err();
    assert!(error.to_string().contains("both on tier 1"), "{error}");
}

const ROUTES: &str = r#"{ "format": "tidegate-routes", "version": 1, "routes": [
  { "switch": "L1", "destination": "H1", "ports": [0] },
  { "switch": "S1", "destination": "H1", "ports": [0] },
  { "switch": "S2", "destination": "H1", "ports": [0] },
  { "switch": "L2", "destination": "H1", "ports": [1, 2] } ] }"#;

#[test]
fn routes_become_paths_and_their_mistakes_name_the_element() {
    let fabric = leaf_spine(2, 2, 1, 1, TierLinks::uniform(LINK)).unwrap();
    let routes = Routes::read_json(&fabric, ROUTES).unwrap();
    let paths = shown(&fabric, PathSource::Tables(routes.clone()));
    assert_eq!(paths.into_iter().collect::<Vec<_>>(), ["H2 L2 S1 L1 H1 [0, 1, 0, 0]", "H2 L2 S2 L1 H1 [0, 2, 0, 0]"]);
    let table = generate(&fabric, &Request::new(PathSource::Tables(routes))).unwrap().table;
    assert_eq!(table.lossless_tags, [1]);
    let error = |from: &str, to: &str| {
        let changed = ROUTES.replacen(from, to, 1);
        let routes = Routes::read_json(&fabric, &changed);
        let source = |routes| ExpectedPaths::from(PathSource::Tables(routes));
        let visited = routes.and_then(|routes| source(routes).visit(&fabric, &mut |_| ControlFlow::Continue(())));
        visited.unwrap_err().to_string()
    };
    assert!(error("\"L1\"", "\"L7\"").contains("routes[0].switch: the fabric has no node `L7`"));
    assert!(error("\"H1\"", "\"S1\"").contains("routes[0].destination: `S1` is no host"));
    assert!(error("[1, 2]", "[1, 3]").contains("routes[3].ports: `L2` has no port 3"));
    assert!(error("[1, 2]", "[]").contains("no port"));
    assert!(error("\"ports\": [0]", "\"ports\": [1]").contains("loop"));
    assert!(error("-routes", "-rules").contains("expected `tidegate-routes`"));
    let elsewhere = error("\"S1\", \"destination\": \"H1\"", "\"S1\", \"destination\": \"H2\"");
    assert!(elsewhere.contains("no path leads from `S1` to `H1`"), "{elsewhere}");
    assert!(error("[1, 2]", "[1, 2, 1]").contains("routes[3].ports: port 1 of `L2` occurs twice"));
    assert!(error("\"S1\"", "\"S2\"").contains("routes[2]: `S2` has a route to `H1` already"));
}

const DISCOVERED: &str = "vendid=0x0\nswitchguid=0x200001(200001)\n\
    Switch\t8 \"S-200001\"\t\t# \"L1\" enhanced port 0 lid 4 lmc 0\n\
    [1]\t\"H-100000\"[1](100001) \t\t# \"H1 HCA-1\" lid 1 4xSDR\n\
    [2]\t\"S-200003\"[1]\t\t# \"S1\" lid 6 4xSDR\n\
    \nswitchguid=0x200002(200002)\n\
    Switch\t8 \"S-200002\"\t\t# \"L2\" enhanced port 0 lid 5 lmc 0\n\
    [3]\t\"H-100010\"[1](100011) \t\t# \"H2 HCA-1\" lid 2 4xSDR\n\
    [5]\t\"S-200003\"[2]\t\t# \"S1\" lid 6 4xSDR\n\
    \nswitchguid=0x200003(200003)\n\
    Switch\t8 \"S-200003\"\t\t# \"S1\" enhanced port 0 lid 6 lmc 0\n\
    [1]\t\"S-200001\"[2]\t\t# \"L1\" lid 4 4xSDR\n\
    [2]\t\"S-200002\"[5]\t\t# \"L2\" lid 5 4xSDR\n\
    \ncaguid=0x100000\nCa\t1 \"H-100000\"\t\t# \"H1 HCA-1\"\n\
    [1](100001) \t\"S-200001\"[1]\t\t# lid 1 lmc 0 \"L1\" lid 4 4xSDR\n";

const FDBS: &str = "dump_ucast_routes: Switch 0x0000000000200001\nLID    : Port : Hops : Optimal\n\
    0x0001 : 001  : 00   : yes\n0x0002 : 002  : 02   : yes\n0x0004 : 000  : 00   : yes\n\
    dump_ucast_routes: Switch 0x0000000000200002\n\
    0x0001 : 005  : 02   : yes\n0x0002 : 003  : 00   : yes\n0x0007 : UNREACHABLE\n\
    dump_ucast_routes: Switch 0x0000000000200003\n\
    0x0001 : 001  : 01   : yes\n0x0002 : 002  : 01   : yes\n";

#[test]
fn what_opensm_dumps_becomes_paths() {
    let fabric = leaf_spine(2, 1, 1, 1, TierLinks::uniform(LINK)).unwrap();
    let names = SubnetNames::read_ibnetdiscover(&fabric, DISCOVERED).unwrap();
    let routes = Routes::read_fdbs(&fabric, FDBS, &names).unwrap();
    let paths = shown(&fabric, PathSource::Tables(routes));
    assert_eq!(paths.into_iter().collect::<Vec<_>>(), ["H1 L1 S1 L2 H2 [0, 1, 1, 0]", "H2 L2 S1 L1 H1 [0, 1, 0, 0]"]);
    let error = |fdbs: &str| Routes::read_fdbs(&fabric, fdbs, &names).unwrap_err().to_string();
    assert!(error(&FDBS.replace("200003", "200009")).starts_with("line 10: no switch with GUID 0x0000000000200009"));
    assert!(error(&FDBS.replace("005", "006")).contains("line 7: `L2` has no port 6"));
    let wrong = SubnetNames::read_ibnetdiscover(&fabric, &DISCOVERED.replace("\"H2 HCA-1\"", "\"H9\"")).unwrap_err();
    assert!(wrong.to_string().starts_with("line 9: the fabric has no node `H9`"), "{wrong}");
}
